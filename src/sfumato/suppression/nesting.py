"""Nesting: of one classification, which codes are the sums of which others, in one hierarchy or several."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sfumato.errors import PlanError
from sfumato.schema import Attribute

WHOLE = ""
"""The code of all of a classification taken together: a cell that leaves an attribute out is its total."""


@dataclass(frozen=True)
class Nesting:
    """The codes of an attribute and their sums: each is a code and the codes that add up to it.

    A code may be the sum of several sets of codes, one a hierarchy: cells do not care who adds them up.

    >>> Nesting.under("size", {"small": "", "large": ""}).sums
    (('', ('small', 'large')),)
    """

    name: str
    sums: tuple[tuple[str, tuple[str, ...]], ...]
    others: tuple[str, ...] = ()
    """Codes that are in no sum."""

    @classmethod
    def of(cls, attribute: Attribute, *, whole: bool = True) -> "Nesting":
        """The hierarchy of an attribute; its whole is the sum of its topmost levels, where it is told."""
        parents = {code: attribute.levels.parent(code) or WHOLE for code in attribute.levels.codes}
        return cls.under(attribute.name, parents, whole=whole)

    @classmethod
    def under(cls, name: str, parents: Mapping[str, str], *, whole: bool = True) -> "Nesting":
        """A hierarchy by the parent of each code, which is empty for the topmost."""
        parts: dict[str, list[str]] = {}
        for code, parent in parents.items():
            if code == WHOLE:
                raise PlanError(f"The hierarchy of '{name}' lists a code without a name; its whole is not listed.")
            parts.setdefault(parent, []).append(code)
        tops = parts.get(WHOLE, [])
        if not whole:
            parts.pop(WHOLE, None)
        return cls(name, tuple((code, tuple(found)) for code, found in parts.items()), () if whole else tuple(tops))

    def also(self, other: "Nesting") -> "Nesting":
        """Both hierarchies over the same codes."""
        if other.name != self.name:
            raise PlanError(
                f"A hierarchy of '{other.name}' was given for '{self.name}'; both must be of one attribute."
            )
        return Nesting(self.name, tuple(dict.fromkeys((*self.sums, *other.sums))), (*self.others, *other.others))

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """Every code, the whole first where it is told."""
        named = [code for parent, parts in self.sums for code in (parent, *parts)]
        return tuple(sorted({*named, *self.others}, key=lambda code: (code != WHOLE, code)))

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The codes that are the sum of no others."""
        sums = {parent for parent, _ in self.sums}
        return tuple(code for code in self.codes if code not in sums)

    @cached_property
    def above(self) -> dict[str, tuple[str, ...]]:
        """Each code with every code that it is a part of, however far up; a circle is refused."""
        direct: dict[str, list[str]] = {code: [] for code in self.codes}
        for parent, parts in self.sums:
            for code in parts:
                direct[code].append(parent)
        found: dict[str, tuple[str, ...]] = {}
        for code in self.codes:
            _climb(code, direct, found, ())
        return found

    def refuse_circle(self) -> None:
        """Sums in a circle say nothing of what is above them, so that tables would seem safer than they are."""
        _ = self.above

    def within(self, present: Sequence[str]) -> "Nesting":
        """The same of some codes alone: a code that is not there is replaced by its parts, or goes.

        >>> Nesting.under("trade", {"a": "", "b": "", "a1": "a"}).within(["", "a", "b"]).sums  # of a no part is there
        (('', ('a', 'b')),)
        """
        self.refuse_circle()
        kept, parts = set(present), dict(reversed(self.sums))
        unknown = sorted(kept - {*self.codes, WHOLE})
        if unknown:
            more = f", nor are {len(unknown) - 1:,} more" if len(unknown) > 1 else ""
            raise PlanError(
                f"The code '{unknown[0]}' of '{self.name}' is not in its hierarchy{more}; "
                "complete the hierarchy, or name the code of the total."
            )
        sums = []
        for parent, codes in self.sums:
            there = tuple(code for one in codes for code in _present(one, kept, parts))
            if parent in kept and there:
                sums.append((parent, there))
        return Nesting(self.name, tuple(dict.fromkeys(sums)), tuple(sorted(kept)))


def _climb(
    code: str, direct: Mapping[str, list[str]], found: dict[str, tuple[str, ...]], path: tuple[str, ...]
) -> tuple[str, ...]:
    if code in path:
        raise PlanError(f"The code '{code}' is a part of itself; a hierarchy must end in codes that are no sums.")
    if code not in found:
        up = [above for parent in direct[code] for above in _climb(parent, direct, found, (*path, code))]
        found[code] = tuple(dict.fromkeys((code, *up)))
    return found[code]


def _present(code: str, kept: set[str], parts: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    if code in kept:
        return (code,)
    return tuple(found for one in parts.get(code, ()) for found in _present(one, kept, parts))

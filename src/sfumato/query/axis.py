"""Axis: an attribute laid out as the rows or columns of a table: levels of any depth, and groups that readers name."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import QueryError, nearest
from sfumato.schema import Attribute, Box, LeafGroups

PREFIX = "group:"
LONGEST_NAME = 100


@dataclass(frozen=True)
class Group:
    """Levels that a reader adds up under a name of their own; its total and error are those of any other box.

    >>> Group("Sunbelt", ("TX", "FL", "AZ")).code
    'group:Sunbelt'
    """

    name: str
    codes: tuple[str, ...]

    def __post_init__(self) -> None:
        codes = (self.codes,) if isinstance(self.codes, str) else tuple(str(code) for code in self.codes)
        object.__setattr__(self, "name", self.name.strip())
        object.__setattr__(self, "codes", codes)
        if not self.name or len(self.name) > LONGEST_NAME or not self.name.isprintable():
            raise QueryError(
                f"A group is named by 1 to {LONGEST_NAME} printable characters; got {self.name[:LONGEST_NAME]!r}."
            )

    @property
    def code(self) -> str:
        return f"{PREFIX}{self.name}"


Item = str | int | Group
Choice = int | str | Group | Sequence[Item]
"""What an axis shows: a depth (0, or "@0", is the top), "leaves", "all", or a list of codes, groups and these."""


@dataclass(frozen=True, eq=False)
class Axis:
    """An attribute and the codes shown of it; the code of a group is the name of the group after 'group:'."""

    attribute: Attribute
    codes: tuple[str, ...]
    named: tuple[Group, ...] = ()

    @cached_property
    def _group(self) -> dict[str, Group]:
        return {group.code: group for group in self.named}

    def group(self, code: str) -> Group | None:
        """The group that a code stands for, or None where it is a level."""
        return self._group.get(code)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.label(code) for code in self.codes)

    def label(self, code: str) -> str:
        group = self.group(code)
        return self.attribute.levels.label(code) if group is None else group.name

    def parent(self, code: str) -> str | None:
        """The level above; a group stands under none."""
        return self.attribute.levels.parent(code) if self.group(code) is None else None

    def note(self, code: str) -> str:
        """The note of a level, or the levels of a group."""
        group, levels = self.group(code), self.attribute.levels
        if group is None:
            return levels.notes[levels.turn(code)] if any(levels.notes) else ""
        return ", ".join(levels.label(one) for one in group.codes)

    def mask(self, code: str) -> NDArray[np.bool_]:
        """The leaves under a code."""
        group = self.group(code)
        return self.attribute.levels.mask(code if group is None else group.codes)

    @cached_property
    def groups(self) -> LeafGroups:
        """For each code the leaves under it."""
        named = [self.group(code) for code in self.codes]
        return self.attribute.levels.groups(
            [code if group is None else group.codes for code, group in zip(self.codes, named, strict=True)]
        )

    @property
    def has_overlaps(self) -> bool:
        """Whether a group shares a leaf with something else that is shown."""
        if not self.named:
            return False
        is_group = np.array([code in self._group for code in self.codes])
        return bool((self.groups.times[self.groups.places[is_group[self.groups.rows]]] > 1).any())

    @cached_property
    def overlaps(self) -> tuple[tuple[str, str], ...]:
        """The groups that share a leaf with something else that is shown, so that the two may not be added."""
        if not self.named:
            return ()
        code, named = self.codes, [place for place, code in enumerate(self.codes) if code in self._group]
        shared = [(one, of) for of in named for one in np.flatnonzero(self.groups.meet(self.groups.mask(of))).tolist()]
        pairs = {(min(one, of), max(one, of)) for one, of in shared if one != of}
        return tuple((code[one], code[other]) for one, other in sorted(pairs))

    def only(self, codes: Sequence[str]) -> "Axis":
        """The axis with some of its codes."""
        kept = set(codes)
        return Axis(self.attribute, tuple(codes), tuple(group for group in self.named if group.code in kept))

    def inside(self, leaves: NDArray[np.bool_]) -> "Axis":
        """The axis without the levels that a filter on the same variable leaves empty."""
        kept = [code for code, met in zip(self.codes, self.groups.meet(leaves), strict=True) if met]
        if not kept:
            raise QueryError(f"{self.attribute.label}: none of the levels shown is within the filter; show others.")
        return self.only(kept)

    def place(self, name: str | int) -> int:
        """Where a code, a label or the name of a group stands on the axis."""
        code = next((group.code for group in self.named if group.name.lower() == str(name).lower()), str(name))
        if code not in self._places:
            try:
                code = self.attribute.levels.find(name)
            except KeyError as error:
                raise QueryError(f"{self.attribute.label}: {error.args[0]}") from None
        if code not in self._places:
            raise QueryError(
                f"{self.attribute.label}: '{name}' is not shown in this table; {nearest(str(name), self.labels)}"
            )
        return self._places[code]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {code: place for place, code in enumerate(self.codes)}


def axis(attribute: Attribute, choice: Choice | None) -> Axis:
    """The axis of an attribute; without a choice the top of its hierarchy."""
    levels = attribute.levels
    chosen: Choice = 0 if choice is None else choice
    if isinstance(chosen, str) and chosen[:1] == "@" and chosen[1:].isdigit():
        chosen = int(chosen[1:])
    if isinstance(chosen, int):
        if not 0 <= chosen <= levels.depth:
            raise QueryError(f"{attribute.label} has levels 0 to {levels.depth}; {chosen} was asked for.")
        return Axis(attribute, levels.at(chosen))
    if chosen == "leaves":
        return Axis(attribute, levels.leaves)
    if chosen == "all":
        return Axis(attribute, levels.codes)
    try:
        return _chosen(attribute, [chosen] if isinstance(chosen, (str, Group)) else list(chosen))
    except KeyError as error:
        raise QueryError(f"{attribute.label}: {error.args[0]}") from None


def _chosen(attribute: Attribute, items: Sequence[Item]) -> Axis:
    levels = attribute.levels
    if not items:
        raise QueryError(f"{attribute.label}: nothing is shown; {nearest('', levels.codes)}")
    groups = [item for item in items if isinstance(item, Group)]
    taken = {name.lower() for name in (*levels.codes, *levels.labels)} if groups else set()
    named = tuple(dict.fromkeys(_named(attribute, group, taken) for group in groups))
    for name, count in Counter(group.name.lower() for group in named).items():
        if count > 1:
            raise QueryError(f"{attribute.label}: two groups are named '{name}'; give each a name of its own.")
    codes = (code for item in items for code in _codes(attribute, item))
    return Axis(attribute, tuple(dict.fromkeys(codes)), named)


def _codes(attribute: Attribute, item: Item) -> tuple[str, ...]:
    """The codes of one item: a group, a level, or a word for many levels that is no level itself."""
    if isinstance(item, Group):
        return (item.code,)
    if _is_word(item) and str(item) not in attribute.levels.codes:
        return axis(attribute, item).codes
    return (attribute.levels.find(item),)


def _is_word(item: Item) -> bool:
    """Whether an item is such as "@1", "leaves" or "all"."""
    return isinstance(item, str) and (item in {"leaves", "all"} or (item[:1] == "@" and item[1:].isdigit()))


def _named(attribute: Attribute, group: Group, taken: Collection[str]) -> Group:
    """The group by the codes of its levels, with a name that is not among those of the levels, in lower case."""
    levels = attribute.levels
    if not group.codes:
        raise QueryError(f"{attribute.label}: the group '{group.name}' is empty; {nearest('', levels.codes)}")
    if group.name.lower() in taken or levels.has(group.code):
        raise QueryError(
            f"{attribute.label}: '{group.name}' is already a level, so no group may have that name; choose another one."
        )
    return replace(group, codes=tuple(dict.fromkeys(levels.find(code) for code in group.codes)))


def box_at(axes: Sequence[Axis], place: Sequence[int], within: Box) -> Box:
    """The box that a cell of a table over some axes sums."""
    found = within
    for axis, index in zip(axes, place, strict=True):
        found = found.within(Box({axis.attribute.name: axis.groups.mask(index)}))
    return found

"""Attribute: one classification, its public levels, and how a column of the microdata is read into them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from sfumato.errors import PlanError, nearest
from sfumato.foreign_text import foreign
from sfumato.schema.languages import OWN
from sfumato.schema.levels import Levels
from sfumato.schema.synonyms import Synonyms

RESERVED = frozenset({"value", "estimate", "moe90", "se_noise", "se_sampling", "cv", "grade", "cells"})
"""The names of the columns that stand beside the attributes in products and downloads."""


@dataclass(frozen=True)
class Column:
    """The column holds the codes themselves."""

    name: str


@dataclass(frozen=True)
class Recode:
    """The column holds other values; each is read as one code."""

    name: str
    codes: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, name: str, codes: Mapping[str, str]) -> "Recode":
        return cls(name, tuple((str(raw), str(code)) for raw, code in codes.items()))


@dataclass(frozen=True)
class Bands:
    """The column holds a number; band i runs from edge i up to, not including, edge i + 1; the last has no end.

    >>> Bands("AGEP", (0, 16, 65)).levels().codes
    ('0-15', '16-64', '65+')
    """

    name: str
    edges: tuple[Fraction, ...]

    def __init__(self, name: str, edges: tuple[Fraction | int | str, ...]) -> None:
        object.__setattr__(self, "name", name)
        try:
            object.__setattr__(self, "edges", tuple(_edge(edge) for edge in edges))
        except (ValueError, OverflowError, ZeroDivisionError):
            raise PlanError(
                f"The bands of '{name}' are no numbers; give the lower ends, for example [0, 16, 65]."
            ) from None
        if not self.edges or any(low >= high for low, high in zip(self.edges, self.edges[1:], strict=False)):
            raise PlanError(f"The bands of '{name}' must rise: give the lower ends, smallest first.")

    def levels(self) -> Levels:
        """One level a band, named by its ends."""
        whole = all(edge.denominator == 1 for edge in self.edges)
        pairs = zip(self.edges, self.edges[1:], strict=False)
        names = [_band(low, high, whole=whole) for low, high in pairs]
        return Levels.of([*names, f"{_plain(self.edges[-1])}+"])


@dataclass(frozen=True)
class Missing:
    """The level that stands for no answer, and the codes in the data that mean it besides null and NaN."""

    level: str
    codes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attribute:
    """A classification of the records: what it is called, its levels, of whom it speaks, how it is read."""

    name: str
    levels: Levels
    of: str = "unit"
    read: Column | Recode | Bands | None = None
    missing: Missing | None = None
    label: str = ""
    depth: int | None = None
    """Where it is cut off at a depth of its hierarchy: that depth, 0 at the top."""
    synonyms: Synonyms = field(default_factory=Synonyms, repr=False)
    """Other names of its levels, by which readers find them."""

    def in_language(self, language: str, label: str, own_language: str = OWN) -> "Attribute":
        """The same with its levels in a language, and with a label in it, where there is one."""
        levels = self.levels.in_language(language, own_language)
        return replace(self, levels=levels, label=label or foreign(self.label, own_language))

    def __post_init__(self) -> None:
        object.__setattr__(self, "read", self.read or Column(self.name))
        object.__setattr__(self, "label", self.label or self.name)
        if self.levels.whole is not None:  # what is read is the same, and was checked when it was whole
            return
        if not self.name or not all(letter.isalnum() or letter == "_" for letter in self.name):
            raise PlanError(f"The attribute name '{self.name}' must be letters, digits and underscores.")
        if self.name in RESERVED or self.name.endswith("_label"):
            raise PlanError(
                f"The attribute name '{self.name}' is a column of every release; choose another, with `from`."
            )
        self.synonyms.refuse_unknown(self.levels.codes)
        if self.missing:
            self._leaf(self.missing.level, "missing")
            self._refuse_overridden(self.missing)
        if isinstance(self.read, Recode):
            for _, code in self.read.codes:
                self._leaf(code, "recode")
        bands = self.read.edges if isinstance(self.read, Bands) else ()
        regular = len(self.levels.leaves) - (1 if bands and self.missing else 0)
        if bands and regular != len(bands):
            raise PlanError(
                f"Attribute '{self.name}' has {len(bands)} bands and {regular} levels for them; "
                "list one level a band in the same order (and the missing level last), or leave `levels` out."
            )

    def _refuse_overridden(self, missing: Missing) -> None:
        """A code that means no answer cannot mean something else as well."""
        known = dict(self.read.codes) if isinstance(self.read, Recode) else self.levels.leaf_index
        for code in missing.codes:
            if code in known and code != missing.level and not isinstance(self.read, Bands):
                raise PlanError(f"Attribute '{self.name}': missing lists '{code}', which has a meaning already.")

    def _leaf(self, code: str, key: str) -> None:
        if code not in self.levels.leaf_index:
            raise PlanError(
                f"Attribute '{self.name}': {key} names '{code}', which is no lowest level; "
                f"{nearest(code, self.levels.leaves)}"
            )

    @property
    def column(self) -> str:
        """The column of the microdata that it is read from."""
        assert self.read is not None  # noqa: S101 - set in __post_init__
        return self.read.name

    @property
    def missing_leaf(self) -> int:
        """The leaf that stands for no answer; -1 where none does."""
        return self.levels.carried[self.missing.level] if self.missing else -1

    @property
    def banded(self) -> list[int]:
        """The leaf of each band in turn."""
        level = self.missing.level if self.missing else None
        return [leaf for code, leaf in self.levels.carried.items() if code != level]

    @property
    def raw_codes(self) -> dict[str, int]:
        """Which leaf each value of the column is read as; bands are read by their edges instead."""
        index = self.levels.carried
        pairs = {} if isinstance(self.read, Bands) else index
        if isinstance(self.read, Recode):
            pairs = {raw: index[code] for raw, code in self.read.codes}
        return pairs | (dict.fromkeys(self.missing.codes, index[self.missing.level]) if self.missing else {})


@dataclass(frozen=True)
class Rule:
    """A combination that cannot be: a record that is in all of these levels at once does not exist."""

    where: tuple[tuple[str, tuple[str, ...]], ...] = field(default=())

    @classmethod
    def of(cls, where: Mapping[str, str | list[str]]) -> "Rule":
        pairs = {name: (codes,) if isinstance(codes, str) else tuple(codes) for name, codes in where.items()}
        return cls(tuple(pairs.items()))


def _edge(edge: Fraction | int | str) -> Fraction:
    if re.search(r"[eE][+-]?0*\d{4,}\s*$", str(edge)):  # a power of ten that would take minutes to write out
        raise ValueError(edge)
    return Fraction(edge)


def _plain(edge: Fraction) -> str:
    return str(edge.numerator) if edge.denominator == 1 else str(float(edge))


def _band(low: Fraction, high: Fraction, *, whole: bool) -> str:
    if not whole:
        return f"{_plain(low)} to under {_plain(high)}"
    return _plain(low) if high - low == 1 else f"{_plain(low)}-{_plain(high - 1)}"

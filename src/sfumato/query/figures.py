"""Figures: the numbers of a table over its axes, each an estimate with its error, or the reason why there is none."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product as combinations
from typing import Any

import numpy as np

from sfumato.errors import QueryError
from sfumato.foreign_text import joined, language_of
from sfumato.query.axis import Axis
from sfumato.query.caveats import Caveats
from sfumato.query.columns import Columns
from sfumato.query.estimate import Estimate, Figure
from sfumato.query.headline import TableFinding
from sfumato.query.untold import untold
from sfumato.query.wording import Sentence, words
from sfumato.release import NoNumber, Product, Release, Withheld
from sfumato.schema import Attribute
from sfumato.schema.languages import OWN

Key = str | int | tuple[str | int, ...]
LARGEST_PAGE = 10_000
"""The most cells that a page or a call answers at once."""


class Figures(ABC):
    """A table: its axes, its numbers, and what they are about; every text, picture and file is made from this."""

    axes: tuple[Axis, ...]
    product: Product
    releases: tuple[Release, ...]
    """What the numbers are from: one release, or one a period."""
    where: Mapping[str, Any]
    has_columns: bool
    time: str = ""
    """The name of the axis that is of periods, where one is."""
    together: str | None = None
    """What the periods of a year are taken together as, where they are."""

    @property
    @abstractmethod
    def title(self) -> str: ...

    @property
    @abstractmethod
    def caveats(self) -> Caveats:
        """What its numbers leave out, which stands beside them wherever they do."""

    @property
    def language(self) -> str:
        """The language that its labels are in."""
        return self.releases[-1].language

    @property
    def has_changes(self) -> bool:
        """Whether the numbers are changes, which is known before any is computed."""
        return False

    @property
    @abstractmethod
    def _columns(self) -> Columns:
        """What `columns` gives, computed once."""

    def columns(self) -> Columns:
        """Every cell at once, as arrays; NaN where a number is missing or an error withheld."""
        return self._columns

    @abstractmethod
    def figure(self, flat: int) -> Figure:
        """The estimate at a place in the flattened table, or why there is none."""

    @property
    def statistic(self) -> str:
        """What its numbers are called, in titles and at the head of a column: of means also what they are per."""
        return self.product.subject.title

    @property
    def unit(self) -> str:
        return self.product.subject.unit

    @property
    def remarks(self) -> tuple[Sentence, ...]:
        """What is to be said of the numbers as such: at which level verdicts hold, what errors take for granted."""
        return ()

    @property
    def shares_of(self) -> tuple[str, ...] | None:
        """The variables whose totals numbers are shares of, none for the whole; None where they are no shares."""
        return None

    @property
    def adds_up(self) -> bool:
        """Whether the number of two cells together is their sum: not of shares, means or percentiles."""
        return self.product.subject.additive

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(axis.codes) for axis in self.axes)

    @property
    def size(self) -> int:
        """How many cells there are, known before any is computed."""
        return math.prod(self.shape)

    @property
    def row_axes(self) -> tuple[Axis, ...]:
        return self.axes[:-1] if self.has_columns else self.axes

    def at(self, place: Sequence[int]) -> Figure:
        """The estimate at a place counted from 0 on each axis, or why there is none."""
        return self.figure(int(np.ravel_multi_index(tuple(place), self.shape)) if self.shape else 0)

    def place(self, key: Key) -> tuple[int, ...]:
        """Where the cell stands that some codes or labels name."""
        names = key if isinstance(key, tuple) else (key,)
        if len(names) != len(self.axes):
            wanted = ", ".join(axis.attribute.label for axis in self.axes)
            raise QueryError(f"A cell of this table is named by {len(self.axes)} labels ({wanted}); got {len(names)}.")
        return tuple(axis.place(name) for axis, name in zip(self.axes, names, strict=True))

    def __getitem__(self, key: Key) -> Estimate:
        """The estimate that some codes or labels name; a cell that holds none says why."""
        figure = self.at(self.place(key))
        if isinstance(figure, NoNumber):
            raise QueryError(figure.reason)
        return figure

    def items(self) -> Iterator[tuple[tuple[str, ...], Figure]]:
        """Every cell: its codes and its figure, the last axis running fastest."""
        for flat, codes in enumerate(combinations(*(axis.codes for axis in self.axes))):
            yield codes, self.figure(flat)

    def pieces(self, most: int = LARGEST_PAGE) -> Iterator["Figures"]:  # noqa: ARG002 - what fits a page is one piece
        """The same table part by part, in the same order, each part small enough to hold."""
        yield self

    def headline(self, column: str | None = None) -> TableFinding | None:  # noqa: ARG002 - most tables have no ranks
        """What the table found: its largest row by one column or by the totals; None where nothing is said of it."""
        return None

    def margin(self, names: Sequence[str]) -> "Figures | None":  # noqa: ARG002 - most tables have none
        """The same with all other variables summed over; None where they cannot be."""
        return None

    def covers(self, axis: Axis) -> bool:  # noqa: ARG002 - most tables are shown whole
        """Whether what an axis shows is all there is within the question, so that a total is the total of it."""
        return True

    @property
    def universe(self) -> dict[str, tuple[str, ...]]:
        """What the numbers are about: the product's own universe, and what the question holds it to."""
        return {**self.product.subject.universe, **{name: codes_of(levels) for name, levels in self.where.items()}}

    @cached_property
    def missing(self) -> tuple[NoNumber, ...]:
        """Why cells hold no number, each reason once."""
        return self.columns().told.kinds

    @cached_property
    def _withheld(self) -> Mapping[Withheld, set[bool]]:
        """The errors that are withheld, and of which numbers: of cells as measured, of others, or of both.

        Where one column withholds, it does so for the same reason.
        """
        columns = self.columns()
        unsaid = np.flatnonzero(np.isnan(columns.variance) & ~columns.empty)
        column = unsaid % (len(self.axes[-1].codes) if self.axes else 1)
        _, first = np.unique(2 * column + (columns.cells[unsaid] == 1), return_index=True)
        found: dict[Withheld, set[bool]] = {}
        for one in (self.figure(int(flat)) for flat in unsaid[first]):
            parts = (one.noise_variance, one.sampling_variance) if isinstance(one, Estimate) else ()
            for part in (part for part in parts if isinstance(part, Withheld)):
                found.setdefault(part, set()).add(isinstance(one, Estimate) and one.as_measured)
        return found

    def reasons(self, language: str = "en") -> tuple[str, ...]:
        """Why errors are withheld, each reason once, with what is told of cells as measured where some are shown."""
        totals = {False}  # pages and sheets show them beside any cells
        return tuple(untold(error, measured | totals, language) for error, measured in self._withheld.items())


def codes_of(levels: str | int | Sequence[str | int]) -> tuple[str, ...]:
    """Levels as a question names them, one or several, as a list of texts."""
    return (str(levels),) if isinstance(levels, (str, int)) else tuple(map(str, levels))


def only(universe: Mapping[str, Sequence[str]], known: Sequence[Attribute]) -> str:
    """What numbers are only about, by the labels of its variables and levels; a name that is not known says itself."""
    attributes = {one.name: one for one in known}
    named = [
        (attributes[name].label if name in attributes else name, labels_of(codes, attributes.get(name)))
        for name, codes in universe.items()
    ]
    return joined("; ", (joined(": ", [label, joined(", ", levels)]) for label, levels in named))


def labels_of(codes: Sequence[str], attribute: Attribute | None) -> list[str]:
    """The labels of levels; what is no code is a label already."""
    known = set() if attribute is None else set(attribute.levels.codes)
    return [attribute.levels.label(code) if attribute and code in known else code for code in codes]


def titled(title: str, shown: Sequence[Attribute], language: str = OWN) -> str:
    """What a table by some variables is called in a language.

    In English a label inside a sentence starts small, an abbreviation does not.
    """
    labels, said = [inside_sentence(one.label, language) for one in shown], words(language)
    if not labels:
        return title
    listed = said("title.and", others=joined(", ", labels[:-1]), last=labels[-1]) if len(labels) > 1 else labels[0]
    return said("title.by", title=title, what=listed)


def per_one(what: str, unit: str, language: str) -> str:
    """A statistic, or its unit, divided by the number of something.

    >>> per_one("Wages", "job", "en"), per_one("Löhne", "Arbeitsplatz", "de")
    ('Wages per job', 'Löhne je Arbeitsplatz')
    """
    return words(language)("title.per", what=what, unit=unit)


def inside_sentence(label: str, language: str) -> str:
    """A label inside a sentence of a language.

    >>> inside_sentence("Place of work", "en"), inside_sentence("NAICS", "en"), inside_sentence("Beruf", "de")
    ('place of work', 'NAICS', 'Beruf')
    """
    starts_small = language == OWN and label[1:2].islower() and not language_of(label)
    return label[:1].lower() + label[1:] if starts_small else label

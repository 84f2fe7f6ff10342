"""Answer: a question, how its table is placed, and its numbers as columns; what every download is written from."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product as combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import QueryError
from sfumato.query import LARGEST_PAGE, Axis, Crosstab, Group
from sfumato.query.axis import axis as axis_of
from sfumato.query.columns import Columns
from sfumato.release import Withheld
from sfumato.serve.catalogue import Sheet
from sfumato.serve.question import Question

METRICS = ("estimate", "moe90", "se_noise", "se_sampling", "cv")
LARGEST_DOWNLOAD = 1_000_000
"""The most cells that a format written piece by piece takes."""


@dataclass(frozen=True)
class Placement:
    """Which variables stand at the side of a table and which above it; one that is named nowhere stands at the side."""

    stub: tuple[str, ...] = ()
    heading: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """The answer to a question in one language; `path` is where this server gives the same answer as data."""

    question: Question
    placement: Placement = Placement()
    language: str = "en"
    path: str = ""

    @property
    def sheet(self) -> Sheet:
        return self.question.sheet

    @cached_property
    def table(self) -> Crosstab:
        return self.question.table()

    @cached_property
    def columns(self) -> Columns:
        return self.table.columns()

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.table.axes

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """Why errors are withheld, each reason once; a product withholds for all of its cells or for none."""
        if not len(self.columns) or not np.isnan(self.columns.variance).any():
            return ()
        first = self.table.at(tuple(0 for _ in self.axes))
        parts = (first.noise_variance, first.sampling_variance)
        return tuple(dict.fromkeys(part.reason for part in parts if isinstance(part, Withheld)))

    @property
    def notices(self) -> tuple[str, ...]:
        """What is to be said of the release before any number."""
        return tuple(notice.sentence for notice in self.sheet.edition.notices)

    @property
    def universe(self) -> Mapping[str, tuple[str, ...]]:
        """What the numbers are about: the table's own universe, and what the question holds it to."""
        return {**self.sheet.product.subject.universe, **self.question.within}

    @property
    def universe_words(self) -> str:
        return "; ".join(f"{name}: {', '.join(codes)}" for name, codes in self.universe.items())

    @property
    def title(self) -> str:
        held = [self.sheet.attribute(name).label for name in self.question.within if name in self.sheet.names]
        shown = self.sheet.titled(list(self.question.shown))
        return f"{shown}, within a part of {', '.join(held)}" if held else shown

    @property
    def titles(self) -> list[tuple[str, str]]:
        """For each axis the names of its column of codes and of its column of labels, all of them different."""
        names = [axis.attribute.name for axis in self.axes]
        labels = apart([f"{name}_label" for name in names], names)
        return [(name, labels[f"{name}_label"]) for name in names]

    def codes(self, place: int) -> NDArray[np.int64]:
        """For each cell the place of its code on one axis."""
        shape = self.table.shape
        inner, outer = math.prod(shape[place + 1 :]), math.prod(shape[:place])
        return np.tile(np.repeat(np.arange(shape[place]), inner), outer)

    def pieces(self, most: int = LARGEST_PAGE) -> Iterator["Answer"]:
        """The same answer part by part, in the same order, each part small enough to hold."""
        for part in _parts(self.question, most):
            yield replace(self, question=part)


def size(question: Question) -> int:
    """How many cells the answer has, known before any is computed."""
    return math.prod(len(items) for items in _items(question).values())


def refuse_if_too_large(question: Question, most: int, streamed: Sequence[str]) -> None:
    """Say so before any work when the table has more cells than its format takes."""
    cells = size(question)
    if cells <= most:
        return
    larger = cells <= LARGEST_DOWNLOAD and most < LARGEST_DOWNLOAD
    instead = f"or take it as a download: outputFormat={' or '.join(streamed)}, up to {LARGEST_DOWNLOAD:,} cells"
    whole = f"or take the file of the whole product from the release folder, as a download has at most {most:,}"
    raise TooLargeError(
        f"The table has {cells:,} cells, more than {most:,}; show a higher level, fewer variables, or filter, "
        f"{instead if larger else whole}."
    )


class TooLargeError(QueryError):
    """A table with more cells than are given at once."""


Item = str | Group


def _items(question: Question) -> dict[str, list[Item]]:
    """What each axis shows: its codes, then the reader's groups, without those that the universe leaves empty."""
    held = {**question.sheet.product.subject.universe, **question.within}
    shown = {}
    for name, codes in question.shown.items():
        items: list[Item] = [*codes, *question.groups.get(name, ())]
        attribute = question.sheet.attribute(name)
        if name in held:
            inside = np.ones(len(attribute.levels.leaves), dtype=bool)
            for part in (question.sheet.product.subject.universe, question.within):
                inside &= attribute.levels.mask(part[name]) if name in part else True
            axis = axis_of(attribute, items)
            items = [
                one for one in items if (axis.mask(one.code if isinstance(one, Group) else one) & inside).any()
            ] or items
        shown[name] = items
    return shown


def _parts(question: Question, most: int) -> Iterator[Question]:
    items = _items(question)
    names, lengths = list(items), [len(one) for one in items.values()]
    place = next((at for at in range(len(names)) if math.prod(lengths[at + 1 :]) <= most), 0)
    if math.prod(lengths) <= most:
        yield question
        return
    step = most // math.prod(lengths[place + 1 :])
    runs = [items[names[place]][start : start + step] for start in range(0, lengths[place], step)]
    for outer in combinations(*(items[name] for name in names[:place])):
        for run in runs:
            chosen = {**{name: [one] for name, one in zip(names, outer, strict=False)}, names[place]: run}
            yield _part(question, {**items, **chosen})


def _part(question: Question, items: Mapping[str, Sequence[Item]]) -> Question:
    shown = {name: tuple(one for one in part if isinstance(one, str)) for name, part in items.items()}
    groups = {name: tuple(one for one in part if isinstance(one, Group)) for name, part in items.items()}
    return replace(question, shown=shown, groups={name: found for name, found in groups.items() if found})


def finite(numbers: NDArray[Any]) -> list[Any]:
    """The numbers as Python's own, None where one is withheld or has no end."""
    if numbers.dtype.kind != "f" or np.isfinite(numbers).all():
        return numbers.tolist()  # type: ignore[no-any-return]
    return [one if math.isfinite(one) else None for one in numbers.tolist()]


def apart(own: Sequence[str], taken: Sequence[str]) -> dict[str, str]:
    """Names for our own columns that no variable of the table has.

    >>> apart(["cv", "grade"], ["cv", "age"])
    {'cv': 'cv_', 'grade': 'grade'}
    """
    found: dict[str, str] = {}
    for name in own:
        free = name
        while free in {*taken, *found.values()}:
            free += "_"
        found[name] = free
    return found

"""Answer: figures as they are taken along: how they are placed, in which language, and what is said with them."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.foreign_text import joined
from sfumato.query.change import Change
from sfumato.query.columns import Columns
from sfumato.query.figures import LARGEST_PAGE, Figures, only
from sfumato.query.notices import notices_of
from sfumato.query.value_notes import noted
from sfumato.query.wording import words
from sfumato.release import Manifest, Release

METRICS = ("estimate", "moe90", "se_noise", "se_sampling", "cv")
ERRORS: Mapping[str, tuple[str, ...]] = {"moe90": (), "se": ("se",), "cv": (), "interval95": ("low95", "high95")}
"""The kinds of error that a reader may choose, and the metrics that each adds to those that are always given."""
ENDS = {"low90": (0, 0.90), "high90": (1, 0.90), "low95": (0, 0.95), "high95": (1, 0.95)}
"""The ends of intervals: which one, and at which level."""
CHANGES = ("before", "after", "percent", "percent_moe90", "percent_low90", "percent_high90")
"""What changes have besides: both numbers, and the percentage with its error."""
OWN = (
    *METRICS, *CHANGES, "since", "verdict", "words", "low90", "high90", "se", "low95", "high95", "grade", "cells",
    "status", "reason", "statistic", "unit", "share_of", "period", "universe", "note", "release", "notice",
)  # fmt: skip
"""The columns of a tidy table beside the codes and labels of its variables."""


def metrics(error: str, *, changes: bool) -> tuple[str, ...]:
    """The metrics of numbers or of changes whose readers chose a kind of error.

    >>> metrics("se", changes=False)
    ('estimate', 'moe90', 'se_noise', 'se_sampling', 'cv', 'se')
    """
    return (*METRICS, *(CHANGES if changes else ()), *ERRORS[error])


@dataclass(frozen=True)
class Placement:
    """Which variables stand at the side of a table and which above it; one that is named nowhere stands at the side."""

    stub: tuple[str, ...] = ()
    heading: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What every file is written from; `path` is where a server gives the same as data.

    A server says more than a release does of itself: `told` are its notices, `more` goes into its JSON-stat.
    """

    figures: Figures
    placement: Placement = Placement()
    language: str = ""
    """The language of its words; that of its labels unless another is named."""
    path: str = ""
    told: tuple[str, ...] | None = None
    more: Callable[[], Mapping[str, Any]] = dict
    error: str = "moe90"
    """The kind of error that the reader chose; the sheet as shown has it, and other files have it too."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "language", self.language or self.figures.language)

    @cached_property
    def columns(self) -> Columns:
        return self.figures.columns().told

    @property
    def metrics(self) -> tuple[str, ...]:
        """The estimate and its errors, those that the reader chose among them, and what changes have besides."""
        return metrics(self.error, changes=self.changes)

    @property
    def changes(self) -> bool:
        """Whether the numbers are changes, each with a verdict."""
        return self.figures.has_changes

    def metric(self, name: str) -> NDArray[Any]:
        """One of the metrics of every cell."""
        if name in ENDS:
            side, level = ENDS[name]
            return self.columns.ends(level)[side]
        found: NDArray[Any] = self.columns.more[name] if name in CHANGES else getattr(self.columns, name)
        return found

    @property
    def verdicts(self) -> dict[str, list[str]]:
        """For changes what each is counted from, its verdict by its key, and in words; nothing for other numbers."""
        if not self.changes:
            return {}
        said = words(self.language)
        changes = [one if isinstance(one, Change) else None for _, one in self.figures.items()]
        sentences = [one.sentence().said(said) if one else "" for one in changes]
        since = [one.since if one else "" for one in changes]
        return {"since": since, "verdict": self.columns.more["verdict"].tolist(), "words": sentences}

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is to be said of the numbers as such."""
        return tuple(one.said(words(self.language)) for one in self.figures.remarks)

    @property
    def tidy_metrics(self) -> tuple[str, ...]:
        """What a line holds: the metrics, and both ends of the 90% interval where its margin does not tell them."""
        return (*self.metrics, *(("low90", "high90") if self.columns.lopsided else ()))

    @property
    def share_of(self) -> str:
        """What shares are of, in words; '' where numbers are no shares."""
        of, said = self.figures.shares_of, words(self.language)
        if of is None:
            return ""
        return said("sheet.share_of", by=", ".join(of)) if of else said("sheet.share_whole")

    @property
    def release(self) -> Release:
        """What the numbers are from; of several periods, the last."""
        return self.figures.releases[-1]

    @property
    def manifest(self) -> Manifest:
        return self.release.manifest

    @property
    def periods(self) -> str:
        """The period that the numbers are of, or the first and the last of several."""
        named = [release.manifest.period for release in self.figures.releases]
        return named[0] if len(named) == 1 else words(self.language)("sheet.between", low=named[0], high=named[-1])

    @property
    def notices(self) -> tuple[str, ...]:
        """What is to be said before any number."""
        own = [notice.sentence for release in self.figures.releases for notice in notices_of(release)]
        return tuple(dict.fromkeys(own)) if self.told is None else self.told

    @property
    def unsaid(self) -> tuple[str, ...]:
        """What is not stated of the errors, and why."""
        alone = "about.noise_cut" if self.caveat else "about.noise_alone"
        key = alone if self.columns.noise_alone.any() else "about.withheld"
        start = words(self.language)(key)
        return tuple(joined(": ", [start, reason]) for reason in self.figures.reasons(self.language))

    @property
    def caveat(self) -> str:
        """What the numbers leave out, as a sentence; '' where they leave out nothing."""
        return self.figures.caveats.sentence(self.language)

    @property
    def note(self) -> str:
        """What is to be said beside the numbers: what they leave out, and how values were counted."""
        return joined(" ", filter(None, [self.caveat, self.counted]))

    @property
    def counted(self) -> str:
        """How values were counted."""
        return noted(self.figures.product.subject, self.language)

    @property
    def universe_words(self) -> str:
        return only(self.figures.universe, self.release.attributes)

    @property
    def title(self) -> str:
        labels = {one.name: one.label for one in self.figures.product.attributes}
        held = [labels[name] for name in self.figures.where if name in labels]
        title = self.figures.title
        return words(self.language)("title.within", title=title, names=joined(", ", held)) if held else title

    @property
    def titles(self) -> list[tuple[str, str]]:
        """For each axis the names of its column of codes and of its column of labels, all of them different."""
        names = [axis.attribute.name for axis in self.figures.axes]
        labels = apart([f"{name}_label" for name in names], names)
        return [(name, labels[f"{name}_label"]) for name in names]

    @property
    def own(self) -> dict[str, str]:
        """What our own columns are called in this table, so that none has the name of a variable."""
        return apart(OWN, [name for pair in self.titles for name in pair])

    def codes(self, place: int) -> NDArray[np.int64]:
        """For each cell the place of its code on one axis."""
        shape = self.figures.shape
        inner, outer = math.prod(shape[place + 1 :]), math.prod(shape[:place])
        return np.tile(np.repeat(np.arange(shape[place]), inner), outer)

    def pieces(self, most: int = LARGEST_PAGE) -> Iterator["Answer"]:
        """The same answer part by part, in the same order, each part small enough to hold."""
        return (replace(self, figures=part) for part in self.figures.pieces(most))


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


def time_name(names: Sequence[str]) -> str:
    """The name of the variable of periods, which no variable of the table has.

    >>> time_name(["sex"]), time_name(["period"])
    ('period', 'period_')
    """
    return apart(["period"], names)["period"]

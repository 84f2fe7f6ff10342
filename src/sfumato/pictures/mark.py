"""Mark: one number as a picture shows it, and the words that go round the marks."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sfumato.errors import QueryError
from sfumato.foreign_text import joined
from sfumato.pictures.look import SERIES
from sfumato.pictures.svg import tick_words

MOST_MARKS = 2_000
MOST_SERIES = len(SERIES)


@dataclass(frozen=True)
class Mark:
    """A number with the ends of its interval, or with the reason why it has none.

    `noise_share` is the share of the variance that privacy noise made; `shown` is the number and its margin as the
    table writes them, `ends_shown` the ends of its interval, `carried` what a download takes along.

    >>> Mark("Nurses", 310, 234, 386, "B")
    Mark('Nurses', 310 in 234 to 386, 'B')
    """

    label: str
    value: float
    low: float | None
    high: float | None
    grade: str = ""
    noise_share: float | None = None
    series: str = ""
    code: str = ""
    href: str = ""
    shown: str = ""
    ends_shown: tuple[str, str] = ("", "")
    withheld: str = ""
    verdict: str = ""
    """What is said of a change in place of a grade; one that is no `sign` of a change is drawn hollow."""
    sign: bool = True
    moved: str = ""
    """Of a mark on a line: "real" or "none" as it differs from the one before it, '' where that is not said."""
    carried: Mapping[str, object] = field(default_factory=dict)
    absent: str = ""
    """Why there is no number at all; then a row of a picture has the words, and nothing is drawn at a value."""
    joint: tuple[float, float] | None = None
    """The ends of the interval that holds along with those of all marks beside it, infinite where it has none."""

    def __post_init__(self) -> None:
        low, high = self.ends
        if not (math.isfinite(self.value) and math.isfinite(low) and math.isfinite(high) and low <= high):
            raise QueryError(
                f"'{self.label}' cannot be drawn: {self.value} from {low} to {high} is no place on an axis."
            )

    @property
    def stated(self) -> bool:
        """Whether the error is stated; an interval with one end alone states none."""
        return self.low is not None and self.high is not None

    @property
    def ends(self) -> tuple[float, float]:
        """The interval, or the value twice where none is stated."""
        low, high = self.low, self.high
        return (self.value, self.value) if low is None or high is None else (low, high)

    @property
    def joint_ends(self) -> tuple[float, float]:
        """The interval that holds along with all others; its own where no other is known."""
        return self.ends if self.joint is None else self.joint

    @property
    def name(self) -> str:
        """What it is of: its row, and its series where there are several."""
        return joined(", ", (part for part in (self.label, self.series) if part))

    @property
    def doubtful(self) -> bool:
        """Whether it is drawn hollow: grade C, or no sign of a change."""
        return self.grade == "C" or not self.sign

    def __repr__(self) -> str:
        reach = f"in {self.low:g} to {self.high:g}" if self.stated else "error withheld"
        return f"Mark({self.label!r}, {self.value:g} {reach}, {self.grade!r})"


@dataclass(frozen=True)
class PictureWords:
    """The words a picture adds of its own, to be said in any language."""

    interval: str = "90% interval"
    noise: str = "privacy noise"
    sampling: str = "sampling error"
    hollow: str = "hollow: grade C"
    withheld: str = "error withheld"
    grade: str = "grade"
    to: str = "to"
    in_words: str = "In words"
    limit: str = "limit"
    left: str = "left"
    blind: str = "blind guessing"
    false_alarm: str = "false alarms"
    power: str = "how often the test is right"
    thousand: str = "k"
    million: str = "M"
    faint: str = "faint: the other rows"
    unmoved: str = "dashed: no sign of a change"
    told: str = "At best {power} times in 100 right, for {alarm} false alarms in 100."


@dataclass(frozen=True)
class Caption:
    """What stands round the marks: a title, what the axis counts, a source below, a banner across, the words."""

    title: str
    axis: str = ""
    source: str = ""
    banner: str = ""
    headed: bool = True
    percent: bool = False
    headline: str = ""
    """What the numbers say, over the title and in what is read aloud."""
    titled: bool = False
    """Whether the title stands over a picture that is not headed, as on a page that says the headline itself."""
    words: PictureWords = field(default_factory=PictureWords)
    figure: Callable[[str], str] = str
    """How the language of the picture writes a number that is written the English way."""

    def number(self, value: float) -> str:
        """A round number as the language of the picture writes it."""
        return self.figure(tick_words(value, percent=self.percent))

    def along(self, ticks: Sequence[float]) -> list[str]:
        """The numbers of an axis: all in thousands or all in millions where that is shorter.

        >>> Caption("jobs").along([0, 200_000, 400_000]), Caption("jobs").along([0, 500, 1_000])
        (['0', '200 k', '400 k'], ['0', '500', '1,000'])
        """
        far = max((abs(tick) for tick in ticks), default=0.0)
        # Thousands are named from 100,000 on, as in a table.
        for unit, least, word in ((10**6, 10**6, self.words.million), (10**3, 10**5, self.words.thousand)):
            parts = [round(tick / unit, 1) for tick in ticks]
            if (
                not self.percent
                and far >= least
                and all(part * unit == tick for part, tick in zip(parts, ticks, strict=True))
            ):
                written = [self.figure(tick_words(part, percent=False)) for part in parts]
                return [f"{number} {word}" if part else number for number, part in zip(written, parts, strict=True)]
        return [self.number(tick) for tick in ticks]


@dataclass(frozen=True)
class MarkRow:
    """The marks that share a label, one a series at most."""

    label: str
    code: str
    marks: tuple[Mark, ...]


def rows_of(marks: Sequence[Mark]) -> list[MarkRow]:
    """The marks by label and code, both in the order they came in."""
    found: dict[tuple[str, str], list[Mark]] = {}
    for mark in marks:
        found.setdefault((mark.label, mark.code), []).append(mark)
    return [MarkRow(label, code, tuple(some)) for (label, code), some in found.items()]


def series_of(marks: Sequence[Mark]) -> list[str]:
    """The series of some marks in the order they came in; refused where more than a reader could tell apart."""
    names = list(dict.fromkeys(mark.series for mark in marks))
    if not marks:
        raise QueryError("A picture of no numbers was asked for; choose at least one row.")
    if len(marks) > MOST_MARKS:
        raise QueryError(too_many_marks(len(marks)))
    if len(names) > MOST_SERIES:
        raise QueryError(too_many_series(len(names)))
    return names


def too_many_series(count: int) -> str:
    """Why a picture of so many series is refused."""
    return f"{count} series were asked for; a picture holds {MOST_SERIES}: choose fewer columns."


def too_many_marks(count: int) -> str:
    """Why a picture of so many numbers is refused."""
    return f"A picture of {count:,} numbers was asked for; it holds {MOST_MARKS:,}: choose fewer rows."


def spoken(mark: Mark, words: PictureWords) -> str:
    """The sentence that a screen reader says of a mark."""
    if mark.absent:
        return joined(": ", [mark.name, mark.absent])
    if mark.stated:
        plain = [tick_words(end, percent=False) for end in mark.ends]
        low, high = mark.ends_shown if all(mark.ends_shown) else plain
        error = f"{words.interval} {low} {words.to} {high}"
    else:
        error = joined(": ", filter(None, [words.withheld, mark.withheld]))
    graded = f", {words.grade} {mark.grade}" if mark.grade.isalpha() else ""
    return joined("", [mark.name, f": {shown(mark)}, ", error, f"{graded}{', ' if mark.verdict else ''}{mark.verdict}"])


def shown(mark: Mark) -> str:
    """The number as it is written beside the mark."""
    return mark.shown or tick_words(round(mark.value, 3), percent=False)

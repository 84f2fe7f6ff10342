"""Detail: one cell looked at closely, and two cells compared."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sfumato.errors import QueryError
from sfumato.query import Crosstab, Estimate, Figure, Group, Sentence, Shares, number
from sfumato.query.comparison import Comparison
from sfumato.query.detail import percent_of_noise
from sfumato.query.digits import Digits
from sfumato.query.share_comparison import ShareComparison, difference_of_shares
from sfumato.query.wording import Words
from sfumato.release import NoNumber, Withheld
from sfumato.serve.pages.cell import Cell, cell, codes_of, tenths
from sfumato.serve.pages.layout import Layout
from sfumato.serve.question import Question, shown_codes


@dataclass(frozen=True)
class CellPair:
    """Two cells side by side: the other one, the difference, and whether it is real."""

    other: tuple[str, ...]
    cell: Cell
    difference: Cell
    answer: str


@dataclass(frozen=True)
class ErrorSplit:
    """How many percent of a squared error are noise and how many sampling, in words and as tenths."""

    noise: str
    sampling: str
    tenths: int

    @classmethod
    def of(cls, estimate: Figure, words: Words) -> "ErrorSplit | None":
        percent = percent_of_noise(estimate) if isinstance(estimate, Estimate) else None
        if percent is None:
            return None
        noise, sampling = (words.figure(number(one)) for one in (percent, round(100 - percent, 1)))
        return cls(noise, sampling, tenths(percent))


@dataclass(frozen=True)
class DetailView:
    """What is told of one cell: its place in words, its number, its errors apart, and sentences about it."""

    labels: tuple[str, ...]
    cell: Cell
    unit: str
    split: ErrorSplit | None
    errors: tuple[tuple[str, str], ...]
    sentences: tuple[str, ...]
    compared: CellPair | None = None


def detail_view(layout: Layout) -> DetailView | None:
    """The cell that the address names, if it names one; with `hold`, compared with the one that was held."""
    look, words = layout.look, layout.look.words
    if not look.cell:
        return None
    table = one_cell(layout, look.cell)
    found = table.detail(tuple(axis.codes[0] for axis in table.axes))
    shown = cell(found.estimate, look.but(error="moe90", zero=""), look.cell, exact=True)
    apart = _errors(found.estimate, words) if isinstance(found.estimate, Estimate) else ()
    share = "build.share_" + (look.share if layout.column else "whole")
    return DetailView(
        labels=_labels(layout, table),
        cell=shown,
        unit=words(share) if look.share else layout.sheet.product.subject.unit,
        split=ErrorSplit.of(found.estimate, words),
        errors=tuple(apart),
        sentences=tuple(one.said(words) for one in found.sentences),
        compared=_compared(layout, table) if look.hold != look.cell and _stands(layout, look.hold) else None,
    )


def _stands(layout: Layout, written: str) -> bool:
    """Whether a cell was held that is one of this table: the table may have become another since."""
    try:
        return bool(written) and one_cell(layout, written) is not None
    except QueryError:
        return False


def _compared(layout: Layout, table: Crosstab | Shares) -> CellPair:
    """The held cell minus the one that is looked at; the error of the difference counts the noise they share."""
    look, other = layout.look, one_cell(layout, layout.look.hold)
    plain = look.but(error="moe90", zero="")
    held, labels = cell(other.figure(0), plain, look.hold, exact=True), _labels(layout, other)
    try:
        difference = _difference(other, table)
    except QueryError as error:
        unsaid = Sentence("differ_unsaid", {"reason": str(error).rstrip(".")})
        return CellPair(labels, held, cell(NoNumber(str(error)), plain), unsaid.said(look.words))
    # A grade says how a number compares with its error; of a difference the sentence says it, and better.
    apart = replace(cell(difference, plain, exact=True), grade="")
    if isinstance(difference, ShareComparison):
        written = look.words.figure(Digits.of(difference, exact=True).number(difference.value))
        apart = replace(apart, number=look.words("detail.points", figure=written))
    return CellPair(labels, held, apart, difference.sentence().said(look.words))


def _difference(held: Crosstab | Shares, looked_at: Crosstab | Shares) -> Comparison:
    """The number of one cell minus that of another; percentages are compared as percentages."""
    if isinstance(held, Shares) and isinstance(looked_at, Shares):
        parts = [one.part((0,) * len(one.axes)) for one in (held, looked_at)]
        return difference_of_shares(held.source, *parts)
    if isinstance(held, Shares) or isinstance(looked_at, Shares):
        raise QueryError("A percentage is not compared with a number; show both as one of them.")
    return held.source.difference(*(one.box((0,) * len(one.axes)) for one in (held, looked_at)))


def one_cell(layout: Layout, written: str) -> Crosstab | Shares:
    """The table of the one cell that an address names by its codes; a variable without a code is summed over.

    It is a percentage where the page shows percentages.
    """
    codes = codes_of(written)
    if len(codes) != len(layout.names):
        raise QueryError(f"The cell '{written[:100]}' is not one of this table, which is by {', '.join(layout.names)}.")
    question = layout.question
    shown: dict[str, tuple[str, ...]] = {}
    groups: dict[str, tuple[Group, ...]] = {}
    for name, code in zip(layout.names, codes, strict=True):
        named = [one for one in layout.groups.get(name, ()) if one.code == code]
        if code:
            shown[name] = () if named else (code,)
            groups |= {name: tuple(named)} if named else {}
    shown_codes(layout.sheet, {name: codes for name, codes in shown.items() if codes}, {})
    table = Question(question.sheet, shown, question.within, groups).table(list(shown))
    return table.shares([name for name in layout.wholes if name in shown]) if layout.look.share else table


def _labels(layout: Layout, table: Crosstab | Shares) -> tuple[str, ...]:
    return tuple(axis.labels[0] for axis in table.axes) or (layout.look.words("table.total"),)


def _errors(estimate: Estimate, words: Words) -> Sequence[tuple[str, str]]:
    """The errors apart, each with its name; one that is withheld says so."""
    parts = {"se_noise": estimate.noise_se, "se_sampling": estimate.sampling_se, "se": estimate.se}
    digits = Digits.of(estimate, exact=True)

    def written(error: float | Withheld) -> str:
        if isinstance(error, Withheld):
            return words("error.withheld")
        return (
            words("detail.points", figure=words.figure(digits.error(error)))
            if digits.percent
            else words.figure(number(error))
        )

    listed = [(words(f"detail.{key}"), written(one)) for key, one in parts.items()]
    sign = "%" if digits.percent else ""
    for level in (90, 95):
        try:
            low, high = (words.figure(end + sign) for end in digits.ends(*estimate.interval(level / 100)))
            listed.append((words("detail.interval", level=level), words("error.between", low=low, high=high)))
        except QueryError:
            listed.append((words("detail.interval", level=level), words("error.withheld")))
    return [*listed, (words("detail.cells"), words.figure(f"{estimate.cells:,}"))]

"""Detail: one cell looked at closely, and two cells compared."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from sfumato.errors import QueryError
from sfumato.foreign_text import joined, without_stop
from sfumato.pictures.reach import reached
from sfumato.query import Change, Crosstab, Estimate, Figure, Group, Means, Sentence, Shares, number
from sfumato.query.change import change_of
from sfumato.query.changed_table import refuse_other_bounds
from sfumato.query.comparison import Comparison
from sfumato.query.detail import percent_of_noise
from sfumato.query.digits import Digits
from sfumato.query.periods import SINCE
from sfumato.query.portable import Portable
from sfumato.query.share_comparison import ShareComparison, difference_of_shares
from sfumato.query.shared_noise import in_common
from sfumato.query.wording import Words
from sfumato.release import NoNumber, Withheld
from sfumato.serve.pages.cell import Cell, cell, codes_of
from sfumato.serve.pages.layout import Layout
from sfumato.serve.question import Question, shown_codes

_LEVELS = (0.99, 0.90, 0.50)
"""The intervals that are drawn of a number, the widest first."""


@dataclass(frozen=True)
class CellPair:
    """Two cells side by side: the other one, the difference, and whether it is real."""

    other: tuple[str, ...]
    cell: Cell
    difference: Cell
    answer: str


@dataclass(frozen=True)
class ErrorSplit:
    """How many percent of a squared error are noise and how many sampling, in words and as a number."""

    noise: str
    sampling: str
    percent: float

    @classmethod
    def of(cls, estimate: Figure, words: Words) -> "ErrorSplit | None":
        """None where nothing is to be split: an error that is all noise, or all sampling, or withheld."""
        percent = percent_of_noise(estimate) if isinstance(estimate, Estimate) else None
        if percent is None or not 0 < percent < 100:
            return None
        noise, sampling = (words.figure(number(one)) for one in (percent, round(100 - percent, 1)))
        return cls(noise, sampling, percent)


@dataclass(frozen=True)
class DetailView:
    """What is told of one cell: its place in words, its number, its errors apart, and sentences about it."""

    labels: tuple[str, ...]
    cell: Cell
    unit: str
    split: ErrorSplit | None
    reach: Markup | None
    """How far its error reaches, drawn; none where that is withheld, and of a true number."""
    errors: tuple[tuple[str, str], ...]
    sentences: tuple[str, ...]
    compared: CellPair | None = None
    changes: tuple[tuple[str, str], ...] = ()
    """The verdict on each change of the cell, by its key and in words."""


def detail_view(layout: Layout) -> DetailView | None:
    """The cell that the address names, if it names one; with `hold`, compared with the one that was held."""
    look, words = layout.look, layout.look.words
    if not look.cell:
        return None
    if look.change:
        return _change_view(layout)
    table = one_cell(layout, look.cell)
    found = table.detail(tuple(axis.codes[0] for axis in table.axes))
    shown = cell(found.estimate, look.but(error="moe90", zero=""), look.cell, exact=True)
    apart = _errors(found.estimate, words) if isinstance(found.estimate, Estimate) else ()
    share = f"build.share_{layout.share}"
    return DetailView(
        labels=_labels(layout, table, look.cell),
        cell=shown,
        unit=words(share) if look.share else layout.unit,
        split=ErrorSplit.of(found.estimate, words),
        reach=_reach(found.estimate, words),
        errors=tuple(apart),
        sentences=tuple(one.said(words) for one in found.sentences),
        compared=_compared(layout, table) if look.hold != look.cell and _stands(layout, look.hold) else None,
        changes=() if look.share or look.per else tuple(_changes(layout)),
    )


def _change_view(layout: Layout) -> DetailView:
    """A change looked at closely: what was before and after, its interval, the percentage, and what it means."""
    look, words = layout.look, layout.look.words
    question = _asked(layout, look.cell)
    table = question.table(list(question.shown))
    change, plain = table.figure(0), look.but(error="moe90", zero="")
    listed: list[tuple[str, str]] = []
    told: tuple[str, ...] = (change.reason,) if isinstance(change, NoNumber) else ()
    if isinstance(change, Change):
        both = (cell(one, plain, exact=True) for one in (change.before, change.after))
        names = change.since, question.sheet.timeline.named(question.sheet)
        listed = [(name, f"{one.number} {one.error}") for name, one in zip(names, both, strict=True)]
        listed += _errors(change, words)
        if isinstance(change.percent, Estimate):
            low, high = Digits.of(change.percent).ends(*change.percent.interval(0.90))
            ends = {"low": words.figure(f"{low}%"), "high": words.figure(f"{high}%")}
            listed.append((words("detail.percent"), words("error.between", **ends)))
        told = (change.sentence().said(words), *(one.said(words) for one in table.remarks))
    return DetailView(
        labels=_labels(layout, table, look.cell),
        cell=cell(change, plain, look.cell, exact=True),
        unit=layout.sheet.product.subject.unit,
        split=ErrorSplit.of(change, words),
        reach=_reach(change, words),
        errors=tuple(listed),
        sentences=told,
    )


def _changes(layout: Layout) -> Iterator[tuple[str, str]]:
    """How a number changed since the period before and since a year before, where these are here."""
    question = _asked(layout, layout.look.cell)
    line, seen = question.sheet.timeline, set[str]()
    for since in SINCE:
        if not question.sheet.time or not line.has_before(question.sheet, since):
            continue
        before = line.before(question.sheet, since).period
        if before not in seen:
            seen.add(before)
            try:
                change = replace(question, since=since).table(list(question.shown)).figure(0)
            except QueryError:  # the earlier release has other levels, or does not answer
                continue
            if isinstance(change, Change):
                yield change.verdict(), change.sentence().said(layout.look.words)


def _stands(layout: Layout, written: str) -> bool:
    """Whether a cell was held that is one of this table: the table may have become another since."""
    try:
        return bool(written) and one_cell(layout, written) is not None
    except QueryError:
        return False


def _compared(layout: Layout, table: Crosstab | Shares | Means) -> CellPair:
    """The held cell minus the one that is looked at; the error of the difference counts the noise they share."""
    look, other = layout.look, one_cell(layout, layout.look.hold)
    plain = look.but(error="moe90", zero="")
    held, labels = cell(other.figure(0), plain, look.hold, exact=True), _labels(layout, other, look.hold)
    missing = [one for one in (other.figure(0), table.figure(0)) if isinstance(one, NoNumber)]
    try:
        difference = missing[0] if missing else _difference(other, table)
    except QueryError as error:
        difference = NoNumber(layout.sheet.product.says(str(error)))
    if isinstance(difference, NoNumber):
        unsaid = Sentence("differ_unsaid", {"reason": without_stop(difference.reason)})
        return CellPair(labels, held, cell(NoNumber(difference.reason), plain), unsaid.said(look.words))
    # A grade says how a number compares with its error; of a difference the sentence says it, and better.
    apart = replace(cell(difference, plain, exact=True), grade="")
    if isinstance(difference, ShareComparison):
        written = look.words.figure(Digits.of(difference, exact=True).number(difference.value))
        apart = replace(apart, number=look.words("detail.points", figure=written))
    told = [difference.sentence(), *difference.added()]
    return CellPair(labels, held, apart, joined(" ", (one.said(look.words) for one in told)))


def _difference(held: Crosstab | Shares | Means, looked_at: Crosstab | Shares | Means) -> Comparison:
    """The number of one cell minus that of another; percentages are compared as percentages."""
    if held.source.release is looked_at.source.release and isinstance(held, Shares) and isinstance(looked_at, Shares):
        parts = [one.part((0,) * len(one.axes)) for one in (held, looked_at)]
        return difference_of_shares(held.source, *parts)
    if held.source.release is not looked_at.source.release or isinstance(held, Means) or isinstance(looked_at, Means):
        return _of_releases(held, looked_at)
    if isinstance(held, Shares) or isinstance(looked_at, Shares):
        raise QueryError("A percentage is not compared with a number; show both as one of them.")
    return held.source.difference(*(one.box((0,) * len(one.axes)) for one in (held, looked_at)))


def _of_releases(held: Crosstab | Shares | Means, looked_at: Crosstab | Shares | Means) -> Comparison:
    """The number of one release minus that of another, which has noise of its own; of means the worst is taken."""
    figures = held.figure(0), looked_at.figure(0)
    if isinstance(held, Shares) or isinstance(looked_at, Shares):
        raise QueryError("Percentages of different periods are not compared here; show numbers.")
    refuse_other_bounds(held, looked_at, [one.source.release.manifest.period for one in (held, looked_at)])
    after, before = (one for one in figures if isinstance(one, Estimate))
    shared = in_common(looked_at, held) if isinstance(held, Crosstab) and isinstance(looked_at, Crosstab) else None
    change = change_of(before, after, "", None if shared is None else float(shared[0]))
    return Comparison(**{name: getattr(change, name) for name in Comparison.__dataclass_fields__})


def one_cell(layout: Layout, written: str) -> Crosstab | Shares | Means:
    """The table of the one cell that an address names by its codes; a variable without a code is summed over.

    It is a percentage where the page shows percentages, and a mean where it shows means.
    """
    question = _asked(layout, written)
    if layout.look.per:
        names = list(question.shown)
        return Means(question.crosstab(names), question.divisor(names))
    table = question.crosstab(list(question.shown))
    return table.shares([name for name in layout.wholes if name in question.shown]) if layout.look.share else table


def _asked(layout: Layout, written: str) -> Question:
    """The question that has one cell for an answer, put to the release of its period."""
    codes = codes_of(written)
    if len(codes) != len(layout.names):
        raise QueryError(f"The cell '{written[:100]}' is not one of this table, which is by {', '.join(layout.names)}.")
    question = layout.question
    sheet = layout.sheet
    shown: dict[str, tuple[str, ...]] = {}
    groups: dict[str, tuple[Group, ...]] = {}
    for name, code in zip(layout.names, codes, strict=True):
        if name == layout.sheet.time:
            sheet = sheet.timeline.sheet(sheet.timeline.chosen([code])[0]) if code else sheet
            continue
        named = [one for one in layout.groups.get(name, ()) if one.code == code]
        if code:
            shown[name] = () if named else (code,)
            groups |= {name: tuple(named)} if named else {}
    shown_codes(layout.sheet, {name: codes for name, codes in shown.items() if codes}, {})
    return Question(sheet, shown, question.within, groups, question.since, question.per)


def _labels(layout: Layout, table: Portable, written: str) -> tuple[str, ...]:
    labels = tuple(axis.labels[0] for axis in table.axes) or (layout.look.words("table.total"),)
    placed = dict(zip(layout.names, codes_of(written), strict=True))
    period = placed.get(layout.sheet.time, "") if layout.timed else ""
    return (*labels, *([layout.sheet.timeline.axis_period(period).label] if period else []))


def _reach(figure: Figure, words: Words) -> Markup | None:
    """Its intervals at three levels, by the same law as its margins."""
    if not isinstance(figure, Estimate) or isinstance(figure.noise_variance, Withheld) or figure.variance == 0:
        return None
    intervals = [figure.interval(level) for level in _LEVELS]
    digits = Digits.of(figure)
    sign = "%" if digits.percent else ""
    low, high = (words.figure(end + sign) for end in digits.ends(*intervals[1]))
    said = f"{words('detail.interval', level=90)}: {words('error.between', low=low, high=high)}"
    return reached(figure.value, intervals, (low, high), said)


def _errors(estimate: Estimate, words: Words) -> Sequence[tuple[str, str]]:
    """The errors apart, each with its name; one that is withheld says so."""
    parts = {"se_noise": estimate.noise_se, "se_sampling": estimate.sampling_se, "se": estimate.se}
    if estimate.sampling_variance == 0:  # everybody was counted: there is one error, and nothing to be told apart
        parts = {"se_noise": estimate.noise_se}
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

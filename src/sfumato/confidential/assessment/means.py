"""Means: totals over counts as readers divide them, beside the same means of the microdata."""

from collections.abc import Iterator, Sequence

import numpy as np

from sfumato.confidential.assessment.comparisons import LEVEL, Compared, ComparedTable, Numbers, ReportRules, pooled
from sfumato.confidential.assessment.honesty import honesty
from sfumato.confidential.assessment.pairs import MOST_STATED, Pair, looked_at, stated_columns
from sfumato.confidential.assessment.utility import differences
from sfumato.query import QueryEngine
from sfumato.query.engine import divisors
from sfumato.query.ratio_columns import RatioColumns
from sfumato.release import Release
from sfumato.release.moved_error import moved_together

Mean = tuple[Pair, Pair]
"""A total and the count that it is divided by."""


def means(release: Release, found: Sequence[Pair], rules: ReportRules) -> Iterator[Numbers]:
    """What is said of every mean that the query tool offers, by the number of attributes of its tables."""
    for over, under in means_of(release, found):
        tables = [mean_table(over, under, names) for names in looked_at(over, rules) if have_both(over, under, names)]
        for dimension in sorted({table.dimension for table, _ in tables}):
            same = [(table.cells, asked) for table, asked in tables if table.dimension == dimension]
            cells = pooled([one for one, _ in same])
            yield {
                "name": f"{over.name} / {under.name}",
                "unit": f"{over.product.subject.unit} per {under.product.subject.one}",
                "dimension": dimension,
                "attributes": [attribute.label for attribute in over.truth.laid_out.attributes],
                "asked": sum(asked for _, asked in same),
                "differences": differences(cells),
                "honesty": honesty(cells),
            }


def means_of(release: Release, found: Sequence[Pair]) -> Iterator[Mean]:
    """Every total and a count that the query tool divides it by."""
    engine, known = QueryEngine(release), {pair.name: pair for pair in found}
    for over in found:
        if over.product.subject.statistic == "total" and over.name in engine.statistics:
            yield from ((over, known[one.name]) for one in divisors(engine, over.name) if one.name in known)


def have_both(over: Pair, under: Pair, names: tuple[str, ...]) -> bool:
    """Whether a total and a count have the same table."""
    if under.truth.laid_out.holder(names) is None:
        return False
    first, second = (pair.truth.laid_out.table(names) for pair in (over, under))
    leaves = [[one.levels.leaves for one in table.attributes] for table in (first, second)]
    return leaves[0] == leaves[1] and np.array_equal(first.possible, second.possible)


def mean_table(
    over: Pair, under: Pair, names: tuple[str, ...], most_stated: int = MOST_STATED
) -> tuple[ComparedTable, int]:
    """The means of a table that a reader is shown, and how many cells hold a record at all."""
    table = over.truth.laid_out.table(names)
    amount, number = (stated_columns(pair.product, table, most_stated) for pair in (over, under))
    moved = moved_together(amount.law, number.law)
    shared, exact = np.broadcast_to(np.nan if moved is None else moved, len(amount)), np.zeros(len(amount))
    columns = RatioColumns.of(amount, number, shared, exact, apart=True, nonnegative=True)
    below, above = columns.reach(LEVEL)
    with np.errstate(divide="ignore", invalid="ignore"):
        truth, held, clipped = (
            _summed(over, names, part) / _summed(under, names, part) for part in ("as_is", "kept", "clipped")
        )
    cells = Compared(
        released=columns.estimate,
        truth=truth,
        held=held,
        records=_summed(over, names, "records"),
        noise=columns.noise_variance,
        margins=np.maximum(below, above),
        below=below,
        above=above,
        worth=over.truth.worth,
        clipped=clipped,
    )
    shown = np.isfinite(cells.released) & np.isfinite(truth)
    return ComparedTable(table, cells.take(shown)), int(np.isfinite(truth).sum())


def _summed(pair: Pair, names: tuple[str, ...], part: str) -> np.ndarray:
    """The possible cells of a table of the truth: of the data as they are, as they were kept, or of records."""
    laid_out = pair.truth.laid_out
    return laid_out.summed(getattr(pair.truth, part), names)[laid_out.table(names).possible]

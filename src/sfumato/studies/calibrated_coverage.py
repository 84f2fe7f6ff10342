"""How often margins hold after calibration: rows with noise on their roots, moved to noisy totals by the shipped step.

Groups of rows of the same sizes are measured, calibrated and asked by the code that releases are made and read with;
each group is a draw of its own.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from sfumato.calibrate import Diverged, ProtectedMicrodata
from sfumato.draws import SeededDraws
from sfumato.mechanisms import Cells, ClippedTotal, Mechanism, SquareRoot
from sfumato.privacy import Root
from sfumato.release import Product, Subject, measured
from sfumato.release.error_law import NoisyTotals
from sfumato.release.noisy import Floats
from sfumato.schema import Attribute, By, Frame, Grid, LeafGroups, Level, Levels

MOST_GROUPS = 4_000
HALF = Root(Fraction(1, 2))
ROWS_MU, TOTALS_MU = "0.7", "0.6"


def calibrated(sizes: Sequence[int], groups: int, seed: int = 1) -> Product:
    """Rows of these sizes in each of some groups, moved to the noisy totals of the groups."""
    frame, jobs = _frame(len(sizes), groups), np.tile(np.array(sizes, dtype=np.int64), groups)
    draws = SeededDraws(seed)

    def made(name: str, with_: Mechanism, given: dict[str, Product], by: By | None) -> Product:
        grouping = None if by is None else frame.grouped(by)
        cells = Cells(frame if grouping is None else grouping.groups, jobs, Fraction(1), HALF, grouping)
        noisy = with_.perturb(cells, draws, given)
        return measured(Subject(name, "total", name, "jobs", noisy.step), noisy, with_.uncertainty(noisy))

    rows = {"rows": made("rows", SquareRoot(ROWS_MU), {}, None)}
    totals = {"groups": made("groups", ClippedTotal(TOTALS_MU), rows, (Level("group"),))}
    found = ProtectedMicrodata("moved", "rows", ("groups",)).apply(rows | totals)
    assert not isinstance(found, Diverged)  # noqa: S101 - least squares always has an answer
    return found


def _frame(rows: int, groups: int) -> Frame:
    """A register of so many rows in each of some groups."""
    sizes = {"group": groups, "row": rows}
    attributes = tuple(Attribute(name, Levels.of(map(str, range(size)))) for name, size in sizes.items())
    places = {"group": np.repeat(np.arange(groups), rows), "row": np.tile(np.arange(rows), groups)}
    return Frame("unit", attributes, {name: one.astype(np.int32) for name, one in places.items()}, range(rows * groups))


def covered(product: Product, names: Sequence[str], truth: Floats, level: float) -> Floats:
    """For each total by some attributes whether its interval holds the truth, in groups down and rows across."""
    some = [one for one in product.attributes if one.name in names]
    grid = Grid(tuple((one.name, LeafGroups.each(len(one.levels.leaves))) for one in some))
    step = float(product.subject.step)
    sums, variances = (
        np.asarray(one, dtype=np.float64).ravel() for one in (product.totals(grid), product.variances(grid))
    )
    values, noise = sums * step, variances * step**2
    totals = NoisyTotals(values, noise, np.zeros(len(values)), product.cell_counts(grid).ravel().astype(np.float64))
    below, above = product.errors.law(grid).times(step).reach(level, totals)
    held = (values - below <= truth) & (truth <= values + above)
    return np.asarray(held.reshape([len(one.levels.leaves) for one in some]), dtype=np.float64)

"""The authors' own example of MOSE, from their data file: chi and noise by both of their do-files, as published.

The do-files print no results and the paper repeats none, so only the size of the data was published.
"""

from pathlib import Path

import numpy as np

from sfumato.errors import DataError
from sfumato.kernels.simple_regression import SLOPE
from sfumato.mechanisms import Cells
from sfumato.mechanisms.mose import CellLines, Mose
from sfumato.mechanisms.mose_as_published import MoseAsPublished
from sfumato.privacy import Unsummed
from sfumato.release.noisy import Floats, Integers
from sfumato.schema import Attribute, Levels, Ragged, Table
from sfumato.statistics.fitted import PREDICTION, Fitted
from sfumato.studies.mose import ONE_ROW
from sfumato.studies.study import Line

EPSILON = 4
"""The epsilon that both do-files choose."""
COLUMNS = ("cell", "kid_rank", "parent_rank")
README = "the example code's Readme, 'Dataset'"
STATISTICS = {"line at 0.25": PREDICTION, "slope": SLOPE}


def lines(path: Path) -> list[Line]:
    """Chi and the noise of both examples, and what chi would be if points were removed as well."""
    cell, kid, parent = read_points(path)
    offsets = np.append(np.flatnonzero(np.diff(cell, prepend=-np.inf)), len(cell)).astype(np.int64)
    sizes = np.diff(offsets)
    size = f"{len(cell):,} in {len(sizes)} cells"
    rows = [Line("the authors' example: children", "10,000 in 111 cells", size, place=README)]
    for name, what in STATISTICS.items():
        cells = points_of(what, kid, parent, offsets)
        published, removed = (largest(mechanism, cells) for mechanism in (MoseAsPublished(EPSILON), Mose(EPSILON)))
        noise = float(np.mean(np.sqrt(2) * published / (EPSILON * sizes)))
        rows += [
            Line(f"the authors' example: chi of the {name}", "", f"{published:.4f}", "points added at the corners"),
            Line(f"the same, points removed as well: {name}", "", f"{removed:.4f}", "not in the published method"),
            Line(
                f"the authors' example: mean standard deviation of noise, {name}",
                "",
                f"{noise:.4f}",
                "step 4D of the do-file",
            ),
        ]
    return rows


def read_points(path: Path) -> tuple[Floats, Floats, Floats]:
    """Return cells, children's and parents' ranks of the authors' file, in the order of cells."""
    import pyreadstat

    try:
        columns, _ = pyreadstat.read_dta(str(path), output_format="dict")
    except Exception as error:  # noqa: BLE001 - pyreadstat has errors of its own for files that it cannot read
        raise DataError(f"{path.name} is not a readable Stata file ({type(error).__name__}).") from None
    missing = [name for name in COLUMNS if name not in columns]
    if missing:
        raise DataError(
            f"{path.name} has no column {', '.join(missing)}; give private_data_by_cells.dta of "
            "github.com/Opportunitylab/Differential-Privacy."
        )
    cell, kid, parent = (np.asarray(columns[name], dtype=np.float64) for name in COLUMNS)
    order = np.argsort(cell, kind="stable")
    return cell[order], kid[order], parent[order]


def points_of(what: str, kid: Floats, parent: Floats, offsets: Integers) -> Cells:
    """Return the cells of the example for one statistic of their lines."""
    fitted = Fitted("kid_rank", "parent_rank", at="0.25", what=what)
    (influence,), step = fitted.aggregates, float(fitted.step)
    points = np.stack([np.rint(kid / step), np.rint(parent / step)], axis=-1).astype(np.int64)
    columns = {influence: Ragged(offsets, points)}
    table = Table((Attribute("cell", Levels.of(range(len(offsets) - 1))),))
    return Cells(table, fitted.value(columns), fitted.step, Unsummed(ONE_ROW), columns=columns)


def largest(mechanism: Mose, cells: Cells) -> float:
    """Return the chi of all cells together."""
    everywhere = np.ones(cells.domain.size, dtype=np.bool_)
    return float(mechanism.chi(cells, CellLines.of(cells), everywhere)[0])

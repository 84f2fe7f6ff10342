"""The table of Fürth that is simulated: synthetic people in the cells of area by all that is known of them."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sfumato.kernels.signs import Integers
from sfumato.plan import Plan
from sfumato.synth import write


def furth(seed: int = 1) -> tuple[Integers, Integers]:
    """The true cells, group after group as `iab_mayor` names them, and where each group ends."""
    with TemporaryDirectory() as folder:
        plan = Plan.read(write("iab", Path(folder), seed=seed))
        people, members = (pq.read_table(Path(folder) / name) for name in ("people.parquet", "areas/members.parquet"))
    people = people.join(members, "person_id")
    table = plan.table(plan.measures[0])
    places = []
    for attribute in table.attributes:
        index = {code: place for place, code in enumerate(attribute.levels.leaves)}
        column = pa.compute.cast(people[attribute.name], pa.string()).to_pylist()
        lacks = attribute.missing.level if attribute.missing else ""
        places.append([index[lacks if code is None else code] for code in column])
    cells = np.zeros(table.shape, dtype=np.int64)
    np.add.at(cells, tuple(np.array(places)), 1)
    return _grouped(cells, table.possible, table.names)


def _grouped(cells: Integers, possible: NDArray[np.bool_], names: tuple[str, ...]) -> tuple[Integers, Integers]:
    """The possible cells of each group: by whether people are employed, the others first, and foreign, these first."""
    first = [names.index(name) for name in ("employed", "foreign")]
    laid, kept = np.moveaxis(cells, first, (0, 1)), np.moveaxis(possible, first, (0, 1))
    groups = [laid[employed, foreign][kept[employed, foreign]] for employed in (0, 1) for foreign in (1, 0)]
    return np.concatenate(groups), np.cumsum([len(group) for group in groups])

"""Lines in many small cells take a third of the CPU, at most, of the same arithmetic in pandas."""

import time
from pathlib import Path

import numpy as np
import pytest

from sfumato.confidential.engines.arrays import Arrays
from sfumato.confidential.engines.request import Reading
from sfumato.schema import Attribute, Box, Levels, Schema, Table
from sfumato.statistics.fitted import Fitted
from sfumato.synth.atlas import GENDERS, RACES, Tracts, write_atlas

FITTED = Fitted("kid_rank", "parent_rank", at="0.25")
TRACTS, CHILDREN = 2_000, 400_000


def ours(path: Path, table: Table) -> np.ndarray:
    """From the file to the lines, by the engine that plans are run with."""
    engine = Arrays([path], Reading(Schema(table.attributes), table.attributes, FITTED.aggregates), b"")
    return FITTED.value(engine.aggregate(table, FITTED.aggregates, Box())) * float(FITTED.step)


def theirs(path: Path):
    """The same lines by pandas, group by group."""
    pandas = pytest.importorskip("pandas")

    def line(group):
        x, y = group["parent_rank"].to_numpy(), group["kid_rank"].to_numpy()
        right = x - x.mean()
        spread = (right * right).sum()
        slope = (right * (y - y.mean())).sum() / spread if spread > 1e-9 else 0.0
        return y.mean() + slope * (0.25 - x.mean())

    by = ["tract", "race", "gender"]
    return pandas.read_parquet(path).groupby(by, observed=True)[["kid_rank", "parent_rank"]].apply(line)


def clocked(make, *given):
    start = time.process_time()
    return make(*given), time.process_time() - start


@pytest.mark.slow
def test_lines_take_a_third_of_the_cpu_of_pandas(tmp_path):
    write_atlas(tmp_path, CHILDREN, 1, TRACTS)
    codes = [level["code"] for level in Tracts(CHILDREN, 1, TRACTS).levels if level["parent"]]
    named = {"tract": codes, "race": RACES, "gender": GENDERS}
    table = Table(tuple(Attribute(name, Levels.of(levels)) for name, levels in named.items()))
    (lines, own), (other, spent) = clocked(ours, tmp_path / "atlas.parquet", table), clocked(theirs, tmp_path / "atlas.parquet")  # fmt: skip # noqa: E501
    places = [tuple(levels.index(code) for levels, code in zip(map(list, named.values()), codes, strict=True)) for codes in other.index]  # fmt: skip # noqa: E501
    mine = lines.reshape(table.shape)[tuple(np.array(places).T)]
    assert np.allclose(mine, other.to_numpy(), atol=2e-6)
    assert 3 * own < spent, f"{own:.2f} of {spent:.2f} CPU seconds"

"""An engine dropped in as one file is found, reads, refuses, and gives the same cells as the others."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.cli.agency import check
from sfumato.confidential import Microdata, Options, Tabulation, engines, run
from sfumato.confidential.engines import choose
from sfumato.confidential.engines.arrays import Arrays
from sfumato.confidential.engines.duckdb import DuckDB
from sfumato.confidential.engines.engine import Unsure
from sfumato.confidential.engines.request import Reading
from sfumato.draws import SeededDraws
from sfumato.errors import DataError
from sfumato.plan import Plan
from sfumato.privacy import Truncate
from sfumato.schema import Attribute, Box, Levels, Rows, Schema, Table, Weighted

POLARS = '''
import numpy as np
import polars as pl
from sfumato.confidential.engines.engine import Engine, Unsure
from sfumato.confidential.engines.crowded import kept
from sfumato.schema import Rows


class Polars(Engine):
    """Counts of plain text codes in one Parquet file, by polars."""

    name, turn, knows = "polars", 50, frozenset([Rows])

    def __init__(self, sources, reading, salt):
        rows = pl.read_parquet(sources[0]).to_arrow()
        self._leaves = {}
        for one in reading.attributes:
            codes = [one.raw_codes.get(value, -1) for value in rows[one.column].to_pylist()]
            if -1 in codes:
                raise Unsure(f"column '{one.column}' has values that are no level")
            self._leaves[one.name] = np.array(codes)
        if reading.truncation:
            names = rows[reading.truncation.column].combine_chunks()
            _, units = np.unique(names.to_numpy(zero_copy_only=False), return_inverse=True)
            most = reading.truncation.at_most
            crowd = np.flatnonzero(np.bincount(units)[units] > most)
            mask = np.ones(len(units), dtype=bool)
            content = [leaves[crowd] for leaves in self._leaves.values()]
            mask[crowd] = kept(units[crowd], names.take(crowd), content, most, salt)
            self._leaves = {name: leaves[mask] for name, leaves in self._leaves.items()}

    def faults(self):
        return []

    def examples(self, fault):
        return []

    def aggregate(self, table, aggregates, universe):
        key = np.zeros(len(next(iter(self._leaves.values()))), dtype=np.int64)
        for one, length in zip(table.attributes, table.shape, strict=True):
            key = key * length + self._leaves[one.name]
        return {Rows(): np.bincount(key, minlength=table.size).reshape(table.shape)}

    def occupied(self, table, aggregates, universe):
        cells = self.aggregate(table, aggregates, universe)[Rows()].ravel()
        return np.flatnonzero(cells), {Rows(): cells[cells > 0]}

    def reports(self, aggregates):
        raise Unsure("it reads no registers")

    def close(self):
        self._leaves = {}


EXAMPLE = Polars
'''
PLAN = """
name = "dropped"
[data]
unit = "job"
[attributes.place]
levels = ["north", "south"]
[hidden]
neighbours = "add-remove"
unit = "shop"
id = "shop"
at_most = 3
[limit]
epsilon = "1"
[[measure]]
name = "jobs"
of = "count"
by = ["place"]
with = { mechanism = "geometric", epsilon = "1" }
"""


@pytest.fixture
def dropped(tmp_path, monkeypatch):
    folder = tmp_path / "more engines"
    folder.mkdir()
    (folder / "polars_dropped.py").write_text(POLARS, encoding="utf-8")
    monkeypatch.setattr(engines, "__path__", [*engines.__path__, str(folder)])
    importlib.invalidate_caches()
    yield
    sys.modules.pop("sfumato.confidential.engines.polars_dropped", None)
    vars(engines).pop("polars_dropped", None)


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(2)
    rows = {"place": rng.choice(["north", "south"], 900), "shop": [f"s{one}" for one in rng.integers(0, 150, 900)]}
    pq.write_table(pa.table(rows), tmp_path / "jobs.parquet")
    (tmp_path / "dropped.toml").write_text(PLAN, encoding="utf-8")
    return tmp_path / "jobs.parquet"


def test_an_engine_dropped_in_goes_through_check_and_run_and_gives_the_same_cells(dropped, data, tmp_path, capsys):
    pytest.importorskip("polars")
    plan = Plan.read(tmp_path / "dropped.toml")
    assert list(choose.engines()) == ["arrays", "polars", "duckdb"]
    cells = {}
    for name in choose.engines():
        tabulation = Tabulation(plan, Microdata.open(data, plan.schema, name), SeededDraws(4))
        assert tabulation.read_by == f"read by {name}"
        cells[name] = tabulation.cells(plan.measures[0]).values.tolist()
    assert cells["arrays"] == cells["polars"] == cells["duckdb"]
    check(tmp_path / "dropped.toml", [str(data)], "polars")
    said = capsys.readouterr()
    assert "fit the plan" in said.out
    run(plan, Microdata.open(data, plan.schema, "polars"), None, tmp_path / "release", Options(rehearsal=1))


def test_what_an_engine_does_not_know_is_refused_before_it_reads(dropped, data):
    reading = Reading(Schema(()), (), (Weighted(),))
    with pytest.raises(DataError, match="asks for Weighted over cells, which polars does not run; arrays, duckdb can"):
        choose.candidates(reading, "polars")
    assert [make.name for make in choose.candidates(reading)] == ["arrays", "duckdb"]
    with pytest.raises(DataError, match="no engine 'spark'"):
        choose.candidates(reading, "spark")


def test_an_engine_that_declines_says_why_and_one_that_fails_is_not_passed_over(data, monkeypatch):
    plan = Plan.parse(PLAN, Path("dropped.toml"))
    monkeypatch.setattr(Arrays, "__init__", lambda *_: (_ for _ in ()).throw(Unsure("a reason")))
    tabulation = Tabulation(plan, Microdata.open(data, plan.schema), SeededDraws(4))
    assert tabulation.read_by == "read by duckdb; arrays declined: a reason"
    monkeypatch.setattr(Arrays, "__init__", lambda *_: (_ for _ in ()).throw(KeyError("north")))
    with pytest.raises(DataError, match=r"engine 'arrays' failed \(KeyError in .*please report this") as failed:
        Tabulation(plan, Microdata.open(data, plan.schema), SeededDraws(4))
    assert "north" not in str(failed.value)


@pytest.mark.slow
def test_a_million_crowded_rows_are_the_same_whichever_engine():
    rng, rows = np.random.default_rng(3), 10**6
    places = Attribute("place", Levels.of([str(one) for one in range(500)]))
    table = pa.table({"place": rng.integers(0, 500, rows), "unit": rng.integers(0, 20_000, rows)})
    reading = Reading(Schema((places,)), (places,), (Rows(),), "unit", Truncate("unit", 7))
    one, other = (
        make([table], reading, bytes(range(32))).aggregate(Table((places,)), (Rows(),), Box())[Rows()]
        for make in (Arrays, DuckDB)
    )
    assert one.sum() == 7 * 20_000
    assert (one == other).all()

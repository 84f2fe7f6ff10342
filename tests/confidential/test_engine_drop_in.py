"""An engine dropped in as one file is found, reads, refuses, and gives the same cells as the others."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import page, sfumato
from tests.confidential.test_engines_agree import compared

from sfumato.confidential import Microdata, Options, Tabulation, engines, run
from sfumato.confidential.engines import choose
from sfumato.confidential.engines.arrays import Arrays
from sfumato.confidential.engines.engine import Unsure
from sfumato.confidential.engines.request import Fault, Reading
from sfumato.confidential.estimands import TotalOf
from sfumato.confidential.true_table import TableLayout, true_table
from sfumato.draws import SeededDraws
from sfumato.errors import DataError
from sfumato.plan import Plan
from sfumato.privacy import Truncate
from sfumato.schema import Attribute, Box, Levels, Rows, Schema, Table, Units

POLARS = '''
from pathlib import Path

import numpy as np
import polars as pl
from sfumato.confidential.engines.engine import Engine, Unsure
from sfumato.confidential.engines.crowded import kept
from sfumato.schema import Rows, Weighted


class Polars(Engine):
    """Counts of plain codes in one Parquet file or frame, by polars; asked before all others."""

    name, turn, knows = "polars", 5, frozenset([Rows, Weighted])
    opened, closed = [], []

    def __init__(self, sources, reading, salt):
        if reading.schema.weight or reading.schema.joined:
            raise Unsure("it knows no weights, and one table")
        given = pl.read_parquet(sources[0]) if isinstance(sources[0], (str, Path)) else pl.from_arrow(sources[0])
        rows = given.select(pl.col(reading.columns).cast(pl.String)).to_arrow()
        self._leaves = {}
        for one in reading.attributes:
            codes = [one.raw_codes.get(value, -1) for value in rows[one.column].to_pylist()]
            if -1 in codes:
                raise Unsure(f"column '{one.column}' has values that are no level")
            self._leaves[one.name] = np.array(codes, dtype=np.int64)
        if reading.truncation:
            names = rows[reading.truncation.column].combine_chunks()
            _, units = np.unique(names.to_numpy(zero_copy_only=False), return_inverse=True)
            most = reading.truncation.at_most
            crowd = np.flatnonzero(np.bincount(units)[units] > most)
            mask = np.ones(len(units), dtype=bool)
            content = [leaves[crowd] for leaves in self._leaves.values()]
            mask[crowd] = kept(units[crowd], names.take(crowd), content, most, salt)
            self._leaves = {name: leaves[mask] for name, leaves in self._leaves.items()}

        self.opened.append(self)

    def aggregate(self, table, aggregates, universe):
        key = np.zeros(len(next(iter(self._leaves.values()))), dtype=np.int64)
        for one, length in zip(table.attributes, table.shape, strict=True):
            key = key * length + self._leaves[one.name]
        for name, mask in universe.masks.items():
            key = np.where(mask[self._leaves[name]], key, table.size)
        rows = np.bincount(key, minlength=table.size)[: table.size].reshape(table.shape)
        return {one: rows if one == Rows() else rows[..., None] for one in aggregates}

    def occupied(self, table, aggregates, universe):
        cells = self.aggregate(table, [Rows()], universe)[Rows()].ravel()
        return np.flatnonzero(cells), {Rows(): cells[cells > 0]}

    def reports(self, aggregates):
        raise Unsure("it reads no registers")

    def faults(self):
        return []

    def examples(self, fault):
        return []

    def close(self):
        self._leaves = {}
        self.closed.append(self)


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
    pytest.importorskip("polars")
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


def test_an_engine_dropped_in_gives_the_same_cells(dropped, data, tmp_path):
    plan = Plan.read(tmp_path / "dropped.toml")
    near = [name for name, make in choose.engines().items() if not make.afar]
    assert near == ["polars", "arrays", "duckdb"]
    cells = {}
    for name in near:
        tabulation = Tabulation(plan, Microdata.open(data, plan.schema, name), SeededDraws(4))
        assert tabulation.read_by == f"read by the engine {name}"
        cells[name] = tabulation.cells(plan.measures[0]).values.tolist()
    assert cells["arrays"] == cells["polars"] == cells["duckdb"]
    place = plan.schema.attribute("place")
    reading = Reading(plan.schema, (place,), (Rows(),), "shop", Truncate("shop", 3))
    assert compared([data], reading, Box({"place": np.array([True, False])})) == {"polars", "arrays", "duckdb"}


def test_it_goes_through_every_command_and_is_closed_after_each(dropped, data, tmp_path):
    plan, release, made = tmp_path / "dropped.toml", tmp_path / "release", choose.engines()["polars"]

    def asked(command, *words):
        """What a command says; by then every engine that read something is closed."""
        read = len(made.opened)
        said = sfumato(command, plan, *words)
        assert len(made.closed) == len(made.opened)
        assert len(made.opened) > read or command == "price"
        return said

    assert "geometric (epsilon 1)" in asked("price")
    assert "fit the plan" in asked("check", "--data", data)
    assert "read by the engine polars." in asked("run", "--data", data, "--rehearsal", "1", "--out", release)
    audits = json.loads(asked("audit", "--samples", "20000", "--json"))
    assert all(one["holds"] for one in audits)
    true = json.loads(asked("tabulate", "--data", data, "--rows", "place", "--json"))
    assert sum(cell["estimate"] for cell in true["cells"]) == 900
    asked("assess", "--data", data, "--release", release, "--out", tmp_path / "report.html")
    table = json.loads(sfumato("table", release, "--rows", "place", "--format", "json"))
    assert "north" in page(release, "/dropped~jobs?rows=place").text
    assert table


def test_an_engine_is_closed_where_the_data_break_a_rule_or_a_run_stops(dropped, data, tmp_path, monkeypatch):
    plan, made = Plan.read(tmp_path / "dropped.toml"), choose.engines()["polars"]
    microdata = Microdata.open(data, plan.schema)
    monkeypatch.setattr(made, "faults", lambda self: [Fault("place", "some values are odd.")])
    with pytest.raises(DataError, match="some values are odd"):
        run(plan, microdata, None, tmp_path / "release", Options(rehearsal=1))
    with pytest.raises(DataError, match="some values are odd"):
        true_table(plan, microdata, TableLayout(["place"]), TotalOf())
    monkeypatch.setattr(made, "faults", lambda self: [])
    monkeypatch.setattr(made, "aggregate", lambda *_: (_ for _ in ()).throw(MemoryError))
    with pytest.raises(MemoryError):
        run(plan, microdata, None, tmp_path / "release", Options(rehearsal=1))
    assert len(made.closed) == len(made.opened) == 3


def test_what_an_engine_does_not_know_is_refused_before_it_reads(dropped, data):
    reading = Reading(Schema(()), (), (Units(),))
    with pytest.raises(DataError, match="asks for Units over cells, which polars does not run; arrays, duckdb can"):
        choose.candidates([data], reading, "polars")
    assert [make.name for make in choose.candidates([data], reading)] == ["arrays", "duckdb"]
    for other in ("spark", "spork"):  # files here are not read by an engine of clusters
        with pytest.raises(DataError, match=f"no engine '{other}'"):
            choose.candidates([data], reading, other)


def test_an_engine_that_declines_says_why_and_one_that_fails_is_not_passed_over(data, monkeypatch):
    plan = Plan.parse(PLAN, Path("dropped.toml"))
    monkeypatch.setattr(Arrays, "__init__", lambda *_: (_ for _ in ()).throw(Unsure("a reason")))
    tabulation = Tabulation(plan, Microdata.open(data, plan.schema), SeededDraws(4))
    assert (
        tabulation.read_by == "read by the engine duckdb; arrays declined: a reason. All engines give the same numbers"
    )
    monkeypatch.setattr(Arrays, "__init__", lambda *_: (_ for _ in ()).throw(KeyError("north")))
    with pytest.raises(DataError, match=r"engine 'arrays' failed \(KeyError in .*please report this") as failed:
        Tabulation(plan, Microdata.open(data, plan.schema), SeededDraws(4))
    assert "north" not in str(failed.value)


@pytest.mark.slow
def test_a_million_crowded_rows_are_the_same_whichever_engine(dropped, tmp_path):
    rng, rows = np.random.default_rng(3), 10**6
    places = Attribute("place", Levels.of([str(one) for one in range(500)]))
    table = pa.table({"place": rng.integers(0, 500, rows), "unit": rng.integers(0, 20_000, rows)})
    reading = Reading(Schema((places,)), (places,), (Rows(),), "unit", Truncate("unit", 7))
    pq.write_table(table, tmp_path / "crowded.parquet")
    cells = [
        make([tmp_path / "crowded.parquet"], reading, bytes(range(32))).aggregate(Table((places,)), (Rows(),), Box())
        for make in choose.engines().values()
        if not make.afar
    ]
    assert len(cells) == 3
    assert cells[0][Rows()].sum() == 7 * 20_000
    assert all((one[Rows()] == cells[0][Rows()]).all() for one in cells)

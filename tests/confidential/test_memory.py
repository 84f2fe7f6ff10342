"""What a record takes is stated with its names, and what will not fit is refused before anything is read or charged."""

from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from tests.conftest import small_rows

import sfumato as sf
from sfumato.confidential import Account, Microdata, run
from sfumato.errors import PlanError
from sfumato.plan import Plan
from sfumato.plan.footprint import PER_NAME, PER_ORDERED, NamingColumns
from sfumato.plan.toml import SHIPPED
from sfumato.schema import memory


@pytest.fixture
def plan(small_plan):
    return replace(small_plan, hidden=replace(small_plan.hidden, id="firm", at_most=1))


def test_names_of_units_and_records_are_stated(small_plan, plan):
    plain, named = small_plan.memory().a_record, plan.memory().a_record
    keyed = replace(plan, schema=replace(plan.schema, key="number")).memory().a_record
    assert plain < named < keyed
    assert keyed - named == named - plain


def test_records_that_do_not_fit_are_refused_before_they_are_read_and_charged(tmp_path, plan, monkeypatch):
    rows = small_rows()
    pq.write_table(rows.append_column("firm", [list(map(str, range(len(rows))))]), tmp_path / "jobs.parquet")
    charged = Account.create(tmp_path / "ledger", "jobs", plan.hidden, sf.Approximate(20))
    before = len(charged.entries)
    data, need = Microdata.open(tmp_path / "jobs.parquet", plan.schema), plan.memory()
    enough = need.bytes + need.a_record * len(rows)
    monkeypatch.setattr(memory, "available", lambda: enough - 1)
    with pytest.raises(PlanError, match=r"more than the .* GB of this machine\. Nothing was read") as refused:
        run(plan, data, tmp_path / "ledger", tmp_path / "none")
    assert f"{len(rows):,}" not in str(refused.value), "how many records there are is not said"
    assert len(charged.entries) == before
    monkeypatch.setattr(memory, "available", lambda: enough)
    run(plan, data, tmp_path / "ledger", tmp_path / "release")
    assert len(charged.entries) > before


def test_names_in_turns_take_no_more_than_those_that_are_held_at_once(small_plan, plan):
    held, records = plan.memory(), 10**9
    assert small_plan.memory().of_names == 0
    assert held.of_names == held.a_record - small_plan.memory().a_record
    enough = held.bytes + held.a_record * records - held.of_names * (records - memory.NAMES_AT_ONCE)
    enough += 2**32 + 2 * records  # 4 to 8 buckets a record, by a power of two; and whether it is kept
    assert enough < held.bytes + held.a_record * records / 5
    held.refuse_records(records, enough, in_turns=True)
    for limit, in_turns in ((enough - 1, True), (enough, False)):
        with pytest.raises(PlanError, match="Nothing was read"):
            held.refuse_records(records, limit, in_turns=in_turns)
    few = held.bytes + held.a_record * memory.NAMES_AT_ONCE
    held.refuse_records(memory.NAMES_AT_ONCE, few, in_turns=True)
    with pytest.raises(PlanError, match="Nothing was read"):
        held.refuse_records(memory.NAMES_AT_ONCE, few - 1, in_turns=True)


def test_rows_of_parts_that_are_compared_are_stated_as_held(tmp_path, small_plan, monkeypatch):
    rows = small_rows()
    for place in range(2):
        pq.write_table(rows, tmp_path / f"part-{place}.parquet")
    one_table = replace(small_plan, measures=small_plan.measures[:1])
    repeated = replace(one_table, schema=replace(one_table.schema, repeated_rows=True))
    monkeypatch.setattr(memory, "available", lambda: one_table.memory().bytes + 2 * memory.PER_COMPARED * len(rows) - 1)
    parts = sorted(tmp_path.glob("part-*.parquet"))
    with pytest.raises(PlanError, match="give \\[data\\] a key, or repeated_rows = true"):
        run(one_table, Microdata.open(parts, one_table.schema), tmp_path / "none", tmp_path / "out")
    Account.create(tmp_path / "ledger", "jobs", repeated.hidden, sf.Approximate(20))
    run(repeated, Microdata.open(parts, repeated.schema), tmp_path / "ledger", tmp_path / "out")


def test_units_that_are_told_apart_take_no_turns():
    firm, number = frozenset({"firm"}), frozenset({"number"})
    told, counted = NamingColumns(firm, firm | number), NamingColumns(frozenset(), firm | number)
    assert told.bytes == counted.bytes == counted.in_turns == 2 * PER_NAME
    assert told.in_turns == 0


def test_values_that_are_handed_on_row_by_row_are_stated_by_what_they_take():
    """Means by MOSE hold pairs, of which 207 bytes a record were measured at 14 million; sums hold none."""
    summed, held = (Plan.read(SHIPPED / f"{name}.toml").memory().a_record for name in ("umetrics", "umetrics-mose"))
    assert held - summed == 2 * PER_ORDERED >= 200

"""No sum that a release can be asked for wraps in 64 bits: refused before the charge, when written, when opened."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.confidential import Account, Microdata, Options, Tabulation, run
from sfumato.draws import SystemDraws
from sfumato.errors import DataError, PlanError, ReleaseError
from sfumato.mechanisms import SquareRoot
from sfumato.plan import Plan
from sfumato.release import open_release
from sfumato.release import parquet as parquet_file
from sfumato.release.lattice import FITS_64_BITS, wraps
from sfumato.release.products import product as held

ROWS = """
name = "rows"
period = "2026"
[data]
unit = "shop"
[frame]
file = "frame.csv"
id = "shop"
[attributes.place]
levels = ["a", "b"]
[hidden]
neighbours = "square-root-within"
unit = "shop"
id = "shop"
beta = { jobs = "0.001" }
[limit]
mu = "9"
[[measure]]
name = "jobs"
of = { statistic = "total", column = "jobs" }
by = ["shop"]
with = { mechanism = "square-root", mu = "1" }
[[exposure]]
kind = "assumed known"
what = "the frame"
why = "it is public"
"""
TABLE = """
name = "pay"
period = "2026"
[data]
unit = "job"
[attributes.place]
levels = ["a", "b"]
[hidden]
neighbours = "add-remove"
unit = "job"
[limit]
epsilon = "100"
[[measure]]
name = "pay"
of = { statistic = "total", column = "pay", clip = ["0", "140737488355328"] }
by = ["place"]
with = { mechanism = "geometric", epsilon = "50" }
"""


@pytest.fixture
def shops(tmp_path):
    """A plan over twenty shops, and reports in which so many of them have a million jobs each."""
    (tmp_path / "frame.csv").write_text("shop,place\n" + "".join(f"s{one},{'ab'[one % 2]}\n" for one in range(20)))
    plan = Plan.parse(ROWS, tmp_path / "rows.toml")

    def reports(large: int) -> Microdata:
        table = pa.table({"shop": [f"s{one}" for one in range(large)], "jobs": [1_000_000.0] * large})
        return Microdata.open(table, plan.schema)

    return plan, reports


def test_twenty_million_on_a_lattice_too_fine_for_their_sum_are_refused_before_the_charge(shops, tmp_path):
    """20 · 10⁶ / 10⁻¹² is 2 · 10¹⁹ lattice steps, 2⁶³ are 9.2 · 10¹⁸: the sum would read as 1,553,256."""
    plan, reports = shops
    account = Account.create(tmp_path / "ledger", "shops", plan.hidden, plan.limit)
    with pytest.raises(DataError, match=r"'jobs': all values together.* use a larger beta"):
        run(plan, reports(20), tmp_path / "ledger", tmp_path / "out")
    assert account.ledger.charges == ()
    told = Tabulation(plan, reports(20), SystemDraws()).faults()
    assert [fault.column for fault in told] == ["jobs"], "check says it too"


def test_what_fits_is_published_and_sums_to_what_it_is(shops, tmp_path):
    plan, reports = shops
    release = run(plan, reports(4), None, tmp_path / "out", Options(rehearsal=1))
    assert sf.open(release.folder).total().value == pytest.approx(4_000_000, abs=100)


def test_a_release_of_before_whose_sums_wrap_is_refused_when_it_is_opened(shops, tmp_path, monkeypatch):
    plan, reports = shops
    with monkeypatch.context() as older:
        older.setattr(SquareRoot, "unfit", lambda self, cells: "")
        older.setattr(parquet_file, "FITS_64_BITS", float("inf"))
        with pytest.raises(ReleaseError, match="'jobs' cannot be published: all of its values together"):
            run(plan, reports(20), None, tmp_path / "never", Options(rehearsal=1))
        older.setattr(held, "wraps", lambda values: False)
        release = run(plan, reports(20), None, tmp_path / "out", Options(rehearsal=1))
        assert sf.open(release.folder).total().value == pytest.approx(1_553_256, abs=100), "the wrong number of before"
    with pytest.raises(ReleaseError, match="'jobs' does not fit its manifest: all of its values together are more"):
        open_release(tmp_path / "out")


@pytest.mark.parametrize(("rows", "value", "fits"), [(150_000, 2**47, False), (150_000, 2**20, True), (9, 2**47, True)])
def test_rows_of_a_table_that_sum_to_more_than_64_bits_are_a_fault_before_the_charge(rows, value, fits):
    """Half of them in either cell, so that no cell wraps by itself: 150,000 · 2⁴⁷ is 2.3 · 2⁶³."""
    plan = Plan.parse(TABLE, Path("pay.toml"))
    table = pa.table({"place": ["a", "b"] * (rows // 2) + ["a"] * (rows % 2), "pay": np.full(rows, value)})
    read = Tabulation(plan, Microdata.open(table, plan.schema), SystemDraws())
    assert [fault.rule for fault in read.faults()] == ([] if fits else [read.faults()[0].rule])
    if fits:
        assert int(read.cells(plan.measure("pay")).values.sum()) == rows * value
    else:
        assert "too large to be summed in 64 bits" in read.faults()[0].rule


def test_noise_whose_sum_over_all_cells_would_wrap_is_refused_in_the_price():
    """Each noise fits in 64 bits, and 360,000 of them with a standard error of 8 · 10¹² do not."""
    many = ", ".join(f'"{one}"' for one in range(600))
    wide = TABLE.replace('levels = ["a", "b"]', f"levels = [{many}]\n[attributes.trade]\nlevels = [{many}]")
    wide = wide.replace('by = ["place"]', 'by = ["place", "trade"]').replace('epsilon = "50"', 'epsilon = "25"')
    with pytest.raises(PlanError, match=r"noise of its 360,000 cells is too wide to be summed in 64 bits"):
        Plan.parse(wide, Path("pay.toml")).price()
    Plan.parse(wide.replace('epsilon = "25"', 'epsilon = "90"'), Path("pay.toml")).price()


@given(st.lists(st.integers(-(2**63) + 1, 2**63 - 1) | st.integers(-9, 9), max_size=12))
def test_no_sum_of_some_integers_wraps_where_it_is_said_that_none_does(values):
    """Against integers of Python: the largest sums are those of one sign, which the sizes bound."""
    held = np.array(values, dtype=np.int64)
    up, down = (sum(one for one in values if one * sign > 0) for sign in (1, -1))
    assert wraps(held) or (up < 2**63 and down >= -(2**63))
    assert wraps(held) == (sum(map(abs, values)) > FITS_64_BITS) or abs(sum(map(abs, values)) - FITS_64_BITS) < 2**20

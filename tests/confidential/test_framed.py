"""Reports on the units of a frame: read in the frame's order, refused with the rule, never with a value."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.cli.agency import check
from sfumato.confidential import Account, Microdata, Options, Tabulation, run
from sfumato.draws import SystemDraws
from sfumato.errors import DataError, LedgerError, PlanError, PromiseError
from sfumato.plan import Plan
from sfumato.privacy import Gaussian
from sfumato.schema import memory

PLAN = """
name = "census"
title = "Employment and wages"
period = "2026-Q1"
[data]
unit = "establishment"
[frame]
file = "{file}"
id = "{id}"
[attributes.naics]
levels = [
  {{ code = "23" }}, {{ code = "236", parent = "23" }}, {{ code = "238", parent = "23" }},
  {{ code = "236115", parent = "236" }}, {{ code = "238110", parent = "238" }}, {{ code = "238210", parent = "238" }},
]
[attributes.county]
from = "{county}"
levels = ["1", "3", "5"]
[hidden]
neighbours = "square-root-within"
unit = "establishment"
id = "{id}"
{firm}
beta = {{ m1emp = "0.5", wage = "50" }}
[limit]
mu = "3"
[[measure]]
name = "jobs_rows"
of = {{ statistic = "total", column = "m1emp", unit = "jobs" }}
by = ["establishment"]
with = {{ mechanism = "square-root", mu = "1" }}
[[measure]]
name = "jobs_naics"
of = {{ statistic = "total", column = "m1emp", unit = "jobs" }}
by = ["naics@1", "county"]
with = {{ mechanism = "clipped-total", mu = "1" }}
given = ["jobs_rows"]
[[measure]]
name = "pay_rows"
of = {{ statistic = "total", column = "wage", step = "10", unit = "dollars" }}
by = ["establishment"]
with = {{ mechanism = "square-root", mu = "1" }}
[[then]]
step = "protected-microdata"
name = "jobs"
table = "jobs_rows"
to = ["jobs_naics"]
[[exposure]]
kind = "assumed known"
what = "the frame"
why = "registers are public"
"""
CODES = ("236115", "238110", "238210")
SECRET = 987_650


def plan_in(folder: Path, **other) -> sf.Plan:
    named = {"file": "frame.parquet", "id": "id", "county": "county", "firm": ""} | other
    return Plan.parse(PLAN.format(**named), folder / "census.toml")


def frame_table(count: int = 60) -> pa.Table:
    number = np.arange(count)
    return pa.table(
        {
            "id": [f"e{one}" for one in number],
            "firm": [f"f{one // 3}" for one in number],
            "naics": [CODES[one % 3] for one in number],
            "county": [str(1 + 2 * (one % 2)) for one in number],
        }
    )


def reports(count: int = 60) -> dict[str, list]:
    number = range(count)
    return {
        "id": [f"e{one}" for one in number],
        "m1emp": [one % 17 for one in number],
        "wage": [10 * (one % 17) * 1_600 for one in number],
    }


@pytest.fixture
def folder(tmp_path):
    pq.write_table(frame_table(), tmp_path / "frame.parquet")
    return tmp_path


def values(folder: Path, columns: dict[str, list], name: str = "jobs_rows") -> list[int]:
    plan = plan_in(folder)
    tabulation = Tabulation(plan, Microdata.open(pa.table(columns), plan.schema), SystemDraws())
    return tabulation.cells(plan.measure(name)).values.tolist()


def test_reports_stand_in_the_order_of_the_frame_whatever_their_own(folder):
    told = reports()
    order = np.random.default_rng(1).permutation(60)
    shuffled = {name: [column[one] for one in order] for name, column in told.items()}
    assert values(folder, shuffled) == told["m1emp"]
    assert values(folder, shuffled, "pay_rows") == [one // 10 for one in told["wage"]]


@pytest.mark.parametrize("engine", ["arrays", "duckdb"])
def test_reports_whose_sum_would_wrap_are_a_fault(folder, engine):
    """6,000 times 9e15 in steps of 10 is beyond 2^62: it may wrap, and neighbours on either side would be far apart.

    6,000 times 1e15 is not, but it is on the lattice of square roots, (50 / 1000)² dollars fine, that rows are told on.
    """
    pq.write_table(frame_table(6_000), folder / "frame.parquet")
    plan, rows = plan_in(folder), reports(6_000)
    cases = ((9 * 10**15, ["too large to be summed"]), (10**15, ["on the lattice of a square root"]), (10**12, []))
    for wage, said in cases:
        microdata = Microdata.open(pa.table(rows | {"wage": [wage] * 6_000}), plan.schema, engine)
        faults = Tabulation(plan, microdata, SystemDraws()).faults()
        assert [fault.column for fault in faults] == ["wage"] * len(said)
        assert all(rule in fault.rule for rule, fault in zip(said, faults, strict=True))


def test_a_unit_that_does_not_report_counts_as_zero(folder):
    told = {name: column[:40] for name, column in reports().items()}
    assert values(folder, told) == [*told["m1emp"], *[0] * 20]


def test_groups_are_sums_over_the_rows_that_stand_in_them(folder):
    plan, told = plan_in(folder), reports()
    tabulation = Tabulation(plan, Microdata.open(pa.table(told), plan.schema), SystemDraws())
    cells = tabulation.cells(plan.measure("jobs_naics"))
    by_hand = {}
    for place, jobs in enumerate(told["m1emp"]):
        key = (CODES[place % 3][:3], str(1 + 2 * (place % 2)))
        by_hand[key] = by_hand.get(key, 0) + jobs
    assert sorted(cells.totals.tolist()) == sorted(by_hand.values())


def spoilt(**change) -> dict[str, list]:
    """Reports with the last value of a column, or the column, put wrong."""
    told = reports()
    for name, value in change.items():
        told[name] = [*told[name][:-1], value]
    return told


FAULTS = {
    "not in the frame": spoilt(id="e999"),
    "some units report twice": spoilt(id="e0"),
    "missing or no numbers": spoilt(m1emp=None),
    "below 0": spoilt(m1emp=-SECRET),
    "whole multiples of the step, 10": spoilt(wage=SECRET + 5),
    "too large to be exact": spoilt(m1emp=2**60),
}


@pytest.mark.parametrize("said", FAULTS)
def test_a_report_that_does_not_fit_is_refused_with_the_column_and_the_rule_alone(folder, said):
    plan, ledger = plan_in(folder), folder / "units.ledger"
    account = Account.create(ledger, "establishments", plan.hidden, Gaussian(9))
    with pytest.raises(DataError) as refused:
        run(plan, Microdata.open(pa.table(FAULTS[said]), plan.schema), ledger, folder / "out")
    message = str(refused.value)
    assert not account.ledger.charges
    assert said in message
    assert message.startswith("Column '")
    for hidden in ("e999", "e0'", str(SECRET), f"{SECRET:,}", str(SECRET + 5), str(2**60)):
        assert hidden not in message
    assert not (folder / "out").exists()


@pytest.mark.parametrize("engine", ["arrays", "duckdb"])
def test_a_value_beyond_the_lattice_of_a_square_root_is_a_fault_that_check_tells_and_that_costs_nothing(
    folder, engine, capsys
):
    """beta 0.5 is 1,000 lattice steps, so roots up to 2^30 of these are of values below (2^30 / 2000)^2 = 2.88e11."""
    plan, ledger = plan_in(folder), folder / "units.ledger"
    account = Account.create(ledger, "establishments", plan.hidden, Gaussian(9))
    for jobs, fits in ((288_230_376_151, True), (288_230_376_152, False)):
        rows = reports() | {"m1emp": [jobs, *reports()["m1emp"][1:]]}
        microdata = Microdata.open(pa.table(rows), plan.schema, engine)
        faults = Tabulation(plan, microdata, SystemDraws()).faults()
        assert [(fault.column, "too large for the lattice" in fault.rule) for fault in faults] == [("m1emp", True)] * (
            not fits
        )
    with pytest.raises(DataError, match="'m1emp': some values are too large for the lattice of a square root") as said:
        run(plan, microdata, ledger, folder / "out")
    assert str(jobs) not in str(said.value)
    assert not account.ledger.charges
    (folder / "census.toml").write_text(plan.to_toml(), encoding="utf-8")
    pq.write_table(pa.table(rows), folder / "reports.parquet")
    with pytest.raises(DataError, match="1 rule of the plan is broken"):
        check(folder / "census.toml", [str(folder / "reports.parquet")], engine)
    assert "too large for the lattice" in capsys.readouterr().out


def test_text_that_is_no_number_is_refused_without_being_quoted(folder):
    told = reports()
    told["m1emp"] = [*map(str, told["m1emp"][:-1]), "about ninety"]
    plan = plan_in(folder)
    with pytest.raises(DataError, match="missing or no numbers") as refused:
        run(plan, Microdata.open(pa.table(told), plan.schema), None, folder / "out", Options(rehearsal=1))
    assert "ninety" not in str(refused.value)


def test_check_lists_what_does_not_fit_a_frame_and_charges_nothing(folder, capsys):
    (folder / "census.toml").write_text(
        PLAN.format(file="frame.parquet", id="id", county="county", firm=""), encoding="utf-8"
    )
    pq.write_table(pa.table(spoilt(m1emp=-SECRET, wage=SECRET + 5)), folder / "reports.parquet")
    with pytest.raises(DataError, match="2 rules of the plan are broken"):
        check(folder / "census.toml", [str(folder / "reports.parquet")])
    said = capsys.readouterr().out
    assert "below 0" in said
    assert "whole multiples" in said
    assert f"'e59, -{SECRET}': 1 row" in said
    assert f"'e59, {SECRET + 5}': 1 row" in said, "the report is for the operator's eyes, and names what to clean"


def test_check_counts_the_faulty_reports_over_a_frame_and_names_whose_they_are(folder, capsys):
    """Twelve below 0, of which ten are listed; three units twice; two beyond the lattice, once the others are gone."""
    (folder / "census.toml").write_text(plan_in(folder).to_toml(), encoding="utf-8")
    told = reports()
    told["m1emp"] = [-1 - one if one < 12 else jobs for one, jobs in enumerate(told["m1emp"])]
    told = {name: [*column, *column[-3:]] for name, column in told.items()}
    pq.write_table(pa.table(told), folder / "reports.parquet")
    with pytest.raises(DataError, match="2 rules of the plan are broken"):
        check(folder / "census.toml", [str(folder / "reports.parquet")])
    said = capsys.readouterr().out
    assert "below 0; what units report is 0 or more. 12 rows:" in said
    assert "'e4, -5': 1 row" in said
    assert said.count("'e") == 10 + 3
    assert "some units report twice; one row a unit. 6 rows:" in said
    assert "'e59': 2 rows" in said
    large = reports()
    large["m1emp"] = [10**12, *large["m1emp"][1:-1], 10**13]
    pq.write_table(pa.table(large), folder / "reports.parquet")
    with pytest.raises(DataError, match="1 rule of the plan is broken"):
        check(folder / "census.toml", [str(folder / "reports.parquet")], json=True)
    (fault,) = json.loads(capsys.readouterr().out)["faults"]
    assert (fault["column"], fault["rows"]) == ("m1emp", 2)
    assert fault["values"] == [["e59, 10000000000000", 1], ["e0, 1000000000000", 1]]


def test_check_refuses_what_price_refuses(folder):
    """A plan over its limit cannot be run on any data, so that data which fit it are no good news."""
    plan = plan_in(folder)
    (folder / "dear.toml").write_text(plan.to_toml().replace('mu = "3"', 'mu = "1"'), encoding="utf-8")
    pq.write_table(pa.table(reports()), folder / "reports.parquet")
    with pytest.raises(PromiseError, match="over the plan's limit of mu 1"):
        Plan.read(folder / "dear.toml").price()
    with pytest.raises(PromiseError, match="over the plan's limit of mu 1"):
        check(folder / "dear.toml", [str(folder / "reports.parquet")])


def test_a_column_that_the_reports_lack_is_refused_before_the_charge(folder):
    plan, ledger = plan_in(folder), folder / "units.ledger"
    Account.create(ledger, "establishments", plan.hidden, Gaussian(9))
    told = reports()
    del told["wage"]
    pq.write_table(pa.table(told), folder / "reports.parquet")
    with pytest.raises(DataError, match="no column 'wage'"):
        run(plan, Microdata.open(folder / "reports.parquet", plan.schema), ledger, folder / "out")
    assert not Account(ledger).ledger.charges


@pytest.mark.parametrize("wrong", ["absent", "twice", "code"])
def test_a_frame_that_does_not_fit_costs_nothing(folder, wrong):
    plan, ledger = plan_in(folder), folder / "units.ledger"
    Account.create(ledger, "establishments", plan.hidden, Gaussian(9))
    table = frame_table()
    spoil = {"twice": ("id", ["e0", "e0"]), "code": ("naics", ["236115", "999999"])}
    (folder / "frame.parquet").unlink()
    if wrong in spoil:
        name, first = spoil[wrong]
        column = pa.array(first + table[name].to_pylist()[2:])
        pq.write_table(table.set_column(table.column_names.index(name), name, column), folder / "frame.parquet")
    with pytest.raises(PlanError, match={"absent": "is not there", "twice": "in two rows", "code": "'999999'"}[wrong]):
        run(plan, Microdata.open(pa.table(reports()), plan.schema), ledger, folder / "out")
    assert not Account(ledger).ledger.charges


def test_reports_are_joined_on_the_unit_alone(folder):
    """One row of another table could be the report of many units, and all of them would move with it."""
    text = PLAN.format(file="frame.parquet", id="id", county="county", firm="")
    for on, said in (("payer", "joined on 'id'"), ("id", "")):
        joined = text.replace("[frame]", f'[data.tables]\nreports = {{}}\npay = {{ on = "{on}" }}\n[frame]', 1)
        if not said:
            Plan.parse(joined, folder / "census.toml")
            continue
        with pytest.raises(PlanError, match=said):
            Plan.parse(joined, folder / "census.toml")


def test_a_firm_with_more_units_than_promised_is_refused_with_the_number(folder):
    with pytest.raises(PlanError, match=r"A firm of the frame has 3 establishments and .* at_most says 2"):
        plan_in(folder, firm='firm = "firm"\nat_most = 2').price()
    assert plan_in(folder, firm='firm = "firm"\nat_most = 3').price().total.mu == pytest.approx(3**0.5)


@pytest.mark.parametrize("other", ['beta = { m1emp = "0.1", wage = "50" }', 'beta = { m1emp = "0.5" }'])
def test_a_ledger_takes_no_charge_under_other_bounds_than_its_own(folder, other):
    plan, ledger = plan_in(folder), folder / "units.ledger"
    opened = Plan.parse(
        PLAN.format(file="frame.parquet", id="id", county="county", firm="").replace(
            'beta = { m1emp = "0.5", wage = "50" }', other
        ),
        folder / "census.toml",
    )
    Account.create(ledger, "establishments", opened.hidden, Gaussian(9))
    with pytest.raises(LedgerError, match="Losses under different neighbours never add"):
        run(plan, Microdata.open(pa.table(reports()), plan.schema), ledger, folder / "out")
    assert not Account(ledger).ledger.charges


def test_a_run_that_does_not_fit_in_memory_is_refused_before_anything_is_read(folder, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 10**8)
    plan = plan_in(folder)
    with pytest.raises(PlanError, match=r"60 rows of m1emp, wage: about .* GB of memory, and this machine has 0\.1 GB"):
        plan.price()
    assert "register" not in plan.over.__dict__


def test_the_memory_that_is_stated_grows_with_rows_and_columns(folder):
    first = plan_in(folder).memory()
    pq.write_table(frame_table(6_000), folder / "frame.parquet")
    second = plan_in(folder).memory()
    assert [one.held for one in (first, second)] == ["60 rows of m1emp, wage", "6,000 rows of m1emp, wage"]
    assert second.bytes - first.bytes > 100 * (6_000 - 60)


def test_an_establishment_file_in_the_layout_of_the_reference_code_is_frame_and_reports_at_once(tmp_path):
    heads = ["", "year", "qtr", "state", "cnty", "own", "naics", "naics3", "naics4", "naics5", "naics_sector"]
    heads += ["super_sector", "m1emp", "m2emp", "m3emp", "wage", "can_agg", "rectype", "filenumber", "primary_key"]
    with (tmp_path / "state.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(heads)
        for one in range(90):
            code = CODES[one % 3]
            where = [
                2016,
                1,
                44,
                1 + 2 * (one % 3),
                5,
                int(code),
                int(code[:3]),
                int(code[:4]),
                int(code[:5]),
                23,
                1012,
            ]
            writer.writerow(
                [str(one + 1), *where, one % 9, one % 9, one % 8, 160 * (one % 9), "Y", "C", "20", 700 + one]
            )
    plan = plan_in(tmp_path, file="state.csv", id="primary_key", county="cnty")
    release = run(
        plan, Microdata.open(tmp_path / "state.csv", plan.schema), None, tmp_path / "out", Options(rehearsal=1)
    )
    assert release.products["jobs"].domain.size == 90
    jobs = sf.open(tmp_path / "out").total(of="jobs")
    assert abs(jobs.value - sum(one % 9 for one in range(90))) < 6 * jobs.noise_variance**0.5


COUNTY = """[[measure]]
name = "jobs_in_COUNTY"
of = { statistic = "total", column = "m1emp", unit = "jobs" }
by = ["naics@1"]
where = { county = "COUNTY" }
with = { mechanism = "square-root", mu = "2.5" }
"""


def test_a_measure_over_a_frame_may_be_of_some_of_its_rows(folder):
    """Counties 1 and 3 have the even and the odd rows; a row is in one, so that both cost what the dearer does."""
    head, rows, *_ = PLAN.split("[[measure]]")
    head, tail = f"{head}[[measure]]{rows}", PLAN.split("[[exposure]]")[1]
    counties = "".join(COUNTY.replace("COUNTY", code) for code in ("1", "3"))
    text = head.format(file="frame.parquet", id="id", county="county", firm="") + counties + "[[exposure]]" + tail
    answers = '[publish]\nanswers = ["jobs_in_1", "jobs_in_3"]\n'
    plan = Plan.parse(text.replace("[[exposure]]", answers + "[[exposure]]"), folder / "some.toml")
    assert plan.price().total == sf.Gaussian(squared=1 + sf.Gaussian("2.5").mu_squared)
    told = reports()
    tabulation = Tabulation(plan, Microdata.open(pa.table(told), plan.schema), SystemDraws())
    for start, code in enumerate(("1", "3")):
        cells = tabulation.cells(plan.measure(f"jobs_in_{code}"))
        assert cells.totals.sum() == sum(told["m1emp"][start::2])
        assert not cells.values[1 - start :: 2].any()
    run(plan, Microdata.open(pa.table(told), plan.schema), None, folder / "some", Options(rehearsal=1))
    total = sf.open(folder / "some").total(of="jobs_in_1")
    assert sf.open(folder / "some").release.products["jobs_in_1"].subject.universe == {"county": ("1",)}
    assert abs(total.value - sum(told["m1emp"][::2])) < 5 * total.se


def test_rows_that_lack_some_records_give_no_topcodes(folder):
    some = PLAN.replace('by = ["establishment"]\nwith', 'by = ["establishment"]\nwhere = {{ county = "1" }}\nwith', 1)
    named = {"file": "frame.parquet", "id": "id", "county": "county", "firm": ""}
    with pytest.raises(PlanError, match="given 'jobs_rows', which lacks some of its records"):
        Plan.parse(some.format(**named), folder / "some.toml")


@pytest.mark.parametrize("engine", ["", "duckdb"])
def test_a_word_among_the_numbers_of_a_text_file_is_named_by_its_column_and_listed_by_check(folder, engine, capsys):
    plan = plan_in(folder)
    (folder / "census.toml").write_text(plan.to_toml(), encoding="utf-8")
    told = reports() | {"wage": ["n/a", *map(str, reports()["wage"][1:])]}
    with (folder / "reports.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([list(told), *zip(*told.values(), strict=True)])
    microdata = Microdata.open(folder / "reports.csv", plan.schema, engine)
    with pytest.raises(DataError, match="Column 'wage': some values are missing or no numbers; a unit that has none"):
        run(plan, microdata, None, folder / "out", Options(rehearsal=1))
    with pytest.raises(DataError, match="1 rule of the plan is broken"):
        check(folder / "census.toml", [str(folder / "reports.csv")])
    assert "'e0, n/a': 1 row\n" in capsys.readouterr().out


@pytest.mark.parametrize("engine", ["arrays", "duckdb"])
def test_both_engines_read_the_same_reports_in_the_order_of_the_frame(folder, engine):
    plan, told = plan_in(folder), reports()
    rows = pa.table(told).take(list(reversed(range(len(told["id"])))))
    tabulation = Tabulation(plan, Microdata.open(rows, plan.schema, engine), SystemDraws())
    assert tabulation.read_by == f"read by the engine {engine}"
    ids = pq.read_table(folder / "frame.parquet")["id"].to_pylist()
    by_id = dict(zip(told["id"], told["wage"], strict=True))
    cells = tabulation.cells(plan.measure("pay_rows"))
    assert [value * 10 for value in cells.values.tolist()] == [by_id.get(one, 0) for one in ids]


def test_a_clip_over_a_frame_is_refused_by_a_bound_on_roots_before_data_are_read(folder):
    text = PLAN.replace('column = "wage", step = "10"', 'column = "wage", step = "10", clip = ["0", "100"]')
    plan = Plan.parse(text.format(file="frame.parquet", id="id", county="county", firm=""), folder / "census.toml")
    with pytest.raises(PromiseError, match="A clip rounds wage to its step"):
        plan.price()


def test_a_plan_over_a_register_says_that_the_register_is_let_out(folder):
    listed = plan_in(folder)
    assert listed.price().total.within(listed.limit)
    with pytest.raises(
        PromiseError, match=r"\[frame\] leaves 'frame' outside the guarantee, and the plan does not say so"
    ):
        replace(listed, exposures=()).price()

"""A plan with [suppress]: true totals, rules by holding, one door, nothing withheld in the folder, a ledger line."""

import json
import sys
from collections import defaultdict
from itertools import product

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.cli.output import Silence
from sfumato.confidential import Account, Microdata, Options, Tabulation, run
from sfumato.confidential.suppress import Work, protect
from sfumato.confidential.suppress.best import Found
from sfumato.confidential.withholding import Withholding
from sfumato.draws import SeededDraws
from sfumato.errors import DataError, PlanError, PromiseError
from sfumato.plan import Plan
from sfumato.privacy import Unbounded
from sfumato.release import open_release
from sfumato.schema import Box, Grid

ATTRIBUTES = """
[attributes.trade]
levels = ["1", "2", { code = "1a", parent = "1" }, { code = "1b", parent = "1" }, { code = "1c", parent = "1" }]
[attributes.place]
levels = ["n", "s", "e"]
"""
SUPPRESS = """
[limit]
unbounded = "tables as they are published today"
[suppress]
holding = "firm"
minimum = 3
by = [["trade", "place"]]
[[suppress.measure]]
name = "pay"
of = { statistic = "total", column = "pay", unit = "dollars" }
"""
TABLES = f"""
name = "shops"
[data]
unit = "shop"
{ATTRIBUTES}
[hidden]
neighbours = "add-remove"
unit = "shop"
id = "shop"
at_most = 1
{SUPPRESS}
"""
FRAME = f"""
name = "shops"
[data]
unit = "shop"
[frame]
file = "frame.parquet"
id = "shop"
{ATTRIBUTES}
[hidden]
neighbours = "square-root-within"
unit = "shop"
id = "shop"
beta = {{ pay = "1" }}
{SUPPRESS}
[[exposure]]
kind = "assumed known"
what = "the frame of shops"
why = "a register is public"
"""
FIRMS = {("1a", "n"): "AABC", ("1a", "s"): "DDD", ("1b", "n"): "EFGH", ("1b", "s"): "IJKL", ("1c", "e"): "MNOP"}
FIRMS |= {("1c", "n"): "ABCD", ("1a", "e"): "QRST", ("1b", "e"): "UVWX", ("1c", "s"): "EFGH", ("2", "n"): "IJKLM"}
FIRMS |= {("2", "s"): "NOPQ", ("2", "e"): "RSTU"}
"""The firms of the shops of each cell: of (1a, s) all three shops are of one firm, which only a rule by firm sees."""


def shops():
    """Rows of shop, firm, trade, place and pay."""
    rows = [(*cell, firm) for cell, firms in FIRMS.items() for firm in firms]
    return [
        {"shop": f"s{at:02}", "firm": firm, "trade": trade, "place": place, "pay": 100 + 7 * at % 90}
        for at, (trade, place, firm) in enumerate(rows)
    ]


@pytest.fixture
def world(tmp_path):
    """The rows as microdata and as a register with reports."""
    rows = shops()
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "shops.parquet")
    frame = [{name: row[name] for name in ("shop", "firm", "trade", "place")} for row in rows]
    pq.write_table(pa.Table.from_pylist(frame), tmp_path / "frame.parquet")
    pq.write_table(
        pa.Table.from_pylist([{"shop": row["shop"], "pay": row["pay"]} for row in rows]), tmp_path / "reports.parquet"
    )
    return tmp_path


def read(world, text=TABLES):
    return Plan.parse(text, world / "plan.toml")


def released(world, text=TABLES, data="shops.parquet", out="release"):
    plan = read(world, text)
    return run(plan, Microdata.open(world / data, plan.schema), None, world / out, Options(rehearsal=1))


def sums():
    """Every total of the table with its margins, added up by hand."""
    found = defaultdict(int)
    for row in shops():
        trades = (None, row["trade"], *(["1"] if row["trade"].startswith("1") else []))
        for trade, place in product(trades, (None, row["place"])):
            found[trade, place] += row["pay"]
    return found


def told(release):
    """What a release says of every cell: a number, or the mark in its place."""
    held, found = release.products["pay"], {}
    trade, place = held.attributes
    for one, other in product((None, *trade.levels.codes), (None, *place.levels.codes)):
        masks = {"trade": trade.levels.mask(one)} if one else {}
        masks |= {"place": place.levels.mask(other)} if other else {}
        grid = Grid((), Box(masks))
        missing = held.missing(grid)
        found[one, other] = missing.at(0).code if missing else held.total(grid.within)
    return found


def test_a_run_tells_how_far_the_suppression_is(world, monkeypatch):
    heard = []
    monkeypatch.setattr(Silence, "within", lambda _, doing, *__: heard.append(doing))
    (world / "plan.toml").write_text(TABLES, encoding="utf-8")
    words = [world / "plan.toml", "--data", world / "shops.parquet", "--out", world / "release", "--rehearsal", "1"]
    done = CliRunner().invoke(app, ["run", *map(str, words)])
    assert done.exit_code == 0, done.output
    assert list(dict.fromkeys(heard)) == ["protecting", "cleaning up", "exchanging", "auditing"]


def test_what_is_published_is_true_and_a_cell_of_one_firm_is_not(world):
    found, true = told(released(world)), sums()
    assert {key: value for key, value in found.items() if value != "D"} == {
        key: true[key] for key, value in found.items() if value != "D"
    }
    assert found["1a", "s"] == "D"
    assert found[None, None] == sum(row["pay"] for row in shops())
    for trade in ("1a", "1b", "1c"):  # no equation has one missing member
        assert sum(found[trade, place] == "D" for place in "nse") != 1
    for place in "nse":
        assert sum(found[trade, place] == "D" for trade in ("1a", "1b", "1c")) != 1


def test_without_holdings_the_cell_of_one_firm_would_be_published(world):
    """Negative arm: three shops are three contributors to a rule that does not know whose they are."""
    found = told(released(world, TABLES.replace('holding = "firm"\n', "")))
    assert "D" not in found.values()


def test_a_register_and_microdata_give_the_same_release(world):
    """By the largest contributions that an engine aggregates, and by all contributions of a register."""
    from_tables = told(released(world))
    assert told(released(world, FRAME, "reports.parquet", "framed")) == from_tables


@pytest.mark.parametrize("engine", ["duckdb", "arrays"])
def test_every_engine_gives_the_same_contributions(world, engine):
    plan = read(world)
    with_engine = Microdata.open(world / "shops.parquet", plan.schema, engine)
    records = Tabulation(plan, with_engine, SeededDraws(1))
    found = Withholding(plan).cells(records)["pay"]
    records.close()
    counts = dict(zip(found.system.cells.codes(found.system.keys), found.contributions.counts.tolist(), strict=True))
    assert counts["1a", "s"] == 1
    assert counts["1a", "n"] == 3  # A has two shops there
    assert counts["1", "n"] == len(set("AABCEFGHABCD"))
    assert counts[None, None] == len({row["firm"] for row in shops()})


def test_a_register_counts_who_reported(world):
    """A shop without a report has no part in any cell, so three firms of which one is silent are two."""
    kept = [row for row in shops() if (row["trade"], row["place"], row["firm"]) != ("1a", "n", "C")]
    pq.write_table(
        pa.Table.from_pylist([{"shop": row["shop"], "pay": row["pay"]} for row in kept]), world / "fewer.parquet"
    )
    assert told(released(world, FRAME, "fewer.parquet", "few"))["1a", "n"] == "D"


def test_waived_holdings_and_forced_cells_are_published(world):
    asked = FRAME.replace("minimum = 3\n", 'minimum = 3\nwaived = ["D"]\n')
    assert "D" not in told(released(world, asked, "reports.parquet", "waived")).values()
    forced = FRAME.replace("minimum = 3\n", 'minimum = 3\nforced = [{ trade = "1a", place = "s" }]\n')
    assert told(released(world, forced, "reports.parquet", "forced"))["1a", "s"] == sums()["1a", "s"]
    assert "D" not in told(released(world, TABLES.replace("minimum = 3\n", 'minimum = 3\nwaived = ["D"]\n'))).values()


def test_a_pattern_that_fails_its_audit_is_not_published(world, monkeypatch):
    """Whatever goes wrong in the choice of cells: with the sensitive ones alone withheld nothing is published."""
    protecting = sys.modules[protect.__module__]

    def nothing_more(task, primary, *_):
        return Found(primary.copy(), 0.0, 0.0, Work())

    monkeypatch.setattr(protecting, "search", nothing_more)
    with pytest.raises(DataError, match="does not protect"):
        released(world)
    assert not (world / "release").exists()


def test_who_knows_a_part_is_an_attacker_unless_the_plan_says_otherwise(world):
    plan = read(world, TABLES.replace("minimum = 3\n", "minimum = 3\ncontributors = false\n"))
    assert Plan.parse(plan.to_toml(), world / "plan.toml") == plan
    assert not plan.suppress.decided().contributors
    less = told(released(world, plan.to_toml(), out="less"))
    assert sum(one == "D" for one in less.values()) <= sum(one == "D" for one in told(released(world)).values())


def test_the_ledger_knows_it_as_a_release_without_a_bound(world):
    plan = read(world)
    Account.create(world / "ledger", "shops", plan.hidden, sf.Approximate(8))
    notes = []
    release = run(
        plan,
        Microdata.open(world / "shops.parquet", plan.schema),
        world / "ledger",
        world / "r",
        Options(note=notes.append),
    )
    assert release.manifest.releasable
    assert release.manifest.promise.loss == {"unbounded": plan.price().total.why}
    assert release.manifest.ledger.unbounded == 1
    assert [one.loss.kind for one in Account(world / "ledger").ledger.charges] == ["unbounded"]
    assert any("by the rules and" in one and "for the agency alone" in one for one in notes)
    assert open_release(world / "r").manifest.spends[0].noise.standard_error == 0


def test_it_costs_without_a_bound_and_needs_a_limit_that_says_so(world):
    assert isinstance(read(world).price().total, Unbounded)
    with pytest.raises(PromiseError, match="no guarantee"):
        read(world, TABLES.replace('unbounded = "tables as they are published today"', 'epsilon = "1"')).price()


def test_a_plan_reads_back_equal_and_what_stays_inside_stays_there(world):
    text = TABLES.replace("minimum = 3\n", 'inside = "rules.toml"\nminimum = 3\ncost = "log"\nsafe = { place = "e" }\n')
    plan = read(world, text)
    assert Plan.parse(plan.to_toml(), world / "plan.toml") == plan
    with pytest.raises(PlanError, match=r"rules\.toml, which is not beside the plan"):
        released(world, text)
    (world / "rules.toml").write_text('p = "0.17"\ndominance = [{ n = 4, k = "0.99" }]\n')
    assert (
        read(world, text).suppress.decided().words()
        == "fewer than 3 contributors, the 17% rule, the 4 largest above 99%"
    )
    release = released(world, text)
    everything = b"".join(path.read_bytes() for path in release.folder.rglob("*") if path.is_file())
    assert b"0.17" not in everything
    assert b"its rules stay inside" in everything
    assert Plan.read(release.folder / "plan.toml") == plan  # where the file is not at hand
    (world / "rules.toml").write_text("pp = 1\n")
    with pytest.raises(PlanError, match="has no key 'pp'; did you mean 'p'"):
        read(world, text)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('waived = "F007"', r'rules.toml has waived written as it is not read: .* Write waived = \["F007"\]'),
        ('safe = "x"', 'safe written as it is not read: .* Write safe = { trade = "unknown" }'),
        ("forced = [3]", "forced written as it is not read"),
        ('dominance = "1,0.8"', "dominance written as it is not read"),
        ("minimum = 1", "has no rule that a cell could break"),
        ("minimum = [", "cannot be read as TOML"),
    ],
)
def test_a_file_that_stays_inside_is_read_as_strictly_as_the_plan(world, written, said):
    (world / "rules.toml").write_text(written)
    with pytest.raises(PlanError, match=said):
        read(world, TABLES.replace("minimum = 3\n", 'inside = "rules.toml"\n'))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("minimum = 3", "minimum = 0", "it is a number of contributors"),
        ("minimum = 3", "minimum = 1", "has no rule that a cell could break"),
        ("minimum = 3", 'minimum = 3\np = "10"', "a share between 0 and 1"),
        ("minimum = 3", "minimum = 3\ndominance = [{ n = 1 }]", "dominance is a list of rules"),
        ("minimum = 3", 'minimum = 3\ncost = "values"', "did you mean 'value'"),
        ("minimum = 3", "minimum = 3\nminimun = 4", "has no key 'minimun'; did you mean 'minimum'"),
        ("minimum = 3", 'minimum = 3\nforced = [{ trade = "9" }]', "is no level of it"),
        ('name = "pay"', 'name = "pay"\ntitel = "x"', "has no key 'titel'; did you mean 'title'"),
        ('["trade", "place"]', '["trade", "plce"]', "did you mean 'place'"),
        ('id = "shop"\nat_most = 1\n', "", "does not say who a contributor is"),
    ],
)
def test_what_is_wrong_is_said_with_what_would_work(world, old, new, said):
    text = TABLES if 'id = "shop"' not in old else TABLES.replace('holding = "firm"\n', "")
    assert old in text
    with pytest.raises(PlanError, match=said):
        read(world, text.replace(old, new))


def test_measures_that_add_up_to_each_other_are_refused(world):
    """All, public and private would be protected apart, and subtraction would undo them."""
    some = '[[suppress.measure]]\nname = "public"\nof = { statistic = "total", column = "pay", unit = "dollars" }\n'
    with pytest.raises(PlanError, match=r"'pay' and 'public', both of the column 'pay': .* could be worked out"):
        read(world, TABLES + some)
    read(world, TABLES + some.replace('column = "pay"', 'column = "hours"'))


def test_noise_beside_true_totals_is_refused(world):
    noisy = (
        '[[measure]]\nname = "jobs"\nof = "count"\nby = ["trade"]\nwith = { mechanism = "geometric", epsilon = "1" }\n'
    )
    with pytest.raises(PlanError, match="beside which noise protects nobody"):
        read(world, TABLES + noisy)


def test_linked_tables_share_a_pattern(world):
    """What is withheld in one table is not given away by a coarser one that shares its margins."""
    text = TABLES.replace('[["trade", "place"]]', '[["trade", "place"], ["trade@0"]]')
    assert told(released(world, text)) == told(released(world, TABLES, out="one"))


def test_an_attribute_of_one_level_is_the_whole_of_a_table(world):
    """As of an agency of one state, whose tables are by state as well."""
    rows = [row | {"state": "NJ"} for row in shops()]
    pq.write_table(pa.Table.from_pylist(rows), world / "state.parquet")
    text = TABLES.replace("[hidden]", '[attributes.state]\nlevels = ["NJ"]\n[hidden]').replace(
        '["trade", "place"]', '["trade", "place", "state"]'
    )
    of_state, plain = released(world, text, "state.parquet", "state").products["pay"], released(world).products["pay"]
    assert of_state.keys.tolist() == plain.keys.tolist()
    assert of_state.withheld.tolist() == plain.withheld.tolist()
    assert of_state.withheld.any()


def test_nothing_confidential_can_be_printed_or_pickled(world):
    plan = read(world)
    records = Tabulation(plan, Microdata.open(world / "shops.parquet", plan.schema), SeededDraws(1))
    found = Withholding(plan).cells(records)["pay"]
    records.close()
    assert not any(char.isdigit() for char in repr(found))
    with pytest.raises(TypeError):
        json.dumps(found)

"""Releases beside the truth and each other, over tables and registers: cells lost, errors, what an attacker gets."""

import json
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.test_cli import sfumato
from tests.confidential.test_suppressed_run import FRAME, TABLES, shops

from sfumato.confidential import Microdata, Options, run
from sfumato.confidential.assessment import side_by_side
from sfumato.errors import PlanError, ReleaseError
from sfumato.plan import Plan
from sfumato.release import open_release, seal, write_products

BASE = FRAME[: FRAME.index("[limit]")]
EXPOSED = FRAME[FRAME.index("[[exposure]]") :]
TWO = BASE.replace('{ pay = "1" }', '{ pay = "40", rent = "40" }')
INFUSED = """
[limit]
unbounded = "to compare"
"""
FORMAL = """
[limit]
mu = "2"
"""


def measures(how):
    """Pay and rent of every shop, with a mechanism."""
    return "".join(
        f"""
[[measure]]
name = "{name}"
of = {{ statistic = "total", column = "{name}", unit = "dollars" }}
by = ["shop"]
with = {how}
"""
        for name in ("pay", "rent")
    )


PLANS = {
    "suppressed": TWO
    + FRAME[FRAME.index("[limit]") : FRAME.index("[[exposure]]")]
    + """
[[suppress.measure]]
name = "rent"
of = { statistic = "total", column = "rent", unit = "dollars" }
"""
    + EXPOSED,
    "infused": TWO
    + INFUSED
    + measures('{ mechanism = "noise-infusion", low = "0.05", high = "0.15", limit = "0" }')
    + EXPOSED,
    "formal": TWO + FORMAL + measures('{ mechanism = "square-root", mu = "1" }') + EXPOSED,
}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A register of shops with one alone in its cell, what they report, and three releases of it."""
    folder = tmp_path_factory.mktemp("beside")
    rows = [row | {"pay": 1_000 * row["pay"], "rent": 90_000 + 700 * at} for at, row in enumerate(shops())]
    alone = {"shop": "s99", "firm": "Z", "trade": "1c", "place": "w", "pay": 123_457, "rent": 234_567}
    rows.append(alone)
    frame = [{name: row[name] for name in ("shop", "firm", "trade", "place")} for row in rows]
    pq.write_table(pa.Table.from_pylist(frame), folder / "frame.parquet")
    pq.write_table(
        pa.Table.from_pylist([{name: row[name] for name in ("shop", "pay", "rent")} for row in rows]),
        folder / "data.parquet",
    )
    for name, text in PLANS.items():
        (folder / f"{name}.toml").write_text(text.replace('["n", "s", "e"]', '["n", "s", "e", "w"]'))
        plan = Plan.read(folder / f"{name}.toml")
        run(plan, Microdata.open(folder / "data.parquet", plan.schema), None, folder / name, Options(rehearsal=3))
    return folder


def beside(world, *names, plan="formal", tables=()):
    read = Plan.read(world / f"{plan}.toml")
    data = Microdata.open(world / "data.parquet", read.schema)
    return side_by_side(read, data, [world / name for name in names], tables).numbers


@pytest.fixture(scope="module")
def all_three(world):
    return beside(world, "formal", "suppressed", "infused")


def cells(numbers, statistic=0, row=0):
    return numbers["statistics"][statistic]["sizes"][row]


def test_what_is_withheld_is_lost_and_what_is_left_is_true(all_three, world):
    formal, suppressed, infused = cells(all_three)["releases"]
    held = open_release(world / "suppressed").products["pay"]
    # The leaf trade 2, which ends above the others, stands in tables of both levels, and once in the product.
    assert suppressed["lost"] >= int(held.withheld.sum()) > 0
    assert suppressed["median"] == 0
    assert suppressed["near"] + suppressed["lost"] == suppressed["cells"]
    assert formal["lost"] == infused["lost"] == 0
    assert formal["median"] > 0
    assert 0.01 < infused["median"] < 0.15


def test_factors_hide_numbers_and_leave_ratios(all_three):
    """The known attack: in a cell of one shop the ratio of rent to pay is the true one, whatever its factor is."""
    formal, suppressed, infused = all_three["attacks"]
    assert infused["ratios"]["cells"] == formal["ratios"]["cells"] > 0
    assert infused["ratios"]["known"] == infused["ratios"]["cells"]
    assert infused["single"]["known"] == 0  # no factor is nearer to 1 than 5%
    assert formal["ratios"]["known"] < formal["ratios"]["cells"]
    assert suppressed["single"]["published"] == 0
    assert suppressed["ratios"]["known"] == 0


def test_only_what_is_promised_has_a_bound(all_three):
    formal, suppressed, infused = all_three["attacks"]
    assert formal["promise"]
    assert 0.05 < formal["power"] < 1
    assert not suppressed["promise"]
    assert not infused["promise"]


def test_intervals_of_what_is_withheld_hold_the_truth_and_are_wide(all_three):
    told = all_three["attacks"][1]["withheld"]
    assert told["exact"] == 0
    assert told["width"][1] > 0.1


def test_a_pattern_without_secondary_cells_is_worked_out(world, tmp_path):
    """Negative arm: of a release in which one cell alone is withheld everybody knows it, and the report says so."""
    release = open_release(world / "suppressed")
    held = release.products["pay"]
    one = np.zeros_like(held.withheld)
    one[np.flatnonzero(held.withheld)[:1]] = True
    true = side_true(world, held)
    product = replace(held, values=np.where(one, 0, true), withheld=one)
    (tmp_path / "bare").mkdir()
    for path in world.joinpath("suppressed").rglob("*"):
        if path.is_file() and path.name not in {"manifest.json", "pay.parquet"}:
            target = tmp_path / "bare" / path.relative_to(world / "suppressed")
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(path.read_bytes())
    lines = write_products(tmp_path / "bare", [product, release.products["rent"]])
    seal(tmp_path / "bare", release.manifest.model_copy(update={"products": lines, "files": {}}))
    read = Plan.read(world / "formal.toml")
    data = Microdata.open(world / "data.parquet", read.schema)
    told = side_by_side(read, data, [tmp_path / "bare"]).numbers["attacks"][0]["withheld"]
    (shops_inside,) = [len(shops) for shops, hidden in zip(inside(world, held), one, strict=True) if hidden]
    assert (told["exact"], told["near"], told["fewest"]) == (1, 1, shops_inside)


def inside(world, held):
    """The shops in each cell of a product, row by row."""
    rows = pq.read_table(world / "frame.parquet").to_pylist()
    return [
        [
            row["shop"]
            for row in rows
            if (place in {None, row["place"]}) and (trade is None or row["trade"].startswith(trade))
        ]
        for trade, place in held.linked.codes(held.keys)
    ]


def side_true(world, held):
    """The true totals of the cells of a product, added up row by row."""
    data = {row["shop"]: row["pay"] for row in pq.read_table(world / "data.parquet").to_pylist()}
    return np.array([sum(data[shop] for shop in shops) for shops in inside(world, held)])


def test_tables_that_are_asked_for_are_looked_at_alone(world):
    numbers = beside(world, "formal", "suppressed", tables=["trade@0,place"])
    assert [one["title"] for one in numbers["statistics"][0]["tables"]] == ["trade @0 × place"]
    with pytest.raises(PlanError, match="levels @0 to @1"):
        beside(world, "formal", tables=["trade@4"])


def test_microdata_without_a_register_are_laid_beside_too(tmp_path):
    pq.write_table(pa.Table.from_pylist(shops()), tmp_path / "shops.parquet")
    noisy = (
        TABLES[: TABLES.index("[limit]")]
        + """
[limit]
epsilon = "2"
[[measure]]
name = "pay"
of = { statistic = "total", column = "pay", clip = ["0", "500"], unit = "dollars" }
by = ["trade", "place"]
with = { mechanism = "geometric", epsilon = "2" }
"""
    )
    for name, text in {"suppressed": TABLES, "noisy": noisy}.items():
        plan = Plan.parse(text, tmp_path / "plan.toml")
        run(plan, Microdata.open(tmp_path / "shops.parquet", plan.schema), None, tmp_path / name, Options(rehearsal=1))
    plan = Plan.parse(TABLES, tmp_path / "plan.toml")
    data = Microdata.open(tmp_path / "shops.parquet", plan.schema)
    found = side_by_side(plan, data, [tmp_path / "suppressed", tmp_path / "noisy"])
    suppressed, formal = cells(found.numbers)["releases"]
    assert suppressed["lost"] > 0 == formal["lost"]
    assert not any(char.isdigit() for char in repr(found))


@pytest.mark.parametrize("step", ["1", "7"])
@pytest.mark.parametrize("cents", [0, 25])
def test_what_a_clip_takes_is_an_error_of_those_who_clip_whichever_plan_is_given(tmp_path, step, cents):
    """Every shop pays more than 70, so that a release without noise that clips at 70 is below the truth by the rest."""
    rows = [row | {"pay": row["pay"] + cents / 100} for row in shops()]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "shops.parquet")
    exact = TABLES.replace('column = "pay"', f'column = "pay", step = "{"0.01" if cents else "1"}"')
    clipping = (
        TABLES[: TABLES.index("[limit]")]
        + f"""
[limit]
epsilon = "400"
[[measure]]
name = "pay"
of = {{ statistic = "total", column = "pay", clip = ["0", "70"], step = "{step}", unit = "dollars" }}
by = ["trade", "place"]
with = {{ mechanism = "geometric", epsilon = "400" }}
"""
    )
    plans = {name: Plan.parse(text, tmp_path / "plan.toml") for name, text in (("exact", exact), ("clips", clipping))}
    data = {name: Microdata.open(tmp_path / "shops.parquet", plan.schema) for name, plan in plans.items()}
    for name, plan in plans.items():
        run(plan, data[name], None, tmp_path / name, Options(rehearsal=1))
    whole = sum(row["pay"] for row in rows)
    for name, plan in plans.items():
        found = side_by_side(plan, data[name], [tmp_path / "exact", tmp_path / "clips"]).numbers
        suppressed, clipped = cells(found)["releases"]
        assert suppressed["median"] == suppressed["ninth"] == 0
        (total,) = (one for one in found["statistics"][0]["tables"] if one["title"] == "the total")
        assert total["releases"][1]["median"] == pytest.approx(1 - 70 * len(rows) / whole)
        assert clipped["near"] == 0


def test_releases_of_other_data_are_refused(world, tmp_path):
    fee = """
[[measure]]
name = "pay"
of = { statistic = "total", column = "fee", unit = "dollars" }
by = ["shop"]
with = { mechanism = "square-root", mu = "1" }
"""
    text = (
        BASE.replace("{ pay =", "{ fee =").replace('["n", "s", "e"]', '["n", "s", "e", "w"]') + FORMAL + fee + EXPOSED
    )
    rows = pq.read_table(world / "data.parquet").to_pylist()
    pq.write_table(pa.Table.from_pylist([{"shop": row["shop"], "fee": 5} for row in rows]), tmp_path / "fees.parquet")
    (tmp_path / "frame.parquet").write_bytes((world / "frame.parquet").read_bytes())
    plan = Plan.parse(text, tmp_path / "plan.toml")
    with pytest.raises(ReleaseError, match="None of the releases answers what the plan measures"):
        side_by_side(plan, Microdata.open(tmp_path / "fees.parquet", plan.schema), [world / "suppressed"])


def test_the_command_prints_and_writes_it_for_its_owner_alone(world):
    asked = ["--release", world / "formal", "--release", world / "suppressed", "--release", world / "infused"]
    out = world / "side.html"
    said = sfumato("assess", world / "formal.toml", "--data", world / "data.parquet", *asked, "--out", out).stdout
    assert said.startswith("CONFIDENTIAL")
    assert "what an attacker gets" in said
    assert "no bound" in said
    assert out.stat().st_mode & 0o077 == 0
    page = out.read_text("utf-8")
    assert "<script" not in page
    assert page.count("CONFIDENTIAL") >= 3
    assert "Cells that are withheld" in page
    heads = re.findall(r'colspan="4" class="group">(\w)<', page)
    assert heads == ["A", "B", "C"] * 2 * 2  # two statistics, by size and by table
    written = sfumato(
        "assess", world / "formal.toml", "--data", world / "data.parquet", *asked, "--out", out, "--json"
    ).stdout
    assert json.loads(written)["confidential"] is True
    refused = sfumato(
        "assess",
        world / "formal.toml",
        "--data",
        world / "data.parquet",
        *asked,
        "--out",
        out,
        "--sweep",
        "mu=1",
        good=False,
    )
    assert "--sweep rehearses the plan of one release" in refused.stderr

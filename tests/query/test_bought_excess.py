"""Intervals that count a bought excess hold at their level whatever was cut, and those without do not.

A small population of known values is released 400 times by the plan's own mechanisms. True totals, means, shares,
changes and ratios are computed here by numpy, without a clip. At 90% each interval may miss 10 of 100; a check fails
where more than 10 + 5 standard errors of that miss, 17.5 of 100: a false alarm 2 in a million a check. Its power: an
interval that holds 75 of 100 in truth is found out with a chance of 99.98%. The negative arm is the same
release without its bought numbers: intervals by noise miss nearly always, and say so.
"""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom
from tests.conftest import SMALL

from sfumato.confidential import Microdata, Options, run
from sfumato.confidential.excess import told_excess
from sfumato.confidential.gate import _perturbed
from sfumato.confidential.tabulate import Tabulation
from sfumato.draws import SeededDraws
from sfumato.plan import Plan
from sfumato.query import QueryEngine, open_folder, series
from sfumato.query.caveats import took_of
from sfumato.query.source import Source
from sfumato.release.value_bounds import ClipTook, ValueBounds
from sfumato.schema import Box

RUNS, LEVEL = 400, 0.90
MOST = 0.10 + 5 * math.sqrt(0.10 * 0.90 / RUNS)
BUYING = (
    SMALL.replace('epsilon = "2"', 'epsilon = "4"')
    + "".join(
        f"""
[[measure]]
name = "{name}"
of = {{ statistic = "excess", column = "pay", clip = ["0", "1000"], up_to = "4000", step = "10", unit = "euros" }}
by = {by}
with = {{ mechanism = "geometric", epsilon = "1" }}
"""
        for name, by in (("above_trade", '["trade@0"]'), ("above_place", '["place"]'))
    )
    + '[publish]\nanswers = ["jobs", "pay", "above_trade"]\n'
)
MAKING, SERVING = ("11", "12"), ("21", "22")


def people(seed, growth=1.0):
    """Jobs of whom a fifth earn more than the clip, more of them in the north and in making."""
    rng = np.random.default_rng(seed)
    trade, place = rng.choice([*MAKING, *SERVING], 3_000), rng.choice(["north", "south", "east"], 3_000)
    shift = 0.4 * np.isin(trade, MAKING) + 0.3 * (place == "north")
    pay = np.minimum(10 * np.rint(growth * np.exp(rng.normal(5.9 + shift, 0.7)) / 10), 4_000).astype(np.int64)
    return {"trade": trade, "place": place, "age": rng.integers(25, 80, 3_000), "pay": pay}


def released(folder, plan, data, seed=0):
    rows = pa.table({name: pa.array(values.tolist()) for name, values in data.items()})
    microdata = Microdata.open(rows, plan.schema)
    run(plan, microdata, None, folder, Options(rehearsal=1))
    records = Tabulation(plan, microdata, SeededDraws(1))
    records.fetch(plan.measures)
    base, cells = open_folder(folder).release, {one.name: records.cells(one) for one in plan.measures}
    records.close()

    def draw(number, period="2026-Q1"):
        draws = SeededDraws(10_000 * seed + number)
        made = {one.name: _perturbed(one, plan, cells[one.name], draws, {}) for one in plan.measures}
        manifest = base.manifest.model_copy(update={"period": period})
        return QueryEngine(replace(base, products=told_excess(plan, made), manifest=manifest, id=f"{seed}{number:063}"))

    return draw


def unbought(engine):
    """The same release as one whose plan did not buy what was cut."""
    held = {}
    for name, product in engine.release.products.items():
        bounds = product.subject.value_bounds
        plain = bounds and replace(product.subject, value_bounds=replace(bounds, took=None))
        held[name] = replace(product, subject=plain) if plain else product
    return QueryEngine(replace(engine.release, products=held))


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    plan, folder = Plan.parse(BUYING, Path("small.toml")), tmp_path_factory.mktemp("bought")
    data = people(1), people(2, 1.25)
    draws = [released(folder / str(place), plan, one, place + 1) for place, one in enumerate(data)]
    return data, draws


def questions(first, second):
    """Each question as an estimate of some engines, and the truth of it, without a clip."""
    pay, north, south = first["pay"], first["place"] == "north", first["place"] == "south"
    making, food = np.isin(first["trade"], MAKING), first["trade"] == "11"
    later, up = second["pay"], second["place"] == "north"
    return {
        "all": (lambda a, b: a.total(of="pay"), pay.sum()),
        "place": (lambda a, b: a.total({"place": "north"}, of="pay"), pay[north].sum()),
        "branch": (lambda a, b: a.total({"trade": "1"}, of="pay"), pay[making].sum()),
        "leaf": (lambda a, b: a.total({"trade": "11", "place": "south"}, of="pay"), pay[food & south].sum()),
        "cell": (lambda a, b: a.table("trade", "place", of="pay")["1", "north"], pay[making & north].sum()),
        "share": (lambda a, b: a.share({"place": "north"}, of="pay"), pay[north].sum() / pay.sum()),
        "shown share": (lambda a, b: a.table("place", of="pay").shares()["south"], pay[south].sum() / pay.sum()),
        "mean": (lambda a, b: a.mean("pay", {"place": "north"}), pay[north].mean()),
        "shown mean": (lambda a, b: a.means("pay", "trade")["1"], pay[making].mean()),
        "ratio": (
            lambda a, b: a.ratio({"place": "north"}, {"place": "south"}, of="pay"), pay[north].sum() / pay[south].sum()
        ),
        "difference": (
            lambda a, b: a.compare({"place": "north"}, {"place": "south"}, of="pay"),
            pay[north].sum() - pay[south].sum(),
        ),
        "change": (changed, later[up].sum() - pay[north].sum()),
        "percent": (lambda a, b: changed(a, b).percent, later[up].sum() / pay[north].sum() - 1),
        "year": (year, later[up].sum() + pay[north].sum()),
    }  # fmt: skip


def changed(a, b):
    return series([a, b]).compare("place", of="pay")["north", "2026-Q2"]


def year(a, b):
    return series([a, b]).table("place", of="pay", together="sum")["north", "2026, sum of 2"]


def missed(both, way):
    (first, second), (one, other) = both
    found = dict.fromkeys(questions(first, second), 0)
    for number in range(RUNS):
        engines = way(one(number)), way(other(number, "2026-Q2"))
        for name, (asked, truth) in questions(first, second).items():
            low, high = asked(*engines).interval(LEVEL)
            found[name] += not low <= truth <= high
    return {name: count / RUNS for name, count in found.items()}


def test_intervals_with_what_was_bought_hold(both):
    assert {name: share for name, share in missed(both, lambda engine: engine).items() if share > MOST} == {}


def test_intervals_hold_as_well_where_nothing_was_cut(tmp_path):
    """The other end: all pay lies below the clip, so that only the lower ends can miss."""
    plan, data = Plan.parse(BUYING, Path("small.toml")), (people(3, 0.1), people(4, 0.12))
    assert all(one["pay"].max() < 1_000 for one in data)
    draws = [released(tmp_path / str(place), plan, one, place + 5) for place, one in enumerate(data)]
    found = missed((data, draws), lambda engine: engine)
    assert {name: share for name, share in found.items() if share > MOST} == {}
    assert found["all"] > 0  # the interval is not just wide: below it is that of noise


def test_intervals_without_it_do_not_hold(both):
    """The negative arm: the clip cut a tenth of all pay, which noise of a hundredth does not count."""
    found = missed(both, unbought)
    assert {name for name, share in found.items() if share > MOST} >= {
        "all", "place", "branch", "mean", "shown mean", "difference", "change", "year"
    }  # fmt: skip
    assert found["all"] == 1.0


def test_the_check_finds_what_does_not_hold():
    """Power: an interval that holds 75 of 100 misses so often that it is found, and one that holds 90 is not."""
    assert binom.sf(math.floor(MOST * RUNS), RUNS, 0.25) > 0.999
    assert binom.sf(math.floor(MOST * RUNS), RUNS, 0.10) < 2e-6


def test_tables_and_single_numbers_say_the_same(both):
    """By arrays and one by one: intervals, margins and grades of tables, shares, means and changes."""
    _, (one, other) = both
    a, b = one(0), other(0, "2026-Q2")
    tables = [a.table("trade", "place", of="pay"), a.table("place", of="pay").shares(), a.means("pay", "place")]
    tables += [series([a, b]).compare("place", of="pay"), series([a, b]).table("place", of="pay", together="mean")]
    for table in tables:
        low, high = table.columns().ends(LEVEL)
        for flat, (_, number) in enumerate(table.items()):
            assert number.interval(LEVEL) == pytest.approx((low[flat], high[flat]), rel=1e-6)
            assert number.grade == table.columns().grade[flat]


def test_the_interval_is_of_the_bought_numbers_and_no_other(both):
    """By hand: above the noise at 92% lies the least of both bought bounds, or three times the clipped total."""
    _, (one, _) = both
    engine = one(3)
    number, plain = engine.total({"place": "north"}, of="pay"), unbought(engine).total({"place": "north"}, of="pay")
    # Each of two tables has half of half of a risk of 0.01, and a margin of that law for it.
    risk = 0.01 / 2 / 2
    by_place = Source(engine.release, engine.release.products["above_place"])
    place = by_place.estimate(Box({"place": by_place.attribute("place").levels.mask("north")}))
    whole = engine.total(of="above_trade")
    bounds = [one.value + one.reach(1 - 2 * risk)[1] for one in (place, whole)]
    assert number.reach(0.90)[1] == pytest.approx(plain.reach(0.92)[1] + min(bounds))
    assert number.reach(0.90)[0] == plain.reach(0.90)[0]
    assert "± and grade include what that took, up to 4,000" in repr(number)
    assert "noise only" not in repr(number)
    assert "± and grade: noise only" in repr(plain)
    assert number.value == plain.value  # sums stay right


def test_a_small_cell_is_bounded_by_itself(both):
    """A record that was cut counts 1,000 and has at most 3,000 above: no more than three times the total is missing."""
    _, (one, _) = both
    cell = one(5).total({"trade": "11", "place": "south", "age": "16-24"}, of="pay")
    plain = unbought(one(5)).total({"trade": "11", "place": "south", "age": "16-24"}, of="pay")
    reach = max(0.0, plain.value + plain.reach(0.99)[1])
    assert cell.reach(0.90)[1] <= plain.reach(0.92)[1] + 3 * reach + 1e-6


def test_releases_made_before_state_a_margin_or_an_error_alone(both):
    """What they say of the whole is enough; a release that states no error of it says that grades are by noise."""
    _, (one, _) = both
    engine = one(7)
    product = engine.release.products["pay"]
    for took in (
        ClipTook(4_000, 300_000.0, 5_000.0, 8_200.0),
        ClipTook(4_000, 300_000.0, 5_000.0),
        ClipTook(4_000, 1.0),
    ):
        bounds = replace(product.subject.value_bounds, took=took)
        read = ValueBounds.read(bounds.to_dict())
        older = replace(product, subject=replace(product.subject, value_bounds=read))
        number = QueryEngine(replace(engine.release, products={**engine.release.products, "pay": older})).total(
            of="pay"
        )
        if took.standard_error is None:
            assert took_of(older) is None
            assert "± and grade: noise only" in repr(number)
            continue
        assert read.took.tables == ()
        noise = unbought(engine).total(of="pay")
        added = number.reach(0.90)[1] - noise.reach(0.92)[1]
        assert 300_000 + 8_000 < added < 300_000 + 4 * 8_200

"""Jobs of employers from a plan alone: what data must keep, what leaves, and how one worker is hidden."""

import asyncio
import json
import math
import re
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.confidential import Account, Microdata, Options, Tabulation, run
from sfumato.confidential.audit import audit_plan
from sfumato.draws import SeededDraws
from sfumato.errors import DataError, PlanError, PromiseError
from sfumato.mechanisms import Cells, SmoothGamma
from sfumato.plan import Plan
from sfumato.privacy import Approximate
from sfumato.privacy.notation import loss_to_dict
from sfumato.schema import Frame, Largest, Rows
from sfumato.serve import app as served
from sfumato.serve.accounts import accounts_of
from sfumato.serve.catalogue import Catalogue

PLAN = """
name = "workforce"
[data]
unit = "job"
[attributes.place]
levels = ["north", "south"]
of = "establishment"
[attributes.sex]
levels = ["f", "m"]
of = "worker"
[hidden]
neighbours = "size-within"
unit = "establishment"
id = "employer"
alpha = "0.1"
weak = ["sex"]
worker = "person"
[limit]
epsilon = "4"
[[measure]]
name = "jobs"
of = "count"
by = ["place"]
with = { mechanism = "log-laplace", epsilon = "1" }
[[measure]]
name = "by_sex"
of = "count"
by = ["place", "sex"]
with = { mechanism = "log-laplace", epsilon = "2" }
[publish]
answers = ["by_sex"]
"""
STRONG = PLAN.replace('weak = ["sex"]\n', "")
JOBS = re.sub(r"\[\[measure\]\]\nname = \"by_sex\".*", "", STRONG, flags=re.DOTALL)


def plan_of(text: str = PLAN) -> sf.Plan:
    return sf.Plan.parse(text, Path("workforce.toml"))


def jobs(**other) -> pa.Table:
    """Three employers, one of them with 400 jobs; every worker holds one."""
    employers = {"small": (3, "north"), "middle": (40, "north"), "large": (400, "south")}
    rows = [(name, place) for name, (size, place) in employers.items() for _ in range(size)]
    columns = {"employer": [name for name, _ in rows], "place": [place for _, place in rows]}
    columns |= {"sex": ["fm"[number % 2] for number in range(len(rows))], "person": list(range(len(rows)))}
    return pa.table(columns | other)


def test_a_release_states_margins_in_proportion_and_the_promise_in_words(tmp_path):
    plan = plan_of()
    Account.create(tmp_path / "ledger", "employers", plan.hidden, sf.Approximate(3))
    release = run(plan, Microdata.open(jobs(), plan.schema), tmp_path / "ledger", tmp_path / "release")
    promise = release.manifest.promise
    assert promise.words == (
        "How many jobs of each kind, told apart by sex, any one establishment has, within 10% (100 looks like any "
        "number from 91 to 110), and any one worker."
    )
    assert "learns its size more exactly" in promise.not_hidden
    opened = sf.open(tmp_path / "release")
    south = opened.total({"place": "south"})
    assert 150 < south.value < 1_000
    low, high = south.interval(0.90)
    assert high - south.value > south.value - low > 0
    assert {line.uncertainty["kind"] for line in release.manifest.products} == {"proportional"}


@pytest.mark.parametrize("engine", ["arrays", "duckdb"])
@pytest.mark.parametrize(
    ("column", "said"),
    [
        ({"place": ["north"] * 3 + ["south"] + ["north"] * 39 + ["south"] * 400}, "some establishments have several"),
        ({"person": [0, 0, *range(441)]}, "some stand in more rows than .hidden. at_most = 1"),
    ],
    ids=["an employer in two places", "a worker with two jobs"],
)
def test_data_for_which_the_move_does_not_hold_are_refused_before_the_charge(column, said, engine, tmp_path):
    plan = plan_of()
    account = Account.create(tmp_path / "ledger", "employers", plan.hidden, sf.Approximate(3))
    data = Microdata.open(jobs(**column), plan.schema, engine=engine)
    with pytest.raises(DataError, match=said):
        run(plan, data, tmp_path / "ledger", tmp_path / "release")
    assert not account.ledger.charges
    run(plan, Microdata.open(jobs(), plan.schema, engine=engine), None, tmp_path / "fits", Options(rehearsal=1))


@pytest.mark.parametrize("engine", ["arrays", "duckdb"])
@pytest.mark.parametrize("named", [str, int], ids=["texts", "numbers"])
def test_check_lists_for_the_agency_who_holds_too_many_jobs_and_a_run_names_nobody(engine, named, tmp_path):
    """Twelve of them, the worst first; ten are named, and all of their rows are counted."""
    plan = plan_of(PLAN.replace('"person"', '"person"\nat_most = 2'))
    crowd = [number for number in range(11) for _ in range(3)] + [700] * 5
    people = [named(one) for one in [*crowd, *range(100, 100 + 443 - len(crowd))]]
    data = Microdata.open(jobs(person=people), plan.schema, engine=engine)
    with closing(Tabulation(plan, data, SeededDraws(1))) as tabulation:
        (fault,) = tabulation.faults()
        assert tabulation.broken(fault) == 3 * 11 + 5
        listed = tabulation.examples(fault)
        assert listed[0] == ("700", 5)
        assert [rows for _, rows in listed[1:]] == [3] * 9
        with pytest.raises(DataError, match=r"at_most = 2; .* `sfumato check` lists the values") as refused:
            tabulation.refuse_faults()
    assert "700" not in str(refused.value)
    pq.write_table(jobs(person=people), tmp_path / "jobs.parquet")
    (tmp_path / "plan.toml").write_text(PLAN.replace('"person"', '"person"\nat_most = 2'), encoding="utf-8")
    asked = ["check", str(tmp_path / "plan.toml"), "--data", str(tmp_path / "jobs.parquet"), "--engine", engine]
    said = CliRunner().invoke(app, asked).output
    assert "38 rows:\n  '700': 5 rows\n" in said


def test_tables_by_traits_and_of_some_traits_are_refused_between_strong_neighbours():
    assert plan_of(JOBS).price().total == sf.Approximate(1)
    with pytest.raises(PromiseError, match="'sex' is of a worker: all new jobs"):
        plan_of(STRONG).price()
    with pytest.raises(PromiseError, match="'sex' is of a worker: all new jobs"):
        plan_of(JOBS.replace('by = ["place"]', 'by = ["place"]\nwhere = { sex = ["f"] }')).price()
    with pytest.raises(PlanError, match=r"\[hidden\] names 'sxe', which is not an attribute"):
        plan_of(PLAN.replace('weak = ["sex"]', 'weak = ["sxe"]'))


def test_tables_of_women_and_of_men_add_up_and_those_of_two_places_do_not():
    """Theorem 7.5 would have the first cost the larger alone."""
    one, other = ('where = { sex = ["f"] }', 'where = { sex = ["m"] }')
    text = PLAN.replace('by = ["place"]', f'by = ["place"]\n{one}').replace(
        'by = ["place", "sex"]', f'by = ["place"]\n{other}'
    )
    assert plan_of(text).price().total == sf.Approximate(3)
    apart = text.replace(one, 'where = { place = ["north"] }').replace(other, 'where = { place = ["south"] }')
    assert plan_of(apart).price().total == sf.Approximate(2)


def test_the_jobs_of_a_worker_are_priced_as_many_times():
    one, three = plan_of(JOBS), plan_of(JOBS.replace('"person"', '"person"\nat_most = 3'))
    rates = [plan.measures[0].with_.law(plan.move(plan.measures[0])).rate for plan in (one, three)]
    assert rates[0] == 3 * rates[1]
    places = 'where = { place = ["north"] }', 'where = { place = ["south"] }'
    text = PLAN.replace('by = ["place"]', f'by = ["place"]\n{places[0]}').replace(
        'by = ["place", "sex"]', f"by = []\n{places[1]}"
    )
    assert plan_of(text).price().total == sf.Approximate(2)
    assert plan_of(text.replace('"person"', '"person"\nat_most = 2')).price().total == sf.Approximate(3)


@pytest.mark.parametrize("engine", ["arrays", "duckdb"])
def test_noise_that_follows_the_largest_employer_runs_from_a_plan_and_tells_nothing_of_it(engine, tmp_path):
    text = JOBS.replace('mechanism = "log-laplace", epsilon = "1"', 'mechanism = "smooth-gamma", epsilon = "4"')
    plan = plan_of(text)
    Account.create(tmp_path / "ledger", "employers", plan.hidden, sf.Approximate(4))
    data = Microdata.open(jobs(), plan.schema, engine=engine)
    release = run(plan, data, tmp_path / "ledger", tmp_path / "release")
    south = sf.open(tmp_path / "release").total({"place": "south"})
    assert abs(south.value - 400) < 4_000
    assert "the largest unit in a cell, which is confidential; where that has 100, 90%" in south.se.in_full
    other = run(
        plan,
        Microdata.open(jobs(employer=[f"e{n}" for n in range(443)]), plan.schema, engine=engine),
        None,
        tmp_path / "other",
        Options(rehearsal=1),
    )
    said = [{**line.model_dump(), "file": ""} for one in (release, other) for line in one.manifest.products]
    assert said[0] == said[1], "what is said of the numbers is the same whoever employs whom"
    assert [one.noise for one in release.manifest.spends] == [one.noise for one in other.manifest.spends]


def test_an_audit_proves_no_more_than_is_claimed_and_nearly_all_the_law_shows():
    audits = audit_plan(plan_of(JOBS), samples=60_000, draws=SeededDraws(4))
    assert all(one.holds and one.strong for one in audits)
    assert audits[0].exact == pytest.approx(1_000 / 1_001), "one job in an empty cell"
    assert audits[0].views["a cell"] > 0.85 * audits[0].exact


def largest_pair(sizes: tuple[int, int], beside: int) -> tuple[pa.Table, pa.Table]:
    """An establishment of two sizes in the north, and another beside it, the same on both sides."""

    def table(size: int) -> pa.Table:
        employers = ["one"] * size + ["other"] * beside + ["far"]
        places = ["north"] * (size + beside) + ["south"]
        rows = len(employers)
        return pa.table({"employer": employers, "place": places, "sex": ["f"] * rows, "person": list(range(rows))})

    return table(sizes[0]), table(sizes[1])


AUDITED = ["log-laplace", "smooth-gamma", "smooth-laplace"]


@pytest.mark.parametrize("weak", [False, True], ids=["strong", "weak"])
@pytest.mark.parametrize(("sizes", "beside"), [((0, 1), 0), ((40, 44), 3)], ids=str)
@pytest.mark.parametrize("name", AUDITED)
def test_audits_never_prove_more_than_the_claim_and_nearly_all_that_the_laws_lose(name, sizes, beside, weak):
    """The exact loss of the pair is that of its two laws, summed here outcome by outcome; samples are as they come."""
    delta = 0.01 if name == "smooth-laplace" else 0.0
    stated = f', delta = "{delta}"' if delta else ""
    text = (JOBS if not weak else JOBS.replace('alpha = "0.1"', 'alpha = "0.1"\nweak = ["sex"]')).replace(
        'mechanism = "log-laplace", epsilon = "1"', f'mechanism = "{name}", epsilon = "2"{stated}'
    )
    if weak:
        text = text.replace('by = ["place"]', 'by = ["place"]\nwhere = { sex = ["f"] }')
    plan = plan_of(text.replace('epsilon = "4"', f'epsilon = "4"\ndelta = "{delta}"') if delta else text)
    mechanism, move = plan.measures[0].with_, plan.move(plan.measures[0])
    pair = [Microdata.open(table, plan.schema) for table in largest_pair(sizes, beside)]
    audits = audit_plan(plan, *pair, draws=SeededDraws(7))
    one, other = (law_of_cell(mechanism, size + beside, max(size, beside), move) for size in sizes)
    exact = max(epsilon_between(one, other, delta), epsilon_between(other, one, delta))
    assert [audit.measure for audit in audits] == ["jobs", "everything"]
    for audit in audits:
        assert audit.exact == pytest.approx(exact, rel=2e-3)
        assert 0.85 * exact <= audit.bound <= audit.claimed
        assert exact <= audit.claimed


def plan_telling(name: str, delta: float) -> Plan:
    """Jobs by place at epsilon 2, and 1 more for which the scale of the noise is told."""
    stated = f', delta = "{delta}"' if delta else ""
    noise = f'mechanism = "{name}", epsilon = "2", told = "1"{stated}'
    text = JOBS.replace('mechanism = "log-laplace", epsilon = "1"', noise)
    return plan_of(text.replace('epsilon = "4"', f'epsilon = "4"\ndelta = "{delta}"') if delta else text)


@pytest.mark.parametrize(
    ("name", "delta", "sizes", "beside"),
    [("smooth-gamma", 0.0, (0, 1), 0), ("smooth-laplace", 0.01, (40, 44), 3)],
    ids=["smooth-gamma", "smooth-laplace"],
)
def test_a_number_and_the_scale_that_is_told_of_it_lose_what_their_joint_law_does(name, delta, sizes, beside):
    """Their joint law is summed here over pairs of outcomes; the scale is told by its logarithm, on a lattice."""
    plan = plan_telling(name, delta)
    mechanism, move = plan.measures[0].with_, plan.move(plan.measures[0])
    pair = [Microdata.open(table, plan.schema) for table in largest_pair(sizes, beside)]
    audits = audit_plan(plan, *pair, draws=SeededDraws(7))
    number = np.array([law_of_cell(mechanism, size + beside, max(size, beside), move) for size in sizes])
    number = number[:, (number > 1e-10).all(axis=0)]
    told = [told_of(max(size, beside)) for size in sizes]
    joint = [np.outer(*side).ravel() for side in zip(number, told, strict=True)]
    exact = max(epsilon_between(*joint, delta), epsilon_between(*joint[::-1], delta))
    for audit in audits:
        assert audit.exact == pytest.approx(exact, rel=4e-3)
        assert 0.85 * exact <= audit.bound <= audit.claimed


def told_of(largest: int) -> np.ndarray:
    """The chances of what is told of S = largest / 10 + 1 for epsilon 1: its logarithm in thousandths of ln 1.1.

    Noise has a = exp(-1 / 1001). Far out on either side outcomes say the same, and are taken as one.
    """
    a, centre = math.exp(-1 / 1001), math.floor(1000 * math.log(largest / 10 + 1) / math.log(1.1) + 0.5)
    middle = np.arange(0, 18_000, 50)
    below = np.where(middle <= centre, a ** (centre - middle + 1.0), 1 + a - a ** (middle - centre)) / (1 + a)
    return np.diff(below, prepend=0.0, append=1.0)


class SellsTooCheap(SmoothGamma):
    """The mutant that tells its scale for 1.5 and is charged 0.5: what either tells alone is within the claim."""

    def loss(self, move):
        return Approximate(Fraction(5, 2))


def test_a_scale_that_is_told_too_cheap_is_caught_by_the_number_and_the_scale_together():
    plan = plan_telling("smooth-gamma", 0.0)
    mutant = replace(plan, measures=(replace(plan.measures[0], with_=SellsTooCheap(2, told="1.5")),))
    (jobs_, _) = audit_plan(mutant, draws=SeededDraws(9))
    assert jobs_.bound > jobs_.claimed == 2.5
    assert jobs_.views["a cell"] < 2.5 > jobs_.views["the error of a cell that is told"]


class TellsItsScale(SmoothGamma):
    """The mutant that publishes the variance of its noise."""

    def perturb(self, cells, draws, given=None):
        noisy = super().perturb(cells, draws, given)
        scales, which = self.noise_scales(cells)
        variances = np.array(scales, dtype=float)[which].reshape(noisy.values.shape) ** 2
        return replace(noisy, public={"variance": variances})


def test_a_scale_that_is_published_is_caught_by_an_audit_and_one_that_is_paid_for_is_not():
    """An establishment of 44, and not of 40, is told by it for certain: 40,000 samples prove an epsilon of 7."""
    text = JOBS.replace(
        'mechanism = "log-laplace", epsilon = "1"', 'mechanism = "smooth-gamma", epsilon = "2", told = "1"'
    )
    plan = plan_of(text)
    (measure,) = plan.measures
    pair = [Microdata.open(table, plan.schema) for table in largest_pair((40, 44), 3)]
    paid = audit_plan(plan, *pair, samples=40_000, draws=SeededDraws(8))
    assert all(one.holds for one in paid)
    assert 0.5 < paid[0].views["the error of a cell that is told"] <= 1, "what is paid for it"
    telling = replace(plan, measures=(replace(measure, with_=TellsItsScale(3)),))
    caught = audit_plan(telling, *pair, samples=40_000, draws=SeededDraws(8))
    assert caught[0].view == "the error of a cell that is told"
    assert caught[0].bound > 7 > caught[0].claimed == 3


def epsilon_between(one, other, delta):
    """The least epsilon at which two laws have a delta, between the outcomes of a chance above 1e-10."""
    told = (one > 1e-10) & (other > 1e-10)
    losses = np.log(one[told] / other[told])
    if not delta:
        return losses.max()
    low, high = 0.0, losses.max()
    while high - low > 1e-9:
        middle = (low + high) / 2
        more = np.maximum(one - np.exp(middle) * other, 0).sum() > delta
        low, high = (middle, high) if more else (low, middle)
    return high


def law_of_cell(mechanism, value, largest, move):
    """The chances of what is published of one cell, from the law alone."""
    columns = {Rows(): np.array([value]), Largest(): np.array([[largest]])}
    cells = Cells(Frame("cell", (), {}, range(1)), np.array([value]), Fraction(1), move, columns=columns)
    centre = int(mechanism.clean(cells)[0])
    if mechanism.name == "log-laplace":
        law, reach = mechanism.law(move), 40_000
    else:
        law, reach = mechanism.law_of(mechanism.noise_scales(cells)[0][0]), 4_000
    k = np.arange(-reach, reach + 1) + (
        0 if mechanism.name != "log-laplace" else int(mechanism.clean(sized_at(move))[0])
    )
    return law.pmf(k - centre)


def sized_at(move):
    return Cells(Frame("cell", (), {}, range(1)), np.array([0]), Fraction(1), move)


WORKERS = """
[hidden]
neighbours = "add-remove"
unit = "{unit}"
id = "{id}"
at_most = {most}
[limit]
"""


@pytest.mark.parametrize(("unit", "column", "most"), [("worker", "person", 2), ("establishment", "employer", 50)])
def test_one_worker_or_one_establishment_is_hidden_over_joined_tables(unit, column, most, tmp_path):
    """Edge and node: geometric noise, scaled to the jobs of one; of an establishment only so many count."""
    hidden = WORKERS.format(unit=unit, id=column, most=most)
    text = re.sub(r"\[hidden\].*?\[limit\]\n", hidden, JOBS, flags=re.DOTALL).replace("log-laplace", "geometric")
    tables = '[data.tables]\njobs = {}\nworkers = { on = "person" }\nworkplaces = { on = "employer" }\n'
    plan = plan_of(text.replace("[attributes.place]", f"{tables}[attributes.place]"))
    assert plan.move(plan.measures[0]).l1 == most
    whole = jobs()
    parts = {
        "jobs": whole.select(["employer", "person"]),
        "workers": whole.select(["person", "sex"]),
        "workplaces": pa.table({"employer": ["small", "middle", "large"], "place": ["north", "north", "south"]}),
    }
    data = Microdata.open(parts, plan.schema)
    run(plan, data, None, tmp_path / "release", Options(rehearsal=3))
    south = sf.open(tmp_path / "release").total({"place": "south"})
    assert abs(south.value - (50 if unit == "establishment" else 400)) < 20 * south.se


TABLES = '[data.tables]\njobs = {}\nworkers = { on = "person" }\nworkplaces = { on = "employer" }\n'


@pytest.mark.parametrize("engine", ["arrays", "duckdb"])
@pytest.mark.parametrize("worker", ['worker = "person"\n', ""], ids=["named", "not named"])
def test_what_is_found_among_the_workers_is_not_the_establishment_s(worker, engine, tmp_path):
    """Nobody else sees it: each establishment has one level, as all of its workers have the same."""
    text = PLAN.replace('worker = "person"\n', worker).replace("[attributes.place]", f"{TABLES}[attributes.place]")
    plan, whole = plan_of(text), jobs()
    there = pa.table({"employer": ["small", "middle", "large"], "place": ["north", "north", "south"]})
    right = {"jobs": whole.select(["employer", "person"]), "workers": whole.select(["person", "sex"])}
    fits = Microdata.open(right | {"workplaces": there}, plan.schema, engine=engine)
    run(plan, fits, None, tmp_path / "fits", Options(rehearsal=1))
    wrong = {"workers": whole.select(["person", "sex", "place"]), "workplaces": there.select(["employer"])}
    account = Account.create(tmp_path / "ledger", "employers", plan.hidden, sf.Approximate(3))
    with pytest.raises(DataError, match=r"\[attributes.place\] is said to be of the .* in the table workers"):
        run(plan, Microdata.open(right | wrong, plan.schema, engine=engine), tmp_path / "ledger", tmp_path / "release")
    assert not account.ledger.charges


def test_a_release_of_employers_is_charged_to_a_ledger_of_workers_and_read_as_several_promises(tmp_path):
    """Readers add it up in that account; the ledger says what the same charges cost whoever else is hidden."""
    plan, worker = plan_of(JOBS), sf.AddRemove("worker", "person", 1)
    Account.create(tmp_path / "ledger", "workers", worker, sf.Approximate(2))
    for name in ("one", "two"):
        made = run(plan, Microdata.open(jobs(), plan.schema), tmp_path / "ledger", tmp_path / name)
    assert made.manifest.ledger.account["neighbours"] == "add-remove"
    assert made.manifest.ledger.spent == {"epsilon": "2"}
    (account,) = accounts_of(Catalogue.open([tmp_path / "one", tmp_path / "two"]).editions)
    assert [line.missing for line in account.entries] == [0, 0], "both are in one account, and none lacks"
    with pytest.raises(PromiseError, match="Nothing more fits"):
        run(plan, Microdata.open(jobs(), plan.schema), tmp_path / "ledger", tmp_path / "three")
    Account.create(tmp_path / "own", "employers", plan.hidden, sf.Approximate(9))
    own = run(plan, Microdata.open(jobs(), plan.schema), tmp_path / "own", tmp_path / "four")
    assert not own.manifest.ledger.account
    said = CliRunner().invoke(app, ["ledger", "show", str(tmp_path / "own")], catch_exceptions=False).output
    assert re.search(r"any one worker with all jobs, there or not +1 +epsilon 1\n", said)
    assert re.search(r"one establishment of 100 jobs, there or not at all +39 +epsilon 39\n", said)


def test_a_ledger_states_of_groups_what_price_does_and_says_so_where_old_charges_cannot(tmp_path):
    """Delta 0.001 comes with epsilon 3 of 9: two steps of all at once would be (1 + e^9) 0.001, more than 1."""
    text = PLAN.replace('epsilon = "4"', 'epsilon = "9"\ndelta = "0.001"').replace('epsilon = "2"', 'epsilon = "6"')
    plan = plan_of(text.replace('"log-laplace", epsilon = "1"', '"smooth-laplace", epsilon = "3", delta = "0.001"'))
    price, limit = plan.price(), sf.Approximate(9, "0.01")
    Account.create(tmp_path / "ledger", "employers", plan.hidden, limit)
    run(plan, Microdata.open(jobs(), plan.schema), tmp_path / "ledger", tmp_path / "release")
    said = CliRunner().invoke(app, ["ledger", "show", str(tmp_path / "ledger"), "--json"], catch_exceptions=False)
    shown = json.loads(said.output)
    assert [line["loss"] for line in shown["implied"]] == [
        loss_to_dict(price.of_group(one.steps)) for one in plan.hidden.implied()
    ]
    assert shown["charges"][0]["parts"] == [loss_to_dict(spend.loss) for spend in price.spends]
    old = Account.create(tmp_path / "old", "employers", plan.hidden, limit)
    old.reserve("release", price.total, plan.hidden, "plan-hash")
    for ledger, cannot in ((tmp_path / "ledger", False), (tmp_path / "old", True)):
        words = CliRunner().invoke(app, ["ledger", "show", str(ledger)], catch_exceptions=False).output
        assert ("1 charge tells, as older versions entered them" in words) == ("unbounded" in words) == cannot


FRAMED = """
name = "register"
[data]
unit = "establishment"
[attributes.county]
levels = ["a", "b"]
[frame]
file = "frame.csv"
id = "eid"
[hidden]
neighbours = "size-within"
unit = "establishment"
id = "eid"
alpha = "0.1"
reports = ["employment", "wages"]
[limit]
epsilon = "9"
[[measure]]
name = "rows"
of = { statistic = "total", column = "employment", unit = "jobs" }
by = ["establishment"]
with = { mechanism = "log-laplace", epsilon = "2" }
[[measure]]
name = "counties"
of = { statistic = "total", column = "employment", unit = "jobs" }
by = ["county"]
with = { mechanism = "smooth-gamma", epsilon = "2" }
[[measure]]
name = "wages"
of = { statistic = "total", column = "wages", unit = "dollars" }
by = ["establishment"]
with = { mechanism = "log-laplace", epsilon = "2" }
[[exposure]]
kind = "assumed known"
what = "the frame: which establishments there are"
why = "it is a public register"
"""


def test_what_units_of_a_register_report_is_hidden_within_alpha(tmp_path):
    """Employment and wages of one establishment go at once, so that all three measures add up."""
    frame = "eid,county\n" + "".join(f"{unit},{'ab'[unit % 2]}\n" for unit in range(60))
    (tmp_path / "frame.csv").write_text(frame, encoding="utf-8")
    (tmp_path / "plan.toml").write_text(FRAMED, encoding="utf-8")
    plan = sf.Plan.read(tmp_path / "plan.toml")
    assert plan.price().total == sf.Approximate(6)
    reports = pa.table({"eid": list(range(60)), "employment": [100] * 60, "wages": [1_150_000] * 60})
    run(plan, Microdata.open(reports, plan.schema), None, tmp_path / "release", Options(rehearsal=2))
    opened = sf.open(tmp_path / "release")
    for of, each in (("rows", 100), ("wages", 1_150_000)):
        county = opened.total({"county": "a"}, of=of)
        assert abs(county.value - 30 * each) < 6 * county.se
        assert county.se == pytest.approx(0.0675 * np.sqrt(30) * each, rel=0.4), "Laplace noise of scale ln(1.1) / 2"
    with pytest.raises(PlanError, match="Over a frame units report"):
        sf.Plan.parse(FRAMED.replace('alpha = "0.1"', 'alpha = "0.1"\nweak = ["county"]'), tmp_path / "plan.toml")
    clipped = FRAMED.replace('column = "wages", unit', 'column = "wages", clip = ["0", "9"], unit')
    with pytest.raises(PromiseError, match="leave it out, as reports are whole steps"):
        sf.Plan.parse(clipped, tmp_path / "plan.toml").price()


def test_steps_over_numbers_whose_error_is_withheld_are_refused_before_the_charge():
    step = '[[then]]\nstep = "least-squares"\nname = "moved"\ntable = "jobs"\nto = ["whole"]\n'
    whole = '[[measure]]\nname = "whole"\nof = "count"\nby = []\nwith = { mechanism = "log-laplace", epsilon = "1" }\n'
    plan_of(JOBS + whole + step).price()
    with pytest.raises(PlanError, match="Step 'moved' reads 'jobs', whose error is withheld: its noise follows"):
        plan_of(JOBS.replace("log-laplace", "smooth-gamma") + whole + step).price()


def test_the_card_says_that_all_jobs_of_an_establishment_count(tmp_path):
    plan = plan_of(JOBS.replace('"person"', '"person"\nat_most = 2'))
    Account.create(tmp_path / "ledger", "employers", plan.hidden, sf.Approximate(2))
    run(plan, Microdata.open(jobs(), plan.schema), tmp_path / "ledger", tmp_path / "release")

    async def asked() -> str:
        transport = httpx.ASGITransport(served([tmp_path / "release"]))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            return (await client.get("/privacy/workforce", follow_redirects=True)).text

    card = asyncio.run(asked())
    assert "All rows of one establishment count. Of what they tell together, only what is said above is hidden." in card
    assert "hidden together" not in card
    assert "How large any one establishment is, within 10%" in card
    assert "any one worker, with all of up to 2 jobs" in card

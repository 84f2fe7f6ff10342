"""Pairs made of the plan alone: neighbours, as far apart as the plan allows, in data that the plan can read."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.confidential import Tabulation
from sfumato.confidential.audit import audit_plan
from sfumato.confidential.pairs import worst_pairs
from sfumato.draws import SeededDraws
from sfumato.errors import PlanError
from sfumato.plan import Plan
from sfumato.synth import write

HEAD = """
name = "pairs"
[data]
unit = "job"
key = "job_id"
[attributes.trade]
levels = ["made", "sold", "not stated"]
missing = "not stated"
[attributes.size]
bands = [0, 10, 50]
from = "staff"
[attributes.age]
bands = [16, 25, 65]
missing = { level = "unknown", codes = ["-9"] }
[attributes.place]
levels = ["north", "south"]
recode = { "N" = "north", "S" = "south" }
[limit]
epsilon = "9"
"""
COUNT = """
[[measure]]
name = "NAME"
of = "count"
by = ["trade", "size", "age", "place"]
with = { mechanism = "geometric", epsilon = "1" }
where = WHERE
"""
STAFF = """
[[measure]]
name = "staff"
of = { statistic = "total", column = "staff", clip = ["0", "40"] }
by = ["trade", "size"]
with = { mechanism = "geometric", epsilon = "1" }
"""
JOBS = """
name = "jobs"
[data]
unit = "job"
[attributes.place]
levels = ["north", "south", "east", "west"]
of = "establishment"
[hidden]
neighbours = "size-within"
unit = "establishment"
id = "employer"
alpha = "0.1"
worker = "person"
at_most = JOBS
[limit]
epsilon = "2"
[[measure]]
name = "jobs"
of = "count"
by = ["place"]
with = { mechanism = "log-laplace", epsilon = "2" }
"""
ADD = '[hidden]\nneighbours = "add-remove"\nunit = "firm"\nid = "firm"\nat_most = 3\n'
REPLACE = '[hidden]\nneighbours = "replace-one"\nunit = "job"\nfixed = ["place"]\n'
EXPOSED = '[[exposure]]\nkind = "assumed known"\nwhat = "place"\nwhy = "it is on the map"\n'


def count(name: str = "jobs", where: str = "{}") -> str:
    return COUNT.replace("NAME", name).replace("WHERE", where)


def plan_of(*parts: str) -> sf.Plan:
    return Plan.parse(HEAD + "".join(parts), Path("pairs.toml"))


def differences(plan: sf.Plan, pair) -> dict[str, np.ndarray]:
    one, other = (Tabulation(plan, data, SeededDraws(1)) for data in pair)
    return {m.name: one.cells(m).values - other.cells(m).values for m in plan.measures}


def test_a_unit_with_too_many_rows_moves_the_cells_by_all_that_the_plan_allows():
    plan = plan_of(ADD, count(), STAFF)
    moved = differences(plan, worst_pairs(plan)[0])
    for measure in plan.measures:
        move = plan.move(measure)
        assert np.abs(moved[measure.name]).sum() == move.l1
        assert np.square(moved[measure.name]).sum() == move.l2_squared
        assert np.count_nonzero(moved[measure.name]) == 1
    # 40 staff, the end of the clip, are a firm of 10 to 49.
    assert np.flatnonzero(moved["staff"].sum(axis=0)).tolist() == [1]


def test_a_replaced_record_leaves_one_cell_for_another_and_keeps_what_is_fixed():
    plan = plan_of(REPLACE, count(), EXPOSED)
    moved = differences(plan, worst_pairs(plan)[0])["jobs"]
    assert sorted(moved[moved != 0].tolist()) == [-1, 1]
    assert moved.sum(axis=(0, 1, 2)).tolist() == [0, 0]
    assert all(np.count_nonzero(np.moveaxis(moved, axis, 0).reshape(3, -1).sum(axis=1)) == 2 for axis in (0, 1, 2))


def test_disjoint_universes_get_a_pair_each():
    plan = plan_of(ADD, count("north", '{ place = "north" }'), count("south", '{ place = "south" }'))
    pairs = worst_pairs(plan)
    touched = [{name for name, moved in differences(plan, pair).items() if moved.any()} for pair in pairs]
    assert touched == [{"north"}, {"south"}]
    audits = audit_plan(plan, samples=20_000, draws=SeededDraws(2))
    assert {one.measure for one in audits} == {"north", "south", "everything"}
    assert all(one.holds for one in audits)


def test_one_pair_does_where_a_record_can_be_in_all_measures():
    assert len(worst_pairs(plan_of(ADD, count(), STAFF, count("north", '{ place = "north" }')))) == 1


@pytest.mark.parametrize("level", ["not stated", "made"])
def test_a_universe_of_missing_answers_is_reached(level):
    plan = plan_of(ADD, count("some", f'{{ trade = "{level}", age = "unknown" }}'))
    assert differences(plan, worst_pairs(plan)[0])["some"].any()


def test_no_possible_record_is_said():
    nothing = '[[impossible]]\nplace = ["north", "south"]\n'
    with pytest.raises(PlanError, match="no possible record"):
        worst_pairs(plan_of(nothing, ADD, count()))


@pytest.fixture(scope="module")
def lodes(tmp_path_factory) -> sf.Plan:
    """The plan of jobs as it is shipped: five tables, of up to ten kinds of workers, with up to three jobs of each."""
    plan = Plan.read(write("lodes", tmp_path_factory.mktemp("lodes"), rows=2_000))
    return replace(plan, schema=plan.schema.flat)


@pytest.fixture(scope="module")
def losses(lodes) -> list[tuple[frozenset[str], dict[str, float]]]:
    """The measures that each pair is for, and what all of them lose in it."""
    return [(pair.measures, lost(lodes, pair)) for pair in worst_pairs(lodes)]


def test_of_sizes_within_alpha_every_table_loses_nearly_all_that_is_claimed_in_some_pair(lodes, losses):
    """Ten kinds that each grow by a step, or the three jobs of a worker in an empty cell; one job would be a tenth."""
    seen = [(name, each[name] / float(lodes.measure(name).with_.epsilon)) for names, each in losses for name in names]
    assert {name for name, _ in seen} == {measure.name for measure in lodes.measures}
    assert all(0.9 < share <= 1 for _, share in seen), seen


def lost(plan: sf.Plan, pair) -> dict[str, float]:
    """What two neighbours lose by the law of each table."""
    sides = [Tabulation(plan, data, SeededDraws(1)) for data in pair]
    found = {}
    for measure in plan.measures:
        one, other = (measure.with_.clean(side.cells(measure)) for side in sides)
        found[measure.name] = float(np.abs(one - other).sum() * float(measure.with_.law(plan.move(measure)).rate))
    return found


def test_three_jobs_of_a_worker_in_three_empty_cells_lose_all_that_three_jobs_are_priced_for(losses):
    """Each is 1,000 lattice steps of the 1,001 that noise is scaled to; a table of d > 3 kinds is scaled to d jobs."""
    epsilons, kinds = (1.5, 2.5, 0.75, 1.5, 0.75), (1, 10, 3, 6, 2)
    each = [1_000 / 1_001 * epsilon * 3 / max(3, many) for epsilon, many in zip(epsilons, kinds, strict=True)]
    assert any(list(found.values()) == pytest.approx(each, rel=1e-6) for _, found in losses)
    assert sum(each) == pytest.approx(4.4955, abs=1e-4)


def test_an_establishment_that_grows_in_all_kinds_loses_in_all_tables_at_once(losses):
    """Each table loses a step in each cell of its kinds, of as many steps as its noise is scaled to: max(3, kinds)."""
    epsilons, kinds = (1.5, 2.5, 0.75, 1.5, 0.75), (1, 10, 3, 6, 2)
    most = [epsilon * many / max(3, many) for epsilon, many in zip(epsilons, kinds, strict=True)]
    grown = list(dict(losses)[frozenset({"sex_education", "race"})].values())
    assert all(0.98 * one <= other <= one for one, other in zip(most, grown, strict=True))
    assert 5.65 < sum(grown) <= sum(most) == 5.75


@pytest.mark.parametrize("jobs", [2, 3])
def test_the_audit_of_tables_of_establishments_comes_near_the_claim_for_all_jobs_of_a_worker(jobs):
    """1,000 / 1,001 of epsilon 2 is lost in all cells at once; 60,000 samples a side see most of it."""
    plan = Plan.parse(JOBS.replace("JOBS", str(jobs)), Path("jobs.toml"))
    assert max(sum(lost(plan, pair).values()) for pair in worst_pairs(plan)) == pytest.approx(2 * 1_000 / 1_001)
    audits = audit_plan(plan, samples=60_000, draws=SeededDraws(4))
    assert all(one.holds for one in audits)
    assert max(one.bound for one in audits) > 0.85 * 2


@pytest.mark.slow
def test_the_audit_of_the_shipped_plan_of_jobs_holds_and_counts_as_evidence_for_every_table(lodes):
    """As many samples are taken as show it, and what is lost is what two-sided geometric noise loses, step by step."""
    audits = audit_plan(lodes, draws=SeededDraws(3))
    assert [one.words() for one in audits if not (one.holds and one.strong)] == []
    assert {one.measure for one in audits} == {*(one.name for one in lodes.measures), "everything"}
    own = iter(one.exact for one in audits)
    for pair in worst_pairs(lodes):
        found = lost(lodes, pair)
        assert [next(own) for _ in pair.measures] == pytest.approx([found[one.name] for one in lodes.measures if one.name in pair.measures], rel=1e-6)  # fmt: skip  # noqa: E501
        assert next(own) == pytest.approx(sum(found.values()), rel=1e-6)


SMOOTH = (
    JOBS.replace('worker = "person"\nat_most = JOBS', 'weak = ["sex"]').replace('epsilon = "2"', 'epsilon = "1"')
    + """
[attributes.sex]
levels = ["f", "m"]
of = "worker"
[[measure]]
name = "gamma"
of = "count"
by = ["place", "sex"]
with = { mechanism = "smooth-gamma", epsilon = "2", told = "0.5" }
[[measure]]
name = "laplace"
of = "count"
by = ["place", "sex"]
with = { mechanism = "smooth-laplace", epsilon = "3", delta = "0.001" }
"""
)


@pytest.mark.slow
def test_several_tables_with_a_delta_are_published_as_often_as_shows_what_they_lose_together():
    """Each by itself is shown by 200,000 samples or more, which show 0.81 of what all of them lose."""
    plan = Plan.parse(
        SMOOTH.replace('[limit]\nepsilon = "1"', '[limit]\nepsilon = "6.5"\ndelta = "0.001"'), Path("smooth.toml")
    )
    audits = audit_plan(plan, draws=SeededDraws(5))
    assert [one.words() for one in audits if not (one.holds and one.strong)] == []


EITHER = """
[[measure]]
name = "gain"
of = { statistic = "total", column = "gain", clip = ["LOW", "HIGH"] }
by = BY
with = { mechanism = "MECHANISM" }
"""
ONE_OR_MORE = {
    "a job": '[hidden]\nneighbours = "replace-one"\nunit = "job"\n',
    "three of a firm": '[hidden]\nneighbours = "replace-one"\nunit = "firm"\nid = "firm"\nat_most = 3\n',
    "a job that stays in its place": REPLACE,
}


def either(low, high, hidden, mechanism, by='["trade", "place"]'):
    text = (
        EITHER.replace("LOW", str(low)).replace("HIGH", str(high)).replace("BY", by).replace('"MECHANISM"', mechanism)
    )
    head = HEAD.replace('epsilon = "9"', 'mu = "9"' if "mu" in mechanism else 'epsilon = "9"')
    return Plan.parse(head + hidden + text + (EXPOSED if "fixed" in hidden else ""), Path("pairs.toml"))


@pytest.mark.parametrize("hidden", [*ONE_OR_MORE][:2])
@pytest.mark.parametrize(("low", "high"), [(-40, 40), (-40, 30), (-30, 40), (-40, 10), (-40, 0), (0, 40), (10, 40)])
def test_of_values_of_either_sign_some_pair_reaches_every_norm_that_is_priced(low, high, hidden):
    """From end to end of the clip in one cell, or from one cell to another: (h − l)² or twice the larger square."""
    plan = either(low, high, ONE_OR_MORE[hidden], '"rounded-gaussian", mu = "1"')
    rows, far = plan.hidden.at_most, max(abs(low), abs(high))
    moved = [differences(plan, pair)["gain"] for pair in worst_pairs(plan)]
    assert max(np.abs(one).sum() for one in moved) == 2 * rows * far == plan.move(plan.measures[0]).l1
    reached = max(np.square(one).sum() for one in moved)
    assert reached == rows**2 * max((high - low) ** 2, 2 * far**2) == plan.move(plan.measures[0]).l2_squared


def test_whoever_else_stands_there_has_the_same_values_on_both_sides():
    plan = either(-40, 30, ONE_OR_MORE["three of a firm"], '"rounded-gaussian", mu = "1"')
    pairs = worst_pairs(plan)
    assert len(pairs) == 2
    for pair in pairs:
        one, other = (side.sources[0].to_pylist() for side in pair)
        assert len(one) == len(other), "how many there are is public"
        same = [row for row in one if row["firm"] != "the unit"]
        assert same == [row for row in other if row["firm"] != "the unit"]
        assert len(same) == 4


def _squares(plan):
    """The square of mu that each pair loses."""
    (measure,) = plan.measures
    lost = []
    for pair in worst_pairs(plan):
        cells = [Tabulation(plan, data, SeededDraws(1)).cells(measure) for data in pair]
        one, other = (measure.with_.clean(side) for side in cells)
        noisy = measure.with_.perturb(cells[0], SeededDraws(1))
        squares, laws = np.square(one - other), measure.with_.laws(noisy)
        lost.append(sum(float(squares[where].sum() / law.sigma_squared) for where, law in laws))
    return lost


@pytest.mark.parametrize("hidden", [*ONE_OR_MORE])
@pytest.mark.parametrize("where", ["", '\nwhere = { size = "10-49" }'], ids=["all", "some"])
@pytest.mark.parametrize(("low", "high"), [(-40, 40), (-40, 30), (-40, 25), (-5, -2), (-5, 0), (0, 5), (2, 5)])
def test_of_a_family_of_tables_values_of_either_sign_lose_all_that_is_claimed(low, high, where, hidden):
    by = '{ up_to = 2, of = ["trade", "age", "place"] }' + where
    plan = either(low, high, ONE_OR_MORE[hidden], '"even-gaussian", mu = "1"', by)
    assert max(_squares(plan)) == pytest.approx(1, rel=1e-9), "the square of mu, of the normal that is rounded"


TABLES = """
[[measure]]
name = "jobs"
of = "count"
by = { up_to = 2, of = ["trade", "age", "place"] }
with = { mechanism = "even-gaussian", mu = "1"AIM }
WHERE
"""
AIM = ', aim = { "0" = "9", "1" = "2", "2" = "4" }'


def tables(hidden, aim, where):
    text = TABLES.replace("AIM", aim).replace("WHERE", where)
    exposed = EXPOSED if "fixed" in hidden else ""
    return Plan.parse(HEAD.replace('epsilon = "9"', 'mu = "9"') + hidden + text + exposed, Path("pairs.toml"))


@pytest.mark.parametrize("aim", ["", AIM], ids=["even", "targets"])
@pytest.mark.parametrize("where", ["", 'where = { size = "10-49" }'], ids=["all", "some"])
@pytest.mark.parametrize("hidden", [*ONE_OR_MORE])
def test_of_a_family_of_tables_the_records_that_are_exchanged_lose_all_that_is_claimed(hidden, where, aim):
    plan = tables(ONE_OR_MORE[hidden], aim, where)
    (measure,), (pair,) = plan.measures, worst_pairs(plan)
    cells = [Tabulation(plan, data, SeededDraws(1)).cells(measure) for data in pair]
    one, other = (measure.with_.clean(side) for side in cells)
    laws = measure.with_.laws(measure.with_.perturb(cells[0], SeededDraws(1)))
    lost = sum(float(np.square(one - other)[at].sum() / law.sigma_squared) for at, law in laws)
    assert lost == pytest.approx(1, rel=1e-9), "the square of mu, of the normal that is rounded"
    assert any(words in pair.words for words in ("exchanged for", "leaves what is counted", "leave what is counted"))


def test_with_an_id_what_is_fixed_lowers_no_price_and_the_pair_that_keeps_it_loses_less():
    """A firm's rows of 5 stay in their place: in a table of places they may only fall to one of 2, from 15 to 2."""
    hidden, mechanism = ONE_OR_MORE["three of a firm"], '"even-gaussian", mu = "1"'
    free, kept = (
        either(2, 5, one, mechanism, '{ up_to = 1, of = ["place"] }')
        for one in (hidden, hidden + 'fixed = ["place"]\n')
    )
    designs = [plan.measures[0].with_.design(plan.move(plan.measures[0])) for plan in (free, kept)]
    assert designs[0].variances == designs[1].variances
    assert _squares(free) == pytest.approx([1], rel=1e-9)
    assert max(_squares(kept)) < 0.99


def test_every_pair_is_named_by_what_differs():
    both = either(-40, 30, ONE_OR_MORE["a job"], '"rounded-gaussian", mu = "1"')
    assert [pair.words for pair in worst_pairs(both)] == [
        "the record of a job is exchanged for one elsewhere", "a job has another value in its cell",
    ]  # fmt: skip
    apart = plan_of(ADD, count("north", '{ place = "north" }'), count("south", '{ place = "south" }'))
    assert [pair.words for pair in worst_pairs(apart)] == [f"a firm comes ({name})" for name in ("north", "south")]
    firm = tables(ONE_OR_MORE["three of a firm"], "", 'where = { size = "10-49" }')
    assert worst_pairs(firm)[0].words.startswith("the records of a firm")
    audits = audit_plan(both, samples=1_000, draws=SeededDraws(5))
    assert {one.to_dict()["pair"] for one in audits} == {pair.words for pair in worst_pairs(both)}
    assert all(one.pair in one.words() and one.row()[1] == one.pair for one in audits)


def test_an_audit_of_values_of_either_sign_shows_nearly_all_of_the_claim():
    plan = either(-40, 40, ONE_OR_MORE["a job"], '"rounded-gaussian", mu = "1"')
    audits = [one for one in audit_plan(plan, samples=100_000, draws=SeededDraws(5)) if one.measure == "gain"]
    assert all(one.holds for one in audits)
    assert max(one.bound for one in audits) > 0.85

"""The noisiest cell of every table, where branches of hierarchies have different numbers of children.

Expected numbers go through every cell by matrices, or are the optimum of a solver that shares no code with ours.
"""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.mechanisms.test_margin_aims import _contrasts, _noisiest, _one_axis, nested
from tests.mechanisms.test_margin_aims import family as flat_family

from sfumato.mechanisms import noisiest_cells
from sfumato.mechanisms.even_gaussian import EvenGaussian
from sfumato.mechanisms.margin_aims import unit_design
from sfumato.mechanisms.margin_design import MarginDesign
from sfumato.mechanisms.margin_targets import read_aim
from sfumato.mechanisms.noisiest_cells import CellKinds, CellNoise, below
from sfumato.plan import Measure, Plan
from sfumato.plan.tables_ahead import tables_ahead
from sfumato.privacy import AddRemove, Bounded, EveryTable, Gaussian
from sfumato.release.noisy import Noisy
from sfumato.schema import Attribute, Grid, Levels, Schema, UpTo
from sfumato.statistics import Count


def deep(*tops):
    """A tree of three levels: of each first part the children of each of its parts."""
    codes = [{"code": f"{top}"} for top in range(len(tops))]
    codes += [{"code": f"{top}.{at}", "parent": f"{top}"} for top, some in enumerate(tops) for at in range(len(some))]
    codes += [
        {"code": f"{top}.{at}.{leaf}", "parent": f"{top}.{at}"}
        for top, some in enumerate(tops)
        for at, many in enumerate(some)
        for leaf in range(many)
    ]
    return Levels.of(codes)


def of_levels(*levels, up_to=2):
    schema = Schema(tuple(Attribute(name, one) for name, one in zip("abc", levels, strict=False)))
    return UpTo(up_to, schema.names).family(schema)


UNEVEN = {
    "two levels": (nested(2, 5), Levels.of("xyz")),
    "two trees": (nested(1, 3, 8), nested(2, 5)),
    "beside two": (nested(1, 3, 8), Levels.of("no")),
    "three levels": (deep((1, 2, 9), (3,), (2, 2, 2, 2, 6)), Levels.of("no"), nested(2, 5)),
    "either end": (deep((9,), (1, 1, 1, 1, 1)), Levels.of("xyz")),
}
AIM = {"1": "2", "2": "4", "a@0": "1"}


@pytest.mark.parametrize("seed", range(12))
def test_whatever_the_variances_no_cell_is_noisier_and_one_is_as_noisy(seed):
    """Random trees of two and three levels, a random variance for each component; every cell by matrices."""
    rng = np.random.default_rng(seed)
    some = [deep(*(rng.integers(1, 7, rng.integers(1, 5)).tolist() for _ in range(3))), nested(*rng.integers(1, 9, 4))]
    of = of_levels(*some)
    variances = tuple(Fraction(int(one), 10) for one in (10 ** rng.uniform(0, 4, len(of.components))).round())
    found = MarginDesign(of, variances)
    for table, stated in found.cell_variances.items():
        assert _noisiest(found, table) == pytest.approx(float(stated), rel=1e-12)


@pytest.mark.parametrize("given", [{}, {"aim": AIM}, {"aim": {"0": "1", "1": "2", "2": "9"}}])
@pytest.mark.parametrize("paid", [{"mu": "1/4"}, {"mu": "1"}, {"mu": "3"}, {"rho": "2"}])
@pytest.mark.parametrize("levels", UNEVEN.values(), ids=UNEVEN)
def test_what_is_told_beforehand_is_the_largest_error_that_a_release_states_of_any_cell(levels, paid, given):
    """Over all cells of all tables, all rounding included; discrete laws lack 1e-8 of a variance of 1."""
    of, mechanism = of_levels(*levels), EvenGaussian(**paid, **given)
    move = EveryTable(Bounded(1, 1, 1, 1), of)
    told = mechanism.cell_variances(move)
    assert told == pytest.approx(stated_by_a_release(mechanism, move), rel=1e-7)
    assert not mechanism.bounds(move)


def stated_by_a_release(mechanism, move):
    of = move.family
    noisy = Noisy(of, np.zeros(1, dtype=np.int64), Fraction(1, mechanism.grain(move)), move)
    errors = mechanism.uncertainty(noisy).in_steps(float(noisy.step)).over(of, np.zeros(of.size, dtype=np.int64))
    found = {}
    for table in of.components:
        parts = zip(of.names, of.trees, table, strict=True)
        above = [(name, tree.rungs[level].parts.of) for name, tree, level in parts if level]
        axes = tuple((name, np.arange(at.max() + 1)[:, None] == at) for name, at in above)
        found[table] = float(np.max(errors.with_whole(Grid(axes), tuple(name for name, _ in axes))))
    return found


@pytest.mark.parametrize("levels", UNEVEN.values(), ids=UNEVEN)
def test_targets_cost_what_a_general_solver_finds_over_every_cell_and_every_record(levels):
    of = of_levels(*levels)
    unit = unit_design(of, None, read_aim(AIM))
    wanted = {table: float(target) for table, (_, target) in read_aim(AIM).of(of).items()}
    assert float(unit.cost) == pytest.approx(least_cost(unit, wanted), rel=1e-4)
    assert all(_noisiest(unit, table) <= target**2 * (1 + 1e-9) for table, target in wanted.items())


def test_where_two_records_may_cost_most_neither_is_priced_for_both():
    """A leaf among twelve below one of two, and one of two below one of twelve: the most of each level, which no record
    costs, would take 1.9% more.
    """
    of = of_levels(deep((2, 12), (2,) * 12), Levels.of("xyz"))
    aim = read_aim({"0": "5", "1": "2", "2": "3", "a@0": "5", "a@1": "4"})
    unit, wanted = unit_design(of, None, aim), {table: float(target) for table, (_, target) in aim.of(of).items()}
    assert float(unit.cost) == pytest.approx(least_cost(unit, wanted), rel=1e-4)


def least_cost(design, wanted):
    """The least largest cost of a record at which no cell is noisier than wanted, over the logarithms of variances.

    Costs and variances of cells are sums of exponentials of these with positive weights, so the program is convex.
    """
    costs = np.unique(np.round(_cost_rows(design), 12), axis=0)
    cells = np.vstack([_cell_rows(design, table) / target**2 for table, target in wanted.items()])
    count = costs.shape[1]
    start = np.full(count + 1, -np.log(cells.sum(axis=1).max()))
    start[-1] = np.log((costs @ np.exp(-start[:-1])).max())

    def room(at):
        return np.concatenate([at[-1] - np.log(costs @ np.exp(-at[:-1])), -np.log(cells @ np.exp(at[:-1]))])

    def slopes(at):
        down, up = costs * np.exp(-at[:-1]), cells * np.exp(at[:-1])
        first = np.hstack([down / down.sum(axis=1, keepdims=True), np.ones((len(down), 1))])
        return np.vstack([first, np.hstack([-up / up.sum(axis=1, keepdims=True), np.zeros((len(up), 1))])])

    found = minimize(
        lambda at: at[-1],
        start,
        jac=lambda _: np.eye(count + 1)[-1],
        constraints={"type": "ineq", "fun": room, "jac": slopes},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    return math.exp(found.x[-1])


def _cost_rows(design):
    """What every record costs by each component of variance 1."""
    trees, listed = design.family.trees, design.family.components
    leaves = product(*(range(tree.rungs[-1].size) for tree in trees))
    return [
        [math.prod(_moved(design, *one) for one in zip(trees, told, leaf, strict=True)) for told in listed]
        for leaf in leaves
    ]


def _moved(design, tree, level, leaf):
    rung = tree.rungs[level]
    moved = _contrasts(rung)[:, rung.parts.of[leaf]]
    return sum(moved**2 / np.array([design.wide(int(m)) for m in rung.siblings])) if level else 1.0


def _cell_rows(design, table):
    """What every cell of a table has of each component of variance 1."""
    family = design.family
    rows = np.zeros((math.prod(family.shape(table)), len(family.components)))
    for low in below(table):
        part = np.ones((1, 1))
        for tree, level, fine in zip(family.trees, low, table, strict=True):
            part = np.kron(part, _one_axis(design, tree, level, fine))
        rows[:, family.components.index(low)] = np.diag(part)
    return np.unique(np.round(rows, 12), axis=0)


def plan_of(levels, aim, mu="1"):
    schema = Schema(tuple(Attribute(name, one) for name, one in zip("abc", levels, strict=False)), unit="job")
    measure = Measure("tables", Count(), UpTo(2, schema.names), EvenGaussian(mu, aim=aim))
    return Plan("p", schema, AddRemove("job"), Gaussian(9), (measure,))


@pytest.mark.parametrize("levels", UNEVEN.values(), ids=UNEVEN)
def test_the_least_mu_for_targets_is_that_of_the_solver_and_less_does_not_meet_them(levels):
    """At a hundred times the targets, beside which roundings are nothing: mu² = the least cost / 10,000."""
    wide = {name: str(100 * int(one)) for name, one in AIM.items()}
    plan = plan_of(levels, wide)
    unit = unit_design(of_levels(*levels), None, read_aim(AIM))
    wanted = {table: float(target) for table, (_, target) in read_aim(AIM).of(unit.family).items()}
    least = plan.budget({"tables": "aim"}).shares[0].after
    assert float(least) == pytest.approx(math.sqrt(least_cost(unit, wanted)) / 100, rel=0.01)  # to 4 places
    for mu, met in ((least, True), (least * 97 / 100, False)):
        priced = plan_of(levels, wide, mu)
        assert tables_ahead(priced, priced.measures[0]).met is met


def test_where_kinds_are_too_many_what_is_told_is_a_bound_and_said_to_be_one(monkeypatch):
    levels = UNEVEN["three levels"]
    plan = plan_of(levels, AIM)
    exact = tables_ahead(plan, plan.measures[0])
    monkeypatch.setattr(noisiest_cells, "MOST_TERMS", 30)
    rough = plan_of(levels, AIM)
    found = tables_ahead(rough, rough.measures[0])
    assert found.bounds
    assert not exact.bounds
    assert all(found.by_ways[ways] >= exact.by_ways[ways] for ways in exact.by_ways)
    assert "(a bound: there are too many kinds of cells to find the noisiest)." in found.words()[0]
    assert "bound" not in " ".join(exact.words())
    assert found.to_dict()["bounds"] is True


def test_a_bound_is_above_every_cell_in_fractions_too(monkeypatch):
    of = of_levels(*UNEVEN["three levels"], up_to=3)
    rng = np.random.default_rng(4)
    variances = dict(zip(of.components, map(Fraction, rng.integers(1, 99, len(of.components)).tolist()), strict=True))
    exact = CellKinds(of, even=True).noisiest(variances)
    monkeypatch.setattr(noisiest_cells, "MOST_TERMS", 30)
    rough = CellKinds(of, even=True).noisiest(variances)
    assert all(rough[table] >= exact[table] for table in exact)
    assert any(rough[table] > exact[table] for table in exact)


def test_many_kinds_in_a_universe_of_a_billion_cells_are_few_at_the_ends():
    """45 first parts of 2 to 46 children each: 45 kinds of leaves, two of which lie between no others."""
    of = of_levels(*(nested(*range(2, 47)) for _ in range(3)), up_to=3)
    assert math.prod(tree.rungs[-1].size for tree in of.trees) > 10**9
    cells = CellKinds(of, even=True)
    assert [len(kinds) for kinds in cells.told((2, 2, 2))] == [2, 2, 2]
    found = CellNoise(cells, {one: 1.0 + sum(one) for one in of.components}).largest((2, 2, 2))
    assert found.kinds is not None


def test_binary_attributes_round_one_end_less():
    """Of two parts the first has one end and the last two, the end of all among them, which is not rounded."""
    of = flat_family((2, 2, 3), 2)
    noise = CellNoise(CellKinds(of, even=True), dict.fromkeys(of.components, 5.0), rounding=1 / 12)
    found = {
        table: noise.largest(table).variance - 5 for table in [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 0, 1), (1, 0, 1)]
    }
    assert [12 * one for one in found.values()] == pytest.approx([0, 1, 3, 2, 4])

"""What it costs to put records for others, against every pair of neighbours that there can be.

Moves are written out as vectors over all contrasts, one record at a time, by code of their own; prices are compared to
the largest distance of two of them. Designs are compared to what a general solver finds with all pairs listed.
"""

import math
import warnings
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.margins.families import family, flat, leaf_tuples, random_family
from tests.mechanisms.test_margin_aims import nested

from sfumato.mechanisms import EvenGaussian, exchanges
from sfumato.mechanisms.exchanges import Partings, exchange_cost
from sfumato.mechanisms.margin_aims import furthest, square_of, unit_design, unit_design_of
from sfumato.mechanisms.margin_design import MarginDesign
from sfumato.mechanisms.margin_targets import read_aim
from sfumato.plan import Measure
from sfumato.plan.coverage import Coverage
from sfumato.privacy import Bounded, EveryTable, ReplaceOne
from sfumato.schema import Attribute, Levels, Schema, UpTo
from sfumato.statistics import Count, Total

ONE = frozenset()
EXCHANGED = Bounded(2, 2, 2, 1)


def contrasts_of(one, level_of, even):
    """For each leaf of an attribute its contrasts at each level, over the root of what their variance is times."""
    found = []
    for leaf in range(len(level_of[-1])):
        rows = [np.ones(1)]
        for above, here in pairwise(level_of):
            row = np.zeros(max(here) + 1)
            family_of = sorted({child for child, parent in zip(here, above, strict=True) if parent == above[leaf]})
            row[family_of] = -1
            row[here[leaf]] += len(family_of)
            rows.append(row / math.sqrt(len(family_of) * (len(family_of) + even)))
        found.append(rows)
    return found


def moves_of(design):
    """What each record moves, all contrasts in a row, each over the standard deviation of its noise."""
    family_ = design.family
    axes = [contrasts_of(a, [p.of.tolist() for p in t.parts], design.even) for a, t in zip(family_.attributes, family_.trees, strict=True)]  # fmt: skip  # noqa: E501
    for record in leaf_tuples(family_):
        row = []
        for levels, variance in zip(family_.components, design.variances, strict=True):
            moved = np.ones(1) / math.sqrt(variance)
            for axis, leaf, level in zip(axes, record, levels, strict=True):
                moved = np.kron(moved, axis[leaf][level])
            row.append(moved)
        yield record, np.concatenate(row)


def brute_force(design, kept, left, come):
    """The square of each distance of two records that share what is kept; those that do not are at none."""
    records, moved = zip(*moves_of(design), strict=True)
    products = np.array(moved) @ np.array(moved).T
    own = np.diag(products)
    squares = left**2 * own[:, None] + come**2 * own[None, :] - 2 * left * come * products
    for axis, name in enumerate(design.family.names):
        if name in kept:
            leaves = np.array(records)[:, axis]
            squares[leaves[:, None] != leaves[None, :]] = 0
    return list(records), squares


def drawn_design(seed):
    """A family with trees of unequal parts, with any variances, even or not, and some attributes that are kept."""
    rng = np.random.default_rng(seed)
    one = random_family(seed)
    variances = tuple(Fraction(int(number), 16) for number in rng.integers(1, 64, len(one.components)))
    kept = frozenset(name for name in one.names if rng.integers(4) == 0)
    return MarginDesign(one, variances, bool(rng.integers(2))), kept, [(1, 1), (3, 1), (1, 3), (5, 2)][rng.integers(4)]


SMALL = [seed for seed in range(70) if len(list(leaf_tuples(random_family(seed)))) <= 60]


@pytest.mark.parametrize("seed", SMALL)
def test_an_exchange_costs_what_the_furthest_of_all_pairs_do_and_they_are_named(seed):
    design, kept, (left, come) = drawn_design(seed)
    records, squares = brute_force(design, kept, left, come)
    claimed = float(exchange_cost(design, kept, left, come))
    assert squares.max() <= claimed * (1 + 1e-12) + 1e-12, "never less"
    assert claimed <= squares.max() * (1 + 1e-9) + 1e-9, "and no more"
    one, other = Partings(design, kept).dearest(left, come, design.variances).records
    assert squares[records.index(one), records.index(other)] == pytest.approx(squares.max(), rel=1e-9)


def test_brute_force_finds_a_price_that_leaves_some_pairs_out(monkeypatch):
    """Without leaves that part below the first level, or with each attribute parted alone, some price is too low."""
    whole = exchanges.other_leaf
    for cut in (lambda tree: tuple(p for p in whole(tree) if p.shared), lambda tree: whole(tree)[:1]):
        monkeypatch.setattr(exchanges, "other_leaf", cut)
        too_low = 0
        for seed in SMALL[:16]:
            design, kept, (left, come) = drawn_design(seed)
            too_low += brute_force(design, kept, left, come)[1].max() > 1.001 * exchange_cost(design, kept, left, come)
        assert too_low > 1


@pytest.mark.parametrize("seed", SMALL[:12])
def test_where_pairs_are_too_many_none_costs_more_than_the_bound(seed, monkeypatch):
    monkeypatch.setattr(exchanges, "MOST_PAIRS", 0)
    design, kept, (left, come) = drawn_design(seed)
    found = Partings(design, kept).dearest(left, come, design.variances)
    assert found.records is None
    most = brute_force(design, kept, left, come)[1].max()
    assert most <= float(found.cost(design.variances)) * (1 + 1e-12) <= (left + come) ** 2 * design.cost * 2


def test_attributes_alike_are_tried_in_one_order():
    """Thirty of two levels: by how many of them records part, 31 ways and not 2^30."""
    design = MarginDesign.flat(family(flat(*[2] * 30), 2))
    search = Partings(design, ONE)
    assert search.dearest(1, 1, design.variances).records is not None

    def parted(many):
        """e_0 + e_1 + e_2 of 1/3 where they share it and −1/3 where they part."""
        sums = (30 - 2 * many) / 3
        return 1 + sums + (sums**2 - 30 / 9) / 2

    expected = 2 * (parted(0) - min(parted(many) for many in range(31)))
    assert float(exchange_cost(design, ONE)) == pytest.approx(expected, rel=1e-9)


AGES, SEX, WORK = (Attribute(name, Levels.of(codes)) for name, codes in (("age", "yo"), ("sex", "mf"), ("work", "no")))
PARTS = Attribute("part", nested(1, 2))
RELATIONS = {
    "a record": (ReplaceOne("job"), {}),
    "one that keeps its sex": (ReplaceOne("job", fixed=("sex",)), {}),
    "one that may stop to work": (ReplaceOne("job"), {"work": ("o",)}),
    "one that works, which is public": (ReplaceOne("job", fixed=("work",)), {"work": ("o",)}),
    "a firm with one": (ReplaceOne("firm", "id"), {}),
    "a firm with two": (ReplaceOne("firm", "id", 2), {}),
    "a firm with two that may stop": (ReplaceOne("firm", "id", 2), {"work": ("o",)}),
}
OF = {
    "count": Count(),
    **{f"{low} to {high}": Total("pay", clip=(low, high)) for low, high in ((0, 3), (1, 3), (-1, 3), (-2, -1))},
}


def furthest_neighbours(hidden, where, of, design):
    """The largest square over all rows that a unit may have on either side; what is fixed it keeps."""
    moved = dict(moves_of(design))
    names = design.family.names
    bounds = of.contribution.bounds
    rows = [
        (record, works, (value * moved[record]) if works == "o" or not where else 0 * moved[record])
        for record, works, value in product(moved, "no", {*bounds})
    ]
    sides = [
        unit for many in range(1, hidden.at_most + 1) for unit in combinations_with_replacement(range(len(rows)), many)
    ]
    totals = np.array([sum(rows[at][2] for at in unit) for unit in sides])
    own = np.square(totals).sum(axis=1)
    squares = own[:, None] + own[None, :] - 2 * totals @ totals.T
    if hidden.fixed:
        kept = [tuple([rows[at][0][names.index(n)] if n in names else rows[at][1] for n in hidden.fixed] for at in unit) for unit in sides]  # fmt: skip  # noqa: E501
        squares[np.array([[one != other for other in kept] for one in kept])] = 0
    return squares.max()


@pytest.mark.parametrize("of", [*OF])
@pytest.mark.parametrize("hidden", [*RELATIONS])
def test_a_unit_costs_what_its_furthest_rows_do_in_any_two_neighbours(hidden, of):
    relation, where = RELATIONS[hidden]
    schema = Schema((PARTS, SEX, WORK))
    measure = Measure("tables", OF[of], UpTo(2, ("part", "sex")), EvenGaussian(1), where=where)
    move = Coverage(relation, schema).move(measure)
    variances = tuple(Fraction(1 + at % 3, 2) for at in range(len(move.family.components)))
    design = MarginDesign(move.family, variances)
    true = furthest_neighbours(relation, where, OF[of], design)
    assert float(square_of(design, move)) == pytest.approx(true, rel=1e-9)
    far = furthest(design, move)
    assert far.left or far.come
    untold = float(square_of(design, replace(move, ends=())))
    assert untold >= true * (1 - 1e-9), "where ends are not told, none of them is left out"


def all_pairs(design, move):
    """What every pair of records costs by each component of variance 1, by all that rows may add on either side."""
    ends = [(float(left), float(come)) for left, come in move.apart]
    rows = set()
    many = range(len(design.variances))
    alone = [replace(design, variances=tuple(Fraction(1 if at == one else 10**12) for at in many)) for one in many]
    for left, come in ends:
        columns = [brute_force(one, move.kept, left, come)[1].ravel().round(9) for one in alone]
        rows |= set(zip(*columns, strict=True))
    return np.array(sorted(rows))


def solved(costs, parts):
    """The least largest cost by a general solver, in logarithms: z at which Σ p / s ≤ exp z and Σ B s ≤ 1."""
    size = costs.shape[1]
    below = {"type": "ineq", "fun": lambda x: x[-1] - np.log(costs @ np.exp(-x[:-1]))}
    within = {"type": "ineq", "fun": lambda x: -np.log(parts @ np.exp(x[:-1]))}
    start = np.append(np.full(size, -np.log(2 * parts.sum(axis=1).max())), 5.0)
    found = minimize(lambda x: x[-1], start, constraints=[below, within], options={"maxiter": 2_000, "ftol": 1e-12})
    assert found.success
    return math.exp(found.x[-1])


TARGETS = {"0": 2, "1": 1, "2": 3}


@pytest.mark.parametrize("ends", [((1, 1), (1, 0)), ((3, 3), (3, 1)), ((1, 1),)], ids=str)
def test_targets_are_met_at_the_least_that_the_dearest_exchange_can_cost(ends):
    """A solver that lists all pairs finds no less, but for the 1/256 that components have which no exchange moves."""
    of = family(flat(2, 3, 2), 2)
    move, aim = EveryTable(EXCHANGED, of, frozenset({"v2"}), ends), read_aim(TARGETS)
    unit = unit_design_of(move, None, aim)
    assert all(math.sqrt(v) <= TARGETS[str(sum(one))] * (1 + 1e-9) for one, v in unit.cell_variances.items())
    costs = all_pairs(replace(unit, variances=(Fraction(1),) * len(unit.variances)), move)
    costs = costs[costs.sum(axis=1) > 0]
    parts = np.zeros((len(of.components), len(of.components)))
    for row, table in enumerate(of.components):
        for column, low in enumerate(of.components):
            told = [(2, 3, 2)[axis] for axis in range(3) if low[axis]]
            spread = [(2, 3, 2)[axis] for axis in range(3) if table[axis] and not low[axis]]
            if all(one <= other for one, other in zip(low, table, strict=True)):
                parts[row, column] = math.prod(1 - 1 / n for n in told) / math.prod(spread) ** 2
        parts[row] /= TARGETS[str(sum(table))] ** 2
    still = costs.max(axis=0) == 0
    least = solved(costs[:, ~still], parts[:, ~still][parts[:, ~still].sum(axis=1) > 0])
    slack = 1 / 256 if still.any() else 2e-6
    assert least * (1 - 2e-6) <= float(square_of(unit, move)) <= least * (1 + slack) * (1 + 2e-6)


@pytest.mark.parametrize("aim", ["cells", {"1": "3", "2": "5"}, {"1": "3", "2": "5", "v0,v1": "1"}], ids=str)
@pytest.mark.parametrize("kept", [ONE, frozenset({"v0"})], ids=["none", "one kept"])
def test_no_design_that_is_made_for_records_that_come_does_better(aim, kept):
    of = family(flat(5, 4, 3, 3, 2, 2, 2), 2)
    move = EveryTable(EXCHANGED, of, kept, ((1, 1),))
    own, coming = unit_design_of(move, None, read_aim(aim)), unit_design(of, None, read_aim(aim))

    def lost(design):
        """The cost at which targets are met, or at which the sum over all cells is 1."""
        cells = sum(math.prod(of.shape(one)) * float(v) for one, v in design.cell_variances.items())
        return float(square_of(design, move)) * (cells if aim == "cells" else 1)

    assert lost(own) < 0.99 * lost(coming)
    rng = np.random.default_rng(2)
    for _ in range(8):
        other = replace(own, variances=tuple(v * Fraction(int(rng.integers(90, 111)), 100) for v in own.variances))
        wanted = {} if aim == "cells" else {one: float(t) ** 2 for one, (_, t) in read_aim(aim).of(of).items()}
        worst = max((float(other.cell_variances[one]) / t for one, t in wanted.items()), default=1.0)
        assert lost(other) * worst > lost(own)


def test_what_no_exchange_moves_is_next_to_public_and_the_rest_keeps_its_claim():
    """How many there are of each sex, which all keep: cells in whole numbers, with hardly any noise."""
    of = UpTo(2, ("part", "sex", "work")).family(Schema((PARTS, SEX, WORK)))
    move = EveryTable(EXCHANGED, of, frozenset({"sex"}), ((1, 1),))
    mechanism = EvenGaussian("0.4", aim={"0": "2", "1": "2", "2": "3"})
    design, variances = mechanism.design(move), mechanism.cell_variances(move)
    assert float(design.cell_variances[0, 1, 0]) * 200 < float(design.cell_variances[1, 0, 0])
    assert mechanism.grain(move) == 1
    assert variances[0, 1, 0] < 0.6
    assert variances[1, 0, 0] > 10
    assert square_of(design, move) <= Fraction("0.16")


@pytest.mark.parametrize("levels", [nested(3, 2), nested(2, 0, 1)], ids=["whole", "ragged"])
def test_where_all_is_kept_an_aim_is_met_as_if_what_values_differ_by_came_or_went(levels):
    """From 5 to 2 in its cell a record moves all that one of 3 does, which (3, 0) is the same as."""
    of = UpTo(1, ("part",)).family(Schema((Attribute("part", levels),)))
    move, aim = EveryTable(EXCHANGED, of, frozenset({"part"}), ((5, 5), (5, 2))), read_aim({"0": "5", "1": "2"})
    own, coming = unit_design_of(move, None, aim), unit_design(of, None, aim)
    assert float(square_of(own, move)) == pytest.approx(9 * float(coming.cost), rel=1e-5)
    assert brute_force(own, {"part"}, 5, 2)[1].max() == pytest.approx(float(square_of(own, move)), rel=1e-9)


@pytest.mark.parametrize("parts", [(0, 2, 1), (1, 1), (1, 0)], ids=str)
def test_what_is_kept_may_end_early_and_have_only_children(parts):
    """Cells there have nothing of the components below, which is no reason to divide by it."""
    schema = Schema((Attribute("part", nested(*parts)), WORK))
    move = EveryTable(EXCHANGED, UpTo(2, ("part", "work")).family(schema), frozenset({"part"}), ((1, 1),))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unit = unit_design_of(move, None, read_aim({"0": "3", "1": "5", "2": "5"}))
    wanted = {0: 9, 1: 25, 2: 25}
    assert all(v <= wanted[sum(map(bool, one))] * (1 + 1e-9) for one, v in unit.cell_variances.items())

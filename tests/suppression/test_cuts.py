"""Bounds and cuts of tables by three classifications, beside the whole problem as one program."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from sfumato.confidential.suppress import Best, Contributions, Needs, PrimaryRules, Prior, needs, protect
from sfumato.confidential.suppress.best import _Looking
from sfumato.confidential.suppress.bound import Relaxation
from sfumato.confidential.suppress.cuts import Cutter
from sfumato.confidential.suppress.exchanges import Exchanges
from sfumato.confidential.suppress.mending import Mending
from sfumato.confidential.suppress.nearby import Nearby
from sfumato.confidential.suppress.protection import Protection
from sfumato.suppression import LinkedTables, Nesting, Published, Required, decide

RULES = PrimaryRules(3, dominance=((1, Fraction(85, 100)),))
ROOM = 1e4
"""How many times its need a cell may move in the whole problem; the search knows no such limit."""


def protection(seed, shape="333", size=60):
    """Firms of skewed sizes in three classifications."""
    rng = np.random.default_rng(seed)
    names = [(name, "abcdef"[: int(count)]) for name, count in zip(("trade", "place", "size"), shape, strict=True)]
    linked = LinkedTables.of([[Nesting.under(name, dict.fromkeys(codes, "")) for name, codes in names]])
    codes = {name: rng.choice(list(codes), size).tolist() for name, codes in names}
    cells = Contributions.of(linked, codes, np.rint(np.exp(rng.normal(4, 1.5, size))) + 1)
    none = np.zeros(linked.size, dtype=bool)
    asked = needs(linked, cells, RULES)
    return Protection(
        linked, cells, RULES, asked, Prior.of(cells.totals), "value", False, forced=none, before=none, also=none
    )


def whole_problem(asked):
    """The least cost of a safe pattern by one program: a change of the table of its own for each side."""
    task, size = asked.task, asked.task.linked.size
    entries, sides = task.linked.equations, task.sides()
    sums = sparse.csr_matrix((entries.signs, (entries.rows, entries.cells)), shape=(entries.count, size))
    one, width = sparse.identity(size), size * (1 + len(sides))
    rules, low, high = [], np.full(width, -np.inf), np.full(width, np.inf)
    low[:size], high[:size] = np.where(asked.missing, 1, 0), 1
    for number, side in enumerate(sides, 1):
        place = [sparse.csr_matrix((size, size)) for _ in range(1 + len(sides))]
        empty = [sparse.csr_matrix((entries.count, size)) for _ in range(1 + len(sides))]
        down, up = (np.minimum(room / side.need, ROOM) for room in (task.down, task.up))
        rules.append(LinearConstraint(sparse.hstack([*empty[:number], sums, *empty[number + 1 :]]), 0, 0))
        for room, sign in ((up, 1), (down, -1)):
            rules.append(
                LinearConstraint(
                    sparse.hstack([sparse.diags(room), *place[1:number], -sign * one, *place[number + 1 :]]), 0, np.inf
                )
            )
        cell = number * size + side.members[0]
        low[cell] = high[cell] = side.sign
    cost = np.concatenate([np.where(asked.missing, 0, task.cost), np.zeros(width - size)])
    integral = np.concatenate([np.ones(size), np.zeros(width - size)])
    return milp(cost, constraints=rules, bounds=Bounds(low, high), integrality=integral)


@pytest.mark.parametrize("seed", range(4))
def test_bounds_and_the_best_pattern_of_three_classifications_are_those_of_the_whole_problem(seed):
    asked = protection(seed, "322", 40)
    solved = whole_problem(asked)
    assert solved.success
    exact, quick = (
        protect(asked.linked, asked.cells, RULES, best=best, contributors=False)
        for best in (Best(exact=True), Best(rounds=20))
    )
    assert solved.fun > 0
    assert exact.cost == pytest.approx(solved.fun, rel=1e-4)
    assert quick.bound <= solved.fun * (1 + 1e-4)


def test_the_bounds_of_parts_are_no_more_than_the_best_pattern_costs_and_more_than_the_linear_relaxation():
    """The best pattern is that of the whole problem as one program."""
    gains = []
    for seed in (2, 3):
        asked = protection(seed, "322", 40)
        first = _Looking(asked.task, asked.missing, asked.unions, lambda *_: None).found(None)
        inside = first.search.suppressed.astype(np.float64)
        relaxation = Relaxation(asked.task, asked.missing, first.every, inside, parted=True)
        *_, (linear, _) = relaxation.sharpened()
        bound, chosen = relaxation.in_whole(100)
        assert np.all((chosen == 0) | (chosen == 1))
        assert linear * (1 - 1e-6) <= bound <= whole_problem(asked).fun * (1 + 1e-4)
        gains.append(bound / linear - 1)
    assert max(gains) > 0.01


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_rounds_of_cuts_in_parts_and_in_whole_cells_never_pass_the_best_pattern(seed):
    """The best pattern is that of the whole problem as one program; a pattern bettered nearby costs no less."""
    asked = protection(seed, "322", 40)
    looking = _Looking(asked.task, asked.missing, asked.unions, lambda *_: None)
    inside = np.ones(asked.task.linked.size)
    relaxation = Relaxation(asked.task, asked.missing, looking.found(None).every, inside, rounds=10, parted=True)
    bounds = [bound for bound, _ in relaxation.sharpened(whole=True, nodes=100)]
    best = whole_problem(asked).fun
    assert max(bounds) <= best * (1 + 1e-4)
    near = Nearby(relaxation, inside > 0, looking.fewer).improved()
    assert asked.task.cost[near & ~asked.missing].sum() >= best * (1 - 1e-4)
    assert relaxation.in_whole(100)[0] <= best * (1 + 1e-4)


def test_cuts_of_each_part_by_itself_raise_the_bound_and_never_pass_the_best_pattern():
    """They begin with the cuts of single equations; the best pattern is that of the whole problem as one program."""
    gains = []
    for seed in (2, 3, 4):
        asked = protection(seed, "322", 40)
        every = _Looking(asked.task, asked.missing, asked.unions, lambda *_: None).found(None).every
        inside = np.ones(asked.task.linked.size)
        relaxation = Relaxation(asked.task, asked.missing, every, inside, rounds=60, parted=True)
        before = relaxation.in_whole(100)[0]
        relaxation.deepen()
        gains.append(relaxation.in_whole(100)[0] / before - 1)
        assert relaxation.in_whole(100)[0] <= whole_problem(asked).fun * (1 + 1e-4)
    assert max(gains) > 0.01


@pytest.mark.parametrize("seed", range(3))
def test_a_choice_is_mended_into_a_pattern_that_the_audit_passes(seed):
    """Each cut is one that the choice failed when it was found; a safe pattern has none, and stays as it is."""
    asked = protection(5, "532", 70)
    task, rng = asked.task, np.random.default_rng(seed)
    required = Required(task.totals, task.upper, task.lower)
    chosen = np.where(asked.missing | (rng.random(task.linked.size) < 0.1), 1.0, 0.0)
    assert decide(Published.of(task.linked, np.where(chosen > 0, np.nan, task.totals)), required)
    mending, every = Mending(task, asked.missing), [(side, None) for side in task.sides()]
    cuts = list(mending.cuts(chosen, every, lambda: False))
    pattern = mending.pattern()
    assert max(cut.short(chosen) for cut in cuts) > 0.1
    assert max(cut.short(pattern.astype(float)) for cut in cuts) < 1e-5
    assert not decide(Published.of(task.linked, np.where(pattern, np.nan, task.totals)), required)
    assert list(mending.cuts(pattern.astype(float), every, lambda: False)) == []
    assert np.array_equal(mending.pattern(), pattern)


def test_every_cut_holds_of_every_safe_pattern():
    """Patterns that other costs make cheap are safe by the audit, and none of them violates a cut."""
    asked = protection(5, "532", 70)
    task, looking = asked.task, _Looking(asked.task, asked.missing, asked.unions, lambda *_: None)
    first = looking.found(None)
    relaxation = Relaxation(task, asked.missing, first.every, first.search.suppressed.astype(float), limit=200)
    for whole in (False, True):
        list(relaxation.sharpened(whole=whole, nodes=1))
    assert len(relaxation.cuts) > 30
    for seed in range(5):
        costs = np.exp(np.random.default_rng(seed).normal(0, 2, task.linked.size))
        pattern = looking.found(np.where(asked.missing, 0, costs)).search.suppressed
        published = Published.of(task.linked, np.where(pattern, np.nan, task.totals))
        assert not decide(published, Required(task.totals, task.upper, task.lower))
        assert max(cut.short(pattern.astype(float)) for cut in relaxation.cuts) < 1e-6


def test_a_side_that_a_choice_fails_has_a_cut_that_says_so():
    """What the audit refuses of a choice of whole cells, a cut does, and the other way round."""
    asked = protection(5, "632", 90)
    task, cutter, rng = asked.task, Cutter(asked.task, asked.missing), np.random.default_rng(2)
    failed = 0
    for _ in range(6):
        chosen = np.where(asked.missing | (rng.random(task.linked.size) < 0.25), 1.0, 0.0)
        published = Published.of(task.linked, np.where(chosen > 0, np.nan, task.totals))
        cutter.begin(chosen)
        for side in task.sides():
            up, down = (np.zeros(task.linked.size) for _ in range(2))
            (up, down)[side.way][side.members[0]] = side.need
            fails, cut = bool(decide(published, Required(task.totals, up, down))), cutter.cut((side, None))
            assert (cut is not None) == fails
            assert cut is None or cut.short(chosen) > 1e-3
            failed += fails
    assert failed > 20


@pytest.mark.parametrize(("seed", "contributors"), [(25, False), (16, True)])
def test_a_pattern_after_exchanges_is_safe_costs_less_and_is_the_same_every_time(seed, contributors):
    asked = protection(seed, "322", 40)
    before, once, again = (
        protect(asked.linked, asked.cells, RULES, best=Best(exchanges=count), contributors=contributors)
        for count in (0, 200, 200)
    )
    assert once.cost < before.cost
    assert once.statuses == again.statuses
    required = Required(asked.task.totals, asked.task.upper, asked.task.lower)
    values = np.where(once.suppressed, np.nan, asked.cells.totals)[asked.there][asked._first]
    assert not decide(Published.of(asked.task.linked, values), required)


def test_cells_of_a_table_are_exchanged_until_no_single_one_in_the_place_of_another_costs_less():
    """Swaps of two cells that the audit passes and that cost less: there are some before, and none after."""
    asked = protection(25, "322", 40)
    assert [swaps(asked, protect(asked.linked, asked.cells, RULES, best=Best(exchanges=count), contributors=False))
            for count in (0, 200)] == [True, False]  # fmt: skip


def test_a_pattern_that_costs_nothing_is_passed_over_once(monkeypatch):
    """As where another measure has suppressed all of its cells: no pass can save a share of nothing."""
    asked, passes, run = protection(25, "322", 40), [], Exchanges.run
    primary = protect(asked.linked, asked.cells, RULES, contributors=False).suppressed[asked.there][asked._first]
    looking = _Looking(asked.task, primary, lambda *_: [], lambda *_: None)
    monkeypatch.setattr(Exchanges, "run", lambda self, *rest: (passes.append(self), run(self, *rest)))
    pattern = looking.found(None)
    assert looking.cost(looking.exchanged(pattern, 200)) == 0
    assert len(passes) == 1


def swaps(asked, pattern):
    """Whether a published cell that costs less may stand for a missing one."""
    task, small = asked.task, pattern.suppressed[asked.there][asked._first]
    required = Required(task.totals, task.upper, task.lower)
    for one in np.flatnonzero(small & ~asked.missing):
        for other in np.flatnonzero(~small & (task.cost < task.cost[one])):
            swapped = small.copy()
            swapped[[one, other]] = [False, True]
            if not decide(Published.of(task.linked, np.where(swapped, np.nan, task.totals)), required):
                return True
    return False


@pytest.mark.parametrize(("short_by", "expected"), [(7e-6, "a"), (3e-5, "b")])
def test_the_search_takes_for_enough_what_the_audit_does(short_by, expected):
    """Of p 14 must be possible; a, the cheaper, falls short of it by its last digit, or by more, and b does not."""
    linked = LinkedTables.of([[Nesting.under("cell", dict.fromkeys("pabc", ""))]])
    values = {"p": 100.0, "a": 14 * (1 - short_by), "b": 50.0, "c": 900.0}
    totals = np.array([values.get(linked.named(at).get("cell", ""), sum(values.values())) for at in range(linked.size)])
    need = np.where(np.arange(linked.size) == linked.find({"cell": "p"}), 14.0, 0.0)
    cells = Contributions.told(totals, np.full(linked.size, 5), np.full((linked.size, 1), np.nan))
    asked = Needs(need, need, ["given" if one else "" for one in need])
    pattern = protect(linked, cells, PrimaryRules(3), asked=asked)
    (secondary,) = [linked.named(at)["cell"] for at in np.flatnonzero(pattern.where("secondary"))]
    assert secondary == expected
    alone = np.where(need > 0, np.nan, totals)
    assert decide(Published.of(linked, alone), Required(totals, need, need))

"""One contract for every relation that is found; a relation that breaks it in any one way is shown to be rejected."""

import re
from dataclasses import fields, make_dataclass, replace
from fractions import Fraction

import pytest
from contract_neighbours import WEIGHTED, WORLDS, World, complaints, farthest, growths, move_of, numbers

from sfumato import statistics
from sfumato.errors import LedgerError, PlanError, PromiseError
from sfumato.plugins import found
from sfumato.privacy import (
    AddRemove,
    AlongCurve,
    Bounded,
    Gaussian,
    Ledger,
    Neighbours,
    Relative,
    ReplaceOne,
    Root,
    SizeWithin,
    SquareRootWithin,
    UnitRows,
    neighbours,
)
from sfumato.privacy.notation import hidden_from_dict, hidden_to_dict
from sfumato.schema import Attribute, Levels, Table
from sfumato.statistics import Count, Total

FOUND = found(neighbours, by="kind")
ALL = [world for worlds in WORLDS.values() for world in worlds]
each_world = pytest.mark.parametrize("world", ALL, ids=lambda world: str(world.hidden))


def moving_by(world: World, change) -> World:
    """The same world, whose relation claims another move."""
    wrong = type("Wrong", (type(world.hidden),), {"move": lambda self, row, domain: change(super(wrong, self).move(row, domain))})  # fmt: skip  # noqa: E501
    given = {field.name: getattr(world.hidden, field.name) for field in fields(world.hidden)}
    return replace(world, hidden=wrong(**given))


def test_every_relation_that_is_found_has_small_worlds_of_its_own():
    assert set(FOUND) == set(WORLDS), "write down who is a neighbour of whom, in contract_neighbours"
    assert set(FOUND) >= {"add-remove", "replace-one", "square-root-within"}


@each_world
def test_no_neighbours_move_further_than_the_relation_says_and_some_move_as_far(world):
    assert complaints(world) == []


@each_world
def test_a_relation_claims_a_move_for_some_statistic_and_says_which_bounds_are_reached(world):
    moves = [move for one in found(statistics).values() if (move := move_of(world, one))]
    assert moves
    assert all(hasattr(move, name) for move in moves for name in world.hidden.attained)


@pytest.mark.parametrize(
    ("world", "name"),
    [
        *((world, name) for world in WORLDS["add-remove"] for name in ("l1", "l2_squared", "largest")),
        *((world, name) for world in WORLDS["replace-one"][:3] for name in ("l1", "l2_squared", "largest")),
        (WORLDS["add-remove"][1], "cells"),
        (WORLDS["replace-one"][0], "cells"),
    ],
    ids=str,
)
def test_a_relation_whose_move_is_one_step_too_small_is_rejected_by_name(world, name):
    short = moving_by(world, lambda move: replace(move, **{name: getattr(move, name) - 1}))
    said = [line for line in complaints(short) if "some neighbours are" in line]
    assert said
    assert all(line.startswith(f"{world.hidden.kind}, ") and f": {name} is said to be" in line for line in said)


@pytest.mark.parametrize("world", WORLDS["square-root-within"], ids=str)
def test_a_beta_one_percent_too_small_is_rejected_by_name(world):
    short = moving_by(world, lambda move: Root(move.beta * Fraction(99, 100), move.units))
    assert complaints(short)[0].startswith("square-root-within, total: l2_squared is said to be")


def test_a_firm_that_moves_as_one_unit_would_is_rejected_by_name():
    firm = WORLDS["square-root-within"][1]
    assert complaints(moving_by(firm, lambda move: Root(move.beta)))[0].startswith(
        "square-root-within, total: l2_squared is said to be"
    )


def test_the_units_of_a_firm_are_never_as_far_apart_as_their_number_times_beta():
    """Two units are √2 · beta apart, in rows and in totals, and some are; twice beta is more than any."""
    firm = WORLDS["square-root-within"][1]
    assert complaints(moving_by(firm, lambda move: Root(2 * move.beta))) == [
        "square-root-within, total: l2_squared is said to reach 400; no neighbours are more than 200 apart"
    ]


@pytest.mark.parametrize("world", WORLDS["add-remove"] + WORLDS["replace-one"][:3], ids=str)
def test_a_bound_that_nothing_reaches_may_not_be_claimed_as_reached(world):
    wide = moving_by(world, lambda move: Bounded(move.cells, 2 * move.l1, move.l2_squared, move.largest))
    assert any("l1 is said to reach" in line for line in complaints(wide))


def test_a_relation_that_refuses_every_statistic_proves_nothing():
    (refusing, *_) = WORLDS["square-root-within"]
    other = replace(refusing, hidden=SquareRootWithin("shop", {"jobs": "1"}))
    assert complaints(other) == ["square-root-within: no statistic has a move, so that nothing was tried"]


@pytest.mark.parametrize("world", WORLDS["size-within"], ids=lambda world: str(world.hidden))
def test_an_alpha_a_tenth_too_small_or_a_step_too_few_is_rejected_by_name(world):
    for wrong in (
        moving_by(world, lambda move: replace(move, alpha=move.alpha * Fraction(9, 10))),
        moving_by(world, lambda move: replace(move, cells=move.cells - 1)),
        moving_by(world, lambda move: replace(move, together=move.together - 1)),
    ):
        said = [line for line in complaints(wrong) if "some neighbours are" in line]
        assert all(re.match("size-within, .*: (cells|together) is said to be", line) for line in said)
        assert said or world.hidden.worker, (
            "the two jobs of a worker are two steps, which cover an alpha a little small"
        )


@pytest.mark.parametrize("world", WORLDS["loss-by-size"], ids=lambda world: str(world.hidden))
def test_a_curve_that_is_stated_a_tenth_too_low_or_a_cell_too_few_is_rejected_by_name(world):
    """Power: stated of a tenth more jobs, the same change is so much less of a step; that one kind moves is wrong."""
    lower = moving_by(world, lambda move: replace(move, curve=replace(move.curve, at=move.curve.at * 10 // 11)))
    fewer = moving_by(world, lambda move: replace(move, cells=move.cells - 1))
    assert any("some neighbours are" in line for line in complaints(fewer))
    if not world.hidden.weak:
        assert any(line.startswith("loss-by-size, count: cells is said to be 1") for line in complaints(lower))


def test_strong_neighbours_have_no_bound_by_traits_and_are_refused_there():
    """The world of theorem 7.5: ten of a hundred workers are women, ten women come; theirs grows from 10 to 20."""
    strong = SizeWithin("shop", "0.1", "id")
    by_sex = Table((Attribute("sex", Levels.of("fm"), of="worker"),))
    with pytest.raises(PromiseError, match=r"'sex' is of a worker: .* weak = \[\"sex\"\]"):
        strong.move(Count().contribution, by_sex)
    women = replace(Count().contribution, among=by_sex.attributes)
    with pytest.raises(PromiseError, match="'sex' is of a worker"):
        strong.move(women, Table(()))
    assert growths(Fraction(100), Fraction(110), strong.alpha) == 1
    assert growths(Fraction(10), Fraction(20), strong.alpha) == 10
    weak = SizeWithin("shop", "0.1", "id", weak=("sex",))
    assert weak.move(Count().contribution, by_sex).cells == 2
    assert weak.move(women, Table(())).cells == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"alpha": "0"}, "alpha is 0; it must be above 0"),
        ({"alpha": 0.1}, "given as the float"),
        ({"alpha": "0.1", "at_most": 2}, "no worker is named"),
        ({"alpha": "0.1", "worker": "person", "at_most": 0}, "1 or more"),
        ({"alpha": "0.1", "weak": "sex"}, "a list of traits"),
    ],
)
def test_sizes_within_nothing_that_can_be_promised_are_refused(given, said):
    with pytest.raises(PlanError, match=said):
        SizeWithin("shop", id="id", **given)


def test_add_remove_priced_for_replace_one_is_rejected():
    class Halved(type(FOUND["replace-one"])):
        def move(self, row, domain):
            return AddRemove(self.unit, self.id, self.at_most).move(row, domain)

    world = replace(WORLDS["replace-one"][1], hidden=Halved("firm", "id", 2))
    assert {line.split(": ")[0] for line in complaints(world)} == {
        f"replace-one, {name}" for name in ("count", "excess", "fitted", "mean", "quantile", "total", *WEIGHTED)
    }


@pytest.mark.parametrize("missing", sorted(Neighbours.__abstractmethods__))
@pytest.mark.parametrize("kind", sorted(FOUND))
def test_a_relation_that_leaves_out_a_method_cannot_be_constructed(kind, missing):
    """As if the file had been written without it: what it would have inherited from another relation is not there."""
    whole = type(FOUND[kind])
    methods = {name: getattr(whole, name) for name in Neighbours.__abstractmethods__ if name != missing}
    lacking = make_dataclass("Lacking", [], bases=(Neighbours,), namespace=methods, frozen=True)
    with pytest.raises(TypeError, match=f"abstract method '?{missing}"):
        lacking("shop")


@each_world
def test_losses_never_add_across_relations_that_differ_in_any_number_or_name(world):
    for field in fields(world.hidden):
        value = getattr(world.hidden, field.name)
        if isinstance(value, bool) or (isinstance(value, str | None) and field.name != "unit"):
            continue  # the name of a column, which may differ from file to file
        try:
            other = replace(world.hidden, **{field.name: another(value)})
        except PlanError:
            continue
        assert other.relation() != world.hidden.relation(), field.name


def test_no_name_reads_as_another_field_and_a_field_of_a_subclass_counts():
    assert ReplaceOne("job", fixed=("a", "b")).relation() != ReplaceOne("job", fixed=("a, b",)).relation()
    assert AddRemove("job', at_most 3, 'x").relation() != AddRemove("job", "id", 3).relation()
    widened = make_dataclass("Widened", [("alpha", Fraction, Fraction(1))], bases=(AddRemove,), frozen=True)
    assert widened("firm", alpha=Fraction(1, 10)).relation() != widened("firm", alpha=Fraction(9, 10)).relation()
    with pytest.raises(PlanError, match="who is hidden"):
        AddRemove(["firm"])


def another(value):
    match value:
        case str():
            return f"other {value}"
        case int() | Fraction():
            return value + 1
        case dict():
            return {name: 2 * one for name, one in value.items()} or {"sex": ("f", "m")}
    return (*value, "more")


@each_world
def test_a_relation_reads_back_equal_and_says_itself_in_words(world):
    hidden = world.hidden
    assert hidden_from_dict(hidden_to_dict(hidden)) == hidden
    assert hidden.words().endswith(".")
    assert hidden.unit in hidden.words() or hidden.unit in " ".join(hidden.relation())


@pytest.mark.parametrize(
    ("written", "now"),
    [
        ({"neighbours": "add-remove", "unit": "job"}, AddRemove("job")),
        ({"neighbours": "add-remove", "unit": "firm", "id": "nr", "at_most": 8}, AddRemove("firm", "firm_id", 8)),
        (
            {"neighbours": "replace-one", "unit": "job", "fixed": ["state", "age"]},
            ReplaceOne("job", fixed=("age", "state")),
        ),
        (
            {"neighbours": "square-root-within", "unit": "shop", "beta": {"pay": "50", "jobs": "0.5"}},
            SquareRootWithin("shop", {"jobs": "1/2", "pay": 50}, "shop_id"),
        ),
        (
            {"neighbours": "square-root-within", "unit": "shop", "beta": {"jobs": "1"}, "firm": "f", "at_most": 3},
            SquareRootWithin("shop", {"jobs": 1}, firm="owner", at_most=3),
        ),
    ],
    ids=lambda one: str(one)[:40],
)
def test_a_ledger_that_an_earlier_version_opened_takes_the_same_relation(written, now):
    """As version 0.1 wrote them; columns may be called otherwise, and nothing else."""
    assert hidden_from_dict(written).relation() == now.relation()


def test_a_ledger_of_one_beta_takes_no_other():
    ledger = Ledger("shops", SquareRootWithin("shop", {"jobs": "0.5"}), Gaussian(9))
    ledger.admit("first", Gaussian(1), SquareRootWithin("shop", {"jobs": "1/2"}, "id"), 2026)
    with pytest.raises(LedgerError, match=r"unit 'shop', beta 'jobs' 0\.5, at_most 1; the plan hides .* 'jobs' 0\.6"):
        ledger.admit("second", Gaussian(1), SquareRootWithin("shop", {"jobs": "0.6"}), 2026)


@each_world
def test_neighbours_differ_in_no_more_universes_than_they_touch(world):
    """The cells are universes of their own here, told apart by an attribute that is kept or not."""
    kept = world.hidden.keeps((Attribute("cell", Levels.of(range(world.cells))),))
    touches = world.hidden.touches(kept if "cell" in kept else frozenset())
    for statistic in (Count(), Total("wage", clip=(0, 50_000), step=10)):
        move = move_of(world, statistic)
        if isinstance(move, Bounded):
            assert farthest(world, statistic, move)["cells"] <= touches


def standing(world: World, side: UnitRows) -> list[int]:
    """The cells that the rows of one side of a pair stand in."""
    if side.scattered:
        return [row % world.cells for row in range(side.rows)]
    return list(range(world.cells)) * side.rows if side.of_each else [int(side.elsewhere)] * side.rows


AUDITED = [one for one in ALL if one.hidden.attained or one.hidden.kind == "loss-by-size"]


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("world", AUDITED, ids=lambda world: str(world.hidden))
def test_the_audit_s_pairs_are_pairs_of_neighbours_that_are_apart(world, place):
    total = Total("wage", clip=(0, 50_000), step=10)
    statistic = total if move_of(world, total) else Count()
    move = move_of(world, statistic)
    all_pairs = world.hidden.pairs(statistic.contribution, world.domain)
    sides = all_pairs[min(place, len(all_pairs) - 1)]
    one, other = (
        numbers(world, statistic, tuple(("a", cell, int(side.value)) for cell in standing(world, side)))
        for side in sides
    )
    gaps = [abs(a - b) for a, b in zip(one, other, strict=True)]
    if isinstance(move, Bounded):
        assert sum(gaps) == move.l1
        assert max(gaps) <= move.largest
    elif isinstance(move, Relative):
        pairs = [sorted((a * statistic.step, b * statistic.step)) for a, b in zip(one, other, strict=True)]
        taken = [growths(low, high, move.alpha) for low, high in pairs]
        assert sum(taken) == move.cells, "as many steps as are priced"
        assert growths(*map(sum, zip(*pairs, strict=True)), move.alpha) == move.together, "and neighbours as a whole"
    elif isinstance(move, AlongCurve):
        sizes = [(sum(one), sum(other)), *zip(one, other, strict=True)]
        gone = [abs(move.curve.height(a) - move.curve.height(b)) for a, b in sizes]
        assert 0.99 <= gone[0] <= 1
        assert 0.85 * move.cells <= sum(gone[1:]) <= move.cells
    else:
        a, b = (float(side.value) ** 0.5 for side in sides)
        assert 0.97 * move.beta <= abs(a - b) <= move.beta


def test_small_worlds_hold_units_with_more_rows_than_count():
    world = WORLDS["add-remove"][1]
    rows = [len([row for row in data if row[0] == "a"]) for data in world.data_sets((1,))]
    assert max(rows) == world.hidden.at_most + 1
    assert all(len(world.kept(data)) <= 2 * world.hidden.at_most for data in world.data_sets((1,)))

"""What protects cells: rules, holdings, linked tables, contributors; each with a case that would fail without it."""

import csv
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.suppression.conftest import SHARED

from sfumato.confidential.suppress import (
    Best,
    Contributions,
    PrimaryRules,
    Prior,
    decide_by_records,
    needs,
    protect,
)
from sfumato.confidential.suppress.unions import sensitive
from sfumato.errors import DataError, PlanError
from sfumato.suppression import LinkedTables, Nesting, Published, Required, audit, decide

TENTH_ALONE = PrimaryRules(1, p=Fraction(1, 10))
TENTH = PrimaryRules(3, p=Fraction(1, 10))


def flat(name, codes):
    return Nesting.under(name, dict.fromkeys(codes, ""))


def hidden(cells, pattern):
    return Published.of(pattern.linked, np.where(pattern.suppressed, np.nan, cells.totals))


def random_rows(seed=7, size=90):
    rng = np.random.default_rng(seed)
    codes = {"trade": rng.choice(list("abcdef"), size).tolist(), "place": rng.choice(list("wxyz"), size).tolist()}
    values = np.rint(np.exp(rng.normal(2, 1.6, size))) + 1
    return codes, values, rng.integers(0, size // 2, size).tolist()


@pytest.fixture
def linked():
    return LinkedTables.of([[flat("trade", "abcdef"), flat("place", "wxyz")]])


def test_the_p_percent_rule_of_the_slides():
    linked = LinkedTables.of([[flat("a", "12")]])
    codes, values = {"a": ["1"] * 4 + ["2"] * 4}, [100, 50, 6, 3, 100, 50, 6, 5]
    asked = needs(linked, Contributions.of(linked, codes, values), TENTH)
    sensitive, other = linked.find({"a": "1"}), linked.find({"a": "2"})
    assert (asked.rules[sensitive], asked.rules[other]) == ("p-percent", "")  # R = 9 < 10 = p X1, and R = 11
    assert asked.upper[sensitive] == pytest.approx(1)


def test_dominance_needs_what_makes_the_largest_its_share():
    linked = LinkedTables.of([[flat("a", "12")]])
    cells = Contributions.of(linked, {"a": ["1"] * 4 + ["2"]}, [90, 4, 3, 3, 50])
    asked = needs(linked, cells, PrimaryRules(1, dominance=((1, Fraction(85, 100)),)))
    assert asked.upper[linked.find({"a": "1"})] == pytest.approx(90 / 0.85 - 100)


def test_holdings_matter():
    """Three establishments of one enterprise look like three contributors to who ignores holdings."""
    linked = LinkedTables.of([[flat("a", "12")]])
    codes, values = {"a": ["1"] * 4 + ["2"] * 4}, [10, 10, 10, 9, 10, 10, 10, 10]
    owners = ["one", "one", "one", "two", "s", "t", "u", "v"]
    cell = linked.find({"a": "1"})
    assert needs(linked, Contributions.of(linked, codes, values), TENTH).rules[cell] == ""
    assert needs(linked, Contributions.of(linked, codes, values, owners), TENTH).rules[cell] == "minimum"


def test_weights_make_a_cell_safer_and_what_a_holding_knows_is_its_own():
    linked = LinkedTables.of([[flat("a", "12")]])
    codes, values = {"a": ["1"] * 3 + ["2"] * 3}, [100, 50, 6, 1, 1, 1]
    cell = linked.find({"a": "1"})
    assert needs(linked, Contributions.of(linked, codes, values), TENTH).rules[cell] == "p-percent"
    weighted = Contributions.of(linked, codes, values, weights=[1, 1, 2, 1, 1, 1])
    assert needs(linked, weighted, TENTH).rules[cell] == ""  # R = 162 - 150 = 12
    with pytest.raises(DataError, match="below 1"):
        Contributions.of(linked, codes, values, weights=[0.5] * 6)
    for weight in (float("nan"), float("inf")):
        with pytest.raises(DataError, match="weight"):
            Contributions.of(linked, codes, values, weights=[1, 1, 1, 1, 1, weight])


def test_waivers_missing_codes_and_forced_cells_are_told():
    linked = LinkedTables.of([[flat("a", ["1", "2", "3", "none"])]])
    codes = {"a": ["1", "2", "2", "2", "3", "none"]}
    agreed = Contributions.of(linked, codes, [5, 8, 8, 8, 7, 4], list("abcdef"), waived=["a"])
    rules = PrimaryRules(3, safe=(("a", "none"),))
    pattern = protect(linked, agreed, rules, forced=[{"a": "3"}])
    told = {code: pattern.statuses[linked.find({"a": code})] for code in ("1", "2", "3", "none")}
    assert told == {"1": "waived", "2": "published", "3": "forced", "none": "published"}
    assert "although: fewer than 3" in pattern.reasons[linked.find({"a": "3"})]


def test_a_cell_that_cannot_be_protected_is_refused():
    linked = LinkedTables.of([[flat("a", "12")]])
    cells = Contributions.of(linked, {"a": list("1222")}, [5, 8, 8, 8])
    with pytest.raises(DataError, match="must be published"):
        protect(linked, cells, PrimaryRules(), forced=[{}, {"a": "2"}])


def test_every_cell_of_a_random_table_is_protected_and_the_audit_agrees(linked):
    codes, values, owners = random_rows()
    cells = Contributions.of(linked, codes, values, owners)
    pattern = protect(linked, cells, TENTH)
    asked, found = needs(linked, cells, TENTH), audit(hidden(cells, pattern))
    primary = asked.primary
    assert primary.any()
    assert np.all(found.high[primary] - cells.totals[primary] >= asked.upper[primary] * (1 - 1e-5))
    lower = np.minimum(asked.lower, cells.totals)[primary]
    assert np.all(cells.totals[primary] - found.low[primary] >= lower * (1 - 1e-5))


@pytest.mark.parametrize("best", [Best(), Best(rounds=20)], ids=["without a bound", "beside a bound"])
def test_primaries_alone_fail_the_audit_and_so_does_any_secondary_cell_taken_back(linked, best):
    codes, values, owners = random_rows()
    cells = Contributions.of(linked, codes, values, owners)
    pattern, asked = protect(linked, cells, TENTH, best=best, contributors=False), needs(linked, cells, TENTH)
    assert pattern.work.complete
    reasons = {pattern.reasons[cell] for cell in np.flatnonzero(pattern.where("secondary"))}
    assert reasons == {"suppressed so that other cells cannot be worked out"}
    required = Required(cells.totals, asked.upper, np.minimum(asked.lower, cells.totals))
    assert pattern.count("secondary") > 0
    assert decide(Published.of(linked, np.where(asked.primary, np.nan, cells.totals)), required)
    assert not decide(hidden(cells, pattern), required)
    for cell in np.flatnonzero(pattern.where("secondary")):
        back = np.where(pattern.suppressed, np.nan, cells.totals)
        back[cell] = cells.totals[cell]
        assert decide(Published.of(linked, back), required), linked.words(cell)


def test_the_pattern_is_the_same_whatever_the_order_of_rows(linked):
    codes, values, owners = random_rows()
    order = np.random.default_rng(3).permutation(len(values))
    other = {name: [column[row] for row in order] for name, column in codes.items()}
    one = protect(linked, Contributions.of(linked, codes, values, owners), TENTH)
    two = protect(linked, Contributions.of(linked, other, values[order], [owners[row] for row in order]), TENTH)
    assert one.statuses == two.statuses


def test_linked_tables_matter():
    """Table by table, one hides b beside a and the other hides c: each tells what the other hides."""
    trade, size = flat("trade", "abcd"), flat("size", "sl")
    both = LinkedTables.of([[trade], [trade, size]])
    rows = [("a", "s", 5)] + [("b", "l", 2)] * 5 + [("c", "s", 4)] * 5 + [("d", "s", 100), ("d", "l", 100)] * 5
    codes = {"trade": [row[0] for row in rows], "size": [row[1] for row in rows]}
    values, rules = [row[2] for row in rows], PrimaryRules(3)
    cells = Contributions.of(both, codes, values)
    asked = needs(both, cells, rules)
    required = Required(cells.totals, asked.upper, np.minimum(asked.lower, cells.totals))
    told = np.full(both.size, np.nan)
    for table in ([trade], [trade, size]):
        one = LinkedTables.of([table])
        some = Contributions.of(one, codes, values)
        pattern = protect(one, some, rules, contributors=False)
        place = both.places({name: one.column(name) for name in one.attributes})
        told[place[~pattern.suppressed]] = some.totals[~pattern.suppressed]
    assert decide(Published.of(both, told), required)
    assert not decide(hidden(cells, protect(both, cells, rules, contributors=False)), required)


def test_two_singletons_of_a_row_are_caught_and_not_left():
    """Each of two missing cells has one contributor, who knows the other from the row's total."""
    linked = LinkedTables.of([[flat("a", "12345")]])
    codes = {"a": list("12") + list("333") + list("444") + list("555")}
    cells = Contributions.of(linked, codes, [30, 28, 9, 9, 9, 20, 20, 20, 30, 30, 30])
    asked = needs(linked, cells, TENTH)
    required = Required(
        cells.totals,
        asked.upper,
        np.minimum(asked.lower, cells.totals),
        cells.insiders(linked, asked.upper, asked.others),
    )
    two = np.where(asked.primary, np.nan, cells.totals)
    assert asked.primary.sum() == 2
    outsider = Required(required.truth, required.upper, required.lower)
    assert not decide(Published.of(linked, two), outsider)
    assert {one.attacker for one in decide(Published.of(linked, two), required)} == {"who is alone in another cell"}
    assert not decide(hidden(cells, protect(linked, cells, TENTH)), required)


def test_who_is_alone_elsewhere_does_not_learn_a_dominated_cell():
    """North is two missing cells: the one firm of the second knew the first, of 85 and 15, from their total."""
    linked = LinkedTables.of([[flat("trade", "fc"), flat("place", "ns")]])
    rows = [("f", "n", 85), ("f", "n", 15), ("c", "n", 40), *(("f", "s", 60),) * 5, *(("c", "s", 60),) * 5]
    codes = {"trade": [row[0] for row in rows], "place": [row[1] for row in rows]}
    rules = PrimaryRules(3, dominance=((1, Fraction(4, 5)),))
    cells = Contributions.of(linked, codes, [row[2] for row in rows])
    asked = needs(linked, cells, rules)
    told = cells.insiders(linked, asked.upper, asked.others)
    required = Required(cells.totals, asked.upper, np.minimum(asked.lower, cells.totals), told)
    inner = np.array(
        [bool(trade and place) for trade, place in zip(linked.column("trade"), linked.column("place"), strict=True)]
    )
    four = np.where(inner, np.nan, cells.totals)
    assert "who is alone in another cell" in {one.attacker for one in decide(Published.of(linked, four), required)}
    assert not decide(hidden(cells, protect(linked, cells, rules)), required)


def test_the_second_largest_of_a_cell_uses_what_it_knows_of_another():
    """H adds 50 to the first cell, of which it must not know A's 100 to within 6, and 95 of the 100 of the second."""
    linked = LinkedTables.of([[flat("a", "123")]])
    rows = [("1", 100, "A"), ("1", 50, "H"), ("1", 2, "B"), ("1", 1, "C"), ("1", 1, "D"), ("2", 95, "H")]
    rows += [("2", 1, name) for name in "EFGIJ"] + [("3", 40, name) for name in "KLMNO"]
    cells = Contributions.of(
        linked, {"a": [row[0] for row in rows]}, [row[1] for row in rows], [row[2] for row in rows]
    )
    asked = needs(linked, cells, TENTH)
    assert asked.upper[linked.find({"a": "1"})] == pytest.approx(6)  # 10 - R, and R is 4
    outsider = Required(cells.totals, asked.upper, np.minimum(asked.lower, cells.totals))
    required = replace(outsider, insiders=cells.insiders(linked, asked.upper, asked.others))
    two = Published.of(linked, np.where(asked.primary, np.nan, cells.totals))
    assert asked.primary.sum() == 2
    assert not decide(two, outsider)  # the second cell could be 0 to anybody, and is 95 at least to H
    assert {one.attacker for one in decide(two, required)} == {"a contributor"}
    assert not decide(hidden(cells, protect(linked, cells, TENTH)), required)


def test_the_second_largest_of_a_cell_uses_what_it_knows_of_one_in_which_it_is_the_third():
    """H must not know A's 1,000 to within 100, and knows that 35 of the 120 of the cell across are its own."""
    linked = LinkedTables.of([[flat("a", "123"), flat("b", "xyz")]])
    rows = [("1", "x", 1_000, "A"), ("1", "x", 300, "H"), ("2", "y", 45, "B"), ("2", "y", 40, "C"), ("2", "y", 35, "H")]
    rows += [("1", "y", 30, f"1y{k}") for k in range(5)] + [("2", "x", 100, f"2x{k}") for k in range(5)]
    rows += [(a, b, 9_000, a + b + str(k)) for a, b in ("1z", "2z", "3x", "3y", "3z") for k in range(5)]
    codes = {"a": [row[0] for row in rows], "b": [row[1] for row in rows]}
    cells = Contributions.of(linked, codes, [row[2] for row in rows], [row[3] for row in rows])
    asked = needs(linked, cells, TENTH_ALONE)
    target = linked.find({"a": "1", "b": "x"})
    assert np.flatnonzero(asked.primary).tolist() == [target]
    assert asked.lower[target] == pytest.approx(100)
    outsider = Required(cells.totals, asked.upper, asked.lower)
    required = replace(outsider, insiders=cells.insiders(linked, asked.upper, asked.others))
    four = cells.totals.copy()
    four[[linked.find({"a": a, "b": b}) for a in "12" for b in "xy"]] = np.nan
    assert not decide(Published.of(linked, four), outsider)
    # The cell across falls by 85 at the most to H, so the first cell is 1,215 at the least, and A 915 of 1,000.
    assert {one.attacker for one in decide(Published.of(linked, four), required)} == {"a contributor"}
    assert not decide(hidden(cells, protect(linked, cells, TENTH_ALONE)), required)


def test_three_singletons_are_caught_where_the_third_is_too_small():
    """The second knows the first to within the third: R < p X1 of the three missing cells together."""
    linked = LinkedTables.of([[flat("a", "1234")]])
    cells = Contributions.of(linked, {"a": list("123") + list("44444")}, [100, 60, 5, 30, 30, 30, 30, 30])
    asked = needs(linked, cells, TENTH)
    required = Required(
        cells.totals,
        asked.upper,
        np.minimum(asked.lower, cells.totals),
        cells.insiders(linked, asked.upper, asked.others),
    )
    three = np.where(asked.primary, np.nan, cells.totals)
    assert asked.primary.sum() == 3
    assert decide(Published.of(linked, three), required)
    assert not decide(hidden(cells, protect(linked, cells, TENTH)), required)


def test_a_union_of_missing_cells_that_one_holding_dominates_is_caught_and_not_left():
    """Neither cell can be worked out, but their sum can, and one enterprise holds nearly all of both."""
    linked = LinkedTables.of([[flat("a", "123"), flat("b", "xy")]])
    rows = [("1", "x", 100, "big"), ("2", "x", 80, "big"), ("1", "y", 40, "big"), ("2", "y", 30, "big")]
    rows += [(a, b, 2, f"{a}{b}{k}") for a in "12" for b in "xy" for k in range(2)]
    rows += [("3", b, 300, f"3{b}{k}") for b in "xy" for k in range(4)]
    codes = {"a": [row[0] for row in rows], "b": [row[1] for row in rows]}
    cells = Contributions.of(linked, codes, [row[2] for row in rows], [row[3] for row in rows])
    asked = needs(linked, cells, TENTH)
    four = np.zeros(linked.size, dtype=bool)
    four[[linked.find({"a": a, "b": b}) for a in "12" for b in "xy"]] = True
    outsider = Required(cells.totals, np.where(four, asked.upper, 0), np.where(four, asked.lower, 0))
    assert not decide(Published.of(linked, np.where(four, np.nan, cells.totals)), outsider)
    column = tuple(linked.find({"a": a, "b": "x"}) for a in "12")
    union = Required(cells.totals, outsider.upper, outsider.lower, unions=[(column, 18.0, 18.0)])
    found = decide(Published.of(linked, np.where(four, np.nan, cells.totals)), union)
    assert [one.attacker for one in found] == ["anybody, of several cells together"]
    pattern = protect(linked, cells, TENTH)
    assert not decide(hidden(cells, pattern), union)


def test_a_union_that_just_breaks_a_rule_must_be_uncertain_by_a_unit_either_way():
    """Together the largest has 100 and all but the two largest 9.5, half a unit less than the rule asks."""
    linked = LinkedTables.of([[flat("a", "123")]])
    rows = [("1", 60, "big"), ("2", 40, "big"), ("1", 5, "d"), ("1", 5, "e"), ("2", 4.5, "f"), ("3", 9, "g")]
    cells = Contributions.of(
        linked, {"a": [row[0] for row in rows]}, [row[1] for row in rows], [row[2] for row in rows]
    )
    both = tuple(linked.find({"a": code}) for code in "12")
    told = sensitive([both], cells, TENTH, cells.totals)
    assert [(side.way, side.need) for side in told] == [(0, 1.0), (1, 1.0)]
    assert sensitive([both], cells, replace(TENTH, p=Fraction(95, 1000)), cells.totals) == []


def test_a_union_of_losses_must_be_uncertain_downwards_too():
    """Of losses of 100 one holding has 90 and the next 8: all others have 2, and 10% of 90 are 9, 7 more."""
    linked = LinkedTables.of([[flat("a", "123")]])
    rows = [("1", -50, "big"), ("2", -40, "big"), ("1", -8, "d"), ("2", -2, "e"), ("3", 300, "f"), ("3", 200, "g")]
    cells = Contributions.of(
        linked, {"a": [row[0] for row in rows]}, [row[1] for row in rows], [row[2] for row in rows]
    )
    both, below = tuple(linked.find({"a": code}) for code in "12"), np.full(linked.size, 150.0)
    assert [(side.way, side.need) for side in sensitive([both], cells, TENTH, below)] == [(0, 7.0), (1, 7.0)]


def test_finite_prior_bounds_ask_for_more():
    linked = LinkedTables.of([[flat("a", "1234")]])
    cells = Contributions.of(
        linked, {"a": ["1"] + ["2"] * 5 + ["3"] * 5 + ["4"] * 5}, [50] + [2] * 5 + [3] * 5 + [4] * 5
    )
    loose = protect(linked, cells, PrimaryRules(), contributors=False)
    tight = Prior(cells.totals * 0.8, cells.totals * 1.2)
    assert protect(linked, cells, PrimaryRules(), prior=tight, contributors=False).count("secondary") > loose.count(
        "secondary"
    )
    with pytest.raises(DataError, match="know beforehand"):
        protect(linked, cells, PrimaryRules(), prior=Prior(cells.totals * 0.99, cells.totals * 1.01))


@pytest.mark.parametrize("ends", [(49.0, np.inf), (0.0, 51.0)])
def test_a_cell_that_is_known_well_beforehand_is_neither_protected_nor_passed(ends):
    linked = LinkedTables.of([[flat("a", "12")]])
    cells = Contributions.of(linked, {"a": ["1"] + ["2"] * 5}, [50] + [20] * 5)
    sole = cells.totals == 50
    low, high = np.where(sole, ends[0], 0.0), np.where(sole, ends[1], np.inf)
    with pytest.raises(DataError, match="know beforehand"):
        protect(linked, cells, PrimaryRules(), prior=Prior(low, high), contributors=False)
    needed = np.where(sole, 5.0, 0.0)
    published = Published.of(linked, np.where(cells.totals == 150, 150.0, np.nan))
    required = Required(cells.totals, needed, needed)
    assert not decide(published, required)
    assert [one.kind for one in decide(published.within(low, high), required)][:1] == ["short"]


def test_negative_values_leave_an_attacker_no_floor():
    linked = LinkedTables.of([[flat("a", "123")]])
    cells = Contributions.of(linked, {"a": list("1222333")}, [-50, 9, 9, 9, 1, 1, 1])
    pattern = protect(linked, cells, PrimaryRules(), contributors=False)
    values = np.where(pattern.suppressed, np.nan, cells.totals)
    assert audit(Published.of(linked, values, negative=True)).low[linked.find({"a": "1"})] == -np.inf


def test_an_earlier_period_narrows_what_is_missing(slide):
    now = Published.of(slide.linked, slide.without(("1", "Q2"), ("1", "Q3"), ("3", "Q2"), ("3", "Q3")))
    before = Published.of(slide.linked, slide.values)
    found = audit(now.beside(before, 0.1), within=0.3)
    low, high = found.interval(slide.cell("1", "Q2"))
    assert (low, high) == (pytest.approx(20.7), pytest.approx(23.3))  # 23 + 22 - 24.3 and 45 - 21.7 by the other cells
    assert not audit(now, within=0.3).disclosures
    assert found.disclosures
    assert not audit(now.beside(before, 0.1)).disclosures  # narrow, and not exact, which is all that is asked here


def test_costs_are_chosen_by_name(linked):
    codes, values, owners = random_rows()
    cells = Contributions.of(linked, codes, values, owners)
    fewest = protect(linked, cells, TENTH, cost="count", best=Best(rounds=20))
    assert fewest.cost == fewest.count("secondary") >= fewest.bound > 0
    with pytest.raises(PlanError, match="did you mean 'value'"):
        protect(linked, cells, TENTH, cost="vallue")


def test_against_the_exact_optimum_the_search_is_within_5_percent(linked):
    codes, values, owners = random_rows()
    cells = Contributions.of(linked, codes, values, owners)
    exact = protect(linked, cells, TENTH, best=Best(exact=True), contributors=False)
    quick = protect(linked, cells, TENTH, best=Best(rounds=20), contributors=False)
    assert exact.cost == pytest.approx(exact.bound)
    assert exact.cost <= quick.cost <= exact.cost * 1.05


@pytest.mark.parametrize("seed", range(12))
def test_no_cheaper_pattern_passes_the_audit_than_the_exact_optimum(seed):
    """Every choice of cells that costs less is tried, by the audit alone; and no bound is above what the best costs."""
    rng = np.random.default_rng(seed)
    linked = LinkedTables.of([[flat("trade", "abc"), flat("place", "xy")]])
    codes = {"trade": rng.choice(list("abc"), 24).tolist(), "place": rng.choice(list("xy"), 24).tolist()}
    cells = Contributions.of(linked, codes, np.rint(np.exp(rng.normal(3, 1.5, 24))) + 1)
    asked = needs(linked, cells, TENTH)
    required = Required(cells.totals, asked.upper, np.minimum(asked.lower, cells.totals))
    exact, quick = (
        protect(linked, cells, TENTH, best=best, contributors=False) for best in (Best(exact=True), Best(rounds=20))
    )
    assert quick.bound <= exact.bound * (1 + 1e-9)
    assert exact.cost == pytest.approx(exact.bound)
    free = np.flatnonzero(~asked.primary & (cells.counts > 0))
    tried = 0
    for number in range(2 ** len(free)):
        chosen = free[(number >> np.arange(len(free))) & 1 > 0]
        if cells.totals[chosen].sum() < exact.cost * (1 - 1e-9):
            values = np.where(asked.primary, np.nan, cells.totals)
            values[chosen] = np.nan
            assert decide(Published.of(linked, values), required), [linked.words(int(cell)) for cell in chosen]
            tried += 1
    assert tried > 1


def test_a_bound_that_is_cut_short_says_so_and_is_still_true(linked):
    codes, values, owners = random_rows(seed=3, size=140)
    cells = Contributions.of(linked, codes, values, owners)
    short, long = (
        protect(linked, cells, TENTH, best=Best(rounds=20, cuts=most), contributors=False) for most in (1, 99)
    )
    assert (short.work.bounded, long.work.bounded) == (False, True)
    assert 0 < short.bound < long.bound <= min(short.cost, long.cost)
    assert short.bound * (1 + short.gap) == pytest.approx(short.cost)


def test_the_statuses_of_the_small_published_example():
    path = SHARED / "sdc" / "tauargus_small_example.csv"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    linked = LinkedTables.of([[flat("ACTIVITY", ["01", "02", "06"]), flat("SIZE", ["tr1", "tr2"])]])
    place = linked.places(
        {name: ["" if row[name] == "Total" else row[name] for row in rows] for name in linked.attributes}
    )
    totals, counts, largest = np.zeros(12), np.zeros(12, dtype=np.int64), np.zeros((12, 1))
    totals[place], counts[place] = [float(row["VAL"]) for row in rows], [int(row["N_OBS"]) for row in rows]
    largest[place, 0] = [float(row["MAX"]) for row in rows]
    rules = PrimaryRules(3, dominance=((1, Fraction(85, 100)),))
    pattern = protect(linked, Contributions.told(totals, counts, largest), rules)
    letter = {"fewer than 3 contributors": "A", "dominance: the 1 largest above 85%": "B", "": "V"}
    told = [letter.get(pattern.reasons[cell], "D") for cell in place]
    assert told == [row["Status"] for row in rows]


def test_what_holds_contributions_prints_none(linked):
    codes, values, owners = random_rows()
    cells = Contributions.of(linked, codes, values, owners)
    assert repr(cells) == "<Contributions: confidential>"
    with pytest.raises(TypeError, match="cannot be pickled"):
        cells.__reduce_ex__(2)


def test_what_a_holding_adds_to_one_cell_of_a_union_and_takes_from_another_adds_nothing_to_it(linked):
    codes = {"trade": list("aabb"), "place": list("wwww")}
    cells = Contributions.of(linked, codes, [60, 50, -50, 40], holdings=list("fggh"))
    union = tuple(linked.find({"trade": trade, "place": "w"}) for trade in "ab")
    joined = cells.joined([union])
    assert (joined.totals.tolist(), joined.sizes.tolist()) == ([100.0], [100.0])
    assert joined.top[0].tolist() == [60.0]


@pytest.mark.parametrize("exchanges", [0, 1_000])
def test_a_union_that_was_missing_on_the_way_asks_for_nothing_once_it_is_published(exchanges):
    """Of linked tables by firms, in which one secondary cell was kept for such a union: every one is needed."""
    up = {"a1": "", "a2": "", "a10": "a1", "a11": "a1", "a20": "a2", "a21": "a2"}
    lists = [("trade", up), ("place", dict.fromkeys(("b0", "b1", "b2", "b3"), ""))]
    others = [("trade", {"a1": "", "a2": ""}), ("size", dict.fromkeys("stu", ""))]
    linked = LinkedTables.of([[Nesting.under(*one) for one in table] for table in (lists, others)])
    rng, rules = np.random.default_rng(54), PrimaryRules(3, dominance=((1, Fraction(85, 100)),))
    choices = {"trade": ("a10", "a11", "a20", "a21"), "place": ("b0", "b1", "b2", "b3"), "size": tuple("stu")}
    codes = {name: rng.choice(some, 40).tolist() for name, some in choices.items()}
    values = np.rint(np.exp(rng.normal(4, 1.5, 40))) + 1
    cells = Contributions.of(linked, codes, values, rng.integers(0, 30, 40).tolist())
    pattern = protect(linked, cells, rules, best=Best(clean=10**6, exchanges=exchanges))
    assert pattern.work.complete
    for cell in np.flatnonzero(pattern.where("secondary")):
        back = np.where(pattern.suppressed, np.nan, cells.totals)
        back[cell] = cells.totals[cell]
        assert decide_by_records(Published.of(linked, back), cells, rules).disclosures

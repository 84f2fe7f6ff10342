"""The picture of telling 100 from 110, and the bar of a budget."""

from statistics import NormalDist

import pytest
from tests.pictures.conftest import SPACE, Drawn, places

from sfumato.errors import QueryError
from sfumato.pictures import BudgetShare, Caption, budget, power_curve

NORMAL = NormalDist()
POWER = [(level / 100, NORMAL.cdf(NORMAL.inv_cdf(level / 100) + 1)) for level in range(1, 100)]
TOTH = (0.05, 0.2595)
"""At mu 1 and a level of 5% the power is 0.2595 (Toth, 'Protection vs accuracy')."""


def test_the_told_point_lies_on_the_curve_and_above_blind_guessing():
    drawn = Drawn(power_curve(POWER, TOTH, Caption("100 or 110?")))
    curve = places(drawn.all("polyline", "edge")[0].get("points"))
    blind = places(drawn.all("polyline", "blind")[0].get("points"))
    told = drawn.all("circle", "accent")[0]
    x, y = float(told.get("cx")), float(told.get("cy"))
    assert min(abs(x - a) + abs(y - b) for a, b in curve) < 1
    (left, bottom), (right, top) = blind
    assert (x - left) / (right - left) == pytest.approx(0.05, abs=0.002)
    assert (bottom - y) / (bottom - top) == pytest.approx(0.2595, abs=0.002)
    assert all(b <= bottom - (a - left) / (right - left) * (bottom - top) + 0.2 for a, b in curve)


def test_the_words_round_a_risk_up():
    picture = power_curve(POWER, (0.05, 0.2512), Caption("100 or 110?"))
    assert picture.told == ("At best 26 times in 100 right, for 5 false alarms in 100.",)


def test_shares_beyond_one_are_refused():
    with pytest.raises(QueryError, match="between 0 and 1"):
        power_curve([(0, 0), (1, 1.2)], (0.05, 0.2), Caption("x"))


def test_parts_of_a_budget_are_in_proportion_and_what_is_left_is_open():
    drawn = Drawn(budget([BudgetShare("2023", 0.25, "mu 0.5"), BudgetShare("2024", 0.5)], 1.0, Caption("Spent")))
    first, second = (float(one.get("width")) for one in drawn.all("rect", "noise"))
    (left,) = drawn.all("rect", "left")
    assert second == pytest.approx(2 * first, abs=2.5)
    assert float(left.get("width")) == pytest.approx(first, abs=2.5)
    assert drawn.picture.told == ("2023: mu 0.5, 25% limit", "2024: 0.5, 50% limit", "left: 0.25")


def test_a_budget_that_is_spent_shows_nothing_left_and_every_part_says_what_it_is():
    spent = Drawn(budget([BudgetShare("all", 1.0)], 1.0, Caption("Spent")))
    assert not spent.all("rect", "left")
    assert all(one.find(SPACE + "title") is not None for one in spent.all("g", "mark"))


def test_a_budget_of_nothing_is_drawn():
    drawn = Drawn(budget([], 1.0, Caption("Spent")))
    assert len(drawn.all("rect", "left")) == 1

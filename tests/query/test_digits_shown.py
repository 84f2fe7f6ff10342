"""A margin holds at its level as it is written: margins are rounded up, intervals outward, numbers to the nearest."""

import math
from decimal import ROUND_CEILING, Context, Decimal

import pytest

from sfumato.query import Estimate
from sfumato.query.change import change_of
from sfumato.query.detail import percent_of_noise
from sfumato.query.digits import Digits, common_scale
from sfumato.query.layout import text
from sfumato.query.notebook import cell_html
from sfumato.query.plot import mark_of
from sfumato.query.wording import Sentence, words
from sfumato.release.tails import z_score
from sfumato.serve.pages.cell import cell
from sfumato.serve.pages.look import Look

MARGINS = [104.0, 820.0, 823.0, 0.98123, 9.92, 99.5, 1.0, 12_345.6, 0.1 + 0.2, 999.0001]


def of_margin(margin: float, value: float = 5_000_000.5, unit: str = "") -> Estimate:
    return Estimate(value, (margin / z_score(0.90)) ** 2, unit=unit)


@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("percent", [False, True])
def test_a_margin_is_never_written_smaller_than_it_is_and_no_larger_than_two_digits_make_it(margin, percent):
    estimate = of_margin(margin / 100, 0.5, "share") if percent else of_margin(margin)
    shown = float(Digits.of(estimate).margin(estimate.moe(0.90)).replace(",", ""))
    expected = Context(prec=2, rounding=ROUND_CEILING).create_decimal(f"{margin:.9g}")
    assert shown == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize("margin", MARGINS)
def test_an_interval_as_it_is_written_holds_the_interval_that_was_computed(margin):
    estimate = of_margin(margin, 1_234.5)
    low, high = (float(end.replace(",", "").replace("−", "-")) for end in mark_of(estimate, "x").ends_shown)
    computed = estimate.interval(0.90)
    assert low <= computed[0] + 1e-6 <= computed[1] - 1e-6 <= high
    assert (computed[0] - low) + (high - computed[1]) < margin / 5


def test_numbers_themselves_and_standard_errors_go_to_the_nearest():
    estimate = of_margin(823.0, 1_000_004.0)
    digits = Digits.of(estimate)
    assert (digits.number(1_000_004.0), digits.error(104.0), digits.margin(104.0)) == ("1,000,000", "100", "110")


@pytest.mark.parametrize("margin", [1.0, 54.0, 823.0, 12_345.6, 76_000.0, 148_037.0, 9.96e6])
@pytest.mark.parametrize("value", [0.0, 9_999.0, 99_994.0, -204_180.0, 999_995.0, 1_907_345.0, 20_074_999.5])
def test_thousands_and_millions_are_the_same_digits_and_never_more_signs(value, margin):
    estimate = of_margin(margin, value)
    full, computed = Digits.of(estimate), estimate.moe(0.90)
    short = full.short(value, computed)
    assert short.scale in {0, 3, 6}
    for plain, scaled in ((full.number(value), short.number(value)), (full.margin(computed), short.margin(computed))):
        both = (Decimal(one.replace(",", "").replace("−", "-")) for one in (plain, scaled))
        assert next(both) == next(both).scaleb(short.scale)
        assert len(scaled) <= len(plain) + 1
    if short.scale and full.number(value) != "0":
        assert len(short.number(value)) < len(full.number(value))


@pytest.mark.parametrize(
    ("numbers", "scale"),
    [
        ([(50_042_000, 61_000), (5_410_000, 110_000), (-71_000, 72_000)], 3),
        ([(100_230, 830), (7_280, 220)], 0),
        ([(1.784e9, 5.2e7), (7_820_000, 970_000), (-3.3e6, 3.7e6)], 6),
        ([(12_345_678, 1_200), (310, 76)], None),
        ([(12_345_678, 120_000), (310, 76)], None),
        ([(0, 72_000)], 3),
        ([], None),
    ],
)
def test_a_table_is_counted_in_one_unit_where_one_suits_all(numbers, scale):
    """By hand: thousands if all margins end there, ones below ten million, millions from there on with two decimals."""
    estimates = [of_margin(margin, value) for value, margin in numbers]
    assert common_scale(estimates) == scale
    for one in estimates:
        full, counted = Digits.of(one), Digits.of(one).counted(scale or 0)
        both = (Decimal(digits.number(one.value).replace(",", "").replace("−", "-")) for digits in (full, counted))
        assert next(both) == next(both).scaleb(scale or 0), "no digit is lost or added"
    assert common_scale([*estimates, Estimate(7, 0.0)]) is None, "a true number is written in full"


def test_sentences_round_margins_up_too():
    said = Sentence("error_noise", {"moe": 823.1}).english()
    assert "± 824 " in said
    assert "between 823 and 825" in Sentence("differ", {"percent": 90, "low": 823.9, "high": 824.1}).english()


@pytest.mark.parametrize(("noise", "sampling", "percent"), [(1.0, 0.0, 100), (0.82, 0.18, 82), (9_982, 18, 99.8)])
def test_100_percent_noise_is_said_only_where_nothing_else_is(noise, sampling, percent):
    assert percent_of_noise(Estimate(9, noise, sampling)) == percent
    assert percent_of_noise(Estimate(9, 1e9, 1.0)) == 99.9
    assert percent_of_noise(Estimate(9, 1.0, 1e9)) == 0.1
    assert math.isclose(percent_of_noise(Estimate(9, 79_392.0**2, 87_814.0**2 - 79_392.0**2)), 82)


def test_a_number_known_without_error_is_written_with_all_its_decimals():
    """A register's 311.3 is not 311; and halves stay halves beside a margin that has them."""
    exact = Estimate(311.3, 0.0)
    assert Digits.of(exact).number(exact.value) == "311.3"
    assert Digits.of(exact).ends(*exact.interval(0.95)) == ("311.3", "311.3")
    assert [text(exact, kind) for kind in ("moe90", "se", "interval95")] == [
        "311.3 ± 0 A",
        "311.3 SE 0 A",
        "311.3 [311.3, 311.3] A",
    ]
    assert repr(exact) == "311.3 ± 0 A"
    assert text(of_margin(3.5, 504.5)).startswith("504.5 ± 3.5")
    assert text(of_margin(35.0, 504.5)).startswith("504 ± 35")


def test_a_notebook_counts_in_the_unit_of_the_page_and_is_heard_in_full():
    """The page wrote 1.91 M ± 0.15 where the notebook had 1,910,000 ± 150,000."""
    estimate = of_margin(148_037.0, 1_907_345.0, "dollars")
    shown = cell_html(estimate, words("en"), common_scale([estimate]))
    page = cell(estimate, Look(), scale=common_scale([estimate]))
    assert (page.number, page.error) == ("1,910\u00a0k", "±\u2009150")
    assert f'<span class="n">{page.number}</span> <span class="moe">± 150</span>' in shown
    assert 'aria-label="1,910,000 dollars, plus or minus 150,000, grade A"' in shown
    assert "2,0\u00a0Mio." in cell_html(of_margin(1.2e6, 2_000_000.0, "Euro"), words("de"), 6)


def test_what_is_written_as_0_has_no_sign_and_changes_have_the_percentage_of_the_page():
    change = change_of(Estimate(98_500, 500.0**2), Estimate(100_400, 500.0**2), "2026-Q2")
    page = cell(change, Look())
    assert (page.number, page.percent, page.percent_error) == ("+1,900", "+1.9%", "±\u20091.2")
    assert '<span class="moe">± 1,200 (+1.9% ± 1.2)</span>' in cell_html(change)
    none = change_of(Estimate(100_000, 500.0**2), Estimate(100_001, 500.0**2), "2026-Q2")
    assert cell(none, Look()).number == "0"
    assert '<span class="n">0</span>' in cell_html(none)


@pytest.mark.parametrize("unit", ["jobs", "share"])
def test_a_number_beyond_its_margin_is_written_beyond_it_and_one_within_is_not(unit):
    """A change of −583 ± 582 was written −580 ± 590 and called real."""
    part = 100_000 if unit == "share" else 1
    for size in range(101, 1_100, 7):
        for ratio in (0.9, 0.997, 1.003, 1.1):
            estimate = of_margin(size / part, size * ratio / part, unit)
            digits, margin = Digits.of(estimate), estimate.moe(0.90)
            shown, reach = (
                float(one.replace(",", "")) for one in (digits.number(estimate.value), digits.margin(margin))
            )
            assert (shown > reach) == (estimate.value > margin)

"""Changes and their verdicts: how often nothing is called a change, how often something is, and what is said of it.

Counts of verdicts are compared with chances that are computed here from the law of the noise alone, by convolution.
Each comparison rejects a right rate with a chance of 1e-9 (two-sided, exact binomial).
With 199,809 cells and a rate near 10% one standard error is 0.067%, and noise that is 5% wider or narrower moves the
rate by more than 1%, which is rejected with a chance above 1 - 1e-9.
"""

import csv
import io
import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom, norm
from tests.cli.test_cli import sfumato
from tests.quarters import released
from worlds import manifest_of, subject_of

import sfumato as sf
from sfumato.errors import QueryError
from sfumato.query import ChangedTable, Estimate, QueryEngine
from sfumato.query.change import change_of
from sfumato.query.layout import percent_seen
from sfumato.query.layout import text as in_text
from sfumato.query.periods import a_year_before, compared
from sfumato.query.plot import mark_of
from sfumato.query.wording import words
from sfumato.release import Calibrated, Control, Cube, Independent, NoNumber, Proportional, Release, Varying, Withheld
from sfumato.release.products.product import PUBLISHED
from sfumato.release.uncertainties.shifted import Shifted
from sfumato.release.value_bounds import ValueBounds
from sfumato.schema import Attribute, Levels, Table

SIDE = 447
ALARM = 1e-9
TABLE = Table((Attribute("row", Levels.of(range(SIDE))), Attribute("column", Levels.of(range(SIDE)))))
PERIODS = ("2025-Q1", "2025-Q4", "2026-Q1")


def geometric(scale):
    """The chances of 0, 1, 2, … steps to one side of two-sided geometric noise, its variance and excess kurtosis."""
    steps = np.arange(int(40 * scale))
    half = np.exp(-steps / scale) * (1 - np.exp(-1 / scale)) / (1 + np.exp(-1 / scale))
    variance = 2 * float(half @ steps**2)
    return half, variance, 2 * float(half @ steps**4.0) / variance**2 - 3


def stated(scale):
    half, variance, excess = geometric(scale)
    return Independent(variance, excess, tuple(half / (half[0] + 2 * half[1:].sum())))


def drawn(rng, scale, shape):
    """The noise by numpy: the difference of two geometric draws."""
    once = -np.expm1(-1 / scale)
    return rng.geometric(once, shape) - rng.geometric(once, shape)


def engine_of(values, uncertainty, period, *others, table=TABLE, sampling=None):
    cube = Cube(subject_of("jobs"), table, values, uncertainty)
    manifest = manifest_of(cube, *others, sampling=sampling).model_copy(update={"period": period})
    products = {one.subject.name: one for one in (cube, *others)}
    return QueryEngine(Release(manifest, period.ljust(64, "0"), products))


def changed(scale, moved, seed, rows="cells", wider=1.0):
    """The verdicts of all cells, or of all rows, where each cell truly moved by so much."""
    rng, shape = np.random.default_rng(seed), TABLE.shape
    truth = np.full(shape, 60)
    before, after = truth + drawn(rng, wider * scale, shape), truth + moved + drawn(rng, wider * scale, shape)
    engines = [engine_of(values, stated(scale), "x") for values in (before, after)]
    by = ["row", "column"] if rows == "cells" else "row"
    tables = [one.table(by, at_most=SIDE**2) for one in engines]
    return ChangedTable(*tables, "2025", "2026")


def chance(scale, moved, margin):
    """How often the difference of two draws, moved by so much, lies beyond the margin."""
    half, *_ = geometric(scale)
    law = np.concatenate([half[:0:-1], half])
    both = np.convolve(law, law)
    steps = np.arange(len(both)) - len(both) // 2 + moved
    return float(both[np.abs(steps) > margin].sum())


def fits(found, draws, rate):
    low, high = binom.ppf([ALARM / 2, 1 - ALARM / 2], draws, rate)
    return low <= found <= high


@pytest.mark.parametrize("scale", [0.4, 1.0, 5.0])
def test_where_nothing_changed_a_verdict_of_change_is_as_rare_as_its_level_says(scale):
    table = changed(scale, 0, seed=1)
    margin = table.figure(0).moe()
    rate = chance(scale, 0, margin)
    assert rate <= 0.10 < chance(scale, 0, margin - 1)
    real = int((table.columns().more["verdict"] == "real").sum())
    assert fits(real, SIDE**2, rate)


@pytest.mark.parametrize("wider", [0.95, 1.05])
def test_noise_that_is_a_little_wider_or_narrower_than_stated_is_found_out(wider):
    table = changed(5.0, 0, seed=2, wider=wider)
    real = int((table.columns().more["verdict"] == "real").sum())
    assert not fits(real, SIDE**2, chance(5.0, 0, table.figure(0).moe()))


@pytest.mark.parametrize("moved", [2, 5, -5, 12])
def test_a_true_change_is_found_as_often_as_the_law_of_the_noise_lets_it_be(moved):
    table = changed(1.0, moved, seed=3)
    power = chance(1.0, moved, table.figure(0).moe())
    assert fits(int((table.columns().more["verdict"] == "real").sum()), SIDE**2, power)
    assert power > 0.99 or abs(moved) < 12


def test_totals_of_many_cells_have_the_level_of_the_normal_law():
    """Of 447 rows of 447 cells each, 30 times: about 10%, and no more than noise on whole steps allows."""
    real = sum(int((changed(1.0, 0, seed, "rows").columns().more["verdict"] == "real").sum()) for seed in range(30))
    margin = changed(1.0, 0, 0, "rows").figure(0).moe()
    error = np.sqrt(2 * SIDE * geometric(1.0)[1])
    assert fits(real, 30 * SIDE, 2 * norm.sf((margin + 0.5) / error))


def test_percentages_hold_the_true_one_at_their_level():
    """60 becomes 66: the interval holds 10% in 90 of 100 cells or rather more; noise twice as wide is found out."""
    told = changed(5.0, 6, seed=4).columns().more
    held = ((told["percent_low90"] <= 10) & (told["percent_high90"] >= 10)).mean()
    assert 0.90 - 6 * np.sqrt(0.09) / SIDE < held < 0.95
    other = changed(5.0, 6, seed=4, wider=2.0).columns().more
    assert ((other["percent_low90"] <= 10) & (other["percent_high90"] >= 10)).mean() < 0.8


def small(seed, sampling=None, table=None, values=(0, 3, 60, 400)):
    table = table or Table((Attribute("place", Levels.of(["a", "b", "c", "d"])),))
    rng = np.random.default_rng(seed)
    noisy = np.array(values) + drawn(rng, 2.0, table.shape)
    return engine_of(noisy, stated(2.0), PERIODS[seed], table=table, sampling=sampling)


SAMPLED = {"kind": "variance-function", "functions": {"jobs": {"a": 0.0, "b": 3.0}}}
UNSAID = {"kind": "withheld", "reason": "the design is not public"}


@pytest.mark.parametrize("sampling", [None, SAMPLED, UNSAID])
def test_arrays_say_what_single_changes_say(sampling):
    table = sf.series([small(0, sampling), small(1, sampling), small(2, sampling)]).compare("place")
    columns, records = table.columns(), table.records()
    for flat, (_, one) in enumerate(table.items()):
        assert (columns.estimate[flat], columns.noise_variance[flat]) == (one.value, one.noise_variance)
        assert columns.moe90[flat] == one.moe()
        assert records[flat]["verdict"] == one.verdict()
        assert records[flat]["words"] == one.words()
        assert (records[flat]["before"], records[flat]["after"]) == (one.before.value, one.after.value)
        if isinstance(one.percent, NoNumber):
            assert np.isnan(columns.more["percent"][flat])
            continue
        low, high = one.percent.interval(0.90)
        assert columns.more["percent"][flat] == pytest.approx(100 * one.percent.value)
        assert columns.more["percent_low90"][flat] == pytest.approx(100 * low)
        assert columns.more["percent_high90"][flat] == pytest.approx(100 * high)


UPWARD, DOWNWARD = (Shifted(Independent(4.0), sign * np.array([0.0, 2.0, 5.0])) for sign in (1, -1))
"""Cells that a step has moved, and how far."""


@pytest.mark.parametrize(
    "uncertainty", [Proportional(0.3, 4.0), Independent(9.0, 3.0), UPWARD], ids=["relative", "laplace", "moved"]
)
@pytest.mark.parametrize(
    "other", [Proportional(0.3, 4.0), Independent(2.0), DOWNWARD], ids=["relative", "normal", "moved"]
)
def test_arrays_and_single_numbers_have_the_same_margins_whatever_the_laws_are(uncertainty, other):
    table = Table((Attribute("place", Levels.of(["a", "b", "c"])),))
    values = np.array([3, 60, 400])
    engines = [
        engine_of(values, uncertainty, "2026-Q1", table=table),
        engine_of(values + 9, other, "2026-Q2", table=table),
    ]
    series = sf.series(engines)
    for shown in (series.table("place", together="sum"), series.compare("place")):
        margins = [one.moe() for _, one in shown.items()]
        assert shown.columns().moe90.tolist() == pytest.approx(margins)


def test_a_change_of_samples_counts_both_errors_and_says_so():
    before, after = Estimate(100, 4.0, 21.0), Estimate(130, 4.0, 71.0)
    moved = change_of(before, after, "2025")
    assert moved.moe() == pytest.approx(16.449, abs=1e-3)  # 1.6449 * sqrt(100)
    assert moved.words() == ("30 more than in 2025; noise and sampling would give ± 16.5 at 90%: a real change.")
    table = sf.series([small(0, SAMPLED), small(1, SAMPLED)]).compare("place")
    assert "as if nobody were in both samples" in repr(table)


def test_what_is_not_stated_of_the_sample_leaves_no_verdict():
    table = sf.series([small(0, UNSAID), small(1, UNSAID)]).compare("place")
    one = table["d", PERIODS[1]]
    assert one.verdict() == "unsaid"
    assert one.words() == "Whether it changed since 2025-Q1 cannot be said: the design is not public."
    assert table.records()[3]["verdict"] == "unsaid"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (98_500, 100_400, "1,900 more than in Q2; noise would give ± 1,164 at 90%: a real change."),
        (100_400, 98_500, "1,900 less than in Q2; noise would give ± 1,164 at 90%: a real change."),
        (
            100_400,
            100_000,
            "No sign of a change since Q2: the difference is −400, and noise would give ± 1,164 at 90%.",
        ),
    ],
)
def test_the_verdict_in_words(before, after, said):
    moved = change_of(Estimate(before, 500.0**2), Estimate(after, 500.0**2), "Q2")  # 1.6449 * 500 * sqrt(2) = 1163.1
    assert moved.words() == said


def test_numbers_without_error_differ_or_are_the_same():
    said = [change_of(Estimate(5, 0.0), Estimate(after, 0.0), "Q2").words() for after in (7, 3, 5)]
    assert said[0] == "2 more than in Q2: both numbers are without error, so it is a real change."
    assert said[1].startswith("2 less than in Q2")
    assert said[2] == "The same as in Q2: both numbers are without error."


def test_an_error_that_is_withheld_leaves_no_verdict():
    moved = change_of(Estimate(5, Withheld("its scale is confidential")), Estimate(9, 1.0), "Q2")
    assert moved.verdict() == "unsaid"
    assert "its scale is confidential" in moved.words()


def moved_to_totals(values, period, total, error):
    """A release whose cells were moved to a total that was published before."""
    table = Table((Attribute("place", Levels.of(["a", "b", "c", "d"])),))
    about = replace(subject_of("totals"), mechanism=PUBLISHED)
    published = Cube(about, Table(()), np.array(total), Varying(np.array(error**2)) if error else Independent(0.0))
    controls = (Control((), error**2),)
    return engine_of(np.array(values), Calibrated(Independent(8.0), controls), period, published, table=table)


def test_releases_that_were_moved_to_the_same_noisy_total_share_its_noise():
    """Four cells with variance 8 and a total with variance 4, by hand.

    The total of a release is w c + (1 - w) Σ x with w = (1/4) / (1/4 + 1/32) = 8/9: two share w² 4 = 256/81. A cell is
    x + (c - Σ x) w / 4: two share w² / 16 · 4 = 16/81. Of the error of the difference only what each has of its own is
    left: (1 - w)² 32 · 2 = 64/81 for the total.
    """
    series = sf.series([moved_to_totals((9, 9, 9, 9), period, 36, 2.0) for period in ("2025", "2026")])
    whole, cells = series.compare(), series.compare("place")
    assert whole["2026"].covariance == pytest.approx(256 / 81)
    assert cells["a", "2026"].covariance == pytest.approx(16 / 81)
    assert whole["2026"].noise_variance == pytest.approx(64 / 81)
    assert whole.columns().noise_variance[0] == pytest.approx(64 / 81)
    assert "what they share by that is counted" in repr(whole)


def test_a_change_has_the_same_error_in_every_language():
    """By hand as above: what two releases share is found whichever language they are told in."""
    engines = [moved_to_totals((9, 9, 9, 9), period, 36, 2.0).in_language("de") for period in ("2025", "2026")]
    assert {one.release.language for one in engines} == {"de"}
    change = sf.series(engines).compare()["2026"]
    assert change.covariance == pytest.approx(256 / 81)
    assert change.noise_variance == pytest.approx(64 / 81)


def test_the_error_of_a_difference_of_releases_that_share_a_total_is_its_error():
    """20,000 pairs moved by hand: the variance within 6 of its standard errors, and not that of two apart."""
    rng, draws = np.random.default_rng(8), 20_000
    total, own = rng.normal(0, 2, draws), rng.normal(0, np.sqrt(8), (2, draws, 4))
    pulled = (total - own.sum(axis=2)) * 8 / (4 + 32)
    series = sf.series([moved_to_totals((9, 9, 9, 9), period, 36, 2.0) for period in ("2025", "2026")])
    close = {"rel": 6 * np.sqrt(2 / draws)}
    for moved, one in (
        (own[..., 0] + pulled, series.compare("place")["a", "2026"]),
        (own.sum(axis=2) + 4 * pulled, series.compare()["2026"]),
    ):
        assert np.var(moved[1] - moved[0]) == pytest.approx(one.noise_variance, **close)
    assert np.var(moved[1] - moved[0]) != pytest.approx(one.before.noise_variance + one.after.noise_variance, **close)


def test_a_year_of_releases_that_share_a_total_counts_what_they_share():
    """Of the total of a release 32/9 is the variance, and two share 256/81: their sum has 2 (32/9 + 256/81)."""
    periods = ("2026-Q1", "2026-Q2")
    same = sf.series([moved_to_totals((9, 9, 9, 9), period, 36, 2.0) for period in periods]).table(together="sum")
    assert same["2026, sum of 2"].noise_variance == pytest.approx(2 * (32 / 9 + 256 / 81))
    assert "share their noise" in same.note
    other = [moved_to_totals((9, 9, 9, 9), period, 30 + place, 2.0) for place, period in enumerate(periods)]
    assert sf.series(other).table(together="sum")["2026, sum of 2"].noise_variance == pytest.approx(4 * 32 / 9)


def test_where_nobody_can_tell_what_is_shared_the_error_is_the_largest_that_it_can_be():
    """Whatever the correlation, the variance is at most (s + t)², by Cauchy and Schwarz."""
    apart = [moved_to_totals((9, 9, 9, 9), "2025", 36, 2.0), moved_to_totals((9, 9, 9, 9), "2026", 37, 2.0)]
    moved = sf.series(apart).compare()
    one = moved["2026"]
    errors = [one.before.noise_se, one.after.noise_se]
    assert one.noise_se == pytest.approx(sum(errors))
    assert moved.columns().se_noise[0] == pytest.approx(sum(errors))
    assert "the largest that it can be" in repr(moved)
    exact = sf.series([moved_to_totals((9, 9, 9, 9), period, 36, 0.0) for period in ("2025", "2026")])
    apart = exact.compare("place")["a", "2026"]
    assert apart.noise_variance == pytest.approx(apart.before.noise_variance + apart.after.noise_variance)
    assert "the largest that it can be" not in repr(exact.compare("place"))


def counted(period, values, **about):
    """A release of two cells whose statistic is about what is said."""
    table = Table((Attribute("place", Levels.of(["a", "b"])),))
    cube = Cube(replace(subject_of("jobs"), **about), table, np.array(values), Independent(2.0))
    manifest = manifest_of(cube).model_copy(update={"period": period})
    return QueryEngine(Release(manifest, period.ljust(64, "0"), {"jobs": cube}))


@pytest.mark.parametrize("about", [{"statistic": "total"}, {"universe": {"sex": ("f",)}}, {"additive": False}])
def test_what_counts_something_else_in_another_period_is_neither_compared_nor_laid_beside_it(about):
    series = sf.series([counted("2025", (90, 80)), counted("2026", (50, 40), **about)])
    for asked in (series.compare, series.table):
        with pytest.raises(QueryError, match="counts something else in 2026 than in 2025"):
            asked("place")


def test_totals_of_values_within_other_bounds_stand_beside_each_other_and_are_no_change():
    held = [ValueBounds("wage", Fraction(0), Fraction(high), Fraction(step)) for high, step in ((900, 1), (1200, 1))]
    first, second = (counted(str(2025 + at), (90, 80), value_bounds=one) for at, one in enumerate(held))
    with pytest.raises(QueryError, match=r"other bounds \(0 to 900 in 2025; 0 to 1,200 in 2026\)"):
        sf.series([first, second]).compare("place")
    table = sf.series([first, second]).table("place")
    assert "other bounds in some of these periods (0 to 900 in 2025; 0 to 1,200 in 2026)" in repr(table)
    assert table.headline() is None
    coarser = counted("2027", (90, 80), value_bounds=replace(held[1], step=Fraction(10)))
    assert sf.series([second, coarser]).compare("place")["a", "2027"].verdict() == "none"


def test_which_periods_are_compared():
    known = ["2025-Q1", "2025-Q4", "2026-Q1"]
    assert compared(known) == tuple(pairwise(known))
    assert compared(known, "year") == (("2025-Q1", "2026-Q1"),)
    assert compared(known, "2025-Q1") == (("2025-Q1", "2025-Q4"), ("2025-Q1", "2026-Q1"))
    assert compared(known, "2026-Q1", "2025-Q4") == (("2026-Q1", "2025-Q4"),)
    assert compared(["last", "next"], "last") == (("last", "next"),)
    with pytest.raises(QueryError, match="did you mean '2025-Q4'"):
        compared(known, "2025-Q5")
    with pytest.raises(QueryError, match=r"2025-Q4 cannot be compared: the same period of the year before is not here"):
        compared(known, "year", "2025-Q4")
    assert a_year_before("2026") == "2025"


def test_periods_stand_in_the_order_of_time_and_the_last_ones_can_be_had():
    names = ("2025-Q10", "2025-Q9", "2024-Q11")
    engines = [engine_of(np.zeros(TABLE.shape, dtype=int), stated(1.0), name) for name in names]
    assert sf.series(engines).periods == ("2024-Q11", "2025-Q9", "2025-Q10")
    assert sf.series(engines).last(2).periods == ("2025-Q9", "2025-Q10")
    with pytest.raises(QueryError, match="last 0 periods"):
        sf.series(engines).last(0)


def test_changes_are_written_to_every_format_and_have_no_grade():
    table = sf.series([small(0), small(1)]).compare("place")
    dataset = table.to_jsonstat()
    assert dataset["role"]["time"] == ["period"]
    assert dataset["dimension"]["period"]["category"]["label"] == {"2025-Q4": "2025-Q1 → 2025-Q4"}
    assert {"before", "after", "percent", "percent_moe90"} <= set(
        dataset["dimension"]["ContentsCode"]["category"]["index"]
    )
    assert set(dataset["status"].values()) & {"real", "none"}
    assert dataset["extension"]["status"]["label"]["none"] == "no sign of a change"
    assert "grade" not in table.records()[0]
    frame = table.to_pandas()
    assert list(frame.verdict) == [one.verdict() for _, one in table.items()]
    assert "v-none" in table._repr_html_()


def test_lines_run_along_the_periods_and_changes_are_dots():
    series = sf.series([small(0), small(1), small(2)])
    line = series.plot("place", at={"place": ["c", "d"]})
    assert [name for name in PERIODS if name in line.to_svg()] == list(PERIODS)
    assert "2025-Q4, d: " in line.to_svg()  # a line is a row, and periods stand along it
    dots = series.compare("place", until="2026-Q1").plot()
    assert "no sign of a change" in dots.to_svg()


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    whole = tmp_path_factory.mktemp("changes")
    return [released(whole / period, period, seed) for seed, period in enumerate(PERIODS)]


def test_the_command_line_prints_changes_with_their_verdicts(folders):
    told = sfumato("series", *folders, "--rows", "county", "--change", "--since", "year").stdout
    assert "2025-Q1 → 2026-Q1" in told
    assert "Verdicts are at 90%" in told
    assert told.count("would give ±") == 5
    whole = sf.series(folders).compare(since="year")["2026-Q1"]
    assert f"In all: {whole.words()}" in told
    whole = sfumato("series", *folders, "--change", "--last", "2", "--format", "csv").stdout
    (row,) = csv.DictReader(io.StringIO(whole))
    series = sf.series(folders[1:])
    one = series.compare()["2026-Q1"]
    assert (float(row["estimate"]), row["verdict"], row["words"]) == (one.value, one.verdict(), one.words())


def test_the_command_line_refuses_what_contradicts_itself(folders):
    from sfumato.cli.table import series

    with pytest.raises(QueryError, match="--sum and --change are asked for together"):
        series(folders, sum=True, change=True)
    with pytest.raises(QueryError, match="add --change"):
        series(folders, since="year")


def test_a_change_that_is_written_as_0_has_no_sign_in_a_picture():
    assert mark_of(change_of(Estimate(185, 80.0**2), Estimate(189, 80.0**2), "2026-Q2"), "row").shown.startswith("0 ±")
    assert mark_of(change_of(Estimate(1_850, 8.0**2), Estimate(2_150, 8.0**2), "2026-Q2"), "row").shown[:4] == "+300"


def law_of(scale, cells):
    """The law of a sum of so many draws, by convolution."""
    half, *_ = geometric(scale)
    law = np.concatenate([half[:0:-1], half])
    summed = np.ones(1)
    for _ in range(cells):
        summed = np.convolve(summed, law)
    return summed


@pytest.mark.parametrize("level", [0.90, 0.95, 0.99])
@pytest.mark.parametrize(
    ("scales", "cells"), [((1, 2 / 3), 1), ((5.0, 10 / 3), 1), ((2.5, 1 / 0.9), 1), ((1, 0.5), 3), ((1, 0.125), 2)]
)
def test_a_change_between_releases_of_unlike_epsilons_holds_its_level_and_no_shorter_margin_would(scales, cells, level):
    """By the exact law of both draws; counting the draws of either law alone misses up to 1.6 times too often."""
    table = Table((Attribute("cell", Levels.of(range(cells))),))
    pair = [engine_of(np.full(cells, 60), stated(one), "x", table=table).table([]) for one in scales]
    one = change_of(*(table.figure(0) for table in pair), "2025")
    both = np.convolve(*(law_of(scale, cells) for scale in scales))
    steps = np.abs(np.arange(len(both)) - len(both) // 2)
    beyond = [float(both[steps > margin].sum()) for margin in (one.moe(level), one.moe(level) - 1)]
    assert beyond[0] <= 1 - level < beyond[1]
    changed_table = ChangedTable(*pair, "2025", "2026")
    assert changed_table.columns().moe90[0] == one.moe()


def test_a_real_change_is_written_beyond_what_noise_would_give():
    """With as many decimals as that takes, in a sentence as in a terminal."""
    for value, margin in ((1160, 1159.4), (1160.4, 1160.2), (0.52, 0.5199), (1900, 1163.1), (-1160, 1159.4)):
        variance = (margin / norm.ppf(0.95)) ** 2 / 2
        change = change_of(Estimate(0, variance), Estimate(value, variance), "2026-Q2")
        for text in (change.sentence().english(), repr(change)):
            found = re.findall(r"(?<![-0-9Q])[0-9][0-9,.]*[0-9](?![-%0-9])", text)
            size, reach = (float(one.replace(",", "")) for one in found)
            assert size > reach >= margin, text


@pytest.mark.parametrize("truth", [(60, 60), (60, 66), (60, 54), (30, 24)])
def test_a_percentage_and_its_verdict_never_disagree_about_0_and_it_holds_its_level(truth):
    """199,809 cells at epsilon 0.3: without the rule one cell in some hundred disagrees."""
    rng, before, after = np.random.default_rng(5), *truth
    scale = 1 / 0.3
    engines = [engine_of(one + drawn(rng, scale, TABLE.shape), stated(scale), "x") for one in (before, after)]
    told = ChangedTable(*(one.table(["row", "column"], at_most=SIDE**2) for one in engines), "2025", "2026")
    told = told.columns().more
    low, high, some = told["percent_low90"], told["percent_high90"], ~np.isnan(told["percent_low90"])
    real = (told["verdict"] == "real")[some]
    assert ((low[some] >= 0) | (high[some] <= 0))[real].all()
    assert ((low[some] <= 0) & (high[some] >= 0))[~real].all()
    true = 100 * (after / before - 1)
    held = ((low <= true) & (high >= true))[some].mean()
    assert held > 0.90 - 6 * np.sqrt(0.09 / some.sum())


def test_a_real_change_is_never_printed_with_a_margin_in_percent_that_reaches_beyond_0():
    """From 40 to 92, each ± 26 or so: the interval in percent is far longer above than below."""
    change = change_of(Estimate(40, 16.0**2), Estimate(92, 16.0**2), "2025")
    low, high = change.percent.interval(0.90)
    assert change.verdict() == "real"
    assert 0 <= low < change.percent.value < high
    assert change.percent.moe() > change.percent.value
    value, error = percent_seen(change, words("en"))
    assert (value, "±" in error, error.endswith("%")) == ("+130%", False, True)
    assert f"(+130.0%, {error})" in in_text(change)


def test_long_numbers_are_said_in_thousands_and_millions_with_the_digits_that_are_known():
    none = change_of(Estimate(9.1e9, 3e7**2), Estimate(9.112e9, 3e7**2), "Q2")
    assert "the difference is 12\u00a0M, and noise would give ± 70\u00a0M" in none.words()
    real = change_of(Estimate(9.1e9, 3e7**2), Estimate(9.27e9, 3e7**2), "Q2")
    assert real.words().startswith("170\u00a0M more than in Q2; noise would give ± 70\u00a0M")
    assert "70\u00a0Mio." in real.sentence().said(words("de"))


def test_a_percentage_that_says_nothing_is_not_shown_and_none_is_below_minus_100():
    """50 ± 60 after 28 ± 60: +80% with a margin of hundreds of points; and 5 ± 16 after 40 ± 8 ends at −100%."""
    wild = change_of(Estimate(28, 10.0**2), Estimate(50, 36.0**2), "Q2")
    assert wild.percent.value == pytest.approx(50 / 28 - 1)
    assert wild.percent.moe() > 1
    assert "%" not in percent_seen(wild, words("en"))[0]
    steep = change_of(Estimate(40, 5.0**2), Estimate(5, 10.0**2), "Q2")
    assert steep.percent.interval(0.90)[0] == -1.0
    assert "%" in percent_seen(steep, words("en"))[0]
    gone = change_of(Estimate(40, 5.0**2), Estimate(-5, 10.0**2), "Q2")
    assert isinstance(gone.percent, NoNumber)  # no true number went down by 112%
    sound = change_of(Estimate(400, 5.0**2), Estimate(500, 10.0**2), "Q2")
    assert percent_seen(sound, words("en"))[0] == "+25.0%"

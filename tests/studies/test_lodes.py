"""Employer-employee mechanisms beside noise infusion: errors as the notes derive them, and what the paper finds."""

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from scipy.stats import spearmanr
from tests.commands import command

from sfumato.draws import SeededDraws
from sfumato.mechanisms import Cells, LogLaplace, SmoothGamma, SmoothLaplace
from sfumato.privacy import Contribution, SizeWithin
from sfumato.schema import Attribute, Largest, Levels, Schema
from sfumato.studies import STUDIES
from sfumato.studies.lodes_cells import EVERYWHERE
from sfumato.studies.lodes_figures import ALPHAS, EPSILONS, made, points, slope, spearman
from sfumato.studies.lodes_laws import LAWS, PAPER, TIGHT, quartic

JOBS, RUNS = 60_000, 4
LOG, GAMMA, LAPLACE = PAPER
TIGHT_LOG, TIGHT_GAMMA = TIGHT


def silent(stage):
    """Nobody is told how far it is."""


def error(law, n, x, alpha=0.1, epsilon=1.0):
    return float(law.expected(np.array([n], float), np.array([x], float), alpha, epsilon)[0])


@pytest.mark.parametrize(
    ("law", "n", "x", "epsilon", "expected"),
    [
        # One employer dominates; then many small ones: notes on Haney et al. 2017, checked there by simulation.
        (LOG, 200, 150, 1, 41.5), (GAMMA, 200, 150, 1, 169.7), (LAPLACE, 200, 150, 1, 30.0),
        (LOG, 5000, 200, 1, 991), (GAMMA, 5000, 200, 1, 226), (LAPLACE, 5000, 200, 1, 40),
        (GAMMA, 0, 150, 2, 84.9), (TIGHT_GAMMA, 0, 150, 2, 14.1), (LAPLACE, 0, 150, 2, 15.0),
        (GAMMA, 0, 150, 4, 42.4), (TIGHT_GAMMA, 0, 150, 4, 6.5), (TIGHT_GAMMA, 0, 150, 1, 33.9),
    ],
)  # fmt: skip
def test_errors_are_those_of_the_notes(law, n, x, epsilon, expected):
    assert error(law, n, x, epsilon=epsilon) == pytest.approx(expected, rel=0.008)


@pytest.mark.parametrize(
    ("law", "least"),
    [
        (GAMMA, [0.040, 0.195, 0.381, 0.559, 0.729]), (TIGHT_GAMMA, [0.030, 0.146, 0.286, 0.419, 0.547]),
        (LAPLACE, [0.060, 0.292, 0.571, 0.837, 1.092]),
    ],
)  # fmt: skip
def test_the_least_epsilons_are_those_of_the_notes(law, least):
    assert [law.least(alpha) for alpha in ALPHAS] == pytest.approx(least, abs=6e-4)


@pytest.mark.parametrize("law", LAWS, ids=lambda one: one.name)
def test_what_is_drawn_has_the_expected_error(law):
    n = np.full(200_000, 400.0)
    drawn = np.abs(law.drawn((n, np.full(n.size, 90.0)), 0.1, 1.0, np.random.default_rng(3)) - n)
    # Six standard errors: a false alarm of 2e-9; an error 5% off lies beyond ten of them.
    slack = 6 * drawn.std() / sqrt(n.size)
    assert abs(drawn.mean() - error(law, 400, 90)) < slack
    assert 0.05 * drawn.mean() > slack


def test_the_quartic_law_has_the_moments_of_the_notes():
    drawn = quartic(400_000, np.random.default_rng(5))
    assert np.abs(drawn).mean() == pytest.approx(1 / sqrt(2), rel=0.01)
    assert drawn.var() == pytest.approx(1, rel=0.1)  # the fourth moment is infinite


@pytest.mark.parametrize(
    ("law", "mechanism"),
    [
        (LOG, LogLaplace(1, factor=2, estimate="as drawn")), (TIGHT_LOG, LogLaplace(1)),
        (GAMMA, SmoothGamma(1, local="at least one", constants="paper")),
        (TIGHT_GAMMA, SmoothGamma(1, local="at least one")),
        (LAPLACE, SmoothLaplace(1, delta="0.05", local="at least one")),
    ],
    ids=lambda one: one.words() if hasattr(one, "words") else "",
)  # fmt: skip
def test_the_mechanisms_that_plans_use_have_the_errors_of_the_figures(law, mechanism):
    table = Schema((Attribute("place", Levels.of([f"p{one}" for one in range(40_000)]), of="shop"),)).table(["place"])
    move = SizeWithin("shop", Fraction(1, 10), "shop_id").move(Contribution(), table)
    largest = {Largest(): np.full((*table.shape, 1), 150)}
    cells = Cells(table, np.full(table.shape, 300), Fraction(1), move, columns=largest)
    noisy = mechanism.perturb(cells, SeededDraws(2))
    off = np.abs(noisy.values * float(noisy.step) - 300)
    # Six standard errors, and half a step of rounding: a false alarm of 2e-9.
    assert abs(off.mean() - error(law, 300, 150)) < 6 * off.std() / sqrt(off.size) + 0.02


def test_ranks_correlate_as_in_scipy():
    one, other = np.random.default_rng(1).integers(0, 30, (2, 500)).astype(float)
    assert spearman(one, other) == pytest.approx(spearmanr(one, other).statistic, abs=1e-12)


def of(figure, law, alpha, places=EVERYWHERE):
    found = points(figure, RUNS, JOBS, silent)
    return [one for one in found if (one.mechanism, one.alpha, one.places) == (law.name, alpha, places)]


def test_cells_and_largest_workplaces_add_up():
    whole, parts = made(JOBS, silent)
    assert whole.jobs.sum() == parts.jobs.sum() == JOBS
    assert parts.jobs.size == 10 * whole.jobs.size
    assert (parts.jobs.reshape(-1, 10).sum(axis=1) == whole.jobs).all()
    assert (whole.largest <= whole.jobs).all()
    assert (whole.largest >= parts.largest.reshape(-1, 10).max(axis=1)).all()
    assert (whole.jobs[np.bincount(whole.cell) == 1] == whole.largest[np.bincount(whole.cell) == 1]).all()


@pytest.mark.parametrize("figure", [3, 5])
@pytest.mark.parametrize("law", [GAMMA, LAPLACE], ids=["gamma", "laplace"])
def test_the_ratio_of_smooth_methods_falls_as_one_over_epsilon(figure, law):
    # By the laws themselves, whose slope is -1 to rounding; drawn ones scatter about it with their standard errors.
    for alpha in ALPHAS:
        own = of(figure, law, alpha)
        assert [one.epsilon for one in own] == [one for one in EPSILONS if one > law.least(alpha)]
        logs = np.polyfit(np.log([one.epsilon for one in own]), np.log([one.expected for one in own]), 1)
        assert logs[0] == pytest.approx(-1, abs=1e-9)
    slopes = [slope(of(5, law, alpha)) for alpha in ALPHAS]
    assert slopes == pytest.approx([-1] * len(ALPHAS), abs=0.1)


def test_the_drawn_ratios_are_about_the_expected_ones():
    found = [one for one in points(5, RUNS, JOBS, silent) if one.mechanism in {GAMMA.name, LAPLACE.name, LOG.name}]
    # Four trials tell their own error badly, so the bound is wide; log-Laplace near its least epsilon has no variance.
    kept = [one for one in found if one.places == EVERYWHERE and one.epsilon > 2.5 * LOG.least(one.alpha)]
    assert len(kept) > 40
    assert max(abs(one.mean / one.expected - 1) for one in kept) < 0.25


def test_log_laplace_is_better_than_the_papers_smooth_gamma_where_one_employer_dominates_and_worse_where_none_does():
    whole, _ = made(JOBS, silent)
    lone = (whole.largest >= 0.9 * whole.jobs) & (whole.jobs >= 50)
    many = whole.jobs >= 8 * whole.largest
    for mask, better in ((lone, LOG), (many, GAMMA)):
        assert mask.any()
        worse = GAMMA if better is LOG else LOG
        one, other = (law.expected(whole.jobs[mask], whole.largest[mask], 0.1, 1.0) for law in (better, worse))
        assert (one < other).all()


def test_ranks_come_closer_to_those_of_noise_infusion_with_epsilon():
    means = [one.mean for one in of(4, LOG, 0.05)]
    assert means == sorted(means)
    assert means[-1] > 0.99


def test_figures_are_printed_drawn_and_kept_as_numbers(tmp_path):
    words = ("--rows", 3_000, "--runs", 2, "--picture", tmp_path / "f.svg", "--numbers", tmp_path / "f.csv")
    done = command("reproduce", "lodes-figure-4", *words)
    assert done.returncode == 0, done.stderr
    assert "alpha 0.1, epsilon 1: all places" in done.stdout
    assert "making 3,000 jobs" in done.stderr
    assert (tmp_path / "f.svg").read_text(encoding="utf-8").startswith("<svg")
    lines = (tmp_path / "f.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "figure,measure,places,mechanism,alpha,epsilon,mean,standard_error,expected"
    assert len(lines) > 200
    assert "makes no data" in command("reproduce", "ors-table-2", "--rows", 7).stderr
    assert "has no points" in command("reproduce", "ors-table-2", "--numbers", tmp_path / "x.csv").stderr
    assert STUDIES["lodes-figure-3"].rows == 200_000


def test_all_eight_margins_and_tables_by_traits_are_compared():
    told = {one.what: one for one in STUDIES["lodes-margins"].lines(2, 5_000, silent)}
    assert len(told) == 8 + 3
    assert told["all jobs"].remark == "1 cell"
    assert told["sector × ownership"].ours.count("/") == len(LAWS) - 1
    assert told["place × sector × race"].remark.endswith("epsilon shared by 6 kinds")
    # Six kinds at alpha 0.1 leave each a sixth of 1, below what smooth gamma needs: 0.38.
    assert told["place × sector × race"].ours.split(" / ")[1] == "-"
    # One number of 5,000 jobs: (n + 10) l / (1 - l²) of log-Laplace over noise infusion's error is the ratio of smooth
    # gamma's times the ratio of their errors.
    log, gamma = (float(one) for one in told["all jobs"].ours.split(" / ")[:2])
    whole, _ = made(5_000, silent)
    assert log / gamma == pytest.approx(error(LOG, 5_000, 0) / error(GAMMA, 0, whole.largest.max()), rel=0.01)

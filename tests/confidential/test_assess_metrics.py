"""The metrics of an assessment, each against a hand-computed example or an independent formula."""

import math
import pickle
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats.contingency import association

from sfumato.confidential.assessment.comparisons import Compared, ComparedTable, ReportRules, margin, pooled
from sfumato.confidential.assessment.honesty import errors, honesty
from sfumato.confidential.assessment.risk import flips, nested, slivers, uniques
from sfumato.confidential.assessment.utility import (
    by_size,
    cramers_v,
    differences,
    grade_a,
    hellinger,
    overlap,
    overlaps,
    publishable,
)
from sfumato.errors import PlanError
from sfumato.query import Estimate
from sfumato.release import Cube, Independent, Subject
from sfumato.schema import Attribute, Levels, Table


def cells(released, truth, **more):
    released, truth = np.array(released, dtype=float), np.array(truth, dtype=float)
    filled = {
        "held": truth,
        "records": np.rint(truth).astype(np.int64),
        "noise": np.ones(len(truth)),
        "counted": released,
    }
    return Compared(released=released, truth=truth, **(filled | more))


def test_flips_are_counted_both_ways_with_the_threshold_in_records():
    found = flips(cells([0, 2, -1, 0, 0.4, 9], [0, 0, 0, 3, 1, 8]), ReportRules())
    assert (found["zeros"], found["to_nonzero"], found["nonzeros"], found["to_zero"], found["negative"]) == (
        3,
        2,
        3,
        2,
        1,
    )
    assert found["threshold"] == 0.5


def test_near_zero_of_a_total_is_in_what_a_record_adds():
    found = flips(cells([40, 60, 900], [0, 0, 1000], worth=100.0), ReportRules(near_zero=0.5))
    assert (found["threshold"], found["zeros"], found["to_nonzero"]) == (50.0, 2, 1)


def test_uniques_that_look_unique_and_are():
    found = uniques(cells([1, 3, 1.2, 0], [1, 1, 5, 0]))
    assert (found["unique"], found["look_unique"], found["both"]) == (2, 2, 1)
    assert uniques(cells([1], [1], counted=None)) is None


def two_way(true, released):
    """A count by a and b, its published cube, and the two compared."""
    a, b = (
        Attribute(name, Levels.of([f"{name}{place}" for place in range(n)]))
        for name, n in zip("ab", np.shape(true), strict=True)
    )
    table = Table((a, b))
    subject = Subject("n", "count", "Number", "records", Fraction(1))
    cube = Cube(subject, table, np.array(released, dtype=np.int64), Independent(4.0))
    looked = ComparedTable(table, cells(np.ravel(released), np.ravel(true), noise=np.full(np.size(true), 4.0)))
    return cube, looked


def test_slivers_are_found_by_asking_with_and_without_a_level():
    cube, looked = two_way(true=[[10, 1, 0], [10, 10, 2]], released=[[9, 1, 2], [11, 10, 5]])
    found = slivers([nested(cube, looked, ReportRules(least=3))])
    # Within the rows (11 and 22 records) every cell but the first leaves 3 or more; within the columns (20, 11 and 2)
    # both cells of the first leave 10, and the 1 of the second leaves 10.
    assert found["pairs"] == 5 + 3
    assert found["slivers"] == 2 + 1  # the 1 and the 2 within their rows, the 1 within its column
    assert found["told"] == 2  # the 1 reads as 1 both ways; the 2 reads as 5
    assert (found["say"], found["say_rightly"]) == (3, 2)  # the empty cell reads as 2
    assert found["said"] == (1.0, 1.0, 3.0)
    assert found["error"] == 2.0


def test_released_differences_are_those_of_two_questions_put_to_the_product():
    rng = np.random.default_rng(1)
    true = rng.integers(0, 9, (4, 5))
    cube, looked = two_way(true, true + rng.integers(-2, 3, (4, 5)))
    found = nested(cube, looked, ReportRules(least=1))
    kept = np.concatenate([(true.sum(axis, keepdims=True) - true >= 1).ravel() for axis in (0, 1)])
    assert found.said.tolist() == np.tile(cube.values.ravel(), 2)[kept].tolist()


def test_differences_by_hand():
    found = differences(cells([12, 0, 3, 1], [10, 4, 3, 0]))
    assert found["mean_absolute"] == (2 + 4 + 0 + 1) / 4
    assert found["root_mean_square"] == math.sqrt((4 + 16 + 0 + 1) / 4)
    assert found["bias"] == (2 - 4 + 0 + 1) / 4
    assert found["mean_relative"] == pytest.approx((0.2 + 1 + 0) / 3)
    assert found["relative"][1] == pytest.approx(0.2)


def test_no_cells_have_no_differences():
    found = differences(cells([], []))
    assert (found["mean_absolute"], found["root_mean_square"], found["relative"]) == (None, None, (None, None, None))


def test_size_classes_hold_every_cell_once():
    sizes = by_size(cells(range(2000), range(2000)))
    assert [words for words, _ in sizes] == ["empty", "1–2", "3–9", "10–99", "100–999", "1,000 or more"]
    assert [part.size for _, part in sizes] == [1, 2, 7, 90, 900, 1000]


def test_publishable_before_newly_and_no_longer():
    # Three records and a sampling CV of 20% pass before; two records never; a CV of 50% does not.
    found = publishable(
        cells(
            released=[100, 100, 100, 10, -5],
            truth=[100, 100, 100, 100, 100],
            records=np.array([3, 2, 9, 9, 9]),
            sampling=np.array([20.0, 20, 50, 20, 20]) ** 2,
            noise=np.array([10.0, 10, 10, 10, 10]) ** 2,
            counted=np.array([4.0, 3, 9, 9, 9]),
        ),
        ReportRules(least=3, largest_cv=0.30),
    )
    assert found["before"] == 3
    assert found["after"] == 2  # the first and second: sqrt(20² + 10²) is 22% of 100
    assert (found["newly"], found["lost"]) == (1, 2)
    assert (found["by_cv"], found["newly_by_cv"], found["count_known"]) == (2, 1, True)


def test_a_weighted_frequency_is_asked_for_beside_the_records():
    """Of four cells with records enough the second weighs too little, the third is released as if it did."""
    asked = {
        "released": [100.0] * 4,
        "truth": [100.0] * 4,
        "records": np.array([9, 9, 9, 2]),
        "noise": np.ones(4),
        "counted": np.array([9.0, 9, 9, 2]),
        "weight": np.array([500.0, 499, 800, 900]),
        "weighed": np.array([510.0, 505, 450, 900]),
    }
    found = publishable(cells(**asked), ReportRules(least_weighted=500))
    assert (found["before"], found["after"], found["newly"], found["lost"]) == (2, 2, 1, 1)
    assert found["count_known"]
    unweighted = publishable(cells(**asked), ReportRules())
    assert (unweighted["before"], unweighted["after"]) == (3, 3)
    unreleased = publishable(cells(**asked | {"weighed": None}), ReportRules(least_weighted=500))
    assert (unreleased["after"], unreleased["count_known"]) == (3, False)


def test_without_a_released_count_the_rule_is_the_cv_alone():
    found = publishable(cells([100.0], [1.0], counted=None, noise=np.array([1.0])), ReportRules())
    assert (found["before"], found["after"], found["count_known"]) == (0, 1, False)


@pytest.mark.parametrize("seed", range(5))
def test_cramers_v_is_scipys(seed):
    table = np.random.default_rng(seed).integers(1, 50, (4, 3))
    assert cramers_v(table.astype(float)) == pytest.approx(association(table, method="cramer"), rel=1e-12)


def test_cramers_v_leaves_out_empty_lines_and_takes_negatives_as_zero():
    table = np.array([[5, 9, 0], [7, 2, -3], [0, 0, 0]], dtype=float)
    assert cramers_v(table) == pytest.approx(association(np.array([[5, 9], [7, 2]]), method="cramer"), rel=1e-12)
    assert cramers_v(np.array([[5.0, 9.0]])) is None


def test_hellinger_by_hand():
    # p = (1/2, 1/2), q = (1, 0): sqrt(((sqrt(1/2) - 1)² + 1/2) / 2)
    expected = math.sqrt(((math.sqrt(0.5) - 1) ** 2 + 0.5) / 2)
    assert hellinger(np.array([3.0, 3.0]), np.array([7.0, -1.0])) == pytest.approx(expected, rel=1e-12)
    assert hellinger(np.array([1.0, 2.0]), np.array([10.0, 20.0])) == 0
    assert hellinger(np.array([1.0]), np.array([0.0])) is None


@pytest.mark.parametrize(("shift", "expected"), [(0.0, 1.0), (1.0, 0.745), (2 * 1.959964, 0.0), (8.0, -1.041)])
def test_overlap_of_equal_intervals_is_karrs(shift, expected):
    found = overlap(np.array([10.0]), np.array([2.0]), np.array([10.0 + 2 * shift]), np.array([2.0]))
    assert found[0] == pytest.approx(expected, abs=5e-4)


def test_overlap_of_a_wider_interval_by_hand():
    # Within an interval three times as wide: all of the one and a third of the other.
    assert overlap(np.zeros(1), np.ones(1), np.zeros(1), np.full(1, 3.0))[0] == pytest.approx((1 + 1 / 3) / 2)


def test_overlaps_need_a_sampling_error():
    assert overlaps(cells([1.0], [1.0])) is None
    assert overlaps(cells([1.0], [1.0], sampling=np.zeros(1))) is None
    found = overlaps(cells([1.0, 100.0], [1.0, 1.0], sampling=np.array([9.0, 9.0]), noise=np.array([1e-12, 1e-12])))
    assert (found["cells"], found["apart"]) == (2, 1)
    assert found["mean"] < 0


def test_honesty_counts_margins_that_hold_by_hand():
    z = NormalDist().inv_cdf(0.95)
    found = honesty(cells([z - 0.01, z + 0.01, -1, 50], [0, 0, 0, 0], noise=np.array([1, 1, 1, np.nan])))
    assert found["cells"] == 3
    assert found["held"] == found["truth"] == pytest.approx(2 / 3)
    assert found["squared"] == pytest.approx(((z - 0.01) ** 2 + (z + 0.01) ** 2 + 1) / 3)


def test_honesty_speaks_of_what_noise_was_added_to_and_of_the_data_apart():
    found = honesty(cells([100.5], [120.0], held=np.array([100.0])))
    assert (found["held"], found["truth"]) == (1.0, 0.0)


def test_errors_and_the_papers_formula_by_hand():
    found = errors(
        cells([5, 12], [0, 10], sampling=np.array([0.0, 9.0]), noise=np.array([16.0, 16.0]), records=np.array([0, 10]))
    )
    assert found["noise"] == 4
    assert found["sampling"] == 1.5
    assert found["noise_share"] == pytest.approx(32 / 41)
    assert found["ratio"] == pytest.approx(5 / 3)
    assert found["honest"] == pytest.approx(math.sqrt((16 + 25) / 2))
    assert found["literal"] == pytest.approx(math.sqrt((25 + (9 + 4)) / 2))
    assert (found["gives_away"], found["empty"]) == (1, 1)


def test_the_papers_formula_gives_every_empty_cell_away_and_the_honest_error_none():
    rng = np.random.default_rng(3)
    truth = np.where(np.arange(500) < 400, 0, rng.integers(1, 9, 500) * 10)
    released = truth + np.where(rng.random(500) < 0.5, -3, 4)
    found = errors(cells(released, truth, sampling=np.where(truth > 0, 7.0, 0.0), noise=np.full(500, 12.5)))
    assert (found["gives_away"], found["empty"]) == (400, 400)


@pytest.mark.parametrize("noise", [0.0, 0.5, 4.0, 100.0])
def test_grade_a_is_what_the_page_says(noise):
    released = np.arange(-20.0, 60.0)
    pages = [Estimate(value, noise).grade == "A" for value in released]
    assert grade_a(cells(released, released, noise=np.full(80, noise)), {"A": 0.15, "B": 0.30}) == pytest.approx(
        np.mean(pages)
    )


def test_pooled_cells_lack_what_one_table_lacks():
    both = pooled([cells([1], [1], sampling=np.ones(1)), cells([2, 3], [2, 3])])
    assert both.size == 3
    assert both.sampling is None


def test_margins_keep_the_order_asked_for():
    cube = np.arange(24).reshape(2, 3, 4)
    assert (margin(cube, ("a", "b", "c"), ("c", "a")) == cube.sum(axis=1).T).all()
    assert (margin(cube, ("a", "b"), ("b",)) == cube.sum(axis=0)).all(), "an axis that is not named stays last"


def test_what_is_compared_shows_nothing_and_stays_in_its_process():
    one = cells([12345], [54321])
    assert "12345" not in repr(one)
    with pytest.raises(TypeError, match="confidential"):
        pickle.dumps(one)


@pytest.mark.parametrize("wrong", [{"near_zero": 0}, {"least": 0}, {"largest_cv": -1}, {"least_weighted": 0}])
def test_rules_that_cannot_be_meant_are_refused(wrong):
    with pytest.raises(PlanError, match="above 0"):
        ReportRules(**wrong)

"""Protected microdata: the fit against a solver nobody here wrote, unbiased, and tidied rows with their bias said."""

import math

import numpy as np
import pytest
from economy import SETS, economy, products
from scipy.sparse import coo_matrix, vstack
from scipy.sparse.linalg import lsqr

from sfumato.calibrate import ProtectedMicrodata
from sfumato.calibrate.microdata import Fitting, at_least_0
from sfumato.calibrate.tidy_rows import projected, rounded
from sfumato.errors import PlanError, ReleaseError
from sfumato.mechanisms import ClippedTotal, SquareRoot
from sfumato.release import Squared


def by_lsqr(problem: Fitting, sizes) -> np.ndarray:
    """Stacked weighted equations, one a row and one a total, solved by scipy's LSQR."""
    s = 0.5 / 0.7
    weight = 4 * s**2 * np.asarray(sizes, dtype=float) + 2 * s**4
    count = len(sizes)
    blocks, sides, deviations = [coo_matrix(np.eye(count))], [problem.measured], [np.sqrt(weight)]
    for control, grouping, noise in zip(
        problem.controls, problem.groupings, problem.joined.parts(problem.noise(sizes)), strict=True
    ):
        blocks.append(coo_matrix((np.ones(count), (grouping.of, np.arange(count))), (grouping.size, count)))
        sides.append(control.values * float(control.subject.step))
        deviations.append(np.sqrt(noise))
    scale = 1 / np.concatenate(deviations)
    matrix = vstack(blocks).tocsr().multiply(scale[:, None]).tocsr()
    return lsqr(matrix, np.concatenate(sides) * scale, atol=1e-14, btol=1e-14, iter_lim=20_000)[0]


@pytest.mark.parametrize(
    "sets", [SETS, {"all": ()}, {"cell": SETS["cell"]}, {"county": SETS["county"], "trade": SETS["trade"]}, {}], ids=len
)
@pytest.mark.parametrize("totals", [ClippedTotal, SquareRoot])
def test_the_fit_is_that_of_a_general_solver(totals, sets):
    if not sets:
        return
    frame, jobs = economy()
    made = products(frame, jobs, 3, sets, totals=totals)
    problem = Fitting(made["rows"], tuple(made[name] for name in sets))
    sizes = problem.fitted_sizes()
    assert np.allclose(problem.fit(sizes), by_lsqr(problem, sizes), atol=1e-6)
    found = ProtectedMicrodata("made", "rows", tuple(sets)).apply(made)
    assert np.allclose(found.values * float(found.subject.step), problem.fit(sizes), atol=1e-6)


def test_weights_are_taken_at_fitted_sizes_which_are_those_of_a_first_fit():
    frame, jobs = economy()
    made = products(frame, jobs, 4)
    problem = Fitting(made["rows"], tuple(made[name] for name in SETS))
    first = problem.fit(at_least_0(problem.measured))
    assert np.allclose(problem.fitted_sizes(), np.maximum(first, 0), rtol=1e-6)


def state_totals(runs: int, sizes_of) -> np.ndarray:
    frame, jobs = economy(400, 2)
    errors = []
    for seed in range(runs):
        made = products(frame, jobs, seed, {"cell": SETS["cell"]})
        problem = Fitting(made["rows"], (made["cell"],))
        errors.append(problem.fit(sizes_of(problem, jobs)).sum() - jobs.sum())
    return np.array(errors)


@pytest.mark.slow
def test_fitted_weights_do_not_pull_totals_and_are_as_good_as_true_ones():
    """2,000 runs with no total above the cells to hold them: the bias of the sum, in standard errors of its mean."""
    fitted = state_totals(2_000, lambda problem, _: problem.fitted_sizes())
    oracle = state_totals(2_000, lambda _, jobs: jobs.astype(np.float32))
    error = fitted.std() / math.sqrt(2_000)
    # Cutting takes at most 0.0034 · 2 s sqrt(T) off each of 18 groups.
    assert abs(fitted.mean()) < 3 * error + 18 * 0.0034 * 2 * 0.72 * 14
    assert fitted.std() < 1.02 * oracle.std()


def test_a_simplex_projection_is_the_nearest_point():
    """Against quadratic programming by scipy on small cells."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(5)
    for _ in range(20):
        values = rng.normal(1, 3, 6)
        found = projected(values, np.zeros(6, dtype=np.int32))
        total = max(values.sum(), 0.0)
        assert found.min() >= 0
        assert found.sum() == pytest.approx(total, abs=1e-9)
        rule = {"type": "eq", "fun": lambda x, total=total: x.sum() - total}
        solved = minimize(lambda x, y=values: ((x - y) ** 2).sum(), np.full(6, total / 6), bounds=[(0, None)] * 6, constraints=rule)  # fmt: skip  # noqa: E501
        assert ((found - values) ** 2).sum() <= solved.fun + 1e-5


def test_whole_rows_keep_the_totals_of_their_cells():
    rng = np.random.default_rng(6)
    values, cells = rng.normal(3, 4, 1_000), rng.integers(0, 40, 1_000).astype(np.int32)
    found = rounded(values, cells)
    assert (found == np.rint(found)).all()
    assert np.abs(found - values).max() < 1
    assert np.abs(np.bincount(cells, found) - np.bincount(cells, values)).max() <= 0.5


def test_tidied_rows_say_what_they_cost():
    frame, jobs = economy()
    jobs = np.where(frame.places["county"] == 2, 0, jobs)
    made = products(frame, jobs, 7)
    plain = ProtectedMicrodata("made", "rows", tuple(SETS)).apply(made)
    tidy = ProtectedMicrodata("made", "rows", tuple(SETS), nonnegative=True, whole=True).apply(made)
    assert plain.subject.note == ""
    assert (plain.values < 0).any()
    values = tidy.values * float(tidy.subject.step)
    assert values.min() >= 0
    assert (values == np.rint(values)).all()
    cells = frame.grouped(SETS["cell"])
    before, after = (np.bincount(cells.of, one.values * float(one.subject.step)) for one in (plain, tidy))
    assert np.abs(after - np.maximum(before, 0)).max() <= 0.5 + 1e-6
    below = int((plain.values < 0).sum())
    assert f"{below:,} rows below 0 were set to 0" in tidy.subject.note
    raised = float(np.maximum(before, 0).sum() - before.sum())
    assert raised > 1
    assert f"raises the total of all by {raised:,.1f} jobs" in tidy.subject.note
    assert "Totals of few rows are biased upwards" in tidy.subject.note
    assert "whole numbers" in tidy.subject.note


def test_nonnegative_rows_are_biased_and_plain_ones_are_not():
    """Rows that are truly 0, over 60 runs: plain within 6.1 standard errors of 0, tidied far above."""
    frame, jobs = economy()
    empty = jobs == 0
    means = {False: [], True: []}
    for seed in range(60):
        made = products(frame, jobs, seed)
        for option, found in means.items():
            step = ProtectedMicrodata("made", "rows", tuple(SETS), nonnegative=option).apply(made)
            found.append((step.values[empty] * float(step.subject.step)).mean())
    plain, tidy = (np.array(means[option]) for option in (False, True))
    assert abs(plain.mean()) < 6.1 * plain.std(ddof=1) / math.sqrt(60)
    assert tidy.mean() > 6.1 * tidy.std(ddof=1) / math.sqrt(60)


def test_units_that_are_born_later_or_dead_are_rows_that_report_0():
    """A frame may list units that report nothing; their rows are noise around 0, and totals hold all the same."""
    frame, jobs = economy()
    gone = np.arange(len(jobs)) % 3 == 0
    jobs = np.where(gone, 0, jobs)
    sums = [ProtectedMicrodata("made", "rows", tuple(SETS)).apply(products(frame, jobs, seed)) for seed in range(40)]
    totals = np.array([one.values[gone].sum() * float(one.subject.step) for one in sums])
    assert abs(totals.mean()) < 6.1 * totals.std(ddof=1) / math.sqrt(40)


def test_what_cannot_be_fitted_is_said():
    frame, jobs = economy()
    made = products(frame, jobs, 8)
    step = ProtectedMicrodata("made", "all", ("county",))
    with pytest.raises(PlanError, match="not measured with square-root"):
        step.apply(made)
    with pytest.raises(PlanError, match="not of groups"):
        step.refuse_unframed(of_rows=False)
    with pytest.raises(PlanError, match="calibrates to nothing"):
        ProtectedMicrodata("made", "rows", ()).refuse_unframed(of_rows=True)
    with pytest.raises(PlanError, match="true or false"):
        ProtectedMicrodata("made", "rows", ("all",), whole="yes").refuse_unframed(of_rows=True)
    adjusted = ProtectedMicrodata("made", "rows", ("all",)).apply(made)
    with pytest.raises(PlanError, match="not measured with square-root"):
        ProtectedMicrodata("again", "made", ("all",)).apply(made | {"made": adjusted})
    with pytest.raises(ReleaseError, match="'made' is no measure"):
        ProtectedMicrodata("again", "rows", ("made",)).apply(made | {"made": adjusted})
    assert isinstance(made["rows"].uncertainty, Squared)

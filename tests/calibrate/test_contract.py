"""Every step states true errors: against the matrix formulas written out, and against simulation, with negative arms.

Simulated covariances have a relative error of about sqrt(2 / runs); a check rejects beyond 6.2 standard errors (a false
alarm in 1e9), which is 36% at 600 runs and 18% at the 2,500 of the slow tests. A variance stated half or two and a half
times as large, and in the slow tests one stated 40% wrong, is rejected with probability over 0.999.
"""

import mpmath
import numpy as np
import pytest
from scipy.stats import binomtest

from sfumato import calibrate
from sfumato.calibrate import LeastSquares, Rake
from sfumato.calibrate import step as step_of_cells
from sfumato.errors import PlanError
from sfumato.plugins import found
from sfumato.query import QueryEngine
from sfumato.release import Calibrated, Control, Cube, Independent, Subject
from sfumato.schema import Attribute, Box, Level, Levels, Rule, Table

FEW_OR_MANY = pytest.mark.parametrize(
    ("runs", "small", "large"),
    [pytest.param(600, 0.5, 2.5, id="few"), pytest.param(2500, 0.6, 1.4, id="many", marks=pytest.mark.slow)],
)
"""How often noise is drawn, and which parts of a true variance are told from it."""
SIX = 6.2
SHAPE = (4, 3, 3)


def table(*, zeros: bool) -> Table:
    attributes = tuple(Attribute(f"a{place}", Levels.of(range(size))) for place, size in enumerate(SHAPE))
    return Table(attributes, (Rule.of({"a0": ["3"], "a1": ["0", "2"]}),) if zeros else ())


def subject(name: str) -> Subject:
    from fractions import Fraction

    return Subject(name, "count", "Jobs", "jobs", Fraction(1))


def noisy(rng, true: np.ndarray, variance: float, possible: np.ndarray) -> np.ndarray:
    """Integer noise of the two-sided geometric law with this variance, made by numpy and not by us."""
    a = 1 + 1 / variance - np.sqrt((1 + 1 / variance) ** 2 - 1)
    noise = rng.geometric(1 - a, true.shape) - rng.geometric(1 - a, true.shape)
    return np.where(possible, true + noise, 0)


def problems(rng, whole: Table, true: np.ndarray, controls: dict[str, tuple[tuple[str, ...], float]], base: float):
    """Products of one draw: the cube and its control tables, each with noise of its own."""
    products = {"cube": Cube(subject("cube"), whole, noisy(rng, true, base, whole.possible), Independent(base))}
    for name, (by, variance) in controls.items():
        margin = whole.margin(by)
        axes = tuple(axis for axis, one in enumerate(whole.names) if one not in by)
        aim = noisy(rng, true.sum(axis=axes), variance, margin.possible) if variance else true.sum(axis=axes)
        products[name] = Cube(subject(name), margin, aim.astype(np.int64), Independent(variance))
    return products


def boxes(rng, whole: Table, count: int) -> list[Box]:
    return [
        Box({name: rng.random(size) < 0.6 for name, size in zip(whole.names, whole.shape, strict=True)})
        for _ in range(count)
    ]


CONTROLS = {
    "one table, noisy": {"m": (("a0", "a1"), 3.0)},
    "one table, exact": {"m": (("a0", "a2"), 0.0)},
    "two tables, noisy": {"m": (("a0", "a1"), 3.0), "n": (("a2",), 8.0)},
    "three margins, noisy": {"m": (("a0",), 2.0), "n": (("a1",), 2.0), "o": (("a2",), 5.0)},
}


def simulated(step, whole, true, controls, base, asked, runs):
    rng = np.random.default_rng(7)
    totals, product = [], None
    for _ in range(runs):
        product = step.apply(problems(rng, whole, true, controls, base))
        totals.append([product.total(box) * float(product.subject.step) for box in asked])
    return np.array(totals), product


def stated(product, asked) -> np.ndarray:
    scale = float(product.subject.step) ** 2
    return np.array([[product.covariance(one, other) * scale for other in asked] for one in asked])


def departures(claim: np.ndarray, totals: np.ndarray) -> float:
    """The largest distance of stated from simulated covariances, in standard errors of the simulation."""
    spread = np.sqrt((np.outer(np.diag(claim), np.diag(claim)) + claim**2) / len(totals))
    return float((np.abs(np.cov(totals.T) - claim) / np.maximum(spread, 1e-9)).max())


@FEW_OR_MANY
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("kind", CONTROLS)
@pytest.mark.parametrize("name", ["least-squares", "rake"])
def test_stated_covariances_are_the_covariances(name, kind, zeros, runs, small, large):
    whole = table(zeros=zeros)
    rng = np.random.default_rng(3)
    true = np.where(whole.possible, rng.integers(150, 900, SHAPE), 0)
    controls = CONTROLS[kind]
    step = type(found(calibrate, by="kind")[name])("made", "cube", tuple(controls))
    asked = boxes(rng, whole, 6)
    totals, product = simulated(step, whole, true, controls, 9.0, asked, runs)
    claim = stated(product, asked)
    truth = [true[np.ix_(*(box.mask(one) for one in whole.attributes))].sum() for box in asked]
    tolerance = SIX * np.sqrt(np.maximum(np.diag(claim), 1e-9) / runs) + 0.05  # raking is unbiased to first order
    assert np.all(np.abs(totals.mean(axis=0) - truth) < tolerance)
    # Raking's errors are first order, so they follow the cells of the last draw by a few per cent.
    slack = 2.0 if name == "rake" else 0.0
    assert departures(claim, totals) < SIX + slack
    assert departures(large * claim, totals) > SIX + slack, "stated too large must be rejected"
    assert departures(small * claim, totals) > SIX + slack, "stated too small must be rejected"


def written_out(whole: Table, controls, base: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, V and V_c as matrices over the possible cells."""
    cells = np.argwhere(whole.possible)
    rows, noise = [], []
    for by, variance in controls.values():
        axes = [whole.names.index(name) for name in by]
        for place in np.ndindex(*(whole.shape[axis] for axis in axes)):
            rows.append((cells[:, axes] == place).all(axis=1))
            noise.append(variance)
    return np.array(rows, dtype=float), base * np.eye(len(cells)), np.diag(noise)


def indicator(whole: Table, box: Box) -> np.ndarray:
    inside = np.zeros(whole.shape, dtype=bool)
    inside[np.ix_(*(box.mask(one) for one in whole.attributes))] = True
    return inside[whole.possible].astype(float)


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("kind", CONTROLS)
def test_least_squares_is_the_formula_of_the_textbook(kind, zeros):
    whole, rng = table(zeros=zeros), np.random.default_rng(5)
    true = np.where(whole.possible, rng.integers(0, 50, SHAPE), 0)
    controls, base = CONTROLS[kind], 4.0
    products = problems(rng, whole, true, controls, base)
    product = LeastSquares("made", "cube", tuple(controls)).apply(products)
    a, v, v_c = written_out(whole, controls, base)
    x = products["cube"].values[whole.possible].astype(float)
    t = np.concatenate([products[name].values.ravel() for name in controls]).astype(float)
    gain = v @ a.T @ np.linalg.pinv(a @ v @ a.T + v_c, hermitian=True, rcond=1e-11)
    expected = x + gain @ (t - a @ x)
    assert np.allclose(product.values[whole.possible] * float(product.subject.step), expected, atol=1e-7)
    rest = np.eye(len(x)) - gain @ a
    matrix = rest @ v @ rest.T + gain @ v_c @ gain.T
    asked = boxes(rng, whole, 5)
    f = np.array([indicator(whole, box) for box in asked])
    assert np.allclose(stated(product, asked), f @ matrix @ f.T, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kind", CONTROLS)
def test_rakings_first_order_error_is_the_formula_for_any_gain(kind):
    whole, rng = table(zeros=True), np.random.default_rng(6)
    true = np.where(whole.possible, rng.integers(200, 500, SHAPE), 0)
    controls, base = CONTROLS[kind], 4.0
    product = Rake("made", "cube", tuple(controls)).apply(problems(rng, whole, true, controls, base))
    a, v, v_c = written_out(whole, controls, base)
    d = np.diag(product.values[whole.possible] * float(product.subject.step))
    weight = np.diag(1 / np.where(np.diag(v_c) > 0, np.diag(v_c), 1e-9))
    reach = a @ np.linalg.pinv(a)  # the controls that some cube has
    basis = np.linalg.svd(reach)[0][:, : np.linalg.matrix_rank(a)]
    consistent = basis @ np.linalg.inv(basis.T @ weight @ basis) @ basis.T @ weight
    gain = d @ a.T @ np.linalg.pinv(a @ d @ a.T, hermitian=True, rcond=1e-11)
    rest = np.eye(len(d)) - gain @ a
    reconciled = gain @ consistent
    matrix = rest @ v @ rest.T + reconciled @ v_c @ reconciled.T
    asked = boxes(rng, whole, 5)
    f = np.array([indicator(whole, box) for box in asked])
    assert np.allclose(stated(product, asked), f @ matrix @ f.T, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("runs", "off"), [(200, 0.03), pytest.param(2000, 0.01, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("step", "kind"),
    [(LeastSquares, "two tables, noisy"), (Rake, "two tables, noisy"), (Rake, "one table, noisy")],
    ids=["least squares", "raking", "post-stratification"],
)
def test_intervals_of_totals_shares_and_ratios_cover_at_their_level(step, kind, runs, off):
    """New random boxes every 20 or 200 runs; each group checked at 1e-9, all within 3 points or 1."""
    whole, rng = table(zeros=True), np.random.default_rng(8)
    true = np.where(whole.possible, rng.integers(100, 800, SHAPE), 0)
    controls = CONTROLS[kind]
    hits = np.zeros(6)
    for run in range(runs):
        if run % (runs // 10) == 0:
            asked = [random_universe(rng) for _ in range(2)]
            truth = [true[np.ix_(*(whole.box(where).mask(one) for one in whole.attributes))].sum() for where in asked]
        product = step("made", "cube", tuple(controls)).apply(problems(rng, whole, true, controls, 9.0))
        answers = engine(product)
        for place, where in enumerate(asked):
            hits[place] += covers(answers.total(where), truth[place])
            hits[2 + place] += covers(answers.share(where), truth[place] / true.sum())
            other = 1 - place
            hits[4 + place] += covers(answers.ratio(where, asked[other]), truth[place] / truth[other])
    assert abs(hits.sum() / (6 * runs) - 0.95) < off
    assert all(binomtest(int(count), runs, 0.95).pvalue > 1e-9 for count in hits)


def random_universe(rng) -> dict[str, list[str]]:
    """Some levels of every attribute; level 1 of a1 is always in, so that the box is never impossible as a whole."""
    chosen = {
        f"a{place}": [str(code) for code in range(size) if rng.random() < 0.6] for place, size in enumerate(SHAPE)
    }
    chosen["a1"] = sorted({*chosen["a1"], "1"})
    return {name: codes or ["0"] for name, codes in chosen.items()}


def covers(estimate, truth: float) -> bool:
    low, high = estimate.interval(0.95)
    return low <= truth <= high


def engine(product) -> QueryEngine:
    """A query engine on one product, as a release would give it."""
    from types import SimpleNamespace

    manifest = SimpleNamespace(
        products=[SimpleNamespace(name="made", answers=True)],
        sampling={"kind": "census"},
        grades={"A": 0.15, "B": 0.3},
        promise=SimpleNamespace(hidden={}),
    )
    return QueryEngine(SimpleNamespace(manifest=manifest, products={"made": product}, attributes=product.attributes))


def test_a_rake_that_cannot_meet_its_controls_says_so_and_gives_no_cells():
    whole = table(zeros=False)
    cube = Cube(subject("cube"), whole, np.zeros(SHAPE, dtype=np.int64), Independent(1.0))
    margin = Cube(subject("m"), whole.margin(("a0",)), np.array([5, 0, 0, 0]), Independent(1.0))
    outcome = Rake("made", "cube", ("m",)).apply({"cube": cube, "m": margin})
    assert isinstance(outcome, calibrate.Diverged)
    assert "did not converge" in outcome.why


def test_every_step_that_is_found_is_under_contract():
    # Protected microdata, which is over a frame, has its contract in test_microdata, percentiles in test_percentile and
    # steps that leave no cell below 0 in test_nonnegative.
    assert set(found(calibrate, by="kind")) == {
        "calibration-weights",
        "fourier-nonnegative",
        "least-squares",
        "nearest-nonnegative",
        "one-carrier",
        "percentile",
        "protected-microdata",
        "rake",
        "rake-as-published",
        "set-to-zero",
        "weigh",
    }


@FEW_OR_MANY
def test_weighed_counts_and_their_variance_are_the_arithmetic_of_the_design(runs, small, large):
    """Totals against a brute-force sum, and stated variances against simulation within 6.2 standard errors."""
    whole, rng = table(zeros=False), np.random.default_rng(9)
    true = rng.integers(0, 40, SHAPE)
    weights = {"0": "300", "1": "400.5", "2": "700", "3": "1000"}
    step = calibrate.Weigh("made", "cube", "a0", weights)
    factors = np.array([300, 400.5, 700, 1000])
    asked = [Box({"a1": np.array([True, False, True])}), Box({}), Box({"a2": np.array([False, True, False])})]
    totals, product = simulated(step, whole, true, {}, 9.0, asked, runs)
    assert np.allclose(product.values.sum() * float(product.subject.step) % 0.5, 0)
    assert product.subject.unit == "jobs"
    expected = np.moveaxis(true, 0, -1) @ factors
    for place, box in enumerate(asked):
        masks = [box.mask(one) for one in product.attributes]
        truth = expected[np.ix_(*masks)].sum()
        assert abs(totals[:, place].mean() - truth) < SIX * np.sqrt(stated(product, [box])[0, 0] / runs)
    claim = stated(product, asked)
    assert departures(claim, totals) < SIX
    assert departures(large * claim, totals) > SIX
    assert departures(small * claim, totals) > SIX


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"by": "a9"}, "is not by 'a9'"),
        ({"weights": {"0": 1}}, "no weight for '1'"),
        ({"weights": {"0": 1, "1": 1, "2": 1, "3": 1, "x": 1}}, "weighs 'x'"),
    ],
)
def test_weights_that_do_not_fit_are_refused_before_anything_is_opened(change, said):
    parts = {"name": "made", "table": "cube", "by": "a0", "weights": {"0": 1, "1": 2, "2": 3, "3": 4}} | change
    with pytest.raises(PlanError, match=said):
        calibrate.Weigh(**parts).refuse_unfit(table(zeros=False), [])


@pytest.mark.parametrize("step", [LeastSquares, Rake])
def test_the_papers_main_example_of_17340_controls(step):
    """867 occupations by education by experience: post-stratified, every control is met, and errors are stated."""
    sizes = {"occupation": 867, "education": 5, "experience": 4, "strength": 3, "driving": 2}
    whole = Table(tuple(Attribute(name, Levels.of(range(size))) for name, size in sizes.items()))
    rng = np.random.default_rng(2)
    true = rng.integers(20, 60, whole.shape)
    controls = {"m": (("occupation", "education", "experience"), 2.0)}
    products = problems(rng, whole, true, controls, 4.0)
    product = step("made", "cube", ("m",)).apply(products)
    assert products["m"].domain.size == 17_340
    met = product.values.sum(axis=(3, 4)) * float(product.subject.step)
    gap = np.abs(met - products["m"].values)
    before = np.abs(products["cube"].values.sum(axis=(3, 4)) - products["m"].values)
    assert gap.max() < 1e-5 if step is Rake else gap.mean() < before.mean()
    box = whole.box({"occupation": ["0", "1", "2"], "strength": "1"})
    stated_variance = product.covariance(box, box) * float(product.subject.step) ** 2
    assert 0 < stated_variance < 4.0 * whole.count(box) * 1.5


@pytest.mark.parametrize("step", [LeastSquares, Rake])
def test_a_step_without_controls_is_refused_before_anything_is_charged(step):
    with pytest.raises(PlanError, match="calibrates to nothing"):
        step("made", "cube", ()).refuse_unfit(table(zeros=False), [])


@pytest.mark.parametrize("tiny", [1e-3, 1e-6, 1e-9, 1e-11])
@pytest.mark.parametrize("sets", [("a0", "a1"), ("a0", "a0a1"), ("a0", "a1", "a0a1")], ids="-".join)
def test_errors_beside_controls_of_next_to_no_noise_are_those_of_sixty_digits(tiny, sets):
    """An inverse written out holds 1 / noise: from 1e-9 on its errors were larger than those of single cells."""
    whole, base = table(zeros=False), 9.0
    controls = {name: (tuple(name[at : at + 2] for at in range(0, len(name), 2)), tiny) for name in sets}
    stated_ = Calibrated(Independent(base), tuple(Control(tuple(map(Level, by)), v) for by, v in controls.values()))
    product = Cube(subject("cube"), whole, np.ones(SHAPE, dtype=np.int64), stated_)
    a, _, noise = written_out(whole, controls, base)
    with mpmath.workdps(60):
        sums = mpmath.matrix(a.tolist())
        matrix = base * sums * sums.T + mpmath.diag([mpmath.mpf(one) for one in np.diag(noise)])
        for box in (Box({}), Box({"a0": np.arange(4) == 1}), Box({"a1": np.arange(3) < 2, "a2": np.arange(3) < 1})):
            takes = base * sums * mpmath.matrix(indicator(whole, box).astype(float).tolist())
            exact = base * whole.count(box) - (takes.T * mpmath.lu_solve(matrix, takes))[0]
            assert product.covariance(box, box) == pytest.approx(float(exact), rel=1e-3, abs=3e-12)


@pytest.mark.parametrize("order", [("total", "rows", "rest"), ("rows", "total", "rest"), ("rest", "rows", "total")])
def test_raking_to_a_total_and_margins_in_any_order_is_what_scaling_in_turns_comes_to(order):
    whole, rng = table(zeros=False), np.random.default_rng(4)
    true, start = rng.integers(5, 60, SHAPE), rng.integers(5, 60, SHAPE)
    by = {"total": (), "rows": ("a0",), "rest": ("a1", "a2")}
    products = {"cube": Cube(subject("cube"), whole, start, Independent(4.0))}
    cells = start.astype(float)
    for name in order:
        gone = tuple(axis for axis, one in enumerate(whole.names) if one not in by[name])
        products[name] = Cube(subject(name), whole.margin(by[name]), true.sum(axis=gone), Independent(0.0))
    for _ in range(200):
        for name in order:
            gone = tuple(axis for axis, one in enumerate(whole.names) if one not in by[name])
            cells *= true.sum(axis=gone, keepdims=True) / cells.sum(axis=gone, keepdims=True)
    made = Rake("made", "cube", order).apply(products)
    np.testing.assert_allclose(made.values * float(made.subject.step), cells, rtol=1e-6)


def test_fine_steps_leave_room_for_sums_of_any_sign():
    assert step_of_cells.finer_by(np.array([2.0**40, -(2.0**40)])) == step_of_cells.finer_by(np.full(2, 2.0**40)) == 7

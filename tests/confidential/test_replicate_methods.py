"""Replicate weights of every method give the standard errors of R's survey package, or of theory where it is exact.

The numbers of R are those that its documentation prints for the samples of Californian schools (`example(api)`,
and "Summary statistics" on the author's pages): jackknives with finite population correction, about the mean.
"""

import csv
import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.confidential.weighted_sample import REST, asked

from sfumato.confidential.estimands import MeanOf, RatioOf, ShareOf, TotalOf
from sfumato.draws import SeededDraws
from sfumato.errors import PlanError
from sfumato.mechanisms import Cells
from sfumato.mechanisms.average_weight import AverageWeight
from sfumato.plan import Plan
from sfumato.privacy import Bounded
from sfumato.schema import Attribute, Levels, Replication, Rows, Table, Weighted

SURVEY = Path(__file__).parents[3] / "shared" / "data" / "survey"
needs_survey = pytest.mark.skipif(not SURVEY.is_dir(), reason=f"the survey files are not in {SURVEY}")
PLAN = (
    """
name = "schools"
sampling = "replicate weights are the agency's own"
[data]
unit = "school"
repeated_rows = true
weight = "pw"
weight_kind = "base"
replicates = "rw{1..COUNT}"
METHOD
[attributes.sex]
from = "stype"
levels = ["E", "H", "M"]
"""
    + REST
)


def plan(count: int, method: str) -> Plan:
    return Plan.parse(PLAN.replace("COUNT", str(count)).replace("METHOD", method), Path("schools.toml"))


def schools(name: str) -> dict[str, np.ndarray]:
    with (SURVEY / f"{name}.csv").open() as file:
        rows = list(csv.DictReader(file))
    numbers = {one: np.array([float(row[one]) for row in rows]) for one in ("api00", "api99", "enroll", "pw", "dnum")}
    return numbers | {"stype": np.array([row["stype"] for row in rows])}


def with_replicates(columns: dict, factors: np.ndarray) -> pa.Table:
    """The columns beside the weights times factors, one column a replicate."""
    replicates = {f"rw{place + 1}": columns["pw"] * one for place, one in enumerate(factors.T)}
    return pa.table({name: pa.array(values) for name, values in (columns | replicates).items()})


def jackknifed(units: np.ndarray) -> np.ndarray:
    """Each replicate leaves out one unit and raises the others."""
    codes = np.unique(units)
    return (units[:, None] != codes) * len(codes) / (len(codes) - 1)


@pytest.fixture(scope="module")
def clusters() -> pa.Table:
    columns = schools("apiclus1")
    return with_replicates(columns, jackknifed(columns["dnum"]))


WITH_FPC = f'method = {{ method = "jk1", scale = "{14 * (757 - 15)}/{15 * 757}", about = "mean" }}'


@needs_survey
@pytest.mark.parametrize(
    ("of", "where", "estimate", "error", "digits"),
    [
        (MeanOf("api00"), {}, 644.169399, 26.3294, 4),
        (MeanOf("api99"), {}, 606.978142, 26.9985, 4),
        (ShareOf({"sex": "E"}), {}, 0.786885, 0.0514, 4),
        (ShareOf({"sex": "H"}), {}, 0.076503, 0.0278, 4),
        (ShareOf({"sex": "M"}), {}, 0.136612, 0.0332, 4),
        (TotalOf("enroll"), {}, 3404940.13, 932235.03, 2),
        (TotalOf(), {"sex": "E"}, 4873.97, 1333.32, 2),
        (TotalOf(), {"sex": "H"}, 473.86, 158.70, 2),
        (TotalOf(), {"sex": "M"}, 846.17, 167.55, 2),
    ],
)
def test_a_jackknife_of_clusters_is_that_of_r(clusters, of, where, estimate, error, digits):
    (cell,) = asked(plan(15, WITH_FPC), clusters, of, where=where).records()
    assert cell["estimate"] == pytest.approx(estimate, rel=1.1e-5)  # as many digits as R prints
    assert cell["se"] == pytest.approx(error, abs=0.51 * 10.0**-digits, rel=2e-8)


@needs_survey
def test_what_the_method_says_is_what_counts(clusters):
    """Without the correction 26.60; about the estimate a little more; 15 are no successive differences."""
    errors = {}
    for method in ('method = { method = "jk1", about = "mean" }', 'method = "jk1"'):
        (cell,) = asked(plan(15, method), clusters, MeanOf("api00")).records()
        errors[method] = cell["se"]
    about_mean, about_estimate = errors.values()
    assert about_mean == pytest.approx(26.3294 / math.sqrt(742 / 757), rel=1e-5)
    assert about_mean == pytest.approx(26.60, abs=0.01)
    assert about_mean < about_estimate < 1.02 * about_mean
    for silent, why in {
        "": "which they are taken for",
        'method = "sdr"': r"the method that the plan says \(sdr\)",
    }.items():
        with pytest.raises(PlanError, match=rf"15 replicate weights.*{why}, has a multiple of 4; say which method"):
            plan(15, silent)


@needs_survey
def test_a_stratified_jackknife_is_that_of_linearisation_where_nothing_is_curved():
    """Strata keep their weight in every replicate, so totals and the mean are linear: R prints 114642 and 9.4089."""
    columns = schools("apistrat")
    stratum = columns["stype"]
    sizes = {code: (int((stratum == code).sum()), total) for code, total in (("E", 4421), ("H", 755), ("M", 1018))}
    count = len(stratum)
    factors, scales = np.ones((count, count)), []
    for place, code in enumerate(stratum):
        drawn, total = sizes[code]
        factors[stratum == code, place] = drawn / (drawn - 1)
        factors[place, place] = 0
        scales.append(f'"{(drawn - 1) * (total - drawn)}/{drawn * total}"')
    rows = with_replicates(columns, factors)
    method = f'method = {{ method = "jkn", rscales = [{", ".join(scales)}] }}'
    (mean,) = asked(plan(count, method), rows, MeanOf("api00")).records()
    (total,) = asked(plan(count, method), rows, TotalOf("enroll")).records()
    assert mean["se"] == pytest.approx(9.4089, abs=0.51e-4)
    assert total["se"] == pytest.approx(114642, abs=0.51)


def half_samples(orthogonal: np.ndarray, kept: float) -> np.ndarray:
    """Three strata of two units: a sign says which of the two is doubled, the other keeps a share of its weight."""
    signs = np.repeat(orthogonal.T, 2, axis=0) * np.tile([1, -1], 3)[:, None]
    return np.where(signs > 0, 2 - kept, kept)


PAIRS = {"pw": np.array([3.0, 3.0, 5.0, 5.0, 8.0, 8.0]), "stype": np.array(["E", "H", "E", "M", "H", "H"])}
PAIRS |= {"pay": np.array([120.0, 78.0, 185.0, 228.0, 670.0, 530.0]), "hours": np.array([25.0, 24, 30, 49, 80, 70])}
BALANCED = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
DIFFERENCES = [3 * (120 - 78), 5 * (185 - 228), 8 * (670 - 530)]
EVERY = np.array(list(product([1, -1], repeat=3)))


@pytest.mark.parametrize(
    ("signs", "kept", "method"),
    [
        (BALANCED, 0.0, 'method = "brr"'),
        (BALANCED, 0.5, 'method = { method = "fay", fay = "0.5" }'),
        (BALANCED, 0.3, 'method = { method = "fay", fay = "0.3", about = "mean" }'),
        (EVERY, 0.0, 'method = { method = "bootstrap", scale = "1/8" }'),  # Rao and Wu: one of two drawn, every way
        (EVERY, 0.0, 'method = { method = "bootstrap", scale = "1/8", about = "mean" }'),
        (np.eye(3) * 2 - 1, 0.0, None),
    ],
)
def test_half_samples_in_balance_give_the_variance_of_a_total_exactly(signs, kept, method):
    """McCarthy 1969: two units drawn in each stratum have the variance Σ (y₁ − y₂)², whatever Fay's factor."""
    rows = with_replicates(PAIRS, half_samples(signs, kept))
    exact = math.sqrt(sum(one**2 for one in DIFFERENCES))
    (cell,) = asked(plan(len(signs), method or 'method = "brr"'), rows, TotalOf("pay")).records()
    if method is None:  # half-samples out of balance are another number
        assert cell["se"] != pytest.approx(exact, rel=0.02)
    else:
        assert cell["se"] == pytest.approx(exact, rel=1e-12)


def test_a_ratio_is_taken_replicate_by_replicate_with_scales_of_their_own():
    rows = with_replicates(PAIRS, half_samples(BALANCED, 0.0))
    method = 'method = { method = "bootstrap", scale = "0.3", rscales = ["1", "2", "0", "0.5"], about = "mean" }'
    (cell,) = asked(plan(4, method), rows, RatioOf("pay", "hours")).records()
    weights = PAIRS["pw"][:, None] * half_samples(BALANCED, 0.0)
    ratios = (PAIRS["pay"] @ weights) / (PAIRS["hours"] @ weights)
    centre = (ratios[0] + ratios[1] + ratios[3]) / 3  # as R's svrVar: a replicate of scale 0 is not in the mean
    variance = 0.3 * sum(r * (one - centre) ** 2 for r, one in zip([1, 2, 0, 0.5], ratios, strict=True))
    assert cell["se"] == pytest.approx(math.sqrt(variance), rel=1e-12)


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ('method = "jk3"', "did you mean 'jkn'"),
        ('method = "jkn"', r"rscales.*\(n − 1\) / n"),
        ('method = "bootstrap"', "needs its `scale`"),
        ('method = "fay"', "fay.*from 0 to below 1"),
        ('method = { method = "fay", fay = "1" }', "from 0 to below 1"),
        ('method = { method = "brr", fay = "0.5" }', "and no other, has `fay`"),
        ('method = { method = "jkn", rscales = ["0.5"] }', "4 replicates and 1 rscales"),
        ('method = { method = "jkn", rscales = [0, 0, 0, 0] }', "not all 0"),
        ('method = { method = "jk1", scale = "0" }', "scale above 0"),
        ('method = { method = "jk1", about = "median" }', "'estimate'|'mean'"),
        ('method = { method = "jk1", scales = "1" }', r"\[data.method\] has no key 'scales'"),
        ('method = "jk1"\norder = "turn"', "given or built, not both"),
    ],
)
def test_a_method_that_is_not_whole_is_refused_in_words(method, said):
    with pytest.raises(PlanError, match=said):
        plan(4, method)


@pytest.mark.parametrize(
    ("replicates", "said"), [("", "no replicates that it is of"), ('order = "turn"', "is successive difference")]
)
def test_a_method_is_of_replicates_that_are_given(replicates, said):
    text = PLAN.replace('replicates = "rw{1..COUNT}"', replicates).replace("METHOD", 'method = "jk1"')
    with pytest.raises(PlanError, match=said):
        Plan.parse(text, Path("schools.toml"))


@pytest.mark.parametrize(
    "method", ["", 'method = "sdr"', 'method = "brr"', WITH_FPC, 'method = { method = "fay", fay = "0.3" }']
)
def test_a_plan_with_a_method_reads_back_equal_and_the_table_says_it(method):
    made = plan(4, method)
    again = Plan.parse(made.to_toml(), Path("again.toml"))
    assert again == made
    assert ("method" in made.to_toml()) == bool(method)
    rows = with_replicates(PAIRS, half_samples(BALANCED, 0.0))
    said = asked(again, rows).method
    assert made.schema.replication.words() in said
    assert ("[data] says no method" in said) == (not method)


@pytest.mark.parametrize("method", ["sdr", "jk1", "brr"])
def test_the_paper_to_the_letter_states_the_variance_of_the_method(method):
    """The squared departures that a release as published states sum to the variance by replication."""
    how, weighted = Replication(method, about="mean"), np.array([[100.0, 104, 97, 101, 90], [50, 50, 55, 45, 48]])
    table, step = Table((Attribute("place", Levels.of(["a", "b"])),)), Fraction(1, 2)
    columns = {Rows(): np.array([5, 3]), Weighted(): weighted}
    cells = Cells(table, np.array([200, 100]), step, Bounded(1, 1, 1), columns=columns, replication=how)
    departures = AverageWeight(2, cap=7).perturb(cells, SeededDraws(1)).public["departures"][:, :-1]
    stated = np.square(departures * float(step)).sum(axis=1)
    assert stated == pytest.approx(how.variance(weighted[:, 0], weighted[:, 1:]), rel=1e-12)

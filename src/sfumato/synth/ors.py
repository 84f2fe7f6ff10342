"""A synthetic Occupational Requirements Survey: quotes of a two-stage sample with weights and replicate weights.

A row is a quote: an occupation selected in a sampled establishment, and what the job requires. Its weight is the
inverse of the probability that its job is selected, so weights add up to employment. The set of the paper's evaluation
is here too: 182 cases in a table of 17,280 cells (Li and Krenzke, section 4).
"""

import numpy as np
import pyarrow as pa

from sfumato.errors import PlanError, nearest
from sfumato.statistics.replication import sdr_factors
from sfumato.synth.columns import Floats, Integers, levels, names, pick
from sfumato.synth.employment import OCCUPATIONS
from sfumato.synth.ors_frame import SECTORS, Sample, listings, select, strata
from sfumato.synth.ors_work import REQUIREMENTS, occupations, requirements

REPLICATES = 80
WEIGHTS = ("design", "stratum")
CONCENTRATION = {"skewed": 0.45, "moderate": 0.7, "near-uniform": 1.0}
"""Of the Dirichlet law of a margin, times its levels."""


def ors(rows: int = 100_000, seed: int = 1, weights: str = "design") -> pa.Table:
    """One row a quote, the quotes in selection order; the same seed gives the same table.

    With weights "design" establishments have grown or shrunk since the frame was made and a quote's weight follows;
    with "stratum" the frame is up to date, every job of a stratum has the same chance, and there is one public weight
    a stratum, fixed before collection whatever `rows` and `seed`.
    """
    if weights not in WEIGHTS:
        raise PlanError(f"ors has no weights '{weights}'; {nearest(weights, WEIGHTS)}")
    design = strata(rows)
    frame, start, answer = (np.random.Generator(np.random.PCG64(one)) for one in np.random.SeedSequence(seed).spawn(3))
    sample = select(design, listings(design, frame, aged=weights == "design"), start)
    at = np.repeat(np.arange(sample.number.size), sample.quotes)
    occupation = _occupations(sample, [list(SECTORS).index(stratum.sector) for stratum in design], answer)
    columns = {
        "quote_id": names("Q", np.arange(1, rows + 1)),
        "establishment_id": names("E", sample.number[at] + 1),
        "stratum": levels(tuple(stratum.code for stratum in design), sample.stratum[at]),
        "occupation": levels(OCCUPATIONS, occupation),
    }
    for name, level in requirements(occupation, at, answer).items():
        columns[name] = levels(REQUIREMENTS[name], level)
    columns["workers"] = pa.array(sample.workers[at], pa.int32())
    columns["weight"] = pa.array(sample.weight[at])
    return pa.table(columns | _replicates(sample.weight, at))


def _occupations(sample: Sample, sector: list[int], rng: np.random.Generator) -> Integers:
    drawn = occupations(np.array(sector)[sample.stratum], rng)
    return drawn[np.arange(drawn.shape[1]) < sample.quotes[:, None]]


def _replicates(weight: Floats, at: Integers) -> dict[str, pa.Array]:
    """The replicate weights; the quotes of an establishment share its factor.

    Single precision halves the largest part of the table. It rounds a weight by 6e-8 of itself, far below any sampling
    error; whole numbers, as in the ACS, would round a weight of 100 by half a percent.
    """
    cycle = sdr_factors(REPLICATES - 1, REPLICATES)  # the factors repeat from there on
    place = np.arange(weight.size) % len(cycle)
    return {
        f"repwt{number + 1}": pa.array((weight * cycle[place, number]).astype(np.float32)[at])
        for number in range(REPLICATES)
    }


def paper_set(rows: int = 182, seed: int = 1, margins: str = "skewed") -> pa.Table:
    """The evaluation set: ten independent variables whose margins are drawn from Dirichlet laws, and a weight.

    A margin of k levels is Dirichlet with every parameter 0.45 k ("skewed"), 0.7 k ("moderate") or k ("near-uniform").
    Every case draws its level of each variable by these shares, independently of all else. A skewed set often has a
    level of a few cases or none, which decides what raking does to noise: see `sfumato reproduce ors-table-4`.
    """
    if rows < 1:
        raise PlanError(f"ors-paper was asked for {rows} rows; the paper has 182, and a table at least 1.")
    if margins not in CONCENTRATION:
        raise PlanError(f"ors-paper has no margins '{margins}'; {nearest(margins, CONCENTRATION)}")
    rng = np.random.Generator(np.random.PCG64(seed))
    columns = {"quote_id": names("Q", np.arange(1, rows + 1))}
    for name, codes in REQUIREMENTS.items():
        shares = rng.dirichlet(np.full(len(codes), CONCENTRATION[margins] * len(codes)))
        columns[name] = levels(codes, pick(shares[None, :], np.zeros(rows, dtype=np.int64), rng))
    columns["weight"] = pa.array(rng.lognormal(np.log(400), 0.4, rows))
    columns["selection"] = pa.array(np.arange(1, rows + 1))  # the order in which the cases were drawn
    return pa.table(columns)

"""What a mayor asks of a noisy table of people: two totals and two percentages, each with the slides' interval.

A total of m cells has the variance m V. A percentage R = x / y, the cells of x among those of y, has to first order
(Taylor) V (m_x + R² m_y − 2 R m_x) / y², at the noisy totals. Intervals are 1.96 errors to either side; Fieller's,
which the query tool has, are beside them.
"""

from dataclasses import dataclass

import numpy as np

from sfumato.query.estimate import Estimate
from sfumato.query.ratio import ratio_of
from sfumato.release.noisy import Floats

Z = 1.959963984540054
GROUPS = ("not employed, foreign", "not employed, other", "employed, foreign", "employed, other")
"""The people that all four questions tell apart."""
TRUTH = np.array([2_258.0, 5_765.0, 3_374.0, 31_268.0])
"""Fürth: 42,665 people, 8,023 of them not employed, 2,258 of these foreign, 5,632 foreign in all."""


@dataclass(frozen=True)
class MayorAsks:
    """A total over some groups, or its percentage of others that hold them."""

    name: str
    over: tuple[int, ...]
    under: tuple[int, ...] = ()

    def estimate(self, totals: Floats) -> Floats:
        """The answer in each of some runs, from the totals of the groups."""
        over = totals[..., list(self.over)].sum(axis=-1)
        return np.asarray(100 * over / totals[..., list(self.under)].sum(axis=-1) if self.under else over)

    def variance(self, totals: Floats, cells: Floats, variance: float) -> Floats:
        """The variance that is estimated of it in each run."""
        over, under = (float(cells[list(groups)].sum()) for groups in (self.over, self.under))
        if not self.under:
            return np.full(len(totals), over * variance)
        whole, ratio = totals[..., list(self.under)].sum(axis=-1), self.estimate(totals) / 100
        return np.asarray(1e4 * variance * (over + ratio**2 * under - 2 * ratio * over) / whole**2)

    def fieller(self, totals: Floats, cells: Floats, variance: float) -> Floats:
        """Both ends of Fieller's interval in each run, as the query tool computes it; of percentages alone."""
        over, under = (float(cells[list(groups)].sum()) * variance for groups in (self.over, self.under))
        found = [
            ratio_of(
                Estimate(run[list(self.over)].sum(), over), Estimate(run[list(self.under)].sum(), under), over, "", 0.0
            ).fieller(0.95)
            for run in totals
        ]
        return 100 * np.array(found)


QUESTIONS = (
    MayorAsks("# not employed", (0, 1)),
    MayorAsks("# not employed foreigners", (0,)),
    MayorAsks("% not employed", (0, 1), (0, 1, 2, 3)),
    MayorAsks("% not employed among foreigners", (0,), (0, 2)),
)


@dataclass(frozen=True)
class Summary:
    """How the answers to one question did over many runs."""

    average: float
    variance_ratio: float
    coverage: float
    length: float

    @classmethod
    def of(cls, question: MayorAsks, totals: Floats, cells: Floats, variance: float) -> "Summary":
        """What the slides print: the mean answer, estimated over true variance, how often 95% hold, how long they are.

        `totals` are those of the groups, a line a run, however they were made; `cells` how many each sums.
        """
        found, truth = question.estimate(totals), float(question.estimate(TRUTH))
        stated = question.variance(totals, cells, variance)
        margin = Z * np.sqrt(stated)
        return cls(
            float(found.mean()),
            float(stated.mean() / found.var(ddof=1)),
            float((np.abs(found - truth) <= margin).mean()),
            float(2 * margin.mean()),
        )

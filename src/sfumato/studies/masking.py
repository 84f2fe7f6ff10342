"""Masking at the respondent, before anything is collected: Warner's randomized response and Fuller's additive noise.

Both hide an answer from whoever collects it, too. Baselines: at equal protection they show what a trusted collector
saves. Simulated with numpy; nothing here can be used to publish.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.privacy import Approximate
from sfumato.privacy.exact import rounded_up
from sfumato.release.noisy import Floats
from sfumato.studies.qcew_state import LEVELS, state
from sfumato.studies.qcew_utility import BETA, SPLIT, compare, errors, shown, whole_budget
from sfumato.studies.study import Line


@dataclass(frozen=True)
class Warner:
    """Each respondent answers a yes-or-no question truly with this chance, and the contrary otherwise (1965)."""

    truth: Fraction

    @property
    def loss(self) -> Approximate:
        """The odds of either answer change by truth / (1 − truth) at most.

        >>> round(float(Warner(Fraction(3, 4)).loss.epsilon), 4)      # log 3
        1.0986
        """
        odds = max(self.truth, 1 - self.truth) / min(self.truth, 1 - self.truth)
        return Approximate(rounded_up(math.log(odds)))

    def mask(self, answers: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.bool_]:
        return answers ^ (rng.random(len(answers)) >= float(self.truth))

    def share(self, masked: NDArray[np.bool_]) -> float:
        """The unbiased estimate of the share of yes, (yes + p − 1) / (2p − 1)."""
        p = float(self.truth)
        return float((masked.mean() + p - 1) / (2 * p - 1))

    def variance(self, share: float, count: int) -> float:
        """Warner's variance for a sample drawn anew: that of the share, and p (1 − p) / (2p − 1)² a respondent.

        >>> round(Warner(Fraction(7, 10)).variance(0.5, 1000) * 1000, 4)      # 0.25 + 0.21 / 0.16
        1.5625
        """
        p = float(self.truth)
        return share * (1 - share) / count + p * (1 - p) / (2 * p - 1) ** 2 / count


@dataclass(frozen=True)
class Fuller:
    """Each respondent adds normal noise of one width to the answer (1993)."""

    deviation: float

    def mask(self, answers: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        return answers + rng.normal(0, self.deviation, len(answers))

    def mu(self, size: float, beta: float) -> float:
        """What a size loses against the largest that looks alike with it; it grows with the size, without end.

        >>> round(Fuller(21).mu(100, 1), 4)      # (121 − 100) / 21
        1.0
        """
        return ((math.sqrt(size) + beta) ** 2 - size) / self.deviation

    @classmethod
    def hiding(cls, largest: float, beta: float, mu: float) -> "Fuller":
        """The noise that gives every size up to a public largest one this mu."""
        return cls(beta * (2 * math.sqrt(largest) - beta) / mu)


def randomized_response(runs: int) -> list[Line]:
    """A share of 20% among 10,000 respondents, from masked answers."""
    lines, count, share = [], 10_000, 0.2
    truth = np.arange(count) < share * count
    for p in ("0.6", "0.75", "0.9"):
        warner, rng = Warner(Fraction(p)), np.random.default_rng(1)
        found = np.array([warner.share(warner.mask(truth, rng)) for _ in range(runs)])
        theory = math.sqrt(warner.variance(share, count) - share * (1 - share) / count)
        central = f"with a trusted collector {math.sqrt(2) / float(warner.loss.epsilon) / count:.1e}"
        lines.append(
            Line(
                f"truth {p}, epsilon {float(warner.loss.epsilon):.3f}: sd",
                "",
                f"{found.std():.4f}",
                central,
                derived=f"{theory:.4f}",
            )
        )
    return lines


def additive(runs: int) -> list[Line]:
    """Noise of one width for all establishments, beside noise on the root of each, at equal mu."""
    of, mu = state(), float(whole_budget(SPLIT))
    fuller = Fuller.hiding(float(of.jobs.max()), float(BETA), mu)
    rng = np.random.default_rng(1)
    drawn = [errors(of, fuller.mask(of.jobs, rng)) for _ in range(runs)]
    beside = compare(runs, ways=("square root on rows alone",)).absolute["square root on rows alone"]
    lines = []
    for level in LEVELS:
        masked = float(np.mean([np.abs(run[level]).mean() for run in drawn]))
        lines.append(
            Line(f"{level}: Fuller / square root", "", f"{shown(masked)} / {shown(float(beside[level].mean()))}")
        )
    return [Line("the width that hides the largest", "", f"{fuller.deviation:.1f} jobs"), *lines]

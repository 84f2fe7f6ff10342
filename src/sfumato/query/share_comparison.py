"""ShareComparison: whether two percentages really differ, with the error that shared wholes and shared cells give both.

To first order a share s = x / y moves by (dx - s dy) / y, so the covariance of two shares is a bilinear form of the
covariances of their parts and wholes. The interval of the difference is made of the two intervals of Fieller and that
correlation (Zou and Donner 2008, 'Construction of confidence limits about effect measures', Statistics in Medicine 27):
far from a whole of 0 it is Taylor's, and near one it is as wide as the intervals that it is made of. Where noise is of
so few steps that it is mostly 0, that holds as little as 82% at 90, as errors of both come together more often than a
normal law has it; there the interval holds every difference of shares within their own intervals at half the risk each.
"""

import math
from dataclasses import dataclass

import numpy as np

from sfumato.query.comparison import Comparison
from sfumato.query.estimate import Variance
from sfumato.query.ratio import Ratio, ratio_of
from sfumato.query.reaching import compared_excess
from sfumato.query.source import Source
from sfumato.query.wording import Sentence
from sfumato.release import Withheld, stated, withheld
from sfumato.release.tails import z_score
from sfumato.schema import Box


@dataclass(frozen=True)
class PartOfWhole:
    """The box of a part and the box of the whole that it is a share of."""

    part: Box
    whole: Box

    @property
    def boxes(self) -> list[Box]:
        return [self.part, self.whole]


@dataclass(frozen=True, repr=False)
class ShareComparison(Comparison):
    """One share minus another, as a share; its interval is made of theirs and of their correlation."""

    one: Ratio = None  # type: ignore[assignment]
    other: Ratio = None  # type: ignore[assignment]
    correlation: float = 0.0

    def noise_reach(self, level: float) -> tuple[float, float]:
        if self.one.is_coarse or self.other.is_coarse:
            return self._reach_of_both(level)
        (below, above), (under, over) = (share.noise_reach(level) for share in (self.one, self.other))
        return self._joined(below, over), self._joined(above, under)

    def _reach_of_both(self, level: float) -> tuple[float, float]:
        """So far as both intervals of noise go, each with half the risk, and sampling error added to both sides."""
        ends = [share.fieller((1 + level) / 2) for share in (self.one, self.other)]
        (below, above), (under, over) = (
            (share.value - low, high - share.value)
            for share, (low, high) in zip((self.one, self.other), ends, strict=True)
        )
        sampled = z_score(level) * (stated(self.sampling_se) or 0.0)
        return math.hypot(below + over, sampled), math.hypot(above + under, sampled)

    @property
    def p_value(self) -> float | Withheld:
        return self.se if isinstance(self.se, Withheld) else self.by_halving

    def _joined(self, first: float, second: float) -> float:
        """How far two errors reach together."""
        return math.sqrt(max(first**2 + second**2 - 2 * self.correlation * first * second, 0.0))

    def sentence(self, level: float = 0.90) -> Sentence:
        """The answer in percentage points."""
        plain = super().sentence(level)
        if plain.key == "differ_unsaid":
            return plain
        points = {name: 100 * float(plain.values[name]) for name in ("low", "high")}
        key = "differ_share" if plain.key == "differ" else "may_be_same_share"
        return Sentence(key, {**plain.values, **points})


def share_of(source: Source, asked: PartOfWhole) -> Ratio:
    """A part as a share of its whole."""
    over, under = source.estimate(asked.part), source.estimate(asked.whole)
    shared = source.covariance(asked.part, asked.whole)
    rest = over.noise_variance + under.noise_variance - 2 * shared
    sampled = source.sampling.share(float(over.value), float(under.value), over.noise_variance, rest)
    found = ratio_of(over, under, shared, "share", sampled, inside=True)
    return found.of_nonnegative(source.product.subject.nonnegative)


def difference_of_shares(source: Source, one: PartOfWhole, other: PartOfWhole) -> ShareComparison:
    """One share minus another."""
    first, second = share_of(source, one), share_of(source, other)
    noise, sampled = _covariances(source, (one, first), (other, second))
    variances = (
        _of_difference(first.noise_variance, second.noise_variance, noise),
        _of_difference(first.sampling_variance, second.sampling_variance, sampled),
    )
    both = stated(noise), stated(sampled)
    error = (stated(first.se) or 0.0) * (stated(second.se) or 0.0)
    joint = math.fsum(part for part in both if part is not None)
    return ShareComparison(
        first.value - second.value,
        *variances,
        "share",
        first.cells + second.cells,
        first.grades,
        caveats=(first.caveats + second.caveats).compared,
        bought=compared_excess(first, second),
        one=first,
        other=second,
        correlation=min(max(joint / error, -1.0), 1.0) if error else 0.0,
    )


def _of_difference(first: Variance, second: Variance, covariance: Variance) -> Variance:
    unsaid = withheld(first, second, covariance)
    return unsaid or max(first + second - 2 * covariance, 0.0)  # type: ignore[type-var]


def _covariances(
    source: Source, one: tuple[PartOfWhole, Ratio], other: tuple[PartOfWhole, Ratio]
) -> tuple[Variance, Variance]:
    """What noise and what the sample give two shares in common."""
    (asked, first), (of, second) = one, other
    left, right = (np.array([1.0, -share.value]) / share.under for share in (first, second))
    step = float(source.product.subject.step)
    noise = source.product.errors.covariances(asked.boxes, of.boxes)
    shared = source.sampled_together(asked.boxes, of.boxes)
    return (
        noise if isinstance(noise, Withheld) else float(left @ noise @ right) * step**2,
        shared if isinstance(shared, Withheld) else float(left @ shared @ right),
    )

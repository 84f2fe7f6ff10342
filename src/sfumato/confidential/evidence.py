"""Evidence: what samples of a published number prove about its loss, whatever made them.

An event with probability p under one neighbour and q under the other proves, by the definition of each claim,
    epsilon >= log((p - delta) / q),    mu >= probit(p) - probit(q),    rho >= D_a(Bernoulli(p) || Bernoulli(q)) / a,
the last for every order a > 1: to look only at whether the event happened is post-processing, under which no Rényi
divergence D_a grows, and D_a is at most a rho. All three rise with p and fall with q while p > q, so a lower bound for
p and an upper one for q, by Clopper and Pearson 1934, prove them from counts.

One event sees little of a rho, so there is a second proof. D_a rises with a, hence rho >= D_1, the divergence of
Kullback and Leibler, and D_1 >= E_p g - log E_q e^g for every bounded g (Donsker and Varadhan 1983). The two means are
bounded by the empirical Bernstein inequality (Maurer and Pontil 2009, theorem 4).

Event and g are chosen on a quarter of the samples and confirmed on the others, so choosing among many costs nothing.
Of a number that says how much all cells speak for one side, by their law, that law chooses one event more beforehand.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import beta

from sfumato.privacy import Approximate, Concentrated, Gaussian, Limit

Floats = NDArray[np.float64]
ORDERS = np.array([1.05, 1.25, 1.5, 2, 3, 4, 6, 8, 12, 16, 32])
USUAL, MOST_CHOSEN = 100_000, 4_000_000
"""How many samples are taken where nobody says, and how many at the most where a loss is small."""
HELD_WITHIN = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0)
"""Bounds that log-ratios are held within: a wider one tells more, and takes more samples."""
TRIED = 1_000
"""How many numbers of outcomes of a law are tried, by their rank and by their chance."""
FINE, COARSE = 200, 48
"""How many pooled quantiles are tried as ends of half-lines, and how many bins make up unions."""


def enough(claim: Limit) -> int:
    """How many samples a side show a loss to about a tenth, where it is all there is to see.

    Bounds miss a mu, or an epsilon, by about 9 or 7 over the root of the samples that confirm it; a divergence, which
    is the mean of a number of variance 2 rho, by 11 times √rho over that root. Of a large one most is told by outcomes
    that the other side hardly has, of which no more can be shown than the log of the samples.

    >>> enough(Gaussian(1)), enough(Concentrated("0.5")), enough(Concentrated("0.02"))
    (100000, 100000, 1500000)
    """
    if isinstance(claim, Approximate):
        wanted = 7_000 / max(float(claim.epsilon), 1e-3) ** 2
    elif isinstance(claim, Gaussian):
        wanted = 11_000 / max(claim.mu, 1e-3) ** 2
    elif isinstance(claim, Concentrated):
        rho = max(float(claim.rho), 1e-3)
        wanted = max(30_000 / rho, 60_000 * rho**2)
    else:
        assert_never(claim)
    return min(max(USUAL, math.ceil(wanted)), MOST_CHOSEN)


def at_least(count: Floats, of: int, alpha: float) -> Floats:
    """The lower Clopper-Pearson bound of a chance; a fractional count is an expected one.

    >>> round(float(at_least(np.array(10.0), 10, 0.05)), 4)      # 0.05 ** (1 / 10)
    0.7411
    """
    return np.where(count > 0, beta.ppf(alpha, np.maximum(count, 1e-9), of - count + 1), 0.0)


def at_most(count: Floats, of: int, alpha: float) -> Floats:
    """The upper Clopper-Pearson bound of a chance."""
    return 1 - at_least(of - count, of, alpha)


def shown(claim: Limit, p: Floats, q: Floats) -> Floats:
    """The loss that an event shows, in the currency of the claim, 0 where it shows none.

    >>> float(shown(Approximate("1", "0.1"), np.array(0.6), np.array(0.25)))      # log(0.5 / 0.25)
    0.6931471805599453
    """
    q = np.maximum(q, 1e-300)
    if isinstance(claim, Approximate):
        loss = np.log(np.maximum(p - float(claim.delta), 1e-300) / q)
    elif isinstance(claim, Gaussian):
        loss = np.asarray(ndtri(np.clip(p, 1e-300, 1 - 1e-16)) - ndtri(np.clip(q, 1e-300, 1 - 1e-16)))
    elif isinstance(claim, Concentrated):
        loss = np.max(_bernoulli(p[..., None], q[..., None]), axis=-1)
    else:
        assert_never(claim)
    return np.where(p > q, np.maximum(loss, 0.0), 0.0)


def _bernoulli(p: Floats, q: Floats) -> Floats:
    """Rényi divergences of two Bernoulli laws, each over its order."""
    p, q = np.clip(p, 1e-300, 1 - 1e-16), np.clip(q, 1e-300, 1 - 1e-16)
    happens = ORDERS * np.log(p) + (1 - ORDERS) * np.log(q)
    not_so = ORDERS * np.log1p(-p) + (1 - ORDERS) * np.log1p(-q)
    return np.asarray(np.logaddexp(happens, not_so) / (ORDERS * (ORDERS - 1)))


@dataclass(frozen=True, eq=False)
class Event:
    """Some of the bins between rising edges."""

    edges: Floats
    inside: NDArray[np.bool_]

    def count(self, values: Floats) -> int:
        return int(self.inside[np.searchsorted(self.edges, values, side="right")].sum())


def bound(one: Floats, other: Floats, claim: Limit, alpha: float, laws: tuple[Floats, Floats] | None = None) -> float:
    """A loss that is at least this large, but for a chance alpha: the larger of both directions.

    `laws` are those of values that say how much they speak for one side, by a law that need not be true.
    """
    quarter = first(one)
    proofs = [by_event, by_divergence] if isinstance(claim, Concentrated) else [by_event]
    laws = None if isinstance(claim, Concentrated) else laws  # its divergences show more than any event
    share = alpha / (2 * (len(proofs) + (laws is not None)))
    sides = [(one, other), (other, one)]
    parts = [(a[:quarter], b[:quarter], a[quarter:], b[quarter:]) for a, b in sides]
    found = [proof(*part, claim, share) for proof in proofs for part in parts]
    if laws is not None:
        found += [by_stated(one, other, *laws, claim, share), by_stated(-other, -one, *laws[::-1], claim, share)]
    return max(found)


def first(samples: Floats) -> int:
    """How many samples events are chosen on: a quarter."""
    return len(samples) // 4


def learned(one: Floats, other: Floats, values: Floats) -> Floats:
    """How much values speak for one side, by the bins of the samples that events are chosen on."""
    edges, scores = _scores(one[: first(one)], other[: first(other)])
    return np.asarray(scores[np.searchsorted(edges, values, side="right")])


def _scores(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Bins, and the log-ratio of the samples in each."""
    edges = _edges(one, other, COARSE)
    return edges, np.log((_histogram(edges, one) + 0.5) / (_histogram(edges, other) + 0.5))


def by_event(one: Floats, other: Floats, rest: Floats, other_rest: Floats, claim: Limit, alpha: float) -> float:
    """The loss that the best event of the first samples shows on the others."""
    # Promise is judged as if the first samples were all there are: rare events that looked good by luck lose.
    event = chosen(one, other, claim, len(one), alpha)
    p = at_least(np.array(float(event.count(rest))), len(rest), alpha / 2)
    q = at_most(np.array(float(event.count(other_rest))), len(other_rest), alpha / 2)
    return float(shown(claim, p, q))


def by_stated(one: Floats, other: Floats, law_one: Floats, law_other: Floats, claim: Limit, alpha: float) -> float:
    """The loss that values above a cut show, which the law chose before any was seen, so that all of them confirm it.

    A law that is not true chooses a poor cut, and proves no less what it proves.
    """
    last, _, _ = _best(law_one, law_other, claim, many := len(one), alpha / 2)
    cut = math.log((law_one[last] + 1e-300) / (law_other[last] + 1e-300))
    p, q = (np.array(float(np.count_nonzero(side >= cut))) for side in (one, other))
    return float(shown(claim, at_least(p, many, alpha / 2), at_most(q, many, alpha / 2)))


def _best(p: Floats, q: Floats, claim: Limit, confirm: int, alpha: float) -> tuple[int, Floats, Floats]:
    """The outcomes of two laws that so many samples show best, likeliest for one side first: the last, and all chances.

    Of many outcomes not every number of them is tried.
    """
    order = np.argsort(-(p + 1e-300) / (q + 1e-300))
    p, q = (np.minimum(np.cumsum(law[order]), 1.0) for law in (p, q))
    few, by_mass = np.geomspace(1, len(p), TRIED).astype(np.int64) - 1, np.searchsorted(p, np.linspace(0, 1, TRIED))
    tried = np.unique(np.append(few, np.minimum(by_mass, len(p) - 1)))
    sure, at_best = at_least(p[tried] * confirm, confirm, alpha), at_most(q[tried] * confirm, confirm, alpha)
    best = int(tried[np.argmax(shown(claim, sure, at_best))])
    return int(order[best]), p[best], q[best]


def chosen(one: Floats, other: Floats, claim: Limit, confirm: int, alpha: float) -> Event:
    """The event that promises most: a half-line, or the bins that speak most for one side."""
    best, event = -math.inf, Event(np.array([]), np.array([True]))
    for edges, events in _candidates(one, other):
        p, q = (events @ _histogram(edges, values) / len(values) for values in (one, other))
        worth = shown(claim, at_least(p * confirm, confirm, alpha / 2), at_most(q * confirm, confirm, alpha / 2))
        place = int(np.argmax(worth))
        if worth[place] > best:
            best, event = float(worth[place]), Event(edges, events[place])
    return event


def _candidates(one: Floats, other: Floats) -> list[tuple[Floats, NDArray[np.bool_]]]:
    fine, coarse = (_edges(one, other, bins) for bins in (FINE, COARSE))
    below = np.tri(len(fine), len(fine) + 1, dtype=bool)
    ratio = (_histogram(coarse, one) + 0.5) / (_histogram(coarse, other) + 0.5)
    ranks = np.argsort(np.argsort(-ratio))
    return [(fine, np.vstack([below, ~below])), (coarse, ranks[None, :] <= np.arange(len(ranks) - 1)[:, None])]


def _edges(one: Floats, other: Floats, bins: int) -> Floats:
    """Where bins end; ties are common in integers, so the smallest value is no edge."""
    pooled = np.concatenate([one, other])
    edges = np.unique(np.quantile(pooled, np.arange(1, bins) / bins, method="inverted_cdf"))
    return edges[edges > pooled.min()] if pooled.max() > pooled.min() else pooled[:1] + 1.0


def _histogram(edges: Floats, values: Floats) -> Floats:
    return np.bincount(np.searchsorted(edges, values, side="right"), minlength=len(edges) + 1).astype(float)


@dataclass(frozen=True, eq=False)
class Gauge:
    """A bounded number made of a sample that is large where it speaks for one side: the g of Donsker and Varadhan."""

    of: Callable[[Floats], Floats]
    low: float
    high: float
    fitted: int
    """How many numbers of it were fitted to samples."""

    def divergence(self, one: Floats, other: Floats, confirm: int, alpha: float) -> float:
        """The divergence that it shows, at least, if so many samples have the means and variances of these."""
        gain = -_mean_at_most(-self.of(one), self.high - self.low, confirm, alpha / 2)
        odds = np.exp(self.of(other))
        return gain - math.log(_mean_at_most(odds, math.exp(self.high) - math.exp(self.low), confirm, alpha / 2))


def by_divergence(one: Floats, other: Floats, rest: Floats, other_rest: Floats, claim: Limit, alpha: float) -> float:  # noqa: ARG001 - one shape for both proofs
    """Kullback and Leibler's divergence, by the gauge that promises most on the first samples."""
    gauges = [_binned(one, other), *_linear(one, other)]
    best = max(gauges, key=lambda gauge: gauge.divergence(one, other, len(rest), alpha) - gauge.fitted / len(one))
    return max(0.0, best.divergence(rest, other_rest, len(rest), alpha))


def _binned(one: Floats, other: Floats) -> Gauge:
    """The log-ratio of the bins of samples."""
    edges, scores = _scores(one, other)
    return Gauge(
        lambda values: np.asarray(scores[np.searchsorted(edges, values, side="right")]),
        float(scores.min()),
        float(scores.max()),
        len(scores),
    )


def _linear(one: Floats, other: Floats) -> list[Gauge]:
    """The log-ratio of two normal laws of one variance, held within several bounds."""
    means, variance = (float(one.mean()), float(other.mean())), float(one.var() + other.var()) / 2
    if variance == 0:
        return []
    slope, middle = (means[0] - means[1]) / variance, (means[0] + means[1]) / 2

    def within(most: float) -> Gauge:
        return Gauge(lambda values: np.clip(slope * (values - middle), -most, most), -most, most, 2)

    return [within(most) for most in HELD_WITHIN]


def _mean_at_most(found: Floats, width: float, count: int, alpha: float) -> float:
    """The empirical Bernstein bound on the mean of numbers within an interval, if so many are like these."""
    log = math.log(2 / alpha)
    spread = width * 7 * log / (3 * (count - 1))
    return float(found.mean()) + math.sqrt(2 * float(found.var(ddof=1)) * log / count) + spread


def visible(p: Floats, q: Floats, claim: Limit, samples: int, alpha: float) -> float:
    """The loss of a law at the event that so many samples show best; a rho is seen whole, by its divergences."""
    return max(_visible(p, q, claim, samples, alpha), _visible(q, p, claim, samples, alpha))


def _visible(p: Floats, q: Floats, claim: Limit, samples: int, alpha: float) -> float:
    if isinstance(claim, Concentrated):
        both = (p > 0) & (q > 0)
        return max(0.0, float(np.sum(p[both] * np.log(p[both] / q[both]))))
    _, p, q = _best(p, q, claim, samples - samples // 4, alpha / 4)
    return float(shown(claim, p, q))

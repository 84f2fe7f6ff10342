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
"""

import math
from dataclasses import dataclass
from typing import assert_never

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import beta

from sfumato.privacy import Approximate, Concentrated, Gaussian, Limit

Floats = NDArray[np.float64]
ORDERS = np.array([1.05, 1.25, 1.5, 2, 3, 4, 6, 8, 12, 16, 32])
FINE, COARSE = 200, 48
"""How many pooled quantiles are tried as ends of half-lines, and how many bins make up unions."""


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


def bound(one: Floats, other: Floats, claim: Limit, alpha: float) -> float:
    """A loss that is at least this large, but for a chance alpha: the larger of both directions."""
    quarter = first(one)
    proofs = [by_event, by_divergence] if isinstance(claim, Concentrated) else [by_event]
    share = alpha / (2 * len(proofs))
    sides = [(one, other), (other, one)]
    parts = [(a[:quarter], b[:quarter], a[quarter:], b[quarter:]) for a, b in sides]
    return max(proof(*part, claim, share) for proof in proofs for part in parts)


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


def by_divergence(one: Floats, other: Floats, rest: Floats, other_rest: Floats, claim: Limit, alpha: float) -> float:  # noqa: ARG001 - one shape for both proofs
    """Kullback and Leibler's divergence, by the log-ratio of the bins of the first samples."""
    edges, scores = _scores(one, other)
    gain = -_mean_at_most(-scores, edges, rest, alpha / 2)
    return max(0.0, gain - math.log(_mean_at_most(np.exp(scores), edges, other_rest, alpha / 2)))


def _mean_at_most(scores: Floats, edges: Floats, values: Floats, alpha: float) -> float:
    """The empirical Bernstein bound on the mean score of a sample's bins."""
    found = scores[np.searchsorted(edges, values, side="right")]
    count, log = len(found), math.log(2 / alpha)
    spread = float(np.ptp(scores)) * 7 * log / (3 * (count - 1))
    return float(found.mean()) + math.sqrt(2 * float(found.var(ddof=1)) * log / count) + spread


def visible(p: Floats, q: Floats, claim: Limit, samples: int, alpha: float) -> float:
    """The loss of a law at the event that so many samples show best; a rho is seen whole, by its divergences."""
    return max(_visible(p, q, claim, samples, alpha), _visible(q, p, claim, samples, alpha))


def _visible(p: Floats, q: Floats, claim: Limit, samples: int, alpha: float) -> float:
    if isinstance(claim, Concentrated):
        both = (p > 0) & (q > 0)
        return max(0.0, float(np.sum(p[both] * np.log(p[both] / q[both]))))
    order = np.argsort(-(p + 1e-300) / (q + 1e-300))
    confirm = samples - samples // 4
    p, q = np.minimum(np.cumsum(p[order]), 1.0), np.minimum(np.cumsum(q[order]), 1.0)
    worth = shown(claim, at_least(p * confirm, confirm, alpha / 4), at_most(q * confirm, confirm, alpha / 4))
    best = int(np.argmax(worth))
    return float(shown(claim, p[best : best + 1], q[best : best + 1])[0])

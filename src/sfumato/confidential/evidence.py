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
Measures are published apart from each other, so that the chances of one event of each multiply.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import beta

from sfumato.confidential.bins import COARSE, Floats, edges, histogram, scores
from sfumato.confidential.divergence import by_divergence
from sfumato.privacy import Approximate, Concentrated, Gaussian, Limit

ORDERS = np.array([1.05, 1.25, 1.5, 2, 3, 4, 6, 8, 12, 16, 32])
USUAL, MOST = 100_000, 4_000_000
"""How many samples are taken where nobody says, and how many at the most where a loss is small."""
FUZZ = 1e-6
"""By what the log-ratio of an outcome may be off in floats."""
FINE = 200
"""How many pooled quantiles are tried as ends of half-lines."""
TRIED = 1_000
"""How many numbers of outcomes of a law are tried, by their rank and by their chance."""


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
    return min(max(USUAL, math.ceil(wanted)), MOST)


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


@dataclass(frozen=True, eq=False)
class Sampled:
    """A number published many times on either side; `laws` are those of one that says how much it speaks for one side.

    They need not be true.
    """

    one: Floats
    other: Floats
    laws: tuple[Floats, Floats] | None = None

    @property
    def other_way(self) -> "Sampled":
        """The same with the sides changed; what speaks for one speaks against the other."""
        if self.laws is None:
            return Sampled(self.other, self.one)
        return Sampled(-self.other, -self.one, self.laws[::-1])

    @property
    def parts(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The samples of either side that events are chosen on, and those that confirm them."""
        quarter = first(self.one)
        return self.one[:quarter], self.other[:quarter], self.one[quarter:], self.other[quarter:]


def bound(seen: Sampled, claim: Limit, alpha: float) -> float:
    """A loss that is at least this large, but for a chance alpha: the larger of both directions."""
    if isinstance(claim, Concentrated):  # its divergences show more than any event
        ways = [seen.parts, seen.other_way.parts]
        found = [shown(claim, *by_event(*part, claim, alpha / 4)) for part in ways]
        return max(float(max(found)), *(by_divergence(*part, alpha / 4) for part in ways))
    return max(_loss(claim, *one_way(way, claim, alpha / 2)) for way in (seen, seen.other_way))


def one_way(seen: Sampled, claim: Limit, alpha: float) -> tuple[Floats, Floats]:
    """The event that shows most for one side, of the one that samples choose and the one that their laws do."""
    if seen.laws is None:
        return by_event(*seen.parts, claim, alpha)
    both = by_event(*seen.parts, claim, alpha / 2), by_stated(seen.one, seen.other, *seen.laws, claim, alpha / 2)
    return max(both, key=lambda odds: _loss(claim, *odds))


def by_each(measures: Sequence[Sampled], claim: Limit, alpha: float) -> float:
    """A loss of several measures that are published apart from each other: that of one event of each, all at once."""
    share = alpha / (2 * len(measures))
    ways = [measures, [seen.other_way for seen in measures]]
    odds = [[one_way(seen, claim, share) for seen in way] for way in ways]
    return max(_loss(claim, *(np.prod(side, axis=0) for side in zip(*way, strict=True))) for way in odds)


def _loss(claim: Limit, p: Floats, q: Floats) -> float:
    return float(shown(claim, np.asarray(p), np.asarray(q)))


def first(samples: Floats) -> int:
    """How many samples events are chosen on: a quarter."""
    return len(samples) // 4


def learned(one: Floats, other: Floats, values: Floats) -> Floats:
    """How much values speak for one side, by the bins of the samples that events are chosen on."""
    ends, ratios = scores(one[: first(one)], other[: first(other)])
    return np.asarray(ratios[np.searchsorted(ends, values, side="right")])


def by_event(
    one: Floats, other: Floats, rest: Floats, other_rest: Floats, claim: Limit, alpha: float
) -> tuple[Floats, Floats]:
    """The best event of the first samples: its chance on one side at least, by the others, and on the other at most."""
    # Promise is judged as if the first samples were all there are: rare events that looked good by luck lose.
    event = chosen(one, other, claim, len(one), alpha)
    p = at_least(np.array(float(event.count(rest))), len(rest), alpha / 2)
    q = at_most(np.array(float(event.count(other_rest))), len(other_rest), alpha / 2)
    return p, q


def by_stated(
    one: Floats, other: Floats, law_one: Floats, law_other: Floats, claim: Limit, alpha: float
) -> tuple[Floats, Floats]:
    """The same of values above a cut, which the law chose before any was seen, so that all of them confirm it.

    A law that is not true chooses a poor cut, and proves no less what it proves.
    """
    last, _, _ = best_event(law_one, law_other, claim, many := len(one), alpha / 2)
    cut = math.log((law_one[last] + 1e-300) / (law_other[last] + 1e-300)) - FUZZ
    p, q = (np.array(float(np.count_nonzero(side >= cut))) for side in (one, other))
    return at_least(p, many, alpha / 2), at_most(q, many, alpha / 2)


def best_event(p: Floats, q: Floats, claim: Limit, confirm: int, alpha: float) -> tuple[int, Floats, Floats]:
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
    for ends, events in _candidates(one, other):
        if not len(events):  # nearly all samples are one value, which tells nothing apart
            continue
        p, q = (events @ histogram(ends, values) / len(values) for values in (one, other))
        worth = shown(claim, at_least(p * confirm, confirm, alpha / 2), at_most(q * confirm, confirm, alpha / 2))
        place = int(np.argmax(worth))
        if worth[place] > best:
            best, event = float(worth[place]), Event(ends, events[place])
    return event


def _candidates(one: Floats, other: Floats) -> list[tuple[Floats, NDArray[np.bool_]]]:
    fine, coarse = (edges(one, other, bins) for bins in (FINE, COARSE))
    below = np.tri(len(fine), len(fine) + 1, dtype=bool)
    ratio = (histogram(coarse, one) + 0.5) / (histogram(coarse, other) + 0.5)
    ranks = np.argsort(np.argsort(-ratio))
    return [(fine, np.vstack([below, ~below])), (coarse, ranks[None, :] <= np.arange(len(ranks) - 1)[:, None])]

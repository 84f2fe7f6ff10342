"""Stated: what the laws of noise lose between two neighbours, worked out and not sampled, and how many samples show it.

Cells have noise of their own, so their losses are those of independent numbers. Of a pure epsilon the exact loss is the
sum of the largest log-ratios of the cells; of an epsilon with a delta, and of a mu, that of the best event, which are
all outcomes from some likelihood ratio on (Neyman and Pearson 1933); of a rho the largest of the Rényi divergences over
their orders, each of them a sum over the cells.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce

import numpy as np
from scipy.signal import fftconvolve
from scipy.special import logsumexp

from sfumato.confidential.bins import Floats
from sfumato.confidential.evidence import ORDERS, at_least, at_most, best_event, shown
from sfumato.draws import Law, Quartic
from sfumato.privacy import Approximate, Concentrated, Limit

STRONG = 0.85
"""The part of the exact loss of a law from which on a bound counts as evidence."""
GRAIN = 5e-3
"""Outcomes whose losses are this close are taken together when the law of a likelihood ratio is worked out."""
FARTHEST = 60.0
"""Log-likelihood ratios of a cell are held within this."""
NEAR, FINE, WIDER = 32, 300, 1.02
"""How many scales around 0 are laid out evenly, in how many parts of a scale, and how much wider bins get beyond."""
RARE, NEVER = 1e-10, 1e-13
"""The least chance of outcomes by which a loss is told, and of what is laid out at all."""
MOST_CHOSEN = 4_000_000
"""How many samples are taken at the most where nobody says."""
UNLUCKY = 2.5
"""How many standard deviations counts may be off when the samples that will do are chosen."""
Chances = tuple[Floats, Floats]
"""The chances of outcomes on either side."""
Noise = Law | Quartic


@lru_cache(maxsize=128)
def outcomes(one: Noise, other: Noise, shift: int) -> Chances:
    """The chances of what is published of a cell that is `shift` more on one side, each side by its own law.

    Bins are of one integer, unless the laws are wide.
    """
    edges = _edges(one, other, shift)
    return _chances(one, edges - shift), _chances(other, edges)


def _edges(one: Noise, other: Noise, shift: int) -> Floats:
    """Ends of bins over all that two laws reach, of which the first is shifted."""
    narrow, wide = sorted(float(law.scale) for law in (one, other))
    pitch, near = max(1, int(narrow) // FINE), int(NEAR * wide) + 8
    even = np.arange(-near + min(shift, 0), near + max(shift, 0) + 2 * pitch, pitch, dtype=float)
    ends, reach = [even], float(near)
    while max(float(law.survival(reach)) for law in (one, other)) > NEVER:
        reach *= WIDER
        ends.append(np.ceil([even[0] - reach, even[-1] + reach]))
    return np.unique(np.concatenate(ends))


def _chances(law: Noise, edges: Floats) -> Floats:
    """The chance of each bin, to as many digits far out as near 0."""
    low, high = edges[:-1], edges[1:]
    from_low, from_high = (law.survival(np.maximum(end, 1)) / 2 for end in (low, high))
    below_low, below_high = (law.survival(np.maximum(1 - end, 1)) / 2 for end in (low, high))
    around = 1 - np.where(high > 0, from_high, 1 - below_high) - np.where(low <= 0, below_low, 1 - from_low)
    found = np.where(low > 0, from_low - from_high, np.where(high <= 0, below_high - below_low, around))
    return np.asarray(np.maximum(found, 0.0))


def together(cells: Sequence[Chances]) -> Chances:
    """The chances of how much independent cells say for one side, in all: what each says adds up, on one grid."""
    alike = Counter(map(id, cells))
    each = {id(cell): cell for cell in cells}
    laws = [_many(_by_loss(*each[name]), count) for name, count in alike.items()]
    law_one, law_other = reduce(_added, laws, (np.ones(1), np.ones(1)))
    likely = law_one + law_other > 1e-15
    return law_one[likely], law_other[likely]


def _added(one: Chances, other: Chances) -> Chances:
    first, second = (np.maximum(fftconvolve(*both), 0.0) for both in zip(one, other, strict=True))
    return first, second


def _many(law: Chances, count: int) -> Chances:
    """The law of the sum of so many: twice that of half as many, and of one more where they are odd."""
    if count == 1:
        return law
    half = _many(law, count // 2)
    return _added(_added(half, half), law) if count % 2 else _added(half, half)


def _by_loss(one: Floats, other: Floats) -> Chances:
    """The chances of outcomes on either side by how much they speak for one of them, on a grid from the least on."""
    seen = one + other > 1e-15
    one, other = one[seen], other[seen]
    steps = np.round(np.clip(np.log((one + 1e-300) / (other + 1e-300)), -FARTHEST, FARTHEST) / GRAIN).astype(np.int64)
    place = steps - steps.min()
    return np.bincount(place, one).astype(np.float64), np.bincount(place, other).astype(np.float64)


def exact_loss(cells: Sequence[Chances], claim: Limit) -> float:
    """The loss of independent cells in the currency of a claim, by outcomes that are not rarer than any sample shows.

    >>> halves = np.array([0.5, 0.5]), np.array([0.25, 0.75])
    >>> round(exact_loss([halves, halves], Approximate(2)), 4)      # twice log(0.5 / 0.25)
    1.3863
    """
    swapped = [(other, one) for one, other in cells]
    return max(_one_way(cells, claim), _one_way(swapped, claim))


def _one_way(cells: Sequence[Chances], claim: Limit) -> float:
    if isinstance(claim, Concentrated):
        return float(np.max(np.sum([_divergences(p, q) for p, q in cells], axis=0)))
    if isinstance(claim, Approximate) and not claim.delta:
        return sum(_farthest(p, q) for p, q in cells)
    p, q = together(cells)
    order = np.argsort(-(p + 1e-300) / (q + 1e-300))
    p, q = np.cumsum(p[order]), np.cumsum(q[order])
    told = (p > RARE) & (q > RARE) & (p < 1 - RARE)
    return float(np.max(shown(claim, p[told], q[told]), initial=0.0))


def _farthest(p: Floats, q: Floats) -> float:
    """The largest log-ratio; what the other side never has counts as what it has next to never."""
    told = p > RARE
    return float(np.max(np.log(p[told] / np.maximum(q[told], NEVER)), initial=0.0))


def _divergences(p: Floats, q: Floats) -> Floats:
    """Rényi divergences over their orders, that of Kullback and Leibler first, the others by outcomes told of both."""
    told = (p > NEVER) & (q > NEVER)
    p, q = np.log(p[told]), np.log(q[told])
    first = float(np.sum(np.exp(p) * (p - q)))
    others = [logsumexp(order * p + (1 - order) * q) / (order - 1) / order for order in ORDERS]
    return np.array([first, *others])


@dataclass(frozen=True)
class Samples:
    """How many times cells are published on either side: so many, or as many more as show what their laws lose."""

    least: int
    claim: Limit | None = None
    """The claim that is to be shown, where nobody says how many."""
    alpha: float = 1e-4
    """About the chance at which a bound on it may be wrong."""

    def showing(self, cells: Sequence[Chances] | None) -> int:
        """As many as show most of the exact loss but for bad luck; where too many would be needed, the least."""
        if self.claim is None or cells is None or isinstance(self.claim, Concentrated):
            return self.least
        law, wanted = together(cells), STRONG * exact_loss(cells, self.claim)
        many = self.least
        while many <= MOST_CHOSEN:
            if max(self._promised(*law, many), self._promised(*law[::-1], many)) >= wanted:
                return many
            many = min(2 * many, MOST_CHOSEN) if many < MOST_CHOSEN else MOST_CHOSEN + 1
        return self.least

    def _promised(self, p: Floats, q: Floats, many: int) -> float:
        """The bound that so many samples would give with bad luck."""
        assert self.claim is not None  # noqa: S101 - asked where something is to be shown
        _, p, q = best_event(p, q, self.claim, many, self.alpha)
        low, high = p * many - UNLUCKY * math.sqrt(p * many), q * many + UNLUCKY * math.sqrt(q * many)
        sure = at_least(np.maximum(low, 0), many, self.alpha), at_most(np.minimum(high, many), many, self.alpha)
        return float(shown(self.claim, *sure))

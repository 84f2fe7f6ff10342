"""The claim checked on the law: every probability from integer bounds at any precision, and no draws at all.

Two neighbours move the cells by a vector of integers within the move. A law is the same in every cell and the cells
are independent, so an attacker sees the law against its shift, once for each cell that moved. What is checked for
each claim is its own definition; the relative tolerance is 1e-9, a million times what the float sums can be off by.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtri

from sfumato.draws import Law
from sfumato.mechanisms import Additive
from sfumato.privacy import Approximate, Bounded, Concentrated, Gaussian

Floats = NDArray[np.float64]
TOLERANCE = 1e-9
TAIL = 120
"""Outcomes rarer than 2^-TAIL under both neighbours are not looked at."""
ORDERS = (1.01, 1.1, 1.5, 2, 3, 4, 6, 8)
COARSE, MOST = 5e-3, 4_000
"""Past so many outcomes, those with losses this close are taken together, which only hides something that small."""


@lru_cache(maxsize=256)
def log_pmf(law: Law, last: int) -> Floats:
    """The logarithms of P(K = k) for k = 0, ..., last, each to float precision however small it is."""
    bits = 320
    while 0 < law.exact_survival(last + 1, bits)[1] < 1 << 160:
        bits *= 2
    survival = [1 << bits, *(sum(law.exact_survival(m, bits)) // 2 for m in range(1, last + 2))]
    once = [2 * (survival[0] - survival[1]), *(survival[m] - survival[m + 1] for m in range(1, last + 1))]
    scale = (bits + 1) * math.log(2)
    return np.array([math.log(one) - scale if one > 0 else -math.inf for one in once])


@lru_cache(maxsize=64)
def reach(law: Law) -> int:
    """The first m with P(|K| >= m) below 2^-TAIL."""
    low, high = 0, 1
    while law.exact_survival(high, 320)[1] >> (320 - TAIL):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if law.exact_survival(middle, 320)[1] >> (320 - TAIL) else (low, middle)
    return high


@dataclass(frozen=True, eq=False)
class BothLaws:
    """The log-probabilities of the same outcomes under two neighbours."""

    one: Floats
    other: Floats

    def with_(self, more: "BothLaws") -> "BothLaws":
        """Both seen at once, independently; outcomes of equal loss are one outcome."""
        one = (self.one[:, None] + more.one).ravel()
        other = (self.other[:, None] + more.other).ravel()
        seen = np.maximum(one, other) > -TAIL * math.log(2)
        return BothLaws(one[seen], other[seen]).merged()

    def merged(self) -> "BothLaws":
        for grid in (TOLERANCE / 100, COARSE):
            steps = np.round(np.clip(self.losses, -1e6, 1e6) / grid)
            _, place = np.unique(steps, return_inverse=True)
            if place.max() < MOST:
                break
        one = np.bincount(place, np.exp(self.one))
        other = np.bincount(place, np.exp(self.other))
        with np.errstate(divide="ignore"):
            return BothLaws(np.log(one), np.log(other))

    @property
    def losses(self) -> Floats:
        return self.one - self.other


def shifted(law: Law, shift: int, last: int) -> BothLaws:
    """One cell: the law against itself moved by a shift."""
    logs = log_pmf(law, last + shift)
    k = np.arange(-last, last + shift + 1)
    inside = (np.abs(k) <= last) | (np.abs(k - shift) <= last)
    k = k[inside]
    pair = BothLaws(logs[np.minimum(np.abs(k), last + shift)], logs[np.minimum(np.abs(k - shift), last + shift)])
    possible = np.isfinite(pair.one) | np.isfinite(pair.other)
    return BothLaws(pair.one[possible], pair.other[possible])


def joint(law: Law, split: tuple[int, ...]) -> BothLaws:
    """All cells that moved, seen at once."""
    pair, *rest = (shifted(law, shift, reach(law)).merged() for shift in split)
    for one in rest:
        pair = pair.with_(one)
    return pair


def splits(move: Bounded) -> list[tuple[int, ...]]:
    """Ways in which the move can be spread over cells: all of them if there are few, the extreme ones otherwise."""
    if move.l1 <= 6:
        found = [split for total in range(1, move.l1 + 1) for split in _partitions(total, move.cells)]
    else:
        top, half, third = min(move.largest, math.isqrt(move.l2_squared)), move.l1 // 2, move.l1 // 3
        found = [(top,), (top, move.l1 - top), (half, move.l1 - half), (third, third, move.l1 - 2 * third)]
    return [one for one in found if _within(one, move)]


def _within(split: tuple[int, ...], move: Bounded) -> bool:
    squares = sum(shift * shift for shift in split)
    return len(split) <= move.cells and max(split) <= move.largest and squares <= move.l2_squared and min(split) > 0


def _partitions(total: int, parts: int, largest: int | None = None) -> list[tuple[int, ...]]:
    if total == 0:
        return [()]
    if parts == 0:
        return []
    tops = range(min(total, largest or total), 0, -1)
    return [(top, *rest) for top in tops for rest in _partitions(total - top, parts - 1, top)]


def hockey_stick(pair: BothLaws, epsilon: float) -> float:
    """The sum over outcomes of P - e^epsilon Q where that is positive: the delta that goes with an epsilon."""
    over = np.exp(pair.one) * -np.expm1(np.minimum(epsilon - pair.losses, 0.0))
    return math.fsum(over)


def attained_epsilon(law: Law, split: tuple[int, ...]) -> float:
    return float(joint(law, split).losses.max())


def attained_mu(law: Law, split: tuple[int, ...]) -> float:
    """The largest mu of any threshold on the likelihood ratio."""
    return attained(joint(law, split))


def attained(pair: BothLaws) -> float:
    """The largest mu of any threshold on the likelihood ratio: probit of its power less probit of its level."""
    order = np.argsort(-pair.losses)
    power, missed = _both_ways(np.exp(pair.one[order]))
    level, kept = _both_ways(np.exp(pair.other[order]))
    seen = np.minimum.reduce([power, missed, level, kept]) > 1e-24
    with np.errstate(invalid="ignore"):
        return float(np.max(_probit(power, missed)[seen] - _probit(level, kept)[seen]))


def _both_ways(masses: Floats) -> tuple[Floats, Floats]:
    """The mass down to each place, and the mass after it, each added up from its own end."""
    after = np.cumsum(masses[::-1])[::-1]
    return np.cumsum(masses), np.append(after[1:], 0.0)


def _probit(share: Floats, rest: Floats) -> Floats:
    return np.asarray(np.where(share < rest, ndtri(np.minimum(share, 0.5)), -ndtri(np.minimum(rest, 0.5))))


def attained_rho(law: Law, split: tuple[int, ...]) -> float:
    """The largest Rényi divergence of any order, over its order."""
    return renyi_of_all([(law, shift) for shift in split])


def renyi_of_all(pairs: Sequence[tuple[Law, int]]) -> float:
    """The same of cells with a law each; divergences of independent cells add."""
    return max(sum(renyi(law, shift, order) for law, shift in pairs) / order for order in ORDERS)


def renyi(law: Law, shift: int, order: float) -> float:
    # The terms peak (order - 1) shifts out; law.scale says how wide the peak is.
    pair = shifted(law, shift, int(max(ORDERS) * shift + 12 * law.scale) + 2)
    with np.errstate(invalid="ignore"):
        terms = np.where(np.isneginf(pair.one), -np.inf, order * pair.one + (1 - order) * pair.other)
    return float(logsumexp(terms)) / (order - 1)


def claim_holds(mechanism: Additive, move: Bounded) -> list[str]:
    """Complaints about a claim that its law does not keep, on any way of spreading the move over cells."""
    law, claim = mechanism.law(move), mechanism.loss(move)
    found = [(split, _broken(law, claim, split)) for split in splits(move)]
    return [f"{claim.words()} broken by a move of {split}: {said}" for split, said in found if said]


def _broken(law: Law, claim: object, split: tuple[int, ...]) -> str:
    match claim:
        case Approximate():
            delta = hockey_stick(joint(law, split), float(claim.epsilon) * (1 + TOLERANCE))
            return f"delta {delta:.3g}" if delta > float(claim.delta) * (1 + TOLERANCE) else ""
        case Gaussian():
            mu = attained_mu(law, split)
            return f"mu {mu:.6f}" if not mu <= claim.mu * (1 + TOLERANCE) else ""
        case Concentrated():
            rho = attained_rho(law, split)
            return f"rho {rho:.6f}" if not rho <= float(claim.rho) * (1 + TOLERANCE) else ""
    return "no kind of loss that is known here"


def law_says_what_it_is(mechanism: Additive, move: Bounded) -> list[str]:
    """Complaints about probabilities and moments that are not those of the exact law."""
    law = mechanism.law(move)
    exact = log_pmf(law, reach(law))
    k = np.arange(len(exact), dtype=float)
    common = exact > -100 * math.log(2)
    stated = law.pmf(k[common])
    off = float(np.max(np.abs(stated / np.exp(exact[common]) - 1)))
    said = [f"stated probabilities are off by {off:.2g}"] if off > 2.0**-40 else []
    for name, power in (("variance", 2), ("fourth_moment", 4)):
        summed = 2 * math.fsum(k**power * np.exp(exact))
        if not math.isclose(getattr(law, name), summed, rel_tol=1e-12):
            said.append(f"the stated {name} is {getattr(law, name)!r}, summed it is {summed!r}")
    return said


LAW_CHECKS = {"claim holds": claim_holds, "law says what it is": law_says_what_it_is}

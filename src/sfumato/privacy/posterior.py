"""Posterior: how likely what is published makes somebody sure of the truth, who thought it as likely as not.

Claim. Whoever sees what is made of a release, in whatever way, is at least s sure of the true one of two neighbours
with a chance of p at most, the largest p with p ≤ power(p / o), where o = s / (1 − s).
Proof. From even odds the posterior of the truth is at least s just where what is seen is at least o times as likely
under the truth as under its neighbour. If that happens with a chance of p under the truth, it does with p / o at most
under the neighbour, so it is a test of that level, and its power p is no more than the loss allows. Who publishes that
one event alone reaches it. Of normal noise that is seen whole the chance is Φ(mu / 2 − ln(o) / mu), which is less:
arithmetic after it can make more people fairly sure, by making fewer very sure.
"""

from sfumato.privacy.loss import Loss

SHARES = (0.90, 0.99)
"""How sure somebody is, where releases and prices tell how likely that is."""
_STEPS = 50


def posterior_above(loss: Loss, share: float) -> float:
    """The largest chance that somebody with even odds becomes so sure of the truth, or surer.

    >>> from sfumato.privacy import Approximate, Gaussian
    >>> posterior_above(Approximate(2), 0.90), round(posterior_above(Approximate(3), 0.90), 4)    # e² < 9 < e³
    (0.0, 0.9555)
    >>> round(posterior_above(Gaussian(1), 0.90), 4), round(posterior_above(Gaussian(1), 0.99), 6)
    (0.0974, 5.1e-05)
    """
    odds, low, high = share / (1 - share), 0.0, 1.0
    if loss.power(1 / odds) >= 1:
        return 1.0
    # The most power is concave in the level, so what is left of it over p falls from a first p on.
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if loss.power(middle / odds) >= middle else (low, middle)
    return high if low > 0 else 0.0


def posteriors(loss: Loss) -> dict[str, float]:
    """That chance for each of the shares that are told, by its name."""
    return {f"{share:.0%}": posterior_above(loss, share) for share in SHARES}

"""Groups: what is lost of those who are several steps away from each other, or a share of one."""

import math
from fractions import Fraction
from typing import assert_never

from sfumato.privacy.exact import rounded_up
from sfumato.privacy.loss import Approximate, Concentrated, Gaussian, Loss, Unbounded


def of_group(loss: Loss, steps: int | Fraction) -> Loss:
    """What is lost of those that are so many steps away, by going one after the other.

    Steps that are a fraction are along a curve, on which an epsilon is in proportion to them.

    >>> of_group(Approximate(1), 3).words(), of_group(Gaussian("0.5"), 2).words(), of_group(Concentrated(1), 2).words()
    ('epsilon 3', 'mu 1', 'rho 4')
    >>> of_group(Approximate(2), Fraction(1, 4)).words(), of_group(Gaussian("0.5"), Fraction(1, 4)).words()
    ('epsilon 0.5', 'mu 0.5')
    """
    return _along(loss, steps) if isinstance(steps, Fraction) else _step_by_step(loss, steps)


def _step_by_step(loss: Loss, steps: int) -> Loss:
    """The same in whole steps, each of them one between neighbours."""
    if isinstance(loss, Approximate):
        if not loss.delta or steps == 1:
            return Approximate(steps * loss.epsilon, loss.delta)
        if steps * loss.epsilon > 700:
            return Unbounded(f"{steps} steps of {loss.words()} leave no delta below 1")
        more = sum(math.exp(float(step * loss.epsilon)) for step in range(steps))
        delta = loss.delta * rounded_up(more)
        return Approximate(steps * loss.epsilon, delta) if delta < 1 else Unbounded("deltas of a group add up to 1")
    if isinstance(loss, Gaussian):
        return Gaussian(squared=steps**2 * loss.mu_squared)
    if isinstance(loss, Concentrated):
        return Concentrated(steps**2 * loss.rho)
    if isinstance(loss, Unbounded):
        return loss
    assert_never(loss)


def _along(loss: Loss, steps: Fraction) -> Loss:
    """The same along a curve, where noise loses an epsilon in proportion to the steps, whatever it was converted to.

    A rho is half the square of it. As a mu it is a concave function of it: so many times as much at most from one step
    on, and at less than one no more than at one. What has a delta is not known further out than one step.
    """
    if isinstance(loss, Approximate) and not loss.delta:
        return Approximate(steps * loss.epsilon)
    if isinstance(loss, Concentrated):
        return Concentrated(steps**2 * loss.rho)
    if isinstance(loss, Gaussian):
        return Gaussian(squared=max(steps, Fraction(1)) ** 2 * loss.mu_squared)
    if steps <= 1 or isinstance(loss, Unbounded):
        return loss
    return Unbounded(f"no curve is known of {loss.words()}")

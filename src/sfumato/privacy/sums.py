"""Sums: what losses add up to, each currency apart."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from fractions import Fraction
from typing import Self

from sfumato.privacy.compose import amounts, in_sequence, of_amounts
from sfumato.privacy.loss import Approximate, Limit, Loss, Unbounded


@dataclass(frozen=True)
class Sums:
    """Losses with a bound, added in each currency that their limit keeps apart until the end.

    Under a limit in epsilon and delta a mu is converted once, after all are added; so the converted losses of two
    releases do not add up to that of both, and their sums do. One part below 0 is what was claimed and not spent.
    """

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    mu_squared: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)

    @classmethod
    def of(cls, losses: Sequence[Loss], limit: Limit) -> Self:
        """What losses add up to; those without a bound are counted elsewhere.

        >>> Sums.of([Approximate(1), Approximate("0.5", "1e-9")], Approximate(3, "1e-6")).losses
        (Approximate(epsilon=Fraction(3, 2), delta=Fraction(1, 1000000000)),)
        """
        bounded = [loss for loss in losses if not isinstance(loss, Unbounded)]
        # A limit in mu or rho converts each loss by itself, so that what is converted adds up.
        return cls(*amounts(bounded if isinstance(limit, Approximate) else [in_sequence(bounded, limit)]))

    @property
    def losses(self) -> tuple[Loss, ...]:
        """One loss for each currency in which there is something."""
        return tuple(of_amounts(*self._parts))

    def loss(self, limit: Limit) -> Loss:
        """What it comes to in the currency of the limit."""
        if self.delta >= 1:
            return Unbounded("the deltas add up to 1 or more")
        return in_sequence(self.losses, limit)

    def plus(self, other: Self) -> Self:
        return type(self)(*(one + more for one, more in zip(self._parts, other._parts, strict=True)))

    def less(self, other: Self) -> Self:
        return type(self)(*(one - less for one, less in zip(self._parts, other._parts, strict=True)))

    @property
    def over(self) -> Self:
        """Its parts above 0."""
        return type(self)(*(max(part, Fraction(0)) for part in self._parts))

    @property
    def _parts(self) -> tuple[Fraction, Fraction, Fraction, Fraction]:
        return astuple(self)

"""Loss: what a release costs the people in it, how losses add, and what an attacker gains by one."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import ClassVar, Self

from sfumato.errors import PromiseError
from sfumato.privacy.exact import Exact, exact, plain, positive

_probit = NormalDist().inv_cdf


def normal_cdf(z: float) -> float:
    """The normal distribution function, right in both tails."""
    return 0.5 * math.erfc(-z / math.sqrt(2))


class Amounts:
    """A loss with a bound: it adds up, and is compared, part by part; its currency is what people state it in."""

    currency: ClassVar[str]

    @property
    def amount(self) -> float:
        """The loss in its currency; a delta stands beside it."""
        return float(getattr(self, self.currency))

    @property
    def parts(self) -> tuple[Fraction, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]

    @classmethod
    def of(cls, *parts: Fraction) -> Self:
        return cls(*parts)

    def plus(self, other: "Amounts") -> Self:
        return self.of(*(part + more for part, more in self._beside(other)))

    def joined(self, other: "Amounts") -> Self:
        """The larger of two, part by part."""
        return self.of(*map(max, self._beside(other)))

    def within(self, limit: "Amounts") -> bool:
        return all(part <= most for part, most in self._beside(limit))

    def less(self, spent: "Amounts") -> Self:
        """What is left of a limit."""
        return self.of(*(max(part - gone, Fraction(0)) for part, gone in self._beside(spent)))

    def _beside(self, other: "Amounts") -> Iterator[tuple[Fraction, Fraction]]:
        if type(other) is not type(self):
            raise PromiseError(f"A loss in {self.currency} and one in {other.currency} neither add up nor compare.")
        return zip(self.parts, other.parts, strict=True)


@dataclass(frozen=True)
class Approximate(Amounts):
    """(epsilon, delta): no event is more than e^epsilon times as likely, but for delta.

    >>> round(Approximate(1).power(0.05), 4), round(Approximate(1).right_guess(), 3)
    (0.1359, 0.731)
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    kind = "approximate"
    currency = "epsilon"

    def __init__(self, epsilon: Exact, delta: Exact = 0) -> None:
        object.__setattr__(self, "epsilon", exact(epsilon, "epsilon"))
        object.__setattr__(self, "delta", exact(delta, "delta"))
        if self.epsilon < 0 or not 0 <= self.delta < 1:
            raise PromiseError(f"A loss needs epsilon >= 0 and 0 <= delta < 1, got {self.words()}.")

    def power(self, level: float) -> float:
        """Largest power of any test at this level of one neighbour against the other."""
        grown, delta = _exp(self.epsilon), float(self.delta)
        return min(grown * level + delta, 1 - (1 - level - delta) / grown, 1.0)

    def right_guess(self) -> float:
        """Largest chance, from even odds, to say rightly which of two neighbours it was."""
        shrunk = math.exp(-min(float(self.epsilon), 700.0))
        return min((1 + float(self.delta) * shrunk) / (1 + shrunk), 1.0)

    def words(self) -> str:
        return f"epsilon {plain(self.epsilon)}" + (f", delta {plain(self.delta)}" if self.delta else "")


@dataclass(frozen=True)
class Gaussian(Amounts):
    """mu: neighbours are at most as easy to tell apart as two unit normals mu apart (Dong, Roth and Su 2022).

    >>> round(Gaussian(1).power(0.05), 5)      # Toth, 'Protection vs accuracy': 0.2595
    0.25951
    >>> Gaussian("0.3").plus(Gaussian("0.4")).words()
    'mu 0.5'
    """

    mu_squared: Fraction
    kind = "gaussian"
    currency = "mu"

    def __init__(self, mu: Exact | None = None, *, squared: Fraction | None = None) -> None:
        object.__setattr__(self, "mu_squared", positive(mu or 0, "mu") ** 2 if squared is None else squared)
        if self.mu_squared < 0:
            raise PromiseError(f"A loss needs mu >= 0, got a square of {plain(self.mu_squared)}.")

    @property
    def mu(self) -> float:
        return math.sqrt(self.mu_squared)

    @classmethod
    def of(cls, *parts: Fraction) -> Self:
        return cls(squared=parts[0])

    def delta(self, epsilon: float) -> float:
        """The delta that goes with an epsilon."""
        mu = self.mu
        near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
        if far < 30:
            second = math.exp(epsilon + math.log(normal_cdf(-far)))
        else:
            # The tail would underflow and lose digits, so it is bounded from below: e^epsilon phi(far) = phi(near), and
            # this convergent of Laplace's continued fraction lies below Mills' ratio.
            second = math.exp(-near * near / 2) / math.sqrt(2 * math.pi) / (far + 1 / (far + 2 / (far + 3 / far)))
        return max(0.0, normal_cdf(-near) - second)

    def power(self, level: float) -> float:
        return normal_cdf(_probit(level) + self.mu)

    def right_guess(self) -> float:
        return normal_cdf(self.mu / 2)

    def words(self) -> str:
        root = exact_root(self.mu_squared)
        if root is not None:
            return f"mu {plain(root)}"
        return (
            f"mu {math.ceil(self.mu * 10_000) / 10_000:.4f} (its square is {plain(self.mu_squared)})"  # as accounts say
        )


@dataclass(frozen=True)
class Concentrated(Amounts):
    """rho: zero-concentrated (Bun and Steinke 2016); it never becomes a mu.

    >>> Concentrated("0.125").plus(Concentrated("0.375")).words()
    'rho 0.5'
    """

    rho: Fraction
    kind = "concentrated"
    currency = "rho"

    def __init__(self, rho: Exact) -> None:
        object.__setattr__(self, "rho", exact(rho, "rho"))
        if self.rho < 0:
            raise PromiseError(f"A loss needs rho >= 0, got {self.words()}.")

    def delta(self, epsilon: float) -> float:
        """A delta that goes with an epsilon: Canonne, Kamath and Steinke 2020, the best of all orders."""
        rho = float(self.rho)

        def log_delta(order: float) -> float:
            return (order - 1) * (order * rho - epsilon) - math.log(order - 1) + order * math.log1p(-1 / order)

        return math.exp(min(0.0, smallest(log_delta)))

    def power(self, level: float) -> float:
        return min(1.0, *(grown * level + delta for grown, delta in _deltas(self)))

    def right_guess(self) -> float:
        # KL is at most rho; total variation is at most sqrt(KL / 2) (Pinsker) and sqrt(1 - e^-KL) (Bretagnolle, Huber).
        rho = float(self.rho)
        return min(1.0, (1 + min(math.sqrt(rho / 2), math.sqrt(-math.expm1(-rho)))) / 2)

    def words(self) -> str:
        return f"rho {plain(self.rho)}"


@lru_cache(maxsize=64)
def _deltas(loss: Concentrated) -> tuple[tuple[float, float], ...]:
    """The deltas of many epsilons, each beside e to its epsilon."""
    top = float(loss.rho) + 6 * math.sqrt(float(loss.rho)) + 6
    tries = (top * step / 400 for step in range(401))
    return tuple((_exp(epsilon), loss.delta(epsilon)) for epsilon in tries)


@dataclass(frozen=True)
class Unbounded:
    """No guarantee at all, and why."""

    why: str
    kind = "unbounded"

    def within(self, limit: object) -> bool:  # noqa: ARG002 - no limit covers it
        return False

    def power(self, level: float) -> float:  # noqa: ARG002 - a test of any level is won
        return 1.0

    def right_guess(self) -> float:
        return 1.0

    def words(self) -> str:
        return f"unbounded: {self.why}"


Loss = Approximate | Gaussian | Concentrated | Unbounded
Limit = Approximate | Gaussian | Concentrated


def smallest(value: Callable[[float], float]) -> float:
    """The least value over Rényi orders above 1; each order is a true bound, so a coarse search only costs a little."""
    grid = [1 + 10 ** (step / 20) for step in range(-80, 161)]
    best = min(range(len(grid)), key=lambda place: value(grid[place]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    for _ in range(100):
        third = (high - low) / 3
        low, high = (low, high - third) if value(low + third) < value(high - third) else (low + third, high)
    return min(value(low), value(grid[best]))


def exact_root(square: Fraction) -> Fraction | None:
    """The square root where it is a fraction."""
    over, under = math.isqrt(square.numerator), math.isqrt(square.denominator)
    return Fraction(over, under) if over**2 == square.numerator and under**2 == square.denominator else None


def _exp(epsilon: float | Fraction) -> float:
    return math.exp(min(float(epsilon), 700.0))

"""Mechanisms that are wrong in one way each; the contract must reject every one."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from contract_moves import scaled

from sfumato.draws import SeededDraws, TruncatedGeometric
from sfumato.mechanisms import Additive, Mechanism
from sfumato.privacy import Approximate, Concentrated, Gaussian
from sfumato.release import Noisy


@dataclass(frozen=True)
class Mutant(Additive):
    """A sound mechanism in everything that its subclasses leave alone."""

    inner: Mechanism
    name = "mutant"
    source = "nobody"

    def loss(self, move):
        return self.inner.loss(move)

    def law(self, move):
        return self.inner.law(move)

    def perturb(self, cells, draws):
        noisy = self.inner.perturb(cells, draws)
        return replace(noisy, values=self.changed(noisy, cells, draws))

    def changed(self, noisy: Noisy, cells, draws) -> np.ndarray:
        return noisy.values


@dataclass(frozen=True)
class Spread(Mutant):
    """Noise whose standard deviation is so many times the stated one."""

    factor: Fraction = Fraction(95, 100)

    def drawn_with(self) -> Mechanism:
        squared = hasattr(self.inner, "rho")
        return scaled(self.inner, 1 / self.factor**2 if squared else 1 / self.factor)

    def perturb(self, cells, draws):
        return self.drawn_with().perturb(cells, draws)


class TooSmall(Spread):
    pass


@dataclass(frozen=True)
class TooLarge(Spread):
    factor: Fraction = Fraction(105, 100)


@dataclass(frozen=True)
class SpreadByValue(Spread):
    """Large cells get noise of nine tenths."""

    factor: Fraction = Fraction(90, 100)

    def perturb(self, cells, draws):
        noisy, other = self.inner.perturb(cells, draws), super().perturb(cells, draws)
        return replace(noisy, values=np.where(cells.values > 100, other.values, noisy.values))


class ClaimTooLow(Mutant):
    """Claims nine tenths of what it costs."""

    def loss(self, move):
        match self.inner.loss(move):
            case Approximate(epsilon, delta):
                return Approximate(epsilon * 9 / 10, delta)
            case Gaussian(mu_squared):
                return Gaussian(squared=mu_squared * 81 / 100)
            case Concentrated(rho):
                return Concentrated(rho * 9 / 10)


class ClippedLaw(Mutant):
    """A law that ends at about three standard deviations, with a claim that forgets it."""

    def law(self, move):
        rate = Fraction(1) / move.l1
        return TruncatedGeometric(rate, max(1, int(3 * 1.4142 / rate)))

    def loss(self, move):
        return Approximate(1)


class ZerosBare(Mutant):
    """Empty cells are published as they are."""

    def changed(self, noisy, cells, draws):
        return np.where(cells.values == 0, 0, noisy.values)


class OneDraw(Mutant):
    """One draw for all cells."""

    def changed(self, noisy, cells, draws):
        possible = cells.domain.possible
        return np.where(possible, cells.values + self.law(cells.move).draw(1, draws)[0], 0)


class DrawsTwice(Mutant):
    """Every draw serves two cells, in random places."""

    def changed(self, noisy, cells, draws):
        count = int(cells.domain.possible.sum())
        half = self.law(cells.move).draw(-(-count // 2), draws)
        values = cells.values.copy()
        values[cells.domain.possible] += np.random.default_rng(5).permutation(np.tile(half, 2)[:count])
        return values


class NeighboursShare(Mutant):
    """Every draw serves two cells, some way apart."""

    def changed(self, noisy, cells, draws):
        count = int(cells.domain.possible.sum())
        values = cells.values.copy()
        values[cells.domain.possible] += np.tile(self.law(cells.move).draw(-(-count // 2), draws), 2)[:count]
        return values


class Clipped(Mutant):
    """Noise held within three standard deviations."""

    def changed(self, noisy, cells, draws):
        most = int(3 * self.law(cells.move).variance ** 0.5)
        return cells.values + np.clip(noisy.values - cells.values, -most, most)


class Floats(Mutant):
    """Noise that is no integer."""

    def changed(self, noisy, cells, draws):
        return noisy.values + np.random.default_rng(6).uniform(-0.5, 0.5, noisy.values.shape)


class SeedFixed(Mutant):
    """The same noise whenever it is called."""

    def perturb(self, cells, draws):
        return self.inner.perturb(cells, SeededDraws(7))


class Biased(Mutant):
    """One cell in twenty gets one more."""

    def changed(self, noisy, cells, draws):
        more = np.random.default_rng(8).random(noisy.values.shape) < 0.05
        return noisy.values + np.where(cells.domain.possible, more, 0)


class Everywhere(Mutant):
    """Impossible cells are noised too, which tells nobody anything and breaks every total."""

    def changed(self, noisy, cells, draws):
        noise = self.law(cells.move).draw(noisy.values.size, draws).reshape(noisy.values.shape)
        return np.where(cells.domain.possible, noisy.values, noise)


class UncertaintyTooSmall(Mutant):
    """States nine tenths of the variance."""

    def uncertainty(self, noisy):
        from sfumato.release import Independent

        return Independent(0.9 * self.law(noisy.move).variance)


class ExpectsTooLittle(Mutant):
    """Tells nine tenths of the error beforehand."""

    def expected(self, move, number):
        return 0.9 * super().expected(move, number)


REJECTED_BY_NOISE = {
    TooSmall: "variance is the stated one",
    TooLarge: "variance is the stated one",
    SpreadByValue: "variance is the stated one",
    ZerosBare: "variance is the stated one",
    OneDraw: "variance is the stated one",
    DrawsTwice: "total varies as cells are many",
    NeighboursShare: "cells are independent",
    Clipped: "tails are the law's",
    Floats: "values are integers",
    SeedFixed: "calls are independent",
    Biased: "noise is unbiased",
    Everywhere: "impossible cells stay zero",
    UncertaintyTooSmall: "stated uncertainty is the law's",
    ExpectsTooLittle: "expected error is the stated one",
}
REJECTED_BY_LAW = {ClaimTooLow: "claim holds", ClippedLaw: "claim holds"}

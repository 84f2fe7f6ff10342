"""The even Gaussian mechanism: every table of up to so many variables, every cell of all of them equally exact.

Claim. A unit whose rows add L steps in all loses mu, or rho.
Law. The contrasts of every component have independent noise, a normal rounded to integers (mu) or a discrete one (rho),
of the variances of a `MarginDesign` that is scaled to cost mu² = 2 rho for L records in one cell, or, where records are
exchanged, for those of one cell that are put into another.
Proof. The rows of a unit move the contrasts by a sum of at most L moves of one record, and a norm is convex, so none
moves further than L records of one cell do. Scaled by its standard deviation, that move has the length mu by the cost
of the design (`margin_design`); where records are exchanged it is the largest difference of two such moves
(`exchanges`). Contrasts are integers, so what is published of one is a rounding of it with normal noise, as in the
rounded Gaussian; all else is arithmetic on that. For a rho, each coordinate is a discrete Gaussian.
Sources: Xiao, He, Zhang and Kifer 2023 (residual bases); the integer form and the even design on trees are our own.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from sfumato.draws import DiscreteNormal, Draws, Law, RoundedNormal
from sfumato.errors import PlanError
from sfumato.mechanisms.additive import fits, refuse_next_to_none
from sfumato.mechanisms.cells import Cells
from sfumato.mechanisms.contrasts import LawsAt, blocks, components_of, contrasts, laws_at, laws_of, told_rungs
from sfumato.mechanisms.margin_aims import (
    bounded_cost,
    designed,
    furthest,
    moved_tables,
    refuse_unfit,
    square_of,
    unit_design_of,
)
from sfumato.mechanisms.margin_design import MarginDesign
from sfumato.mechanisms.margin_targets import Aim, Targets, aim_words, read_aim
from sfumato.mechanisms.mechanism import AT_ONCE, Furthest, Mechanism, Typical
from sfumato.mechanisms.noisiest_cells import CellNoise, NoisiestCell
from sfumato.privacy import Concentrated, EveryTable, Exact, Gaussian, Loss, Move, every_table, positive
from sfumato.release import Components, Noisy, Product, Uncertainty, Withheld
from sfumato.release.error_law import ErrorLaw, NormalError
from sfumato.release.noisy import Integers
from sfumato.release.whole_tables import parts_of_a_step
from sfumato.schema import Component, Domain, Family

LARGEST_CONTRAST = 2**61
"""The largest contrast that leaves room for its noise in 64 bits."""
SMALL = 1.0
"""The variance, in squared steps, below which rounding a law to integers may not add a twelfth."""


@dataclass(frozen=True)
class EvenGaussian(Mechanism):
    """Normal noise on the contrasts of a family of tables, so that each of their cells has the same error.

    `fade` makes cells that tell more variables apart less noisy, each by this factor in the variance, and others more.
    An `aim` is "cells", for the least sum of all their variances, or the standard deviations that tables are to have,
    in the unit of the measure and in proportion: noise is scaled to what the measure costs.
    """

    name: ClassVar[str] = "even-gaussian"
    source: ClassVar[str] = "Xiao, He, Zhang and Kifer 2023"
    columns_beside: ClassVar[int] = 0
    mu: Fraction | None = None
    rho: Fraction | None = None
    fade: Fraction | None = None
    aim: Aim | None = None

    def __init__(
        self,
        mu: Exact | None = None,
        rho: Exact | None = None,
        fade: Exact | None = None,
        aim: str | Mapping[str, Exact] | None = None,
    ) -> None:
        if (mu is None) == (rho is None):
            raise PlanError("even-gaussian is paid in mu or in rho; give one of them.")
        for name, given in (("mu", mu), ("rho", rho), ("fade", fade)):
            object.__setattr__(self, name, None if given is None else positive(given, name))
        if self.fade is not None and self.fade > 1:
            raise PlanError(f"fade is {float(self.fade):g}; it is above 0 and up to 1, at which nothing fades.")
        if fade is not None and aim is not None:
            raise PlanError("even-gaussian has a fade and an aim, which both say what cells are to be like; give one.")
        object.__setattr__(self, "aim", read_aim(aim))

    def parameters(self) -> str:
        told = super().parameters() if self.aim is None else replace(self, aim=None).parameters()
        return told if self.aim is None else f"{told}, aim {aim_words(self.aim)}"

    def refuse_cells(self, domain: Domain) -> None:
        if isinstance(domain, Family):
            refuse_unfit(domain, self.fade, self.aim)

    def loss(self, move: Move) -> Loss:
        every_table(move, self.name)
        return Gaussian(self.mu) if self.mu is not None else Concentrated(self._rho)

    @property
    def _rho(self) -> Fraction:
        assert self.rho is not None  # noqa: S101 - one of both is given
        return self.rho

    @property
    def mu_squared(self) -> Fraction:
        """The square of the mu that noise is scaled to, twice the rho."""
        return self.mu**2 if self.mu is not None else 2 * self._rho

    def design(self, move: Move) -> MarginDesign:
        """The variances of all components, in squared steps."""
        return designed(every_table(move, self.name), self.mu_squared, self.fade, self.aim)

    def cell_variances(self, move: Move) -> dict[Component, float]:
        """The variance of the noisiest cell of every table, in squared steps, as its numbers are published."""
        return {table: found.variance for table, found in _noisiest(self, every_table(move, self.name)).items()}

    def bounds(self, move: Move) -> bool:
        return any(found.kinds is None for found in _noisiest(self, every_table(move, self.name)).values())

    def cell_noise(self, move: Move) -> CellNoise:
        """What noise cells have as they are published: that of the design, and what rounding laws and tables adds."""
        design, rounding = self.design(move), 1 / (12 * self.grain(move) ** 2)
        small = min(design.variances) < SMALL
        variances = self.stated(move) if small else map(float, design.variances)
        known = dict(zip(design.family.components, variances, strict=True))
        return CellNoise(design.cells, known, 0.0 if small or self.mu is None else 1 / 12, rounding)

    def by_ways(self, move: Move, number: Typical) -> dict[int, float]:
        found: dict[int, float] = {}
        for one, variance in self.cell_variances(move).items():
            ways = sum(level > 0 for level in one)
            found[ways] = max(found.get(ways, 0.0), float(number.step) * math.sqrt(variance))
        return found

    def wanted(self, move: Move, number: Typical) -> dict[str, tuple[float, float]]:
        if not isinstance(self.aim, Targets):
            return {}
        family, found = every_table(move, self.name).family, self.cell_variances(move)
        worst: dict[str, tuple[float, float]] = {}
        for one, (name, target) in self.aim.of(family).items():
            error = float(number.step) * math.sqrt(found[one])
            worst[name] = max(worst.get(name, (0.0, 0.0)), (error, float(target)))
        return {name: worst[name] for name in self.aim if name in worst}  # of others each table has its own

    def error_law(self, move: Move, number: Typical) -> ErrorLaw:
        """Numbers move in the parts of a step that they are published in."""
        return NormalError(float(number.step) / self.grain(move))

    def law(self, variance: Fraction) -> Law:
        """The law of one coordinate."""
        law = RoundedNormal(variance) if self.mu is not None else DiscreteNormal(variance)
        return fits(law, self.words())

    def grain(self, move: Move) -> int:
        """In how many parts a step is taken, so that rounding adds next to nothing to the error of a cell.

        Tables that no neighbours differ in, whose numbers are public, are none that this is done for.
        """
        told = every_table(move, self.name)
        unit = unit_design_of(told, self.fade, self.aim)
        found = [unit.cell_variances[table] for table in moved_tables(unit, told)]
        least = min(found) * square_of(unit, told) / self.mu_squared
        return parts_of_a_step(least, told.family.ways)

    def clean(self, cells: Cells, given: Mapping[str, Product] | None = None) -> Integers:  # noqa: ARG002
        """The contrasts of all components, one after the other."""
        family = every_table(cells.move, self.name).family
        listed = (contrasts(family, one, table) for one, table in components_of(cells))
        return np.concatenate([part.reshape((*cells.values.shape[:-1], -1)) for part in listed], axis=-1)

    def perturb(self, cells: Cells, draws: Draws, given: Mapping[str, Product] | None = None) -> Noisy:
        """Contrasts with noise; of cells that stand several times, along an axis before them, each has its own."""
        values, design = self.clean(cells, given), self.design(cells.move)
        copies = cells.values.shape[:-1]
        for where, noise in self._noise(laws_of(design), math.prod(copies), draws):
            values[..., where] += noise.reshape((*copies, -1))
        parts = self.grain(cells.move)
        return Noisy(design.family, values * parts, cells.step / parts, cells.move)

    def _noise(self, laws: LawsAt, copies: int, draws: Draws) -> Iterator[tuple[Integers, Integers]]:
        """The noise of contrasts that have one law, by their places; a row for each copy."""
        for where, variance in laws:
            yield where, self.law(variance).draw(copies * len(where), draws).reshape(copies, -1)

    def again(self, cells: Cells, places: Integers, copies: int, draws: Draws) -> Iterator[Integers]:
        """Contrasts have noise of their own, so that of others need not be drawn."""
        clean, laws = self.clean(cells)[places], list(laws_at(laws_of(self.design(cells.move)), places))
        back, at_once = np.argsort(np.concatenate([where for where, _ in laws])), max(1, AT_ONCE // len(places))
        for start in range(0, copies, at_once):
            drawn = [noise for _, noise in self._noise(laws, min(at_once, copies - start), draws)]
            yield clean + np.concatenate(drawn, axis=1)[:, back]

    def furthest(self, move: Move) -> Furthest:
        told = every_table(move, self.name)
        return furthest(self.design(move), told)

    def bounded_cost(self, move: Move) -> bool:
        return bounded_cost(every_table(move, self.name), self.fade, self.aim)

    def seen(self, noisy: Noisy) -> Integers:
        return noisy.values // self.grain(noisy.move)

    def law_at(self, noisy: Noisy, place: int) -> Law:
        return next(law for where, law in self.laws(noisy) if place in where)

    def laws(self, noisy: Noisy) -> list[tuple[Integers, Law]]:
        return [(where, self.law(variance)) for where, variance in laws_of(self.design(noisy.move))]

    def stated(self, move: Move) -> tuple[float, ...]:
        """The variance of every component as it is stated: of the law itself, at the siblings where it is largest."""
        design = self.design(move)
        return tuple(
            max(
                (self.law(variance * wide).variance / wide for _, wide in blocks(design, one, 2)),
                default=float(variance),
            )
            for one, variance in zip(design.family.components, design.variances, strict=True)
        )

    def uncertainty(self, noisy: Noisy) -> Uncertainty:
        parts = self.grain(noisy.move)
        return Components(tuple(one * parts**2 for one in self.stated(noisy.move)), self.design(noisy.move).even)

    def expected(self, move: Move, number: Typical) -> float | Withheld:
        self._refuse_undrawable(move)
        return max(self.by_ways(move, number).values())

    def refuse_unstatable(self, move: Move) -> None:
        refuse_next_to_none(self.law(min(self._variances(move))), self.words())

    def _refuse_undrawable(self, move: Move) -> None:
        """Say so, before anything is charged, where there is no such design or its noise cannot be drawn."""
        found = self._variances(move)
        for variance in (min(found), max(found) * self.grain(move) ** 2):
            self.law(variance)

    def _variances(self, move: Move) -> set[Fraction]:
        """The least and the largest variance of a contrast of every component."""
        design, found = self.design(move), set[Fraction]()
        for one, variance in zip(design.family.components, design.variances, strict=True):
            kinds = [(int(rung.siblings.min()), int(rung.siblings.max())) for rung in told_rungs(design.family, one)]
            found |= {variance * math.prod(design.wide(kind[end]) for kind in kinds) for end in (0, 1)}
        return found

    def unfit(self, cells: Cells) -> str:
        family = every_table(cells.move, self.name).family
        sums = [float(np.abs(cells.values[..., where]).sum(dtype=np.float64)) for where in family.slices]
        if max(sums) * self.stretch(cells.move) < LARGEST_CONTRAST:
            return ""
        return "the contrasts of its tables are too large for 64 bits; use a coarser step, or fewer variables together."

    def stretch(self, move: Move) -> int:
        family = every_table(move, self.name).family
        widest = max(
            math.prod(int(rung.siblings.max()) for rung in told_rungs(family, one)) for one in family.components
        )
        return widest * self.grain(move)


@lru_cache(maxsize=64)
def _noisiest(mechanism: EvenGaussian, move: EveryTable) -> dict[Component, NoisiestCell]:
    noise = mechanism.cell_noise(move)
    return {table: noise.largest(table) for table in move.family.components}


EXAMPLE = EvenGaussian(1)

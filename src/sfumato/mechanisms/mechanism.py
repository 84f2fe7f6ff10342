"""Mechanism: the noise and its claim are one object, and the claim is a function of how far neighbours are apart."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from sfumato.draws import Draws, Law
from sfumato.errors import PlanError
from sfumato.mechanisms.additive import laid_out, scattered
from sfumato.mechanisms.cells import Cells
from sfumato.privacy import Loss, Move
from sfumato.release import Independent, Noisy, Product, Uncertainty
from sfumato.schema import Table


class Mechanism(ABC):
    """Adds integer noise of a known law to every possible cell, the empty ones too.

    Its epsilon, mu or rho is what a measure costs: the noise is scaled to the move. A mechanism whose noise is not
    additive overrides `perturb` and `uncertainty`; one that must make something known names it in `exposes`.
    """

    name: ClassVar[str]
    source: ClassVar[str]
    exposes: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def loss(self, move: Move) -> Loss:
        """What is lost when cells can move so far; PromiseError if nothing can be claimed."""

    @abstractmethod
    def law(self, move: Move) -> Law:
        """The law of the noise in one cell, in steps."""

    def perturb(self, cells: Cells, draws: Draws, given: Mapping[str, Product] | None = None) -> Noisy:  # noqa: ARG002
        """The cells with noise: the only door from true values to published ones.

        What is `given` are products of earlier measures; a mechanism may read their public numbers, and its loss may
        not depend on them.
        """
        if not isinstance(cells.table, Table):
            raise PlanError(f"{self.name} is for tables; the rows of a frame are measured with square-root.")
        law = self.law(cells.move)
        if cells.places is not None:
            places, values = scattered(cells, law, draws)
            return Noisy(cells.table, values, cells.step, cells.move, places=places)
        return Noisy(cells.table, laid_out(cells, law, draws), cells.step, cells.move)

    def uncertainty(self, noisy: Noisy) -> Uncertainty:
        """The error of the published cells, from public numbers alone."""
        law = self.law(noisy.move)
        excess = law.fourth_moment / law.variance**2 - 3 if law.variance else 0.0
        # Below a hundredth no interval would change in three digits: noise is stated as normal.
        return Independent(law.variance, excess if excess > 0.01 else 0.0)

    def words(self) -> str:
        """The mechanism and its parameters as a reader sees them."""
        return f"{self.name} ({self.parameters()})"

    def parameters(self) -> str:
        from dataclasses import fields

        from sfumato.privacy import plain

        return ", ".join(f"{field.name} {plain(getattr(self, field.name))}" for field in fields(self))  # type: ignore[arg-type]


LARGEST_SPREAD = 2**44
"""The largest standard deviation of noise, in steps, that leaves room in 64 bits for a sum over all cells."""


def fits(law: Law, what: str) -> Law:
    """The law, unless its noise would not fit the integers that carry it."""
    if law.variance > float(LARGEST_SPREAD) ** 2:
        raise PlanError(
            f"{what} asks for noise with a standard deviation of {law.variance**0.5:.3g} steps, more than 64-bit cells "
            "can carry; use a coarser step, a tighter clip or a larger budget."
        )
    return law

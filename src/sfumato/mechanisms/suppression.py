"""Suppression: true totals with their margins, of which those that tell too much of one contributor are withheld.

Claim. None: whoever knows all contributors to a published cell but one subtracts them, and which cells are withheld
follows from the data as well. A plan asks for it by [suppress] alone; the cells are chosen behind the gate.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from sfumato.draws import Draws
from sfumato.errors import PlanError
from sfumato.mechanisms.cells import Cells
from sfumato.mechanisms.mechanism import Mechanism, Typical
from sfumato.privacy import Loss, Move, Unbounded
from sfumato.release import Independent, Noisy, Product, Uncertainty
from sfumato.schema import Aggregate, Extremes, InSteps, Rows, Sum, SumOfProducts, UnitSums

WHY = "true totals are published, but for cells that tell too much of one contributor or would give such cells away"


@dataclass(frozen=True)
class Suppression(Mechanism):
    """Totals as the data have them, some withheld; contributors are told apart by their holding."""

    name: ClassVar[str] = "suppression"
    source: ClassVar[str] = "Cox 1980, 'Suppression methodology and statistical disclosure control'"
    suppresses: ClassVar[bool] = True
    holding: str | None = None
    register: bool = False
    """Whether units of a register report, so that it says whose they are."""
    told: str = ""
    """The rules as the public is told them."""
    weights: InSteps | None = None
    """What rows count by, where that is not one each."""

    def loss(self, move: Move) -> Loss:  # noqa: ARG002 - any move shows
        return Unbounded(WHY)

    def perturb(self, cells: Cells, draws: Draws, given: Mapping[str, Product] | None = None) -> Noisy:  # noqa: ARG002
        raise PlanError(
            "Cells are withheld in place of noise; there is none to draw. `sfumato run` makes such a release."
        )

    def uncertainty(self, noisy: Noisy) -> Uncertainty:  # noqa: ARG002 - none
        return Independent(0.0)

    def expected(self, move: Move, number: Typical) -> float:  # noqa: ARG002 - none
        return 0.0

    def needs(self, of: tuple[Aggregate, ...]) -> tuple[Aggregate, ...]:
        if self.register:
            return (Rows(),)  # who reported
        values = [
            one.x if isinstance(one, SumOfProducts) else one.of for one in of if isinstance(one, (Sum, SumOfProducts))
        ]
        sums = UnitSums(next((value for value in values if value != self.weights), None), self.holding)
        return (sums,) if self.weights is None else (sums, Extremes(self.weights))

    def words(self) -> str:
        weighed = f"rows weighed by '{self.weights.column}'" if self.weights else ""
        told = "; ".join(filter(None, (self.told, weighed)))
        return f"cell suppression ({told})" if told else "cell suppression"

"""Exact: the true totals themselves, without noise; it hides nobody.

Claim. None: whoever knows all records but those of one unit subtracts them. A plan asks for it by [[control]] alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from sfumato.draws import Draws
from sfumato.mechanisms.cells import Cells
from sfumato.mechanisms.mechanism import Mechanism, Typical
from sfumato.privacy import Loss, Move, Unbounded
from sfumato.release import Independent, Noisy, Product, Uncertainty


@dataclass(frozen=True)
class Exact(Mechanism):
    """Totals as the data have them; an invariant, which no limit covers."""

    name: ClassVar[str] = "exact"
    source: ClassVar[str] = "Li and Krenzke, section 4: 'we did not add noise to the control totals'"

    def loss(self, move: Move) -> Loss:  # noqa: ARG002 - any move shows
        return Unbounded("totals of the data are published as they are")

    def perturb(self, cells: Cells, draws: Draws, given: Mapping[str, Product] | None = None) -> Noisy:  # noqa: ARG002
        return Noisy(cells.domain, cells.totals, cells.step, cells.move, places=cells.places)

    def uncertainty(self, noisy: Noisy) -> Uncertainty:  # noqa: ARG002 - none
        return Independent(0.0)

    def expected(self, move: Move, number: Typical) -> float:  # noqa: ARG002 - none
        return 0.0

    def words(self) -> str:
        return "none: exact totals of the data"

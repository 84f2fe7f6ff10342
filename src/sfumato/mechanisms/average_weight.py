"""The average-weight mechanism, as published: capped noise on the number of records, times their average weight.

Claim. None. A weighted total W becomes W + k w, with w the average weight of all records, so a cell without records is
a multiple of w and any other is not, at every epsilon: `studies.ors_weights.lattice_attack` reads them off.
Law. k has P(k) proportional to exp(-epsilon |k|), |k| <= cap: Li and Krenzke's table 2, their table 3 for the rest.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from sfumato.draws import Draws, TruncatedGeometric
from sfumato.errors import PlanError
from sfumato.mechanisms.cells import Cells
from sfumato.mechanisms.mechanism import Mechanism, Typical
from sfumato.mechanisms.truncated_geometric import TruncatedGeometricNoise
from sfumato.privacy import Exact, Loss, Move, Unbounded
from sfumato.release import Departures, Noisy, Product, Uncertainty, Withheld
from sfumato.schema import Aggregate, Rows, Table, Weighted


@dataclass(frozen=True)
class AverageWeight(Mechanism):
    """A total of weights, moved by a capped number of average weights; its error is told against the truth."""

    name: ClassVar[str] = "average-weight"
    source: ClassVar[str] = "Li and Krenzke, tables 2 and 3, section 3.4"
    exposes: ClassVar[tuple[str, ...]] = ("average weight", "squared difference")
    as_published: ClassVar[str] = (
        "noise in multiples of the average weight leaves every weighted total readable between them: measure the "
        "weight as a total with a clip, with geometric or rounded-gaussian"
    )
    epsilon: Fraction
    cap: int

    def __init__(self, epsilon: Exact, cap: int) -> None:
        counted = TruncatedGeometricNoise(epsilon, cap)
        object.__setattr__(self, "epsilon", counted.epsilon)
        object.__setattr__(self, "cap", counted.cap)

    def loss(self, move: Move) -> Loss:  # noqa: ARG002 - no move is hidden
        return Unbounded("weighted totals can be read between the multiples of the average weight")

    def needs(self, of: tuple[Aggregate, ...]) -> tuple[Aggregate, ...]:  # noqa: ARG002 - whatever the total is of
        return (Rows(), Weighted())

    def perturb(self, cells: Cells, draws: Draws, given: Mapping[str, Product] | None = None) -> Noisy:  # noqa: ARG002
        if not isinstance(cells.domain, Table) or cells.places is not None:
            raise PlanError(f"{self.name} is for tables of which every cell is laid out.")
        law, table = TruncatedGeometric(self.epsilon, self.cap), cells.domain
        average = cells.values.sum() / max(int(cells.columns[Rows()].sum()), 1)
        noise = np.where(table.possible, law.draw(table.size, draws).reshape(table.shape), 0)
        moved = np.rint(noise * average).astype(np.int64)
        departures = np.concatenate([_replicates(cells), moved[..., None]], axis=-1)
        return Noisy(table, cells.values + moved, cells.step, cells.move, {"departures": departures})

    def uncertainty(self, noisy: Noisy) -> Uncertainty:
        return Departures(noisy.public["departures"])

    def expected(self, move: Move, number: Typical) -> float | Withheld:  # noqa: ARG002 - of any number
        return Withheld("noise is scaled to the average weight of the data, which a plan does not know")


def _replicates(cells: Cells) -> Any:
    """How far each replicate lies from the full sample, in steps, so that its squares sum to the sampling variance."""
    weighted = cells.columns[Weighted()]
    full, replicates = weighted[..., 0], weighted[..., 1:]
    factors = cells.replication.factors(max(replicates.shape[-1], 1))
    return cells.replication.departures(full, replicates) * (np.sqrt(factors) / float(cells.step))


EXAMPLE = AverageWeight(2, cap=7)

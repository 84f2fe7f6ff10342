"""MOSE as its example does it: exact counts in the scale, and the noise of the counts once more on the lines.

LS adds a point at each corner and removes none, as in steps 1 and 2 of the authors' example code.
Claim. None. The error that is stated is √2 chi / (epsilon N), so that it tells every true count N; and noise is
chi / N times that of the published count, so that both cancel: `tests/attacks/test_mose.py` reads every line off.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.draws import Draws
from sfumato.mechanisms.cells import Cells
from sfumato.mechanisms.mose import CellLines, Mose
from sfumato.release import Product
from sfumato.release.noisy import Floats


@dataclass(frozen=True, init=False)
class MoseAsPublished(Mose):
    """Noise of a line that is the noise of its count times chi / N."""

    name: ClassVar[str] = "mose-as-published"
    source: ClassVar[str] = "Chetty and Friedman 2019, example code"
    exposes: ClassVar[tuple[str, ...]] = ("chi", "counts")
    as_published: ClassVar[str] = (
        "exact counts stand in every error, and noise that is shared with the counts cancels: use mose, or a mechanism "
        "with a claim"
    )

    def local_sensitivity(self, lines: CellLines) -> Floats:
        """How far a line moves by a point at a corner, as published: no point is removed."""
        return lines.corner_sensitivity

    def scale_counts(self, true: Floats, counts: Product) -> Floats:  # noqa: ARG002 - the true ones, as published
        return np.maximum(true, 1.0)

    def unit_noise(self, cells: Cells, counts: Product, draws: Draws) -> Floats:  # noqa: ARG002 - none of its own
        """The noise of the count in units of its scale, 1 / epsilon."""
        true = CellLines.of(cells).moments.count
        return np.asarray((counts.values.ravel() - true) * float(self.epsilon))


EXAMPLE = MoseAsPublished(8)

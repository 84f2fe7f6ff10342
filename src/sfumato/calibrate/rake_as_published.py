"""Raking as published: the cube scaled to its controls, and its error told against the truth.

Li and Krenzke, section 3.4: SE² = sampling variance + (estimate − true estimate)². A cell without records has no
sampling variance and is truly 0, so its SE is its estimate without the sign: who reads both knows that it is empty.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from sfumato.calibrate.rake import Rake
from sfumato.calibrate.step import Diverged
from sfumato.release import Cube, Departures, Product


@dataclass(frozen=True)
class RakeAsPublished(Rake):
    """The raked cube, each total of it with how far it lies from the true one as a part of its error."""

    kind: ClassVar[str] = "rake-as-published"
    as_published: ClassVar[str] = (
        "the standard error holds the squared difference from the true estimate, which tells empty cells from occupied "
        "ones: use step rake or least-squares"
    )

    def apply(self, products: Mapping[str, Product]) -> Cube | Diverged:
        made = super().apply(products)
        if isinstance(made, Diverged):
            return made
        cube = products[self.table]
        unit = float(cube.subject.step / made.subject.step)
        before = cube.uncertainty.in_steps(unit)
        return replace(made, uncertainty=Departures.of(before.columns).moved(made.values - cube.values * unit))


EXAMPLE = RakeAsPublished("raked", "cube", ("margin",))

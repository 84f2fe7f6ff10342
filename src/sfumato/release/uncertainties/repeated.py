"""Repeated: errors after least squares in which attributes that every control tells apart stand for themselves.

Where all cells have noise of one variance, and all totals of a control as well, the equations fall apart into one set
for each combination of the attributes that every control tells apart to its leaves, each the same and with noise of its
own. So two totals share what they share within one combination, as often as there are combinations in both. A table of
853 clusters by 188 combinations, controlled by postal code and city in each of them, is 188 times one tree of 853.
"""

from dataclasses import dataclass, replace

import numpy as np

from sfumato.release.error_law import ErrorLaw
from sfumato.release.noisy import Floats
from sfumato.release.uncertainties.controls import Control, Moved
from sfumato.release.uncertainties.uncertainty import Errors, Withheld
from sfumato.schema import Box, Grid, Table


@dataclass(frozen=True, eq=False)
class Repeated(Errors):
    """The errors within one combination, times the combinations that totals have in common."""

    once: Errors
    apart: Table
    moved: Moved

    def covariance(self, one: Box, other: Box) -> float:
        shared = self.once.covariance(one, other)
        assert isinstance(shared, float)  # noqa: S101 - what is withheld is moved nowhere
        return float(self.apart.common([one], [other])[0, 0]) * shared

    def covariances(self, ones: list[Box], others: list[Box]) -> Floats:
        found = self.once.covariances(ones, others)
        assert isinstance(found, np.ndarray)  # noqa: S101 - what is withheld is moved nowhere
        return np.asarray(self.apart.common(ones, others) * found, dtype=np.float64)

    def among(self, grid: Grid) -> "Floats | Withheld":
        """Rows of one axis differ in the combinations, or within each."""
        if len(grid.axes) != 1:
            return super().among(grid)
        wide = grid.around(())[0] if grid.axes[0][0] in self.apart.names else grid
        found = self.once.among(wide)
        assert isinstance(found, np.ndarray)  # noqa: S101 - what is withheld is moved nowhere
        return np.asarray(self.apart.among(grid) * found, dtype=np.float64)

    def with_whole(self, grid: Grid, kept: tuple[str, ...]) -> Floats:
        """A box lies in its whole, so that they have the combinations of the box in common."""
        own = tuple(axis for axis in grid.axes if axis[0] in self.apart.names)
        rest = tuple(axis for axis in grid.axes if axis not in own)
        shared = self.once.with_whole(Grid(rest, grid.within), tuple(name for name in kept if name not in dict(own)))
        assert isinstance(shared, np.ndarray)  # noqa: S101 - what is withheld is moved nowhere
        times = self.apart.counts(Grid(own, grid.within))
        sides = [[len(groups) if (name in dict(own)) == one else 1 for name, groups in grid.axes] for one in (1, 0)]
        return np.asarray(times.reshape(sides[0]) * shared.reshape(sides[1]), dtype=np.float64)

    def times(self, cells: Floats) -> Floats:
        return self.moved.times(cells)

    def law(self, grid: Grid) -> ErrorLaw:
        return self.moved.law(grid)


def told_apart(moved: Moved, controls: tuple[Control, ...]) -> tuple[str, ...]:
    """The attributes that every control tells apart, where all that a control holds has one variance; else none."""
    domain = moved.margins.domain
    if len(controls) < 2 or any(isinstance(control.variance, tuple) for control in controls):
        return ()
    by = [{facet.axis for facet in facets if facet.up is None} for facets in moved.margins.facets]
    names = [name for axis, name in enumerate(domain.names) if all(axis in one for one in by)]
    bound = set(domain.ruled.names) if domain.ruled else set()
    return tuple(names) if bound <= set(names) or not bound & set(names) else ()


def without(control: Control, names: tuple[str, ...]) -> Control:
    """A control as it is within one combination of some attributes."""
    return replace(control, by=tuple(level for level in control.by if level.name not in names))

"""Controls: the errors of cells that were moved to controls, x + K (t − A x), for any error of the cells before.

With r_f = K'f what a box f pulls of the controls, V the covariance of the cells and N that of the controls, the totals
f and g have the covariance (f − A'r_f)' V (g − A'r_g) + r_f' N r_g = f'Vg − b_f·r_g − r_f·c_g, where b_f = A V f is
what a box takes of the controls and c_f = b_f − (A V A' + N) r_f what is left of that; for least squares nothing is.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ReleaseError
from sfumato.release.error_law import ErrorLaw
from sfumato.release.noisy import Floats, Integers
from sfumato.release.uncertainties.diagonal import Leafwise, leaves_wide
from sfumato.release.uncertainties.margins import Margins
from sfumato.release.uncertainties.uncertainty import (
    Errors,
    StatedIn,
    Uncertainty,
    Withheld,
    amount,
    left_over,
    read_uncertainty,
    refuse_unknown,
)
from sfumato.schema import Box, By, Domain, Grid, Level, Table

LARGEST = 8_000_000
"""The most numbers that are worked out at once: 64 MB."""
Sums = Callable[[NDArray[Any]], Floats]
"""The totals of some cells within boxes: one row a box."""


@dataclass(frozen=True)
class Control:
    """A table that a cube was calibrated to: its attributes, and the variance of its noise in squared cube steps.

    It is one number, or one for each cell of the table in order.
    """

    by: By
    variance: float | tuple[float, ...]

    @classmethod
    def read(cls, written: dict[str, Any]) -> "Control":
        stated = written["variance"]
        variance = tuple(map(amount, stated)) if isinstance(stated, list) else amount(stated)
        return cls(tuple(Level.read(one) for one in written["by"]), variance)

    def to_dict(self) -> dict[str, Any]:
        variance = list(self.variance) if isinstance(self.variance, tuple) else self.variance
        return {"by": [str(one) for one in self.by], "variance": variance}

    def in_steps(self, unit: float) -> "Control":
        if isinstance(self.variance, tuple):
            return replace(self, variance=tuple(one * unit**2 for one in self.variance))
        return replace(self, variance=self.variance * unit**2)


@dataclass(frozen=True, eq=False)
class Asked:
    """Of some boxes, one row each: what they take of the controls, what they pull by, and what is left."""

    takes: Floats
    pulls: Floats
    left: Floats | None = None

    def at(self, rows: Any) -> "Asked":
        return Asked(self.takes, self.pulls[rows], None if self.left is None else self.left[rows])

    def shared(self, other: "Asked", times: Callable[[Floats, Floats], Floats]) -> Floats:
        """What two sets of boxes share by the controls, as products of rows."""
        found = times(self.takes, other.pulls)
        return found if other.left is None else found + times(self.pulls, other.left)


@dataclass(frozen=True, eq=False)
class Moved(Errors):
    """Errors over a table: those of the cells before, and the margins that were controlled."""

    base: Errors
    margins: Margins
    noise: Floats
    values: Integers

    @abstractmethod
    def asked(self, sums: Sums, boxes: Callable[[], Sequence[Box]]) -> Asked:
        """What boxes take, pull and leave; given how cells are summed within them, or the boxes themselves."""

    def taken(self, sums: Sums, boxes: Callable[[], Sequence[Box]]) -> Floats:
        """A V f of some boxes f."""
        if self.base.weights is None:
            return self._between(list(boxes()), self._controls)
        cells, scale = self.base.weights
        return scale * sums(cells)

    def _between(self, ones: list[Box], others: list[Box]) -> Floats:
        found = self.base.covariances(ones, others)
        assert isinstance(found, np.ndarray)  # noqa: S101 - what is withheld is moved nowhere
        return found

    @cached_property
    def _controls(self) -> list[Box]:
        """The box of every control cell."""
        found = []
        for facets, shape in zip(self.margins.facets, self.margins.shapes, strict=True):
            names = [self.margins.domain.names[facet.axis] for facet in facets]
            for place in product(*map(range, shape)):
                masks = (facet.of_leaf == one for facet, one in zip(facets, place, strict=True))
                found.append(Box(dict(zip(names, masks, strict=True))))
        return found

    @cached_property
    def between_controls(self) -> Floats:
        """A V A': its diagonal where that is all, else the whole matrix."""
        if self.base.weights is None:
            return self._between(self._controls, self._controls)
        cells, scale = self.base.weights
        return scale * (self.margins.of(cells) if self.margins.single else self.margins.gram(cells))

    def covariance(self, one: Box, other: Box) -> float:
        first = self._boxes([one])
        second = first if other is one else self._boxes([other])
        own = self._between([one], [other])
        each = own if other is one else np.sqrt(self._between([one], [one]) * self._between([other], [other]))
        return float(self._left(own, first.shared(second, _every), each)[0, 0])

    def covariances(self, ones: list[Box], others: list[Box]) -> Floats:
        return self._left(self._between(ones, others), self._boxes(ones).shared(self._boxes(others), _every))

    def among(self, grid: Grid) -> Floats:
        own, asked = self.base.among(grid), self._grid(grid)
        assert isinstance(own, np.ndarray)  # noqa: S101 - what is withheld is moved nowhere
        return self._left(own, asked.shared(asked, _every))

    def _left(self, own: Floats, taken: Floats, beside: Floats | float = 0.0) -> Floats:
        return left_over(own, taken, beside, exact=not self.noise.all())

    def law(self, grid: Grid) -> ErrorLaw:
        return self.base.law(grid).moved

    def _boxes(self, boxes: list[Box]) -> Asked:
        return self.asked(lambda cells: self.margins.of_boxes(cells, boxes), lambda: boxes)

    def with_whole(self, grid: Grid, kept: tuple[str, ...]) -> Floats:
        own, margins = self.base.with_whole(grid, kept), self.margins
        if margins.single and self.base.weights is not None and all(one.up is None for one in margins.facets[0]):
            parts = sliced(grid, leaves_wide(margins, grid))
            shared = [self._by_leaves(one, kept) for one in parts]
        else:
            shared = [self._piece(one, kept) for one in sliced(grid, margins.size)]
        return self._left(np.asarray(own, dtype=np.float64), np.concatenate(shared).reshape(grid.shape))

    def _by_leaves(self, grid: Grid, kept: tuple[str, ...]) -> Floats:
        """One control has a diagonal system, so what boxes share by it is a sum over its own cells."""
        leaves = Leafwise(self.margins, grid, kept)
        part = self.asked(lambda cells: leaves.takes(cells, leaves.names), list)
        whole = self.asked(lambda cells: leaves.takes(cells, kept), list)
        return leaves.folded(part.shared(whole, leaves.times))

    def _piece(self, grid: Grid, kept: tuple[str, ...]) -> Floats:
        wide, place = grid.around(kept)
        part = self._grid(grid)
        whole = part if wide is grid else self._grid(wide)
        return part.shared(whole.at(place), _beside)

    def _grid(self, grid: Grid) -> Asked:
        return self.asked(lambda cells: self.margins.of_grid(cells, grid), lambda: list(grid.boxes()))


def _every(ones: Floats, others: Floats) -> Floats:
    return ones @ others.T


def _beside(ones: Floats, others: Floats) -> Floats:
    """The inner product of each row with the row beside it."""
    return np.asarray(np.einsum("ij,ij->i", ones, others), dtype=np.float64)


@dataclass(frozen=True)
class Controlled(Uncertainty):
    """Cells that had some error and were moved to controls with noise of their own."""

    errors: ClassVar[type[Moved]]
    base: Uncertainty
    controls: tuple[Control, ...]

    def over(self, domain: Domain, values: Integers) -> Errors:
        base = self.base.over(domain, values)
        if isinstance(base, Withheld):
            return base
        assert isinstance(domain, Table)  # noqa: S101 - steps refuse whatever is no table
        margins = Margins(domain, tuple(control.by for control in self.controls))
        return self.errors(base, margins, noise_of(margins, self.controls), values)

    def refuse_unfit(self, domain: Domain, values: Integers) -> None:
        super().refuse_unfit(domain, values)
        self.base.refuse_unfit(domain, values)
        if not isinstance(domain, Table):
            raise ReleaseError(f"The manifest states a '{self.kind}' error of what is no table.")
        for one in self.controls:
            refuse_unknown(one.by, domain)
            if isinstance(one.variance, tuple) and len(one.variance) != domain.margin(one.by).size:
                raise ReleaseError("The manifest states as many variances of controls as there are not cells.")

    def in_steps(self, unit: float) -> Self:
        return type(self)(self.base.in_steps(unit), tuple(one.in_steps(unit) for one in self.controls))

    @property
    def follows(self) -> bool:
        return self.base.follows

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        return self.base.columns

    def to_dict(self) -> dict[str, Any]:
        stated, even = self.base.to_dict(), {"variance": self.base.even}
        base = even if stated == {"kind": "independent", **even} else {"base": stated}
        return {"kind": self.kind, **base, "controls": [control.to_dict() for control in self.controls]}

    @classmethod
    def read(cls, written: Mapping[str, Any], source: StatedIn) -> Self:
        base = written["base"] if "base" in written else {"kind": "independent", "variance": written["variance"]}
        return cls(read_uncertainty(base, source), tuple(Control.read(one) for one in written["controls"]))


def noise_of(margins: Margins, controls: Sequence[Control]) -> Floats:
    """The variance of every control cell, stacked."""
    pairs = zip(controls, margins.sizes, strict=True)
    return np.concatenate([np.broadcast_to(np.asarray(one.variance, dtype=np.float64), size) for one, size in pairs])


def sliced(grid: Grid, width: float) -> Iterator[Grid]:
    """Slices of a grid of which each box needs so many numbers."""
    if not grid.axes:
        yield grid
        return
    (name, groups), *rest = grid.axes
    length = max(1, int(LARGEST / max(1.0, width * math.prod(grid.shape[1:]))))
    for start in range(0, len(groups), length):
        yield Grid(((name, groups.at(slice(start, start + length))), *rest), grid.within)

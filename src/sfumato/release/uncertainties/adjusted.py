"""Adjusted: the error of rows that least squares moved to noisy controls, for any total, from public numbers alone.

With y the rows as measured, t the controls and A what they sum, the rows are y + K(t − A y), where
K = W A'(A W A' + U)⁻¹, and W and U are the variances that rows and controls are expected to have at fitted sizes. A
total q then has variance r'W r + l'V l with l = (A W A' + U)⁻¹ A W q, r = q − A'l and V the variances of the controls
as they were drawn: those of clipped totals are known, those of squared ones are U.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ReleaseError
from sfumato.release.noisy import Floats, Integers
from sfumato.release.root_error import RootError
from sfumato.release.uncertainties.adjusted_boxes import Extra, along
from sfumato.release.uncertainties.joint_cells import Fit, Joined
from sfumato.release.uncertainties.normal import Eliminated, Normal
from sfumato.release.uncertainties.squared import Squared
from sfumato.release.uncertainties.trend import Sizes, Trend
from sfumato.release.uncertainties.uncertainty import (
    Errors,
    StatedIn,
    Uncertainty,
    amount,
    left_over,
    not_below,
    refuse_unknown,
)
from sfumato.schema import Box, By, Domain, Frame, Grid, Grouping, Level

MOST = 1_000
"""How many boxes are answered at once, which bounds the memory of their errors."""


@dataclass(frozen=True, eq=False)
class ControlSet:
    """Totals by some attributes, each at a depth of its hierarchy: the product that holds them, and their noise."""

    product: str
    by: By
    trend: Trend
    variances: Floats | None = field(default=None, repr=False)
    """The variances as drawn, where they are known."""

    @classmethod
    def of(cls, product: str, by: By, uncertainty: Uncertainty, unit: float) -> "ControlSet":
        """A measure of groups as controls of rows of whose steps one of its own is so many."""
        if (trend := uncertainty.trend) is None:
            raise ReleaseError(f"'{product}' is no measure: its values have no noise of their own.")
        return cls(product, by, trend, uncertainty.drawn).in_steps(unit)

    def in_steps(self, unit: float) -> "ControlSet":
        drawn = None if self.variances is None else self.variances * unit**2
        return replace(self, trend=self.trend.in_steps(unit), variances=drawn)

    def expected(self, grouping: Grouping, sizes: Sizes, roots: Sizes) -> Floats:
        """The variance of each total at the sizes that its parts have, and the largest roots among them."""
        sums = np.bincount(grouping.of, sizes, grouping.size).astype(np.float64)
        return self.trend.at(sums, grouping.largest(roots).astype(np.float64))

    def to_dict(self) -> dict[str, Any]:
        return {"product": self.product, "by": [[one.name, one.depth] for one in self.by]}


def fit_of(frame: Frame, weight: Floats, sizes: Sizes, roots: Sizes, controls: Sequence[ControlSet]) -> Fit:
    """The equations over the rows of a frame with such variances, sizes, and largest roots."""
    groupings = [frame.grouped(one.by) for one in controls]
    joined, pairs = Joined.over(groupings), zip(controls, groupings, strict=True)
    expected = [one.expected(grouping, sizes, roots) for one, grouping in pairs]
    drawn = [noise if one.variances is None else one.variances for one, noise in zip(controls, expected, strict=True)]
    return Fit(joined, Normal(joined, joined.sums(weight), np.concatenate(expected)), np.concatenate(drawn))


@dataclass(frozen=True, eq=False)
class Adjusted(Uncertainty):
    """The noise that rows were measured with, the sizes it is taken at, and the controls that they were moved to."""

    kind: ClassVar[str] = "adjusted"
    base: str
    measured: Squared
    sizes: Sizes = field(repr=False)
    """Fitted and not below 0, in steps."""
    controls: tuple[ControlSet, ...]

    @classmethod
    def of(
        cls, base: str, measured: Uncertainty, unit: float, sizes: Sizes, controls: Sequence[ControlSet]
    ) -> "Adjusted":
        """That of rows measured with noise on their roots, of whose steps one is so many of the adjusted ones."""
        if not isinstance(measured, Squared):
            raise ReleaseError(f"'{base}' is not measured with noise on square roots, so its rows are not adjusted.")
        return cls(base, measured.in_steps(unit), sizes, tuple(controls))

    def over(self, domain: Domain, values: Integers) -> Errors:  # noqa: ARG002 - fitted sizes
        assert isinstance(domain, Frame)  # noqa: S101 - rows alone are adjusted
        alike, trend = domain.alike, self.measured.trend
        sizes = np.bincount(alike.of, self.sizes, alike.size).astype(np.float64)
        weight = trend.base * np.bincount(alike.of, minlength=alike.size) + trend.each * sizes
        roots = alike.largest(np.sqrt(self.sizes)).astype(np.float64)
        fit = fit_of(alike.groups, weight, sizes, roots, self.controls)
        return Adjustment(alike.groups, weight, fit, self.measured.variance, sizes)

    def refuse_unfit(self, domain: Domain, values: Integers) -> None:
        super().refuse_unfit(domain, values)
        if not isinstance(domain, Frame) or domain.groups_by is not None:
            raise ReleaseError("The manifest states the error of adjusted rows of what are no rows.")
        for one in self.controls:
            refuse_unknown(one.by, domain)
            if one.variances is not None and len(one.variances) != domain.grouped(one.by).size:
                raise ReleaseError(
                    f"The manifest states an error with controls '{one.product}' by other groups than its."
                )

    def at(self, sizes: Sizes, unit: float = 1.0) -> Floats | None:
        return self.measured.at(sizes, unit)

    def alone(self, values: Integers, rows: slice) -> Floats | None:  # noqa: ARG002 - fitted sizes
        return self.measured.at(self.sizes[rows].astype(np.float64))

    def fit(self, domain: Domain) -> Fit:
        """The equations over the rows themselves."""
        assert isinstance(domain, Frame)  # noqa: S101 - rows alone are adjusted
        weight = self.measured.trend.at(self.sizes.astype(np.float64), np.zeros(1))
        return fit_of(domain, weight, self.sizes, np.sqrt(self.sizes), self.controls)

    def in_steps(self, unit: float) -> "Adjusted":
        controls = tuple(one.in_steps(unit) for one in self.controls)
        return Adjusted(self.base, self.measured.in_steps(unit), self.sizes * np.float32(unit), controls)

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        return {"size": self.sizes}

    def to_dict(self) -> dict[str, Any]:
        listed = [one.to_dict() for one in self.controls]
        return {"kind": self.kind, "base": self.base, "variance": self.measured.variance, "controls": listed}

    @classmethod
    def read(cls, written: Mapping[str, Any], source: StatedIn) -> "Adjusted":
        controls = tuple(_control(one, source) for one in written["controls"])
        variance, sizes = amount(written["variance"]), not_below(source.column("size"), "size")
        return cls(str(written["base"]), Squared(variance), sizes, controls)


def _control(written: Mapping[str, Any], source: StatedIn) -> ControlSet:
    """A set of controls with the noise of the measure that it is, in squared steps of what was adjusted to it."""
    step, uncertainty = source.measured(written["product"])
    by = tuple(Level(str(name), None if depth is None else int(depth)) for name, depth in written["by"])
    return ControlSet.of(written["product"], by, uncertainty, float(step / source.step))


@dataclass(frozen=True, eq=False)
class Adjustment(Errors):
    """Covariances of totals over cells, with everything that does not depend on the question at hand."""

    frame: Frame
    weight: Floats
    fit: Fit
    variance: float
    """On the root of one row."""
    sizes: Floats
    """What the rows of a cell are fitted to sum to."""

    def law(self, grid: Grid) -> RootError:
        return RootError(self.variance, self.frame.totals(self.sizes, grid).ravel())

    def covariance(self, one: Box, other: Box) -> float:
        first, second = self.frame.rows(one), self.frame.rows(other)
        takes, pulls = self._asked(first)
        _, beside = (takes, pulls) if other is one else self._asked(second)
        left = (self.fit.normal.noise - self.fit.drawn) * beside
        own = self.weight[first & second].sum()
        found = float(left_over(own, takes @ beside + pulls @ left))
        return max(found, 0.0) if other is one else found

    def _asked(self, rows: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """What a box takes of the controls, and what it pulls by."""
        takes = self.fit.joined.of(self.fit.joined.sums(self.weight * rows))
        return takes, self.fit.normal.solve(takes)

    def with_whole(self, grid: Grid, kept: tuple[str, ...]) -> Floats:
        found = np.zeros(grid.shape)
        for places, part in grid.apart(MOST):
            shared = along(self.frame, part, kept, self.weight, self._extra)
            found[np.ix_(*places)] = shared.reshape(part.shape)
        # A variance is not below 0, whatever rounding says; a covariance may be.
        return np.maximum(found, 0.0) if all(name in kept for name, _ in grid.axes) else found

    @cached_property
    def _extra(self) -> Extra:
        joined, normal = self.fit.joined, self.fit.normal
        extra, finest = self.fit.drawn - normal.noise, joined.finest
        if finest is None:
            system = Eliminated(normal.weight, np.full(joined.cells, np.inf), joined, normal.noise)
            return Extra(joined.place, system, np.zeros(joined.cells), extra)
        above, system = extra[normal.own] * normal.eliminated.gain**2, normal.eliminated
        return Extra(joined.ups[finest][joined.place], system, above, extra[~normal.own])


EXAMPLE = Adjusted(
    "rows", Squared(0.5), np.arange(12, dtype=np.float32), (ControlSet("a", (Level("a"),), Trend(base=2.0)),)
)

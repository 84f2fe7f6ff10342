"""Protected microdata: the rows of a frame moved to noisy totals by weighted least squares, one value a row.

y + W A'(A W A' + U)⁻¹ (t − A y), with y the rows measured by the square root, t the totals of groups, W and U the
variances that both are expected to have. Variances taken at a row's own draw would trust low draws most and pull every
total down; topcodes taken there push it up. So there are two fits: the first with variances at the draws, the second at
the sizes that the first one found. A least-squares fit is uncorrelated with the gaps t − A y that it closes, hence so
are weights made of it, and to first order nothing is pulled: these are the equations of quasi-likelihood, with its
weights at fitted values (Wedderburn 1974). In simulations the second fit is as good as one with the true variances.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from sfumato.calibrate.step import Diverged, Step, finer_by
from sfumato.calibrate.tidy_rows import Tidied
from sfumato.errors import PlanError
from sfumato.release import Product
from sfumato.release.noisy import Floats
from sfumato.release.uncertainties.adjusted import Adjusted, ControlSet
from sfumato.release.uncertainties.joint_cells import Joined
from sfumato.release.uncertainties.normal import Normal
from sfumato.release.uncertainties.trend import Sizes
from sfumato.schema import Frame, Grouping


@dataclass(frozen=True)
class ProtectedMicrodata(Step):
    """One value for each row of the frame that agrees with all totals as far as the errors of both say.

    `nonnegative` rows and `whole` numbers are easier to use and no longer unbiased; the product says by how much.
    """

    kind: ClassVar[str] = "protected-microdata"
    name: str
    table: str
    to: tuple[str, ...]
    nonnegative: bool = False
    whole: bool = False

    def refuse_unframed(self, *, of_rows: bool) -> None:
        if not of_rows:
            raise PlanError(
                f"Step '{self.name}' moves rows to totals; its table is the measure of the rows, not of groups."
            )
        if not self.to:
            raise PlanError(f"Step '{self.name}' calibrates to nothing; name its control measures: to = [...].")
        for option in ("nonnegative", "whole"):
            if not isinstance(getattr(self, option), bool):
                raise PlanError(f"Step '{self.name}': {option} is true or false; got {getattr(self, option)!r}.")

    def refuse_unfit(self, table: object, controls: Sequence[object]) -> None:  # noqa: ARG002 - never over tables
        raise PlanError(f"Step '{self.name}' is for the rows of a frame; give the plan a [frame].")

    def apply(self, products: Mapping[str, Product]) -> Product | Diverged:
        rows, controls = products[self.table], tuple(products[name] for name in self.to)
        for one in (rows, *controls):
            if not isinstance(one.domain, Frame):
                raise PlanError(f"Step '{self.name}' reads '{one.subject.name}', which is no measure of the frame.")
        if rows.uncertainty.roots(rows.values) is None:
            raise PlanError(f"Step '{self.name}': '{rows.subject.name}' is not measured with square-root.")
        fitting = Fitting(rows, controls)
        sizes = fitting.fitted_sizes()
        tidied = Tidied(fitting.fit(sizes), fitting.joined.place, rows.subject.unit)
        values = tidied.values(nonnegative=self.nonnegative, whole=self.whole)
        note = tidied.note(nonnegative=self.nonnegative, whole=self.whole)
        return fitting.product(self.name, values, sizes, note)


EXAMPLE = ProtectedMicrodata("protected", "rows", ("groups",))


def at_least_0(values: Floats) -> Sizes:
    """Sizes for weights, in half the space: seven digits are more than a weight needs."""
    return np.maximum(values, 0.0).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Fitting:
    """The rows as measured and the totals, in units of the column."""

    rows: Product
    controls: tuple[Product, ...]

    @cached_property
    def frame(self) -> Frame:
        assert isinstance(self.rows.domain, Frame)  # noqa: S101 - refused by the step
        return self.rows.domain

    @cached_property
    def measured(self) -> Floats:
        return self.rows.values.astype(np.float64) * float(self.rows.subject.step)

    @cached_property
    def groupings(self) -> list[Grouping]:
        return [self.frame.grouped(one.domain.by) for one in self.controls]

    @cached_property
    def joined(self) -> Joined:
        """The totals over the coarsest cells that tell all of them apart."""
        return Joined.over(self.groupings)

    @cached_property
    def gaps(self) -> Floats:
        """How far each total is from the rows in it."""
        aims = [one.values.astype(np.float64) * float(one.subject.step) for one in self.controls]
        sums = [one.sums(self.measured) for one in self.groupings]
        return np.asarray(np.concatenate(aims) - np.concatenate(sums), dtype=np.float64)

    def sets(self, step: Fraction) -> tuple[ControlSet, ...]:
        return tuple(
            ControlSet.of(one.subject.name, one.domain.by, one.uncertainty, float(one.subject.step / step))
            for one in self.controls
        )

    def fitted_sizes(self) -> Sizes:
        """The sizes at which variances are taken: those of a first fit, whose variances are taken at the draws."""
        return at_least_0(self.fit(at_least_0(self.measured)))

    def fit(self, sizes: Sizes) -> Floats:
        """The rows that least squares finds with the variances of rows and totals at such sizes."""
        weights = self.rows.uncertainty.at(sizes, float(self.rows.subject.step))
        assert weights is not None  # noqa: S101 - refused by the step
        normal = Normal(self.joined, self.joined.sums(weights), self.noise(sizes))
        return self.measured + weights * self.joined.spread(normal.solve(self.gaps))[self.joined.place]

    def noise(self, sizes: Sizes) -> Floats:
        """The variances of the totals at such sizes of their rows, stacked."""
        pairs = zip(self.sets(Fraction(1)), self.groupings, strict=True)
        return np.concatenate([one.expected(grouping, sizes, np.sqrt(sizes)) for one, grouping in pairs])

    def product(self, name: str, values: Floats, sizes: Sizes, note: str) -> Product:
        """The product, with what is needed for the error of any total, in its own steps."""
        finer = finer_by(values)
        step = Fraction(1, 2**finer)
        before = self.rows.subject
        notes = dict.fromkeys((before.note, *(one.subject.note for one in self.controls), note))
        subject = replace(before, name=name, step=step, note=" ".join(one for one in notes if one))
        whole = np.rint(values * 2.0**finer).astype(np.int64)
        # A power of two changes no digit of a size.
        measured, unit = self.rows.uncertainty, float(before.step / step)
        uncertainty = Adjusted.of(before.name, measured, unit, sizes * np.float32(2**finer), self.sets(step))
        return replace(self.rows, subject=subject, values=whole, uncertainty=uncertainty)  # type: ignore[type-var]

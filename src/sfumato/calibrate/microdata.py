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
from numpy.typing import NDArray

from sfumato.calibrate.step import Diverged, Step, finer_by
from sfumato.calibrate.tidied import Tidied
from sfumato.errors import PlanError
from sfumato.release import Product, Records, Squared, Varying
from sfumato.release.adjusted import Adjusted, ControlSet, Joined, System, control_set
from sfumato.release.products import Floats
from sfumato.release.records import Sizes
from sfumato.schema import Grouping


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

    def apply(self, products: Mapping[str, Product]) -> Records | Diverged:
        rows = rows_of(products[self.table], self)
        controls = tuple(rows_of(products[name], self) for name in self.to)
        if not isinstance(rows.spread, Squared):
            raise PlanError(f"Step '{self.name}': '{rows.subject.name}' is not measured with square-root.")
        problem = Problem(rows, controls)
        sizes = problem.fitted_sizes()
        tidied = Tidied(problem.fit(sizes), problem.places, rows.subject.unit)
        values = tidied.values(nonnegative=self.nonnegative, whole=self.whole)
        note = tidied.note(nonnegative=self.nonnegative, whole=self.whole)
        return problem.product(self.name, values, sizes, note)


EXAMPLE = ProtectedMicrodata("protected", "rows", ("groups",))


def rows_of(product: Product, step: Step) -> Records:
    """A measure of the rows of a frame or of groups of them."""
    if isinstance(product, Records) and isinstance(product.spread, (Squared, Varying)):
        return product
    raise PlanError(f"Step '{step.name}' reads '{product.subject.name}', which is no measure of the frame.")


def at_least_0(values: Floats) -> Sizes:
    """Sizes for weights, in half the space: seven digits are more than a weight needs."""
    return np.maximum(values, 0.0).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Problem:
    """The rows as measured and the totals, in units of the column."""

    rows: Records
    controls: tuple[Records, ...]

    @cached_property
    def measured(self) -> Floats:
        return self.rows.values.astype(np.float64) * float(self.rows.subject.step)

    @cached_property
    def groupings(self) -> tuple[Grouping, ...]:
        return tuple(self.rows.frame.grouped(control.by or ()) for control in self.controls)

    @cached_property
    def gaps(self) -> list[Floats]:
        """How far each total is from the rows in it."""
        pairs = zip(self.controls, self.groupings, strict=True)
        return [
            control.values.astype(np.float64) * float(control.subject.step)
            - np.bincount(one.of, self.measured, one.size)
            for control, one in pairs
        ]

    def sets(self, step: Fraction) -> tuple[ControlSet, ...]:
        return tuple(control_set(one, one.by or (), step) for one in self.controls)

    def fitted_sizes(self) -> Sizes:
        """The sizes at which variances are taken: those of a first fit, whose variances are taken at the draws."""
        return at_least_0(self.fit(at_least_0(self.measured)))

    def fit(self, sizes: Sizes) -> Floats:
        """The rows that least squares finds with the variances of rows and totals at such sizes."""
        joined = replace(self._joined, noise=self.noise(sizes))
        weights = self.spread.trend.in_steps(float(self.rows.subject.step)).at(sizes, np.zeros(1))
        finest = np.zeros(joined.size)
        if joined.finest is not None:
            finest = self.gaps[joined.finest][joined.ups[joined.finest]]
        rest = [self.gaps[place] for place in joined.rest]
        system = System(joined, joined.sums(weights))
        _, _, seen = system.pull(finest, np.concatenate(rest) if rest else np.zeros(0))
        return self.measured + weights * seen[joined.place]

    def noise(self, sizes: Sizes) -> tuple[Floats, ...]:
        """The variances of the totals at such sizes of their rows."""
        roots, pairs = np.sqrt(sizes), zip(self.sets(Fraction(1)), self.groupings, strict=True)
        return tuple(one.expected(grouping, sizes, roots) for one, grouping in pairs)

    @cached_property
    def _joined(self) -> Joined:
        return Joined.of(self.groupings, [np.zeros(one.size) for one in self.groupings])

    @property
    def places(self) -> NDArray[np.int32]:
        """For each row the coarsest cell that tells all totals apart."""
        return self._joined.place

    @property
    def spread(self) -> Squared:
        assert isinstance(self.rows.spread, Squared)  # noqa: S101 - refused by the step
        return self.rows.spread

    def product(self, name: str, values: Floats, sizes: Sizes, note: str) -> Records:
        """The product, with what is needed for the error of any total, in its own steps."""
        finer = finer_by(values)
        step = Fraction(1, 2**finer)
        before = self.rows.subject
        subject = replace(before, name=name, step=step, note=" ".join(one for one in (before.note, note) if one))
        measured = Squared(self.spread.variance * float(before.step / step))
        # A power of two changes no digit of a size.
        adjusted = Adjusted(before.name, measured, sizes * np.float32(2**finer), self.sets(step))
        return Records(subject, self.rows.frame, np.rint(values * 2.0**finer).astype(np.int64), adjusted)

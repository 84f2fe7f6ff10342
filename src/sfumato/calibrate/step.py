"""Step: arithmetic on published numbers that makes a better product of them; it sees no true value, by signature."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sfumato.calibrate.contradictions import CORRECT, common_step, contradict, refuse_contradicting
from sfumato.errors import PlanError
from sfumato.release import Control, Cube, Earlier, Product, Subject, Tables, Uncertainty, withheld
from sfumato.release.noisy import Floats
from sfumato.release.uncertainties.controls import Controlled, noise_of
from sfumato.release.uncertainties.margins import Margins
from sfumato.schema import LARGEST, Family, Sorted, Table


@dataclass(frozen=True)
class Diverged:
    """A step that found no answer, and why; the release says so and shows no cells of it."""

    name: str
    why: str


@dataclass(frozen=True)
class ControlAhead:
    """A control as it is known before there are data: what it is over, whether it is exact, and published totals."""

    name: str
    domain: Table | Family
    exact: bool
    published: tuple[Cube | Tables, ...] = ()


class Step(ABC):
    """Reads some products by name and makes one, whose uncertainty is true."""

    kind: ClassVar[str]
    as_published: ClassVar[str] = ""
    """Where a paper's own step breaks the claim: why, and what to use instead; such a step never runs soundly."""
    apart: ClassVar[bool] = False
    """Whether it makes another statistic, with noise of its own in every cell, of a table that has it so."""
    of_counts: ClassVar[bool] = False
    unweighted: ClassVar[bool] = False
    """Whether it takes numbers of records as they are, and none that are weighted."""
    """Whether it is for counts of records alone."""
    beside: ClassVar[bool] = False
    """Whether what it makes is asked for beside its table, which goes on answering; other steps may read it too."""
    additive: ClassVar[bool] = True
    """Whether the cells of what it makes may be summed."""
    relative: ClassVar[bool] = False
    """Whether it multiplies cells, so that errors follow their sizes."""
    columns_beside: ClassVar[int] = 3
    """How many columns of 8 bytes may stand beside its values, at most: of errors, of what is missing."""
    name: str
    table: str
    to: tuple[str, ...]

    def refuse_name(self) -> None:
        if not self.name or not all(letter.isalnum() or letter in "_-" for letter in self.name):
            raise PlanError(f"The step name '{self.name}' must be letters, digits, - and _.")

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.table, *self.to)

    def makes(self, table: Table) -> Table:
        """The cells of what it makes of a table."""
        return table

    @property
    def bias(self) -> str:
        """What totals of what it makes are off by on average, in a sentence; nothing where they stay unbiased."""
        return ""

    def bias_of_empty(self, law: Floats) -> float | None:  # noqa: ARG002 - most are unbiased, or not told
        """How far off, on average and in steps, a truly empty cell is, from the chances of noise of 0, 1, 2, … steps.

        Nothing where it hangs on other cells.
        """
        return None

    def refuse_listed(self, *tables: Table) -> None:
        """Say so where a table is too large for its cells to be laid out."""
        for one in tables:
            if not one.dense:
                raise PlanError(
                    f"Step '{self.name}' lays out its tables cell by cell, and {one.sides} are {one.size:,} cells, "
                    f"more than the {LARGEST:,} that fit; leave out the step, or an attribute."
                )

    def refuse_unfit(self, table: Table, controls: Sequence[Table]) -> None:
        """Say before anything is opened what the step cannot do with its table and its controls."""
        self.refuse_listed(table, *controls)
        if not controls:
            raise PlanError(f"Step '{self.name}' calibrates to nothing; name its control measures: to = [...].")

    def refuse_family(self, family: Family, controls: Sequence[ControlAhead]) -> None:  # noqa: ARG002 - most move cells
        """Say so where a step cannot do with a family of tables."""
        raise PlanError(
            f"Step '{self.name}' moves the cells of one table, and '{self.table}' is a family of tables; use "
            'step = "least-squares", which moves all of them together.'
        )

    def refuse_unframed(self, *, of_rows: bool) -> None:  # noqa: ARG002 - most are for tables alone
        """Say so where a step over a frame cannot do with what it reads."""
        raise PlanError(f"Step '{self.name}' is for tables; over a frame use step = \"protected-microdata\".")

    @abstractmethod
    def apply(self, products: Mapping[str, Product]) -> Product | Diverged:
        """The product that the step makes of those it reads."""

    def of_rows(self, table: Table) -> Sorted | None:  # noqa: ARG002 - most are arithmetic on cells alone
        """The share of rows that what it makes tells of, where that is a share: what its intervals are held to."""
        return None

    def ideal(self, table: Product) -> Product | Diverged:
        """What a step that makes another statistic would make of its table if that had no noise, of every cell."""
        return self.apply({self.table: table})


def calibrated(steps: Sequence[Step], measured: Mapping[str, Product]) -> tuple[dict[str, Product], list[Diverged]]:
    """All products, measured and made by steps in their order; what reads a step without an answer has none either."""
    products, lost, met = dict(measured), dict[str, Diverged](), dict[str, dict[str, Product]]()
    for step in steps:
        met[step.name] = met.get(step.table, {}) | {name: products[name] for name in step.to if name in products}
        refuse_contradicting(step.name, met[step.name])
        missed = next((lost[name] for name in step.reads if name in lost), None)
        made = (
            step.apply(products) if missed is None else Diverged(step.name, f"it reads '{missed.name}': {missed.why}")
        )
        if isinstance(made, Diverged):
            lost[step.name] = made
        else:
            products[step.name] = made
    return products, list(lost.values())


@dataclass(frozen=True, eq=False)
class Problem:
    """A cube with its error and the controls it should meet, all in the steps of the cube."""

    cube: Product
    cells: Floats
    margins: Margins
    aims: Floats
    controls: tuple[Control, ...]

    @classmethod
    def of(cls, step: Step, products: Mapping[str, Product]) -> "Problem":
        """The problem that a step names."""
        cube, table = laid_out(products[step.table], step)
        aims, controls = [], []
        for name in step.to:
            control, margin = laid_out(products[name], step)
            unit = float(control.subject.step / cube.subject.step)
            aims.append(control.values.ravel() * unit)
            controls.append(Control(margin.by, variances(control, step)).in_steps(unit))
        margins = Margins(table, tuple(control.by for control in controls))
        return cls(cube, cube.values.astype(float), margins, np.concatenate(aims), tuple(controls))

    def settled(self, step: Step, products: Mapping[str, Product], cells: Floats) -> "Problem | None":
        """The same with errors at cells that it was solved to, where errors follow the draws of each number.

        Numbers that came out low would be trusted most, and totals pulled down; at sizes that all numbers agree on
        each is trusted as it should be.
        """
        if not any(products[name].uncertainty.follows for name in (step.table, *step.to)):
            return None
        ends = np.cumsum([products[name].values.size for name in step.to])[:-1]
        sizes = [cells, *np.split(self.margins.of(cells), ends)]
        found = {
            name: _settled(products[name], self.cube, size)
            for name, size in zip((step.table, *step.to), sizes, strict=True)
        }
        if all(found[name] is products[name] for name in found):
            return None
        return Problem.of(step, {**products, **found})

    @property
    def noise(self) -> Floats:
        """The variance of every control cell, stacked."""
        return noise_of(self.margins, self.controls)

    def refuse_contradictions(self, step: Step, products: Mapping[str, Product]) -> None:
        controls = {name: products[name] for name in step.to}
        refuse_contradicting(step.name, controls)
        finest = common_step(*(one.subject.step for one in controls.values())) / self.cube.subject.step
        if contradict(self.margins, self.aims, self.noise == 0, float(finest)):
            raise PlanError(
                f"Step '{step.name}': its exact controls contradict each other, {_listed(controls)}, so no table meets "
                f"them all. {CORRECT}"
            )

    @property
    def before(self) -> Uncertainty:
        """The error of the cells before the step, at the values that they have now where it follows them."""
        stated = self.cube.uncertainty
        return Earlier(stated, self.cells, np.ones(self.cells.shape)) if stated.follows else stated

    def product(self, name: str, cells: Floats, kind: type[Controlled], before: Uncertainty) -> Cube:
        """The calibrated cells as integers of a finer step, a power of two below the cube's own."""
        finer, table = finer_by(cells), self.margins.domain
        values = np.rint(cells * 2.0**finer).astype(np.int64)
        if table.impossible:
            values[~table.possible] = 0
        subject: Subject = replace(self.cube.subject, name=name, step=self.cube.subject.step / 2**finer)
        uncertainty = kind(before, self.controls).in_steps(2.0**finer)
        return Cube(subject, table, values, uncertainty)


def _settled(product: Product, cube: Product, cells: Floats) -> Product:
    """A product whose error is at sizes in steps of the cube, where its own follows its draws."""
    unit = float(product.subject.step / cube.subject.step)
    stated = product.uncertainty.settled(cells.reshape(product.values.shape) / unit)
    if stated is None:
        return product
    kept = {name: np.where(product.domain.possible, column, 0.0) for name, column in stated.columns.items()}
    return replace(product, uncertainty=replace(stated, variances=kept["variance"]))  # type: ignore[type-var]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def finer_by(cells: Floats) -> int:
    """How many binary places fit beside the sum of the cells in 48 bits, 30 at most.

    Every total is then exact as a double too, so sums agree to the last digit wherever they are taken.

    >>> finer_by(np.array([1000.0])), finer_by(np.array([2.0**40]))
    (30, 8)
    """
    return max(0, min(30, 48 - math.ceil(math.log2(max(float(np.abs(cells).sum()), 1.0)))))


def laid_out(product: Product, step: Step) -> tuple[Product, Table]:
    """A product of which every cell is laid out with an error that is stated, and its table."""
    if (unsaid := withheld(product.errors)) is not None:
        raise PlanError(f"Step '{step.name}' reads '{product.subject.name}', whose error is withheld: {unsaid.reason}")
    if product.uncertainty.roots(product.values) is not None:
        raise PlanError(
            f"Step '{step.name}' reads '{product.subject.name}', whose noise is on square roots: its variances follow "
            "the draws, so that the lowest would be trusted most and totals pulled down."
        )
    if product.laid_out and isinstance(product.domain, Table):
        return product, product.domain
    raise PlanError(f"Step '{step.name}' reads '{product.subject.name}', which is no table with all its cells.")


def variances(control: Product, step: Step) -> float | tuple[float, ...]:
    """The variance of the noise in each cell of a control; one number where all have the same."""
    if control.even is None and control.errors.weights is not None:
        cells, scale = control.errors.weights
        return tuple((cells * scale).ravel().tolist())
    return evenly(control, step)


def evenly(product: Product, step: Step) -> float:
    """The variance of the noise in a cell of a measured table."""
    if (variance := product.even) is not None:
        return variance
    raise PlanError(
        f"Step '{step.name}' reads '{product.subject.name}', which is no plain measured table; name a measure."
    )

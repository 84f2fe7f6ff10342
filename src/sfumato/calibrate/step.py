"""Step: arithmetic on published numbers that makes a better product of them; it sees no true value, by signature."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sfumato.errors import PlanError
from sfumato.release import Control, Cube, Independent, Product, Subject, Uncertainty
from sfumato.release.margins import Floats, Margins
from sfumato.schema import LARGEST, Table


@dataclass(frozen=True)
class Diverged:
    """A step that found no answer, and why; the release says so and shows no cells of it."""

    name: str
    why: str


class Step(ABC):
    """Reads some products by name and makes one, whose uncertainty is true."""

    kind: ClassVar[str]
    as_published: ClassVar[str] = ""
    """Where a paper's own step breaks the claim: why, and what to use instead; such a step never runs soundly."""
    name: str
    table: str
    to: tuple[str, ...]

    def refuse_name(self) -> None:
        if not self.name or not all(letter.isalnum() or letter in "_-" for letter in self.name):
            raise PlanError(f"The step name '{self.name}' must be letters, digits, - and _.")

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.table, *self.to)

    def refuse_unfit(self, table: Table, controls: Sequence[Table]) -> None:
        """Say before anything is opened what the step cannot do with its table and its controls."""
        for one in (table, *controls):
            if not one.dense:
                raise PlanError(
                    f"Step '{self.name}' lays out its tables cell by cell, and {one.sides} are {one.size:,} cells, "
                    f"more than the {LARGEST:,} that fit; leave out the step, or an attribute."
                )
        if not controls:
            raise PlanError(f"Step '{self.name}' calibrates to nothing; name its control measures: to = [...].")

    def refuse_unframed(self, *, of_rows: bool) -> None:  # noqa: ARG002 - most are for tables alone
        """Say so where a step over a frame cannot do with what it reads."""
        raise PlanError(f"Step '{self.name}' is for tables; over a frame use step = \"protected-microdata\".")

    @abstractmethod
    def apply(self, products: Mapping[str, Product]) -> Product | Diverged:
        """The product that the step makes of those it reads."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A cube with its variance and the controls it should meet, all in the steps of the cube."""

    cube: Cube
    cells: Floats
    variance: float
    margins: Margins
    aims: Floats
    controls: tuple[Control, ...]

    @classmethod
    def of(cls, step: Step, products: Mapping[str, Product]) -> "Problem":
        """The problem that a step names."""
        cube, variance = measured(products[step.table], step)
        aims, controls = [], []
        for name in step.to:
            table, own = measured(products[name], step)
            scale = float(table.subject.step / cube.subject.step)
            aims.append(table.values.ravel() * scale)
            controls.append(Control(table.table.names, own * scale**2))
        margins = Margins(cube.table, tuple(control.by for control in controls))
        return cls(cube, cube.values.astype(float), variance, margins, np.concatenate(aims), tuple(controls))

    def product(self, name: str, cells: Floats, uncertainty: Uncertainty, finer: int) -> Cube:
        """The calibrated cells as integers of a finer step, a power of two below the cube's own."""
        values = np.rint(cells * 2.0**finer).astype(np.int64)
        values[~self.cube.table.possible] = 0
        subject: Subject = replace(self.cube.subject, name=name, step=self.cube.subject.step / 2**finer)
        return Cube(subject, self.cube.table, values, uncertainty)


def finer_by(cells: Floats) -> int:
    """How many binary places fit beside the sum of the cells in 48 bits, 30 at most.

    Every total is then exact as a double too, so sums agree to the last digit wherever they are taken.

    >>> finer_by(np.array([1000.0])), finer_by(np.array([2.0**40]))
    (30, 8)
    """
    return max(0, min(30, 48 - math.ceil(math.log2(max(float(np.abs(cells).sum()), 1.0)))))


def measured(product: Product, step: Step) -> tuple[Cube, float]:
    """A measured table and the variance of its noise in a cell."""
    if isinstance(product, Cube) and isinstance(product.uncertainty, Independent):
        return product, product.uncertainty.variance
    raise PlanError(
        f"Step '{step.name}' reads '{product.subject.name}', which is no plain measured table; name a measure."
    )


def scaled(uncertainty_variance: float, finer: int) -> float:
    """A variance in squared steps of the cube, in squared finer steps."""
    return uncertainty_variance * 4.0**finer

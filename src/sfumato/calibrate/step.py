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


@dataclass(frozen=True)
class Diverged:
    """A step that found no answer, and why; the release says so and shows no cells of it."""

    name: str
    why: str


class Step(ABC):
    """Reads some products by name and makes one, whose uncertainty is true."""

    kind: ClassVar[str]
    name: str
    table: str
    to: tuple[str, ...]

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.table, *self.to)

    def refuse_too_large(self, sizes: Sequence[int]) -> None:  # noqa: B027 - most steps carry any size
        """Say before anything is opened when there are more control cells than the step can carry."""

    @abstractmethod
    def apply(self, products: Mapping[str, Product]) -> Cube | Diverged:
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
        cube = _cube(products[step.table], step)
        tables = [_cube(products[name], step) for name in step.to]
        controls = tuple(_control(cube, one) for one in tables)
        margins = Margins(cube.table, tuple(control.by for control in controls))
        scales = [float(one.subject.step / cube.subject.step) for one in tables]
        aims = np.concatenate([one.values.ravel() * scale for one, scale in zip(tables, scales, strict=True)])
        return cls(cube, cube.values.astype(np.float64), _variance(cube), margins, aims, controls)

    def product(self, name: str, cells: Floats, uncertainty: Uncertainty, finer: int) -> Cube:
        """The calibrated cells as integers of a finer step, a power of two below the cube's own."""
        values = np.rint(cells * 2.0**finer).astype(np.int64)
        values[~self.cube.table.possible] = 0
        subject: Subject = replace(self.cube.subject, name=name, step=self.cube.subject.step / 2**finer)
        return Cube(subject, self.cube.table, values, uncertainty)


def finer_by(cells: Floats) -> int:
    """How many binary places fit beside the sum of the cells in 64 bits, 30 at most.

    >>> finer_by(np.array([1000.0])), finer_by(np.array([2.0**40]))
    (30, 20)
    """
    return max(0, min(30, 60 - math.ceil(math.log2(max(float(np.abs(cells).sum()), 1.0)))))


def _cube(product: Product, step: Step) -> Cube:
    if isinstance(product, Cube) and isinstance(product.uncertainty, Independent):
        return product
    raise PlanError(
        f"Step '{step.name}' reads '{product.subject.name}', which is no plain measured table; name a measure."
    )


def _variance(cube: Cube) -> float:
    assert isinstance(cube.uncertainty, Independent)  # noqa: S101 - checked by _cube
    return cube.uncertainty.variance


def _control(cube: Cube, table: Cube) -> Control:
    return Control(table.table.names, _variance(table) * float(table.subject.step / cube.subject.step) ** 2)


def scaled(uncertainty_variance: float, finer: int) -> float:
    """A variance in squared steps of the cube, in squared finer steps."""
    return uncertainty_variance * 4.0**finer

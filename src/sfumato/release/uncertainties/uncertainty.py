"""Uncertainty: the joint error of a product's cells, answered as the covariance of the totals over two boxes.

What a manifest states is an `Uncertainty`; over the domain and the values of a product it is the `Errors` of any
totals, in squared steps. One that cannot be stated is `Withheld`, for every total and for whatever comes of it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ReleaseError
from sfumato.plugins import found
from sfumato.release.error_law import ErrorLaw, NormalError
from sfumato.release.noisy import Floats, Integers
from sfumato.release.uncertainties.joint_cells import Fit
from sfumato.release.uncertainties.trend import Sizes, Trend
from sfumato.release.written import LARGEST_NUMBER, number
from sfumato.schema import Box, By, Domain, Grid

Number = TypeVar("Number")
ROUNDING, LEAST_ROUNDING = 1e-12, 1e-14
"""Which part of two numbers their difference may have by rounding alone, and has where little is computed."""


@dataclass(frozen=True, eq=False)
class StatedIn:
    """Where an uncertainty is read from: the step of its product, columns of its file, and other products."""

    step: Fraction
    column: Callable[[str], NDArray[Any]]
    """A column that stands beside the values, laid out as they are."""
    measured: Callable[[str], tuple[Fraction, "Uncertainty"]]
    """The step and the uncertainty of another product of the release."""


def left_over(own: Floats, taken: Floats, beside: Floats | float = 0.0, exact: bool = True) -> Floats:
    """What is left of variances and covariances once controls took their part; what is 0 to rounding is 0.

    Rounding is of the size of both, or of the variances of what two totals have before where they share nothing.
    Where no control is exact, next to nothing may truly be left, and only what is surely rounding is taken for it.

    >>> left_over(np.array([1.0, 2.0, 1.0]), np.array([0.25, 2.0 - 4e-15, 1.0 - 1e-9])).round(12).tolist()
    [0.75, 0.0, 1e-09]
    """
    left = own - taken
    part = ROUNDING if exact else LEAST_ROUNDING
    settled: Floats = np.where(np.abs(left) <= part * (np.abs(own) + np.abs(taken) + beside), 0.0, left)
    return settled


class Errors(ABC):
    """The joint error of totals; whoever knows a quicker way than box by box overrides that."""

    at_once: ClassVar[bool] = False
    """Whether the errors of a whole table are found in one pass over its cells, and not by an equation each."""

    @abstractmethod
    def covariance(self, one: Box, other: Box) -> "float | Withheld":
        """The covariance of the totals over two boxes."""

    def with_whole(self, grid: Grid, kept: tuple[str, ...]) -> "Floats | Withheld":
        """The covariances of the totals of a grid, each with the total of the wider box that only some axes tell."""
        wide, place = grid.around(kept)
        wholes = list(wide.boxes()) if wide is not grid else []
        pairs = ((box, wholes[at] if wholes else box) for box, at in zip(grid.boxes(), place.tolist(), strict=True))
        found = [self.covariance(box, whole) for box, whole in pairs]
        return withheld(*found) or np.array(found, dtype=np.float64).reshape(grid.shape)

    def covariances(self, ones: list[Box], others: list[Box]) -> "Floats | Withheld":
        """The covariance of each of some totals with each of some others."""
        found = [self.covariance(one, other) for one in ones for other in others]
        return withheld(*found) or np.array(found, dtype=np.float64).reshape(len(ones), len(others))

    def among(self, grid: Grid) -> "Floats | Withheld":
        """The covariances of the totals of a grid, each with each other."""
        boxes = list(grid.boxes())
        return self.covariances(boxes, boxes)

    def times(self, cells: Floats) -> Floats:  # noqa: ARG002 - a step that needs it asks for what can tell it
        """The covariance of every cell with a weighted sum of all."""
        raise TypeError(f"{type(self).__name__} does not tell the covariance of single cells with weighted sums.")

    @property
    def weights(self) -> tuple[NDArray[Any], float] | None:
        """A weight for every cell and a scale, whose product is its variance, where each has noise of its own."""
        return None

    def law(self, grid: Grid) -> ErrorLaw:  # noqa: ARG002 - the same for all totals, for most
        """The law of the errors of the totals of a grid, in steps; normal where nothing else is known."""
        return NormalError(step=1.0)


class Uncertainty(ABC):
    """What a release states of the joint error of one product."""

    kind: ClassVar[str]
    of_families: ClassVar[bool] = False
    """Whether it can be the error of many tables that agree, whose cells share noise."""

    @abstractmethod
    def over(self, domain: Domain, values: Integers) -> Errors:
        """The errors of the totals of a product."""

    @abstractmethod
    def in_steps(self, unit: float) -> "Uncertainty":
        """The same where a step is so many of the new ones."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """What the manifest says."""

    @classmethod
    @abstractmethod
    def read(cls, written: Mapping[str, Any], source: StatedIn) -> "Uncertainty":
        """What a manifest says, with the columns of the product's file."""

    def refuse_unfit(self, domain: Domain, values: Integers) -> None:
        """Say so where it cannot be the error of such cells; those of a table that is listed have one law each."""
        if values.size != domain.size:
            raise ReleaseError(f"The manifest states a '{self.kind}' error of cells that are not laid out.")

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """What stands beside the values in the file of the product."""
        return {}

    @property
    def even(self) -> float | None:
        """The variance of any one cell, where each has noise of its own and of the same law; else nothing."""
        return None

    @property
    def follows(self) -> bool:
        """Whether it is taken at the values of its product, so that it is another under values that were moved."""
        return False

    def settled(self, sizes: Floats) -> "Uncertainty | None":  # noqa: ARG002 - most follow no draws
        """Where variances follow the draws, so that low ones would be trusted most: those at sizes that do not."""
        return None

    @property
    def trend(self) -> Trend | None:
        """The variance that noise would have at other sizes, where every value has noise of its own; else nothing."""
        return None

    @property
    def drawn(self) -> Floats | None:
        """The variances as drawn, where they are known apart from sizes."""
        return None

    def at(self, sizes: Sizes, unit: float = 1.0) -> Floats | None:
        """The variance that values of other sizes are expected to have, these in units that a step is so many of."""
        return None if self.trend is None else self.trend.in_steps(unit).at(sizes, np.zeros(1))

    def alone(self, values: Integers, rows: slice) -> Floats | None:
        """The variance that each of some values was measured with, before it was moved to others."""
        return self.at(values[rows].astype(np.float64)) if self.drawn is None else self.drawn[rows]

    def fit(self, domain: Domain) -> Fit | None:  # noqa: ARG002 - most were moved to nothing
        """The equations by which values were moved to totals, where they can be solved for other draws."""
        return None

    def roots(self, values: Integers) -> tuple[Floats, float] | None:  # noqa: ARG002 - most have noise on the values
        """Where noise is on the square root of values: the noisy roots, and its standard deviation; else nothing."""
        return None


@dataclass(frozen=True)
class Withheld(Uncertainty, Errors):
    """An error that cannot be stated, as stating it would leak; the reason stands where the number would.

    `of_cell` is what can be told of one cell as it was measured all the same; it holds for no sum of several.

    >>> 4 * Withheld("its scale is confidential") + 1
    Withheld(reason='its scale is confidential')
    """

    kind: ClassVar[str] = "withheld"
    of_families: ClassVar[bool] = True
    reason: str
    of_cell: str = field(default="", repr=False)

    @property
    def in_full(self) -> str:
        """The reason with what can be told of one cell as it was measured."""
        return "; ".join(filter(None, (self.reason, self.of_cell)))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "reason": self.reason} | ({"of_cell": self.of_cell} if self.of_cell else {})

    @classmethod
    def read(cls, written: Mapping[str, Any], source: StatedIn) -> "Withheld":  # noqa: ARG003 - all is in the manifest
        return cls(str(written["reason"]), str(written.get("of_cell", "")))

    def refuse_unfit(self, domain: Domain, values: Integers) -> None:
        """It may be the error of whatever there is."""

    def _same(self, *_: object) -> "Withheld":
        return self

    over = in_steps = covariance = with_whole = covariances = _same  # type: ignore[assignment]
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _same
    reshape = _same
    __array_ufunc__ = None  # so that an array of numbers leaves arithmetic with it to it


def stated(error: "Number | Withheld") -> Number | None:
    """The number, or nothing where it is withheld."""
    return None if isinstance(error, Withheld) else error


def withheld(*errors: object) -> Withheld | None:
    """The first of some errors that is withheld, if one is."""
    return next((one for one in errors if isinstance(one, Withheld)), None)


def amount(written: Any, most: float = LARGEST_NUMBER) -> float:
    """A variance, slope or chance as a manifest states it; what none can be is refused before it is computed with."""
    found = number(written, 0, most)
    if 0 < found < 1 / LARGEST_NUMBER:
        raise ReleaseError("The manifest states an error that none can be; it was edited, or is not one of ours.")
    return found


def refuse_unknown(by: By, domain: Domain) -> None:
    """Say so where controls are by what the cells do not tell apart."""
    known = {attribute.name: attribute.levels.depth for attribute in domain.attributes}
    for level in by:
        if level.name not in known or not 0 <= (level.depth or 0) <= known[level.name]:
            raise ReleaseError(f"The manifest states an error with controls by '{level}', which its cells are not by.")


def not_below(column: NDArray[Any], name: str) -> NDArray[Any]:
    """A column of variances or sizes, none of which is below 0."""
    if column.size and column.min() < 0:
        raise ReleaseError(f"A column '{name}' of the release goes below 0; it was edited, or is not one of ours.")
    return column


def read_uncertainty(written: Mapping[str, Any], source: StatedIn) -> Uncertainty:
    """The uncertainty that a manifest states; of a kind that nobody wrote it is refused."""
    if not isinstance(written, Mapping):
        raise ReleaseError("The manifest states an uncertainty that is none; it was edited, or is not one of ours.")
    known, kind = found(import_module(__package__), by="kind"), str(written.get("kind"))
    if kind not in known:
        raise ReleaseError(
            f"The manifest states an uncertainty of kind '{kind}', which this version does not know; update Sfumato."
        )
    stated: Uncertainty = type(known[kind]).read(written, source)
    return stated


EXAMPLE = Withheld("its scale follows a confidential size", "where that is 100, 9 of 10 cells lie within 20")

"""Departures: the error of a total as how far it lies from others like it, one column each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ReleaseError
from sfumato.release.noisy import Floats, Integers
from sfumato.release.uncertainties.uncertainty import Errors, StatedIn, Uncertainty
from sfumato.release.written import number
from sfumato.schema import Box, Domain, Grid

MOST_COLUMNS = 10_000
"""More replicates than any survey has."""


@dataclass(frozen=True, eq=False)
class Departures(Uncertainty):
    """The covariance of two totals is the sum, over columns, of what each column sums to in the one and in the other.

    The last column is how far the values themselves were moved.
    """

    kind: ClassVar[str] = "departures"
    departures: Floats
    """On the last axis the columns; the other axes are those of the values."""

    @classmethod
    def of(cls, columns: Mapping[str, NDArray[Any]]) -> "Departures":
        """The departures that stand in columns beside the values."""
        names = [_name(place) for place in range(len(columns))]
        if not columns or set(names) != set(columns):
            raise ReleaseError("The error of this product is not told by departures.")
        return cls(np.stack([np.asarray(columns[name], dtype=np.float64) for name in names], axis=-1))

    def moved(self, by: NDArray[Any]) -> "Departures":
        """The same of values that were moved further."""
        last = self.departures[..., -1] + by
        return Departures(np.concatenate([self.departures[..., :-1], last[..., None]], axis=-1))

    def over(self, domain: Domain, values: Integers) -> Errors:
        return Departed(domain, self.departures.reshape(*values.shape, -1))

    def in_steps(self, unit: float) -> "Departures":
        return Departures(self.departures * unit)

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        return {_name(place): column for place, column in enumerate(np.moveaxis(self.departures, -1, 0))}

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "columns": self.departures.shape[-1]}

    @classmethod
    def read(cls, written: Mapping[str, Any], source: StatedIn) -> "Departures":
        return cls.of(
            {name: source.column(name) for name in map(_name, range(int(number(written["columns"], 1, MOST_COLUMNS))))}
        )


def _name(place: int) -> str:
    return f"departure{place}"


@dataclass(frozen=True, eq=False)
class Departed(Errors):
    """What every column sums to in boxes, and the products of these sums."""

    at_once: ClassVar[bool] = True
    domain: Domain
    departures: Floats

    def _sums(self, grid: Grid) -> Floats:
        """Of every box of a grid, and on a last axis of every column."""
        columns = np.moveaxis(self.departures, -1, 0)
        return np.stack([self.domain.totals(np.ascontiguousarray(column), grid) for column in columns], axis=-1)

    def covariance(self, one: Box, other: Box) -> float:
        return float((self._sums(Grid((), one)) * self._sums(Grid((), other))).sum())

    def with_whole(self, grid: Grid, kept: tuple[str, ...]) -> Floats:
        wide, place = grid.around(kept)
        columns = self.departures.shape[-1]
        wholes = self._sums(wide).reshape(-1, columns)[place]
        return np.asarray((self._sums(grid).reshape(-1, columns) * wholes).sum(axis=-1).reshape(grid.shape))

    def covariances(self, ones: list[Box], others: list[Box]) -> Floats:
        first, second = (np.array([self._sums(Grid((), box)) for box in boxes]) for boxes in (ones, others))
        return np.asarray(first @ second.T)


EXAMPLE = Departures(np.stack([np.linspace(1.0, 3.0, 12), np.linspace(-1.0, 0.5, 12)], axis=-1))

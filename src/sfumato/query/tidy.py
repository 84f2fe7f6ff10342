"""Tidy: one line a cell, its codes and labels beside the estimate and all of its errors; every download starts here."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.query.axis import Axis
from sfumato.query.columns import Columns, listed


def places(shape: Sequence[int]) -> list[NDArray[np.intp]]:
    """For each axis the place of every cell on it, the last axis running fastest."""
    return [one.ravel() for one in np.indices(tuple(shape), dtype=np.intp)] if len(shape) else []


def records_of(axes: Sequence[Axis], columns: Columns) -> list[dict[str, Any]]:
    """One record a cell, None where an error is withheld."""
    found: dict[str, list[Any]] = {}
    for axis, place in zip(axes, places([len(axis.codes) for axis in axes]), strict=True):
        found[axis.attribute.name] = [axis.codes[one] for one in place]
        found[f"{axis.attribute.name}_label"] = [axis.labels[one] for one in place]
    found |= {name: listed(values) for name, values in columns.arrays().items()}
    return [dict(zip(found, line, strict=True)) for line in zip(*found.values(), strict=True)]


def arrow_of(axes: Sequence[Axis], columns: Columns) -> Any:
    """The same as an Arrow table, null where an error is withheld."""
    import pyarrow as pa

    found: dict[str, Any] = {}
    for axis, place in zip(axes, places([len(axis.codes) for axis in axes]), strict=True):
        found[axis.attribute.name] = pa.array(axis.codes, pa.string()).take(pa.array(place))
        found[f"{axis.attribute.name}_label"] = pa.array(axis.labels, pa.string()).take(pa.array(place))
    for name, values in columns.arrays().items():
        floating = values.dtype.kind == "f"
        found[name] = pa.array(values, mask=np.isnan(values)) if floating else pa.array(values.tolist())
    return pa.table(found)


class Tidy:
    """Whatever has axes and columns can be taken along."""

    axes: tuple[Axis, ...]

    def columns(self) -> Columns:
        """Every cell at once, as arrays."""
        raise NotImplementedError

    def records(self) -> list[dict[str, Any]]:
        """One record a cell: codes, labels, estimate and errors."""
        return records_of(self.axes, self.columns())

    def to_arrow(self) -> Any:
        return arrow_of(self.axes, self.columns())

    def to_pandas(self) -> Any:
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        import polars as pl

        return pl.from_arrow(self.to_arrow())

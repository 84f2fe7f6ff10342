"""Crosstab: a table of estimates with its axes, to look at, index, compare and take along."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import product as combinations
from typing import TYPE_CHECKING, Any

from sfumato.errors import QueryError
from sfumato.query.axis import Axis
from sfumato.query.comparison import Comparison
from sfumato.query.estimate import Estimate
from sfumato.query.ranks import rank_intervals
from sfumato.release import Product, Withheld
from sfumato.schema import Box, Grid

if TYPE_CHECKING:
    from sfumato.query.engine import QueryEngine

Key = str | int | tuple[str | int, ...]


class Crosstab:
    """Estimates over the axes of a table; a cell is found by the labels or codes of its row and column."""

    def __init__(
        self,
        engine: "QueryEngine",
        product: Product,
        axes: tuple[Axis, ...],
        grid: Grid,
        where: Mapping[str, Any],
        *,
        has_columns: bool,
    ) -> None:
        self._engine, self.product, self.axes, self._grid = engine, product, axes, grid
        self.where, self.has_columns = where, has_columns
        self.totals = product.totals(grid).reshape(grid.shape)
        variances = product.variances(grid)
        self.variances = variances if isinstance(variances, Withheld) else variances.reshape(grid.shape)

    @property
    def title(self) -> str:
        by = ", ".join(axis.attribute.label for axis in self.axes)
        return f"{self.product.subject.title} by {by}" if by else self.product.subject.title

    @property
    def shape(self) -> tuple[int, ...]:
        return self._grid.shape

    @cached_property
    def _boxes(self) -> list[Box]:
        return list(self._grid.boxes())

    def _flat(self, place: tuple[int, ...]) -> int:
        flat = 0
        for index, length in zip(place, self.shape, strict=True):
            flat = flat * length + index
        return flat

    def at(self, place: tuple[int, ...]) -> Estimate:
        """The estimate at a place counted from 0 on each axis."""
        variance = self.variances if isinstance(self.variances, Withheld) else float(self.variances[place])
        cells = self.product.cells(self._boxes[self._flat(place)])
        return self._engine.estimate(self.product, int(self.totals[place]), variance, cells)

    def __getitem__(self, key: Key) -> Estimate:
        return self.at(self._place(key))

    def _place(self, key: Key) -> tuple[int, ...]:
        names = key if isinstance(key, tuple) else (key,)
        if len(names) != len(self.axes):
            wanted = ", ".join(axis.attribute.label for axis in self.axes)
            raise QueryError(f"A cell of this table is named by {len(self.axes)} labels ({wanted}); got {len(names)}.")
        return tuple(axis.place(name) for axis, name in zip(self.axes, names, strict=True))

    def items(self) -> Iterator[tuple[tuple[str, ...], Estimate]]:
        """Every cell: its codes and its estimate, the last axis running fastest."""
        for place in combinations(*(range(length) for length in self.shape)):
            yield tuple(axis.codes[index] for axis, index in zip(self.axes, place, strict=True)), self.at(place)

    def compare(self, one: Key, other: Key) -> Comparison:
        """Whether two cells really differ."""
        return self._difference(self._place(one), self._place(other))

    def _difference(self, one: tuple[int, ...], other: tuple[int, ...]) -> Comparison:
        return self._engine.difference(self.product, self._boxes[self._flat(one)], self._boxes[self._flat(other)])

    def ranks(self, column: str | int | None = None, level: float = 0.90) -> dict[str, tuple[int, int]]:
        """For each row the ranks, 1 the largest, that hold its true one with this probability."""
        rest = () if len(self.axes) == 1 else self._rest(column)
        places = [(row, *rest) for row in range(self.shape[0])]

        def variance_of_difference(one: int, other: int) -> float:
            variance = self._difference(places[one], places[other]).variance
            if isinstance(variance, Withheld):
                raise QueryError(f"Ranks cannot be stated: {variance.reason}")
            return variance

        values, step = [self.at(place).value for place in places], float(self.product.subject.step)
        found = rank_intervals(values, variance_of_difference, level, step)
        return dict(zip(self.axes[0].codes, found, strict=True))

    def _rest(self, column: str | int | None) -> tuple[int, ...]:
        if column is None or len(self.axes) > 2:
            raise QueryError("Ranks are of the rows of one column: name the column of a table with rows and columns.")
        return (self.axes[1].place(column),)

    def records(self) -> list[dict[str, Any]]:
        """One record a cell, codes, labels, estimate and errors: the tidy form that every download starts from."""
        return [self._record(codes, estimate) for codes, estimate in self.items()]

    def _record(self, codes: tuple[str, ...], estimate: Estimate) -> dict[str, Any]:
        record: dict[str, Any] = {}
        for axis, code in zip(self.axes, codes, strict=True):
            record[axis.attribute.name] = code
            record[f"{axis.attribute.name}_label"] = axis.attribute.levels.label(code)
        errors = {
            "moe90": estimate.moe(),
            "se_noise": estimate.noise_se,
            "se_sampling": estimate.sampling_se,
            "cv": estimate.cv,
        }
        stated = {name: None if isinstance(value, Withheld) else value for name, value in errors.items()}
        return record | {"estimate": estimate.value} | stated | {"grade": estimate.grade, "cells": estimate.cells}

    def to_arrow(self) -> Any:
        import pyarrow as pa

        return pa.Table.from_pylist(self.records())

    def to_pandas(self) -> Any:
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        import polars as pl

        return pl.from_arrow(self.to_arrow())

    def __repr__(self) -> str:
        from sfumato.query.shown import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from sfumato.query.shown import as_html

        return as_html(self)

    def cite(self) -> str:
        return f"{self.title}. {self._engine.cite()}"

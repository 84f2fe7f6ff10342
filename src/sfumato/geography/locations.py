"""Locations: where units are, in whole metres from an origin, and the areas that each lies in."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.errors import DataError, PlanError, nearest

Integers = NDArray[np.int64]
FARTHEST = 50_000_000
"""In metres: no place on earth is farther from an origin than half way around."""


@dataclass(frozen=True)
class Located:
    """The columns of a file of locations: the unit's id, two of coordinates, and areas from the finest up."""

    id: str
    at: tuple[str, str]
    within: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        return [self.id, *self.at, *self.within]


@dataclass(frozen=True, eq=False)
class Locations:
    """One entry a unit: its id, metres east and north of an origin, and its area at each level, from the finest up."""

    id: str
    ids: Any
    points: NDArray[np.int32]
    areas: tuple[tuple[tuple[str, ...], Integers], ...]
    """At each level the codes, sorted, and the place of each unit's among them."""

    def __post_init__(self) -> None:
        if not len(self.ids):
            raise DataError("The file of locations holds no rows.")
        if self.ids.null_count or pc.count_distinct(self.ids).as_py() < len(self.ids):
            raise DataError(f"Column '{self.id}': some ids are missing or stand twice; a unit has one location.")

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def order(self) -> Integers:
        """The units by area, east, north and id: an order that says nothing but these, whatever that of the file."""
        place = self.ids.to_numpy() if pa.types.is_integer(self.ids.type) else _rank(self.ids)
        return np.asarray(np.lexsort((place, self.points[:, 1], self.points[:, 0], self.finest)), dtype=np.int64)

    @property
    def finest(self) -> Integers:
        """The place of each unit's finest area; all are in one where no areas are given."""
        return self.areas[0][1] if self.areas else np.zeros(len(self), dtype=np.int64)

    @cached_property
    def chains(self) -> list[tuple[str, ...]]:
        """For each finest area its code and the codes of those that it lies in, from the finest up."""
        if not self.areas:
            return [()]
        (codes, place), *coarser = self.areas
        found: list[tuple[str, ...]] = [(code,) for code in codes]
        for upper, its in coarser:
            above = np.full(len(codes), -1, dtype=np.int64)
            above[place] = its
            if len(astray := np.flatnonzero(above[place] != its)):
                code = codes[int(place[astray[0]])]
                raise DataError(f"'{code}' lies in two areas of one level; an area lies in one of the next.")
            found = [(*chain, upper[at]) for chain, at in zip(found, above, strict=True)]
        return found

    @property
    def in_order(self) -> list[int]:
        """The finest areas by the coarsest that they lie in, then by the next."""
        return sorted(range(len(self.chains)), key=lambda place: self.chains[place][::-1])


def _rank(ids: Any) -> Integers:
    rank = np.empty(len(ids), dtype=np.int64)
    rank[pc.sort_indices(ids).to_numpy()] = np.arange(len(ids))
    return rank


def read_locations(path: Path, columns: Located, origin: tuple[float, float] | None = None) -> Locations:
    """The locations in a Parquet or CSV file: metres as they are, or degrees north and east, taken from an origin."""
    table = _table(path, columns)
    points = _metres(table, columns.at, origin)
    areas = tuple(_coded(table.column(name), name) for name in columns.within)
    return Locations(columns.id, table.column(columns.id).combine_chunks(), points, areas)


def _table(path: Path, columns: Located) -> pa.Table:
    from pyarrow import csv, parquet

    text = path.suffix.lower() not in {".parquet", ".pq"}
    try:
        if text:
            kinds = csv.ConvertOptions(column_types=dict.fromkeys(columns.within, pa.string()))
            table = csv.read_csv(path, convert_options=kinds)
        else:
            table = parquet.read_table(path)
    except (OSError, pa.ArrowInvalid, UnicodeDecodeError):
        raise DataError(f"{path} cannot be read; locations are a Parquet file, or CSV with a header.") from None
    for name in columns.names:
        if name not in table.column_names:
            raise DataError(f"{path} has no column '{name}'; {nearest(name, table.column_names)}")
    return table.select(list(dict.fromkeys(columns.names)))


def _metres(table: pa.Table, at: Sequence[str], origin: tuple[float, float] | None) -> NDArray[np.int32]:
    """Two columns as whole metres east and north."""
    try:
        first, second = (table.column(name).cast(pa.float64()).to_numpy() for name in at)
    except pa.ArrowInvalid:
        raise DataError(f"Columns {at[0]}, {at[1]}: some values are no numbers; a location is two of them.") from None
    sides = (first, second) if origin is None else metres_from(origin, first, second)
    for side in sides:
        if not np.isfinite(side).all() or (abs(side) > FARTHEST).any():
            raise DataError(
                f"Columns {at[0]}, {at[1]}: some locations are missing or nowhere on earth; leave such units out, or "
                "give them the middle of their area."
            )
    return np.column_stack([np.floor(side + 0.5).astype(np.int32) for side in sides])


def metres_from(origin: tuple[float, float], north: Any, east: Any) -> tuple[Any, Any]:
    """Metres east and north of an origin, of degrees north and east: distances and directions from it are true."""
    from pyproj import Proj

    found: tuple[Any, Any] = Proj(from_origin(origin))(east, north)
    return found


def from_origin(origin: tuple[float, float]) -> str:
    """The plane of metres east and north of an origin, as PROJ writes it.

    >>> from_origin((52.0, 10.0))
    '+proj=aeqd +lat_0=52.0 +lon_0=10.0 +units=m +type=crs'
    """
    if not (-90 <= origin[0] <= 90 and -180 <= origin[1] <= 180):
        raise PlanError(f"The origin {origin[0]:g},{origin[1]:g} is no latitude and longitude; for example 52,10.")
    return f"+proj=aeqd +lat_0={origin[0]!r} +lon_0={origin[1]!r} +units=m +type=crs"


def _coded(column: Any, name: str) -> tuple[tuple[str, ...], Integers]:
    """The codes of a column, sorted, and the place of each row's."""
    texts = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(texts.type):
        texts = texts.cast(pa.string()) if not pa.types.is_string(texts.type.value_type) else texts
    else:
        texts = texts.cast(pa.string()).dictionary_encode()
    if texts.null_count:
        raise DataError(f"Column '{name}': some are missing; every location lies in an area.")
    listed = texts.dictionary.to_pylist()
    codes = tuple(sorted(set(listed)))
    place = {code: number for number, code in enumerate(codes)}
    turned = np.array([place[code] for code in listed], dtype=np.int32)
    return codes, turned[texts.indices.to_numpy()]

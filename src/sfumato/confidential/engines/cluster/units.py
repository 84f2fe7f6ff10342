"""Units: records in the cluster as leaves, steps and names, of crowded units the rows that `crowded` keeps.

A digest is of leaves, which are found here: every value that a column has, as it stands, is lent to the cluster with
its leaf. So is the salt: what stands in a query is logged.
"""
# ruff: noqa: S608 - tables and columns are numbered here; no name or value of the data stands in a query

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.confidential.engines.cluster import dialect
from sfumato.confidential.engines.cluster.crowds import DROPPED, TOGETHER, Crowds
from sfumato.confidential.engines.cluster.foreseen import Values, retold
from sfumato.confidential.engines.cluster.groups import MOST, RecordGroups
from sfumato.confidential.engines.cluster.meanings import combined
from sfumato.confidential.engines.queries.database import Database
from sfumato.confidential.engines.request import Reading
from sfumato.confidential.engines.row_aggregates import DIGITS, FOLDS, Runs
from sfumato.confidential.sealed import Sealed
from sfumato.errors import DataError
from sfumato.schema import Aggregate, Extremes, Largest, Sum, Units

Integers = NDArray[np.int64]
STANDING = " standing"
TOO_MANY = f"More than {MOST:,} groups would come here; read coarser levels."
LOST = "Some records have no leaf in the cluster; no cells are made of such data. Please report this."


class ClusterUnits(Sealed):
    """The records of all sources in which no rule is broken, with the names of their units."""

    def __init__(self, groups: RecordGroups, tables: Sequence[Values], salt: bytes) -> None:
        self._groups, self._reading, self._session = groups, groups.reading, groups.session
        self._meant = [[self._levels(table[column].unique(), column) for column in groups.keys] for table in tables]
        self._lent = [
            [(one.columns, self._session.lent(one.listed)) for one in combined(own, self._floats(place))]
            for place, own in enumerate(self._meant)
        ]
        self._crowds = Crowds(groups, groups.reading.truncation, salt) if groups.reading.truncation else None

    def _levels(self, apart: pa.Array, column: str) -> pa.Table:
        """What some values of a column mean: the leaf of each attribute, and the steps of each value, that read it.

        Values that mean nothing are left out.
        """
        attributes = [one for one in self._reading.attributes if one.column == column]
        values = [one for one in self._groups.whole if one.column == column]
        listed = pa.table({column: apart, STANDING: np.arange(len(apart))})
        reading = Reading(self._groups.plain_schema, tuple(attributes), tuple(map(Sum, values)))
        database = Database([listed], reading, [STANDING])
        database.code()
        found = database.session.columns(f"SELECT {', '.join(database.coded)} FROM coded ORDER BY standing")
        database.session.close()
        leaves = [f"leaf{self._reading.attributes.index(one)}" for one in attributes]
        steps = [f"value{self._reading.values.index(one)}" for one in values]
        meant = np.all([np.asarray(one) >= 0 for one in found[: len(leaves)]], axis=0) if leaves else None
        levels = pa.table({"raw": apart, **dict(zip([*leaves, *steps], found, strict=True))})
        return levels if meant is None else levels.filter(meant)

    @cached_property
    def records(self) -> Any:
        """All records that count, as whole numbers and names."""
        if self._crowds:
            return self._crowds.kept(self._named(self._crowds))
        return self._told([self._groups.coded(place, self._groups.names(place)) for place in range(len(self._lent))])

    def _named(self, crowds: Crowds) -> Any:
        """All records, each with that by which its unit comes together."""
        return self._told([crowds.coded(place) for place in range(len(self._lent))], [TOGETHER])

    def _told(self, coded: Sequence[Any], more: Sequence[str] = ()) -> Any:
        """The records of all sources as whole numbers and names, and more of their columns."""
        chosen = [*self._groups.said, *map(self._groups.name, self._reading.names), *more]
        return self._session.together([self._translated(place, one).select(*chosen) for place, one in enumerate(coded)])

    def _translated(self, place: int, frame: Any) -> Any:
        """The records of a source with the leaves and steps that were lent for what they say."""
        found, floats = frame, self._floats(place)
        for columns, told in self._lent[place]:
            if columns[0] in floats:
                # Floats once by the equality of the join, in which 0 is -0, so that no record is doubled.
                (index,) = columns
                once = told.dropDuplicates([f"raw{index}"])
                found = found.join(once, found[f"k{index}"].eqNullSafe(once[f"raw{index}"]), "left").drop(f"raw{index}")
            else:
                found = self._session.looked_up(found, {f"k{index}": f"raw{index}" for index in columns}, told)
        return found

    def _floats(self, place: int) -> list[int]:
        """The columns of a source, by their places, that hold floats."""
        kinds = self._groups.kinds[place]
        return [index for index, column in enumerate(self._groups.keys) if kinds[column] in dialect.FLOATS]

    def dropped(self) -> pa.Table | None:
        """The groups of the records that crowded units do not keep; none where all records count."""
        return self._grouped(self._crowds.dropped(self._named(self._crowds))) if self._crowds else None

    def grouped(self) -> pa.Table:
        """The groups of the records that count, by leaves and by the values that are not summed there."""
        return self._grouped(self.records)

    def once(self) -> tuple[pa.Table, pa.Table | None] | None:
        """Of one reading the groups of all records by what was foreseen, and by leaves of those that are dropped.

        Of those that are kept, where what is dropped cannot be taken off. Nothing where a record lacks a name or a
        value, or says what was not foreseen.
        """
        most, refusal = (2 * MOST, TOO_MANY) if self._crowds else (MOST, self._groups.too_many)
        told = self._session.table(self._foretold, most, refusal)
        lacking = [one for one in told.column_names if one.startswith("lacking")]
        if any(one.null_count for one in told.columns) or any(told[one].to_numpy().any() for one in lacking):
            return None
        meant = dict(zip(self._groups.keys, self._meant[0], strict=True))
        if not self._crowds:
            return retold(told, meant, self._groups.carried), None
        dropped = told[DROPPED].to_numpy()
        kept = told.filter(pa.array(~dropped))
        every, other = (kept, told.filter(pa.array(dropped))) if self.takes_off else (told, kept)
        return retold(every, meant, self._groups.carried), other.drop_columns([DROPPED])

    @property
    def _foretold(self) -> Any:
        """The groups of all records by their leaves, null where a record has none."""
        sums, leaves = self._groups.sums(self._groups.stepped), self._groups.leaves
        if self._crowds:
            return self._crowds.summed(self._named(self._crowds), sums, doubled=self.takes_off)
        numbers = [f"{term} AS {name}" for name, term in leaves.numbers.items()]
        values = self._groups.said[len(leaves.extents) :]
        keyed = self._told([self._groups.coded(0)]).selectExpr(*numbers, *values)
        opened = [f"{term} AS {name}" for name, term in leaves.columns.items()]
        return self._session.summed(keyed, [*leaves.numbers], sums).selectExpr(*opened, *sums)

    @property
    def takes_off(self) -> bool:
        """Whether groups without the dropped records are had by taking these off: of extremes they are not."""
        return not any(isinstance(one, Extremes) for one in self._reading.aggregates)

    def _grouped(self, records: Any) -> pa.Table:
        leaves = [one for one in self._groups.said if one.startswith("leaf")]
        whole = {f"value{self._reading.values.index(one)}": f"value{at}" for at, one in enumerate(self._groups.whole)}
        keys, sums = [*leaves, *whole], self._groups.sums(self._groups.stepped)
        grouped = self._session.summed(records, keys, sums)
        table = self._session.table(grouped, MOST, TOO_MANY)
        if any(table[key].null_count for key in keys):
            raise DataError(LOST)
        return table.rename_columns([*leaves, *whole.values(), *sums])

    def over(self, cell: str, inside: str, one: Aggregate) -> tuple[Integers, Any]:
        """The cells of a number with records of a condition, rising, and an aggregate that tells their units apart."""
        (unit,) = (self._groups.name(self._reading.named(per)) for per in one.names)
        values = [f"CAST(value{self._reading.values.index(value)} AS DECIMAL(20,0))" for value in one.values]
        amount = f"CAST(sum({values[0]}) AS BIGINT)" if values else "count(*)"
        rows = self.records.where(inside) if inside else self.records
        apart = self._session.summed(
            rows.selectExpr("*", f"{cell} AS cell", f"{unit} AS unit"), ["cell", "unit"], {"amount": amount}
        )
        if isinstance(one, Units):
            cells, units = self._integers(self._session.summed(apart, ["cell"], {"units": "count(*)"}))
            return cells, units
        if isinstance(one, Largest):
            turn = "row_number() OVER (PARTITION BY cell ORDER BY abs(amount) DESC) AS turn"
            apart = apart.selectExpr("*", turn).where(f"turn <= {one.k}")
        chosen = apart.selectExpr("cell", "amount", f"{dialect.short_digest('unit', DIGITS)} AS digest")
        cells, amounts, digests = self._integers(chosen)
        found, first, lengths = np.unique(cells, return_index=True, return_counts=True)
        units = np.arange(len(cells))
        runs = Runs(first, lengths, lambda _: amounts, lambda _: units, lambda _: digests, amounts)
        return found, FOLDS[type(one)](runs, one)

    def crowds(self, column: str, at_most: int, most: int) -> tuple[int, list[tuple[str, int]]]:
        """How many records are of names that stand in more than so many, and those in most."""
        counted = self._session.summed(self.records, [self._groups.name(column)], {"standing": "count(*)"})
        crowded = counted.where(f"standing > {at_most}")
        ((rows,),) = self._session.rows(self._session.summed(crowded, [], {"rows": "coalesce(sum(standing), 0)"}))
        few = crowded.selectExpr(f"{self._groups.name(column)} AS name", "standing", "-standing AS falling")
        return int(rows), [
            (name, many) for name, many, _ in self._session.rows(few.sort("falling", "name").limit(most))
        ]

    def _integers(self, frame: Any) -> list[Integers]:
        """The columns of a frame as whole numbers, in the order of the first."""
        refusal = f"Units are in more than {MOST:,} cells, each of which would come here; measure at a coarser level."
        table = self._session.table(frame, MOST, refusal)
        columns = [column.to_numpy().astype(np.int64, copy=False) for column in table.columns]
        order = np.argsort(columns[0], kind="stable")
        return [column[order] for column in columns]

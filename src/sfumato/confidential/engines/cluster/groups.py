"""Groups: equal records counted and summed in the cluster; what each group means is found here, as by DuckDB.

A group is all records of one source that say the same in every column of codes. So codes, missing levels, rules and the
words of faults have one implementation, and of records no more comes here than how many say the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import Any

import pyarrow as pa

from sfumato.confidential.engines.cluster import dialect
from sfumato.confidential.engines.cluster.counted import COUNTED
from sfumato.confidential.engines.cluster.packed import Packed
from sfumato.confidential.engines.cluster.session import ClusterSession
from sfumato.confidential.engines.queries.database import refuse_mixed
from sfumato.confidential.engines.request import Reading, Wanted
from sfumato.confidential.sealed import Sealed
from sfumato.errors import DataError
from sfumato.schema import Attribute, Bands, Clipped, Extremes, InSteps, Reported, Schema, SumOfProducts, Table

MOST = 20_000_000
"""The most groups that are fetched: some GB of this machine."""
LARGEST_SHORT = 90_000_000
"""The largest value in steps of which 10^11 records are surely summed in 64 bits; others take longer."""
Kinds = Mapping[str, str]


class RecordGroups(Sealed):
    """The sources of one reading in a cluster, and how their records are grouped."""

    def __init__(self, session: ClusterSession, reading: Reading) -> None:
        self.session, self.reading, self.kinds = session, reading, kinds_of(session, reading)
        for column in self.named:
            refuse_mixed(column, [dialect.name_kind(kinds[column]) for kinds in self.kinds])
        for value in reading.values:
            if not isinstance(value, Clipped | Reported):
                raise DataError(f"Spark does not read {type(value).__name__} of '{value.column}'; it clips values.")
            if isinstance(value, Reported) and value not in self.stepped:
                refuse_unnumbered(value.column, [kinds[value.column] for kinds in self.kinds], "totalled as it stands")

    @cached_property
    def stepped(self) -> tuple[InSteps, ...]:
        """The values that become steps in the cluster: numbers in every source."""
        return tuple(
            one for one in self.reading.values if all(dialect.is_number(kinds[one.column]) for kinds in self.kinds)
        )

    @cached_property
    def whole(self) -> tuple[InSteps, ...]:
        """The values by which records are grouped as they stand, which become steps here."""
        return tuple(one for one in self.reading.values if one not in self.stepped)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The columns by which records are grouped."""
        read = [*(one.column for one in self.reading.attributes), *(one.column for one in self.whole)]
        return tuple(dict.fromkeys(read))

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The columns that name records and units, each once."""
        return tuple(dict.fromkeys([*self.reading.schema.key, *self.reading.names]))

    @cached_property
    def said(self) -> tuple[str, ...]:
        """What a record says, as whole numbers: its leaves and its values."""
        leaves = [f"leaf{place}" for place in range(len(self.reading.attributes))]
        return (*leaves, *(f"value{place}" for place in range(len(self.reading.values))))

    @cached_property
    def leaves(self) -> Packed:
        """The leaves of a record in one number, which Spark groups by sooner than by texts."""
        shape = Table(self.reading.attributes).shape
        return Packed({f"leaf{place}": (0, many) for place, many in enumerate(shape)})

    def name(self, column: str) -> str:
        """What the column of names is called."""
        return f"name{self.named.index(column)}"

    def names(self, place: int) -> dict[str, str]:
        """The names in a source, `name0`, …: texts, null where there is none."""
        return {
            f"name{index}": dialect.unit(column, self.kinds[place][column]) for index, column in enumerate(self.named)
        }

    def _looked_at(self, place: int) -> dict[str, str]:
        """The names in a source as far as it is asked whether there is one: a whole number need not become a text."""
        kinds = [self.kinds[place][column] for column in self.named]
        whole = {
            self.name(column): dialect.quoted(column)
            for column, kind in zip(self.named, kinds, strict=True)
            if kind in dialect.WHOLE
        }
        return self.names(place) | whole

    @cached_property
    def _alone(self) -> dict[str, Attribute]:
        """The columns that are read for one attribute and for nothing else, each with it."""
        columns = [*(one.column for one in self.reading.attributes), *(one.column for one in self.whole)]
        return {one.column: one for one in self.reading.attributes if columns.count(one.column) == 1}

    def coded(self, place: int, more: Mapping[str, str] = {}) -> Any:
        """The records of a source: `k0`, … by which they are grouped, `value0`, … in steps, and more."""
        kinds, frame = self.kinds[place], self.session.frames[place]
        chosen = {f"k{index}": self._code(column, kinds) for index, column in enumerate(self.keys)} | dict(more)
        turns: list[dict[str, str]] = [{}, {}, {}]
        for value in self.stepped:
            assert isinstance(value, Clipped | Reported)  # noqa: S101 - others were refused
            called = f"value{self.reading.values.index(value)}"
            terms = dialect.steps(dialect.quoted(value.column), kinds[value.column], value, called)
            for turn, term in zip(turns, terms, strict=True):
                turn[called] = term
        chosen = chosen or {"nothing": "0"}
        for turn in turns:
            frame = frame.selectExpr(*(f"{term} AS {name}" for name, term in (chosen | turn).items()))
            chosen = {name: name for name in chosen}
        return frame

    def _code(self, column: str, kinds: Kinds) -> str:
        name, attribute = dialect.quoted(column), self._alone.get(column)
        return dialect.code(attribute, name, kinds[column]) if attribute else name

    def banded(self, column: str) -> Attribute | None:
        """The attribute of which records are grouped by the least value of their band."""
        attribute = self._alone.get(column)
        codes = {self._code(column, kinds) for kinds in self.kinds}
        return (
            attribute
            if isinstance(attribute and attribute.read, Bands) and dialect.quoted(column) not in codes
            else None
        )

    def sums(self, values: Sequence[InSteps]) -> dict[str, str]:
        """What is computed of every group, by what it is called."""
        found = {COUNTED.strip(): "count(*)"}
        for value in values:
            place = self.reading.values.index(value)
            named = f"value{place}"
            wide = not isinstance(value, Clipped) or max(map(abs, value.ends)) > LARGEST_SHORT
            found[f"sum{place}"] = f"sum({f'CAST({named} AS DECIMAL(20,0))' if wide else named})"
            found[f"lacking{place}"] = f"count_if({named} IS NULL)"
            if Extremes(value) in self.reading.aggregates:
                found |= {f"least{place}": f"min({named})", f"most{place}": f"max({named})"}
        return found | self._sums_of_products(values)

    def _sums_of_products(self, values: Sequence[InSteps]) -> dict[str, str]:
        """The sums of products of which both values become steps in the cluster."""
        products = [one for one in self.reading.aggregates if isinstance(one, SumOfProducts)]
        return {
            self.product(one): _sum_of_product(one, self.reading) for one in products if {one.x, one.y} <= {*values}
        }

    def product(self, aggregate: SumOfProducts) -> str:
        """What the sum of a product is called."""
        x, y = (self.reading.values.index(value) for value in (aggregate.x, aggregate.y))
        return f"product{x}_{y}"

    @property
    def _of_names(self) -> dict[str, str]:
        """How many records of a group lack a name, or have one that may be another in one more spelling."""
        found = {}
        for place, column in enumerate(self.named):
            name = f"name{place}"
            found[f"nameless{place}"] = f"count_if({name} IS NULL)"
            if self.worded(column):
                found[f"respelt{place}"] = f"count_if(NOT {name} <=> {dialect.spelling(name)})"
        return found

    def worded(self, column: str) -> bool:
        """Whether a column of names holds texts: a number is written in one way."""
        return any(dialect.name_kind(kinds[column]) != "number" for kinds in self.kinds)

    def fetched(
        self, place: int, more: Mapping[str, str] | None = None, sums: Mapping[str, str] | None = None
    ) -> pa.Table:
        """The groups of a source: its columns of codes, and counts and sums under names that no source has."""
        keys = [f"k{index}" for index in range(len(self.keys))]
        if sums is None:
            more, sums = self._looked_at(place), self.sums(self.stepped) | self._of_names
        counted = dict(sums) | ({} if keys else {"counted_": "count(*)"})
        grouped = self.session.summed(self.coded(place, more or {}), keys, counted)
        table = self.session.table(grouped, MOST, self.too_many)
        named = table.rename_columns([*self.keys, *(f" {name}" for name in counted)])
        if keys:
            return named
        # Without codes all records are one group, which is there even of none.
        return named.slice(0, int(named[" counted_"][0].as_py() > 0)).drop_columns([" counted_"])

    @property
    def too_many(self) -> str:
        """Why so many groups do not come here."""
        return (
            f"Records say so many different things in {', '.join(self.keys)} that more than {MOST:,} groups would come "
            "here; store codes, not texts that are free, and numbers as numbers, or read them in bands."
        )

    @property
    def plain_schema(self) -> Schema:
        """The schema without names, of which groups have none, and of one table."""
        return replace(self.reading.schema.flat, key=(), repeated_rows=True)

    @property
    def carried(self) -> tuple[str, ...]:
        return tuple(f" {name}" for name in self.sums(self.stepped) | self._of_names)


def _sum_of_product(aggregate: SumOfProducts, reading: Reading) -> str:
    """The sum of a product as SQL: in 64 bits where it surely fits, else in decimals of 38 digits."""
    x, y = (f"value{reading.values.index(value)}" for value in (aggregate.x, aggregate.y))
    ends = [max(map(abs, value.ends)) for value in (aggregate.x, aggregate.y) if isinstance(value, Clipped)]
    if len(ends) == 2 and prod(ends) <= LARGEST_SHORT:
        return f"sum({x} * {y})"
    return f"sum(CAST({x} AS DECIMAL(18,0)) * CAST({y} AS DECIMAL(18,0)))"


def kinds_of(session: ClusterSession, reading: Reading) -> list[Kinds]:
    """The columns that are read of every source, and the type of each; refused where one lacks or cannot be read."""
    wanted, found = Wanted(reading.columns), list[Kinds]()
    for place in range(len(session.frames)):
        what = f"Source {place + 1}" if len(session.frames) > 1 else "The table"
        columns, kinds = wanted.of(what, session.names(place)), session.kinds(place)
        for column in columns:
            dialect.refuse_foreign(column, kinds[column])
        found.append({column: kinds[column] for column in columns})
    return found


def refuse_unnumbered(column: str, kinds: Sequence[str], why: str) -> None:
    """Stop where a column that must be one of numbers is of another type."""
    if not all(map(dialect.is_number, kinds)):
        raise DataError(
            f"Column '{column}' is of the type {min(kinds)} in the cluster, and is {why}: store it as a number, or "
            "name a view that casts it to double."
        )


def looks_for_repeats(kinds: Sequence[Kinds], reading: Reading) -> bool:
    """Whether rows that stand in two sources are looked for; refused where they are not stored alike."""
    if len(kinds) < 2 or reading.schema.key or reading.schema.repeated_rows or not reading.columns:
        return False
    apart = [column for column in reading.columns if len({own[column] for own in kinds}) > 1]
    if apart:
        raise DataError(
            f"Column '{apart[0]}' is of several types in the sources, and rows may stand in two of them and count "
            "twice, which cannot be told so; store it alike, declare [data] key, or say [data] repeated_rows = true if "
            "such rows are different records."
        )
    return True

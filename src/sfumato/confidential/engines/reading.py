"""Reading: what an engine is asked to read of the microdata, and the faults that it may find in them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sfumato.errors import DataError
from sfumato.schema import Aggregate, Attribute, Box, Clipped, Schema, Table, Weighted


@dataclass(frozen=True)
class TableRequest:
    """One table that is asked: its cells, what is aggregated over them, and the universe."""

    table: Table
    aggregates: tuple[Aggregate, ...]
    universe: Box


@dataclass(frozen=True)
class Reading:
    """The attributes, aggregates, unit and key that a plan needs; known before any data are opened."""

    schema: Schema
    attributes: tuple[Attribute, ...]
    aggregates: tuple[Aggregate, ...]
    id: str | None
    at_most: int
    only: TableRequest | None = None  # the one table that is asked, where there is one: no record need be held

    @cached_property
    def values(self) -> tuple[Clipped, ...]:
        """What is read of a row in whole steps, each once."""
        return tuple(dict.fromkeys(value for one in self.aggregates for value in one.values))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns that name units: of the hidden unit, and of those that an aggregate tells apart; each once."""
        named = [self.id, *(self.named(name) for one in self.aggregates for name in one.names)]
        return tuple(dict.fromkeys(name for name in named if name))

    def named(self, per: str | None) -> str:
        """The column that names the units of an aggregate."""
        if per is None and self.id is None:
            raise DataError(
                "What is measured tells units apart, and no column names them; give [hidden] id, the column that does."
            )
        return per or str(self.id)

    @property
    def weighted(self) -> tuple[Weighted, ...]:
        return tuple(one for one in self.aggregates if isinstance(one, Weighted))

    @property
    def columns(self) -> list[str]:
        """The columns of the microdata that are read, each once."""
        named = [attribute.column for attribute in self.attributes] + [one.column for one in self.values]
        named += [name for name in (*self.names, self.schema.key) if name] + self._design
        return list(dict.fromkeys(named))

    @property
    def _design(self) -> list[str]:
        """The columns of the weights and of what is weighted, where something is."""
        if not self.weighted:
            return []
        design = [self.schema.weight, *self.schema.replicates, self.schema.order]
        return [name for name in (*design, *(one.column for one in self.weighted)) if name]


@dataclass(frozen=True)
class Fault:
    """A column and the rule that some of its values break; the query that lists the values stays with the engine."""

    column: str
    rule: str
    query: str = field(default="", repr=False)

    def __str__(self) -> str:
        return f"Column '{self.column}': {self.rule}"


def refuse_lacking(what: str, columns: Sequence[str], there: Sequence[str]) -> None:
    """Stop where a source lacks a column that the plan reads, or has it twice."""
    lacking = [column for column in columns if column not in there]
    if lacking:
        more = f" Lacking in all: {', '.join(lacking)}." if len(lacking) > 1 else ""
        # The columns that are there are not listed: without a header they would be the first record.
        raise DataError(
            f"{what} has no column '{lacking[0]}', which the plan reads; check how it is spelt there. "
            f"An attribute is read from another column with `from`, a total from its `column`.{more}"
        )
    for column in columns:
        if list(there).count(column) > 1:
            raise DataError(f"{what} has two columns '{column}'; which of them the plan means cannot be told.")

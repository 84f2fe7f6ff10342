"""Reading: what an engine is asked to read of the microdata, and the faults that it may find in them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sfumato.errors import DataError
from sfumato.schema import Aggregate, Attribute, Box, Schema, Sum, Table, Weighted


@dataclass(frozen=True)
class Question:
    """One table that is asked: its cells, what is aggregated over them, and the universe."""

    table: Table
    aggregates: tuple[Aggregate, ...]
    universe: Box


@dataclass(frozen=True)
class Reading:
    """The attributes, sums, unit and key that a plan needs; known before any data are opened."""

    schema: Schema
    attributes: tuple[Attribute, ...]
    sums: tuple[Sum, ...]
    id: str | None
    at_most: int
    weighted: tuple[Weighted, ...] = ()
    only: Question | None = None  # the one table that is asked, where there is one: no record need be held

    @property
    def columns(self) -> list[str]:
        """The columns of the microdata that are read, each once."""
        named = [attribute.column for attribute in self.attributes] + [one.column for one in self.sums]
        named += [name for name in (self.id, self.schema.key) if name] + self._design
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

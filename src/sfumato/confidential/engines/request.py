"""Reading: what an engine is asked to read of the microdata, and the faults that it may find in them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sfumato.errors import DataError
from sfumato.privacy import Truncate
from sfumato.schema import Aggregate, Attribute, Box, Frame, InSteps, Rule, Schema, Table, Weighted


@dataclass(frozen=True)
class TableRequest:
    """One table that is asked: its cells, what is aggregated over them, and the universe."""

    table: Table
    aggregates: tuple[Aggregate, ...]
    universe: Box

    def answers(self, asked: "TableRequest") -> bool:
        """Whether the cells of this one are those that are asked."""
        masks, others = asked.universe.masks, self.universe.masks
        same = masks.keys() == others.keys() and all((mask == others[name]).all() for name, mask in masks.items())
        return same and asked.table == self.table and set(asked.aggregates) <= {*self.aggregates}


@dataclass(frozen=True)
class Reading:
    """The attributes, aggregates, units and key that a plan needs; known before any data are opened."""

    schema: Schema
    attributes: tuple[Attribute, ...]
    aggregates: tuple[Aggregate, ...] = ()
    id: str | None = None
    truncation: Truncate | None = None
    only: TableRequest | None = None  # the one table that is asked, where there is one: no record need be held
    register: Frame | None = None  # the public list of units whose reports the records are
    owned: tuple[Attribute, ...] = ()  # those that are the hidden unit's own, the same in all of its records
    others: tuple[str, ...] = ()  # the columns that name somebody else, such as who holds a job
    tables: tuple[TableRequest, ...] = ()  # all that will be asked, as far as that is known

    @cached_property
    def values(self) -> tuple[InSteps, ...]:
        """What is read of a row in whole steps, each once."""
        return tuple(dict.fromkeys(value for one in self.aggregates for value in one.values))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns that name units: those that are truncated, reported on or told apart by an aggregate."""
        named = [self.truncation.column] if self.truncation else []
        named += [self.named(None)] if self.register else []
        named += [self.named(name) for one in self.aggregates for name in one.names]
        return tuple(dict.fromkeys(named))

    def named(self, per: str | None) -> str:
        """The column that names the units of an aggregate; the hidden unit's own where it says none."""
        if per is None and self.id is None:
            raise DataError(
                "What is measured tells units apart, and no column names them; give [hidden] id, the column that does."
            )
        return per or str(self.id)

    @property
    def weighted(self) -> tuple[Weighted, ...]:
        return tuple(one for one in self.aggregates if isinstance(one, Weighted))

    @property
    def weights(self) -> list[str]:
        """The columns of the weight and its replicates, where something is weighted; none in a census."""
        schema = self.schema
        return [schema.weight, *schema.replicates] if self.weighted and schema.weight else []

    @property
    def said(self) -> list[str]:
        """The columns of what a record says, beside its names, each once; and what tables are joined by."""
        return list(dict.fromkeys([*self._content, *self._design, *(partner.on for partner in self.schema.joined)]))

    @property
    def columns(self) -> list[str]:
        """The columns of the microdata that are read, each once."""
        return list(dict.fromkeys([*self._content, *self.names, *self.schema.key, *self._design]))

    @property
    def _content(self) -> list[str]:
        return [*(attribute.column for attribute in self.attributes), *(value.column for value in self.values)]

    @property
    def _design(self) -> list[str]:
        """The columns of weights, of their order, and of what is weighted."""
        named = [*self.weights, self.schema.order if self.weighted else None, *(one.column for one in self.weighted)]
        return [name for name in named if name]

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The combinations that cannot be, of those whose attributes are all read."""
        read = {attribute.name for attribute in self.attributes}
        return tuple(rule for rule in self.schema.impossible if read.issuperset(name for name, _ in rule.where))


@dataclass(frozen=True)
class Fault:
    """A column and the rule that some of its values break; the query that lists the values stays with the engine."""

    column: str
    rule: str
    query: str = field(default="", repr=False)

    def __str__(self) -> str:
        return f"Column '{self.column}': {self.rule}" if self.column else self.rule


@dataclass(frozen=True)
class Wanted:
    """The columns that are read of a source: all of these, or of a table among several those that it has.

    `encoding` is how the plan says that its letters are written; otherwise texts are UTF-8, and other files say it.
    """

    columns: Sequence[str]
    among_several: bool = False
    encoding: str | None = None

    def of(self, what: str, there: Sequence[str]) -> list[str]:
        """The wanted columns that are there; refused where one lacks, or stands twice."""
        lacking = [column for column in self.columns if column not in there]
        if lacking and not self.among_several:
            more = f" Lacking in all: {', '.join(lacking)}." if len(lacking) > 1 else ""
            # The columns that are there are not listed: without a header they would be the first record.
            raise DataError(
                f"{what} has no column '{lacking[0]}', which the plan reads; check how it is spelt there. "
                f"An attribute is read from another column with `from`, a total from its `column`.{more}"
            )
        for column in self.columns:
            if list(there).count(column) > 1:
                raise DataError(f"{what} has two columns '{column}'; which of them the plan means cannot be told.")
        return [column for column in self.columns if column in there]

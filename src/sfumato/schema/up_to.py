"""UpTo: which tables are asked for together, as a plan or a manifest writes it, and the family that they are."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

from sfumato.errors import PlanError
from sfumato.schema.attributes import Attribute
from sfumato.schema.family import Family
from sfumato.schema.level import Level
from sfumato.schema.schema import Schema
from sfumato.schema.table import Table

MOST_TABLES = 20_000
"""The most tables that a family may have, each of which is tabulated."""


@dataclass(frozen=True)
class UpTo:
    """All tables of up to so many of some attributes at a time, and some others: what `by` says of a family.

    >>> UpTo(2, ("a", "b", "c"), (("a", "b@0", "d"),)).names
    ('a', 'b', 'c', 'd')
    """

    up_to: int
    of: tuple[str, ...]
    also: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", _texts(self.of, "of"))
        object.__setattr__(self, "also", tuple(_texts(one, "also") for one in self.also))
        if not self.of:
            raise PlanError('of names no attributes; list those that tables are of: of = ["area", "sex", "age"].')
        if not isinstance(self.up_to, int) or isinstance(self.up_to, bool) or not 1 <= self.up_to <= len(self.of):
            raise PlanError(
                f"up_to is {self.up_to!r} of {len(self.of)} attributes; give a number from 1 to {len(self.of)}, "
                'or "all".'
            )
        if comb(len(self.of), self.up_to) + len(self.also) > MOST_TABLES:
            raise PlanError(
                f"Every {self.up_to} of {len(self.of)} attributes are {comb(len(self.of), self.up_to):,} tables, more "
                f"than {MOST_TABLES:,}; name fewer attributes, or a lower up_to."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes, whatever the depth of each."""
        written = [*self.of, *(one for table in self.also for one in table)]
        return tuple(dict.fromkeys(Level.read(one).name for one in written))

    def tables(self) -> Iterator[tuple[str, ...]]:
        """The tables as they are written, none of which need be in no other."""
        yield from combinations(self.of, self.up_to)
        yield from self.also

    def family(self, schema: Schema) -> Family:
        """The family of a schema's attributes."""
        for written in (self.of, *self.also):
            schema.table(written)  # names that are not there, or stand twice
        listed = [tuple(schema.level(one) for one in table) for table in self.tables()]
        deepest = {name: _deepest(name, listed).of(schema.attribute(name)) for name in self.names}
        tables = tuple(
            Table(tuple(level.of(schema.attribute(level.name)) for level in sorted(table, key=_place(deepest))))
            for table in listed
        )
        for table in tables:
            _refuse_bound(table, schema)
        family = Family(tuple(deepest.values()), tables, self)
        family.refuse_too_many()
        return family


def _texts(given: Sequence[str], name: str) -> tuple[str, ...]:
    """A list of names, as it is written; a single text is none."""
    if isinstance(given, str) or not all(isinstance(one, str) for one in given):
        raise PlanError(f"{name} is {given!r:.80}; give a list of attributes, each in quotation marks.")
    return tuple(given)


def _place(names: dict[str, Attribute]) -> Callable[[Level], int]:
    order = list(names)
    return lambda level: order.index(level.name)


def _deepest(name: str, tables: Sequence[tuple[Level, ...]]) -> Level:
    """The finest level of an attribute that any table has."""
    levels = {level for table in tables for level in table if level.name == name}
    return max(levels, key=lambda level: float("inf") if level.depth is None else level.depth)


def _refuse_bound(table: Table, schema: Schema) -> None:
    """Errors of a family have a closed form because all combinations can be."""
    bound = schema.table([str(level) for level in table.by]).impossible
    if bound and len(bound[0].where) == 1:
        ((name, codes),) = bound[0].where
        raise PlanError(
            f"Of {name} no record is {' or '.join(codes)}, and tables of up to so many variables have cells for every "
            f"level; leave {'these levels' if len(codes) > 1 else 'this level'} out of its levels."
        )
    if bound:
        names = " and ".join(name for name, _ in bound[0].where)
        raise PlanError(
            f"Some combinations of {names} are impossible, and tables of up to so many variables need all of them; "
            "make them one attribute with nested levels, or measure them in one table of their own."
        )


def domain_of(schema: Schema, by: Sequence[str] | UpTo) -> Table | Family:
    """What a measure by some attributes is over: one table, or the tables that are asked for together."""
    return by.family(schema) if isinstance(by, UpTo) else schema.table(by)

"""Targets: what is wanted of the tables of a family, as a plan writes it, by the number of variables or by table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from sfumato.errors import PlanError
from sfumato.privacy import Exact, plain, positive
from sfumato.schema import Component, Family, Level

LARGEST_TARGET = 10**12


@dataclass(frozen=True)
class Targets(Mapping[str, Fraction]):
    """The standard deviation that cells are to have, by the number of variables or by the table.

    >>> Targets.read({"1": "3", "sex, age": 2})["sex,age"]
    Fraction(2, 1)
    """

    given: tuple[tuple[str, Fraction], ...]

    @classmethod
    def read(cls, written: Mapping[str, Exact]) -> "Targets":
        if not written:
            raise PlanError('aim has no targets; write { "1" = "3", "2" = "5" }, or leave it out: all cells are alike.')
        spelled: dict[str, str] = {}
        for name in written:
            short = "".join(str(name).split())
            if short in spelled:
                raise _twice(spelled[short], name, "the same tables")
            spelled[short] = name
        named = {short: written[name] for short, name in spelled.items()}
        found = {name: positive(number, f"aim of {name}") for name, number in named.items()}
        for name, target in found.items():
            if not 1 / LARGEST_TARGET <= target <= LARGEST_TARGET:
                raise PlanError(f"aim of {name} is beyond any error that is meant; keep it from 1e-12 to 1e12.")
        return cls(tuple(found.items()))

    def __getitem__(self, name: str) -> Fraction:
        return dict(self.given)[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.given)

    def __len__(self) -> int:
        return len(self.given)

    def of(self, family: Family) -> dict[Component, tuple[str, Fraction]]:
        """What is wanted of each table, and by which name; what is said of one table goes before all others."""
        found: dict[Component, tuple[str, Fraction]] = {}
        for name, target in sorted(self.given, key=lambda one: not _is_number(one[0])):
            tables = _of_ways(family, name) if _is_number(name) else [_table_named(family, name)]
            for table in tables:
                before = found.get(table)
                if before and _is_number(before[0]) == _is_number(name):
                    raise _twice(before[0], name, _said_of(family, table, name))
                found[table] = name, target
        for top in family.tops:
            if top not in found:
                raise PlanError(
                    f"aim says nothing of the table {said(family, top)}, whose noise could then be anything; give a "
                    f'target for it, or for all tables of {_ways(top)} variables: "{_ways(top)}" = "5".'
                )
        return found

    def squares(self, family: Family) -> dict[Component, float]:
        """The variance that is wanted of each table."""
        return {table: float(target) ** 2 for table, (_, target) in self.of(family).items()}


Aim = str | Targets


def read_aim(written: str | Mapping[str, Exact] | None) -> Aim | None:
    """The aim as a plan writes it."""
    if written is None or isinstance(written, Targets) or written == "cells":
        return written
    if isinstance(written, Mapping):
        return Targets.read(written)
    raise PlanError(
        f'aim is {written!r}; it is "cells", for the least sum of the variances of all cells, or standard deviations '
        'by the number of variables or by the table: { "1" = "3", "2" = "5", "sex,age" = "2" }.'
    )


def aim_words(aim: Aim) -> str:
    """The aim in a line.

    >>> aim_words(Targets.read({"1": "3", "sex,age": "2.5"}))
    '3 by 1, 2.5 by sex,age'
    """
    return aim if isinstance(aim, str) else ", ".join(f"{plain(wanted)} by {name}" for name, wanted in aim.given)


def said(family: Family, table: Component) -> str:
    """A table as an aim names it."""
    names = (str(level) for level in family.table(table).by)
    return ",".join(names) or "0"


def _twice(first: str, second: str, tables: str) -> PlanError:
    """That two names of an aim mean the same."""
    return PlanError(f"aim has two targets for {tables}, by the names {first!r} and {second!r}; keep one of them.")


def _said_of(family: Family, table: Component, name: str) -> str:
    return f"tables of {int(name)} variables" if _is_number(name) else f"the table {said(family, table)}"


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit() and len(name) < 6


def _ways(table: Component) -> int:
    return sum(level > 0 for level in table)


def _of_ways(family: Family, ways: str) -> list[Component]:
    found = [one for one in family.components if _ways(one) == int(ways)]
    if not found:
        raise PlanError(f"aim has a target for tables of {ways} variables; these have up to {family.ways}.")
    return found


def _table_named(family: Family, name: str) -> Component:
    """The table that is written as sex,age or area@0,sex."""
    levels = [Level.read(one) for one in name.split(",")]
    names = [level.name for level in levels]
    if len(set(names)) == len(names) and set(names) <= set(family.names):
        cut = (level.within(family.attribute(level.name)).of(family.attribute(level.name)) for level in levels)
        sizes = {one.name: len(one.levels.leaves) for one in cut}
        trees = zip(family.names, family.trees, strict=True)
        found = tuple([rung.size for rung in tree.rungs].index(sizes.get(one, 1)) for one, tree in trees)
        if found in family.components:
            return found
    tables = [said(family, top) for top in family.tops]
    others = f" and {len(tables) - 8:,} more" if len(tables) > 8 else ""
    raise PlanError(
        f"aim names the table {name}, which is not among these: {'; '.join(tables[:8])}{others}, and what each sums to."
    )

"""Footprint: the memory that measures over tables need, told from their cells and columns before data are read."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.errors import how_many
from sfumato.plan.measure import Measure
from sfumato.schema import Clipped, Family, Schema, Table, UnitSums
from sfumato.schema.memory import IN_A_PART, PER_PARTED, Memory, SpillNeed

BASE = 180_000_000
"""Bytes of the program, its libraries, and what does not grow."""
PER_NUMBER, PER_CALIBRATED = 8, 48
"""Bytes of a number, and of a cell while a step works on it."""
PER_LISTED, LISTED_IN_WORK, LISTED_AGAIN, PER_PACKED = 16, 32, 24, 64
"""Bytes of a listed cell: its number and value; more while the list is made, or is read back; and of a record's own."""
PER_LEVEL = 2_000
"""Bytes of a level, its code and label in lists and tables of their own: 1.6 GB for the clusters of a country."""
PER_NAME = 128
"""Bytes of a record for each column that names its unit, or it itself: texts of a dozen letters, most units crowded."""
PER_ORDERED = 100
"""Bytes of a record for each value that is handed on row by row, at most; by one measure at a time.

Of the pairs of lines 207 were measured, of the values of a quantile 60.
"""
PER_SPILLED_CODE, PER_SPILLED_NAME = 12, 32
"""Bytes on disk of a code of a record that is spilled, and of a name, about."""
PER_UNIT_SUM = 64
"""Bytes of a record where what every unit has in a cell is handed on whole, at most."""
PER_JOINED = 64
"""Bytes of a record for each table that it is looked up in: its key, and what it finds there."""


@dataclass(frozen=True)
class HeldCells:
    """A measure, what it is over, and how many of its cells are held: all where they are laid out."""

    measure: Measure
    cells: Table | Family
    size: int

    def bytes(self, a_listed: int) -> int:
        """Of its numbers, where a listed one takes so many."""
        return self.size * (PER_NUMBER if self.cells.dense else a_listed)


@dataclass(frozen=True)
class NamingColumns:
    """The columns that name units and records: that tell them apart, and of which it is asked who stands too often."""

    told_apart: frozenset[str]
    counted: frozenset[str]

    @property
    def bytes(self) -> int:
        """Of a record whose names are held."""
        return PER_NAME * len(self.told_apart | self.counted)

    @property
    def in_turns(self) -> int:
        """The bytes of these that take turns: all, unless units are told apart."""
        return 0 if self.told_apart else self.bytes


def footprint(schema: Schema, held: Sequence[HeldCells], moved: Collection[str], naming: NamingColumns) -> Memory:
    """What a run will need for measures and for those that steps move, with the columns that name units and records.

    Products stay until the release is read back; beside them is the work of a measure or of a step, or those.
    """
    by_name = {one.measure.name: one for one in held}
    again = [by_name[name] for name in moved]
    products = sum(one.bytes(PER_LISTED) for one in (*held, *again))
    work = [sum(one.bytes(LISTED_AGAIN) for one in (*held, *again))]
    work += [PER_NUMBER * len(one.measure.aggregates) * one.size for one in held]
    work += [LISTED_IN_WORK * one.size for one in held if not one.cells.dense]
    work += [PER_CALIBRATED * one.size for one in again]
    largest = max(held, key=lambda one: one.size)
    instead = (
        f"the largest is '{largest.measure.name}' by {largest.cells.sides}: leave out an attribute, measure at a "
        "coarser level, or use a larger machine."
    )
    levels = PER_LEVEL * sum(len(attribute.levels.codes) for attribute in schema.attributes)
    total = BASE + levels + products + max(work)
    spilled = _spilled(schema, held, naming, BASE + levels + products + max(work))
    return Memory(_words(held), total, _a_record(schema, held) + naming.bytes, instead, naming.in_turns, spilled)


def _spilled(schema: Schema, held: Sequence[HeldCells], naming: NamingColumns, before: int) -> SpillNeed | None:
    """What is taken where records are spilled: a part of them, all cells before the charge, and room on the disk."""
    aggregates = [one for each in held for one in each.measure.aggregates]
    names = len(naming.told_apart | naming.counted)
    if not (names or schema.joined) or not all(one.summed and not one.weighted for one in aggregates):
        return None
    cells = sum(PER_NUMBER * (2 * len(one.measure.aggregates) + 1) * one.size for one in held)
    merged = max(4 * PER_NUMBER * (len(one.measure.aggregates) + 1) * one.size for one in held)
    whole = PER_PACKED * any(not one.cells.dense for one in held)
    whole += PER_UNIT_SUM * any(isinstance(one, UnitSums) for one in aggregates)
    read = {name for one in held for name in (*one.measure.names, *one.measure.where)}
    values = {value for one in aggregates for value in one.values}
    content = PER_SPILLED_CODE * len(read) + PER_NUMBER * len(values)
    on_disk = content * max(len(naming.told_apart), 1) + PER_SPILLED_NAME * max(names, 1)
    return SpillNeed(before + cells + merged + PER_PARTED * IN_A_PART, whole, on_disk)


def _words(held: Sequence[HeldCells]) -> str:
    laid, listed = (sum(one.size for one in held if one.cells.dense == dense) for dense in (True, False))
    return " and ".join(
        [how_many(laid, "cell")] * bool(laid) + [f"about {how_many(listed, 'listed cell')}"] * bool(listed)
    )


def _a_record(schema: Schema, held: Sequence[HeldCells]) -> int:
    """Bytes of a record without its names: an integer for each attribute and each value that is read, small ones.

    Of a sparse table a cell as well, as records may all stand in cells of their own; and what it finds elsewhere.
    """
    measures = [one.measure for one in held]
    read = {name for measure in measures for name in (*measure.names, *measure.where)}
    leaves = [len(schema.attribute(name).levels.leaves) for name in read]
    aggregates = [aggregate for measure in measures for aggregate in measure.aggregates]
    values = {value for aggregate in aggregates for value in aggregate.values}
    ordered = max((len(one.values) for one in aggregates if not one.summed), default=0)
    packed = any(not one.cells.dense for one in held)
    whole = sum(np.min_scalar_type(size).itemsize for size in leaves)
    whole += sum(one.kind.itemsize if isinstance(one, Clipped) else PER_NUMBER for one in values)
    return whole + PER_ORDERED * ordered + PER_PACKED * packed + PER_JOINED * len(schema.joined)

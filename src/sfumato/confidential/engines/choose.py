"""Choose: which engine reads the data; the one that is named, or the first that knows what is asked and is sure."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from traceback import extract_tb

import pyarrow as pa

from sfumato.confidential.engines.columns.grounds import compares_rows, is_counted
from sfumato.confidential.engines.columns.naming import can_take_turns
from sfumato.confidential.engines.columns.scan import can_scan, rows_of
from sfumato.confidential.engines.engine import Engine, Sources, Unsure
from sfumato.confidential.engines.request import Reading
from sfumato.confidential.engines.sources.cluster import in_cluster
from sfumato.confidential.engines.sources.tables import by_table, refuse_unreadable
from sfumato.confidential.engines.spill.folder import SpillFolder
from sfumato.confidential.engines.spill.partings import refuse_unspillable
from sfumato.errors import DataError, SfumatoError, nearest
from sfumato.plugins import found
from sfumato.schema.memory import Memory

AUTOMATIC = ""


def engines() -> dict[str, type[Engine]]:
    """The engines by name, in the order in which they are asked: one file of this folder each."""
    files: dict[str, type[Engine]] = found(sys.modules[str(__package__)])
    return dict(sorted(files.items(), key=lambda one: one[1].turn))


def refuse_before_reading(
    sources: Sources, reading: Reading, name: str = AUTOMATIC, also: Sequence[str] = (), *, spill: Path | None = None
) -> None:
    """Stop at what can be told without reading a record: no engine for what is asked, no such file, no such column."""
    candidates(sources, reading, name)
    refuse_unreadable(sources, reading, also)
    if spill is not None:
        refuse_unspilled(sources, reading, spill)


def refuse_unheld(
    memory: Memory, sources: Sources, reading: Reading, spill: Path | None, other: Mapping[int, int] | None = None
) -> None:
    """Stop at records that do not fit in memory, or where they are spilled on their disk, as their files say it.

    `other` is what else is written to each disk, in bytes by its device, before the spilled records are gone.
    """
    records, compared = held_rows(sources, reading), rows_compared(sources, reading)
    if spill is None:
        memory.refuse_records(records, in_turns=named_in_turns(sources, reading), compared=compared)
    else:
        free = SpillFolder(spill).free - (other or {}).get(spill.stat().st_dev, 0)
        memory.refuse_spilled(records, free, compared=len(reading.columns) if compared else 0)


def refuse_unspilled(sources: Sources, reading: Reading, spill: Path) -> SpillFolder:
    """Stop where records may not be spilled to a folder: it is unfit, they are in a cluster, no parts tell of them."""
    if any(in_cluster(one) for own in by_table(sources, reading.schema).values() for one in own):
        raise DataError("Records that stay in a cluster are never written here; leave --spill out.")
    refuse_unspillable(reading)
    return SpillFolder(spill)


def held_rows(sources: Sources, reading: Reading) -> int:
    """How many records will be held at once, as their files say it; 0 where none need be, and of files that do not."""
    if reads_in_passing(sources, reading):
        return 0
    with suppress(pa.ArrowException, OSError):
        return sum(rows_of(one) for one in by_table(sources, reading.schema)[reading.schema.base] if can_scan(one))
    return 0


def rows_compared(sources: Sources, reading: Reading) -> bool:
    """Whether rows that stand in two of the sources are looked for, so that all are held."""
    return compares_rows(by_table(sources, reading.schema)[reading.schema.base], reading)


def named_in_turns(sources: Sources, reading: Reading) -> bool:
    """Whether no more names are held at once than some records have, however many there are."""
    return can_take_turns(reading, by_table(sources, reading.schema)[reading.schema.base])


IN_WORDS = {
    "Sorted": "values in their order (quantiles)",
    "Influence": "pairs of values (regressions)",
    "SumOfProducts": "sums of products (weighted totals)",
}
"""What some aggregates are asked for by, where one is refused."""


def candidates(sources: Sources, reading: Reading, name: str = AUTOMATIC) -> list[type[Engine]]:
    """The engines that run every aggregate of a reading where its records are; of these the one that is named."""
    afar = any(in_cluster(one) for own in by_table(sources, reading.schema).values() for one in own)
    known = {one: make for one, make in engines().items() if make.afar == afar}
    if name and name not in known:
        raise DataError(f"There is no engine '{name}'; {nearest(name, list(known))}")
    asked = {type(one) for one in reading.aggregates}
    able = {one: make for one, make in known.items() if asked <= make.knows}
    chosen = {one: make for one, make in able.items() if name in {AUTOMATIC, one}}
    if not chosen:
        lacking = sorted(one.__name__ for one in asked if not any(one in make.knows for make in _named(known, name)))
        words = ", ".join(IN_WORDS.get(one, one) for one in lacking or sorted(one.__name__ for one in asked))
        instead = f"{', '.join(able)} can: leave --engine out" if able else "no engine here can"
        instead = "where the records may leave it, export the table and give its files" if afar else instead
        runs = f"{name} does not run" if name else f"is not done {'in a cluster' if afar else 'by any engine'}"
        raise DataError(f"The plan asks for {words} over cells, which {runs}; {instead}.")
    return list(chosen.values())


def _named(known: Mapping[str, type[Engine]], name: str) -> list[type[Engine]]:
    """The engine of a name, or all where none is named."""
    return [make for one, make in known.items() if name in {AUTOMATIC, one}]


def opened(
    sources: Sources, reading: Reading, salt: bytes, name: str = AUTOMATIC, spill: Path | None = None
) -> tuple[Engine, tuple[str, ...]]:
    """The engine that read the data, and why those that were asked before it declined; with a folder, in parts there.

    Nothing is spilled of one table that is counted as its records are read, as none of them is held.
    """
    if spill is None or not reading.columns:
        return _first_of(candidates(sources, reading, name), sources, reading, salt)
    from sfumato.confidential.engines.spill.engine import Spilled

    makes, folder = candidates(sources, reading, name), refuse_unspilled(sources, reading, spill)
    declined: tuple[str, ...] = ()
    if reads_in_passing(sources, reading) and makes[0].in_passing:
        try:
            return _made(makes[0], sources, reading, salt), ()
        except Unsure as why:
            declined = (f"{makes[0].name} declined: {why}",)

    def open_part(part: Sources, own: Reading) -> Engine:
        return _first_of(makes, part, own, salt)[0]

    return Spilled(sources, reading, folder, open_part), declined


def reads_in_passing(sources: Sources, reading: Reading) -> bool:
    """Whether one table is asked, of which no record need be held."""
    return is_counted(reading) and not reading.schema.key and not rows_compared(sources, reading)


def _first_of(
    makes: Sequence[type[Engine]], sources: Sources, reading: Reading, salt: bytes
) -> tuple[Engine, tuple[str, ...]]:
    declined: list[str] = []
    for make in makes:
        try:
            return _made(make, sources, reading, salt), tuple(declined)
        except Unsure as why:
            declined.append(f"{make.name} declined: {why}")
    raise DataError(f"The data were read by no engine; {'; '.join(declined)}.")


def _made(make: type[Engine], sources: Sources, reading: Reading, salt: bytes) -> Engine:
    """The engine, or its refusal; what is wrong with the engine itself is said by its place, never by its words."""
    try:
        return make(sources, reading, salt)
    except (SfumatoError, Unsure, MemoryError, ModuleNotFoundError):
        raise
    except Exception as error:  # noqa: BLE001 - any error may quote a value, so that none is passed on
        at = extract_tb(error.__traceback__)[-1]
        place = f"{at.filename.rpartition('/')[2]}, line {at.lineno}"
        failed = f"The engine '{make.name}' failed ({type(error).__name__} in {place}); please report this."
    others = " or ".join(name for name, one in engines().items() if one.afar == make.afar)
    raise DataError(f"{failed} Another engine may read the same data: --engine {others}.")

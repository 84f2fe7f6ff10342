"""Partings: by which names records are put into parts, and what is read of each, so that parts tell what all would."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sfumato.confidential.engines.request import Reading, TableRequest
from sfumato.confidential.engines.spill.merged import MERGED
from sfumato.errors import DataError
from sfumato.schema import Aggregate, Schema, Sum, Units, UnitSums, Weighted

IN_WORDS = {
    "Sorted": "values in their order (percentiles, medians), which are handed on whole",
    "Influence": "pairs of values (regressions), which are handed on whole",
}
"""What some aggregates are asked for by, and why no parts make them."""


@dataclass(frozen=True)
class Parting:
    """Parts of the records by some columns of names, or in their order; and what is read of every part."""

    by: tuple[str, ...]
    reading: Reading
    main: bool = False
    """Whether it makes what tells no units apart."""
    only_spelt: bool = False
    """Whether it tells spellings of a name, and nothing else."""

    @property
    def columns(self) -> list[str]:
        """What is spilled of a record."""
        return self.reading.columns

    @property
    def makes(self) -> bool:
        """Whether cells are made of its parts, or only rules told."""
        return self.main or (bool(self.reading.aggregates) and not self.only_spelt)

    def of_request(self, asked: TableRequest) -> TableRequest:
        """What its parts make of a table: aggregates that tell apart units it is by, the main one all others too."""
        if not self.makes:
            return replace(asked, aggregates=())
        names = {one: {self.reading.named(per) for per in one.names} for one in asked.aggregates}
        own = (one for one, told in names.items() if (told == set(self.by) if told else self.main))
        return replace(asked, aggregates=tuple(own))


def partings(reading: Reading) -> list[Parting]:
    """The partings that a reading takes, the first of which has all that no other tells."""
    names, key = reading.names, reading.schema.key
    by = names[:1] or key
    told = bool(by) and set(by) <= set(key)
    own = _told_by(reading, *names[:1])
    read = {value for one in own for value in one.values}
    also = tuple(Sum(value) for value in reading.values if value not in read)  # what is wrong with any is told by it
    main = replace(_plain(reading, key if told else ()), aggregates=(*own, *also))
    others = [
        Parting((name,), replace(_plain(reading), aggregates=_told_by(reading, name, all_=False), register=None))
        for name in names[1:]
    ]
    keys = [Parting(key, _of_names(reading, key))] if key and not told else []
    return [Parting(by, main, main=True), *others, *keys]


def of_weighed(reading: Reading) -> list[Parting]:
    """The partings of a reading whose weights are summed as they are read: that keys stand once, and nothing else."""
    key = reading.schema.key
    return [Parting(key, _of_names(reading, key))] if key else []


def of_spellings(reading: Reading, column: str) -> Parting:
    """The parting by one column that tells whether names in it are spellings of one another."""
    return Parting((column,), replace(_of_names(reading, ()), aggregates=(Units(column),)), only_spelt=True)


def refuse_unspillable(reading: Reading) -> None:
    """Stop at what cannot be made of parts, saying why."""
    for one in reading.aggregates:
        if type(one) not in MERGED and not isinstance(one, (UnitSums, Weighted)):
            what = IN_WORDS.get(type(one).__name__, type(one).__name__)
            raise DataError(f"The plan asks for {what}: such records cannot be spilled. Leave --spill out.")
    if reading.truncation and len(reading.names) > 1:
        others = ", ".join(reading.names[1:])
        raise DataError(
            f"The plan keeps at most {reading.truncation.at_most} rows of each '{reading.truncation.column}' and tells "
            f"apart {others} too: records cannot be spilled by both. Leave --spill out."
        )
    if reading.weighted and reading.names:
        raise DataError("The plan weighs records and tells units apart, which is not spilled. Leave --spill out.")


def _told_by(reading: Reading, *names: str, all_: bool = True) -> tuple[Aggregate, ...]:
    """The aggregates that tell units of some columns apart, and those that tell none apart where all are meant."""
    return tuple(one for one in reading.aggregates if (reading.named(*one.names) in names if one.names else all_))


def unkeyed(reading: Reading) -> Reading:
    """The same without asking whether keys or rows stand twice, which is told otherwise."""
    return replace(reading, schema=replace(reading.schema, key=(), repeated_rows=True), tables=())


def _plain(reading: Reading, key: Sequence[str] = ()) -> Reading:
    """The same of rows that have all columns themselves, and of which some key stands once."""
    return replace(reading, schema=_flat(reading.schema, key), only=None, tables=())


def _of_names(reading: Reading, key: Sequence[str]) -> Reading:
    """A reading of nothing but names."""
    return Reading(_flat(reading.schema, key), ())


def _flat(schema: Schema, key: Sequence[str]) -> Schema:
    return replace(schema.flat, key=tuple(key), repeated_rows=True)

"""Suspects: the rules of units, keys and reports in a cluster; what may break one comes here, counted.

What it breaks is found by the rules of the other engine, in the same words.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from sfumato.confidential.engines.cluster import dialect
from sfumato.confidential.engines.cluster.counted import COUNTED, CountedGroups
from sfumato.confidential.engines.cluster.groups import MOST, RecordGroups, looks_for_repeats
from sfumato.confidential.engines.cluster.spellings import TOO_MANY, spelt, spelt_alike
from sfumato.confidential.engines.cluster.translated import Translated
from sfumato.confidential.engines.queries.rules import NAMELESS, REPEATED, SPELT, stands_twice
from sfumato.confidential.engines.request import Fault, Reading
from sfumato.confidential.sealed import Sealed
from sfumato.schema import Reported, Sum, Units

Judges = dict[Fault, CountedGroups]
"""The rules that are broken, each with the records that break it."""
MISREPORTED = "some values are missing, below 0, or no whole multiples of the step."


class Suspects(Sealed):
    """Names of units and records, and values that are reported as they stand, that break a rule."""

    def __init__(self, groups: RecordGroups, counted: Translated) -> None:
        self._groups, self._session = groups, groups.session
        at, units = groups.named.index, groups.reading.names
        lacking = [one for one in units if counted.total(f"nameless{at(one)}")]
        respelt = [one for one in groups.named if groups.worded(one) and counted.total(f"respelt{at(one)}")]
        self.nameless = _merged(map(self._nameless, lacking))
        self.misspelt = _merged(map(self._misspelt, respelt))
        self.repeated = self._repeated() if groups.reading.schema.key else self._in_several()
        reported = [one for one in groups.reading.values if isinstance(one, Reported)]
        broken = [one for one in reported if counted.total(f"lacking{groups.reading.values.index(one)}")]
        self.misreported = _merged(map(self._misreported, broken))

    def _named(self, columns: Sequence[str]) -> list[Any]:
        """Of every source some columns as they stand, `raw0`, …, and the names that they are, `name0`, …."""
        frames = []
        for frame, kinds in zip(self._session.frames, self._groups.kinds, strict=True):
            raw = [f"{dialect.quoted(column)} AS raw{at}" for at, column in enumerate(columns)]
            names = [f"{dialect.unit(column, kinds[column])} AS name{at}" for at, column in enumerate(columns)]
            frames.append(frame.selectExpr(*raw, *names))
        return frames

    def _nameless(self, column: str) -> Judges:
        lacking = [frame.where("name0 IS NULL") for frame in self._named([column])]
        return self._judged(self._units(column), lacking, NAMELESS, lambda one: one.broken_of(one.rules.of_units()))

    def _misspelt(self, column: str) -> Judges:
        frames = spelt(self._session, self._named([column]), column)
        shared = spelt_alike(self._session, frames)
        if not self._session.holds(shared):
            return {}
        alike = [frame.join(shared, "spelling", "left_semi") for frame in frames]
        return self._judged(self._units(column), alike, SPELT, lambda one: [*one.rules.of_spellings()])

    def _units(self, column: str) -> Reading:
        return Reading(self._groups.plain_schema, (), (Units(column),))

    def _repeated(self) -> Judges:
        """The rule that a record stands once: keys that stand twice, or lack, are fetched."""
        key = self._groups.reading.schema.key
        names, frames = [f"name{at}" for at in range(len(key))], self._named(key)
        lacking = " OR ".join(f"{name} IS NULL" for name in names)
        standing = self._session.summed(self._session.together(frames), names, {"standing": "count(*)"})
        twice = standing.where(f"standing > 1 OR {lacking}")
        if not self._session.holds(twice):
            return {}
        frames = [self._among(frame, twice, names) for frame in frames]
        reading = Reading(replace(self._groups.plain_schema, key=key), ())
        return self._judged(reading, frames, stands_twice(key), lambda one: [*one.rules.of_repeats()])

    def _in_several(self) -> Judges:
        """The rule that a row without a key stands in one source: rows that say the same in several are fetched."""
        reading = self._groups.reading
        if not looks_for_repeats(self._groups.kinds, reading):
            return {}
        same, frames = [f"same{at}" for at in range(len(reading.columns))], []
        for place, kinds in enumerate(self._groups.kinds):
            raw = [f"{dialect.quoted(column)} AS raw{at}" for at, column in enumerate(reading.columns)]
            alike = [f"{dialect.said(one, kinds[one])} AS same{at}" for at, one in enumerate(reading.columns)]
            frames.append(self._session.frames[place].selectExpr(*raw, *alike, f"{place} AS source"))
        ends = {"first_source": "min(source)", "last_source": "max(source)"}
        shared = self._session.summed(self._session.together(frames), same, ends).where("first_source < last_source")
        if not self._session.holds(shared):
            return {}
        frames = [self._among(frame, shared, same) for frame in frames]
        plain = replace(reading, schema=replace(reading.schema.flat, key=(), repeated_rows=False))
        return self._judged(plain, frames, REPEATED, lambda one: one.rules.broken(one.rules.of_repeats()))

    @staticmethod
    def _among(frame: Any, some: Any, names: Sequence[str]) -> Any:
        """The rows of a frame whose names are among some, in which none may be as well."""
        some = some.selectExpr(*(f"{name} AS some_{name}" for name in names))
        return frame.join(some, [frame[name].eqNullSafe(some[f"some_{name}"]) for name in names], "left_semi")

    def _misreported(self, value: Reported) -> Judges:
        """The rules of reports, each listed with its unit where that is read."""
        named, place = self._groups.reading, self._groups.reading.values.index(value)
        units = (Units(),) if named.id in named.names else ()
        reading = Reading(self._groups.plain_schema, (), (Sum(value), *units), named.id)
        raw = {f"raw{at}": dialect.quoted(column) for at, column in enumerate(reading.columns)}
        frames = [self._groups.coded(source, raw) for source in range(len(self._groups.kinds))]
        lacking = [frame.where(f"value{place} IS NULL") for frame in frames]
        return self._judged(reading, lacking, MISREPORTED, lambda one: one.rules.broken(one.rules.of_reports()))

    def _judged(
        self, reading: Reading, frames: Sequence[Any], rule: str, judged: Callable[[CountedGroups], list[Fault]]
    ) -> Judges:
        """The faults of some records, which come here as groups of one name each."""
        columns = reading.columns
        raw, tables = [f"raw{at}" for at in range(len(columns))], []
        for frame in frames:
            grouped = self._session.summed(frame, raw, {"counted": "count(*)"})
            table = self._session.table(grouped, MOST, f"Column '{', '.join(columns)}': {rule} {TOO_MANY}")
            tables.append(table.rename_columns([*columns, COUNTED]))
        judge = CountedGroups(tables, reading)
        judge.database.code()
        faults = judged(judge)
        if not faults:
            judge.close()
        return dict.fromkeys(faults, judge)


def _merged(found: Iterable[Judges]) -> Judges:
    return {fault: judge for own in found for fault, judge in own.items()}

"""Rules: what records may break, as conditions and queries; a fault names its column and its rule, never a value."""
# ruff: noqa: S608 - tables and columns are numbered here; no name or value of the data stands in a query

from collections.abc import Iterable, Iterator, Sequence

from sfumato.confidential.engines.queries.database import EXACT, Database
from sfumato.confidential.engines.request import Fault
from sfumato.confidential.engines.sources.files import file_of
from sfumato.confidential.engines.sql import dialect
from sfumato.schema import Clipped, Reported

SPELT = "some names differ only in spaces, zeros, Unicode form or characters that are not seen; write each one way."
NAMELESS = "some records name no unit; a record must belong to one, or its unit is not protected."
REPEATED = (
    "the same row stands in more than one source and would count twice; declare [data] key, or [data] repeated_rows = "
    "true if such rows are different records."
)
UNLISTED = "some units are not in the frame, which lists every unit there is."
REPORTED_TWICE = "some units report twice; one row a unit."


class Rules:
    """The rules of one reading, and those that its records break."""

    def __init__(self, records: Database) -> None:
        self._records, self._reading, self._ask = records, records.reading, records.session.ask

    def of_joins(self) -> list[Fault]:
        """The rules that must hold for records to be looked up at all: one row a key, found by every record."""
        found = []
        for place, one in enumerate(self._reading.schema.joined, start=1):
            on, name = f"on{place}", f"name{place}"
            listed = f"SELECT {self._listed(f'CAST({name} AS VARCHAR)')} FROM side{place}"
            rule = "some keys stand twice or are missing; each row of this table has a key of its own."
            twice = f"SELECT {name} FROM side{place} GROUP BY {name} HAVING {self._rows} > 1"
            found.append(Fault(f"{one.name}.{one.on}", rule, f"{listed} WHERE {name} IS NULL OR {name} IN ({twice})"))
            rule = f"some records find no row in {one.name}; every one needs its own there."
            value = self._listed(f"CAST({on} AS VARCHAR)")
            alone = f"SELECT {value} FROM side0 ANTI JOIN side{place} ON {on} = {name}"
            found.append(Fault(one.on, rule, alone))
            if one.on in self._records.worded:
                sides = [
                    f"SELECT {', '.join([f'{own} AS unit', *self._carried])} FROM {side}"
                    for own, side in ((on, "side0"), (name, f"side{place}"))
                ]
                both = f"({' UNION ALL '.join(sides)})"
                found.append(Fault(one.on, SPELT, _misspelt(self._listed("CAST(unit AS VARCHAR)"), "unit", both)))
        return self.broken(found)

    def of_records(self) -> list[Fault]:
        """All other rules."""
        conditions = dict(self._conditions())
        asked = ", ".join(["count(*)", *(f"bool_or({condition})" for condition in conditions)])
        ((_, *broken),) = self._ask(f"SELECT {asked} FROM coded")
        faults = [fault for fault, is_broken in zip(conditions.values(), broken, strict=True) if is_broken]
        others = [*self.of_spellings(), *self.of_repeats(), *self._of_register(), *self.of_reports()]
        return [*self.empty(), *faults, *self.broken(others)]

    def empty(self) -> list[Fault]:
        """The rule that every one of several sources holds rows: one with a header alone was not meant."""
        sources = self._records.sources
        held = {number for (number,) in self._ask("SELECT DISTINCT source FROM side0")} if len(sources) > 1 else {0}
        return self.of_empty(number for number in range(len(sources)) if number not in held)

    def of_empty(self, numbers: Iterable[int]) -> list[Fault]:
        """The faults of sources without rows, by their numbers."""
        files = {number: file_of(self._records.sources[number]) for number in numbers}
        named = {number: f", {path.name}," if path else "" for number, path in files.items()}
        return [
            Fault("", f"Source {number + 1}{file} holds no rows; leave it out, or look for what it lost.")
            for number, file in named.items()
        ]

    def broken(self, faults: Iterable[Fault]) -> list[Fault]:
        """Those of some rules that are broken."""
        return [fault for fault in faults if self._ask(f"{fault.query} LIMIT 1")]

    def _conditions(self) -> Iterator[tuple[str, Fault]]:
        """Every rule about single records, under the condition that breaks it."""
        yield from self.of_levels()
        for place, value in enumerate(self._reading.values):
            if isinstance(value, Clipped):
                yield self.of_value(place, value)
        yield from self.of_units()
        yield from self.of_combinations()

    def of_levels(self) -> Iterator[tuple[str, Fault]]:
        """The rule that every value is a level of its attribute."""
        for place, attribute in enumerate(self._reading.attributes):
            if attribute.depth is not None:  # cut off from one that is read whole
                continue
            rule = f"some values are not among the declared levels of '{attribute.name}'" + (
                "." if attribute.missing else ", or are missing and no `missing` level is declared."
            )
            yield self._rule([attribute.column], f"leaf{place} < 0", rule)

    def of_value(self, place: int, value: Clipped) -> tuple[str, Fault]:
        """The rule that every value is a number."""
        return self._rule([value.column], f"value{place} IS NULL", valueless(value))

    def of_units(self) -> Iterator[tuple[str, Fault]]:
        """The rule that every record belongs to a unit."""
        for place, name in enumerate(self._reading.names):
            yield self._rule([name], f"unit{place} IS NULL", NAMELESS)

    def of_combinations(self) -> Iterator[tuple[str, Fault]]:
        """The rules that some levels are never found together."""
        schema = self._reading.schema
        for impossible in self._reading.rules:
            names = tuple(name for name, _ in impossible.where)
            said = " and ".join(f"{name} in {', '.join(codes)}" for name, codes in impossible.where)
            condition = self._records.inside(schema.table(names).box(dict(impossible.where)))
            words = f"some records are where the plan says none can be: {said}."
            _, fault = self._rule([schema.attribute(name).column for name in names], condition, words)
            yield condition, Fault(", ".join(names), words, fault.query)

    def _rule(self, columns: Sequence[str], condition: str, rule: str) -> tuple[str, Fault]:
        """A rule, its condition, and the query that lists the values of some columns in every record that breaks it."""
        texts = [self._records.text(column) for column in columns]
        value = f"nullif({texts[0]}, '')" if len(texts) == 1 else f"concat_ws(', ', {', '.join(texts)})"
        return condition, Fault(columns[0], rule, f"SELECT {self._listed(value)} FROM legible WHERE {condition}")

    def _listed(self, value: str) -> str:
        """A value of every record, or of every group of them with how many these are."""
        return ", ".join([f"{value} AS value", *self._carried])

    @property
    def _carried(self) -> list[str]:
        return [name.strip() for name in self._records.carried]

    @property
    def _rows(self) -> str:
        """How many records some rows are."""
        return "sum(counted)" if self._carried else "count(*)"

    def of_spellings(self) -> Iterator[Fault]:
        """The rule that a unit or key is written one way: 7, 07, 7.0 and ' 7' would each have rows of their own."""
        named = {name: f"unit{place}" for place, name in enumerate(self._reading.names)}
        keys = {name: f"key{place}" for place, name in enumerate(self._reading.schema.key)}
        for name, unit in (keys | named).items():
            if name in self._records.worded:
                apart = f"SELECT DISTINCT {unit} AS name FROM coded WHERE {unit} IS NOT NULL"
                counted = f"SELECT count(*) > count(DISTINCT {dialect.spelling('name')}) FROM ({apart})"
                listed = _misspelt(self._listed(f"CAST({unit} AS VARCHAR)"), unit, "coded")
                yield from [Fault(name, SPELT, listed)] if self._ask(counted)[0][0] else []

    def of_repeats(self) -> Iterator[Fault]:
        """The rule that a record stands once in all sources."""
        schema, columns = self._reading.schema, self._reading.columns
        if schema.key:
            keys = [f"key{place}" for place in range(len(schema.key))]
            missing = " OR ".join(f"{key} IS NULL" for key in keys)
            query = self._standing(schema.key, f"{self._rows} > 1 OR bool_or({missing})")
            alike = f"{self._rows} > count(DISTINCT ({', '.join(keys)}))"
            ((broken,),) = self._ask(f"SELECT {alike} OR coalesce(bool_or({missing}), false) FROM coded")
            yield from [Fault(", ".join(schema.key), stands_twice(schema.key), query)] if broken else []
        elif columns and len(self._records.sources) > 1 and not schema.repeated_rows:
            yield Fault(", ".join(columns), REPEATED, self._standing(columns, "min(source) < max(source)"))

    def _standing(self, columns: Sequence[str], having: str) -> str:
        """The query that lists the records whose values in some columns, as a group, have a property."""
        texts = ", ".join(self._records.text(column) for column in columns)
        groups = f"SELECT {texts} FROM records GROUP BY {texts} HAVING {having}"
        value = self._listed(f"nullif(concat_ws(', ', {texts}), '')")
        return f"SELECT {value} FROM records SEMI JOIN ({groups}) USING ({texts})"

    def _of_register(self) -> Iterator[Fault]:
        """The rules of reports: the register lists every unit, and each reports once."""
        if self._reading.register is None:
            return
        unit = f"unit{self._reading.names.index(self._reading.named(None))}"
        named, column = f"SELECT CAST({unit} AS VARCHAR) AS value FROM coded", self._reading.named(None)
        yield Fault(column, UNLISTED, f"{named} ANTI JOIN register ON CAST({unit} AS VARCHAR) = register.name")
        twice = f"SELECT {unit} FROM coded GROUP BY {unit} HAVING count(*) > 1"
        yield Fault(column, REPORTED_TWICE, f"{named} WHERE {unit} IN ({twice})")

    def of_reports(self) -> Iterator[Fault]:
        """The rules of values that are reported as they stand: whole multiples of the step, 0 or more."""
        for place, value in enumerate(self._reading.values):
            if isinstance(value, Reported) and self._ask(f"SELECT 1 FROM coded WHERE value{place} IS NULL LIMIT 1"):
                yield from self._of_reported(value)

    def _of_reported(self, value: Reported) -> Iterator[Fault]:
        number = self._records.given(value)
        steps = f"({number} / {dialect.literal(value.step)})"
        rules = {
            f"{number} IS NULL": "missing or no numbers; a unit that has none is left out or reports 0.",
            f"{number} < 0": "below 0; what units report is 0 or more.",
            f"abs({steps}) < {EXACT} AND NOT {dialect.whole(steps)}": "no whole multiples of the step, "
            f"{float(value.step):g}; round them before, or use a finer step.",
            f"{steps} >= {EXACT}": "too large to be exact; use a coarser step.",
        }
        unit = self._reading.id  # whose report it is, where that is read
        columns = [unit, value.column] if unit in self._reading.names else [value.column]
        for condition, rule in rules.items():
            words = f"some values are {rule}"
            _, fault = self._rule(columns, condition, words)
            yield Fault(value.column, words, fault.query)

    def in_order(self) -> list[tuple[str, str]]:
        """The column and the words of every rule about records, broken or not, in the order in which they are told."""
        schema, names = self._reading.schema, self._reading.names
        of_rows = [stands_twice(schema.key)] if schema.key else [REPEATED]
        listed = [(fault.column, fault.rule) for _, fault in self._conditions()]
        listed += [(name, SPELT) for name in dict.fromkeys((*schema.key, *names))]
        listed += [(", ".join(schema.key or self._reading.columns), rule) for rule in of_rows]
        listed += [(name, rule) for rule in (UNLISTED, REPORTED_TWICE) for name in names]
        reported = [one for one in self._reading.values if isinstance(one, Reported)]
        return listed + [(fault.column, fault.rule) for one in reported for fault in self._of_reported(one)]


def _misspelt(listed: str, unit: str, relation: str) -> str:
    """The query that lists the names that differ from others in spelling alone."""
    same = dialect.spelling(unit)
    shared = f"SELECT {same} FROM {relation} GROUP BY 1 HAVING count(DISTINCT {unit}) > 1"
    return f"SELECT {listed} FROM {relation} WHERE {same} IN ({shared})"


def valueless(value: Clipped) -> str:
    """The rule that a value breaks which is no number."""
    if value.missing is None:
        return "some values are missing or no numbers; declare `missing`, what they stand for, or clean them."
    return "some values are no numbers; clean them."


def stands_twice(key: Sequence[str]) -> str:
    """The rule that a key breaks which stands twice."""
    if len(key) == 1:
        return "some keys stand twice or are missing; a key names one record, in all files together."
    return (
        f"some records have the same {' and '.join(key)} as others, or lack one of them; together these name one "
        "record, in all files together."
    )

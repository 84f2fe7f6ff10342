"""Records: all sources as one relation, each read by its own types; how a record becomes leaves and lattice values."""
# ruff: noqa: S608 - tables and columns are numbered here; no name or value of the data stands in a query

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from sfumato.confidential.engines.reading import Reading
from sfumato.confidential.engines.sources import attach
from sfumato.confidential.engines.values import is_number, literal, name_kind, number, numeral, text, unit
from sfumato.confidential.sealed import Sealed
from sfumato.errors import DataError
from sfumato.schema import Attribute, Bands, Clipped

CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,  # a name in a query is never taken for a variable of this program
    "preserve_insertion_order": False,
    "temp_directory": "",
}
TRUSTED = ("unused_columns", "column_lifetime", "common_subexpressions", "expression_rewriter", "build_side_probe_side")
"""The optimizers that keep a query's meaning whatever a source says of itself.

Others believe the statistics in Parquet files, which leave NaN out, so that isnan is false (duckdb#25521), or push
TRY_CAST into the reader of text files, where it fails (duckdb#23818).
"""


class Database(Sealed):
    """One private in-memory database that writes nothing to disk and loads no extension, with these relations.

    `records`: a text and a number for every column that is read, the names of units and of the record, the source.
    `legible`: the records, a leaf for every attribute, -1 where there is none, and every value that is summed.
    """

    def __init__(self, sources: Sequence[Any], reading: Reading) -> None:
        import duckdb

        self.reading = reading
        self._columns = reading.columns
        self._connection = duckdb.connect(config=CLOSED)
        named = [name for (name,) in self._ask("SELECT name FROM duckdb_optimizers()") if name not in TRUSTED]
        self._connection.execute(f"SET disabled_optimizers = '{','.join(named)}'")
        self._gather(sources)
        self._list_levels()
        chosen = [f"{self._leaf(place)} AS leaf{place}" for place in self._places]
        chosen += [f"{self._value(one)} AS value{place}" for place, one in enumerate(reading.values)]
        joins = "".join(self._join(place) for place in self._places)
        self._connection.execute(
            f"CREATE VIEW legible AS SELECT {', '.join(['records.*', *chosen])} FROM records{joins}"
        )

    @property
    def _places(self) -> range:
        return range(len(self.reading.attributes))

    def _ask(self, query: str) -> list[Any]:
        return self._connection.execute(query).fetchall()

    def _gather(self, sources: Sequence[Any]) -> None:
        kinds = []
        for place, source in enumerate(sources):
            attach(self._connection, f"source{place}", source, self._columns)
            kinds.append([kind for _, kind, *_ in self._ask(f"DESCRIBE source{place}")])
        for name in (*self.reading.names, self.reading.schema.key):
            self._refuse_mixed(name, kinds)
        named = {name: self._columns.index(name) for name in self.reading.names}
        self._worded = [name for name, place in named.items() if not all(is_number(one[place]) for one in kinds)]
        parts = [f"SELECT {self._chosen(kinds[place], place)} FROM source{place}" for place in range(len(sources))]
        self._connection.execute(f"CREATE VIEW records AS {' UNION ALL '.join(parts)}")

    def _refuse_mixed(self, name: str | None, kinds: list[list[str]]) -> None:
        """Stop where 7 and 007 could be one unit: a name is a number in every source, or a text in every one."""
        if name and len({name_kind(one[self._columns.index(name)]) for one in kinds}) > 1:
            raise DataError(
                f"Column '{name}' is of one type in one source and of another in another (a number and text, say), so "
                "one that it names could be taken for two; store it alike in all."
            )

    def _chosen(self, kinds: list[str], source: int) -> str:
        chosen = [f"{source} AS source"]
        for place in range(len(self._columns)):
            chosen.append(f"{text(f'c{place}', kinds[place])} AS text{place}")
            chosen.append(f"{number(f'c{place}', kinds[place])} AS number{place}")
        for alias, name in self._named.items():
            place = self._columns.index(name)
            chosen.append(f"{unit(f'c{place}', kinds[place])} AS {alias}")
        return ", ".join(chosen)

    @property
    def _named(self) -> dict[str, str]:
        """The columns that name units and records, by what they are called in queries."""
        named = {f"unit{place}": name for place, name in enumerate(self.reading.names)}
        return named | ({"key": self.reading.schema.key} if self.reading.schema.key else {})

    def _text(self, column: str) -> str:
        """The value as text, '' where there is none."""
        return f"text{self._columns.index(column)}"

    def _number(self, column: str) -> str:
        """The value as a number, null where it is none or NaN."""
        return f"number{self._columns.index(column)}"

    def _list_levels(self) -> None:
        """A table for every attribute: which leaf each text means, no text meaning the missing level."""
        for place, attribute in enumerate(self.reading.attributes):
            codes = ({"": attribute.missing_leaf} if attribute.missing else {}) | attribute.raw_codes
            listed = {"raw": pa.array(list(codes), pa.string()), "leaf": pa.array(list(codes.values()), pa.int32())}
            self._connection.register(f"listed{place}", pa.table(listed))
            self._connection.execute(f"CREATE TABLE levels{place} AS SELECT raw, leaf FROM listed{place}")

    def _join(self, place: int) -> str:
        return f" LEFT JOIN levels{place} ON levels{place}.raw = {self._text(self.reading.attributes[place].column)}"

    def _leaf(self, place: int) -> str:
        """The number of the leaf, -1 where the value breaks the declared levels."""
        attribute = self.reading.attributes[place]
        parts = [f"WHEN levels{place}.leaf IS NOT NULL THEN levels{place}.leaf"]
        if isinstance(attribute.read, Bands):
            parts += self._bands(attribute, attribute.read)
        return f"CAST(CASE {' '.join(parts)} ELSE -1 END AS INTEGER)"

    def _bands(self, attribute: Attribute, bands: Bands) -> list[str]:
        number, missing = self._number(attribute.column), attribute.missing
        codes = [numeral(code) for code in missing.codes] if missing else []
        stated = ", ".join(literal(code) for code in codes if code is not None)
        rising = list(zip(bands.edges, attribute.banded, strict=True))
        return ([f"WHEN {number} IN ({stated}) THEN {attribute.missing_leaf}"] if stated else []) + [
            f"WHEN {number} >= {literal(edge)} THEN {leaf}" for edge, leaf in reversed(rising)
        ]

    def _value(self, one: Clipped) -> str:
        """The value in whole steps: held within the clip, rounded half up, held again; null where there is none."""
        number = self._number(one.column)
        if one.missing is not None:
            # Only nothing at all is missing; a text that is no number stays a fault.
            nothing = f"lower({self._text(one.column)}) IN ('', 'nan')"
            number = f"(CASE WHEN {nothing} THEN {literal(one.missing)} ELSE {number} END)"
        number = f"({number} * {number})" if one.power == 2 else number
        held = f"greatest(least({number}, {literal(one.high)}), {literal(one.low)})"
        # In floats 0.35 is 3.4999999999999996 steps of 0.1; no data mean a millionth of a step.
        steps = f"CAST(floor(round({held} / {literal(one.step)}, 6) + 0.5) AS BIGINT)"
        low, high = int(one.low / one.step), int(one.high / one.step)
        # greatest and least pass over nulls, so a missing value is kept null by hand.
        return f"(CASE WHEN {number} IS NULL THEN NULL ELSE greatest(least({steps}, {high}), {low}) END)"

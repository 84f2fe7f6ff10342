"""Tables: which source holds which column, where the rows are looked up in other tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.confidential.engines.engine import Sources
from sfumato.confidential.engines.request import Reading, Wanted
from sfumato.confidential.engines.sources.files import told_columns
from sfumato.errors import DataError
from sfumato.schema import Schema


def by_table(sources: Sources, schema: Schema) -> dict[str, Sequence[Any]]:
    """The sources of every table by its name, the rows' own first; '' names the one table of a plan that joins none."""
    given = sources if isinstance(sources, Mapping) else {schema.base: sources}
    return {name: given[name] for name in schema.tables}


def wanted(reading: Reading, also: Sequence[str] = ()) -> Wanted:
    """The columns that are read of every table: those of the plan, and those that tables are joined by."""
    keys = [partner.on for partner in reading.schema.joined]
    return Wanted(list(dict.fromkeys([*reading.columns, *keys, *also])), bool(keys), reading.schema.encoding)


def refuse_unreadable(sources: Sources, reading: Reading, also: Sequence[str] = ()) -> None:
    """Stop at what can be told without reading a record: no such file, no known kind, no such column."""
    asked, tables = wanted(reading, also), by_table(sources, reading.schema)
    told = {name: [told_columns(source, asked) for source in own] for name, own in tables.items()}
    first = {name: columns[0] for name, columns in told.items() if columns[0] is not None}
    if len(first) == len(told):
        refuse_misplaced(first, reading)


def refuse_misplaced(columns: Mapping[str, Sequence[str]], reading: Reading) -> None:
    """Stop where a column that is read stands in no table, or in two, or one that tables are joined by lacks in one."""
    schema, keys = reading.schema, {partner.on for partner in reading.schema.joined}
    for partner in schema.joined:
        for name in (schema.base, partner.name):
            Wanted([partner.on]).of(f"The table {name}", columns[name])
    for column in reading.columns if schema.joined else ():
        holders = [name for name, own in columns.items() if column in own]
        if not holders:
            raise DataError(
                f"No table of {', '.join(columns)} has a column '{column}', which the plan reads; check its spelling."
            )
        if len(holders) > 1 and column not in keys:
            raise DataError(
                f"Column '{column}' stands in {' and in '.join(holders)}; which of them the plan means cannot be told. "
                "Leave it out of all but one."
            )

"""Tables: which source holds which column, where the rows are looked up in other tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.confidential.engines.engine import Sources
from sfumato.confidential.engines.request import Reading, Wanted
from sfumato.confidential.engines.sources.files import told_columns
from sfumato.errors import DataError, with_article
from sfumato.schema import Attribute, Schema


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
    for attribute in reading.owned:
        _refuse_of_others(attribute, columns, reading)


def _refuse_of_others(attribute: Attribute, columns: Mapping[str, Sequence[str]], reading: Reading) -> None:
    """Stop where an attribute is said to be of the hidden unit and is found in a table of somebody else."""
    for partner in reading.schema.joined:
        if attribute.column not in columns[partner.name] or partner.on == reading.id:
            continue
        others = [one.of for one in reading.attributes if one.column in columns[partner.name]]
        whose = [of for of in others if of != attribute.of]
        if whose or partner.on in reading.others:
            by = (
                f"beside what is of {with_article(whose[0])}"
                if whose
                else f"by {partner.on}, which names somebody else"
            )
            raise DataError(
                f"[attributes.{attribute.name}] is said to be of the {attribute.of}, and column '{attribute.column}' "
                f"is found in the table {partner.name} {by}: what those in it make up is not the {attribute.of}'s own "
                f"and would not be hidden. Say of whom it is, or put it into the table of the {attribute.of}s if so."
            )

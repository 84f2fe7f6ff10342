"""Foreseen: values that a plan itself says a column may hold, so that records need not be read first to know them.

Texts and whole numbers are foreseen where codes are listed, and whole numbers in bands by the least of each band. If a
record says anything else the plan's rules are broken, or the records are read again to find what it means.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.confidential.engines.cluster import dialect
from sfumato.confidential.engines.cluster.groups import RecordGroups
from sfumato.confidential.engines.request import Reading
from sfumato.schema import Attribute, Bands

TYPES = {"string": pa.string(), "tinyint": pa.int8(), "smallint": pa.int16(), "int": pa.int32(), "bigint": pa.int64()}
"""The types of columns whose values are foreseen."""
MOST_LENT = 100_000
"""The most values of a column that are lent only to group sooner; more Spark would not send to every task."""
Values = Mapping[str, Any]
"""Values by the columns that may hold them."""


def foreseen(groups: RecordGroups) -> Values | None:
    """The values of every column of codes; nothing where not all are foreseen, or one reading is not enough.

    Nothing too where records would be looked up and not be grouped sooner for it: codes that are numbers, or very many.
    """
    reading, schema = groups.reading, groups.reading.schema
    if reading.weighted or schema.key or schema.joined or groups.whole or not groups.keys or len(groups.kinds) > 1:
        return None
    (kinds,) = groups.kinds
    if not _are_numbered(reading, kinds) or not (reading.names or "string" in map(kinds.get, groups.keys)):
        return None
    values = {column: _values(groups, column, kinds[column]) for column in groups.keys}
    if any(one is None for one in values.values()):
        return None
    sooner = groups.session.lends and max(map(len, values.values())) <= MOST_LENT
    return values if reading.names or sooner else None


def _are_numbered(reading: Reading, kinds: Mapping[str, str]) -> bool:
    """Whether no unit has a name, or those of which so many records count: as whole numbers, for texts have rules."""
    if not reading.truncation:
        return not reading.names
    column = reading.truncation.column
    return reading.names == (column,) and kinds[column] in dialect.WHOLE


def _values(groups: RecordGroups, column: str, kind: str) -> Any:
    """The values that a column may hold, no value among them; nothing where these are not listed."""
    if kind not in TYPES:
        return None
    attributes = [one for one in groups.reading.attributes if one.column == column]
    if not any(isinstance(one.read, Bands) for one in attributes):
        listed = dict.fromkeys(code for one in attributes for code in one.raw_codes)
        return pa.array([None, "", *listed] if kind == "string" else [None, *_whole(listed, kind)], TYPES[kind])
    banded = groups.banded(column)
    return None if banded is None or kind == "string" else _least_of_bands(banded, kind)


def _whole(codes: Mapping[str, object], kind: str) -> list[int]:
    """The codes that a whole number of a type is written as."""
    ends = 2 ** (TYPES[kind].bit_width - 1)
    numbers = [int(one) for one in codes if one.lstrip("-").isascii() and one.lstrip("-").isdigit() and len(one) < 20]
    return [one for one in numbers if str(one) in codes and -ends <= one < ends]


def _least_of_bands(attribute: Attribute, kind: str) -> Any:
    """What numbers in bands become, those that mean no answer as they are."""
    assert isinstance(attribute.read, Bands)  # noqa: S101 - no other is asked for
    least = [dialect.least(float(edge), kind) for edge in attribute.read.edges]
    stated = _whole(attribute.raw_codes, kind)
    if any(not -(2**63) <= one < 2**63 for one in least):
        return None
    return pa.array(list(dict.fromkeys([None, *map(int, least), *stated])), pa.int64())


def retold(groups: pa.Table, meant: Mapping[str, pa.Table], carried: Sequence[str]) -> pa.Table:
    """Groups by leaves as groups by the values that were foreseen for them; no records lack a value or a name."""
    columns = {column: levels["raw"].take(_places(groups, levels)) for column, levels in meant.items()}
    summed, none = groups.column_names, np.zeros(len(groups), dtype=np.int64)
    sums = {one: groups[one.strip()] if one.strip() in summed else none for one in carried}
    return pa.table(columns | sums)


def _places(divided: pa.Table, levels: pa.Table) -> Any:
    """For every group a row of the levels of a column that has its leaves."""
    names = [one for one in levels.column_names if one != "raw"]
    sizes = [int(levels[one].to_numpy().max()) + 1 for one in names]
    listed, said = (np.ravel_multi_index([one[name].to_numpy() for name in names], sizes) for one in (levels, divided))
    order = np.argsort(listed, kind="stable")
    return pa.array(order[np.searchsorted(listed[order], said)])

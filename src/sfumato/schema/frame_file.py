"""Reading a frame: codes of every attribute checked against their levels, column by column."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PlanError, nearest
from sfumato.schema.attributes import Attribute, Column
from sfumato.schema.spelling import misspelt


def read_frame(
    path: Path, unit: str, key: str, attributes: Sequence[Attribute], firm: str | None = None
) -> tuple[Any, Mapping[str, NDArray[np.int32]], NDArray[np.int32] | None]:
    """The ids of a register, the place of each row's lowest level, and the number of its firm where one is asked for.

    An id stands once, and every code is a level.
    The rows are in the order of their ids, short ones first: a file that holds reports too may be sorted by them.
    """
    if not path.is_file():
        raise PlanError(f"The frame {path} is not there; a path is taken from the plan's own folder.")
    sources = {attribute.name: _source(attribute) for attribute in attributes}
    columns = _columns(path, [key, *sources.values(), *([firm] if firm else [])])
    ids = columns[key].combine_chunks()
    if ids.null_count:
        raise PlanError(f"The frame {path.name} has rows without '{key}'; every {unit} needs one.")
    _refuse_misspelt(path, key, ids)
    if len(ids.unique()) < len(ids):
        raise PlanError(f"The frame {path.name} has the same '{key}' in two rows; each row is one {unit} of its own.")
    places = {attribute.name: _places(path, attribute, columns[sources[attribute.name]]) for attribute in attributes}
    order = _order(ids)
    if firm:
        _refuse_misspelt(path, firm, columns[firm].combine_chunks())
    firms = _numbers(columns[firm])[order] if firm else None
    return ids.take(order), {name: one[order] for name, one in places.items()}, firms


def _refuse_misspelt(path: Path, name: str, column: Any) -> None:
    """A unit or firm in several spellings would count as several; what differs in case alone is another name."""
    if misspelt(column.drop_null()):
        raise PlanError(
            f"The frame {path.name} has names in '{name}' that differ only in spaces, zeros, Unicode form or "
            "characters that are not seen, and would count as several; write each one way."
        )


def _order(ids: Any) -> NDArray[np.int64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    named = pa.table({"length": pc.utf8_length(ids), "id": ids})
    return np.asarray(pc.sort_indices(named, [("length", "ascending"), ("id", "ascending")]), dtype=np.int64)


def _numbers(column: Any) -> NDArray[np.int32]:
    """The number of each row's value among those that stand in a column; rows without one are taken for one firm."""
    coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    return np.asarray(coded.indices.to_numpy(zero_copy_only=False), dtype=np.int32)


def _source(attribute: Attribute) -> str:
    if not isinstance(attribute.read, Column):
        raise PlanError(f"Attribute '{attribute.name}' of the frame is recoded; a frame holds the codes themselves.")
    return attribute.read.name


def _columns(path: Path, names: Sequence[str]) -> Any:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    try:
        if path.suffix == ".parquet":
            listed = pq.read_schema(path).names
            _refuse_absent(path, names, listed)
            table = pq.read_table(path, columns=list(dict.fromkeys(names)))
        else:
            texts = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), include_columns=None)
            table = pyarrow.csv.read_csv(path, convert_options=texts)
            _refuse_absent(path, names, table.column_names)
    except (pa.ArrowException, OSError):
        raise PlanError(f"{path} cannot be read; a frame is a Parquet file, or a CSV file in UTF-8.") from None
    return {name: table[name].cast(pa.string()) for name in names}


def column_texts(path: Path, name: str) -> list[str]:
    """The different texts that stand in a column of a register."""
    return [str(one) for one in _columns(path, [name])[name].unique().drop_null().to_pylist()]


def _refuse_absent(path: Path, names: Sequence[str], listed: Sequence[str]) -> None:
    for name in names:
        if name not in listed:
            raise PlanError(f"The frame {path.name} has no column '{name}'; {nearest(name, listed)}")


def _places(path: Path, attribute: Attribute, column: Any) -> NDArray[np.int32]:
    coded = column.combine_chunks().dictionary_encode()
    index = attribute.levels.leaf_index
    if coded.null_count:
        raise PlanError(f"The frame {path.name} has rows without '{attribute.name}'; the frame is public and whole.")
    for code in coded.dictionary.to_pylist():
        if code not in index:
            hint = nearest(code, attribute.levels.leaves)
            raise PlanError(f"The frame {path.name}: '{code}' is no lowest level of '{attribute.name}'; {hint}")
    to = np.array([index[code] for code in coded.dictionary.to_pylist()], dtype=np.int32)
    return np.asarray(to[coded.indices.to_numpy(zero_copy_only=False)], dtype=np.int32)

"""Reading a frame: codes of every attribute checked against their levels, column by column."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PlanError, nearest
from sfumato.schema.attributes import Attribute, Bands, Recode
from sfumato.schema.letters import encoding_of
from sfumato.schema.spelling import misspelt

MOST_NAMED = 10
"""How many of the faults of a kind are named."""
SPELT = (
    "names in '{name}' that differ only in spaces, zeros, Unicode form or characters that are not seen, and would "
    "count as several; write each one way."
)


def read_frame(
    path: Path,
    unit: str,
    key: str,
    attributes: Sequence[Attribute],
    firm: str | None = None,
    encoding: str | None = None,
) -> tuple[Any, Mapping[str, NDArray[np.int32]], NDArray[np.int32] | None]:
    """The ids of a register, the place of each row's lowest level, and the number of its firm where one is asked for.

    An id stands once, and every code is a level.
    The rows are in the order of their ids, short ones first: a file that holds reports too may be sorted by them.
    """
    if not path.is_file():
        raise PlanError(f"The frame {path} is not there; a path is taken from the plan's own folder.")
    sources = {attribute.name: _source(attribute) for attribute in attributes}
    columns = _columns(path, [key, *sources.values(), *([firm] if firm else [])], encoding)
    ids = columns[key].combine_chunks()
    coded = {one.name: columns[sources[one.name]].combine_chunks().dictionary_encode() for one in attributes}
    faults = [*_faults_of_ids(ids, key), *_misspelt(columns, firm)]
    for attribute in attributes:
        faults += _faults_of_codes(attribute, coded[attribute.name], ids, key)
    if faults:
        listed = "".join(f"\n- {fault}" for fault in faults)
        raise PlanError(f"The frame {path.name} does not fit the plan; each row is one {unit} of its own:{listed}")
    places = {attribute.name: _places(attribute, coded[attribute.name]) for attribute in attributes}
    order = _order(ids)
    firms = _numbers(columns[firm])[order] if firm else None
    return ids.take(order), {name: one[order] for name, one in places.items()}, firms


def _faults_of_ids(ids: Any, key: str) -> Iterator[str]:
    """What is wrong with the names of units: some lack, stand twice, or stand in several spellings."""
    import pyarrow.compute as pc

    if ids.null_count:
        yield f"{_rows(ids.null_count)} without '{key}'; every row needs one."
    named = ids.drop_null()
    counts = pc.value_counts(named)
    twice = counts.filter(pc.greater(counts.field("counts"), 1))
    if len(twice):
        told = [f"'{one['values']}' in {_rows(one['counts'])}" for one in twice.slice(0, MOST_NAMED).to_pylist()]
        yield f"the same '{key}' in two rows or more: {_listed(told, len(twice))}."
    if misspelt(named):
        yield SPELT.format(name=key)


def _misspelt(columns: Mapping[str, Any], firm: str | None) -> list[str]:
    """A firm in several spellings would count as several; what differs in case alone is another name."""
    return [SPELT.format(name=firm)] if firm and misspelt(columns[firm].combine_chunks().drop_null()) else []


def _faults_of_codes(attribute: Attribute, coded: Any, ids: Any, key: str) -> Iterator[str]:
    """The rows without a code, and every code that is no lowest level, with how many rows have it and one of them."""
    if coded.null_count and not attribute.missing:
        yield (
            f"{_rows(coded.null_count)} without '{attribute.name}'; the frame is public and whole. Name the level of "
            'these rows: missing = "…".'
        )
    codes, index = coded.dictionary.to_pylist(), _leaf_of_code(attribute)
    unknown = [place for place, code in enumerate(codes) if code not in index]
    if not unknown:
        return
    where = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    told = []
    for place in unknown[:MOST_NAMED]:
        rows = np.flatnonzero(where == place)
        told.append(f"'{codes[place]}' in {_rows(len(rows))}, {key} {ids[int(rows[0])].as_py()}")
    hint = nearest(codes[unknown[0]], list(index))
    yield f"no lowest level of '{attribute.name}': {_listed(told, len(unknown))}; {hint}"


def _rows(count: int) -> str:
    return f"{count:,} row{'s' if count > 1 else ''}"


def _listed(told: Sequence[str], all_: int) -> str:
    """Some of what was found, and how many more there are."""
    return "; ".join([*told, *([f"and {all_ - len(told):,} more"] if all_ > len(told) else [])])


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
    if isinstance(attribute.read, Bands):
        raise PlanError(
            f"Attribute '{attribute.name}' has bands, and a frame holds the codes themselves. Write the code of the "
            "band into the frame, or recode its codes."
        )
    return attribute.column


def _leaf_of_code(attribute: Attribute) -> dict[str, int]:
    """The lowest level that each text of the frame stands for: its own code, a recoded one, or one for none."""
    own = {} if isinstance(attribute.read, Recode) else dict(attribute.levels.leaf_index)
    return own | attribute.raw_codes | ({"": attribute.missing_leaf} if attribute.missing else {})


def _columns(path: Path, names: Sequence[str], encoding: str | None) -> Any:
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
            letters = pyarrow.csv.ReadOptions(encoding=encoding_of(path, encoding).removesuffix("-sig"))
            table = pyarrow.csv.read_csv(path, read_options=letters, convert_options=texts)
            _refuse_absent(path, names, table.column_names)
    except (pa.ArrowException, OSError):
        raise PlanError(
            f"{path} cannot be read; a frame is a Parquet file, or a CSV file in UTF-8 or in [data] encoding."
        ) from None
    return {name: table[name].cast(pa.string()) for name in names}


def column_in_order(path: Path, key: str, name: str, encoding: str | None = None) -> list[str]:
    """What stands in a column of a register, in the order of its ids as it is read."""
    columns = _columns(path, [key, name], encoding)
    ids, found = columns[key].combine_chunks(), columns[name].combine_chunks()
    if found.null_count:
        raise PlanError(f"The frame {path.name} has {_rows(found.null_count)} without '{name}'; every row needs one.")
    if misspelt(found):
        raise PlanError(f"The frame {path.name} has {SPELT.format(name=name)}")
    return [str(one) for one in found.take(_order(ids)).to_pylist()]


def column_texts(path: Path, name: str, encoding: str | None = None) -> list[str]:
    """The different texts that stand in a column of a register."""
    return [str(one) for one in _columns(path, [name], encoding)[name].unique().drop_null().to_pylist()]


def _refuse_absent(path: Path, names: Sequence[str], listed: Sequence[str]) -> None:
    for name in names:
        if name not in listed:
            raise PlanError(f"The frame {path.name} has no column '{name}'; {nearest(name, listed)}")


def _places(attribute: Attribute, coded: Any) -> NDArray[np.int32]:
    index = _leaf_of_code(attribute)
    # The last place is that of rows without a code, which only a level for missing ones admits.
    leaves = [index[code] for code in coded.dictionary.to_pylist()]
    to = np.array([*leaves, attribute.missing_leaf if attribute.missing else 0], dtype=np.int32)
    return np.asarray(to[coded.indices.fill_null(len(leaves)).to_numpy(zero_copy_only=False)], dtype=np.int32)

"""The same rows as files of every kind."""

import gzip
from collections.abc import Mapping

from tests.confidential.oracle import as_text, is_missing


def write_csv(path, rows, delimiter=",", end="\n", bom=False):
    """A text file with only the quotes that it needs; nulls are empty."""

    def field(value):
        text = "" if is_missing(value) else as_text(value)
        needs = any(letter in text for letter in (delimiter, '"', "\n", "\r"))
        return '"' + text.replace('"', '""') + '"' if needs else text

    lines = [delimiter.join(map(field, rows[0])), *(delimiter.join(map(field, row.values())) for row in rows)]
    content = (("\ufeff" if bom else "") + "".join(line + end for line in lines)).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def columns_of(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


def write_parquet(path, rows, types: Mapping = {}):
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {name: pa.array(values, types.get(name)) for name, values in columns_of(rows).items()}
    pq.write_table(pa.table(arrays), path)
    return path


def write_duckdb(path, rows, table="jobs"):
    import duckdb
    import pyarrow as pa

    with duckdb.connect(str(path)) as connection:
        connection.register("given", pa.table(columns_of(rows)))
        name = table.replace('"', '""')
        connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM given')
    return f"{path}#{table}"

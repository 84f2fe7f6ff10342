"""Hostile data: names and values that look like SQL, broken files, and a marker that must not leave in any message."""

import copy
import gzip
import io
import logging
import pickle
import traceback
from decimal import Decimal

import duckdb
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.confidential.oracle import levels, make_plan, tabulate
from tests.confidential.writers import columns_of, write_csv, write_duckdb, write_parquet

from sfumato.confidential import Microdata, Tabulation
from sfumato.draws import SeededDraws
from sfumato.errors import DataError, SfumatoError
from sfumato.privacy import AddRemove
from sfumato.schema import Attribute, Bands, Column, Levels, Missing
from sfumato.statistics import Count, Total

MARK = "CANARY7f3a9c"

NAMES = [
    '"; DROP TABLE coded; --', "a'b", 'say "a"', "two words", "a.b", "é 漢字", "tab\there", "new\nline", "a,b", "a;b",
    "c0", "text0", "source", "leaf0", "unit", "key", "nothing", "records", "source_file", "#a", "\\", "%s", "{}",
]  # fmt: skip
VALUES = [
    *NAMES,
    "'); DROP TABLE records; --",
    "\x01\x02\x7f",
    " ",
    "🙂",
    "\u202e",
    "x" * 100_000,
    "NULL",
    "nan",
    "-0",
    "1e5",
]


def named(name):
    """A plan that reads a column of any name, for a code, a unit and a sum."""
    codes = [value for value in VALUES if value != "nan"]
    return make_plan(
        Attribute("a", Levels.of(codes), read=Column(name)),
        of=(Count(), Total(f"{name}+", clip=(0, 9))),
        hidden=AddRemove("firm", f"{name}!", 1),
    )


def kinds(folder, rows, frames=(pa.table, pd.DataFrame, pl.DataFrame, pl.LazyFrame)):
    yield "csv", write_csv(folder / "a.csv", rows)
    yield "parquet", write_parquet(folder / "a.parquet", rows)
    yield "duckdb", write_duckdb(folder / "a.duckdb", rows, 'a "table"; --')
    yield from ((frame.__name__, frame(columns_of(rows))) for frame in frames)


@pytest.mark.parametrize("name", NAMES)
def test_any_name_of_a_column_is_only_a_name(name, tmp_path):
    rows = [
        {name: VALUES[0], f"{name}!": "f", f"{name}+": "3"},
        {name: VALUES[1], f"{name}!": "'; --", f"{name}+": "4"},
    ]
    for kind, source in kinds(tmp_path, rows, [pa.table]):
        count, total = tabulate(named(name), source)
        assert (count.tolist()[:3], total.tolist()[:3]) == ([1, 1, 0], [3, 4, 0]), kind


def test_any_value_is_only_a_value(tmp_path, fill):
    plan = make_plan(levels("a", *VALUES), hidden=AddRemove("firm", "id", 1))
    rows = [{"a": value, "id": f"{at} {value}'"} for at, value in enumerate(VALUES)]
    for kind, source in [*kinds(tmp_path, rows), ("postgresql", fill("odd", {"a": "text", "id": "text"}, rows))]:
        assert tabulate(plan, source)[0].tolist() == [1] * len(VALUES), kind


@given(values=st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), max_size=8))
@settings(max_examples=15, deadline=None)
def test_texts_of_all_letters_are_told_apart_or_faults(values):
    codes = sorted({value for value in values if value}) or ["x"]
    plan = make_plan(levels("a", *codes, "none of these", missing=Missing("none of these")))
    (cells,) = tabulate(plan, pa.table({"a": pa.array(values, pa.string())}))
    assert cells.tolist() == [values.count(code) for code in codes] + [values.count("")]


# ---- the marker -----------------------------------------------------------------------------------------------------
PLAN = make_plan(
    levels("a", "x", "y"),
    Attribute("age", Bands("age", (0, 16)).levels(), read=Bands("age", (0, 16))),
    of=(Count(), Total("w", clip=(0, 9))),
    hidden=AddRemove("firm", "id", 1),
    impossible=[{"a": "y", "age": "16+"}],
    key="k",
)
GOOD = {"a": "x", "age": "3", "w": "1", "id": "f", "k": "1"}


class Loud:
    """A value whose every word is the marker."""

    def __str__(self):
        raise ValueError(MARK)

    __repr__ = __str__


def with_marks():
    """Rows that break one rule each, the marker in the value or beside it."""
    for column in ("a", "age", "w"):
        yield [GOOD, GOOD | {"k": "2", column: MARK}]
    for column in ("id", "k"):
        yield [GOOD | {"a": "x"}, GOOD | {"id": MARK, "k": MARK} | {column: None}]
    yield [GOOD | {"k": MARK}, GOOD | {"k": MARK}]
    yield [GOOD | {"k": MARK, "id": MARK, "a": "y", "age": "20"}]


def broken_files(folder):
    """Files that cannot be read, the marker in them."""
    head, row = b"a,age,w,id,k\n", f"x,3,1,{MARK},1\n".encode()
    parquet = write_parquet(folder / "good.parquet", [GOOD | {"id": MARK}]).read_bytes()
    database = write_duckdb(folder / "good.duckdb", [GOOD | {"id": MARK}]).partition("#")[0]
    content = {
        "ragged.csv": head + row + f"{MARK},1\n".encode(),
        "quote.csv": head + row + f'"{MARK},3,1,f,1\n'.encode(),
        "latin.csv": head + row + b"\xff" + MARK.encode() + b",3,1,f,2\n",
        "headless.csv": row,
        "mixed.csv": head + row + f"{MARK},3\r\n".encode(),
        "long.csv": head + MARK.encode() * 400_000 + b",3,1,f,1\n",
        "bad.csv.gz": gzip.compress(head + row * 1000)[:-20],
        "no.csv.gz": head + row,
        "cut.parquet": parquet[:-8],
        "flip.parquet": parquet[:40].replace(b"\x00", b"\x7f") + parquet[40:],
        "text.parquet": head + row,
        "text.duckdb": head + row,
        "text.dta": head + row,
        "text.sav": head + row,
        "text.xpt": head + row,
        "text.sas7bdat": head + row,
    }
    for name, one in content.items():
        (folder / name).write_bytes(one)
        yield f"{folder / name}#jobs" if name.endswith("duckdb") else folder / name
    pyreadstat.write_sav(pd.DataFrame([GOOD | {"id": MARK + "é"}]), folder / "coded.sav")
    (folder / "coded.sav").write_bytes((folder / "coded.sav").read_bytes().replace("é".encode(), b"\xff\xfe"))
    yield folder / "coded.sav"
    with duckdb.connect(database) as connection:
        connection.execute("CREATE VIEW view AS SELECT a, age, CAST(id AS INTEGER) AS w, id, k FROM jobs")
    yield f"{database}#view"


def bad_frames():
    """Frames that cannot be turned into columns, or fail while they are."""
    table = columns_of([GOOD, GOOD | {"k": "2"}])
    yield pd.DataFrame(table | {"w": [1, MARK]}, dtype=object)
    yield pd.DataFrame(table | {"w": [1, Loud()]}, dtype=object)
    yield pd.DataFrame(table | {"a": [{MARK: 1}, [MARK]]}, dtype=object)
    yield pd.DataFrame(table | {"w": [Decimal("1e400"), MARK]}, dtype=object)
    yield pd.DataFrame([[MARK, MARK]], columns=["a", "a"])
    yield pl.LazyFrame(table | {"id": [MARK, "1"]}).with_columns(pl.col("id").cast(pl.Int64))
    yield pl.LazyFrame(table | {"w": [MARK, "1"]}).with_columns(pl.col("w").cast(pl.Int64))
    yield pa.table({"b": [MARK]})
    yield pa.table({MARK: [1]})
    yield {MARK: 1}
    yield pd.Series([MARK])


def said(source):
    """Every word that leaves when a source is tabulated, and whether it was refused."""
    words = io.StringIO()
    handler = logging.StreamHandler(words)
    logging.getLogger().addHandler(handler)
    microdata = Microdata.open(source, PLAN.schema)
    refused = False
    try:
        tabulation = Tabulation(PLAN, microdata, SeededDraws(1))
        words.write(f"{tabulation!r} {tabulation} {tabulation._engine!r} {tabulation.faults()!r} {tabulation.faults()}")
        cells = tabulation.cells(PLAN.measures[0])
        words.write(f"{cells!r} {cells}")
    except SfumatoError as error:
        words.write(f"{error} {error!r} {error.args} {traceback.format_exc()}")
        refused = True
    finally:
        logging.getLogger().removeHandler(handler)
    return f"{microdata!r} {microdata} {words.getvalue()}", refused


def assert_silent(source, capfd, recwarn):
    words, refused = said(source)
    assert refused
    assert MARK not in words
    assert MARK not in "".join(capfd.readouterr())
    assert not [warning for warning in recwarn if MARK in str(warning.message)]


@pytest.mark.parametrize("rows", list(with_marks()), ids=range(7))
def test_no_bad_value_leaves(rows, tmp_path, capfd, recwarn):
    for _, source in kinds(tmp_path, rows):
        assert_silent(source, capfd, recwarn)


def test_no_bad_value_leaves_a_broken_file(tmp_path, capfd, recwarn):
    for source in broken_files(tmp_path):
        assert_silent(source, capfd, recwarn)


def test_no_bad_value_leaves_a_frame(capfd, recwarn):
    for source in bad_frames():
        assert_silent(source, capfd, recwarn)


def test_no_bad_value_leaves_a_server(fill, postgres, capfd, recwarn):
    kind = dict.fromkeys(GOOD, "text")
    assert_silent(fill("marked", kind, [GOOD, GOOD | {"k": "2", "a": MARK}]), capfd, recwarn)
    with psycopg.connect(postgres) as connection:
        connection.execute("CREATE VIEW failing AS SELECT a, age, w, id, CAST(a AS integer) AS k FROM marked")
    assert_silent(f"{postgres}#failing", capfd, recwarn)


def test_the_marker_would_be_found():
    """The control: the same search finds the marker in what a database says without the wall."""
    with pytest.raises(duckdb.Error) as caught:
        duckdb.connect().execute("SELECT CAST(? AS INTEGER)", [MARK])
    assert MARK in str(caught.value)
    with pytest.raises(pa.ArrowException) as wrong:
        pa.array([1, MARK])
    assert MARK in str(wrong.value)


def test_what_is_confidential_prints_as_its_name_and_stays_in_its_process():
    table = pa.table(columns_of([GOOD]))
    microdata = Microdata.open(table, PLAN.schema)
    tabulation = Tabulation(PLAN, microdata, SeededDraws(1))
    cells = tabulation.cells(PLAN.measures[0])
    shown = [repr(one) for one in (microdata, tabulation, tabulation._engine, cells)]
    assert shown == [
        "<Microdata of job: confidential>", "<Tabulation: confidential>", "<DuckDB: confidential>",
        "<Cells: 4 confidential cells>",
    ]  # fmt: skip
    for one in (microdata, tabulation, tabulation._engine, cells):
        for leave in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="confidential"):
                leave(one)


@given(content=st.binary(max_size=400), suffix=st.sampled_from([".csv", ".csv.gz", ".parquet", ".sav", ".dta", ".xpt"]))
@settings(max_examples=25, deadline=None)
def test_any_bytes_are_read_or_refused(content, suffix, tmp_path_factory):
    path = tmp_path_factory.mktemp("bytes") / f"a{suffix}"
    for start in (b"", b"a\n", b"a,b\r\n"):
        path.write_bytes(start + content)
        try:
            tabulate(make_plan(levels("a", "x")), path)
        except DataError:
            continue

"""Every kind of source gives the cells that a count of its rows in plain Python gives."""

import datetime as dt
import random
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyreadstat
import pytest
from tests.confidential.oracle import counted, levels, make_plan, tabulate
from tests.confidential.writers import columns_of, write_csv, write_duckdb, write_parquet

from sfumato.confidential import Microdata
from sfumato.confidential.engines.request import Wanted
from sfumato.confidential.engines.sources import postgres as postgres_source
from sfumato.errors import DataError
from sfumato.privacy import AddRemove
from sfumato.schema import Attribute, Bands, Missing
from sfumato.statistics import Total

KINDS = {
    "occ": "text",
    "region": "smallint",
    "school": "integer",
    "years": "bigint",
    "flag": "boolean",
    "wage": "float8",
}
KINDS |= {"unused": "date"}


def check(jobs, *sources):
    plan, rows = jobs
    for measure, cells in zip(plan.measures, tabulate(plan, *sources), strict=True):
        assert np.array_equal(cells, counted(plan, measure, rows)), measure.name


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.CSV", "a.txt", "a b's.csv", "a#b.csv"])
def test_csv(jobs, tmp_path, name):
    check(jobs, write_csv(tmp_path / name, jobs[1]))


@pytest.mark.parametrize(
    "form", [{"end": "\r\n"}, {"bom": True}, {"delimiter": ";"}, {"delimiter": "\t"}, {"delimiter": "|"}]
)
def test_csv_in_the_forms_that_agencies_send(jobs, tmp_path, form):
    check(jobs, write_csv(tmp_path / "a.csv", jobs[1], **form))


def test_csv_of_many_blocks_with_lines_in_fields(tmp_path):
    draw = random.Random(1)
    plan = make_plan(levels("a", "x\ny", "x,y", 'x"\r\n"y', "n"))
    rows = [{"a": draw.choice(plan.schema.attributes[0].levels.codes), "b": "long" * 250} for _ in range(40_000)]
    (cells,) = tabulate(plan, write_csv(tmp_path / "a.csv", rows))
    assert np.array_equal(cells, counted(plan, plan.measures[0], rows))


def test_the_form_of_a_csv_is_never_guessed_from_its_records(tmp_path):
    plan = make_plan(levels("x", "a;b", "#1", "c"))
    hostile = [{"x": "a;b"}, {"x": "a;b"}, {"x": "#1"}, {"x": "c"}]
    (cells,) = tabulate(plan, write_csv(tmp_path / "a.csv", hostile))
    assert cells.tolist() == [2, 1, 1]


def test_codes_in_csv_stay_what_they_say(tmp_path):
    written = 'code\n01\n1\nNO\nNA\nnull\ntrue\n1e3\n"01"\n'
    (tmp_path / "a.csv").write_text(written, encoding="utf-8")
    plan = make_plan(levels("code", "01", "1", "NO", "NA", "null", "true", "1e3", "1000"))
    assert tabulate(plan, tmp_path / "a.csv")[0].tolist() == [2, 1, 1, 1, 1, 1, 1, 0]
    (tmp_path / "a.csv").write_text(f"{written} 1\n", encoding="utf-8")
    with pytest.raises(DataError, match="not among the declared levels"):
        tabulate(plan, tmp_path / "a.csv")


TYPES = {
    "plain": {},
    "large": {"occ": pa.large_string(), "unused": pa.large_string()},
    "views": {"occ": pa.string_view()},
    "dictionary": {"occ": pa.dictionary(pa.int8(), pa.string()), "region": pa.dictionary(pa.int8(), pa.int64())},
    "short integers": {"region": pa.uint8(), "school": pa.int8(), "years": pa.int16()},
    "floats for codes": {"region": pa.float64(), "school": pa.float64(), "years": pa.float64()},
    "short floats": {"region": pa.float32(), "years": pa.float32()},
    "texts": {"occ": pa.string(), "unused": pa.string()},
}


@pytest.mark.parametrize("types", TYPES.values(), ids=TYPES)
def test_parquet(jobs, tmp_path, types):
    check(jobs, write_parquet(tmp_path / "a.parquet", jobs[1], types))


def test_parquet_with_decimals_nans_and_columns_of_no_interest(jobs, tmp_path):
    plan, rows = jobs
    other = [
        row
        | {
            "region": Decimal(row["region"]).quantize(Decimal("1.00")),
            "school": None if row["school"] is None else Decimal(row["school"]),
            "wage": float("nan") if row["wage"] is None else row["wage"],
            "unused": dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
        }
        for row in rows
    ]
    check((plan, rows), write_parquet(tmp_path / "a.parquet", other, {"region": pa.decimal128(20, 2)}))


def test_duckdb(jobs, tmp_path):
    check(jobs, write_duckdb(tmp_path / "a.duckdb", jobs[1]))
    with pytest.raises(DataError, match="name its table after a #"):
        tabulate(jobs[0], tmp_path / "a.duckdb")


def test_postgresql(jobs, fill):
    check(jobs, fill("jobs", KINDS, jobs[1]))


def test_postgresql_with_decimals_nans_and_padded_texts(jobs, fill):
    plan, rows = jobs
    kinds = KINDS | {"occ": "char(40)", "region": "numeric(8,3)", "school": "real", "wage": "numeric", "flag": "text"}
    other = [row | {"wage": Decimal("NaN") if row["wage"] is None else Decimal(str(row["wage"]))} for row in rows]
    other = [row | {"flag": str(row["flag"]).lower()} for row in other]
    check((plan, rows), fill("padded", kinds, other))


def test_postgresql_says_what_is_wrong_and_not_the_password(jobs, postgres, fill):
    plan, rows = jobs
    fill("one_column", {"occ": "text"}, rows)
    for source, words in {
        f"{postgres}#nowhere": "check address, rights and table (UndefinedTable)",
        f"{postgres}#one_column": "no column 'region'",
        postgres: "needs its table after a #",
        "postgresql://user:hush@localhost:1/x#jobs": "check address",
        "mysql://user:hush@localhost/x#jobs": "must be of PostgreSQL",
    }.items():
        with pytest.raises(DataError) as caught:
            tabulate(plan, source)
        assert words in str(caught.value)
        assert "hush" not in str(caught.value)
    with pytest.raises(DataError, match="Sources 1 and 2 are the same") as caught:
        Microdata.open([f"{postgres}#jobs", f"{postgres.replace('hush', 'other')}#public.jobs"], plan.schema)
    assert "hush" not in str(caught.value)


READSTAT = {
    ".dta": pyreadstat.write_dta,
    ".sav": pyreadstat.write_sav,
    ".zsav": lambda frame, path: pyreadstat.write_sav(frame, path, compress=True),
    ".xpt": pyreadstat.write_xport,
}


@pytest.mark.parametrize("suffix", READSTAT)
def test_stata_spss_and_sas(jobs, tmp_path, suffix):
    """Integers come back as floats, booleans as 0 and 1, missing texts as empty ones."""
    path = tmp_path / f"a{suffix}"
    READSTAT[suffix](pd.DataFrame(columns_of(jobs[1])).astype({"flag": int, "region": "int16"}), path)
    check(jobs, path)


def test_portable_spss(tmp_path):
    frame = pd.DataFrame({"SEX": [1.0, 2.0, np.nan], "NAME": ["01", "NO", ""]})
    pyreadstat.write_por(frame, tmp_path / "a.por")
    plan = make_plan(
        *(
            levels(name, *codes, "none", missing=Missing("none"))
            for name, codes in {"SEX": "12", "NAME": ("01", "NO")}.items()
        )
    )
    assert tabulate(plan, tmp_path / "a.por")[0].tolist() == np.eye(3).tolist()


def test_value_labels_do_not_replace_codes(tmp_path):
    frame = pd.DataFrame({"sex": [1.0, 2.0, np.nan]})
    pyreadstat.write_sav(frame, tmp_path / "a.sav", variable_value_labels={"sex": {1: "male", 2: "female"}})
    plan = make_plan(levels("sex", "1", "2", "unknown", missing=Missing("unknown")))
    assert tabulate(plan, tmp_path / "a.sav")[0].tolist() == [1, 1, 1]


def test_sas7bdat():
    pytest.skip("nothing here can write sas7bdat; it is read by the same function as .xpt")


FRAMES = {
    "pandas": pd.DataFrame,
    "pandas, nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas, categories": lambda columns: pd.DataFrame(columns).astype({"occ": "category", "region": "category"}),
    "pandas, objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "pandas, arrow": lambda columns: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, own index": lambda columns: pd.DataFrame(columns, index=[5] * len(columns["occ"])),
    "polars": pl.DataFrame,
    "polars, lazy": lambda columns: pl.DataFrame(columns).lazy(),
    "polars, categories": lambda columns: pl.DataFrame(columns).with_columns(pl.col("occ").cast(pl.Categorical)),
    "arrow": pa.table,
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_frames(jobs, frame):
    check(jobs, frame(columns_of(jobs[1])))


def test_a_pandas_column_of_mixed_types_is_read_by_its_texts():
    mixed = [1, "1", 1.0, "01", None, float("nan"), pd.NA, True, Decimal("2.50"), 2.5, 10**30]
    plan = make_plan(levels("a", "1", "01", "true", "2.5", str(10**30), "none", missing=Missing("none")))
    assert tabulate(plan, pd.DataFrame({"a": mixed}, dtype=object))[0].tolist() == [3, 1, 1, 2, 1, 3]


def test_what_is_no_source_is_refused(tmp_path):
    plan = make_plan(levels("a", "1"))
    (tmp_path / "a.xyz").write_text("a\n1\n", encoding="utf-8")
    (tmp_path / "a*.csv").write_text("a\n1\n", encoding="utf-8")
    (tmp_path / "empty.csv").write_text("", encoding="utf-8")
    (tmp_path / "twice.csv").write_text("a,a\n1,1\n", encoding="utf-8")
    for source, words in {
        tmp_path / "none.csv": "There is no file",
        tmp_path / "a.xyz": "no kind that can be read",
        tmp_path / "a*.csv": "pattern",
        tmp_path / "empty.csv": "first line must name the columns",
        tmp_path / "twice.csv": "two columns 'a'",
        tmp_path: "which is no Parquet file",
        3: "neither a path nor a frame",
    }.items():
        with pytest.raises(DataError, match=words):
            tabulate(plan, source)
    with pytest.raises(DataError, match="No data were given"):
        Microdata.open([], plan.schema)


def test_a_folder_named_like_a_partition_does_not_replace_the_column(tmp_path):
    rows = [{"state": "CA"}, {"state": "NY"}]
    (tmp_path / "state=NY").mkdir()
    plan = make_plan(levels("state", "CA", "NY"))
    for source in (
        write_parquet(tmp_path / "state=NY" / "a.parquet", rows),
        write_csv(tmp_path / "state=NY" / "a.csv", rows),
    ):
        assert tabulate(plan, source)[0].tolist() == [1, 1]


def test_no_rows_give_empty_cells(tmp_path):
    (tmp_path / "a.csv").write_text("a,w\n", encoding="utf-8")
    plan = make_plan(levels("a", "1", "2"), of=(Total("w", clip=(0, 9)),), hidden=AddRemove("firm", "a", 3))
    for source in (tmp_path / "a.csv", pa.table({"a": pa.array([], pa.string()), "w": pa.array([], pa.int64())})):
        assert tabulate(plan, source)[0].tolist() == [0, 0]


def test_a_plan_that_reads_no_column_counts_rows(tmp_path, fill):
    rows = [{"a": "x"}] * 5
    plan = make_plan(by=())
    for source in (
        write_csv(tmp_path / "a.csv", rows), write_parquet(tmp_path / "a.parquet", rows), pl.LazyFrame(rows),
        write_duckdb(tmp_path / "a.duckdb", rows), fill("five", {"a": "text"}, rows),
    ):  # fmt: skip
        assert tabulate(plan, source)[0].tolist() == 5


def test_bands_of_short_floats_end_where_the_decimal_does():
    bands = Bands("x", ("0", "0.7"))
    plan = make_plan(Attribute("x", bands.levels(), read=bands))
    for frame in (pa.table({"x": pa.array([0.7, 0.69], pa.float32())}), pa.table({"x": ["0.7", "0.69"]})):
        assert tabulate(plan, frame)[0].tolist() == [1, 1]


def test_postgresql_is_read_as_it_comes_and_held_once(postgres, monkeypatch):
    """A table that prints 26 MB, in blocks of 1 MB: beside its columns never more than some blocks are there."""
    import psycopg

    with psycopg.connect(postgres) as connection:
        connection.execute(
            "CREATE TABLE wide AS SELECT i, repeat('x', 120) || i AS t FROM generate_series(1, 200000) i"
        )
    monkeypatch.setattr(postgres_source, "BLOCK", 2**20)
    most, read = [], postgres_source._Copied.readinto

    def watched(self, space):
        taken = read(self, space)
        most.append(pa.total_allocated_bytes() - before)
        return taken

    monkeypatch.setattr(postgres_source._Copied, "readinto", watched)
    before = pa.total_allocated_bytes()
    named, table = postgres_source.postgres_table(f"{postgres}#wide", Wanted(["t", "i"]))
    assert named == ["t", "i"]
    assert table.column(1).to_pylist() == list(range(1, 200_001))
    assert table.column(0)[199_999].as_py() == "x" * 120 + "200000"
    assert table.nbytes > 25e6
    assert max(most) < 1.5 * table.nbytes
    assert most[len(most) * 3 // 4] > 0.5 * table.nbytes, "it is taken apart while it comes, not once it is there"


def test_postgresql_has_lines_within_texts_and_rows_that_print_nothing(fill, monkeypatch):
    monkeypatch.setattr(postgres_source, "BLOCK", 256)  # so small that texts of several lines cross it
    texts = ["one\ntwo", None, "three", "four\n\nfive" * 3, None] * 40
    source = fill("lines", {"t": "text"}, [{"t": text} for text in texts])
    _, table = postgres_source.postgres_table(source, Wanted(["t"]))
    assert table.column(0).to_pylist() == [text or "" for text in texts]

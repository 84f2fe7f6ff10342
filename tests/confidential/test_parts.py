"""A folder and a pattern give the cells that a count of the rows of all their files in plain Python gives."""

import numpy as np
import pytest
from tests.confidential.oracle import counted, levels, make_plan, tabulate
from tests.confidential.writers import write_csv, write_parquet

from sfumato.errors import DataError

ROWS = [[{"state": "01", "size": "few"}, {"state": "02", "size": "many"}], [{"state": "01", "size": "few"}]]
PLAN = make_plan(levels("state", "01", "02"), levels("size", "few", "many"), repeated_rows=True)


def check(source, rows=None):
    (cells,) = tabulate(PLAN, source)
    assert np.array_equal(cells, counted(PLAN, PLAN.measures[0], rows or [row for part in ROWS for row in part]))


def test_a_folder_is_all_of_its_parquet_files(tmp_path):
    for place, rows in enumerate(ROWS):
        (tmp_path / f"year={place}").mkdir()
        write_parquet(tmp_path / f"year={place}" / f"part-{place}.parquet", rows)
    for beside in ("_SUCCESS", ".part-0.parquet.crc"):
        (tmp_path / beside).write_bytes(b"")
    (tmp_path / "_temporary").mkdir()
    write_parquet(tmp_path / "_temporary" / "part-0.parquet", ROWS[0])
    check(tmp_path)
    check(str(tmp_path))


def test_a_pattern_is_all_files_that_fit_it(tmp_path):
    for place, rows in enumerate(ROWS):
        write_csv(tmp_path / f"part-{place}.csv", rows)
    write_csv(tmp_path / "other.csv", ROWS[0])
    check(str(tmp_path / "part-*.csv"))
    check(str(tmp_path / "part-[01].csv"))
    check(str(tmp_path / "part-?.csv"))


def test_what_only_the_folders_say_is_read_as_the_text_that_stands_there(tmp_path):
    sizes = [["few", "many", "few"], ["many"]]
    for code, part in zip(["01", "02"], sizes, strict=True):
        (tmp_path / f"state={code}").mkdir()
        write_parquet(tmp_path / f"state={code}" / "a.parquet", [{"size": size} for size in part])
    named = zip(["01", "02"], sizes, strict=True)
    check(tmp_path, [{"state": code, "size": size} for code, part in named for size in part])


def test_a_folder_of_another_column_does_not_replace_the_file_s_own(tmp_path):
    (tmp_path / "size=few" / "state=01").mkdir(parents=True)
    write_parquet(tmp_path / "size=few" / "state=01" / "a.parquet", [{"size": "many"}])
    check(tmp_path, [{"state": "01", "size": "many"}])


def test_what_a_folder_lacks_or_holds_beside_is_said(tmp_path):
    marks = {"delta": "_delta_log/0.json", "hudi": ".hoodie/x", "ice": "metadata/version-hint.text"}
    for kind, mark in (marks | {"kept": "metadata/00000-1a.metadata.json"}).items():
        (tmp_path / kind / mark).parent.mkdir(parents=True)
        (tmp_path / kind / mark).write_text("1", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    (tmp_path / "mixed").mkdir()
    write_csv(tmp_path / "mixed" / "a.csv", ROWS[0])
    write_parquet(tmp_path / "delta" / "a.parquet", ROWS[0])
    for source, words in {
        tmp_path / "delta": "is a table of Delta",
        tmp_path / "hudi": "is a table of Hudi",
        tmp_path / "ice": "is a table of Iceberg",
        tmp_path / "kept": "is a table of Iceberg",
        tmp_path / "delta" / "*.parquet": "is a table of Delta",
        tmp_path / "empty": "holds no Parquet file",
        tmp_path / "mixed": "a.csv, which is no Parquet file; name the files that are meant by a pattern",
        tmp_path / "none-*.csv": "No file fits the pattern",
    }.items():
        with pytest.raises(DataError, match=words):
            tabulate(PLAN, source)


def test_a_file_and_its_folder_are_not_counted_twice(tmp_path):
    part = write_parquet(tmp_path / "a.parquet", ROWS[0])
    with pytest.raises(DataError, match="counted twice"):
        tabulate(PLAN, tmp_path, part)

"""Text files in Latin-1 are read where the plan says so; otherwise the line is named, and nothing of it."""

import gzip

import pytest
from tests.confidential.oracle import levels, make_plan, tabulate

from sfumato.confidential import Microdata
from sfumato.confidential.engines.choose import refuse_before_reading
from sfumato.confidential.tabulate import reading
from sfumato.errors import DataError, PlanError
from sfumato.schema import Schema

PLACES = levels("ort", "München", "Köln", "Zürich")
TEXT = "ort,w\n" + "Köln,1\n" * 3 + "München,2\n" + "Zürich,3\n"


def plan_in(encoding):
    plan = make_plan(PLACES)
    return type(plan)(**{**vars_of(plan), "schema": Schema(plan.schema.attributes, encoding=encoding)})


def vars_of(plan):
    return {"name": plan.name, "hidden": plan.hidden, "limit": plan.limit, "measures": plan.measures}


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_latin_1_is_read_where_the_plan_says_so(tmp_path, name):
    content = TEXT.encode("latin-1")
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    assert tabulate(plan_in("latin-1"), tmp_path / name)[0].tolist() == [1, 3, 1]


def test_the_names_of_columns_are_in_the_same_letters(tmp_path):
    plan = make_plan(levels("straße", "a", "b"))
    (tmp_path / "a.csv").write_bytes("straße\na\nb\nb\n".encode("latin-1"))
    there = type(plan)(**{**vars_of(plan), "schema": Schema(plan.schema.attributes, encoding="latin-1")})
    assert tabulate(there, tmp_path / "a.csv")[0].tolist() == [1, 2]
    with pytest.raises(DataError, match=r"a\.csv, line 1, holds letters that are not UTF-8"):
        tabulate(plan, tmp_path / "a.csv")


@pytest.mark.parametrize("rows", [0, 60_000, 400_000])
def test_a_line_that_is_not_utf_8_is_named_and_what_would_work(tmp_path, rows):
    """In the first block, in a later one, and beyond what is read for the header."""
    (tmp_path / "a.csv").write_bytes(b"ort\n" + b"K\xc3\xb6ln\n" * rows + "München\n".encode("latin-1") + b"secret\n")
    with pytest.raises(DataError) as refused:
        tabulate(make_plan(PLACES), tmp_path / "a.csv")
    assert f"a.csv, line {rows + 2}, holds letters that are not UTF-8" in str(refused.value)
    assert '[data] encoding = "latin-1"' in str(refused.value)
    assert "nchen" not in str(refused.value)
    assert refused.value.__context__ is None


def test_it_is_told_before_a_record_is_read(tmp_path):
    (tmp_path / "a.csv").write_bytes(TEXT.encode("latin-1"))
    plan = make_plan(PLACES)
    with pytest.raises(DataError, match=r"line 2, holds letters that are not UTF-8") as refused:
        refuse_before_reading(Microdata.open(tmp_path / "a.csv", plan.schema).sources, reading(plan))
    assert refused.value.__context__ is None


def test_windows_letters_are_not_taken_for_latin_1(tmp_path):
    (tmp_path / "a.csv").write_bytes("ort,w\nKöln,1\nKöln,„2“\n".encode("windows-1252"))
    with pytest.raises(DataError, match=r"a\.csv, line 3, holds letters that are not Latin-1.*Windows-1252.*UTF-8"):
        tabulate(plan_in("latin-1"), tmp_path / "a.csv")


def test_a_file_in_utf_8_is_not_read_as_latin_1_without_a_word(tmp_path):
    """What UTF-8 writes in two bytes are two letters of Latin-1, which are no level, or no letter at all."""
    (tmp_path / "a.csv").write_bytes(TEXT.encode())
    with pytest.raises(DataError, match=r"ort.*levels|not Latin-1"):
        tabulate(plan_in("latin-1"), tmp_path / "a.csv")


def test_an_encoding_that_nobody_reads_is_refused_in_the_plan():
    with pytest.raises(PlanError, match=r"\[data\] encoding is 'latin1'; did you mean 'latin-1'\?"):
        Schema(PLACES if isinstance(PLACES, tuple) else (PLACES,), encoding="latin1")

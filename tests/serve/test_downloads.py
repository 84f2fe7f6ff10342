"""Every download carries every error, every notice and its release, and cannot harm who opens it."""

import csv
import gc
import io
import json
import math
import tracemalloc
import zipfile
from dataclasses import replace
from datetime import datetime

import numpy as np
import openpyxl
import pyarrow.parquet as pq
import pytest

from sfumato.query.answer import Answer, apart
from sfumato.query.downloads import sdmx, tidy
from sfumato.query.downloads.formats import BY_NAME, FORMATS
from sfumato.release import Withheld, open_release, withdraw
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.question import Question

JOBS = "/api/v2/tables/jobs-survey~jobs/data"
ASKED = "codelist[place]=leaves&valueCodes[sex]=*&valueCodes[age]=*&sum[trade]=a,b&rows=place&rows=age&cols=sex"
ERRORS = ["moe90", "se_noise", "se_sampling", "cv"]


def taken(client, form, query=ASKED):
    reply = client.get(f"{JOBS}?{query}&outputFormat={form}")
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"] == BY_NAME[form].media_type
    return reply


def lines(reply):
    return list(csv.DictReader(io.StringIO(reply.content.decode(), newline="")))


def book(reply):
    return openpyxl.load_workbook(io.BytesIO(reply.content))


def rows(sheet):
    return list(sheet.iter_rows(values_only=True))


@pytest.fixture(scope="module")
def expected(engine):
    """The same cells from the engine, one by one."""
    at = {"place": "leaves", "sex": "leaves", "age": "leaves"}
    table = engine.table(["place", "sex", "age"], where={"trade": ["a", "b"]}, at=at)
    return dict(table.items())


def numbers(estimate):
    return [estimate.value, estimate.moe(0.90), estimate.noise_se, estimate.sampling_se, estimate.cv]


def test_csv_holds_every_number_of_the_engine(page, expected):
    found = lines(taken(page, "csv"))
    assert len(found) == len(expected)
    for line in found:
        estimate = expected[line["place"], line["sex"], line["age"]]
        assert [float(line[name]) for name in ("estimate", *ERRORS)] == numbers(estimate)
        assert (line["grade"], int(line["cells"])) == (estimate.grade, estimate.cells)
        assert line["universe"] == "Trade <i>: a, b"


def test_parquet_holds_them_too_with_the_facts_in_its_schema(page, expected, engine):
    table = pq.read_table(io.BytesIO(taken(page, "parquet").content))
    for record in table.to_pylist():
        estimate = expected[record["place"], record["sex"], record["age"]]
        assert [record[name] for name in ("estimate", *ERRORS)] == numbers(estimate)
    facts = json.loads(table.schema.metadata[b"sfumato"])
    assert facts["release"] == engine.release.id
    assert facts["universe"] == {"trade": ["a", "b"]}
    assert facts["promise"] == engine.release.manifest.promise.model_dump()


def test_sdmx_csv_has_the_columns_of_the_field_guide(page, expected, engine):
    found = lines(taken(page, "sdmx-csv"))
    head = list(found[0])
    assert head[:3] == ["STRUCTURE", "STRUCTURE_ID", "ACTION"]
    assert head[3:8] == ["PLACE", "SEX", "AGE", "TIME_PERIOD", "OBS_VALUE"]
    assert {"MOE90", "SE_NOISE", "SE_SAMPLING", "CV", "GRADE", "OBS_STATUS", "UNIT_MEASURE", "RELEASE"} <= set(head)
    for line in found:
        estimate = expected[line["PLACE"], line["SEX"], line["AGE"]]
        assert float(line["OBS_VALUE"]) == estimate.value
        assert float(line["SE_NOISE"]) == estimate.noise_se
        assert line["OBS_STATUS"] == ("U" if estimate.grade == "C" else "A")
    assert {(one["STRUCTURE"], one["ACTION"]) for one in found} == {("dataflow", "I")}
    assert found[0]["STRUCTURE_ID"].endswith(f"(1.0.0-{engine.release.id[:12]})")


def test_xlsx_shows_the_table_as_placed_with_errors_and_totals(page, engine):
    sheet = rows(book(taken(page, "xlsx"))["Table"])
    start = next(place for place, row in enumerate(sheet) if row[:2] == ("Place", "Age"))
    assert sheet[start - 1][2:11:3] == ("Total", "female", "male")
    assert sheet[start][2:5] == ("Estimate", "± 90%", "Grade")
    first = engine.table("place", "sex", at={"place": "leaves"}, where={"trade": ["a", "b"], "age": "16-29"})
    leaf = engine.release.attributes[0].levels.leaves[0]
    shown = sheet[start + 1]
    for at, sex in ((5, "female"), (8, "male")):
        estimate = first[leaf, sex]
        assert shown[at : at + 3] == (*two_digits(estimate), estimate.grade)
    total = next(row for row in sheet if row[0] == "Total")
    assert total[2:4] == two_digits(engine.total({"trade": ["a", "b"]}))


def two_digits(estimate):
    """A whole number to the second digit of its margin, and the margin to that."""
    margin = float(f"{estimate.moe(0.90):.1e}")
    step = 10 ** max(math.floor(math.log10(margin)) - 1, 0)
    return round(estimate.value / step) * step, margin


def test_xlsx_says_what_it_is_how_it_was_protected_and_how_to_cite_it(page, engine):
    about = rows(book(taken(page, "xlsx"))["About"])
    said = "\n".join(f"{what}: {words}" for what, words in about)
    manifest = engine.release.manifest
    for words in (engine.release.id, manifest.promise.words, manifest.promise.loss_words, "Where places are"):
        assert words in said
    assert engine.cite() in said
    assert "/data?codelist[place]=leaves" in said


@pytest.mark.parametrize("form", FORMATS, ids=lambda one: one.name)
def test_the_same_question_has_the_same_bytes(page, browse, release, form):
    first, again = taken(page, form.name), taken(browse([release]), form.name)
    assert first.content == again.content
    assert first.headers["etag"] == again.headers["etag"]


def test_the_stamps_of_a_workbook_are_those_of_the_release(page, engine):
    content = taken(page, "xlsx").content
    created = datetime.fromisoformat(engine.release.manifest.created).replace(tzinfo=None)
    assert book(taken(page, "xlsx")).properties.created == created
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        assert {part.date_time[0] for part in parts.infolist()} == {1980}


def test_no_text_is_a_formula(page, hostile):
    signs = ("=", "+", "-", "@")
    whole = "codelist[place]=all"
    for form in ("csv", "sdmx-csv"):
        values = [value for line in lines(taken(page, form, whole)) for value in line.values()]
        risky = [value for value in values if value.startswith(signs) and value != "-"]
        assert all(float(value) is not None for value in risky)
    workbook = book(taken(page, "xlsx", whole))
    cells = [cell for sheet in workbook for row in sheet.iter_rows() for cell in row if isinstance(cell.value, str)]
    assert {cell.data_type for cell in cells} == {"s"}
    formulas = [cell for cell in cells if cell.value.startswith(signs) and cell.value != "-"]
    assert {cell.value for cell in formulas} == {one for one in hostile if one.startswith(signs)}
    assert all(cell.quotePrefix for cell in formulas)
    with zipfile.ZipFile(io.BytesIO(taken(page, "xlsx", whole).content)) as parts:
        assert not any(b"<f>" in parts.read(name) for name in parts.namelist())


def test_no_format_loses_the_banner(bench, release, browse):
    withdrawn = bench.copy(release, "withdrawn-download")
    withdraw(withdrawn, "a file was read twice")
    client = browse([withdrawn])
    words = "Withdrawn: a file was read twice."
    assert words in taken(client, "json-stat2").json()["note"]
    assert {line["notice"] for line in lines(taken(client, "csv"))} == {words}
    assert {line["NOTICE"] for line in lines(taken(client, "sdmx-csv"))} == {words}
    table = pq.read_table(io.BytesIO(taken(client, "parquet").content))
    assert set(table["notice"].to_pylist()) == {words}
    workbook = book(taken(client, "xlsx"))
    assert rows(workbook["Table"])[0][0] == words
    assert rows(workbook["About"])[0][1] == words
    assert any(words in row for row in rows(workbook["Tidy"])[1:])


def test_every_format_says_why_an_error_is_withheld(release):
    opened, why = open_release(release), "its scale is the largest employer"
    unsaid = {name: replace(one, uncertainty=Withheld(why)) for name, one in opened.products.items()}
    sheet = Catalogue.of([replace(opened, products=unsaid)]).tables["jobs-survey~jobs"]
    answer = Answer(Question(sheet, {"sex": ("female", "male")}, {}).table())
    assert set(answer.columns.grade) == {"-"}
    for form in FORMATS:
        content = form.write(answer)
        if form.name == "xlsx":
            sheets = openpyxl.load_workbook(io.BytesIO(content))
            content = repr([rows(one) for one in sheets]).encode()
        assert why.encode() in content, form.name
    lines_of = list(csv.DictReader(io.StringIO(BY_NAME["csv"].write(answer).decode())))
    assert {(line["moe90"], line["se_noise"], line["cv"]) for line in lines_of} == {("", "", "")}


def test_a_large_table_comes_in_pieces_and_is_the_whole(page, engine):
    whole = "&".join(f"valueCodes[{name}]=*" for name in ("place", "sex", "age", "trade", "hours"))
    reply = taken(page, "csv", whole)
    found = lines(reply)
    assert len(found) == 15 * 2 * 3 * 8 * 20
    codes = [tuple(line[name] for name in ("place", "sex", "age", "trade", "hours")) for line in found]
    assert len(set(codes)) == len(codes)
    leaves = set(engine.release.attributes[0].levels.leaves)
    assert sum(int(line["estimate"]) for line in found if line["place"] in leaves) == engine.total().value
    table = pq.read_table(io.BytesIO(taken(page, "parquet", whole).content))
    assert table["estimate"].to_pylist() == [int(line["estimate"]) for line in found]
    assert table["place"].to_pylist() == [line["place"] for line in found]


def test_pieces_are_the_answer_cut_in_order(release):
    sheet = Catalogue.open([release]).tables["jobs-survey~jobs"]
    names = {one.name: one.levels.codes for one in sheet.product.attributes[:4]}
    question = Question(sheet, names, {"place": ("N1", "S1"), "sex": ("male",)})
    answer = Answer(question.table())
    assert answer.figures.size == len(answer.columns)
    for most in (1, 7, 24, 100, 719, 10_000):
        parts = list(answer.pieces(most))
        assert max(len(part.columns) for part in parts) <= most
        joined = np.concatenate([part.columns.estimate for part in parts])
        assert joined.tolist() == answer.columns.estimate.tolist()


def as_it_was(answer):
    """The control: what the lines of a part are written of stays for as long as the part waits."""
    for place, part in enumerate(answer.pieces()):
        columns = tidy.lines(part)
        yield tidy.csv_bytes(list(columns) if place == 0 else None, list(columns.values()))


def held_beside(pieces, answer):
    """How much more than its bytes a part holds that waits for its reader, in parts of itself."""
    gc.collect()
    tracemalloc.start()
    try:
        waiting = pieces(answer)
        first = next(waiting)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] / len(first) - 1
    finally:
        tracemalloc.stop()


def test_of_a_part_that_waits_for_its_reader_its_bytes_are_held_and_not_its_columns(release):
    sheet = Catalogue.open([release]).tables["jobs-survey~jobs"]
    names = {one.name: one.levels.leaves for one in sheet.product.attributes[:5] if one.name != "sex"}
    answer = Answer(Question(sheet, names, {}).table())
    list(tidy.pieces(answer))  # what is worked out once is there
    now, before = held_beside(tidy.pieces, answer), held_beside(as_it_was, answer)
    assert now < 0.6 * before, (now, before)
    assert held_beside(sdmx.pieces, answer) < 0.6 * before


def test_more_than_a_download_takes_is_refused_before_any_work(browse, release, monkeypatch):
    fresh = browse([release])
    monkeypatch.setattr("sfumato.query.downloads.formats.LARGEST_DOWNLOAD", 12_000)
    monkeypatch.setattr("sfumato.release.products.cube.Cube.totals", None)
    whole = "&".join(f"valueCodes[{name}]=*" for name in ("place", "sex", "age", "trade", "hours"))
    refused = fresh.get(f"{JOBS}?{whole}&outputFormat=csv")
    assert refused.status_code == 403
    assert "14,400 cells, more than 12,000" in refused.json()["detail"]


def test_our_columns_never_take_the_name_of_a_variable():
    assert apart(["cv", "cv_", "grade"], ["cv", "age"]) == {"cv": "cv_", "cv_": "cv__", "grade": "grade"}

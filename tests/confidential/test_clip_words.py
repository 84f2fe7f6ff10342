"""What lies above a bound is not in a total: the release says so wherever the total stands, and what it comes to."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import page, sfumato

import sfumato as sf
from sfumato.confidential import Microdata, Options, Tabulation, run
from sfumato.confidential.clips import clip_fits
from sfumato.draws import SeededDraws
from sfumato.plan import Plan
from sfumato.privacy import SquareRootWithin
from sfumato.query.answer import Answer
from sfumato.query.downloads.formats import BY_NAME
from sfumato.query.value_notes import noted
from sfumato.release import Subject
from sfumato.schema import Frame
from sfumato.statistics import Excess

PLAN = """
name = "pay"
period = "2026"
[data]
unit = "job"
[attributes.region]
levels = ["n", "s"]
[hidden]
neighbours = "add-remove"
unit = "job"
[limit]
epsilon = "40"
[[measure]]
name = "wages"
title = "Wages"
of = { statistic = "total", column = "wage", clip = ["0", "1000"], step = "0.5", unit = "dollars" }
by = ["region"]
with = { mechanism = "geometric", epsilon = "20" }
"""
EXCESS = """
[[measure]]
name = "above"
of = { statistic = "excess", column = "wage", clip = ["0", "1000"], up_to = "5000", step = "1", unit = "dollars" }
by = []
with = { mechanism = "geometric", epsilon = "20" }
"""
WAGES = np.array([200, 900, 1000, 1001, 4000, 5000, 9000] * 50)
"""Above 1,000 and up to 5,000 lie 1, 3,000, 4,000 and 4,000 of every seven: 550,050 in all."""
SAID = "Each wage counts from 0 to 1,000 at most, in steps of 0.5: what lies above 1,000 is not in the totals."


@pytest.fixture(scope="module")
def releases(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("clips")
    rows = pa.table({"region": np.where(np.arange(len(WAGES)) % 2, "n", "s").tolist(), "wage": WAGES})
    found = {}
    for name, text in (("plain", PLAN), ("bought", PLAN + EXCESS)):
        plan = Plan.parse(text, Path("pay.toml"))
        assert Plan.parse(plan.to_toml(), Path("again.toml")) == plan
        run(plan, Microdata.open(rows, plan.schema), None, folder / name, Options(rehearsal=4))
        found[name] = folder / name
    return found


@pytest.mark.parametrize("form", ["csv", "sdmx-csv", "json-stat2", "parquet", "xlsx"])
@pytest.mark.parametrize(
    ("language", "said"), [("en", SAID), ("de", "Was über 1.000 liegt, ist in den Summen nicht enthalten")]
)
def test_every_file_says_it_in_its_language(releases, form, language, said):
    table = sf.open(releases["plain"]).table("region", of="wages")
    written = BY_NAME[form].write(Answer(table, language=language))
    if form == "parquet":
        assert all(said in one for one in pq.read_table(io.BytesIO(written))["note"].to_pylist())
        assert said in json.loads(pq.read_schema(io.BytesIO(written)).metadata[b"sfumato"])["note"]
    elif form == "json-stat2":
        assert any(said in one for one in json.loads(written)["note"])
    elif form == "xlsx":
        book = openpyxl.load_workbook(io.BytesIO(written))
        assert any(said in str(cell.value) for sheet in book for row in sheet for cell in row)
    else:
        lines = list(csv.DictReader(io.StringIO(written.decode())))
        assert all(said in line["note" if form == "csv" else "NOTE"] for line in lines)


def test_the_text_of_a_table_and_the_page_say_it(releases):
    folder = releases["plain"]
    assert SAID in sfumato("table", folder, "--rows", "region", "--of", "wages")
    assert SAID in page(folder, "/pay~wages?rows=region").text
    assert "Was über 1.000 liegt" in page(folder, "/pay~wages?rows=region&lang=de").text


def test_a_number_that_was_bought_for_it_stands_beside_the_total(releases):
    """Of the 550,050 above the bound noise at epsilon 20 on steps of up to 4,000 moves 283 one standard error."""
    engine = sf.open(releases["bought"])
    bounds = engine.release.products["wages"].subject.value_bounds
    assert bounds.took is not None
    assert bounds.took.value == pytest.approx(550_050, abs=6 * 283)
    assert bounds.took.standard_error == pytest.approx(4000 * 2**0.5 / 20, rel=0.01)
    said = sfumato("table", releases["bought"], "--rows", "region", "--of", "wages")
    assert "was measured once and comes to" in said
    assert "up to 5,000 in each record" in said
    assert "was measured once" not in sfumato("table", releases["plain"], "--rows", "region", "--of", "wages")
    total, above = engine.total(of="wages"), engine.total(of="above")
    assert total.value + above.value == pytest.approx(np.minimum(WAGES, 5000).sum(), abs=6 * 300)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('clip = ["0", "1000"], up_to', 'clip = ["0", "900"], up_to'),
        ("by = []", 'by = []\nwhere = { region = ["n"] }'),
    ],
)
def test_a_number_of_another_clip_or_another_universe_is_not_told_of_the_total(tmp_path, old, new):
    plan = Plan.parse(PLAN + EXCESS.replace(old, new), Path("pay.toml"))
    rows = pa.table({"region": ["n", "s"] * 10, "wage": [100, 2000] * 10})
    run(plan, Microdata.open(rows, plan.schema), None, tmp_path / "r", Options(rehearsal=4))
    assert sf.open(tmp_path / "r").release.products["wages"].subject.value_bounds.took is None


def test_numbers_of_parts_are_told_of_the_total_in_all(tmp_path):
    """Ten rows of 2,000 have 10,000 above 1,000; noise at epsilon 20 on steps of up to 4,000 moves 283 a region."""
    plan = Plan.parse(PLAN + EXCESS.replace("by = []", 'by = ["region"]'), Path("pay.toml"))
    rows = pa.table({"region": ["n", "s"] * 10, "wage": [100, 2000] * 10})
    run(plan, Microdata.open(rows, plan.schema), None, tmp_path / "r", Options(rehearsal=4))
    (fit,) = [one for one in clip_fits(plan, Microdata.open(rows, plan.schema)) if one.measure == "wages"]
    assert fit.buys == ("above", 5_000.0)  # `check` says that it is bought, and not that it should be
    took = sf.open(tmp_path / "r").release.products["wages"].subject.value_bounds.took
    assert took.value == pytest.approx(10_000, abs=6 * 2**0.5 * 283)
    assert took.tables == ("above",)


@pytest.mark.parametrize("engine", ["arrays", "duckdb"])
def test_an_excess_is_what_the_clip_took_up_to_its_bound(engine):
    plan = Plan.parse(PLAN + EXCESS, Path("pay.toml"))
    rows = pa.table({"region": ["n"] * 7, "wage": WAGES[:7]})
    cells = Tabulation(plan, Microdata.open(rows, plan.schema, engine), SeededDraws(1)).cells(plan.measure("above"))
    assert cells.values.item() == 1 + 3000 + 4000 + 4000
    assert cells.move.l1 == 4000


def test_the_price_of_an_excess_is_that_of_its_farther_bound():
    with pytest.raises(sf.PlanError, match="up_to lies above the clip"):
        Excess("wage", clip=("0", "1000"), up_to="1000")
    with pytest.raises(sf.PlanError, match="no multiple of the step"):
        Excess("wage", clip=("0", "1000"), up_to="1500.5")
    assert Excess("wage", clip=("-5", "1000"), up_to="1500", step="0.5").contribution.bounds == (0, 1000)


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (sf.Total("pay", clip=("-2", "9")), "from -2 to 9, in steps of 1: what lies beyond these bounds"),
        (sf.Total("pay", clip_value=("0", "9"), power=2), "then squared"),
    ],
)
def test_bounds_of_other_kinds_are_said_as_they_are(of, said):
    subject = Subject("pay", "total", "Pay", "dollars", of.step)
    assert said in noted(replace(subject, value_bounds=of.value_bounds))
    assert "Jeder Wert der Spalte „pay“ zählt" in noted(replace(subject, value_bounds=of.value_bounds), "de")
    assert not noted(subject)


def test_a_bound_on_square_roots_says_nothing_of_an_excess():
    """A value at the clip may grow by 2 beta √clip, whose root is far above beta."""
    hidden, frame = SquareRootWithin("shop", {"wage": "1/2"}), Frame("shop", (), {}, range(9))
    assert hidden.move(sf.Total("wage").contribution, frame)
    for clip in (("0", "1000"), ("-1", "0")):
        with pytest.raises(sf.PromiseError, match="nothing of what lies above a clip"):
            hidden.move(Excess("wage", clip=clip, up_to="5000").contribution, frame)


def test_a_clip_is_refused_by_a_bound_on_square_roots_as_it_rounds():
    """At a step of 1, 0.4999 and 1.456 are 0.4996 apart in their roots, and 1 once they are rounded to 0 and 1."""
    hidden = SquareRootWithin("shop", {"wage": "1/2"})
    assert "A clip rounds wage to its step" in hidden.unfit(sf.Total("wage", clip=("0", "1000")).contribution)
    assert not hidden.unfit(sf.Total("wage").contribution)

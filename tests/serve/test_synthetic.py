"""Data that were made up: the plan says it once, and every page, embed, file and citation says it too."""

import io
import re
from dataclasses import replace
from html import unescape

import pytest
from openpyxl import load_workbook

import sfumato as sf
from sfumato.cli import demo
from sfumato.plan import Plan
from sfumato.query import open_folder
from sfumato.release import Manifest
from sfumato.synth import MADE_UP

SAID = f"Synthetic data: {MADE_UP}."
SAID_DE = "Synthetische Daten: Von einem Programm erfunden"
DATA = "/api/v2/tables/small~jobs/data?valueCodes[place]=*&outputFormat="
PAGES = [
    "/", "/small~jobs?rows=place", "/small~jobs?rows=place&cell=north", "/small~jobs?rows=place&view=chart",
    "/small~jobs/embed?rows=place", "/small~jobs/picture.svg?rows=place&view=chart", "/privacy/small", "/series/small",
    "/budget", "/help", "/api", "/find?q=jobs", "/api/v2/search?q=jobs", "/small~jobs/pick?pick=valueCodes[trade]",
    f"{DATA}csv", f"{DATA}json-stat2", f"{DATA}sdmx-csv", "/api/v2/privacy/small",
]  # fmt: skip


@pytest.fixture
def folder(make_release, small_plan):
    return make_release(plan=replace(small_plan, synthetic=MADE_UP))


def seen(text):
    text = unescape(re.sub(r"<[^>]*>", " ", text.replace("\\n", " ")))
    return re.sub(r"\s+", " ", text)


def test_every_page_and_file_says_it_in_both_languages(browse, folder):
    site = browse([folder])
    for address in PAGES:
        for tongue, said in (("", SAID), ("lang=de", SAID_DE)):
            if tongue and ("/api" in address and "search" not in address and "data" not in address):
                continue  # the API's own documents are in English
            reply = site.get(address + (("&" if "?" in address else "?") + tongue if tongue else ""))
            assert reply.status_code == 200, (address, reply.text[:200])
            assert said in seen(reply.text), (address, tongue)
    book = load_workbook(io.BytesIO(site.get(f"{DATA}xlsx").content))
    assert any(SAID in str(one) for row in book.worksheets[0].iter_rows(values_only=True) for one in row if one)
    page = seen(site.get("/small~jobs?rows=place").text)
    assert page.count(SAID) >= 4  # its banner, and three citations


def test_python_says_it(folder):
    engine = open_folder(folder)
    assert SAID in engine.cite()
    assert SAID in engine.table("place").cite()
    assert SAID.upper()[:14] in repr(engine)
    assert SAID in seen(engine.table("place").plot().to_svg())


def test_the_plan_is_read_and_written_with_it(small_plan, folder):
    plan = replace(small_plan, synthetic=MADE_UP)
    assert Plan.parse(plan.to_toml(), folder / "plan.toml") == plan
    assert sf.Plan.parse(plan.to_toml(), folder / "plan.toml").synthetic == MADE_UP
    assert f'synthetic = "{MADE_UP}"' in (folder / "plan.toml").read_text()


def test_a_release_about_the_world_says_nothing_of_it(browse, make_release):
    """The negative arm; its manifest has no line of it, as manifests made before have none."""
    folder = make_release()
    assert "synthetic" not in (folder / "manifest.json").read_text()
    assert Manifest.from_bytes((folder / "manifest.json").read_bytes()).synthetic == ""
    site = browse([folder])
    for address in PAGES[:8]:
        assert "ynthetic data" not in seen(site.get(address).text)


def test_all_plans_of_the_demo_say_it(monkeypatch, tmp_path):
    """Every run of the demo is of a plan that says it; the data are made small, and no noise is drawn."""
    plans = []
    monkeypatch.setattr("sfumato.confidential.run", lambda plan, *_, **__: plans.append(plan))
    monkeypatch.setattr(demo, "_assessed", lambda *_: None)
    for name, size in (("LINKED", 1_000), ("RESIDENTS", 600), ("GRADUATES", 400), ("REGISTER", 300)):
        monkeypatch.setattr(demo, name, size)
    demo._made(tmp_path / "demo", 1_000)
    assert len(plans) == 1 + len(demo.QUARTERS) + 4
    assert {plan.synthetic for plan in plans} == {MADE_UP}

"""What a number leaves out by its plan stands beside it wherever it is shown, in both languages, and nowhere else.

The plan of these releases cuts pay at 1,000 euros and counts at most 3 jobs of a person; a second plan cuts nothing.
The expected sentences are written by hand from the plan; no display may say that its error is by noise alone.
"""

import io
import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import SMALL, small_rows
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app as command
from sfumato.confidential import Account, Microdata, run
from sfumato.plan import Plan
from sfumato.query import open_folder, series
from sfumato.query.rows import write_rows

CUT, CUT_DE = "values of pay above 1,000 are cut", "Werte von pay über 1.000 sind gekappt"
CROWD, CROWD_DE = "at most 3 jobs of one person count", "je person zählen höchstens 3 jobs"
ALONE = re.compile(r"noise alone|[Rr]auschen allein|allein durch|nur das Schutzrauschen")
HIDDEN = '[hidden]\nneighbours = "add-remove"\nunit = "person"\nid = "person"\nat_most = 3'
BOUND = SMALL.replace('[hidden]\nneighbours = "add-remove"\nunit = "job"', HIDDEN)
UNBOUND = re.sub(r'\[\[measure\]\]\nname = "pay".*', "", SMALL, flags=re.DOTALL)


def made(folder, text, periods):
    plan = Plan.parse(text, Path("small.toml"))
    Account.create(folder / "jobs.ledger", "jobs", plan.hidden, sf.Approximate(40))
    rows = small_rows()
    rows = rows.append_column("person", pa.array(np.arange(len(rows)) // 2))
    found = []
    for period in periods:
        found.append(folder / period)
        run(replace(plan, period=period), Microdata.open(rows, plan.schema), folder / "jobs.ledger", found[-1])
    return found


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return made(tmp_path_factory.mktemp("bound"), BOUND, ("2026-Q1", "2026-Q2"))


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return made(tmp_path_factory.mktemp("unbound"), UNBOUND, ("2026-Q1", "2026-Q2"))


@pytest.fixture(scope="module")
def site(browse, folders):
    return browse(folders)


def text_of(reply):
    assert reply.status_code == 200, reply.text[:400]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", reply.text)).replace("\u00a0", " "))


PAGES = [
    "/", "/find?q=pay", "/small~pay", "/small~pay?rows=place&cell=north", "/small~pay?rows=place&cell=north&hold=south",
    "/small~pay?rows=place&share=whole", "/small~pay?rows=place&per=jobs", "/small~pay?rows=place&change=last",
    "/small~pay?rows=place&cols=period", "/small~pay?rows=place&view=chart", "/small~pay/embed?rows=place",
    "/small~pay/embed?rows=place&view=chart", "/small~pay/picture.svg?rows=place&view=chart",
    "/small~pay/picture.json?rows=place&view=chart", "/api/v2/search?q=pay",
]  # fmt: skip
DATA = "/api/v2/tables/small~pay/data?valueCodes[place]=*&outputFormat="


@pytest.mark.parametrize("address", PAGES)
def test_pages_pictures_and_searches_say_what_is_cut(site, address):
    for tongue, cut, crowd in (("", CUT, CROWD), ("de", CUT_DE, CROWD_DE)):
        also = ("&" if "?" in address else "?") + f"lang={tongue}" if tongue else ""
        said = text_of(site.get(address + also))
        assert cut in said, (address, tongue)
        assert crowd in said, (address, tongue)
        assert not ALONE.search(said), (address, tongue)


def test_a_number_says_it_beside_itself_and_the_headline_too(site):
    card = re.search(r'class="detail-card".*?</section>', site.get("/small~pay?rows=place&cell=north").text, re.DOTALL)
    assert CUT in card[0]
    assert "± and grade: noise only" in card[0]
    assert "Everybody was counted" not in card[0]
    headline = re.search(r'<p class="headline">.*?</p>', site.get("/small~pay?rows=place").text, re.DOTALL)
    assert CUT in headline[0]
    whole = re.search(r'class="whole g.".*?</li>', site.get("/").text.partition("small~pay")[2], re.DOTALL)
    assert CUT in whole[0]


def test_files_say_it(site):
    csv, jsonstat, sdmx = (site.get(DATA + form).text for form in ("csv", "json-stat2", "sdmx-csv"))
    for line in csv.strip().splitlines()[1:]:
        assert CUT in line
        assert CROWD in line
    assert any(CUT in one for one in json.loads(jsonstat)["note"])
    assert CUT in sdmx
    parquet = pq.read_table(io.BytesIO(site.get(DATA + "parquet").content))
    assert CUT in parquet.schema.metadata[b"sfumato"].decode()
    assert CUT in parquet["note"][0].as_py()
    from openpyxl import load_workbook

    book = load_workbook(io.BytesIO(site.get(DATA + "xlsx").content))
    for sheet in book:
        assert any(CUT in str(one) for row in sheet.iter_rows(values_only=True) for one in row if one), sheet.title
    described = site.get("/api/v2/tables/small~pay/metadata").json()
    assert any(CUT in one for one in described["note"])


def test_citations_say_it(site, folders):
    page = text_of(site.get("/small~pay?rows=place"))
    assert page.count(CUT) >= 5  # the headline, the table, and three citations
    assert CUT in open_folder(folders[0]).table("place", of="pay").cite()


def test_numbers_of_python_and_of_commands_say_it(folders, tmp_path):
    engine = open_folder(folders[0])
    table = engine.table("place", of="pay")
    several = series(folders)
    numbers = [
        engine.total({"place": "north"}, of="pay"), engine.share({"place": "north"}, of="pay"),
        engine.mean("pay"), engine.ratio({"place": "north"}, {"place": "south"}, of="pay"),
        engine.compare({"place": "north"}, {"place": "south"}, of="pay"),
    ]  # fmt: skip
    tables = [table, table.shares(), engine.means("pay", "place"), several.table("place", of="pay", together="sum")]
    tables += [several.compare("place", of="pay"), engine.table("place", "trade", of="pay")]
    for shown in (*map(repr, (*numbers, *tables)), *(one._repr_html_() for one in tables), table.plot().to_svg()):
        assert CUT in shown.replace("\n", " ")
        assert CROWD in shown.replace("\n", " ")
        assert not ALONE.search(shown)
    assert repr(numbers[0]).endswith(f"A (leans low: {CUT}, {CROWD}; ± and grade: noise only)")
    assert "may lean either way" in repr(numbers[1])  # a part and its whole both lean low
    write_rows(engine, tmp_path / "jobs.csv", 0, of="jobs")
    assert CROWD in " ".join((tmp_path / "jobs.csv.README.txt").read_text().split())
    runner = CliRunner()
    for asked in (["table", str(folders[0]), "--rows", "place", "--of", "pay"], ["find", "pay", str(folders[0])]):
        given = runner.invoke(command, asked)
        assert given.exit_code == 0, given.output
        assert CUT in " ".join(given.output.split())
        assert not ALONE.search(given.output)


def test_counts_lean_low_where_rows_of_a_person_are_left_out(site):
    said = text_of(site.get("/small~jobs?rows=place"))
    assert "Leans low: at most 3 jobs of one person count" in said
    assert CUT not in said
    assert not ALONE.search(said)


def test_numbers_that_leave_out_nothing_say_nothing(browse, plain):
    """The negative arm: the same plan without clip and bound on rows."""
    site = browse(plain)
    for address in ("/", "/small~jobs?rows=place", "/small~jobs?rows=place&cell=north", "/small~jobs/embed?rows=place"):
        said = text_of(site.get(address))
        assert "lean" not in said
        assert "noise only" not in said
    assert "Everybody was counted" in text_of(site.get("/small~jobs?rows=place&cell=north"))
    assert repr(open_folder(plain[0]).total()).endswith(" A")


def test_the_words_do_not_follow_from_the_data(folders, tmp_path):
    """Whether a bound cut anything is confidential: data far below the clip give the same words."""
    text = BOUND.replace('["0", "1000"]', '["0", "1000000"]')
    (folder,) = made(tmp_path, text, ("2026-Q1",))
    said = repr(open_folder(folder).total(of="pay"))
    assert "values of pay above 1,000,000 are cut" in said
    cutting = repr(open_folder(folders[0]).total(of="pay"))
    assert said.partition(" (")[2].replace("1,000,000", "1,000") == cutting.partition(" (")[2]

"""A release as a paper published it: every page and file says that it is not for publication and claims no privacy."""

import html
import io

import pytest
from openpyxl import load_workbook
from tests.serve.conftest import Browser
from tests.serve.small import Seen, promised, small

from sfumato.query import open_folder
from sfumato.query.wording import words
from sfumato.release import SpendLine
from sfumato.serve import app

WHY = "totals are published as they are"
CLAIMS = (
    "Whether any one firm is there",
    "gives away a person",
    "which of the two it was made from",
    "What stays hidden",
    "Who is protected",
    "How this was protected",
    "How it was protected",
    "is hidden by itself",
    "Of 100 attempts",
    "so that the whole release has",
)
TABLE = "/firms~number"
PAGES = {
    "home": "/",
    "table": TABLE,
    "cell": f"{TABLE}?cell=s|f",
    "chart": f"{TABLE}?view=chart",
    "series": "/series/firms",
    "card": "/privacy/firms",
    "budget": "/budget",
    "help": f"/help?table={TABLE[1:]}",
    "refusal": f"{TABLE}?rows=nothing",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    lost = {"unbounded": WHY}
    promise = promised(lost, loss_words=f"unbounded: {WHY}", power_at_5_percent=1.0, right_guess_from_even_odds=1.0)
    spends = [
        SpendLine(measure=one, mechanism="none", loss=lost, words=f"unbounded: {WHY}") for one in ("number", "by")
    ]
    told = {"mode": "as_published", "releasable": False, "why": "as published, for study alone", "ledger": None}
    return small(tmp_path_factory.mktemp("study") / "one", promise=promise, spends=spends, **told)


@pytest.fixture(scope="module")
def site(folder):
    return Browser(app([folder]))


@pytest.mark.parametrize("address", PAGES.values(), ids=PAGES)
@pytest.mark.parametrize("language", ["", "de"])
def test_every_page_says_so_and_claims_nothing(site, address, language):
    asked = f"{address}{'&' if '?' in address else '?'}lang={language}" if language else address
    reply = site.get(asked)
    assert reply.status_code == (400 if "nothing" in address else 200)
    shown = Seen(reply.text).text
    for kind in ("not_for_publication", "not_formally_private"):
        assert words(language or "en")(f"notices.{kind}") in shown
    assert [claim for claim in CLAIMS if claim in html.unescape(reply.text)] == []


def test_the_card_tells_what_was_measured_and_nothing_of_chances(site):
    shown = Seen(site.get("/privacy/firms").text)
    assert f"It promises nothing to anybody in its data: unbounded: {WHY}." in shown.text
    assert f"Together the measures cost unbounded: {WHY}." in shown.text
    assert "out of 100" not in shown.text
    assert "svg" not in {tag for tag, _ in shown.elements}


@pytest.mark.parametrize("form", ["json-stat2", "csv", "sdmx-csv"])
def test_every_file_says_so(site, form):
    written = site.get(f"/api/v2/tables{TABLE}/data?valueCodes[size]=*&outputFormat={form}").content.decode()
    assert "Not for publication: as published" in written
    assert "Not formally private" in written
    assert [claim for claim in CLAIMS if claim in written] == []


def test_the_workbook_says_so_first_and_tells_nothing_as_hidden(site):
    content = site.get(f"/api/v2/tables{TABLE}/data?valueCodes[size]=*&outputFormat=xlsx").content
    book = load_workbook(io.BytesIO(content))
    table, _, about = book.worksheets
    assert table["A1"].value.startswith("Not for publication")
    told = {row[0].value: row[1].value for row in about.iter_rows()}
    assert "What stays hidden" not in told
    assert told["What can be learned"] == "This release is not formally private."


def test_one_number_says_that_its_noise_protects_nobody(folder):
    said = repr(open_folder(folder).table("size", "sex").detail(("s", "f")))
    assert f"and yet the release is not formally private: unbounded: {WHY}." in said

"""The search of the query tool: a page without a script, an address for programs, and the first page's questions."""

import html
import re
from types import SimpleNamespace

import httpx
import numpy as np
import pytest
from tests.query.test_finder import JOBS, STATES
from tests.serve.small import SEXES, SIZES, seen, small

import sfumato as sf
from sfumato.query.finder import LONGEST
from sfumato.release import withdraw
from sfumato.serve import app
from sfumato.serve.pages.found import FoundLine, FoundNumber, in_one

TRAITS = sf.Attribute("trait", sf.Levels.of(["none", "some", "<i>much</i>"]), label="Trait")


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("found")
    made = [
        small(folder / "firms", by=(JOBS, STATES, TRAITS), period="2025", title="Firms <by> trade"),
        small(folder / "later", by=(JOBS, STATES, TRAITS), period="2026", title="Firms <by> trade", more=1_000),
        small(folder / "gone", "gone", by=(SIZES, SEXES), title="Gone"),
    ]
    withdraw(made[-1], "A file was read twice.")
    transport = httpx.ASGITransport(app=app(made))
    return Client(transport)


class Client:
    def __init__(self, transport):
        self.transport = transport

    def get(self, address, **more):
        import asyncio

        async def asked():
            async with httpx.AsyncClient(transport=self.transport, base_url="http://127.0.0.1") as client:
                return await client.get(address, **more)

        return asyncio.run(asked())


def found(client, **asked):
    reply = client.get("/api/v2/search", params=asked)
    assert reply.status_code == 200, reply.text
    return reply.json()


def test_a_form_without_a_script_leads_to_a_page_with_numbers(client):
    home = seen(client, "/")
    forms = [one for tag, one in home.elements if tag == "form"]
    assert [one["action"] for one in forms] == ["/find", "/find"], "in the head, and large below the title"
    page = seen(client, "/find?q=programmer")
    assert "Software developers" in page.text
    assert "also called “Programmer”" in page.text
    truth = client.get("/api/v2/tables/firms~number/data?valueCodes[job]=15-1252").json()["value"]
    shown = re.search(r"([\d,]+) ± (\d+) firms", page.text)
    assert float(shown[1].replace(",", "")) == pytest.approx(truth[0], abs=float(shown[2])), "rounded to its margin"


def test_a_find_leads_to_its_cell(client):
    (one, *_) = found(client, q="statisticians")["finds"]
    href = html.unescape(one["links"][0]["href"]).removeprefix("http://127.0.0.1")
    page = client.get(href).text
    assert 'id="detail-title">Statisticians' in page
    assert re.search(r"<tbody>.*Software developers.*Statisticians", page, re.DOTALL), "among its neighbours"


def test_programs_are_told_the_number_with_its_error(client):
    answer = found(client, q="sofware develpers", size="1")
    assert (answer["mistyped"], answer["meant"]) == (True, "software developers")
    (one,) = answer["finds"]
    (figure,) = one["figures"]
    stated = client.get("/api/v2/tables/firms~number/data?valueCodes[job]=15-1252").json()
    metrics = stated["dimension"]["ContentsCode"]["category"]["index"]
    order = metrics if isinstance(metrics, list) else sorted(metrics, key=metrics.get)
    told = dict(zip(order, stated["value"], strict=True))
    assert (figure["estimate"], figure["moe90"]) == (told["estimate"], pytest.approx(told["moe90"]))
    assert one["text"] == figure["text"]
    assert "±" in figure["text"]


def test_of_a_series_the_newest_release_answers(client):
    releases = {one["release"] for one in found(client, q="statisticians")["finds"]}
    assert releases == {"Firms <by> trade 2026"}


def test_a_withdrawn_release_says_so_beside_its_number(client):
    answer = found(client, q="size")["finds"]
    assert [one["notices"] for one in answer if one["table"].startswith("gone")] == [
        ["Withdrawn: A file was read twice."]
    ]
    assert "Withdrawn" in seen(client, "/find?q=size").text


@pytest.mark.parametrize(
    ("asked", "said"),
    [({"q": "a" * (LONGEST + 1)}, "at most 200"), ({"size": "0"}, "from 1"), ({"size": "99"}, "to 20")],
)
def test_too_much_is_refused_in_words(client, asked, said):
    reply = client.get("/api/v2/search", params=asked)
    assert (reply.status_code, said in reply.json()["detail"]) == (400, True)


def test_nothing_asked_and_nothing_found_are_pages_too(client):
    assert found(client)["finds"] == found(client, q="  ")["finds"] == []
    assert "Nothing here is called that" in seen(client, "/find?q=xylophone").text
    assert seen(client, "/find").text
    assert "Only the first 200 characters" in seen(client, f"/find?q={'texas ' * 60}").text


def test_what_is_asked_and_found_is_text(client):
    page = client.get("/find", params={"q": "<script>alert(1)</script> much"}).text
    assert "<script>alert" not in page
    page = client.get("/find?q=much").text
    assert "<i>much" not in page
    assert "&lt;i&gt;much&lt;/i&gt;" in page


def test_the_same_search_in_german(client):
    page = seen(client, "/find?q=texas&lang=de")
    assert "Gefunden zu „texas“" in page.text
    assert all("lang=de" in one for one in page.links if one.startswith("/firms~"))
    assert found(client, q="wie viele statisticians gibt es in Texas", lang="de")["finds"][0]["codes"] == {
        "job": "15-2041",
        "state": "TX",
    }


def test_questions_of_the_first_page_are_answered_by_what_tables_say(client):
    page = client.get("/").text
    asked = re.findall(
        r'<article class="ask"><h2><a href="([^"]*)">(.*?)</a></h2>.*?<p[^>]*>(.*?)</p>', page, re.DOTALL
    )
    assert len(asked) == 1, "one series answers one question; the withdrawn one is asked nothing"
    ((href, title, answer),) = asked
    assert (title, href) == ("Has “Number of firms” changed since 2025?", "/firms~number?change=last")
    table = client.get(html.unescape(href)).text
    said = re.search(r'<p class="answer">(.*?) Of ', table)
    assert said is None or said[1].split(": ", 1)[-1][:20] in answer
    assert "a real change" in answer


def test_the_sketch_of_a_question_begins_with_the_rows_that_may_be_the_largest(tmp_path):
    """Of 20,000 a share of 49% is told from one of 50%; of ten one of 40% is not, as noise moves cells by 1 to 2."""
    counts = {"fifty": (5000, 5000, 10_000), "next": (5000, 5200, 9800), "third": (5000, 5400, 9600), "few": (3, 3, 4)}
    rows = sf.Attribute("row", sf.Levels.of(list(counts)), label="Row")
    more = np.array([*counts.values()]) - np.arange(20, 32).reshape(4, 3)  # beside what cells have without
    page = Client(httpx.ASGITransport(app=app([small(tmp_path / "one", by=(rows, TRAITS), more=more)]))).get("/").text
    (asked,) = re.findall(r'<article class="ask">.*?largest share.*?</article>', page, re.DOTALL)
    assert "fifty" in asked
    assert [one for one in re.findall(r"<text[^>]*>(\w+)</text>", asked) if one in counts] == ["fifty", "few", "next"]


def test_a_question_without_a_verdict_is_not_asked(tmp_path):
    """Nothing that has no stated error is claimed: neither a change nor which row is the largest."""
    made = [
        small(tmp_path / year, by=(JOBS, STATES), period=year, sampling={"kind": "withheld", "reason": "no replicates"})
        for year in ("2025", "2026")
    ]
    page = Client(httpx.ASGITransport(app=app(made))).get("/").text
    assert 'class="ask"' not in page


def test_what_is_found_in_several_statistics_is_listed_once_with_the_number_of_each():
    def line(label, *places, variable=""):
        numbers = tuple(FoundNumber(None, place, "jobs", place) for place in places)
        return FoundLine(SimpleNamespace(variable=variable), label, "Job 29-1141", "Jobs 2026", numbers)

    nurses, wages = line("Nurses", "/jobs"), line("Nurses", "/wages", "/jobs")
    by_state = [line("Nurses", place, variable="state") for place in ("/jobs", "/wages")]
    merged = in_one([nurses, line("Drivers", "/jobs"), wages, *by_state])
    assert [(one.label, [number.href for number in one.numbers]) for one in merged] == [
        ("Nurses", ["/jobs", "/wages"]),
        ("Drivers", ["/jobs"]),
        ("Nurses", ["/jobs"]),
        ("Nurses", ["/wages"]),
    ]

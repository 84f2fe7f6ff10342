"""What stands in frames of other pages: only its address may be framed, nothing in it acts, a withdrawal is red."""

import re
from dataclasses import replace
from html import unescape
from urllib.parse import quote

import pytest
from tests.serve.conftest import plan
from tests.serve.small import mapped, small

from sfumato.confidential import Options
from sfumato.release import withdraw
from sfumato.serve.pages.embed import MOST_CELLS

HERE = "http://127.0.0.1:8000"
TABLE, CHART, MAP = (
    "/mapped~number?rows=size",
    "/mapped~number?rows=size&view=chart",
    "/mapped~number?rows=size&view=map",
)
ACTING = re.compile(
    r"<(script|form|button|input|select|textarea|object|embed|iframe|base)\b|\bon\w+=|javascript:", re.IGNORECASE
)


def embed(address):
    return address.replace("?", "/embed?")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return mapped(small(tmp_path_factory.mktemp("embed") / "mapped", name="mapped"))


@pytest.fixture(scope="module")
def site(folder, browse):
    return browse([folder])


@pytest.mark.parametrize("address", [TABLE, CHART, MAP])
def test_an_embed_may_be_framed_and_holds_nothing_that_acts(site, address):
    reply = site.get(embed(address))
    assert reply.status_code == 200
    assert "frame-ancestors *" in reply.headers["content-security-policy"]
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    assert "x-frame-options" not in reply.headers
    assert not ACTING.search(reply.text)
    # The one way out leads to the page, in a window of its own, and is no way in for that page.
    links = re.findall(r"<a [^>]*>", reply.text)
    assert len(links) == 1
    assert 'target="_blank" rel="noopener"' in links[0]
    again = site.get(embed(address), headers={"If-None-Match": reply.headers["etag"]})
    assert (again.status_code, "x-frame-options" in again.headers) == (304, False)


@pytest.mark.parametrize(
    "address",
    [
        *("/", TABLE, CHART, "/budget", "/help", "/api", "/embed", "/nothing/embed", "/mapped~number/embed/embed"),
        *("/mapped~number/embed?rows=gone", "/mapped~number/embed?strange=1", "/static/embed.css", "/oembed"),
        *("/api/v2/tables/mapped~number/data", "/mapped~number/picture.svg?rows=size&view=chart", "/privacy/embed"),
    ],
)
def test_no_other_address_may_be_framed(site, address):
    reply = site.get(address)
    assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]
    assert reply.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("address", ["/privacy/embed", "/series/embed"])
def test_a_release_that_is_called_embed_has_no_other_page_framed(tmp_path, browse, address):
    reply = browse([small(tmp_path / "embed", name="embed")]).get(address)
    assert (reply.status_code, reply.headers["x-frame-options"]) == (200, "DENY")


def test_a_frame_in_a_sandbox_may_fetch_its_styles_and_their_fonts(site, bench, browse):
    """Such a frame has no origin: what is for the same origin alone does not reach it, nor a font that names none."""
    styles = re.findall(r'rel="stylesheet" href="([^"]*)"', site.get(embed(TABLE)).text)
    fonts = [one for style in styles for one in re.findall(r"url\(\"?([^)\"]*woff2)", site.get(style).text)]
    assert fonts
    folder = styles[0].rpartition("/")[0]
    for address in [*styles, *(f"{folder}/{one}" for one in fonts)]:
        reply = site.get(address)
        assert reply.status_code == 200, address
        assert reply.headers.get_list("cross-origin-resource-policy") == ["cross-origin"]
        assert reply.headers.get_list("access-control-allow-origin") == ["*"]
    private = browse([bench.release("embed-styles", Options(rehearsal=3))])
    assert private.get("/static/embed.css").headers["cross-origin-resource-policy"] == "same-origin"


def test_what_is_not_for_publication_is_neither_framed_nor_offered(bench, browse):
    site = browse([bench.release("embed-rehearsal", Options(rehearsal=3))])
    reply = site.get("/jobs-survey~jobs/embed?rows=sex")
    assert reply.headers["x-frame-options"] == "DENY"
    assert "oembed" not in site.get("/jobs-survey~jobs?rows=sex").text
    assert site.get(f"/oembed?url={quote(HERE + '/jobs-survey~jobs?rows=sex')}").status_code == 404


@pytest.mark.parametrize("address", [TABLE, CHART, MAP])
def test_an_embed_carries_every_error_its_grade_and_its_release(site, address):
    page = unescape(site.get(embed(address)).text)
    data = site.get("/api/v2/tables/mapped~number/data?codelist[size]=leaves&outputFormat=csv").text
    assert len(data.splitlines()) > 2
    for label in re.findall(r"<li>([^<]*)</li>", page):
        assert " ±\u00a0" in label
        assert re.search(r"grade [ABC]|^Not on the map: l 49 ±\u00a03 [ABC]", label)
    numbers = len(re.findall(r"±", page))
    assert numbers >= len(data.splitlines()) - 1
    assert "Release" in page or "· <span" in page
    assert re.search(r'class="hash">[0-9a-f]{12}<', page)


def test_the_page_offers_the_frame_and_oembed_gives_the_same(site):
    page = unescape(site.get(CHART).text)
    frame = unescape(re.search(r"<pre[^>]*>(<iframe.*?</iframe>)</pre>", page)[1])
    source = unescape(re.search(r'src="([^"]*)"', frame)[1])
    assert re.match(rf"{HERE}/mapped\.[0-9a-f]{{12}}~number/embed\?", source), "it names this very release"
    assert site.get(source.removeprefix(HERE)).status_code == 200
    asked = re.search(r'application/json\+oembed" href="([^"]*)"', page)[1]
    given = site.get(asked).json()
    assert (given["version"], given["type"]) == ("1.0", "rich")
    assert re.search(r'src="([^"]*)"', given["html"])[1] == re.search(r'src="([^"]*)"', frame)[1].replace(
        "&", "&amp;"
    ).replace("&amp;amp;", "&amp;")
    # By the address of the page too, and no wider or higher than is asked for.
    small_one = site.get(f"/oembed?url={quote(HERE + CHART, safe='')}&maxwidth=400&maxheight=300").json()
    assert (small_one["width"], small_one["height"]) == (400, 300)
    assert 'width="400" height="300"' in small_one["html"]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("", 404),
        ("url=https%3A%2F%2Felsewhere.example%2Fmapped~number", 404),
        *(
            (f"url={quote(one, safe='')}", 404)
            for one in ("http://[", "http://[::1", "http://exa\uff0fmple/mapped~number")
        ),
        (f"url={quote(HERE + '/mapped~gone', safe='')}", 404),
        (f"url={quote(HERE + TABLE, safe='')}&format=xml", 501),
        (f"url={quote(HERE + TABLE, safe='')}&maxwidth=0", 400),
        (f"url={quote(HERE + TABLE, safe='')}&maxwidth=-5", 400),
        (f"url={quote(HERE + TABLE, safe='')}&callback=steal", 400),
        (f"url={quote(HERE + '/mapped~number?rows=gone', safe='')}", 400),
    ],
)
def test_oembed_refuses_in_json_what_it_cannot_give(site, query, status):
    reply = site.get(f"/oembed?{query}")
    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["detail"]


def test_a_withdrawal_turns_the_embed_red_and_an_embed_of_what_stands_is_not(folder, browse, tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.serve.watching.LOOKS_AFTER", 0)
    own = small(tmp_path / "own", name="own")
    site = browse([own])
    address = embed(re.search(r"(/own\.[0-9a-f]{12}~number)", site.get("/own~number").text)[1] + "?rows=size")
    before = site.get(address)
    assert 'class="embedded"' in before.text
    assert 'class="alarm"' not in before.text
    withdraw(own, "The weights were wrong")
    after = site.get(address, headers={"If-None-Match": before.headers["etag"]})
    assert after.status_code == 200
    assert 'class="embedded withdrawn"' in after.text
    assert 'class="alarm" role="alert"' in after.text
    assert "The weights were wrong" in after.text


def test_more_cells_than_a_frame_shows_are_refused_and_not_offered(page):
    address = "/jobs-survey~jobs?rows=hours&rows=place&cols=trade&codelist[place]=leaves"
    reply = page.get(embed(address))
    assert reply.status_code == 400
    assert f"{MOST_CELLS} are embedded" in reply.text
    assert "oembed" not in page.get(address).text


@pytest.mark.parametrize(
    ("language", "said"), [("en", "Where the table is wider"), ("de", "Wo die Tabelle breiter ist")]
)
def test_a_frame_which_cannot_measure_itself_does_not_claim_to_be_too_wide(page, language, said):
    """No script runs in a frame, so that a table which fits is told as one which does not."""
    found = page.get(embed(f"/jobs-survey~jobs?rows=hours&cols=sex&lang={language}")).text
    assert re.search(r'class="sideways">([^<]*)', found)[1].startswith(said)


def test_an_embed_of_lines_draws_all_rows_and_leads_nowhere(bench, browse):
    made = [bench.release(f"embed-{one}", of=replace(plan(), period=one)) for one in ("2025-Q3", "2025-Q4")]
    page = browse(made).get("/jobs-survey~jobs/embed?rows=hours&view=chart&chart=line").text
    assert page.count("pic-faint") > 2
    assert "pic-mark" in page
    assert "<a class=" not in page


def test_an_embed_of_changes_says_what_its_signs_mean_and_its_page_names_the_period(bench, browse):
    made = [bench.release(f"embed-signs-{one}", of=replace(plan(), period=one)) for one in ("2025-Q3", "2025-Q4")]
    site = browse(made)
    page = site.get("/jobs-survey~jobs/embed?rows=hours&change=last").text
    assert re.search(r"●</span> a real change</span>.*○</span> no sign of a change</span>", page)
    title = re.search(r"<title>(.*)</title>", site.get("/jobs-survey~jobs?rows=hours&cols=sex&share=row").text)[1]
    assert re.search(r"Percentages of the row .* · 2025-Q4 · ", title), title


def test_the_title_of_oembed_names_what_that_of_the_frame_does_and_a_withdrawal(bench, browse):
    folder = bench.release("oembed-title")
    asked = f"/oembed?url={quote(f'{HERE}/jobs-survey~jobs?rows=sex&sum[place]=N', safe='')}"
    said = browse([folder]).get(asked).json()
    framed = unescape(re.search(r'title="([^"]*)"', said["html"])[1])
    assert framed in said["title"]
    for named in ("2026-Q1", "by sex", "North"):
        assert named in said["title"]
    assert "Withdrawn" not in said["title"]
    withdraw(folder, "One state was counted twice")
    assert browse([folder]).get(asked).json()["title"].startswith("Withdrawn: One state was counted twice. ")

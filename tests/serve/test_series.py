"""Series: each period keeps its address, versions stay readable, and what warns of a release is on every page of it."""

import pytest
from tests.serve.small import seen, small

import sfumato as sf
from sfumato.release import open_release, withdraw
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.keys import keys


@pytest.fixture(scope="module")
def series(tmp_path_factory):
    """Two quarters, one of them in two versions, one withdrawn, one rehearsed; the older quarter is issued last."""
    folder = tmp_path_factory.mktemp("series")
    first = small(folder / "q1a", period="2026-Q1", created="2026-04-01T00:00:00Z")
    made = {
        "q3": small(folder / "q3", period="2025-Q3", created="2025-10-01T00:00:00Z"),
        "q4": small(folder / "q4", period="2025-Q4", created="2026-09-09T00:00:00Z"),
        "q1a": first,
        "q1b": small(
            folder / "q1b", period="2026-Q1", created="2026-05-01T00:00:00Z", supersedes=open_release(first).id
        ),
        "q2": small(folder / "q2", period="2026-Q2", rehearsal=True, releasable=False, why="rehearsal"),
    }
    withdraw(made["q3"], "One <i>state</i> was counted twice")
    return made


@pytest.fixture(scope="module")
def pages(series, browse):
    return browse(list(series.values()))


def key_of(series, name):
    return f"firms.{open_release(series[name]).id[:12]}"


def test_the_short_address_is_the_newest_period_that_stands_not_the_last_issued(series):
    named = keys([open_release(one) for one in series.values()])
    short = {name: named[open_release(folder).id].short for name, folder in series.items()}
    assert short["q1b"] == "firms"
    assert short["q4"] == "firms.2025-Q4"
    assert short["q3"] == "firms.2025-Q3"
    assert short["q2"] == "firms.2026-Q2"
    assert short["q1a"] == key_of(series, "q1a")


def test_every_address_of_a_release_answers_with_the_same_numbers(pages, series):
    for addresses in (
        ["firms", "firms.2026-Q1", key_of(series, "q1b")],
        ["firms.2025-Q4", key_of(series, "q4")],
        ["firms.2025-Q3", key_of(series, "q3")],
    ):
        replies = [pages.get(f"/api/v2/tables/{one}~number/data?outputFormat=csv") for one in addresses]
        assert {reply.status_code for reply in replies} == {200}
        assert len({reply.text for reply in replies}) == 1
        assert all(pages.get(f"/{one}~number").status_code == 200 for one in addresses)


def test_a_period_that_could_be_a_hash_gets_no_address_of_its_own(tmp_path):
    one = open_release(small(tmp_path / "one", period="202601010000"))
    other = open_release(small(tmp_path / "other", period="2027"))
    named = keys([one, other])
    assert named[one.id].period == ""
    assert named[one.id].short == named[one.id].lasting


def test_a_wrong_series_is_answered_with_the_nearest(series):
    catalogue = Catalogue.open(list(series.values()))
    with pytest.raises(sf.QueryError, match="did you mean 'firms'"):
        catalogue.series("firm")


def test_the_series_page_lists_every_version_the_newest_first(pages, series):
    page = seen(pages, "/series/firms")
    order = ["firms.2026-Q2", "firms", key_of(series, "q1a"), "firms.2025-Q4", "firms.2025-Q3"]
    assert [one["id"] for one in page.all("version")] == order
    assert page.text.count("use this one") == 1
    assert page.text.index("2026-Q2") < page.text.index("2025-Q4") < page.text.index("2025-Q3")
    for link in page.links:
        assert pages.get(link).status_code == 200, link
    assert "did you mean 'firms'" in seen(pages, "/series/frims", 404).text


def test_home_shows_a_series_once_and_its_other_releases_below(pages):
    page = seen(pages, "/")
    assert len(page.all("card")) == 1
    assert "Other periods and versions (4)" in page.text
    for link in page.links:
        assert pages.get(link).status_code == 200, link


def test_what_warns_of_a_release_stands_on_every_page_of_it(pages, series):
    told = {
        "firms.2025-Q3": "Withdrawn: One <i>state</i> was counted twice.",
        "firms.2026-Q2": "Not for publication: rehearsal.",
        key_of(series, "q1a"): "Superseded: a newer release took its place, Firms, issued 2026-05-01.",
    }
    for key, words in told.items():
        own = [f"/{key}~number", f"/{key}~number?rows=x", f"/privacy/{key}", f"/help?table={key}~number"]
        own += [f"/{key}~number/pick?pick=valueCodes[size]"]
        for address in own:
            page = seen(pages, address, 400 if "rows=x" in address else 200)
            assert words in page.text, address
            assert page.all("watermark"), address
        assert words in seen(pages, f"/{key}~nothing", 404).text
        for address in ("/", "/budget", "/series/firms"):
            assert words in seen(pages, address).text, address
    for address in ("/firms~number", "/privacy/firms", "/firms.2025-Q4~number", "/firms~nothing"):
        page = pages.get(address).text
        assert 'class="notice" role="note"' not in page
        assert "watermark" not in page

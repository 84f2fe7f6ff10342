"""A control exists only where it works: every link and every choice of a form on every kind of page leads somewhere."""

from dataclasses import replace
from urllib.parse import urljoin, urlsplit

import pytest
from tests.serve.conftest import plan
from tests.serve.doors import Doors
from tests.serve.small import mapped, small

BASE = "http://127.0.0.1:8000"
JOBS = "/jobs-survey~jobs"
STARTS = (
    "/",
    "/help",
    "/budget",
    "/api",
    "/find?q=jobs+by+sex",
    "/series/jobs-survey",
    "/privacy/jobs-survey",
    JOBS,
    f"{JOBS}?rows=sex&cols=age&view=chart",
    f"{JOBS}?rows=trade&cols=sex&view=chart",
    f"{JOBS}?rows=sex&view=chart&chart=line",
    f"{JOBS}?rows=sex&cols=trade&change=last",
    f"{JOBS}?rows=sex&cols=period",
    f"{JOBS}?rows=place&rows=sex&cols=age&wrap=trade",
    f"{JOBS}?rows=sex&cols=age&share=row&cell=female%7C16-29",
    f"{JOBS}?rows=sex&group[sex]=Both:*&codelist[sex]=groups",
    f"{JOBS}/pick?rows=place&pick=valueCodes[place]&ticked=1&c=N&c=S&name=Mine",
    f"{JOBS}/shake?rows=sex&cols=age",
    "/jobs-survey~pay?rows=sex&per=jobs",
    "/mapped~number?rows=size&view=map",
    "/mapped~number?rows=size&cols=sex&view=map&own=s,3",
)


@pytest.fixture(scope="module")
def site(bench, browse, tmp_path_factory):
    """Two periods of one series, and a release with a map."""
    made = [bench.release(f"doors-{one}", of=replace(plan(), period=one)) for one in ("2025-Q3", "2025-Q4")]
    return browse([*made, mapped(small(tmp_path_factory.mktemp("doors") / "mapped", name="mapped"))])


def shut(site, start, most=None):
    """The doors of a page that end in an error, each kind of control tried with a few of its choices."""
    page = site.get(start)
    assert page.status_code == 200, start
    tried, known, found = {}, set(), []
    for name, address in Doors(page.text).requests():
        place = urlsplit(urljoin(BASE + start, address))
        kind = name.partition("=")[0] if not name.startswith("link") else ""
        tried[kind] = tried.get(kind, 0) + 1
        if place.netloc != urlsplit(BASE).netloc or place in known or (most and kind and tried[kind] > most):
            continue
        known.add(place)
        found += ended(site, name, f"{place.path}?{place.query}")
    assert len(known) > 3, start
    return found


def ended(site, name, address):
    reply = site.get(address)
    while reply.status_code in {303, 307}:
        reply = site.get(reply.headers["location"])
    return [] if reply.status_code < 400 else [(reply.status_code, name, address)]


@pytest.mark.parametrize("start", STARTS)
def test_no_door_of_a_page_ends_in_an_error(site, start):
    assert shut(site, start, most=3) == []


@pytest.mark.slow
@pytest.mark.parametrize("start", STARTS)
def test_no_choice_of_any_control_ends_in_an_error(site, start):
    assert shut(site, start) == []


def test_a_door_that_ends_in_an_error_is_found(site):
    class Broken:
        def get(self, address):
            return site.get("/nowhere" if "view=chart" in address else address)

    assert [status for status, _, _ in shut(Broken(), JOBS, most=1)] == [404]

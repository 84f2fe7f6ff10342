"""Answers that are kept are the answers, byte for byte, and never more of them than was allowed."""

import asyncio
import gzip
import random

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.datastructures import QueryParams

from sfumato.serve.address import Door, question_key
from sfumato.serve.app import over
from sfumato.serve.cache import Cache, Kept
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.limits import Limits, Running

DATA = "/api/v2/tables/jobs-survey~jobs/data"
PLACES = ["/", "/jobs-survey~jobs", "/jobs-survey~pay?rows=sex&cols=age", "/api/v2/tables", f"{DATA}?valueCodes[sex]=*"]
PARTS = [
    "valueCodes[sex]=*",
    "valueCodes[place]=N1,S1",
    "sum[age]=16-29,30-49",
    "outputFormat=csv",
    "codelist[place]=all",
]


def over_with(release, browse, **limits):
    """An application over a release with other limits, asked as the shared one is."""
    browser = browse([release])
    browser.application = over(Catalogue.open([release]), running=Running(Limits(**limits)))
    return browser


@pytest.fixture(scope="module")
def plain(release, browse):
    """The same application, which keeps nothing."""
    return over_with(release, browse, cache_bytes=0)


@pytest.mark.parametrize("place", PLACES)
def test_a_kept_answer_is_the_answer(page, plain, place):
    first, second, unkept = page.get(place), page.get(place), plain.get(place)
    assert first.status_code == second.status_code == 200
    assert first.content == second.content == unkept.content
    for name in ("content-type", "cache-control", "content-security-policy", "content-disposition"):
        assert first.headers.get(name) == second.headers.get(name) == unkept.headers.get(name)


def test_parameters_in_any_order_are_one_entry(release, browse, monkeypatch):
    browser = over_with(release, browse)
    worked = []
    keep = Cache.keep
    monkeypatch.setattr(Cache, "keep", lambda *given: worked.append(given[1]) or keep(*given))
    chosen, answers = random.Random(4), set()
    for _ in range(12):
        parts = chosen.sample(PARTS, len(PARTS))
        answers.add(browser.get(f"{DATA}?{'&'.join(parts)}").content)
    assert len(answers) == len(worked) == 1
    browser.get(f"{DATA}?{'&'.join(PARTS[:-1])}")
    assert len(worked) == 2


names = st.sampled_from([b"rows", b"ROWS", b"sum[a]", b"sum%5Ba%5D", b"x"])
values = st.sampled_from([b"a", b"b", b"%41", b"A", b"a+b", b"a%20b", b""])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(names, values), max_size=5), st.lists(st.tuples(names, values), max_size=5))
def test_two_addresses_share_an_answer_only_if_every_parameter_reads_the_same(one, other):
    """Starlette reads the parameters here, as the application does."""

    def read(pairs):
        query = b"&".join(name + b"=" + value for name, value in pairs)
        found = {}
        for name, value in QueryParams(query).multi_items():
            found.setdefault(name.lower(), []).append((name, value))
        key = question_key({"path": "/", "query_string": query})
        return key, found

    (one_key, one_read), (other_key, other_read) = read(one), read(other)
    assert (one_key == other_key) == (one_read == other_read)


def test_another_host_or_path_is_another_entry():
    keys = {
        question_key(Door().through({"path": path, "query_string": b"a=1", "headers": [(b"host", host)]}, ""))
        for path in ("/a", "/b")
        for host in (b"a.example", b"b.example")
    }
    assert len(keys) == 4


def kept(size, tag="t"):
    return Kept(tag, (), b"x" * size)


def test_never_more_bytes_than_allowed_and_the_stalest_goes_first():
    cache = Cache(100_000)
    for place in range(200):
        cache.keep((place,), {}, kept(4_000))
        cache.find((190,), {})
        assert cache.size <= 100_000
        assert cache.size == sum(one.size for one in cache._kept.values())
    assert len(cache) == 20
    assert cache.find((190,), {}) is not None
    assert cache.find((199,), {}) is not None
    assert cache.find((181,), {}) is not None
    assert cache.find((0,), {}) is None


def test_one_large_answer_pushes_nothing_out():
    cache = Cache(100_000)
    cache.keep((1,), {}, kept(1_000))
    cache.keep((2,), {}, kept(50_000))
    assert (cache.find((2,), {}), len(cache)) == (None, 1)


def test_an_answer_that_varies_is_kept_for_each_variant():
    cache, english, german = Cache(100_000), {b"accept-language": b"en"}, {b"accept-language": b"de"}
    cache.keep((1,), english, kept(10, "en"), (b"accept-language",))
    assert cache.find((1,), german) is None
    cache.keep((1,), german, kept(10, "de"), (b"accept-language",))
    assert [cache.find((1,), one).tag for one in (english, german)] == ["en", "de"]
    assert cache.find((1,), {}) is None


def test_travels_compressed_only_to_who_can_unpack_it(page):
    address = f"{DATA}?valueCodes[place]=*&valueCodes[sex]=*"
    small = page.get(address, headers={"Accept-Encoding": "gzip"})
    whole = page.get(address, headers={"Accept-Encoding": "identity"})
    assert small.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in whole.headers
    assert small.content == whole.content
    assert int(small.headers["content-length"]) < len(whole.content) / 2
    assert len(gzip.compress(whole.content, 5, mtime=0)) == int(small.headers["content-length"])
    assert small.headers["etag"] != whole.headers["etag"]
    assert small.headers["vary"] == whole.headers["vary"] == "accept-encoding"


def test_who_holds_an_answer_is_told_so_whichever_form_it_holds(page, release, browse):
    address = f"{DATA}?valueCodes[place]=*"
    fresh = browse([release])
    for accepted in ("gzip", "identity"):
        tag = page.get(address, headers={"Accept-Encoding": accepted}).headers["etag"]
        for browser in (page, fresh):
            again = browser.get(address, headers={"If-None-Match": tag})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)


def test_what_is_not_for_publication_travels_uncompressed_and_is_kept_nowhere_else(rehearsal, browse):
    private = browse([rehearsal])
    for _ in range(2):
        reply = private.get("/")
        assert "content-encoding" not in reply.headers
        assert reply.headers.get_list("cache-control") == ["no-store"]


def test_errors_are_not_kept(release, browse):
    browser = over_with(release, browse)
    cache = browser.application.inner.inner.inner.inner.cache
    assert browser.get(f"{DATA}?valueCodes[x]=1").status_code == 400
    assert browser.get("/nothing").status_code == 404
    assert browser.get("/health").status_code == 200
    assert len(cache) == 0
    assert browser.get(f"{DATA}?valueCodes[sex]=*").status_code == 200
    assert len(cache) == 1


def test_the_same_question_asked_by_many_at_once_is_worked_out_once_or_twice(release, browse, monkeypatch):
    browser = over_with(release, browse, at_work=2)
    worked = []
    keep = Cache.keep
    monkeypatch.setattr(Cache, "keep", lambda *given: worked.append(1) or keep(*given))

    async def many():
        transport = httpx.ASGITransport(browser.application)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await asyncio.gather(*(client.get(f"{DATA}?valueCodes[hours]=*") for _ in range(40)))

    replies = asyncio.run(many())
    assert {reply.status_code for reply in replies} == {200}
    assert len({reply.content for reply in replies}) == 1
    assert len(worked) <= 2

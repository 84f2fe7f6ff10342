"""nginx with the files of `deploy/` before two replicas: what it keeps, what it forgets, and nothing of any reader."""

import asyncio
import re
import shutil

import pytest
from bench.front import BASE, DEPLOY, LANGUAGES, addresses, fronted, held_of_readers, mixed, once, withdrawn_after

from sfumato.query.wording import languages
from sfumato.serve.languages import preferred


def test_nginx_knows_the_languages_that_there_are_pages_in():
    first = re.search(r"\(\?<language>([a-z|]+)\)", (DEPLOY / "nginx-http.conf").read_text())
    assert set(first[1].split("|")) == {*languages()}
    assert set(LANGUAGES.values()) == {*languages()}, "and all of them are asked for"
    for written, read in LANGUAGES.items():
        assert preferred(written, tuple(languages()), "en") == read, "as the tool itself chooses"


@pytest.mark.skipif(shutil.which("nginx") is None, reason="there is no nginx here: apt-get install nginx-light")
@pytest.mark.slow
def test_a_cache_before_two_replicas_gives_the_same_to_all_and_forgets_by_key(bench, tmp_path):
    release = bench.release("fronted")
    with fronted(tmp_path, [release]) as front:
        known = asyncio.run(addresses(front.port, ["jobs-survey"], ["sex", "age"]))
        assert any("/files/" in one for one, _ in known)
        assert any("/static/" in one for one, _ in known)
        asyncio.run(mixed(front, known, 500))
        before = front.reached()
        seen = asyncio.run(mixed(front, known, 500))
        assert set(seen.statuses) <= {"200", "206", "shed"}
        assert front.reached() - before < 100, "what was asked before is not asked again"
        assert all(len(bodies) == 1 for bodies in seen.bodies.values())
        assert {read for read, _ in seen.languages} == {"de", "en"}
        assert all(read == shown for read, shown in seen.languages)
        assert seen.private.total() == 0
        kept, of_readers = held_of_readers(front.cache)
        assert kept > 10
        assert of_readers == 0

        page = asyncio.run(once(front.port, f"{BASE}/jobs-survey~jobs?rows=sex"))
        asset = next(one for one, _ in known if "/static/" in one)
        assert page.headers["cache-control"] == "public, max-age=0, must-revalidate", "nginx does not say how old it is"
        assert "immutable" in asyncio.run(once(front.port, asset)).headers["cache-control"]
        assert asyncio.run(once(front.port, f"{BASE}/nowhere")).headers["cache-control"] == "no-store"
        part = next((one, part) for one, part in known if part == "bytes=0-99")
        assert len(asyncio.run(once(front.port, part[0], Range=part[1])).body) == 100

        shown = [f"{BASE}/jobs-survey~jobs?rows=sex", f"{BASE}/privacy/jobs-survey"]
        told = withdrawn_after(front, release, shown, told=True)
        assert told < 60

"""What a cache in front of the server is told: for how long it may give an answer, and by which key it forgets it."""

import re
import time

import pytest
from tests.cli.test_cli import sfumato

SOON = "public, max-age=25, s-maxage=25, stale-while-revalidate=30"
YEAR = "public, max-age=31536000, immutable"


def seconds(kept, word):
    return int(re.search(rf"{word}=(\d+)", kept)[1])


@pytest.mark.parametrize(
    "address",
    ["/", "/jobs-survey~jobs?rows=sex", "/api/v2/tables", "/api/v2/tables/jobs-survey~jobs/data", "/openapi.json"],
)
def test_pages_and_answers_are_asked_about_again_within_a_minute(page, address):
    kept = page.get(address).headers["cache-control"]
    assert kept == SOON
    # The oldest copy that a reader is given, by a cache of his own or of others, and the look at the folders after it.
    assert max(seconds(kept, "max-age"), seconds(kept, "s-maxage")) + seconds(kept, "stale-while-revalidate") + 1 < 60


def test_refusals_are_kept_by_nobody(page):
    for address in ("/nowhere", "/jobs-survey~jobs?rows=none", "/files/0/none"):
        reply = page.get(address)
        assert reply.headers["cache-control"] == "no-store"
        assert "surrogate-key" not in reply.headers


def test_everything_that_a_page_loads_lies_at_an_address_of_its_content_for_a_year(page):
    shown = page.get("/jobs-survey~jobs").text
    loaded = re.findall(r'(?:href|src)="(/static/[^"]+)"', shown)
    assert len(loaded) > 3
    for address in loaded:
        assert re.fullmatch(r"/static/[0-9a-f]{12}/[a-z]+\.(css|js|svg)", address)
        assert page.get(address).headers["cache-control"] == YEAR
    script = next(one for one in loaded if one.endswith("sfumato.js"))
    imported = re.findall(r'"\./([a-z]+\.js)"', page.get(script).text)
    assert imported
    for name in imported:
        assert page.get(script.replace("sfumato.js", name)).headers["cache-control"] == YEAR, "what scripts load, too"


def test_another_version_of_the_page_is_given_what_there_is_and_not_for_long(page):
    reply = page.get("/static/0123456789ab/sfumato.css")
    assert (reply.status_code, reply.headers["cache-control"]) == (200, SOON)
    assert page.get("/static/0123456789ab/none.css").status_code == 404


@pytest.mark.parametrize(
    ("address", "keys"),
    [
        ("/", {"sfumato-catalogue"}),
        ("/api/v2/tables", {"sfumato-catalogue"}),
        ("/openapi.json", {"sfumato-catalogue"}),
        ("/jobs-survey~jobs?rows=sex", {"sfumato-catalogue", "sfumato-series-jobs-survey"}),
        ("/series/jobs-survey", {"sfumato-catalogue", "sfumato-series-jobs-survey"}),
        ("/privacy/jobs-survey", {"sfumato-catalogue", "sfumato-series-jobs-survey"}),
        ("/api/v2/tables/jobs-survey~jobs/data", {"sfumato-series-jobs-survey"}),
        ("/api/v2/privacy/jobs-survey", {"sfumato-series-jobs-survey"}),
    ],
)
def test_replies_have_the_keys_of_what_they_depend_on_also_when_they_come_from_memory(page, address, keys):
    for _ in range(2):
        headers = page.get(address).headers
        assert set(headers["surrogate-key"].split(" ")) == keys
        assert set(headers["cache-tag"].split(",")) == keys


class SharedCache:
    """A cache in front of a server that keeps what it may until it is told to forget a key."""

    def __init__(self, ask):
        self.ask, self.kept, self.asked = ask, {}, 0

    def get(self, address):
        if address not in self.kept:
            self.asked += 1
            reply = self.ask(address)
            if "s-maxage" not in reply.headers["cache-control"]:
                return reply
            self.kept[address] = reply
        return self.kept[address]

    def purge(self, keys):
        held = {address: set(reply.headers["surrogate-key"].split()) for address, reply in self.kept.items()}
        self.kept = {address: self.kept[address] for address, of in held.items() if not of & set(keys)}


def test_a_withdrawal_is_seen_at_once_where_a_cache_is_told_its_keys(bench, serving):
    folder = bench.release("purged")
    addresses = [
        "/",
        "/jobs-survey~jobs?rows=sex",
        "/api/v2/tables/jobs-survey~jobs/data?outputFormat=csv",
        "/privacy/jobs-survey",
    ]
    with serving([folder]) as server:
        cache = SharedCache(server.get)
        before = [cache.get(address).text for address in addresses for _ in range(50)]
        assert cache.asked == len(addresses), "of 200 requests four reached the server"
        said = sfumato("withdraw", folder, "--why", "A file was read twice.").stdout
        assert not any("read twice" in cache.get(address).text for address in addresses), "what is kept is kept"
        cache.purge(re.findall(r"sfumato-[a-z-]+", said))
        time.sleep(1.1)
        assert all("read twice" in cache.get(address).text for address in addresses)
    assert len(before) == 200

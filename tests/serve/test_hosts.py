"""What a request says of the server's name poisons nothing: one Host, allowed names, a stated origin everywhere."""

import asyncio
import socket
from urllib.parse import urljoin

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from sfumato.errors import ReleaseError
from sfumato.serve.app import over
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.limits import Running

EVIL = "attacker.example"
DATA = "/api/v2/tables/jobs-survey~jobs/data"
ADDRESSES = ["/jobs-survey~jobs?rows=sex", "/api", "/api/v2/tables", f"{DATA}?valueCodes[sex]=male", "/api/v2/config"]
# The server as it was: answers were kept under the last Host of a request, and repeated the first.
LAST_AND_FIRST = """
import sfumato.serve.cache as cache
from sfumato.serve.address import Door
def by_the_last(scope):
    return dict(scope["headers"]).get(b"host"), scope["path"], scope["query_string"]
Door.refusal = lambda *_, **__: None
cache.question_key = by_the_last
"""


def raw(client, address, *hosts, version="1.1"):
    """The reply to a request with these Host headers, as it comes."""
    said = "".join(f"Host: {host}\r\n" for host in hosts)
    with socket.create_connection((client.base_url.host, client.base_url.port), 10) as line:
        line.sendall(f"GET {address} HTTP/{version}\r\n{said}Connection: close\r\n\r\n".encode())
        parts = []
        while part := line.recv(65_536):
            parts.append(part)
    return b"".join(parts).decode()


def poisoned(client):
    """The addresses at which a reader finds the attacker's name after two Host headers were sent there."""
    here = f"127.0.0.1:{client.base_url.port}"
    for address in ADDRESSES:
        raw(client, address, EVIL, here)
    return [address for address in ADDRESSES if EVIL in raw(client, address, here)]


def test_two_host_headers_are_refused_and_poison_nothing(server):
    assert raw(server, "/api", EVIL, "127.0.0.1").startswith("HTTP/1.1 400")
    assert raw(server, "/api", "127.0.0.1", "127.0.0.1").startswith("HTTP/1.1 400")
    assert poisoned(server) == []


def test_two_host_headers_poison_a_server_that_keeps_by_the_last_and_repeats_the_first(serving, release):
    with serving([release], LAST_AND_FIRST) as client:
        assert poisoned(client) == ADDRESSES[:-1]


def test_a_request_without_a_host_is_of_another_time(server):
    assert raw(server, "/api").startswith("HTTP/1.1 400")
    assert raw(server, "/api", "a b").startswith("HTTP/1.1 400")
    assert raw(server, "/health", version="1.0").startswith("HTTP/1.0 200")


def asked(application, address, **headers):
    async def ask():
        transport = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            return await client.get(address, headers=headers)

    return asyncio.run(ask())


@pytest.fixture(scope="module")
def stated(release):
    """The application with an origin and one more name."""
    running = Running(origin="https://statistics.example", hosts=("www.statistics.example",))
    return over(Catalogue.open([release]), running=running)


@pytest.mark.parametrize("host", ["statistics.example", "STATISTICS.example.:443", "www.statistics.example", "[::1]:8"])
def test_with_an_origin_every_address_names_it_alone(stated, host):
    for address in ADDRESSES[:-1]:
        shown = asked(stated, address, Host=host).text
        assert "https://statistics.example/" in shown
        assert "http://127.0.0.1" not in shown
        assert f"http://{host}" not in shown


def test_with_an_origin_other_names_are_refused_but_for_the_health(stated):
    for host in (EVIL, "10.0.0.1:8000", "statistics.example.evil.example"):
        for address in (*ADDRESSES, "/help/"):
            reply = asked(stated, address, Host=host)
            assert reply.status_code == 400
            assert "ask for statistics.example or www.statistics.example" in reply.json()["detail"]
        assert asked(stated, "/health", Host=host).status_code == 200


def test_a_name_to_answer_to_is_a_name():
    for wrong in ("https://statistics.example", "statistics.example:80", "a/b", ""):
        with pytest.raises(ReleaseError, match="is not a name"):
            Running(hosts=(wrong,))
    assert Running(hosts=("Statistics.example.", "[::1]")).names == {"statistics.example", "::1"}


@pytest.mark.parametrize("address", ["/help/?lang=de", "/budget/", "/jobs-survey~jobs/?rows=sex", f"{DATA}/"])
def test_a_slash_too_many_leads_to_the_same_server(page, address):
    reply = page.get(address, headers={"Host": EVIL})
    assert (reply.status_code, reply.headers["location"]) == (307, address.replace("/?", "?").rstrip("/"))
    assert page.get(reply.headers["location"]).status_code == 200


@pytest.mark.parametrize("address", ["//evil.example/", "/%5Cevil.example/", "//evil.example//", "/nothing/here/"])
def test_no_slash_leads_elsewhere(page, address):
    reply = page.get(f"http://127.0.0.1:8000{address}")
    where = reply.headers.get("location", "/")
    assert "\\" not in where, "which browsers read as a slash"
    assert urljoin("http://127.0.0.1:8000/", where).startswith("http://127.0.0.1:8000/")
    assert page.get(where).status_code == (404 if "location" in reply.headers else 200)


def test_the_router_alone_would_lead_to_any_host():
    bare = Starlette(routes=[Route("/help", lambda _: PlainTextResponse("help"))])
    assert asked(bare, "/help/", Host=EVIL).headers["location"] == f"http://{EVIL}/help"


QUESTIONS = [
    *ADDRESSES,
    f"{DATA}?valueCodes[sex]=female",
    "/help",
    "/help?lang=de",
    "/static/page.js",
    "/static/grid.js",
]


def named(application):
    """The bodies that are sent for some addresses under two hosts, by their ETag."""
    found = {}
    for host in ("a.example", "b.example"):
        for address in QUESTIONS:
            reply = asked(application, address, Host=host)
            found.setdefault(reply.headers["etag"], set()).add(reply.content)
    return found


def test_an_etag_names_one_body(release, page):
    found = named(page.application)
    assert len(found) == 2 * len(QUESTIONS)
    assert all(len(bodies) == 1 for bodies in found.values())
    elsewhere = over(Catalogue.open([release]), running=Running(origin="https://statistics.example"))
    for address in ADDRESSES[:-1]:
        held = asked(page.application, address, Host=EVIL).headers["etag"]
        assert asked(page.application, address, **{"Host": EVIL, "If-None-Match": held}).status_code == 304
        assert asked(page.application, address, **{"If-None-Match": held}).status_code == 200
        assert asked(elsewhere, address, **{"If-None-Match": held}).status_code == 200


def test_an_etag_of_the_release_alone_names_many(release, monkeypatch):
    monkeypatch.setattr("sfumato.serve.reply.question_key", lambda _: ())
    application = over(Catalogue.open([release]))
    assert max(map(len, named(application).values())) == 4, "two questions under two hosts"
    held = asked(application, "/api", Host=EVIL).headers["etag"]
    assert asked(application, "/api", **{"If-None-Match": held}).status_code == 304

"""More than the server can do is turned away at once and in words; what it holds, it answers."""

import asyncio
import sys
import threading
from ipaddress import ip_address

import httpx
import pytest
from starlette.responses import JSONResponse

import sfumato as sf
from sfumato.serve.app import over
from sfumato.serve.callers import Callers, caller
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.limits import Limits, Running

DATA = "/api/v2/tables/jobs-survey~jobs/data?valueCodes[sex]=*"


@pytest.fixture(scope="module")
def catalogue(release):
    return Catalogue.open([release])


class Gate:
    """Holds a route until it is opened, and counts who is inside."""

    def __init__(self, monkeypatch):
        self.opened, self.inside, self.most = threading.Event(), 0, 0
        self.lock = threading.Lock()
        module = sys.modules["sfumato.serve.app"]
        plain = module.router

        def gated(*given):
            routes = plain(*given)
            routes.add_route("/api/held", self.hold)
            return routes

        monkeypatch.setattr(module, "router", gated)

    def hold(self, request):
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        self.opened.wait(10)
        with self.lock:
            self.inside -= 1
        return JSONResponse({"held": True})


def asked(application, work):
    """Run some asking against an application in this process."""

    async def whole():
        transport = httpx.ASGITransport(application, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=20) as client:
            return await work(client)

    return asyncio.run(whole())


def test_takes_what_it_can_hold_and_turns_the_rest_away_at_once(catalogue, monkeypatch):
    gate = Gate(monkeypatch)
    application = over(catalogue, running=Running(Limits(at_work=2, waiting=3)))

    async def work(client):
        asking = [asyncio.create_task(client.get(f"/api/held?{place}")) for place in range(12)]
        done, _ = await asyncio.wait(asking, timeout=1)
        refused = [task.result() for task in done]
        page = await client.get("/jobs-survey~jobs")
        health = await client.get("/health")
        gate.opened.set()
        replies = await asyncio.gather(*asking)
        return refused, page, health, replies, await client.get(DATA)

    refused, page, health, replies, after = asked(application, work)
    assert len(refused) == 12 - 2 - 3
    assert {reply.status_code for reply in [*refused, page]} == {503}
    assert refused[0].headers["content-type"] == "application/problem+json"
    assert refused[0].json()["status"] == 503
    assert page.headers["content-type"].startswith("text/html")
    assert "more questions than it can answer" in page.text
    for reply in [*refused, page]:
        assert 1 <= int(reply.headers["retry-after"]) <= 10
        assert reply.headers["cache-control"] == "no-store"
        assert "content-security-policy" in reply.headers
    assert health.status_code == 200
    assert sorted(reply.status_code for reply in replies) == [200] * 5 + [503] * 7
    assert gate.most == 2
    assert after.status_code == 200


def test_nobody_waits_longer_than_the_stated_time(catalogue, monkeypatch):
    gate = Gate(monkeypatch)
    application = over(catalogue, running=Running(Limits(at_work=1, waiting=5, patience=0.2)))

    async def work(client):
        first = asyncio.create_task(client.get("/api/held"))
        await asyncio.sleep(0.05)
        waited = await asyncio.gather(*(client.get(f"/api/held?{place}") for place in range(3)))
        gate.opened.set()
        return waited, await first, await client.get(DATA)

    waited, first, after = asked(application, work)
    assert [reply.status_code for reply in waited] == [503] * 3
    assert (first.status_code, after.status_code) == (200, 200)
    assert gate.most == 1


def test_an_answer_that_is_kept_is_given_while_all_turns_are_taken(catalogue, monkeypatch):
    gate = Gate(monkeypatch)
    application = over(catalogue, running=Running(Limits(at_work=1, waiting=0)))

    async def work(client):
        known = await client.get(DATA)
        held = asyncio.create_task(client.get("/api/held"))
        await asyncio.sleep(0.05)
        again, new = await client.get(DATA), await client.get(DATA + "&valueCodes[age]=*")
        gate.opened.set()
        await held
        return known, again, new

    known, again, new = asked(application, work)
    assert again.content == known.content
    assert (again.status_code, new.status_code) == (200, 503)


def test_health_says_so_when_nothing_moves_and_again_when_it_does(catalogue, monkeypatch):
    gate = Gate(monkeypatch)
    application = over(catalogue, running=Running(Limits(at_work=1, patience=0.2)))

    async def work(client):
        held = asyncio.create_task(client.get("/api/held"))
        await asyncio.sleep(0.1)
        busy = await client.get("/health")
        await asyncio.sleep(0.3)
        stuck = await client.get("/health")
        gate.opened.set()
        await held
        return busy, stuck, await client.get("/health")

    busy, stuck, after = asked(application, work)
    assert [reply.status_code for reply in (busy, stuck, after)] == [200, 503, 200]
    assert "every turn is taken" in stuck.json()["detail"]


def test_health_asks_a_question_and_fails_where_questions_fail(catalogue, monkeypatch):
    def broken(*_):
        raise ValueError

    async def work(client):
        return [(await client.get(path)).status_code for path in ("/health", "/version")]

    assert asked(over(catalogue), work) == [200, 200]
    monkeypatch.setattr("sfumato.serve.api.releases.from_address", broken)
    assert asked(over(catalogue), work) == [500, 200]


def of(address, **headers):
    written = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"client": (address, 5), "headers": written}


def test_a_client_within_its_window_is_never_refused_and_one_beyond_it_is():
    now = 0.0
    callers = Callers(Limits(calls=6, window=3), clock=lambda: now)
    for now in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 3.0, 3.1, 3.2, 3.3, 3.4, 3.5, 20.0):  # noqa: B007 - the clock
        assert callers.wait(of("192.0.2.1")) == 0
    for _ in range(5):
        assert callers.wait(of("192.0.2.1")) == 0
    assert callers.wait(of("192.0.2.1")) == 1
    assert callers.wait(of("192.0.2.2")) == 0
    now = 20.0 + callers.wait(of("192.0.2.1"))
    assert callers.wait(of("192.0.2.1")) == 0


def test_the_wait_that_is_stated_is_enough_and_not_idle():
    now = 0.0
    callers = Callers(Limits(calls=1, window=7), clock=lambda: now)
    assert callers.wait(of("192.0.2.1")) == 0
    assert callers.wait(of("192.0.2.1")) == 7
    now = 6.9
    assert callers.wait(of("192.0.2.1")) == 1
    now = 7.9
    assert callers.wait(of("192.0.2.1")) == 0


def test_clients_are_told_apart_as_an_honest_count_needs():
    proxied = ("127.0.0.1", "10.0.0.0/8")
    assert caller(of("192.0.2.7"), ()) == "192.0.2.7"
    assert caller(of("192.0.2.7", x_forwarded_for="198.51.100.1"), ()) == "192.0.2.7"
    assert caller(of("192.0.2.7", x_forwarded_for="198.51.100.1"), proxied) == "192.0.2.7"
    assert caller(of("127.0.0.1", x_forwarded_for="198.51.100.1"), ()) is None
    assert caller(of("127.0.0.1", x_forwarded_for="6.6.6.6, 198.51.100.1"), proxied) == "198.51.100.1"
    assert caller(of("10.1.1.1", x_forwarded_for="6.6.6.6, 198.51.100.1, 10.2.2.2"), proxied) == "198.51.100.1"
    assert caller(of("10.1.1.1", x_forwarded_for="<script>"), proxied) == "unknown"
    assert caller(of("10.1.1.1"), proxied) == "10.1.1.1"
    one, other = caller(of("2001:db8:1:2::5"), ()), caller(of("2001:db8:1:2:ffff::9"), ())
    assert one == other != caller(of("2001:db8:1:3::5"), ())
    assert caller({"client": None, "headers": []}, ()) is None


def test_who_asks_too_much_is_told_when_to_come_back_and_others_are_served(catalogue):
    limits = Limits(calls=5, window=10, proxies=("127.0.0.1",))
    application = over(catalogue, running=Running(limits))

    async def work(client):
        greedy = [await client.get(DATA, headers={"X-Forwarded-For": "192.0.2.1"}) for _ in range(8)]
        page = await client.get("/", headers={"X-Forwarded-For": "192.0.2.1"})
        health = await client.get("/health", headers={"X-Forwarded-For": "192.0.2.1"})
        other = await client.get("/api/v2/config", headers={"X-Forwarded-For": "192.0.2.2"})
        return greedy, page, health, other

    greedy, page, health, other = asked(application, work)
    stated = other.json()
    assert (stated["maxCallsPerTimeWindow"], stated["timeWindow"]) == (5, 10)
    assert [reply.status_code for reply in greedy] == [200] * 5 + [429] * 3
    assert "5 requests in 10 seconds" in greedy[-1].json()["detail"]
    assert 1 <= int(greedy[-1].headers["retry-after"]) <= 10
    assert page.status_code == 429
    assert page.headers["content-type"].startswith("text/html")
    assert (health.status_code, other.status_code) == (200, 200)


def test_the_table_of_clients_is_bounded():
    callers = Callers(Limits(calls=5, window=10), clock=lambda: 0.0)
    for place in range(30_000):
        callers.wait(of(str(ip_address(0x0A000000 + place))))
    assert len(callers._buckets) == 10_000


def test_refuses_limits_that_hold_nothing():
    for wrong in ({"at_work": 0}, {"waiting": -1}, {"patience": 0}, {"calls": -1}, {"cache_bytes": -1}):
        with pytest.raises(sf.ReleaseError, match="must be at least"):
            Limits(**wrong)
    with pytest.raises(sf.ReleaseError, match="not an address or a network"):
        Limits(proxies=("proxy.example",))


@pytest.mark.parametrize(("body", "status"), [(b"x" * 262_144, 405), (b"x" * 262_145, 413)])
def test_a_request_may_not_bring_more_than_a_question(page, body, status):
    assert page.ask("POST", "/api/v2/config", content=body).status_code == status


def test_a_body_that_trickles_is_not_waited_for(catalogue, monkeypatch):
    monkeypatch.setattr("sfumato.serve.guard.BODY_SECONDS", 0.1)
    application = over(catalogue, running=Running(Limits(at_work=1)))

    async def patient_send(message):
        sent.append(message)

    async def never():
        if first:
            return first.pop()
        await asyncio.sleep(60)
        return {}

    sent, first = [], [{"type": "http.request", "body": b"{", "more_body": True}]
    scope = {"type": "http", "method": "POST", "path": "/api/v2/config", "query_string": b""}
    scope["headers"] = [(b"host", b"127.0.0.1")]
    asyncio.run(asyncio.wait_for(application(scope, never, patient_send), 5))
    assert sent[0]["status"] == 408

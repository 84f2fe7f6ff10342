"""The server in operation, as a process with real signals: how it stops, comes back, what it logs, whom it lets in."""

import asyncio
import os
import re
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from sfumato.errors import ReleaseError
from sfumato.serve.app import over
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.limits import Running
from sfumato.serve.run import _with_key

# A route that takes its time, and one that fails with a value that no log may show.
BEFORE = """
import sys, time
import sfumato.serve
from starlette.responses import JSONResponse
module = sys.modules["sfumato.serve.app"]
plain = module.router
def slow(request):
    time.sleep(1)
    return JSONResponse({"slow": "done"})
def broken(request):
    secret = "a-value-of-a-reader"
    raise ValueError(secret)
def more(*given):
    routes = plain(*given)
    routes.add_route("/api/slow", slow)
    routes.add_route("/api/broken", broken)
    return routes
module.router = more
from sfumato.cli import main
main()
"""
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (GET|POST) (\S+) (\d{3}) \d+\.\d+ms (\d+)B")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Started:
    """A server that was started by its command, and what it wrote to stderr."""

    def __init__(self, folders, options):
        command = [sys.executable, "-c", BEFORE, "serve", *map(str, folders), "--port", str(free_port()), *options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.lines = []
        self.address = None
        while self.address is None:
            line = self.process.stderr.readline()
            assert line, f"the server stopped before it answered: {self.lines}"
            self.lines.append(line.rstrip("\n"))
            found = re.search(r"http://\S+", line)
            self.address = found and found[0]
        self.client = httpx.Client(base_url=self.address, timeout=20)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))

    @property
    def port(self):
        return self.client.base_url.port

    @property
    def workers(self):
        listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(pid) for pid in listed.split()]

    def told(self, count):
        """The first lines of the log, once they are there."""
        patience = time.monotonic() + 5
        while len(self._log) < count and time.monotonic() < patience:
            time.sleep(0.02)
        return self._log

    @property
    def _log(self):
        return [line for line in self.lines if re.match(r"\d{4}-", line) and "/health" not in line]

    def ended(self):
        """The exit code and the seconds it took to end."""
        start = time.monotonic()
        code = self.process.wait(20)
        self.reader.join(5)
        return code, time.monotonic() - start


@contextmanager
def started(*folders, options=()):
    server = Started(folders, options)
    try:
        yield server
    finally:
        with suppress(ProcessLookupError):
            os.killpg(server.process.pid, signal.SIGKILL)
        server.process.wait(20)
        server.client.close()
        server.reader.join(5)
        server.process.stderr.close()


def later(work):
    """Do it in a thread; the list holds what came of it."""
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    return thread, found


def refused(port):
    try:
        socket.create_connection(("127.0.0.1", port), 2).close()
    except OSError:
        return True
    return False


@pytest.mark.parametrize("told", ["SIGTERM", "SIGINT", "Ctrl-C"])
def test_told_to_stop_it_finishes_what_runs_takes_nothing_new_and_ends_with_0_and_no_word(release, told):
    with started(release) as server:
        thread, found = later(lambda: server.client.get("/api/slow"))
        time.sleep(0.3)
        if told == "Ctrl-C":  # a terminal sends it to the workers, too
            os.killpg(server.process.pid, signal.SIGINT)
        else:
            server.process.send_signal(getattr(signal, told))
        time.sleep(0.3)
        assert thread.is_alive()
        assert refused(server.port)
        code, seconds = server.ended()
        thread.join(10)
        assert found[0].json() == {"slow": "done"}
        assert code == 0
        assert seconds < 10
        assert not [line for line in server.lines if not line.startswith(("To serve: ", "Serving "))]


def test_a_worker_that_is_killed_comes_back_and_one_that_cannot_live_ends_the_server_in_words(release):
    with started(release, options=["--workers", "2"]) as server:
        before = server.workers
        assert len(before) == 2
        os.kill(before[0], signal.SIGKILL)
        patience = time.monotonic() + 10
        while not (len(set(server.workers) - set(before)) == 1 and healthy(server.port)):
            assert time.monotonic() < patience
            time.sleep(0.05)
        for _ in range(20):
            assert httpx.get(f"{server.address}health", timeout=10).status_code == 200
        os.kill((set(server.workers) - set(before)).pop(), signal.SIGKILL)
        code, seconds = server.ended()
        assert code == 1
        assert seconds < 10
        assert any("a worker could not go on" in line for line in server.lines)
        assert not any("Traceback" in line for line in server.lines)


def healthy(port):
    with suppress(httpx.HTTPError):
        return httpx.get(f"http://127.0.0.1:{port}/health", timeout=2).status_code == 200
    return False


def test_the_log_says_what_was_answered_and_not_what_was_asked_or_by_whom(release):
    with started(release, options=["--log"]) as server:
        data = server.client.get("/api/v2/tables/jobs-survey~jobs/data?valueCodes[sex]=male")
        server.client.get("/api/x%0a2026-01-01T00:00:00Z%20forged")
        broken = server.client.get("/api/broken?of=a-value-of-a-reader")
        lines = server.told(4)
        assert data.status_code == 200
        assert broken.status_code == 500
        assert "a-value" not in broken.text
        assert LINE.fullmatch(lines[0]).groups() == (
            "GET", "/api/v2/tables/jobs-survey~jobs/data", "200", data.headers["content-length"]
        )  # fmt: skip
        assert LINE.fullmatch(lines[1])[3] == "404"
        assert "fault ValueError at" in lines[2]
        assert LINE.fullmatch(lines[3])[3] == "500"
        whole = "\n".join(server.lines)
        for hidden in ("male", "127.0.0.1 ", "a-value-of-a-reader", "Traceback", "forged\n"):
            assert hidden not in whole.replace("http://127.0.0.1", "")


def test_the_log_says_more_only_when_told(release):
    with started(release, options=["--log-questions", "--log-clients"]) as server:
        server.client.get("/api/v2/tables/jobs-survey~jobs/data?valueCodes[sex]=male")
        assert server.told(1)[0].split()[2] == "/api/v2/tables/jobs-survey~jobs/data?valueCodes[sex]=male"
        assert server.told(1)[0].endswith(" 127.0.0.1")


class BareProxy(socketserver.BaseRequestHandler):
    """A reverse proxy that says nothing of itself and calls its backend by the backend's own name."""

    backend = 0

    def handle(self):
        asked = self.request.recv(65_536).decode("latin-1")
        asked = re.sub(r"(?i)host: [^\r]*", f"Host: 127.0.0.1:{self.backend}\r\nConnection: close", asked, count=1)
        asked = re.sub(r"(?i)\r\nconnection: keep-alive", "", asked)
        with socket.create_connection(("127.0.0.1", self.backend), 5) as line:
            line.sendall(asked.encode("latin-1"))
            while part := line.recv(65_536):
                self.request.sendall(part)


@contextmanager
def proxied(port):
    handler = type("To", (BareProxy,), {"backend": port})
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as proxy:
        threading.Thread(target=proxy.serve_forever, args=(0.05,), daemon=True).start()
        with httpx.Client(base_url=f"http://127.0.0.1:{proxy.server_address[1]}", timeout=10) as outside:
            yield outside
        proxy.shutdown()


PATHS = ["/", "/health", "/version", "/openapi.json", "/jobs-survey~jobs", "/api/v2/tables", "/s-guess/", "/s-/health"]


def test_a_rehearsal_behind_a_bare_local_proxy_is_seen_by_nobody_without_the_key(rehearsal, release):
    with started(rehearsal, options=["--log", "--base-path", "/trial"]) as server, proxied(server.port) as outside:
        key = re.fullmatch(r"http://127\.0\.0\.1:\d+/trial/(s-[\w-]{22})/", server.address)[1]
        for path in PATHS:
            for start in ("", "/trial"):
                reply = outside.get(start + path)
                assert reply.status_code == 403
                assert "jobs" not in reply.text
        assert outside.get(f"/trial/{key}x/").status_code == 403
        page = server.client.get("jobs-survey~jobs")
        assert page.status_code == 200
        assert f"/trial/{key}/static/" in page.text
        assert server.client.get("api/v2/tables", headers={"Host": "evil.example"}).status_code == 403
        assert any("keep the address to yourself" in line for line in server.lines)
        assert not [line for line in server.told(3) if key in line]
    with started(release) as server, proxied(server.port) as outside:
        assert outside.get("/").status_code == 200


def test_every_start_of_a_private_server_has_a_new_key(rehearsal, release):
    private, public = Catalogue.open([release, rehearsal]), Catalogue.open([release])
    keys = {_with_key(Running(), private).key for _ in range(10)}
    assert len(keys) == 10
    assert min(map(len, keys)) >= 22
    assert _with_key(Running(), public).key == ""


@pytest.mark.slow
def test_a_connection_that_says_nothing_is_closed(release):
    with started(release) as server, socket.create_connection(("127.0.0.1", server.port), 20) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        start = time.monotonic()
        assert not line.recv(100).startswith(b"HTTP/1.1 200")
        assert 5 < time.monotonic() - start < 15


def test_an_origin_is_what_citations_name_and_must_be_one(release):
    with pytest.raises(ReleaseError, match="without a path"):
        Running(origin="https://statistics.example/path")
    application = over(Catalogue.open([release]), running=Running(origin="https://statistics.example"))

    async def ask():
        transport = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            return (await client.get("/jobs-survey~jobs")).text

    shown = asyncio.run(ask())
    assert "https://statistics.example/jobs-survey." in shown
    assert "http://127.0.0.1:8000/" not in shown

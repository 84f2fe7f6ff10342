"""The query tool over HTTP, on a release with a SOC-like hierarchy: one worker on loopback, client on the same machine.

CPU is the worker's own clock around each request. The hot route is one data address asked again and again by wrk
(Debian's package); its limit is the same server program over a Starlette route that returns bytes of the same size.
The held load is what the worker answers of questions that nobody asked before; twice that is sent at an even pace
whether or not answers come back, then the held load again.
"""

import asyncio
import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import numpy as np
from bench.line import Goal, Line
from bench.load import closed, phases, said
from bench.soc import PATH, Questions, made

BARE = """
import sys
from functools import partial
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from sfumato.serve.run import _server
body = b"x" * int(sys.argv[2])
async def asked(request):
    return Response(body, media_type="application/json")
application = Starlette(routes=[Route("/", asked)])
_server("127.0.0.1", int(sys.argv[1]), 1).serve(target_loader=lambda: application, wrap_loader=False)
"""


def lines(*, quick: bool = False) -> Iterator[Line]:
    """Every figure, for a million cells and for ten million."""
    with tempfile.TemporaryDirectory() as folder:
        for power in (6,) if quick else (6, 7):
            release = made(Path(folder) / str(power), large=power == 7)
            with serving(release) as server:
                yield Line(f"10^{power} cells: server start until it answers", "s", server.started)
                yield from work(server, power, 100 if quick else 500)
                if shutil.which("wrk"):
                    yield from hot(server, power, 2 if quick else 8)
                yield from overload(server, power, 3 if quick else 10)


# The server


class Server:
    """A server process and the clock of its worker."""

    def __init__(self, release: Path | None, process: subprocess.Popen[str], port: int, started: float) -> None:
        self.release, self.process, self.port, self.started = release, process, port, started
        listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        self.worker = int(listed.split()[0])

    def cpu(self) -> float:
        """CPU seconds of the worker so far; Linux gives every process such a clock."""
        return time.clock_gettime((~self.worker << 3) | 2)


@contextmanager
def _running(command: list[str], port: int, release: Path | None) -> Iterator[Server]:
    start = time.perf_counter()
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            while not _answers(port):
                time.sleep(0.02)
            yield Server(release, process, port, time.perf_counter() - start)
        finally:
            process.terminate()


def _answers(port: int) -> bool:
    try:
        with closing(HTTPConnection("127.0.0.1", port, timeout=2)) as connection:
            asked(connection, "/health")
    except OSError:
        return False
    return True


def serving(release: Path, *more: str) -> AbstractContextManager[Server]:
    port = free_port()
    command = [sys.executable, "-m", "sfumato", "serve", str(release), *more, "--port", str(port)]
    return _running(command, port, release)


def bare(size: int) -> AbstractContextManager[Server]:
    port = free_port()
    return _running([sys.executable, "-c", BARE, str(port), str(size)], port, None)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def asked(connection: HTTPConnection, address: str) -> tuple[int, bytes]:
    connection.request("GET", address)
    reply = connection.getresponse()
    return reply.status, reply.read()


# What is measured


def work(server: Server, power: int, count: int) -> Iterator[Line]:
    """The worker's CPU for questions that nobody asked before."""
    questions, connection = Questions(server.release, 1), HTTPConnection("127.0.0.1", server.port)
    spent, cells = [], []
    for _ in range(count):
        address, before = questions.address(), server.cpu()
        status, body = asked(connection, address)
        spent.append(server.cpu() - before)
        if status != 200:
            raise RuntimeError(f"{status} for {address}: {body[:200]!r}")
        cells.append(int(np.prod(json.loads(body)["size"])))
    middle = 1_000 * float(np.median(spent))
    note = f"median {middle:.1f} ms, worst {1_000 * max(spent):.0f} ms, median {np.median(cells):.0f} numbers"
    p95 = 1_000 * float(np.quantile(spent, 0.95))
    yield Line(f"10^{power} cells: CPU of {count} random 1-4-way tables, p95", "ms", p95, note=note)


def hot(server: Server, power: int, seconds: int) -> Iterator[Line]:
    """One data address again and again, beside bytes of the same size from the same server program."""
    address = f"{PATH}?codelist[occupation]=level0&codelist[sex]=level0"
    _, body = asked(HTTPConnection("127.0.0.1", server.port), address)
    rate, p99, cpu = hammered(server, f"http://127.0.0.1:{server.port}{address}", seconds)
    with bare(len(body)) as limit:
        bare_rate, bare_p99, bare_cpu = hammered(limit, f"http://127.0.0.1:{limit.port}/", seconds)
    shared = {"peer": "granian + Starlette, bytes", "cpu": cpu, "cpu_theirs": bare_cpu}
    what = f"10^{power} cells: hot data route, {len(body):,} B"
    yield Line(what, "req/s", rate, theirs=bare_rate, goal=Goal(2, within=True), **shared)
    yield Line(f"10^{power} cells: hot data route, p99 at 32 connections", "ms", p99, theirs=bare_p99, **shared)


def hammered(server: Server, address: str, seconds: int) -> tuple[float, float, float]:
    """Requests a second, p99 in ms, and the worker's CPU milliseconds a request, under wrk."""
    command = ["wrk", "-t1", "-c32", "--latency", address]
    subprocess.run([*command, "-d1s"], capture_output=True, check=True)
    before = server.cpu()
    said = subprocess.run([*command, f"-d{seconds}s"], capture_output=True, check=True, text=True).stdout
    if "Non-2xx" in said or "Socket errors" in said:
        raise RuntimeError(said)
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1])
    value, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", said).groups()
    scale = {"us": 1e-3, "ms": 1, "s": 1_000}[unit]
    return rate, float(value) * scale, (server.cpu() - before) / (rate * seconds) * 1_000


def overload(server: Server, power: int, seconds: int) -> Iterator[Line]:
    """What the worker holds, what it does at twice that, and how soon it is itself again."""
    questions = Questions(server.release, 2)
    held = asyncio.run(closed(server.port, questions, 4, seconds))
    calm, storm, after = asyncio.run(phases(server.port, questions, held, seconds, server.cpu))
    yield Line(f"10^{power} cells: held load, questions never asked before", "req/s", held, note=said(calm))
    yield Line(
        f"10^{power} cells: at twice the held load, answered",
        "req/s",
        storm.rate(200),
        "held load",
        held,
        note=said(storm),
    )
    # Itself again: nobody is refused any more, and nobody waits longer than before.
    usual = max(2.0, *(spent for _, _, spent in calm.replies))
    late = [when + spent for when, status, spent in after.replies if status != 200 or spent > usual]
    what = f"10^{power} cells: after it, until all are answered as before"
    yield Line(what, "s", max(late, default=0.0), note=said(after))

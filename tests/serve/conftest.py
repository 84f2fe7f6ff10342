"""A small release made by the gate as an agency would, hostile labels included, and a real server over it."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.confidential import Account, Microdata, Options, run
from sfumato.query import open_folder
from sfumato.serve import app

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    '=HYPERLINK("http://evil.example")',
    "+cmd|' /C calc'!A0",
    "@SUM(A1:A9)",
    "-2+3",
    "javascript:alert(1)",
    "{{ 7 * 7 }}",
]
PLACES = [
    {"code": "N", "label": "North"},
    {"code": "N1", "label": "North coast", "parent": "N"},
    *({"code": f"N1{place}", "label": label, "parent": "N1"} for place, label in enumerate(HOSTILE[:5])),
    {"code": "N2", "label": "North <b>hills</b>", "parent": "N", "note": "Merged & renamed in 2020"},
    *({"code": f"N2{place}", "label": label, "parent": "N2"} for place, label in enumerate(HOSTILE[5:])),
    {"code": "S", "label": "South"},
    {"code": "S1", "label": "South, with a comma", "parent": "S"},
    {"code": "S,2", "label": "a code with a comma", "parent": "S"},
]
SEXES = ("female", "male")
TRADES = tuple("abcdefgh")
HOURS = tuple(f"h{hour:02}" for hour in range(20))
ROWS = 3_000


def plan(name="jobs-survey"):
    places = sf.Attribute("place", sf.Levels.of(PLACES), label="Place", of="establishment")
    sex = sf.Attribute("sex", sf.Levels.of(SEXES), label="Sex")
    age = sf.Attribute("age", sf.Bands("age", (16, 30, 50)).levels(), read=sf.Bands("age", (16, 30, 50)), label="Age")
    trade = sf.Attribute("trade", sf.Levels.of(TRADES), label="Trade <i>")
    hours = sf.Attribute("hours", sf.Levels.of(HOURS), label="Hours")
    schema = sf.Schema((places, sex, age, trade, hours), unit="job", repeated_rows=True)
    by = schema.names
    return sf.Plan(
        name,
        schema,
        hidden=sf.AddRemove("job"),
        limit=sf.Approximate(2),
        measures=(
            sf.Measure("jobs", sf.Count(), by, sf.Geometric(1)),
            sf.Measure("pay", sf.Total("pay", clip=(0, 5000), step=100, unit="dollars"), by, sf.Geometric(1)),
        ),
        title="Jobs & pay <survey>",
        period="2026-Q1",
        exposures=(sf.Exposure("assumed known", "Where places are", "a map shows it"),),
    )


def microdata(folder):
    chosen = np.random.default_rng(7)
    leaves = sf.Levels.of(PLACES).leaves
    columns = {
        "place": [leaves[one] for one in chosen.integers(0, len(leaves), ROWS)],
        "sex": [SEXES[one] for one in chosen.integers(0, 2, ROWS)],
        "age": chosen.integers(16, 80, ROWS),
        "trade": [TRADES[one] for one in chosen.integers(0, 8, ROWS)],
        "hours": [HOURS[one] for one in chosen.integers(0, 20, ROWS)],
        "pay": chosen.integers(500, 5000, ROWS).astype(float),
    }
    pq.write_table(pa.table(columns), folder / "jobs.parquet")
    return folder / "jobs.parquet"


class Bench:
    """Where releases are made."""

    def __init__(self, folder):
        self.folder = folder
        self.data = microdata(folder)
        Account.create(folder / "jobs.ledger", "jobs", plan().hidden, sf.Approximate(100))

    def release(self, name, options=None, of=None):
        out = self.folder / name
        of = of or plan()
        run(of, Microdata.open(self.data, of.schema), self.folder / "jobs.ledger", out, options)
        return out

    def copy(self, release, name):
        shutil.copytree(release, self.folder / name)
        return self.folder / name


@pytest.fixture(scope="session")
def hostile():
    """The labels that would do harm if they were let."""
    return HOSTILE


@pytest.fixture(scope="session")
def places():
    return PLACES


@pytest.fixture(scope="session")
def bench(tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("serve"))


@pytest.fixture(scope="session")
def release(bench):
    return bench.release("release")


@pytest.fixture(scope="session")
def rehearsal(bench):
    return bench.release("rehearsal", Options(rehearsal=1))


@pytest.fixture(scope="session")
def engine(release):
    return open_folder(release)


class Browser:
    """Asks an application in this process; a fault in it is a reply of 500, as on a server."""

    def __init__(self, application):
        self.application = application

    def get(self, address, **more):
        return self.ask("GET", address, **more)

    def ask(self, method, address, **more):
        return asyncio.run(self._ask(method, address, **more))

    async def _ask(self, method, address, **more):
        transport = httpx.ASGITransport(self.application, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            return await client.request(method, address, **more)


@pytest.fixture(scope="session")
def browse():
    """Open an application over some releases."""
    return lambda folders, base_path="": Browser(app(folders, base_path))


@pytest.fixture(scope="session")
def page(browse, release):
    """The application in this process."""
    return browse([release])


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


START = """
from sfumato.serve import serve
from sfumato.serve.limits import Limits, Running
running = Running(Limits(**{limits}), **{running})
told = lambda url: print(url, flush=True)
serve(sys.argv[1:], port={port}, next_free=True, workers={workers}, ready=told, running=running)
"""


@contextmanager
def _serving(folders, before="", source=None, workers=1, limits=None, **running):
    """A server as its users start it: a process of its own, on loopback, stopped by SIGTERM."""
    start = START.format(port=free_port(), workers=workers, limits=limits or {}, running=running)
    program = f"import sys\n{before}\n{start}"
    environment = {**os.environ, **({"PYTHONPATH": str(source)} if source else {})}
    command = [sys.executable, "-c", program, *map(str, folders)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            address = server.stdout.readline().strip()
            assert address, "the server stopped before it answered"
            with httpx.Client(base_url=address, timeout=20) as client:
                client.process = server
                yield client
        finally:
            server.terminate()
            server.wait(20)


@pytest.fixture(scope="session")
def serving():
    """Start a real server over some releases."""
    return _serving


@pytest.fixture(scope="session")
def server(release):
    """A real server over the release, with two workers, as readers never know which one answers."""
    with _serving([release], workers=2) as client:
        yield client


@pytest.fixture(scope="session")
def source():
    return Path(sf.__file__).parent

"""The dearest request of every endpoint: what one reader can have of a worker, in CPU seconds and in memory.

One worker serves a release of a million cells in two periods and a city with a map; nothing is kept, nobody is turned
away. Every request is asked twice, and the second counts. CPU is the worker's own clock; memory is how far its peak
rises above what it held before. Downloads and tables of more than 1,000 cells are listed and have no goal: what they
cost is in proportion to their cells.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

from bench.dear_requests import DearRequest, Target, bombs, dearest
from bench.http import Server, serving
from bench.line import Goal, Line
from bench.soc import made

import sfumato as sf
from sfumato.confidential import Account, Microdata, run
from sfumato.plan import Plan
from sfumato.synth import write

MOST_SECONDS, MOST_MEGABYTES = 0.5, 32.0
UNBOUNDED = "--per-client", "0", "--cache-mb", "0"
MEBIBYTE = 2**20


@dataclass(frozen=True)
class Cost:
    """What one request took: its status, the bytes of its reply, CPU seconds, and megabytes above what was held."""

    status: int
    size: int
    seconds: float
    megabytes: float


def lines(*, quick: bool = False) -> Iterator[Line]:
    """Each request, then the dearest of all."""
    with tempfile.TemporaryDirectory() as folder, asked_server(Path(folder), rows=4_000 if quick else 10_000) as served:
        server, target = served
        costs = []
        for request in (*dearest(target), *bombs(target)):
            cost = second(server, request)
            if not request.large:
                costs.append(cost)
            yield Line(
                f"{request.endpoint}: {request.what}{', refused' if cost.status == 400 else ''}", "CPU s", cost.seconds,
                note=f"{max(cost.megabytes, 0):.1f} MB of memory, {cost.size:,} bytes sent, status {cost.status}",
            )  # fmt: skip
        limit = {"peer": "the bound of a request", "goal": Goal(1, within=True)}
        seconds, megabytes = (max(getattr(cost, name) for cost in costs) for name in ("seconds", "megabytes"))
        yield Line("the dearest request of any endpoint", "CPU s", seconds, theirs=MOST_SECONDS, **limit)
        yield Line("the largest request of any endpoint", "MB", megabytes, theirs=MOST_MEGABYTES, **limit)


@contextmanager
def asked_server(folder: Path, rows: int) -> Iterator[tuple[Server, Target]]:
    """A server over the releases, and what of them is asked."""
    releases = [made(folder / period, large=False, period=period) for period in ("2025", "2026")]
    city = made_city(folder / "city", rows)
    shapes = sf.open(city).release.shapes["area"]
    lattice = shapes.frame.lattice
    codes = sf.open(releases[-1]).release.attributes[0].levels.codes
    degrees = lattice.west, lattice.south, lattice.east, lattice.north
    with serving(releases[-1], *map(str, [releases[0], city]), *UNBOUNDED) as server:
        own = f"http://127.0.0.1:{server.port}"
        yield server, Target("bench~jobs", codes, "iab~people", degrees, (shapes.width, shapes.height), own)


def made_city(folder: Path, rows: int) -> Path:
    """A public release of a small city with a map."""
    source = write("iab", folder, rows=rows).parent
    plan = Plan.read(source / "iab.toml")
    data = {"people": source / "people.parquet", "members": source / "areas" / "members.parquet"}
    Account.create(source / "city.ledger", "people", plan.hidden, plan.limit)
    run(plan, Microdata.open(data, plan.schema), source / "city.ledger", folder / "release")
    return folder / "release"


def second(server: Server, request: DearRequest) -> Cost:
    """What a request costs when it is asked the second time: the first one makes what all share."""
    if request.status != 400:
        cost_of(server, request)
    return cost_of(server, request)


def cost_of(server: Server, request: DearRequest) -> Cost:
    """Ask once, and look at the worker's clock and peak before and after."""
    process = Path(f"/proc/{server.worker}")
    (process / "clear_refs").write_text("5")  # the peak begins anew
    held, clock = _megabytes(process, "VmRSS"), server.cpu()
    line = HTTPConnection("127.0.0.1", server.port, timeout=600)
    line.request(request.method, request.path, request.body or None, {"Content-Type": request.kind})
    reply = line.getresponse()
    content = reply.read()
    line.close()
    return Cost(reply.status, len(content), server.cpu() - clock, _megabytes(process, "VmHWM") - held)


def _megabytes(process: Path, name: str) -> float:
    line = next(one for one in (process / "status").read_text().splitlines() if one.startswith(name))
    return int(line.split()[1]) * 1024 / MEBIBYTE


def unexpected(costs: Sequence[tuple[DearRequest, Cost]]) -> list[str]:
    """The requests that had another status than they should."""
    return [f"{one.endpoint}, {one.what}: {cost.status}" for one, cost in costs if cost.status != one.status]

"""The server's start on a release of ten million cells: until it answers, the CPU of all its processes, and its memory.

The limit beside it is the same server program over one route that returns bytes, which opens nothing and loads no page.
"""

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.http import Server, bare, serving
from bench.line import Line
from bench.soc import made


def lines(*, quick: bool = False) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        release = made(Path(folder) / "one", large=not quick)
        ours = [_started(serving(release)) for _ in range(3 if quick else 5)]
        limit = [_started(bare(1_000)) for _ in range(3 if quick else 5)]
    wall, cpu, memory = (statistics.median(column) for column in zip(*ours, strict=True))
    wall_limit, cpu_limit, memory_limit = (statistics.median(column) for column in zip(*limit, strict=True))
    size = "10^6" if quick else "10^7"
    peer = "granian + Starlette, bytes"
    shared = {"cpu": cpu, "cpu_theirs": cpu_limit}
    yield Line(f"server start, {size} cells, until it answers", "s", wall, peer, wall_limit, **shared)
    yield Line(f"memory of a worker, {size} cells", "MB", memory, peer, memory_limit, **shared)


def _started(starting: object) -> tuple[float, float, float]:
    """Seconds until the first answer, CPU seconds until then of parent and worker, and the worker's memory in MB."""
    with starting as server:  # type: ignore[attr-defined]
        told = Path(f"/proc/{server.worker}/status").read_text()
        held = next(int(line.split()[1]) for line in told.splitlines() if line.startswith("VmRSS"))
        return server.started, _cpu(server), held / 1_000


def _cpu(server: Server) -> float:
    return server.cpu() + time.clock_gettime((~server.process.pid << 3) | 2)

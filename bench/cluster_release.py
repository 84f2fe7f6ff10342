"""A release of records in a cluster beside Tumult Analytics on the same version of Spark, each on two cores of its own.

Both count jobs over a public list of cells at epsilon 1 and write noisy counts. Ours is `run`, with ledger, manifest
and the release read again, in a running process, on a Connect server; Tumult's is a session in a running process with
its own Java machine; what that has not done after a quarter of an hour is ended, and what it had taken is told. Tumult
takes Spark 4 only with Python 3.12, which must be on the path as `python3.12`.
"""

import json
import math
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from bench.line import Goal, Line
from bench.peers.clock import of_process
from bench.release_path import PEERS, environment

from sfumato import Approximate
from sfumato.confidential import Account, Microdata, run
from sfumato.confidential.engines.sources.cluster import Address, ClusterTable
from sfumato.plan import Plan

Sizes = dict[str, int]
EPSILON = Fraction(100)
"""What the ledger of a benchmark holds."""
LIMIT = 900.0
"""The seconds that Tumult's jobs may take together."""


def plan_of(codes: dict[str, list[str]]) -> Plan:
    """A count of jobs over all columns."""
    listed = "".join(f"[attributes.{name}]\nlevels = {json.dumps(own)}\n" for name, own in codes.items())
    return Plan.parse(
        f'name = "jobs"\n[data]\nunit = "job"\nrepeated_rows = true\n{listed}[hidden]\nneighbours = "add-remove"\n'
        f'unit = "job"\n[limit]\nepsilon = "1"\n[[measure]]\nname = "jobs"\nof = "count"\nby = {list(codes)!r}\n'
        'with = { mechanism = "geometric", epsilon = "1" }\n',
        Path("jobs.toml"),
    )


def released(address: str, place: Path, plan: Plan, out: Path) -> int:
    """Publish the counts as `sfumato run --spark` does; how many cells the release has."""
    if not (ledger := out.parent / "jobs.ledger").exists():
        Account.create(ledger, "jobs", plan.hidden, Approximate(EPSILON))
    run(plan, Microdata.open(ClusterTable(Address.parse(address), str(place)), plan.schema), ledger, out)
    return int(pq.read_metadata(out / "products" / "jobs.parquet").num_rows)


@dataclass(frozen=True)
class Spent:
    """The CPU seconds of a job of Tumult's, or how many it had taken when it was ended."""

    cpu: float
    is_done: bool = True


def tumult(jobs: list[tuple[Sizes, Path, Path]], limit: float = LIMIT) -> tuple[list[Spent], str]:
    """What each of Tumult's jobs took, in one session of so many seconds at most, and what it is."""
    python = environment("tumult_spark", shutil.which("python3.12") or "python3.12")
    words = [one for sizes, *places in jobs for one in (json.dumps(sizes), *map(str, places))]
    script = str(PEERS / "tumult_spark_path.py")
    program = subprocess.Popen(
        [python, script, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    )
    ended = list[float]()
    watch = threading.Timer(limit, _end, [program, ended])
    watch.start()
    told, before = list[dict[str, Any]](), 0.0
    for line in program.stdout or ():
        told.append(json.loads(line))
        before = of_process(program.pid)
    program.wait()
    watch.cancel()
    if not told or (program.returncode and not ended):
        raise subprocess.SubprocessError
    spent = [Spent(one["cpu"]) for one in told[1:]]
    lacking = len(jobs) - len(spent)
    spent += [Spent(ended[0] - before, is_done=False), *[Spent(math.nan)] * (lacking - 1)] if lacking else []
    return spent, "Tumult Analytics {} on Spark {}".format(*told[0]["versions"])


def _end(program: subprocess.Popen[str], ended: list[float]) -> None:
    """Stop a program and all that it started, and tell what they had taken."""
    ended.append(of_process(program.pid))
    with suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)


def beside(
    rows: int, costs: list[tuple[Sizes, float, int]], theirs: Callable[[], tuple[list[Spent], str]]
) -> Iterator[Line]:
    """A line for every table: ours, and Tumult's or why it was not run."""
    try:
        spent, name = theirs()
    except (subprocess.SubprocessError, OSError) as error:
        spent, name = [Spent(math.nan)] * len(costs), "Tumult Analytics"
        note = f"tumult_spark was not run here ({type(error).__name__}); it needs python3.12 on the path"
    else:
        note = ""
    for (sizes, mine, cells), other in zip(costs, spent, strict=True):
        size = math.prod(sizes.values())
        there = None if math.isnan(other.cpu) else other.cpu
        said = (
            note if other.is_done else f"it had taken {other.cpu:.0f} CPU seconds when it was ended before it was done"
        )
        shared = {"threads": 2, "cpu": mine, "cpu_theirs": there, "agree": cells == size, "note": said}
        what = f"a release of records in a cluster, {rows:,} rows, {size:,} cells"
        yield Line(what, "CPU s", mine, name, there, goal=Goal(3 if size < 10**6 else 10), **shared)

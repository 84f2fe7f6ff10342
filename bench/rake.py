"""Raking beside ipfn: the ORS hypercube again and again, and a cube of ten million cells.

ipfn (1.4, plain numpy) is called as its documentation shows, on a copy of the cube as it rakes in place. Its
`max_iteration=k` runs k + 1 cycles, and it would stop where its rate of convergence hardly changes: it gets one less,
and tolerances under which it runs them all; a run before the clock starts counts them, and bears the loading of
pandas. Ours is `calibrate.rake.raked`, the function that the step calls, from the cube to the raked cube, the copy and
all; it gets tolerance 0 and so runs all cycles too. Ratios are of CPU seconds on one thread each. A read of the cube
is numpy's sum over all of it, and a cycle is what each after the first adds, both at their fastest of several.
"""

import contextlib
import importlib
import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from bench.line import Goal, Line, timed

from sfumato.calibrate.rake import raked
from sfumato.release.uncertainties.margins import Margins
from sfumato.schema import Attribute, Levels, Table

ORS = (5, 4, 3, 3, 3, 2, 2, 2, 2, 2)
LARGE = (10, 10, 10, 10, 5, 5, 5, 2, 2, 2)


def lines(*, quick: bool = False) -> Iterator[Line]:
    yield repeated("ORS cube, 1% of cells not 0", 0.01, 50 if quick else 1_000)
    yield repeated("ORS cube, every cell above 0", 1.0, 50 if quick else 1_000)
    yield once(LARGE[2:] if quick else LARGE, 2 if quick else 10)


def problem(shape: tuple[int, ...], filled: float) -> tuple[Margins, np.ndarray, np.ndarray]:
    """A cube and the one-way tables of another on the same cells, so that there is an answer."""
    table = Table(tuple(Attribute(f"v{place}", Levels.of(range(size))) for place, size in enumerate(shape)))
    margins, rng = Margins(table, tuple((level,) for level in table.by)), np.random.default_rng(1)
    cells = rng.lognormal(1, 1, shape) * (rng.random(shape) < filled)
    return margins, cells, margins.of(cells * rng.lognormal(0, 0.3, shape))


def by_ipfn(cells: np.ndarray, aims: list[np.ndarray], cycles: int, verbose: int = 0) -> Any:
    method = importlib.import_module("ipfn.ipfn").ipfn
    with contextlib.redirect_stdout(io.StringIO()):
        return method(
            cells.copy(), aims, [[axis] for axis in range(cells.ndim)],
            max_iteration=cycles - 1, convergence_rate=0.0, rate_tolerance=-1.0, verbose=verbose,
        ).iteration()  # fmt: skip


def by_table(margins: Margins, aims: np.ndarray) -> list[np.ndarray]:
    """What each table aims at, from all that they aim at in turn."""
    return np.split(aims, np.cumsum(margins.sizes)[:-1])


def cycles_of_ipfn(margins: Margins, cells: np.ndarray, aims: np.ndarray, cycles: int) -> int:
    """How many cycles it runs when asked for some; its longest answer has a row for each."""
    return len(by_ipfn(cells, by_table(margins, aims), cycles, verbose=2)[2])


def last(run: Callable[[], Any], runs: int) -> Any:
    """What the last of some runs made; the others are dropped, as a simulation would."""
    for _ in range(runs - 1):
        run()
    return run()


def repeated(what: str, filled: float, runs: int, cycles: int = 10) -> Line:
    """Many runs of ours and some of ipfn's, both counted a run."""
    margins, cells, aims = problem(ORS, filled)
    raked(margins, cells, aims, cycles, 0.0)
    ran = cycles_of_ipfn(margins, cells, aims, cycles)
    few = max(3, runs // 20)
    wall, cpu, (ours, _) = timed(lambda: last(lambda: raked(margins, cells, aims, cycles, 0.0), runs))  # type: ignore[misc]
    wall_theirs, cpu_theirs, found = timed(lambda: last(lambda: by_ipfn(cells, by_table(margins, aims), cycles), few))
    scale = runs / few
    return _line(
        f"raking, {what}, 10 margins, {cycles} cycles, {runs:,} runs", (wall, cpu),
        (wall_theirs * scale, cpu_theirs * scale), apart(ours, found),
        f"ipfn timed over {few} of the runs, {ran} cycles each",
    )  # fmt: skip


def once(shape: tuple[int, ...], cycles: int) -> Line:
    margins, cells, aims = problem(shape, 1.0)
    small = problem(shape[-4:], 1.0)
    ran = cycles_of_ipfn(*small, cycles)
    raked(margins, cells, aims, 1, 0.0)
    took, less, reads = [], [], []
    for _ in range(7):
        took.append(timed(lambda: raked(margins, cells, aims, cycles, 0.0) and None)[:2])
        less.append(timed(lambda: raked(margins, cells, aims, 1, 0.0) and None)[1])
        reads += [timed(cells.sum)[1] for _ in range(5)]
    wall, cpu = sorted(took, key=lambda one: one[1])[3]
    ours, _ = raked(margins, cells, aims, cycles, 0.0)
    a_cycle = (min(one[1] for one in took) - min(less)) / (cycles - 1)
    wall_theirs, cpu_theirs, found = timed(lambda: by_ipfn(cells, by_table(margins, aims), cycles))
    note = f"{ran} cycles each; a cycle takes as long as {a_cycle / min(reads):.1f} reads of the cube"
    what = f"raking, {cells.size:,} cells, 10 margins, {cycles} cycles"
    return _line(what, (wall, cpu), (wall_theirs, cpu_theirs), apart(ours, found), note)


def apart(ours: np.ndarray, theirs: np.ndarray) -> float:
    filled = theirs != 0
    return float(np.max(np.abs(ours[filled] / theirs[filled] - 1), initial=np.abs(ours[~filled]).max(initial=0.0)))


def _line(what: str, ours: tuple[float, float], theirs: tuple[float, float], gap: float, note: str) -> Line:
    said = f"{theirs[1] / ours[1]:,.0f}x less CPU; largest relative difference {gap:.1e}; {note}"
    return Line(
        what,
        "CPU s",
        ours[1],
        "ipfn",
        theirs[1],
        threads=1,
        cpu=ours[1],
        cpu_theirs=theirs[1],
        agree=gap < 1e-9,
        note=said,
        goal=Goal(100),
    )

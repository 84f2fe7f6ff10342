"""Raking beside ipfn: the ORS hypercube again and again, and a cube of ten million cells.

ipfn (1.4, plain numpy) is called as its documentation shows, on a copy of the cube as it rakes in place. Its
`max_iteration=k` runs k + 1 cycles, and it would stop where its rate of convergence hardly changes: it gets one less,
and tolerances under which it runs them all. Ours gets tolerance 0 and so runs them all too. A read of the cube is
numpy's sum over all of it.
"""

import contextlib
import importlib
import io
from collections.abc import Iterator

import numpy as np
from bench.line import Line, timed

from sfumato.calibrate.rake import raked
from sfumato.release.margins import Margins
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
    margins, rng = Margins(table, tuple((name,) for name in table.names)), np.random.default_rng(1)
    cells = rng.lognormal(1, 1, shape) * (rng.random(shape) < filled)
    return margins, cells, margins.of(cells * rng.lognormal(0, 0.3, shape))


def by_ipfn(cells: np.ndarray, aims: list[np.ndarray], cycles: int) -> np.ndarray:
    method = importlib.import_module("ipfn.ipfn").ipfn
    with contextlib.redirect_stdout(io.StringIO()):
        return method(
            cells.copy(), aims, [[axis] for axis in range(cells.ndim)],
            max_iteration=cycles - 1, convergence_rate=0.0, rate_tolerance=-1.0,
        ).iteration()  # fmt: skip


def repeated(what: str, filled: float, runs: int, cycles: int = 10) -> Line:
    """Many runs of ours and some of ipfn's, both counted a run."""
    margins, cells, aims = problem(ORS, filled)
    raked(margins, cells, aims, cycles, 0.0)
    wall, cpu, _ = timed(lambda: [raked(margins, cells, aims, cycles, 0.0) for _ in range(runs)])
    few = max(3, runs // 50)
    wall_theirs, cpu_theirs, found = timed(
        lambda: [by_ipfn(cells, margins.split(aims), cycles) for _ in range(few)][-1]
    )
    scale = runs / few
    return _line(
        f"raking, {what}, 10 margins, {cycles} cycles, {runs:,} runs", (wall, cpu),
        (wall_theirs * scale, cpu_theirs * scale), apart(raked(margins, cells, aims, cycles, 0.0)[0], found),
        f"ipfn timed over {few} of the runs",
    )  # fmt: skip


def once(shape: tuple[int, ...], cycles: int) -> Line:
    margins, cells, aims = problem(shape, 1.0)
    raked(margins, cells, aims, 1, 0.0)
    took = [timed(lambda: raked(margins, cells, aims, cycles, 0.0)) for _ in range(3)]
    less = [timed(lambda: raked(margins, cells, aims, cycles // 2, 0.0))[1] for _ in range(3)]
    reads = np.median([timed(cells.sum)[1] for _ in range(9)])
    wall, cpu, (ours, _) = sorted(took, key=lambda one: one[1])[1]
    a_cycle = (cpu - np.median(less)) / (cycles - cycles // 2)
    wall_theirs, cpu_theirs, found = timed(lambda: by_ipfn(cells, margins.split(aims), cycles))
    note = f"a cycle takes as long as {a_cycle / reads:.1f} reads of the cube"
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
    )

"""All tables of up to three of fifteen variables, of a universe of 8.6 · 10^8 cells: released, asked, and how exact.

A million records; sizes 13, 10, 8, 6, 5, 4, 4, 4, 3, 3, 3, 2, 2, 2, 2; 576 tables, of which the 455 of three variables
are tabulated; mu 1. *Released* is the whole run, from a Parquet file to a folder that was verified, in a process of its
own whose memory is told. *Asked* are 300 tables of one to three variables with their errors, of the opened release.

Beside it stands what is done without components: each of the 455 tables with noise of its own, at mu over √455, put
together by least squares (numpy, the closed form: each interaction is the mean of what all tables say of it, weighted).
Both get the same true tables and end with 455 tables that agree; ours are whole numbers, too. The cube of all fifteen
variables at once is not made: its noise would be 8.6 · 10^8 draws, of which 10^7 are timed and scaled, in 6.9 GB, and
its errors are known in closed form. So are the standard errors of all three; *agree* says that the mean squared
error of all cells of three variables is within a tenth of it, in one release of ours and in one of the noisy tables.
"""

import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import prod, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench.line import Line, process, timed

from sfumato.draws import RoundedNormal, SeededDraws
from sfumato.mechanisms import Cells
from sfumato.mechanisms.even_gaussian import EvenGaussian, components_of
from sfumato.privacy import AddRemove, Bounded, EveryTable, Gaussian
from sfumato.release.whole_tables import whole_tables
from sfumato.schema import Attribute, Component, Family, Levels, Schema, UpTo
from sfumato.statistics import Count

SIZES, WAYS = (13, 10, 8, 6, 5, 4, 4, 4, 3, 3, 3, 2, 2, 2, 2), 3
FEW = SIZES[5:11]
ROWS, ASKED, DRAWN = 10**6, 300, 10**7
LEAST_SQUARES, CUBE = "a noisy table each, least squares", "one cube of all variables"
Tables = Mapping[Component, np.ndarray]


def lines(*, quick: bool = False) -> Iterator[Line]:
    sizes, rows = (FEW, ROWS // 100) if quick else (SIZES, ROWS)
    tables, universe = sum(len(list(combinations(sizes, ways))) for ways in range(WAYS + 1)), prod(sizes)
    what = f"{tables} tables of {len(sizes)} variables, a universe of {universe:,} cells"
    with tempfile.TemporaryDirectory() as folder:
        write_rows(Path(folder) / "rows.parquet", sizes, rows)
        words = [sys.executable, "-m", "bench.margins", folder, json.dumps(sizes)]
        told = json.loads(process(words)[1])
        yield Line(
            f"{what}: released from {rows:,} records", "CPU s", told["cpu"], cpu=told["cpu"],
            note=f"{told['wall']:.3g} s by the clock, {told['memory'] / 2**20:,.0f} MiB of memory at most",
        )  # fmt: skip
        yield Line(
            f"{what}: a table asked, with its errors", "ms", told["median"], cpu=told["median"] / 1000,
            note=f"CPU, the median of {ASKED} tables; one in ten takes {told['slow']:.2g} ms or more",
        )  # fmt: skip
    yield from beside(what, sizes, quick=quick)


def write_rows(path: Path, sizes: tuple[int, ...], rows: int) -> None:
    """Records with skewed codes in every variable."""
    rng = np.random.default_rng(1)
    columns = {
        f"v{place}": pa.DictionaryArray.from_arrays(
            pa.array(np.minimum(rng.geometric(2 / size, rows) - 1, size - 1).astype(np.int8)),
            pa.array([str(code) for code in range(size)]),
        )
        for place, size in enumerate(sizes)
    }
    pq.write_table(pa.table(columns), path)


def schema(sizes: tuple[int, ...]) -> Schema:
    attributes = tuple(Attribute(f"v{place}", Levels.of(range(size))) for place, size in enumerate(sizes))
    return Schema(attributes, unit="job")


# Ours beside others, from the same true tables


def beside(what: str, sizes: tuple[int, ...], *, quick: bool) -> Iterator[Line]:
    family = UpTo(WAYS, schema(sizes).names).family(schema(sizes))
    move, mechanism = EveryTable(Bounded(1, 1, 1, 1), family), EvenGaussian(1)
    rng = np.random.default_rng(1)
    true = np.concatenate([np.zeros(prod(family.shape(top)), dtype=np.int64) for top in family.tops])
    cells = Cells(family, true, Fraction(1), move)

    def ours() -> np.ndarray:
        return whole_tables(family, mechanism.perturb(cells, SeededDraws(1)).values)

    ours()
    _, cpu, made = timed(ours)
    _, cpu_theirs, theirs = timed(lambda: least_squares(family, noised(family, rng)))
    errors = stated(family)
    squares = {"ours": mean_squares(family, made), LEAST_SQUARES: mean_squares(family, np.concatenate(theirs))}
    agree = all(abs(squares[one][WAYS] / errors[one][_named(WAYS)] - 1) < 0.1 for one in squares)
    yield Line(
        f"{what}: noise and all tables put together", "CPU s", cpu, LEAST_SQUARES, cpu_theirs, cpu=cpu,
        cpu_theirs=cpu_theirs, agree=None if quick else agree,
    )  # fmt: skip
    RoundedNormal(Fraction(1)).draw(DRAWN // 100, SeededDraws(1))
    _, some, _ = timed(lambda: RoundedNormal(Fraction(1)).draw(min(DRAWN, prod(sizes)), SeededDraws(1)))
    scaled = some * prod(sizes) / min(DRAWN, prod(sizes))
    yield Line(f"{what}: noise and all tables put together", "CPU s", cpu, f"{CUBE}: the draws alone", scaled, cpu=cpu)
    for cell in errors["ours"]:
        for peer in (LEAST_SQUARES, CUBE):
            found = [sqrt(errors[one][cell]) for one in ("ours", peer)]
            yield Line(f"standard error at mu 1: {cell}", "SD", found[0], peer, found[1])


def noised(family: Family, rng: np.random.Generator) -> Tables:
    """Every table of three variables with noise of its own, at its share of mu 1; the truth is 0."""
    spread = sqrt(len(family.tops))
    return {top: np.rint(rng.normal(0, spread, family.shape(top))) for top in family.tops}


def least_squares(family: Family, tables: Tables) -> list[np.ndarray]:
    """The tables that fit noisy ones best, one after the other."""
    sums: dict[Component, Any] = {}
    weights: dict[Component, float] = {}
    for top, table in tables.items():
        for kept, spread in _subsets(top):
            axes, weight = _left_out(top, kept), 1 / spread(family)
            sums[kept] = sums.get(kept, 0.0) + weight * _centred(table.sum(axis=axes))
            weights[kept] = weights.get(kept, 0.0) + weight
    found = []
    for top in tables:
        parts = [
            np.expand_dims(sums[kept] / weights[kept], _left_out(top, kept)) / spread(family)
            for kept, spread in _subsets(top)
        ]
        found.append(sum(parts, np.zeros(family.shape(top))).ravel())
    return found


def _subsets(top: Component) -> Iterator[tuple[Component, Any]]:
    """The tables that a table sums to, and how many cells each of their cells has."""
    told = [at for at, level in enumerate(top) if level]
    for ways in range(len(told) + 1):
        for some in combinations(told, ways):
            rest = [at for at in told if at not in some]
            kept = tuple(int(at in some) for at in range(len(top)))
            yield kept, lambda family, rest=rest: prod(family.trees[at].rungs[1].size for at in rest)


def _left_out(top: Component, kept: Component) -> tuple[int, ...]:
    told = [at for at, level in enumerate(top) if level]
    return tuple(place for place, at in enumerate(told) if not kept[at])


def _centred(table: np.ndarray) -> np.ndarray:
    for axis in range(np.ndim(table)):
        table = table - table.mean(axis=axis, keepdims=True)
    return table


@cache
def stated(family: Family) -> dict[str, dict[str, float]]:
    """The mean variance of a cell by the number of variables, and that of the noisiest, in closed form; unrounded."""
    sizes = [tree.rungs[1].size for tree in family.trees]
    even = float(EvenGaussian(1).design(EveryTable(Bounded(1, 1, 1, 1), family)).variances[0])
    fitted = _fitted(family, sizes)
    cube = {one: prod(sizes) / prod(family.shape(one)) for one in fitted}
    return {
        "ours": _by_ways(family, dict.fromkeys(fitted, even)),
        LEAST_SQUARES: _by_ways(family, fitted),
        CUBE: _by_ways(family, cube),
    }


def _fitted(family: Family, sizes: list[int]) -> dict[Component, float]:
    """The variance of a cell of every table after least squares."""
    precision: dict[Component, float] = {}
    for top in family.tops:
        for kept, spread in _subsets(top):
            precision[kept] = precision.get(kept, 0.0) + 1 / (len(family.tops) * spread(family))
    found = {}
    for table in precision:
        parts = (
            prod((1 - 1 / size for size, level in zip(sizes, kept, strict=True) if level), start=1.0)
            / (precision[kept] * spread(family) ** 2)
            for kept, spread in _subsets(table)
        )
        found[table] = sum(parts)
    return found


def _by_ways(family: Family, variances: Mapping[Component, float]) -> dict[str, float]:
    """The means over cells by the number of variables, and the largest."""
    found = {}
    for ways in range(WAYS + 1):
        some = {one: prod(family.shape(one)) for one in variances if sum(one) == ways}
        found[_named(ways)] = sum(variances[one] * cells for one, cells in some.items()) / sum(some.values())
    return found | {"the noisiest cell": max(variances.values())}


def _named(ways: int) -> str:
    return ("the total", "1 variable")[ways] if ways < 2 else f"{ways} variables"


def mean_squares(family: Family, errors: np.ndarray) -> dict[int, float]:
    """The mean squared error by the number of variables of tables whose truth is 0."""
    cells = Cells(family, np.rint(errors * 1024).astype(np.int64), Fraction(1), EveryTable(Bounded(1, 1, 1, 1), family))
    found: dict[int, list[np.ndarray]] = {}
    for one, table in components_of(cells):
        found.setdefault(sum(one), []).append((table.ravel() / 1024) ** 2)
    return {ways: float(np.concatenate(some).mean()) for ways, some in found.items()}


# The run, in a process of its own


def main() -> None:
    import sfumato as sf
    from sfumato.confidential import Microdata, Options, run
    from sfumato.plan import Measure, Plan

    folder, sizes = Path(sys.argv[1]), tuple(json.loads(sys.argv[2]))
    of = schema(sizes)
    measure = Measure("tables", Count(), UpTo(WAYS, of.names), EvenGaussian(1))
    plan = Plan("bench", of, AddRemove("job"), Gaussian(1), (measure,))
    clock, spent = time.perf_counter(), time.process_time()
    run(plan, Microdata.open(folder / "rows.parquet", of), None, folder / "out", Options(rehearsal=1))
    opened = sf.open(folder / "out")
    told = {"cpu": time.process_time() - spent, "wall": time.perf_counter() - clock}
    told["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    rng, taken = np.random.default_rng(1), []
    for _ in range(ASKED):
        names = [of.names[at] for at in rng.choice(len(sizes), rng.integers(1, WAYS + 1), replace=False)]
        taken.append(1000 * timed(lambda names=names: opened.table(names).columns())[1])
    print(json.dumps(told | {"median": float(np.median(taken)), "slow": float(np.quantile(taken, 0.9))}))


if __name__ == "__main__":
    main()

"""The whole release path beside other people's: a million rows, 100,000 cells of which 29,118 are empty, epsilon 1.

Ours is the command `sfumato run` as a process of its own: start, plan, price, ledger charged and committed, cells,
geometric noise, files, manifest, and the release verified as it is opened. A peer reads the same file, is given the
same public list of cells, adds the same amount of noise and writes the noisy counts; it keeps no ledger and no
manifest. Each peer is called in an environment of its own, made on first use in build/peers (or where SFUMATO_PEERS
says); a peer that cannot be installed or run is left out and said so. CPU seconds of whole processes.
"""

import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench.line import Line

HERE = Path(__file__).parent / "peers"
PEERS = {
    "OpenDP Polars path": ("opendp", ("opendp[polars]", "pyarrow")),
    "diffprivlib histogramdd": ("diffprivlib", ("diffprivlib", "scikit-learn<1.6", "numpy<2.3", "pyarrow")),
}
SIZES = {"state": 50, "occupation": 500, "sex": 2, "age": 2}
EMPTY = 29_118
VARIANCE = 2 * math.exp(-1) / (1 - math.exp(-1)) ** 2
"""Of the two-sided geometric law at epsilon 1."""


def lines(*, quick: bool = False) -> Iterator[Line]:
    """Ours once against every peer."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        truth = write_people(folder, 200_000 if quick else 1_000_000)
        times = 1 if quick else 3
        ours = statistics.median(_ours(folder, one) for one in range(times))
        for peer, (short, needs) in PEERS.items():
            yield _line(folder, truth, ours, peer, short, needs, 1 if quick else times)


def write_people(folder: Path, rows: int) -> np.ndarray:
    """People over cells of uneven size, the public list of cells, the plan and a ledger; the true counts."""
    rng = np.random.default_rng(1)
    codes = {name: [f"{name[0]}{place:03}" for place in range(size)] for name, size in SIZES.items()}
    shape = tuple(SIZES.values())
    full = rng.permutation(math.prod(shape))[EMPTY:]
    weight = rng.lognormal(0, 1.5, len(full))
    cells = rng.permutation(np.concatenate([full, rng.choice(full, rows - len(full), p=weight / weight.sum())]))
    places = np.unravel_index(cells, shape)
    people = {name: pa.array(codes[name]).take(pa.array(place)) for name, place in zip(codes, places, strict=True)}
    pq.write_table(pa.table(people), folder / "people.parquet")
    listed = zip(*product(*codes.values()), strict=True)
    pq.write_table(pa.table(dict(zip(codes, map(list, listed), strict=True))), folder / "keys.parquet")
    (folder / "people.toml").write_text(_plan(codes), encoding="utf-8")
    opened = ["--population", "people", "--plan", str(folder / "people.toml"), "--epsilon", "100"]
    subprocess.run([*SFUMATO, "ledger", "open", str(folder / "ledger"), *opened], check=True, capture_output=True)
    return np.bincount(cells, minlength=math.prod(shape))


SFUMATO = (sys.executable, "-c", "from sfumato.cli import main; main()")


def _plan(codes: dict[str, list[str]]) -> str:
    listed = "".join(f"[attributes.{name}]\nlevels = {some!r}\n" for name, some in codes.items())
    return (
        f'name = "people"\nsampling = "census"\n[data]\nunit = "person"\n{listed}[hidden]\nneighbours = "add-remove"\n'
        f'unit = "person"\n[limit]\nepsilon = "1"\n[[measure]]\nname = "persons"\nof = "count"\nby = {list(codes)!r}\n'
        'with = { mechanism = "geometric", epsilon = "1" }\n'
    )


def _ours(folder: Path, number: int) -> float:
    words = ["--data", folder / "people.parquet", "--ledger", folder / "ledger", "--out", folder / f"release{number}"]
    return _cpu([*SFUMATO, "run", str(folder / "people.toml"), *map(str, words)])


def _cpu(words: Sequence[str]) -> float:
    """CPU seconds of a process and all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _line(
    folder: Path, truth: np.ndarray, ours: float, peer: str, short: str, needs: Sequence[str], times: int
) -> Line:
    what = f"whole release path, {int(truth.sum()):,} rows, {len(truth):,} cells"
    try:
        python = _environment(short, needs)
        out = [folder / f"{short}{one}.parquet" for one in range(times)]
        words = [python, str(HERE / f"{short}_path.py"), str(folder / "people.parquet"), str(folder / "keys.parquet")]
        theirs = statistics.median(_cpu([*words, str(place)]) for place in out)
    except (subprocess.SubprocessError, OSError) as error:
        return Line(what, "CPU s", ours, peer, cpu=ours, note=f"the peer was not run here ({type(error).__name__})")
    noise = [_noise(pq.read_table(place), truth) for place in (out[0], folder / "release0/products/persons.parquet")]
    said = "; ".join(
        f"{name}: {cells:,} cells, variance {spread:.2f} at the large ones"
        for name, (cells, spread) in zip(("theirs", "ours"), noise, strict=True)
    )
    agree = all(cells == len(truth) and abs(spread - VARIANCE) < 0.15 for cells, spread in noise)
    note = f"{theirs / ours:.1f}x less CPU; {said}; the law's is {VARIANCE:.2f}"
    return Line(what, "CPU s", ours, peer, theirs, cpu=ours, cpu_theirs=theirs, agree=agree, note=note)


def _noise(table: pa.Table, truth: np.ndarray) -> tuple[int, float]:
    """How many cells there are, and the variance of the noise in those of 20 people and more, far from 0."""
    values = table["value"].to_numpy().astype(float)
    if set(SIZES) <= set(table.column_names):
        index = np.zeros(len(values), dtype=np.int64)
        for name, size in SIZES.items():
            index = index * size + np.array([int(code[1:]) for code in table[name].to_pylist()])
        values = values[np.argsort(index)]
    large = truth >= 20
    return len(values), float(np.mean((values[large] - truth[large]) ** 2)) if len(values) == len(truth) else math.nan


def _environment(short: str, needs: Sequence[str]) -> str:
    """The Python of a peer's own environment, made on first use."""
    place = Path(os.environ.get("SFUMATO_PEERS", "build/peers")) / short
    python = place / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True, capture_output=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *needs], check=True, timeout=600)
    return str(python)

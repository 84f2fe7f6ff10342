"""The whole release path beside other people's: a million rows, 100,000 cells of which 29,118 are empty, epsilon 1.

Ours goes from the plan file to a verified release: plan, price, ledger charged and committed, cells, geometric noise,
files, manifest, and the release checked byte by byte as it is opened. A peer reads the same file, is given the same
public list of cells, adds the same amount of noise and writes the noisy counts; it keeps no ledger and no manifest.

Both are measured twice. *As a command*: CPU seconds of a whole process, imports included, median of three; where one
takes over ten seconds it is run once. *In a running session*: the same job in a process that has its imports behind it,
median of three after one to warm up; of Spark with a running Java machine, whose time and whose workers' count.

Each peer is called in an environment of its own, made on first use in build/peers (or where SFUMATO_PEERS says) from
the exact versions in bench/peers; a peer that cannot be installed or run is left out and said so.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench.line import Goal, Line, process

PEERS = Path(__file__).parent / "peers"
SIZES = {"state": 50, "occupation": 500, "sex": 2, "age": 2}
EMPTY = 29_118
GEOMETRIC = 2 * math.exp(-1) / (1 - math.exp(-1)) ** 2
"""The variance of the two-sided geometric law at epsilon 1."""
LAPLACE = 2.0
SLOW = 10.0
"""CPU seconds beyond which a command is run once."""
LARGE = 20
"""People from which on a cell is far from 0, so that noise cut off at 0 is seen whole."""
SFUMATO = (sys.executable, "-c", "from sfumato.cli import main; main()")


@dataclass(frozen=True)
class Peer:
    """Somebody's library: its name round its versions, its script in bench/peers, the variance of its law, our goal."""

    name: str
    short: str
    variance: float = GEOMETRIC
    goal: Goal | None = None

    @property
    def script(self) -> str:
        return str(PEERS / f"{self.short}_path.py")


OURS = Peer("Sfumato", "sfumato")
OTHERS = (
    Peer("OpenDP {} Polars path", "opendp", goal=Goal(30)),
    Peer("diffprivlib {} histogramdd", "diffprivlib", goal=Goal(3)),
    Peer("Tumult Analytics {} on Spark {}", "tumult", goal=Goal(30)),
    Peer("PipelineDP {}, local", "pipelinedp", LAPLACE),
    Peer("SmartNoise SQL {}, pandas", "smartnoise"),
)


@dataclass(frozen=True)
class Cost:
    """CPU seconds as a command and in a running session, whose they are, and the first table that came of it."""

    command: float
    session: float
    name: str
    table: Path


def lines(*, quick: bool = False) -> Iterator[Line]:
    """Ours once against every peer."""
    with tempfile.TemporaryDirectory() as name:
        folder, times = Path(name), 1 if quick else 3
        truth = write_people(folder, 200_000 if quick else 1_000_000)
        ours = _ours(folder, times)
        yield _beside_imports(truth, ours)
        for peer in OTHERS:
            try:
                theirs = _cost(peer, environment(peer.short), folder, times)
            except (subprocess.SubprocessError, OSError) as error:
                yield _left_out(truth, ours, peer, error)
            else:
                yield from _compared(truth, ours, peer, theirs)


# The job


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
    process([*SFUMATO, "ledger", "open", str(folder / "ledger"), *opened])
    return np.bincount(cells, minlength=math.prod(shape))


def _plan(codes: dict[str, list[str]]) -> str:
    listed = "".join(f"[attributes.{name}]\nlevels = {some!r}\n" for name, some in codes.items())
    return (
        f'name = "people"\nsampling = "census"\n[data]\nunit = "person"\n{listed}[hidden]\nneighbours = "add-remove"\n'
        f'unit = "person"\n[limit]\nepsilon = "1"\n[[measure]]\nname = "persons"\nof = "count"\nby = {list(codes)!r}\n'
        'with = { mechanism = "geometric", epsilon = "1" }\n'
    )


# What it costs


def _ours(folder: Path, times: int) -> Cost:
    """The command `sfumato run` and, in a fresh process of its own, the same through Python."""
    words = ["--data", str(folder / "people.parquet"), "--ledger", str(folder / "ledger"), "--out"]
    command = [
        process([*SFUMATO, "run", str(folder / "people.toml"), *words, str(folder / f"release{one}")])[0]
        for one in range(times)
    ]
    session, name, _ = _session(OURS, sys.executable, folder, times)
    return Cost(statistics.median(command), session, name, folder / "release0/products/persons.parquet")


def _cost(peer: Peer, python: str, folder: Path, times: int) -> Cost:
    command: list[float] = []
    while len(command) < times and max(command, default=0) < SLOW:
        spent, said = process(_words(peer, python, folder, [f"alone{len(command)}"]), folder)
        # Workers that a Java machine leaves behind are waited for by nobody; the script has counted them.
        command.append(max(spent, json.loads(said)["whole"]))
    return Cost(statistics.median(command), *_session(peer, python, folder, times))


def _session(peer: Peer, python: str, folder: Path, times: int) -> tuple[float, str, Path]:
    outs = [f"session{one}" for one in range(1 + times)]
    told = json.loads(process(_words(peer, python, folder, outs), folder)[1])
    name = peer.name.format(*told["versions"].values())
    return statistics.median(told["cpu"][1:]), name, folder / f"{peer.short}-session0.parquet"


def _words(peer: Peer, python: str, folder: Path, outs: list[str]) -> list[str]:
    places = [str(folder / f"{peer.short}-{out}.parquet") for out in outs]
    return [python, peer.script, str(folder / "people.parquet"), str(folder / "keys.parquet"), *places]


def environment(short: str, maker: str = sys.executable) -> str:
    """The Python of a peer's own environment, made on first use and again when its versions change."""
    place = Path(os.environ.get("SFUMATO_PEERS", "build/peers")).absolute() / short
    versions, made_from, python = PEERS / f"{short}.txt", place / "made-from.txt", str(place / "bin" / "python")
    if not made_from.exists() or made_from.read_text() != versions.read_text():
        subprocess.run([maker, "-m", "venv", str(place)], check=True, capture_output=True)
        asked = [python, "-m", "pip", "install", "--quiet", "--requirement", str(versions)]
        subprocess.run(asked, check=True, capture_output=True, timeout=900)
        made_from.write_text(versions.read_text())
    return python


# What is said of it


def _what(truth: np.ndarray, how: str) -> str:
    return f"release path {how}, {int(truth.sum()):,} rows, {len(truth):,} cells"


def _compared(truth: np.ndarray, ours: Cost, peer: Peer, theirs: Cost) -> Iterator[Line]:
    noises = {
        "theirs": (noise_of(theirs.table, truth), peer.variance),
        "ours": (noise_of(ours.table, truth), GEOMETRIC),
    }
    said = "; ".join(f"{name}: {noise.words}, by its law {law:.2f}" for name, (noise, law) in noises.items())
    agree = all(noise.cells == len(truth) and noise.follows(law) for noise, law in noises.values())
    lost = len(truth) - noises["theirs"][0].cells
    note = f"it misses {lost:,} empty cells; {said}" if lost else said
    for how, mine, other in (
        ("as a command", ours.command, theirs.command),
        ("in a running session", ours.session, theirs.session),
    ):
        shared = {"cpu": mine, "cpu_theirs": other, "agree": agree, "goal": peer.goal, "note": note}
        yield Line(_what(truth, how), "CPU s", mine, theirs.name, other, **shared)


def _beside_imports(truth: np.ndarray, ours: Cost) -> Line:
    """The least that any process takes which reads with the same libraries."""
    least = statistics.median(process([sys.executable, "-c", "import numpy, pyarrow.parquet"])[0] for _ in range(5))
    what = _what(truth, "as a command")
    return Line(what, "CPU s", ours.command, "numpy and pyarrow imported", least, cpu=ours.command, cpu_theirs=least)


def _left_out(truth: np.ndarray, ours: Cost, peer: Peer, error: Exception) -> Line:
    why = f"{peer.short} was not run here ({type(error).__name__}"
    told = getattr(error, "stderr", None) or b""
    last = (told if isinstance(told, str) else told.decode(errors="replace")).strip().splitlines()[-1:]
    note = f"{why}: {last[0][:160]})" if last else f"{why})"
    name, what = peer.name.replace(" {}", ""), _what(truth, "as a command")
    return Line(what, "CPU s", ours.command, name, cpu=ours.command, goal=peer.goal, note=note)


@dataclass(frozen=True)
class Noise:
    """How many cells a table has, and the noise of the large ones: how many, its mean and its variance about 0."""

    cells: int
    large: int
    mean: float
    variance: float

    @property
    def words(self) -> str:
        return f"{self.cells:,} cells, noise of mean {self.mean:.2f} and variance {self.variance:.2f} at the large ones"

    def follows(self, variance: float) -> bool:
        """Within five standard errors of a law; the fourth moments of both laws are about six squared variances."""
        room = 5 / math.sqrt(self.large)
        return abs(self.mean) < room * math.sqrt(variance) and abs(self.variance / variance - 1) < room * math.sqrt(5)


def noise_of(place: Path, truth: np.ndarray) -> Noise:
    """The noise of a table whose cells are named, or else in the order of the truth."""
    table = pq.read_table(place)
    values = table["value"].to_numpy().astype(float)
    places = np.arange(len(values))
    if set(SIZES) <= set(table.column_names):
        places = np.zeros(len(values), dtype=np.int64)
        for name, size in SIZES.items():
            places = places * size + np.array([int(code[1:]) for code in table[name].to_pylist()])
    noise = (values - truth[places])[truth[places] >= LARGE]
    return Noise(len(values), len(noise), float(noise.mean()), float(np.mean(noise**2)))

"""How soon a command answers: `--help` and `price` as processes of their own, beside a Python that does nothing."""

import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.resources import files

from bench.line import Line, process
from bench.release_path import SFUMATO


def lines(*, quick: bool = False) -> Iterator[Line]:
    times = 1 if quick else 7
    plan = str(files("sfumato") / "plans" / "employment.toml")
    bare = (sys.executable, "-c", "pass")
    limit, cpu_limit = _taken(bare, times)
    for words in (("--help",), ("price", plan)):
        wall, cpu = _taken((*SFUMATO, *words), times)
        name = f"start: sfumato {words[0]}"
        yield Line(name, "s", wall, "Python that does nothing", limit, cpu=cpu, cpu_theirs=cpu_limit)


def _taken(words: Sequence[str], times: int) -> tuple[float, float]:
    """Wall and CPU seconds, each the median."""
    walls, cpus = [], []
    for _ in range(times):
        begin = time.perf_counter()
        cpus.append(process(words)[0])
        walls.append(time.perf_counter() - begin)
    return statistics.median(walls), statistics.median(cpus)

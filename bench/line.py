"""Line: one measurement beside a peer or a limit, taken in the same run, and the goal it should reach."""

import os
import resource
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Goal:
    """So many times better than the peer, or within so many times of a limit.

    >>> Goal(30).words, Goal(2, within=True).words
    ('30x', 'within 2x')
    """

    times: float
    within: bool = False

    @property
    def words(self) -> str:
        return f"{'within ' if self.within else ''}{self.times:,g}x"

    def reached(self, advantage: float) -> bool:
        return advantage * self.times >= 1 if self.within else advantage >= self.times


@dataclass(frozen=True)
class Line:
    """What was measured, ours, and what it is measured against; a ratio means something only within one run.

    A unit a second is a rate, of which more is better; of everything else less is. `points` are sizes and what each
    cost, where a line is about growth.
    """

    what: str
    unit: str
    ours: float
    peer: str = ""
    theirs: float | None = None
    threads: int = 1
    cpu: float | None = None
    cpu_theirs: float | None = None
    agree: bool | None = None
    note: str = ""
    goal: Goal | None = None
    points: tuple[tuple[float, float], ...] = ()

    @property
    def ratio(self) -> float | None:
        return self.ours / self.theirs if self.theirs else None

    @property
    def advantage(self) -> float | None:
        """How many times better ours is.

        >>> Line("draws", "M/s", 400, "numpy", 40).advantage, Line("run", "CPU s", 0.1, "peer", 3).advantage
        (10.0, 30.0)
        """
        if not self.theirs or not self.ours:
            return None
        return self.ours / self.theirs if self.unit.endswith("/s") else self.theirs / self.ours

    @property
    def reached(self) -> bool | None:
        """Whether this run reached the goal; nothing where there is no goal, or nobody to compare with.

        >>> Line("scan", "CPU s", 1.5, "limit", 1.0, goal=Goal(2, within=True)).reached
        True
        >>> Line("run", "CPU s", 0.1, "peer", 2.9, goal=Goal(30)).reached
        False
        """
        return self.goal.reached(self.advantage) if self.goal and self.advantage else None


def timed(work: Callable[[], object]) -> tuple[float, float, object]:
    """Wall seconds, CPU seconds of this process, and what came of it."""
    wall, cpu = time.perf_counter(), time.process_time()
    made = work()
    return time.perf_counter() - wall, time.process_time() - cpu, made


def process(words: Sequence[str], folder: Path | None = None) -> tuple[float, str]:
    """CPU seconds of a process and of all that it waits for, and what it printed.

    Modules are kept compiled, as they are wherever a package is installed.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, check=True, capture_output=True, text=True, cwd=folder, env=kept)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout

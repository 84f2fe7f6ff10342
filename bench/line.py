"""Line: one measurement beside a peer or a limit, taken in the same run."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """What was measured, ours, and what it is measured against; a ratio means something only within one run."""

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

    @property
    def ratio(self) -> float | None:
        return self.ours / self.theirs if self.theirs else None


def timed(work: Callable[[], object]) -> tuple[float, float, object]:
    """Wall seconds, CPU seconds of this process, and what came of it."""
    wall, cpu = time.perf_counter(), time.process_time()
    made = work()
    return time.perf_counter() - wall, time.process_time() - cpu, made

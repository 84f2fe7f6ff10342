"""The clock of a script in its own environment: CPU seconds of one job done again and again, told as JSON."""

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

Job = Callable[[str, str, str], object]


def told(job: Job, packages: Sequence[str]) -> None:
    """Do the job that the command line asks for, and print what each time cost and which versions did it.

    `script.py data keys out1 out2 …`: one job for each place to write to.
    """
    data, keys, *places = sys.argv[1:]
    spent = []
    for place in places:
        start = cpu()
        job(data, keys, place)
        spent.append(cpu() - start)
    versions = {name: version(name) for name in packages}
    print(json.dumps({"cpu": spent, "whole": cpu(), "versions": versions}))


def cpu() -> float:
    """CPU seconds of this process and of all that it started, such as a Java machine and its workers."""
    below = sum(of_process(child) for child in _children(os.getpid()))
    return time.process_time() + below


def of_process(process: int) -> float:
    """CPU seconds of a process and of all that it started."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    # Its own user and system time, and those of children that have ended: fields 14 to 17 of proc(5).
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return own + sum(of_process(child) for child in _children(process))


def _children(process: int) -> list[int]:
    try:
        threads = list(Path(f"/proc/{process}/task").iterdir())
        return [int(child) for one in threads for child in (one / "children").read_text().split()]
    except OSError:
        return []

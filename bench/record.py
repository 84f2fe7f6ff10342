"""Record: the numbers of a run as JSON, with the machine and the versions that made them."""

import json
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bench.line import Goal, Line

PACKAGES = (
    "sfumato", "numpy", "numba", "scipy", "pyarrow", "duckdb", "cryptography", "granian", "starlette",
    "opendp", "clarabel", "ipfn",
)  # fmt: skip


@dataclass(frozen=True)
class Taken:
    """What one benchmark gave: its lines, when, on how loaded a machine, and why it broke off if it did."""

    lines: tuple[Line, ...]
    when: str
    load: tuple[float, ...]
    quick: bool = False
    failed: str = ""


@dataclass(frozen=True)
class Record:
    """The last numbers of every benchmark, and where they come from."""

    machine: Mapping[str, Any]
    versions: Mapping[str, str]
    taken: Mapping[str, Taken] = field(default_factory=dict)

    @classmethod
    def here(cls, taken: Mapping[str, Taken]) -> "Record":
        return cls(machine(), versions(), taken)

    @classmethod
    def read(cls, path: Path) -> "Record":
        """The record in a file; an empty one where there is none."""
        if not path.exists():
            return cls.here({})
        told = json.loads(path.read_text(encoding="utf-8"))
        taken = {name: _taken(one) for name, one in told["taken"].items()}
        return cls(told["machine"], told["versions"], taken)

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        told = asdict(self)
        for name, one in self.taken.items():
            for line, written in zip(one.lines, told["taken"][name]["lines"], strict=True):
                written |= {"ratio": line.ratio, "reached": line.reached}
        path.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def now() -> tuple[str, tuple[float, ...]]:
    """The time to the minute and the load averages."""
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC", tuple(round(one, 2) for one in os.getloadavg())


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    told = Path("/proc/cpuinfo")
    models = [line.partition(":")[2].strip() for line in _lines(told) if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": models[0] if models else platform.machine(),
        "cores": os.cpu_count(),
        "memory": f"{memory / 2**30:.0f} GiB",
        "system": f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}",
        "python": platform.python_version(),
    }


def versions() -> dict[str, str]:
    """The versions of our own environment, and of the programs that some benchmarks call."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found | {name: _said(words) for name, words in PROGRAMS.items()}


PROGRAMS = {"wrk": ("wrk", "-v"), "java": ("java", "-version")}


def _said(words: Sequence[str]) -> str:
    """The version that a program says of itself."""
    if not shutil.which(words[0]):
        return "not installed"
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    numbers = re.search(r"\d+(\.\d+)+", done.stdout + done.stderr)
    return numbers[0] if numbers else "unknown"


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def _taken(told: Mapping[str, Any]) -> Taken:
    rest = {name: value for name, value in told.items() if name not in {"lines", "load"}}
    return Taken(tuple(_line(one) for one in told["lines"]), load=tuple(told["load"]), **rest)


def _line(told: Mapping[str, Any]) -> Line:
    kept = {name: value for name, value in told.items() if name not in {"ratio", "reached", "goal", "points"}}
    points = tuple((size, cost) for size, cost in told.get("points", ()))
    return Line(**kept, goal=Goal(**told["goal"]) if told.get("goal") else None, points=points)

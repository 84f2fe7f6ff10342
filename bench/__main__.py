"""Every benchmark beside this file, in one table; a module takes part by having `lines(quick) -> list[Line]`."""

import argparse
import importlib
import json
import os
import platform
from dataclasses import asdict
from pathlib import Path

from bench.line import Line

HERE = Path(__file__).parent
COLUMNS = (
    ("what", 52), ("unit", 7), ("ours", 10), ("peer", 26), ("theirs", 10), ("ratio", 8),
    ("threads", 7), ("cpu", 8), ("cpu_theirs", 10), ("agree", 5),
)  # fmt: skip


def found() -> dict[str, object]:
    """The modules that measure something, by name."""
    names = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in {"__main__", "line"})
    modules = {name: importlib.import_module(f"bench.{name}") for name in names}
    return {name: module for name, module in modules.items() if hasattr(module, "lines")}


def main() -> None:
    modules = found()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", choices=[*modules, []], help="benchmarks to run; all unless named")
    parser.add_argument("--quick", action="store_true", help="smaller and shorter, to see that all runs")
    parser.add_argument("--json", type=Path, default=Path("build/bench.json"), help="where the numbers go")
    given = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(" ".join(name.ljust(width) for name, width in COLUMNS))
    taken: dict[str, list[Line]] = {}
    for name in given.only or modules:
        taken[name] = []
        for line in modules[name].lines(quick=given.quick):
            taken[name].append(line)
            print(shown(line), flush=True)
    given.json.parent.mkdir(parents=True, exist_ok=True)
    written = {name: [asdict(line) | {"ratio": line.ratio} for line in lines] for name, lines in taken.items()}
    given.json.write_text(json.dumps(written, indent=1) + "\n")


def shown(line: Line) -> str:
    """One row of the table, its note below."""
    row = " ".join(_cell(getattr(line, name)).ljust(width) for name, width in COLUMNS).rstrip()
    return f"{row}\n    {line.note}" if line.note else row


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return (
        f"{value:,.3g}"
        if isinstance(value, float) and abs(value) < 1_000
        else f"{value:,.0f}"
        if isinstance(value, float)
        else str(value)
    )


if __name__ == "__main__":
    main()

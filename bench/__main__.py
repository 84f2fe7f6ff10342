"""Every benchmark beside this file, in one table; a module takes part by having `lines(quick) -> list[Line]`."""

import argparse
import importlib
import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from bench.line import Line
from bench.record import Record, Taken, now
from bench.words import goal, number, ratio

HERE = Path(__file__).parent
COLUMNS = (
    ("what", 66), ("unit", 7), ("ours", 9), ("peer", 40), ("theirs", 9), ("ratio", 11), ("threads", 7),
    ("cpu", 8), ("cpu theirs", 10), ("agree", 5), ("goal", 0),
)  # fmt: skip


def found() -> dict[str, ModuleType]:
    """The modules that measure something, by name."""
    names = sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("__"))
    modules = {name: importlib.import_module(f"bench.{name}") for name in names}
    return {name: module for name, module in modules.items() if hasattr(module, "lines")}


def main() -> None:
    modules = found()
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("only", nargs="*", choices=[*modules, []], help="benchmarks to run; all unless named")
    parser.add_argument("--quick", action="store_true", help="smaller and shorter, to see that all runs")
    parser.add_argument("--json", type=Path, help="where the numbers go and stay until measured again")
    parser.add_argument("--page", action="store_true", help="write docs/benchmarks.md from the numbers, run nothing")
    given = parser.parse_args()
    path = given.json or Path("build/bench-quick.json" if given.quick else "build/bench.json")
    if given.page:
        importlib.import_module("bench.page").write(Record.read(path), modules)
        return
    record = Record.here(Record.read(path).taken)
    print(", ".join(f"{name} {one}" for name, one in (record.machine | record.versions).items()))
    print(row([name for name, _ in COLUMNS]))
    taken: dict[str, Taken] = {}
    for name in given.only or modules:
        taken[name] = measured(modules[name], quick=given.quick)
        replace(record, taken={**record.taken, **taken}).write(path)
    print(goals([line for one in taken.values() for line in one.lines]))
    if any(one.failed for one in taken.values()):
        sys.exit(1)


def measured(module: ModuleType, *, quick: bool) -> Taken:
    """The lines of one benchmark, each printed as it comes; one that breaks off leaves the others to run."""
    when, load = now()
    lines: list[Line] = []
    try:
        for line in module.lines(quick=quick):
            # Goals are about the full size.
            lines.append(replace(line, goal=None) if quick else line)
            print(shown(lines[-1]), flush=True)
    except Exception as error:  # noqa: BLE001 - whatever it is, the table says so and goes on
        traceback.print_exc()
        return Taken(tuple(lines), when, load, quick, f"{type(error).__name__}: {error}"[:300])
    return Taken(tuple(lines), when, load, quick)


def shown(line: Line) -> str:
    """One row of the table, its note below."""
    costs = [number(line.cpu), number(line.cpu_theirs), number(line.agree)]
    told = [line.what, line.unit, number(line.ours), number(line.peer), number(line.theirs), ratio(line)]
    written = row([*told, str(line.threads), *costs, goal(line)])
    return f"{written}\n    {line.note}" if line.note else written


def goals(lines: Sequence[Line]) -> str:
    """How many goals were reached, and which were not."""
    with_one = [line for line in lines if line.goal]
    missed = [f"{line.what}, {line.peer}" for line in with_one if line.reached is False]
    if not with_one:
        return "No goals were measured."
    told = f"{sum(line.reached is True for line in with_one)} of {len(with_one)} goals reached in this run."
    return "\n    missed: ".join([told, *missed])


def row(cells: list[str]) -> str:
    return " ".join(cell.ljust(width) for cell, (_, width) in zip(cells, COLUMNS, strict=True)).rstrip()


if __name__ == "__main__":
    main()

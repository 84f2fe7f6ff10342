"""Which tests run a line, measured file by file and kept until a file of tests changes.

Lines are known by their text within a module, so that what is written above one moves nothing; a line that was changed
is known once its tests were measured again, which `make clean mutants` does for all.
"""

import ast
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

FOLDERS = (
    "tests/privacy", "tests/plan", "tests/mechanisms", "tests/draws", "tests/calibrate", "tests/release",
    "tests/schema", "tests/query", "tests/confidential", "tests/attacks", "tests/margins", "tests/suppression",
    "src/sfumato",
)  # fmt: skip
"""The tests of guarantees and stated errors, doctests included; what serves and draws pages is left out."""
Lines = dict[str, dict[str, list[str]]]
"""By module and text of a line the tests that run it."""


@dataclass(frozen=True)
class Tested:
    """The seconds of each test and the tests of each line."""

    seconds: dict[str, float]
    lines: dict[str, dict[str, set[str]]]

    def of(self, module: str, line: int, source: Path) -> list[str]:
        """The tests that run a line, quickest first; of one that is run when it is imported all tests of the module."""
        texts, inside = _texts(source), _inside(source)
        known = self.lines.get(module, {})
        if line in inside:
            tests = known.get(texts[line - 1]) or known.get(texts[inside[line] - 1], set())
        else:
            tests = set().union(*(known.get(texts[each - 1], ()) for each in inside))
        return sorted(tests, key=lambda one: (self.seconds[one], one))


@cache
def _texts(source: Path) -> list[str]:
    return [line.strip() for line in source.read_text("utf-8").splitlines()]


@cache
def _inside(source: Path) -> dict[int, int]:
    """The lines within functions, each with the first line of its innermost statement."""
    found: dict[int, int] = {}
    for function in ast.walk(ast.parse(source.read_text("utf-8"))):
        if isinstance(function, ast.FunctionDef):
            for statement in (each for one in function.body for each in ast.walk(one) if isinstance(each, ast.stmt)):
                for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1):
                    found[line] = max(found.get(line, 0), statement.lineno)
    return found


def tested(copy: Path, kept: Path, modules: dict[str, Path]) -> Tested:
    """The map of all tests; files that changed are measured again, which takes as long as their tests."""
    seconds: dict[str, float] = {}
    lines: dict[str, dict[str, set[str]]] = {name: defaultdict(set) for name in modules}
    for folder in FOLDERS:
        for part in _measured(copy, kept, folder, modules).values():
            seconds |= part["seconds"]
            for module, of in part["lines"].items():
                for text, tests in of.items() if module in lines else ():
                    lines[module][text].update(tests)
    return Tested(seconds, lines)


def _measured(copy: Path, kept: Path, folder: str, modules: dict[str, Path]) -> dict:
    """By file its stamp, the seconds of its tests and the lines that they run."""
    path = kept / f"{folder.replace('/', '-')}.json"
    known = json.loads(path.read_text("utf-8")) if path.exists() else {}
    tests, helpers = _files(copy, folder)
    stamps = {file: _digest([copy / file, *helpers]) for file in tests}
    changed = [file for file, stamp in stamps.items() if known.get(file, {}).get("stamp") != stamp]
    if changed:
        print(f"measuring which lines the tests in {folder} run: {len(changed)} files", flush=True)
        known |= _by_file(_run(copy, kept / "measured.json", changed, modules), stamps, changed, modules)
        path.write_text(json.dumps({file: known[file] for file in tests}), "utf-8")
    return {file: known[file] for file in tests}


def _files(copy: Path, folder: str) -> tuple[list[str], list[Path]]:
    """The files of a folder that hold tests, and what they all stand on."""
    if folder.startswith("src"):
        doctests = [one for one in sorted((copy / folder).rglob("*.py")) if ">>>" in one.read_text("utf-8")]
        return [one.relative_to(copy).as_posix() for one in doctests], []
    held = sorted((copy / folder).glob("*.py"))
    tests = [one for one in held if one.name.startswith("test_")]
    helpers = [one for one in held if one not in tests]
    return [one.relative_to(copy).as_posix() for one in tests], [copy / "tests" / "conftest.py", *helpers]


def _run(copy: Path, out: Path, files: list[str], modules: dict[str, Path]) -> dict:
    asked = {"SFUMATO_MEASURED": str(out), "SFUMATO_LINES_OF": ":".join(str(one) for one in modules.values())}
    asked |= {"PYTHONPATH": f"{copy / 'src'}:{copy}", "CI": "1"}
    words = ["-m", "pytest", "-p", "tests.mutants.measured", "-p", "no:cacheprovider", "-m", "not slow", *files]
    out.unlink(missing_ok=True)
    subprocess.run([sys.executable, *words], check=False, env=os.environ | asked, cwd=copy, stdout=subprocess.DEVNULL)
    return json.loads(out.read_text("utf-8"))


def _by_file(raw: dict, stamps: dict[str, str], files: Iterable[str], modules: dict[str, Path]) -> dict:
    """What was measured by number of line, by file of tests and text of line."""
    found = {file: {"stamp": stamps[file], "seconds": {}, "lines": {}} for file in files}
    for test, seconds in raw["seconds"].items():
        found[test.partition("::")[0]]["seconds"][test] = seconds
    for name, path in modules.items():
        for line, tests in raw["lines"].get(str(path), {}).items():
            for test in tests:
                of = found[test.partition("::")[0]]["lines"].setdefault(name, {})
                of.setdefault(_texts(path)[int(line) - 1], []).append(test)
    return found


def _digest(places: Iterable[Path]) -> str:
    return sha256(b"".join(one.name.encode() + one.read_bytes() for one in places)).hexdigest()

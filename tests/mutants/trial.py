"""One mutant tried: written into a copy of the project, its tests run in a process of their own, quickest first."""

import importlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.mutants.operators import Mutant

PRELOADED = (
    "pytest", "hypothesis", "numpy", "numpy.random", "scipy.sparse.linalg", "scipy.optimize", "scipy.stats",
    "pyarrow.parquet", "pyarrow.compute", "pyarrow.csv", "duckdb", "mpmath", "narwhals", "pydantic", "cryptography",
)  # fmt: skip
"""What is imported once and not for each mutant: most of the time of a test that fails at once."""
GRACE, TIMES = 60, 10
"""The seconds that any mutant has, and how many times those that its tests take; what takes longer hangs."""
UNDECIDED = {5, 99}
"""No tests were there, or they could not be begun; a mutant that breaks an import ends with another number."""
KILLED, HUNG, SURVIVED = "killed", "hung", "survived"


def preload(names: Iterable[str] = PRELOADED) -> None:
    for name in names:
        importlib.import_module(name)


@contextmanager
def written(mutant: Mutant, path: Path) -> Iterator[None]:
    """The mutant in its file; afterwards the file is as it was, to the second that it was written."""
    whole, at = path.read_bytes(), path.stat()
    path.write_bytes(mutant.of(whole))
    try:
        yield
    finally:
        path.write_bytes(whole)
        os.utime(path, ns=(at.st_atime_ns, at.st_mtime_ns))


def tried(mutant: Mutant, copy: Path, path: Path, tests: list[str], seconds: float) -> tuple[str, str]:
    """What came of a mutant, and the test that killed it."""
    with written(mutant, path):
        status, failed = _ended(copy, ["-x"], tests, seconds)
    if status is None:
        return HUNG, ""
    return (KILLED, failed[0] if failed else "") if status else (SURVIVED, "")


def failing(copy: Path, tests: list[str], seconds: float) -> list[str]:
    """The tests that fail although nothing is changed: what they kill is not killed by the change."""
    status, failed = _ended(copy, [], tests, seconds)
    if status not in {0, 1}:
        raise RuntimeError(f"The tests could not be run where nothing is changed:\n{_said(copy)[-2000:]}")
    return failed


def _ended(copy: Path, options: list[str], tests: list[str], seconds: float) -> tuple[int | None, list[str]]:
    """How a run of tests ended, nothing where it hung, and those that failed."""
    child = os.fork()
    if child == 0:
        _run(copy, [*options, *tests])
    status = _waited(child, GRACE + TIMES * seconds)
    lines = [line for line in _said(copy).splitlines() if line.startswith(("FAILED ", "ERROR "))]
    # Where a mutant breaks what a file of tests makes when it is read, its tests are not found either.
    if status in UNDECIDED or (status == 4 and not lines and "while loading conftest" not in _said(copy)):
        raise RuntimeError(f"The tests were not run:\n{_said(copy)[-2000:]}")
    named = (
        max((test for test in tests if f"{line} ".split(" ", 1)[1].startswith(test)), key=len, default="")
        for line in lines
    )
    return status, [test for test in named if test]


def _said(copy: Path) -> str:
    return (copy.parent / "said.txt").read_text("utf-8", "replace")


def _run(copy: Path, arguments: list[str]) -> None:
    """In the child: the tests, until the first fails; whatever happens, the process ends here."""
    code = 99
    try:
        os.setpgid(0, 0)  # a group that can be ended whole; in the session, and with the precedence, of the run
        os.chdir(copy)
        with (copy.parent / "said.txt").open("wb") as out:
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
        sys.path[:0] = [str(copy / "src"), str(copy)]
        sys.dont_write_bytecode = True
        # Plug-ins of pytest for servers and browsers take longer to load than most tests take.
        os.environ |= {"PYTHONPATH": f"{copy / 'src'}:{copy}", "CI": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        for name in [one for one in sys.modules if one.split(".")[0] in {"tests", "sfumato"}]:
            del sys.modules[name]
        import pytest

        code = int(pytest.main(["-rfE", "--tb=no", "-p", "no:cacheprovider", *arguments]))
    except BaseException:  # noqa: BLE001 - said where the parent looks
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _waited(child: int, seconds: float) -> int | None:
    """The exit code of a child, or nothing where it took too long; nothing that it started is left behind."""
    ends, status = time.monotonic() + seconds, None
    while status is None and time.monotonic() < ends:
        ended, code = os.waitpid(child, os.WNOHANG)
        status = os.waitstatus_to_exitcode(code) if ended else None
        time.sleep(0.02)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    if status is None:
        os.waitpid(child, 0)
    return status

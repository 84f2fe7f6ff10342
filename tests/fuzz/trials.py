"""Trials: a case is answered or refused in words, in time and in memory; all else is a fault, kept by its number."""

import signal
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager

from sfumato.errors import SfumatoError

SECONDS = 20
"""No case may take longer."""
ANSWERED, REFUSED, FAULT = "answered", "refused in words", "fault"


class HungError(BaseException):
    """A case that took too long; no `except Exception` swallows it."""


class WrongError(AssertionError):
    """An answer that is another than the right one."""


@contextmanager
def in_time(seconds=SECONDS):
    """Stop what takes longer."""

    def hang(*_):
        raise HungError(f"took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, hang)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def tried(case: Callable[[int], None], number: int) -> tuple[str, str]:
    """What came of one case, and where it broke if it did."""
    try:
        with in_time():
            case(number)
    except SfumatoError as error:
        said = str(error)
        unsaid = not said.strip() or "Traceback" in said or len(said) > 20_000
        return (FAULT, f"refused without words: {said[:200]!r}") if unsaid else (REFUSED, "")
    except (Exception, HungError) as error:  # noqa: BLE001 - that is what is looked for
        place = traceback.extract_tb(error.__traceback__)[-1]
        return FAULT, f"{type(error).__name__}: {str(error)[:200]} at {place.filename}:{place.lineno}"
    return ANSWERED, ""


def all_tried(case: Callable[[int], None], numbers: range) -> tuple[Counter[str], list[str]]:
    """The outcomes of some cases, and every fault with the number of its case."""
    outcomes, faults = Counter[str](), []
    for number in numbers:
        outcome, where = tried(case, number)
        outcomes[outcome] += 1
        faults += [f"case {number}: {where}"] if where else []
    return outcomes, faults


def apart(kind: str, count: int) -> tuple[Counter[str], list[str]]:
    """The same in processes of their own, so that one which dies, or never comes back, is a fault like others."""
    outcomes, faults, start = Counter[str](), [], 0
    while start < count:
        words = [sys.executable, "-W", "ignore", "-m", "tests.fuzz", "worker", kind, str(start), str(count)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as worker:
            for line in worker.stdout:
                number, outcome, where = line.rstrip("\n").split("\t")
                start = int(number) + 1
                outcomes[outcome] += 1
                faults += [f"case {number}: {where}"] if where else []
        if worker.returncode:
            outcomes[FAULT] += 1
            faults.append(f"case {start}: the process died, {worker.returncode}")
            start += 1
    return outcomes, faults


def work(case: Callable[[int], None], start: int, stop: int) -> None:
    """Try some cases in this process, which holds no more than 8 GB and ends where one does not come back."""
    import faulthandler
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    for number in range(start, stop):
        faulthandler.dump_traceback_later(2 * SECONDS, exit=True)
        outcome, where = tried(case, number)
        faulthandler.cancel_dump_traceback_later()
        sys.stdout.write(f"{number}\t{outcome}\t{where.translate({9: 32, 10: 32, 13: 32})}\n")
        sys.stdout.flush()

"""Cases: what is put in the way of runs, kind by kind; each gives how the runs ended and what was wrong."""

import errno
import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.trial import (
    ALL,
    FAIL,
    FAIL_ON,
    KILL,
    KILL_TORN,
    MAKES,
    PUBLISHED,
    REFUSED,
    WRITES,
    Ended,
    Place,
    library,
    wrong,
)  # fmt: skip

from sfumato.confidential import STAGES
from sfumato.confidential.account import problems
from sfumato.confidential.remembered import lost, remember

Outcome = tuple[list[str], list[str]]
Case = Callable[[Place], Outcome]
CALLS = 500
"""More than the calls of one run on its files."""
DAY = 86_400


def struck(kinds: int, how: int, error: int, at: int) -> Case:
    """One run, of which the n-th call on a file fails or is its last."""

    def case(place: Place) -> Outcome:
        place.anew()
        ended = place.done("one", lambda: library.arm(place.work, kinds, at, how, error))
        return [ended.how], wrong(place, {"one": ended})

    return case


def killed(seed: int) -> Case:
    """Two writers on one ledger, each killed: at a call, within a write, at a stage, or at any time."""

    def case(place: Place) -> Outcome:
        place.anew()
        dice = random.Random(seed)
        runs = {out: _victim(place, out, dice, number) for number, out in enumerate(("one", "two"))}
        for child, wait in runs.values():
            if wait:
                time.sleep(wait)
                os.kill(child, 9)
        ended = {out: place.ended(out, child) for out, (child, _) in runs.items()}
        return [one.how for one in ended.values()], wrong(place, ended)

    return case


def _victim(place: Place, out: str, dice: random.Random, number: int) -> tuple[int, float]:
    """A writer and the time after which it is killed, 0 if it meets its end by itself; the second may live."""
    way = dice.choice(("call", "torn", "stage", "time", *(("lives",) if number else ())))
    if way in {"call", "torn"} and library.there:
        at, how = dice.randrange(1, CALLS), KILL if way == "call" else KILL_TORN
        return place.started(out, lambda: library.arm(place.work, ALL, at, how)), 0
    if way == "stage":
        last = dice.choice(STAGES)
        return place.started(out, at=lambda stage: os.kill(os.getpid(), 9) if stage == last else None), 0
    return place.started(out), 0 if way == "lives" else dice.uniform(0.001, 0.25)


@contextmanager
def mounted(place: Place, *options: str) -> Iterator[None]:
    subprocess.run(["mount", *options, str(place.work)], check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(place.work)], check=True)


def full(pages: int) -> Case:
    """A small file system with so many pages left."""

    def case(place: Place) -> Outcome:
        with mounted(place, "-t", "tmpfs", "-o", "size=4m", "tmpfs"):
            place.anew()
            ballast, room = place.work / "ballast", os.statvfs(place.work)
            ballast.write_bytes(bytes(max(0, room.f_bavail - pages) * room.f_bsize))
            ended = place.done("one")
            ballast.unlink()
            return [ended.how], wrong(place, {"one": ended})

    return case


def read_only(place: Place) -> Outcome:
    """The folder of the ledger mounted to be read only, or closed to a user who is not root."""
    place.anew()
    here = str(place.work)
    with mounted(place, "--bind", here):
        subprocess.run(["mount", "-o", "remount,ro,bind", here], check=True, capture_output=True)
        ended = place.done("one")
    return [ended.how], wrong(place, {"one": ended}) + _said(ended, "read-only")


def no_right(place: Place) -> Outcome:
    """The folder of the ledger closed to the user."""
    place.anew()
    (place.work / "ledger").chmod(0o666)
    place.work.chmod(0o555)
    ended = place.done("one", lambda: os.setuid(65534) if os.geteuid() == 0 else None)
    place.work.chmod(0o755)
    return [ended.how], wrong(place, {"one": ended}) + _said(ended, "read-only, or closed to this user")


def _said(ended: Ended, words: str) -> list[str]:
    return [] if ended.how == REFUSED and words in ended.words else [f"not said: {words}, but {ended}"]


def jumped(days: int, at: str) -> Case:
    """A clock that jumps during the second run on a ledger whose limit for a year is one run."""

    def case(place: Place) -> Outcome:
        place.anew(limit=1, per_year=True)
        first = place.done("one")
        ended = place.done("two", lambda: library.shift(days * DAY) if at == "start" else None,
                           lambda stage: library.shift(days * DAY) if stage == at else None)  # fmt: skip
        account, found = place.account, place.account.verify()
        times = [one.time for one in account.entries]
        found += [] if times == sorted(times) else ["out of the order of time"]
        found += [] if ended.how == REFUSED else [f"a limit for a year was granted twice: {ended}"]
        found += [] if "more than a year" in ended.words or "is spent" in ended.words else [f"not said why: {ended}"]
        return [first.how, ended.how], found

    return case


def torn(kind: str, back: int) -> Case:
    """A page of the ledger that was not, or only half, written the last time; the last pages are those that change."""

    def case(place: Place) -> Outcome:
        place.anew()
        ledger, copy = place.work / "ledger", place.work / "copy"
        place.done("one")
        shutil.copy(ledger, copy)
        place.done("two")
        older, newer = copy.read_bytes(), ledger.read_bytes()
        before = place.account.entries
        ledger.write_bytes(_torn(kind, back, older, newer))
        ended = place.done("three")
        if ended.how == PUBLISHED:  # what was torn held no entry, or the same as before
            whole = place.account.entries[: len(before)] == before
            return [ended.how], [] if whole else [f"a torn ledger was charged: {kind}"]
        found = [] if "put back" in ended.words or "not as it was" in ended.words else [f"not said what to do: {ended}"]
        found += [] if problems(ledger) or lost(place.account) else ["verify finds nothing"]
        return [ended.how], found + _put_back(place, copy)

    return case


def _torn(kind: str, back: int, older: bytes, newer: bytes) -> bytes:
    size = 4096
    start = len(newer) - back * size
    page, before = newer[start : start + size], older[start : start + size].ljust(size, b"\0")
    half = size // 2
    made = {
        "zeros": bytes(size), "second half zeros": page[:half] + bytes(half), "lost": before,
        "second half lost": page[:half] + before[half:], "first half lost": before[:half] + page[half:],
        "noise": random.Random(back).randbytes(size), "cut off": b"", "half cut off": page[:half],
    }  # fmt: skip
    rest = b"" if kind.endswith("cut off") else newer[start + size :]
    return newer[:start] + made[kind] + rest


def _put_back(place: Place, copy: Path) -> list[str]:
    """The last good copy in its place: the run is refused until what is lost was entered again, and all is counted."""
    shutil.copy(copy, place.work / "ledger")
    refused = place.done("three")
    found = [] if "sfumato ledger confirm" in refused.words else [f"a copy put back was charged: {refused}"]
    for entry in place.account.confirm("a torn page", lost(place.account)):
        remember(place.account.ledger.id, entry)
    ended = place.done("three")
    spent = place.account.ledger.spent(2026).words()
    return found + ([] if (ended.how, spent) == (PUBLISHED, "epsilon 3") else [f"{ended}, {spent}"])


def calls(share: int) -> dict[str, list[Case]]:
    """Every call on a file, or one in so many."""

    def each(kinds: int, how: int, error: int, last: int) -> list[Case]:
        return [struck(kinds, how, error, at) for at in range(1 + share // 2, last, share)]

    space = WRITES | MAKES
    return {
        "disk full at one write": each(space, FAIL, errno.ENOSPC, 120),
        "disk full from a write on": each(space, FAIL_ON, errno.ENOSPC, 120),
        "one call that fails (EIO): read, write, sync, rename, open": each(ALL, FAIL, errno.EIO, CALLS),
        "every call fails from one on (EIO)": each(ALL, FAIL_ON, errno.EIO, CALLS),
        "killed at a call": each(ALL, KILL, 0, CALLS),
        "killed within a write, half of it done": each(WRITES, KILL_TORN, 0, 100),
    }  # fmt: skip


def clocks() -> list[Case]:
    return [jumped(days, at) for days in (-15_000, -400, 400, 15_000) for at in ("start", *STAGES[:3])]


def pages() -> list[Case]:
    kinds = ("zeros", "second half zeros", "lost", "second half lost", "first half lost", "noise")
    return [torn(kind, back) for kind in kinds for back in (1, 2, 3)] + [torn("cut off", 1), torn("half cut off", 1)]

"""Processes that charge one ledger at once, are killed or run out of disk; run by test_account.py, prints JSON.

They are forked here, in a process with one thread and no open ledger, and not in the process of the tests.
"""

import json
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from sfumato.confidential import account as module
from sfumato.confidential import chain, ledger_file
from sfumato.confidential.account import Account, Entry
from sfumato.errors import LedgerError, PromiseError
from sfumato.privacy.loss import Approximate
from sfumato.privacy.neighbours import AddRemove

HIDDEN = AddRemove("establishment", "establishment_id", 8)
TENTH = Approximate("0.1")
NOBODY = 65534


def forked(work: Callable[[], int]) -> int:
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = work()
        finally:
            os._exit(code)
    return child


def code_of(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def race(path: Path, racers: int, careless: bool) -> dict[str, int]:
    """So many processes ask for 0.1 at the same moment; a careless one looks first and writes later."""
    ready, start = os.pipe()

    def charge() -> int:
        os.close(start)
        one = Account(path)
        affords = one.ledger.affords(TENTH, 2026)
        os.read(ready, 1)  # returns when the parent closes its end
        try:
            if careless:
                return _charge_unseen(path) if affords else 1
            one.reserve("race", TENTH, HIDDEN, "plan")
        except PromiseError:
            return 1
        return 0

    children = [forked(charge) for _ in range(racers)]
    time.sleep(0.5)
    os.close(start)
    codes = [code_of(child) for child in children]
    return {"charged": codes.count(0), "refused": codes.count(1), "failed": racers - codes.count(0) - codes.count(1)}


def _charge_unseen(path: Path) -> int:
    with ledger_file.transaction(path, "BEGIN IMMEDIATE") as connection:
        entries = module._sound(connection, path)
        body = {"release": "race", "loss": {"epsilon": "0.1"}, "plan_hash": "plan"}
        module._append(connection, entries, chain.moment(entries), "reserve", body)
    return 0


def write_until_killed(path: Path, report: Callable[[Entry], None], careless: bool) -> int:
    """Reserve, report, commit, report; a careless writer reports before the entry is on the disk."""
    append, late = module._append, (lambda _: None) if careless else report

    def early(*given: object) -> Entry:
        entry = append(*given)
        report(entry)
        time.sleep(0.05)  # so that most kills fall between the report and the disk
        return entry

    if careless:
        module._append = early
    while True:
        charge = Account(path).reserve("release", Approximate("1e-3"), HIDDEN, "plan")
        late(charge)
        late(Account(path).commit(charge, "manifest"))


def kill(folder: Path, rounds: int, careless: bool) -> dict[str, object]:
    """Two writers a round, each killed at a random moment; what they reported must be in the chain ever after."""
    dice = random.Random()
    found: set[str] = set()
    reported = outlived = unfinished = 0
    for turn in range(rounds):
        path = folder / f"{turn // 25}.ledger"
        if turn % 25 == 0:
            Account.create(path, "establishments", HIDDEN, Approximate(1000))
            anchors: list[str] = []
        first, second = (_writer(path, careless) for _ in range(2))
        time.sleep(dice.uniform(0, 0.08))
        os.kill(first[0], signal.SIGKILL)
        anchors += _heard(first)
        before = len(Account(path).entries)
        time.sleep(dice.uniform(0, 0.08))
        outlived += len(Account(path).entries) > before
        os.kill(second[0], signal.SIGKILL)
        anchors += _heard(second)
        found |= set(Account(path).verify(anchors))
        if turn % 25 == 24 or turn == rounds - 1:
            reported, unfinished = reported + len(anchors), unfinished + len(Account(path).unfinished())
    return {"reported": reported, "outlived": outlived, "unfinished": unfinished, "problems": sorted(found)}


def _writer(path: Path, careless: bool) -> tuple[int, int]:
    reads, writes = os.pipe()

    def work() -> int:
        return write_until_killed(path, lambda entry: os.write(writes, f"{entry.hash}\n".encode()) and None, careless)

    child = forked(work)
    os.close(writes)
    return child, reads


def _heard(writer: tuple[int, int]) -> list[str]:
    child, reads = writer
    code = code_of(child)
    with os.fdopen(reads) as lines:
        said = lines.read().splitlines()
    if code != -signal.SIGKILL:
        raise RuntimeError(f"a writer ended by itself with {code}")
    return said


def small_disk(path: Path) -> str:
    """What an account says when no file may grow beyond a hundred bytes."""
    one = Account(path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    return _refusal(lambda: one.reserve("release", TENTH, HIDDEN, "plan"))


def no_rights(path: Path, folder_mode: str, file_mode: str) -> list[str]:
    """What an account says to a user who may not write, last when it is only read; root may always, and is nobody."""
    path.chmod(int(file_mode, 8))
    path.parent.chmod(int(folder_mode, 8))
    if os.geteuid() == 0:
        os.setuid(NOBODY)
    charge = _refusal(lambda: Account(path).reserve("release", TENTH, HIDDEN, "plan"))
    new = _refusal(lambda: Account.create(path.with_name("new.ledger"), "people", HIDDEN, TENTH))
    read = _refusal(lambda: Account(path).ledger)
    return [charge, new, read]


def _refusal(ask: Callable[[], object]) -> str:
    try:
        ask()
    except LedgerError as error:
        return str(error)
    return "it went through"


def main(what: str, path: Path, *rest: str) -> object:
    if what == "race":
        return race(path, int(rest[0]), rest[1] == "careless")
    if what == "kill":
        return kill(path, int(rest[0]), rest[1] == "careless")
    return small_disk(path) if what == "small-disk" else no_rights(path, *rest)


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])))  # noqa: T201

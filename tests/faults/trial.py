"""Trial: a whole run with something in its way, what it left behind, and what the next command says of it."""

import ctypes
import io
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

from tests.confidential.crash_rounds import contradictions, prepared

import sfumato as sf
from sfumato.cli.ledger import show
from sfumato.confidential import Account, Microdata, Options, chain, run
from sfumato.confidential.fate import PARTIAL
from sfumato.errors import SfumatoError
from sfumato.release import Manifest, read_manifest, verify

WRITES, READS, SYNCS, NAMES, MAKES = 1, 2, 4, 8, 16
ALL = WRITES | READS | SYNCS | NAMES | MAKES
FAIL, FAIL_ON, KILL, KILL_TORN = 1, 2, 3, 4
PUBLISHED, REFUSED, KILLED, FAULT = "published", "refused in words", "killed", "no words"


@dataclass(frozen=True)
class Ended:
    """How a run ended: with a release, with a refusal in words, without words, or killed."""

    how: str
    words: str = ""
    stages: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    struck: str = ""


class Library:
    """The library that fails calls, as this process has it loaded."""

    def __init__(self) -> None:
        self.own = ctypes.CDLL(None)
        self.there = hasattr(self.own, "struck")
        if self.there:
            self.own.struck.restype = ctypes.c_char_p
            self.own.shift.argtypes = [ctypes.c_long]
            self.own.arm.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_long, ctypes.c_int, ctypes.c_int]

    def arm(self, folder: Path, kinds: int, at: int, how: int, error: int = 0) -> None:
        self.own.arm(str(folder).encode(), kinds, at, how, error)

    def struck(self) -> str:
        return self.own.struck().decode() if self.there else ""

    def shift(self, seconds: int) -> None:
        self.own.shift(seconds)


library = Library()


@contextmanager
def placed() -> Iterator["Place"]:
    """A place in memory where the system has one, as a sync to a busy disk is what would take the time."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield Place(Path(folder))


@dataclass
class Place:
    """Where runs happen: a folder with the ledger, the memory of it and the releases; what they say lies outside."""

    top: Path
    plan: sf.Plan = field(init=False)
    data: Path = field(init=False)
    before: tuple[chain.Entry, ...] = ()

    def __post_init__(self) -> None:
        self.plan, self.data = prepared(self.top)
        self.top.chmod(0o777)  # who gives up its rights speaks from there as well
        os.environ["SFUMATO_STATE"] = str(self.work / "state")
        self.work.mkdir()

    @property
    def work(self) -> Path:
        return self.top / "work"

    @property
    def account(self) -> Account:
        return Account(self.work / "ledger")

    @property
    def parts(self) -> list[Path]:
        return sorted(self.work.glob(f".*{PARTIAL}"))

    def anew(self, limit: int = 20, per_year: bool = False) -> None:
        """An empty place with a new ledger."""
        for one in self.work.iterdir():
            shutil.rmtree(one) if one.is_dir() else one.unlink()
        account = Account.create(self.work / "ledger", "jobs", self.plan.hidden, sf.Approximate(limit), per_year)
        self.before = account.entries

    def done(self, out: str, arm: Callable[[], None] | None = None, at: Callable[[str], None] | None = None) -> Ended:
        return self.ended(out, self.started(out, arm, at))

    def started(self, out: str, arm: Callable[[], None] | None = None, at: Callable[[str], None] | None = None) -> int:
        """A run in a process of its own; something is in its way once all is loaded, or at its stages."""
        if child := os.fork():
            return child
        stages, notes = list[str](), list[str]()

        def reached(stage: str) -> None:
            stages.append(stage)
            self._note(out, Ended(KILLED, "", tuple(stages), tuple(notes)))
            if at:
                at(stage)

        try:
            if arm:
                arm()
            microdata = Microdata.open(self.data, self.plan.schema)
            run(
                self.plan,
                microdata,
                self.work / "ledger",
                self.work / out,
                Options(progress=reached, note=notes.append),
            )
            how, words = PUBLISHED, ""
        except SfumatoError as error:
            how, words = REFUSED, str(error)
        except BaseException as error:  # noqa: BLE001 - that is what is looked for
            how, words = FAULT, f"{type(error).__name__}: {error}"
        try:
            self._note(out, Ended(how, words, tuple(stages), tuple(notes), library.struck()))
        finally:
            os._exit(0)

    def ended(self, out: str, child: int) -> Ended:
        """How a run that was started ended."""
        code, told = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), self._told(out)
        said = json.loads(told.read_text()) if told.exists() else {"how": KILLED}
        told.unlink(missing_ok=True)
        ended = Ended(**{name: tuple(one) if isinstance(one, list) else one for name, one in said.items()})
        return ended if code in {0, -signal.SIGKILL} else Ended(FAULT, f"ended with {code}")

    def _told(self, out: str) -> Path:
        return self.top / f"said-{out}"

    def _note(self, out: str, ended: Ended) -> None:
        self._told(out).with_suffix(".new").write_text(json.dumps(vars(ended)))
        self._told(out).with_suffix(".new").replace(self._told(out))


# What must hold, whatever happened


def wrong(place: Place, runs: dict[str, Ended]) -> list[str]:
    """What must never be after some runs on one ledger, and after the next command, done as it says."""
    broken = place.account.verify()
    if broken:
        return broken
    entries, found = place.account.entries, []
    if entries[: len(place.before)] != place.before:
        found.append("an entry of before is gone")
    found += [one for out in runs for one in _published(place.work / out, entries)]
    for out, ended in runs.items():
        untrue = _untrue(place, out, ended, alone=len(runs) == 1)
        found += [f"{one} (at {ended.struck}; said: {ended.words})" for one in untrue]
    return found + _next(place, runs)


def _published(out: Path, entries: tuple[chain.Entry, ...]) -> list[str]:
    if not out.exists():
        return []
    verdict = verify(out)
    anchor = Manifest.from_bytes((out / "manifest.json").read_bytes()).ledger
    charged = anchor is not None and anchor.head in {one.hash for one in entries}
    known = verdict.id in chain.committed(entries).values()
    return [*verdict.problems, *([] if charged else ["uncharged"]), *([] if known else ["published and not committed"])]


def _untrue(place: Place, out: str, ended: Ended, alone: bool) -> list[str]:
    """What a run reached or said against what is in the ledger and on the disk."""
    new = place.account.entries[len(place.before) :]
    charged, came = (any(one.kind == kind for one in new) for kind in ("reserve", "commit"))
    there, said = (place.work / out).exists(), ended.words
    rules = {
        "no words": ended.how == FAULT,
        "a charge that was reported is lost": "reserved" in ended.stages and not charged,
        "a commit that was reported is lost": "committed" in ended.stages and not came,
        "published, and not there": ended.how == PUBLISHED and not there,
    }
    if alone and ended.how == REFUSED:
        rules |= {
            "charged, and not said": charged and not came and not re.search("stays charged|Whether", said),
            "not charged, and said to be": not charged and "stays charged" in said,
            "whole, and not said where": came and not there and not re.search("stands in", said),
            "published, and not said": there and "published in" not in said,
        }
    return [rule for rule, broken in rules.items() if broken]


def _next(place: Place, runs: dict[str, Ended]) -> list[str]:
    """What the next run says; releases that stand without their names get them as it says, so that none is lost."""
    parts, unfinished = place.parts, len(place.account.unfinished())
    ended, found = place.done("next"), []
    said = " ".join((ended.words, *ended.notes))
    if ended.how != PUBLISHED:
        found.append(f"the next run: {ended.how}: {ended.words}")
    found += [f"left and not said: {part.name}" for part in parts if str(part) not in said]
    for command in re.findall(r"`(mv [^`]*)` publishes", said):
        subprocess.run(command, shell=True, check=True, cwd=place.work)
    outs = [place.work / out for out in (*runs, "next")]
    there = {read_manifest(out)[0] for out in outs if out.exists()}
    if there != set(chain.committed(place.account.entries).values()):
        found.append("a release that the ledger knows is lost")
    with redirect_stdout(io.StringIO()) as shown:
        show(place.work / "ledger")
    if shown.getvalue().count("UNFINISHED") != unfinished:
        found.append("the ledger does not show what is unfinished")
    return found + contradictions(outs)

"""Faults in the way of whole runs: `python -m tests.faults [--share N] [--only WORDS] [--page]`.

Builds the library that fails calls, starts itself anew with it, tries every case, prints the table that stands in
docs/assurance.md and every fault; ends with 1 where there is one. `--share N` tries one in N of them,
`--only WORDS` the kinds that are called so.
"""

import argparse
import gc
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.faults.cases import Case, calls, clocks, full, killed, no_right, pages, read_only
from tests.faults.trial import KILLED, PUBLISHED, REFUSED, Place, library, placed

HERE = Path(__file__).parent
KILLS = 1_000
ASSURANCE = HERE.parents[1] / "docs" / "assurance.md"
HOWS = (PUBLISHED, REFUSED, KILLED)


def kinds(share: int) -> dict[str, Sequence[Case]]:
    """Every kind of fault and its cases; of the many ones in so many."""
    found: dict[str, Sequence[Case]] = {
        "two writers killed at random and at stages": [killed(seed) for seed in range(0, KILLS, share)]
    }
    if library.there:
        found |= calls(share)
        found["the clock jumps by 400 days or 41 years, either way"] = clocks()[:: min(share, 4)]
    if os.geteuid() == 0 and _mounts():
        found["a file system with 0 to 99 pages left"] = [full(number) for number in range(0, 100, share)]
        found["the ledger's folder read-only"] = [read_only]
    found["the ledger's folder closed to the user"] = [no_right]
    found["a page of the ledger torn, lost or cut off"] = pages()[:: min(share, 4)]
    return found


def _mounts() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], capture_output=True, check=False)
        return mounted.returncode == 0 and subprocess.run(["umount", folder], check=False).returncode == 0


def tried(place: Place, cases: Sequence[Case]) -> tuple[Counter[str], list[str]]:
    """How the runs of some cases ended, and what was wrong."""
    hows, faults = Counter[str](), []
    for number, case in enumerate(cases):
        ended, found = case(place)
        hows.update(ended)
        faults += [f"case {number}: {one}" for one in found]
    return hows, faults


def table(share: int, only: str) -> tuple[str, list[str]]:
    lines = ["| what is in the way | cases | " + " | ".join(HOWS) + " | wrong |", "|---" * (len(HOWS) + 3) + "|"]
    found = []
    with placed() as place:
        gc.freeze()  # what is forked so often is copied less
        for words, cases in ((words, cases) for words, cases in kinds(share).items() if only in words):
            hows, faults = tried(place, cases)
            told = " | ".join(f"{hows[one]:,}" for one in HOWS)
            lines.append(f"| {words} | {len(cases):,} | {told} | {len(faults)} |")
            print(lines[-1], file=sys.stderr, flush=True)  # noqa: T201
            found += [f"{words}, {one}" for one in faults]
    return "\n".join(lines), found


def loaded(folder: Path) -> dict[str, str]:
    """The environment in which the library is loaded before all others; as it is where no C compiler makes it."""
    made = ["cc", "-O1", "-shared", "-fPIC", "-o", str(folder / "failing.so"), str(HERE / "failing.c"), "-ldl"]
    try:
        subprocess.run(made, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        print("No C compiler (cc): calls that fail and clocks that jump are left out.", file=sys.stderr)  # noqa: T201
        return dict(os.environ)
    return os.environ | {"LD_PRELOAD": str(folder / "failing.so")}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--share", type=int, default=1, help="one case in so many")
    parser.add_argument("--only", default="", help="the kinds that have this in their words")
    parser.add_argument("--page", action="store_true", help="write the table into docs/assurance.md")
    parser.add_argument("--loaded", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if not given.loaded:
        with tempfile.TemporaryDirectory() as folder:
            again = [sys.executable, "-m", "tests.faults", "--loaded", *sys.argv[1:]]
            return subprocess.run(again, env=loaded(Path(folder)), check=False).returncode
    begun, load = time.gmtime(), os.getloadavg()[0]
    text, found = table(given.share, given.only)
    when = time.strftime("%Y-%m-%d %H:%M UTC", begun)
    text = f"`make faults`, {when}, load average {load:.1f} before it on {os.cpu_count()} cores:\n\n{text}"
    print(text, *found, sep="\n")  # noqa: T201
    if given.page:
        start, end = "<!-- measured: faults -->", "<!-- end: faults -->"
        before, _, rest = ASSURANCE.read_text(encoding="utf-8").partition(start)
        ASSURANCE.write_text(f"{before}{start}\n{text}\n{end}{rest.partition(end)[2]}", encoding="utf-8")
    return min(1, len(found))


if __name__ == "__main__":
    sys.exit(main())

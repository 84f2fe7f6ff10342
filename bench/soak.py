"""Soak: a real server at the load that it holds, for as long as told, among readers that mean it no good.

`python -m bench.soak --minutes 30` makes a release of a million cells, starts `sfumato serve` over it, and asks:
clients that wait for each answer, random tables that nobody asked before, some again, some large downloads. All the
while there are slow readers, readers that take nothing, idle connections and huge headers. Then twice the held load at
an even pace, and less than the held load again. It ends with 1 where something did not hold.
"""

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from collections import Counter, deque
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from bench.http import Server, serving
from bench.load import Phase, closed, phases
from bench.nuisances import Nuisances
from bench.page import table
from bench.record import Record, now
from bench.soc import PATH, Questions, made

CLIENTS, DOWNLOAD_IN, AGAIN_IN = 4, 150, 4
"""Clients that wait for their answers; one question in so many is a large download, and one was asked before."""
FILE = f"{PATH}?codelist[occupation]=leaves&codelist[state]=leaves&codelist[sex]=level0&outputFormat="
ASSURANCE = Path(__file__).parent.parent / "docs" / "assurance.md"
Begun = tuple[str, tuple[float, ...]]
GROWTH = 0.05
"""What counts as flat: the memory at the end is larger by no more than this than after the warm-up."""
FIRST = "-15"
"""How much sooner than other sessions the system lets it work, as `nice` says it."""
RECOVERED = 10.0
"""What counts as recovered: after so many seconds no reply is late or shed any more."""


@dataclass
class Soaked:
    """What was seen: replies by kind, the worker's memory and files second by second, and the slowest health."""

    replies: Counter[str] = field(default_factory=Counter)
    memory: list[float] = field(default_factory=list)
    files: list[int] = field(default_factory=list)
    health: list[tuple[int, float]] = field(default_factory=list)

    def at(self, part: int, parts: int = 6) -> float:
        """The median memory of one part of the time, in MB."""
        return float(np.median(np.array_split(self.memory, parts)[part]))


async def whole(port: int, address: str) -> str:
    """What came of a question: its status, and whether a large reply was whole."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET {address} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        reply = await reader.read(-1)
        writer.close()
    except OSError:
        return "no reply"
    if not reply:
        return "no reply"
    head, _, body = reply.partition(b"\r\n\r\n")
    told = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    length = told.get(b"content-length")
    complete = body.endswith(b"0\r\n\r\n") if length is None else len(body) == int(length)
    status = head.split()[1].decode()
    shed = " shed" if status in {"503", "429"} and b"retry-after" in told else ""
    return f"{status}{shed}{'' if complete else ' cut off'}"


async def held(server: Server, questions: Questions, seconds: float) -> tuple[Soaked, Counter[str]]:
    """The held load among nuisances, and what became of those."""
    seen, end, chosen = Soaked(), time.monotonic() + seconds, random.Random(5)
    asked: deque[str] = deque([questions.address()], maxlen=50)
    nuisances = Nuisances(server.port, FILE + "csv", f"{PATH}?codelist[occupation]=leaves&codelist[sex]=level0")

    def next_address() -> tuple[str, str]:
        if chosen.randrange(DOWNLOAD_IN) == 0:
            return "download", FILE + chosen.choice(["csv", "sdmx-csv", "parquet"])
        if chosen.randrange(AGAIN_IN) == 0:
            return "again", chosen.choice(asked)
        asked.append(questions.address())
        return "question", asked[-1]

    async def client() -> None:
        while time.monotonic() < end:
            kind, address = next_address()
            seen.replies[f"{kind}: {await whole(server.port, address)}"] += 1

    async def watch() -> None:
        while time.monotonic() < end:
            begun = time.monotonic()
            status = await whole(server.port, "/health")
            seen.health.append((int(status == "200"), time.monotonic() - begun))
            seen.memory.append(memory(server))
            seen.files.append(open_files(server))
            await asyncio.sleep(1)

    annoying = asyncio.create_task(nuisances.run())
    await asyncio.gather(watch(), *(client() for _ in range(CLIENTS)))
    nuisances.stopped.set()
    await asyncio.wait_for(annoying, 120)
    return seen, nuisances.seen


def open_files(server: Server) -> int:
    return len(list(Path(f"/proc/{server.worker}/fd").iterdir()))


def memory(server: Server) -> float:
    """What the worker holds, in MB."""
    told = Path(f"/proc/{server.worker}/status").read_text()
    return next(int(line.split()[1]) for line in told.splitlines() if line.startswith("VmRSS")) / 1_000


# What is said of it


def claims(seen: Soaked, calm: Phase, storm: Phase, after: Phase) -> dict[str, tuple[str, bool]]:
    """Each thing that must hold, what was measured, and whether it did."""
    wrong = {kind: count for kind, count in seen.replies.items() if not kind.endswith((": 200", " shed"))}
    shed = sum(count for kind, count in seen.replies.items() if kind.endswith(" shed"))
    grown = seen.at(-1) / seen.at(2) - 1
    strange = Counter(status for phase in (calm, storm, after) for _, status, _ in phase.replies)
    answered = {status: storm.rate(status) for status in (200, 503)}
    usual = max(2.0, *(spent for _, _, spent in calm.replies))
    late = [when + spent for when, status, spent in after.replies if status != 200 or spent > usual]
    turned = sum(status != 200 for _, status, _ in after.replies)
    them = f"of {len(after.replies):,} replies {turned} shed, {len(late) - turned} above {usual:.1f} s"
    ill = sum(not fine for fine, _ in seen.health)
    return {
        "no reply but 200 and what is shed in words, every one whole": (
            f"{sum(seen.replies.values()):,} replies, {shed:,} shed, {wrong or 'none'} else", not wrong),
        "memory is flat after the warm-up": (
            f"{seen.at(2):.0f} MB before half of the time, {seen.at(-1):.0f} MB at the end ({grown:+.1%})",
            grown <= GROWTH),
        "connections are given back": (
            f"{int(np.median(seen.files))} open files in the middle, at most {max(seen.files)}",
            max(seen.files) < 4_096),
        "`/health` answers throughout": (
            f"{len(seen.health):,} times, {ill} ill, slowest {max(spent for _, spent in seen.health):.2f} s", not ill),
        "twice the held load is shed": (
            f"{answered[200]:.0f} answered and {answered[503]:.0f} shed a second", not set(strange) - {200, 503}),
        "and recovered from": (
            f"answered as before {max(late, default=0.0):.1f} s after it; {them}", max(late, default=0.0) < RECOVERED),
    }  # fmt: skip


def page(minutes: float, load: float, begun: Begun, told: dict[str, tuple[str, bool]], nuisances: Counter[str]) -> str:
    """The table, and on what machine and beside whom it was measured."""
    one, (when, before) = Record.here({}).machine, begun
    rows = [(claim, measured, "yes" if held else "**no**") for claim, (measured, held) in told.items()]
    beside = "; ".join(f"{kind} ({count:,})" for kind, count in sorted(nuisances.items()))
    return (
        f"`make soak MINUTES={minutes:g}`: {minutes:g} minutes at the held load ({load:.0f} questions a second that "
        f"nobody asked before, {CLIENTS} clients), one worker, a release of a million cells, on {one['processor']}, "
        f"{one['cores']} cores, {one['memory']}, shared with the clients; {when}, load average "
        f"{before[0]} before it.\n\n"
        f"{table(('what must hold', 'measured', 'held'), rows)}\n\nBeside it: {beside}."
    )


def written(text: str) -> None:
    """Put the table where the page of assurance has its place."""
    start, end = "<!-- measured: soak -->", "<!-- end: soak -->"
    before, _, rest = ASSURANCE.read_text(encoding="utf-8").partition(start)
    ASSURANCE.write_text(f"{before}{start}\n{text}\n{end}{rest.partition(end)[2]}", encoding="utf-8")


def before_others() -> None:
    """Come before other work on the machine, which would be measured otherwise; the server that is started does too."""
    with suppress(OSError):  # of who may not, or where there are no such groups
        os.setsid()
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(FIRST)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30, help="how long the held load lasts")
    parser.add_argument("--page", action="store_true", help="write the table into docs/assurance.md")
    given, begun = parser.parse_args(), now()
    before_others()
    with tempfile.TemporaryDirectory() as folder:
        release = made(Path(folder) / "soak", large=False)
        with serving(release) as server:
            questions = Questions(server.release, 6)
            seen, nuisances = asyncio.run(held(server, questions, 60 * given.minutes))
            length = min(60, 12 * given.minutes)
            # Measured right before it is doubled: on a shared machine it is another one half an hour earlier.
            load = asyncio.run(closed(server.port, questions, CLIENTS, min(20, length)))
            calm, storm, after = asyncio.run(phases(server.port, questions, load, length, server.cpu))
    told = claims(seen, calm, storm, after)
    text = page(given.minutes, load, begun, told, nuisances)
    print(text)
    if given.page:
        written(text)
    if not all(held for _, held in told.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()

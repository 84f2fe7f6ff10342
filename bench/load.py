"""A load generator: clients that wait for their answers, and a crowd that does not."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable

import numpy as np
from bench.soc import Questions


class Phase:
    """Replies of one stretch of time: when asked since its start, the status, and the seconds it took."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.replies: list[tuple[float, int, float]] = []
        self.health: list[float] = []
        self.cpu = 0.0

    def rate(self, status: int) -> float:
        return sum(one == status for _, one, _ in self.replies) / self.seconds


def said(phase: Phase) -> str:
    counts = dict(sorted(Counter(status for _, status, _ in phase.replies).items()))
    times = {status: [spent for _, one, spent in phase.replies if one == status] for status in counts}
    tails = ", ".join(f"{status} p99 {1_000 * np.quantile(spent, 0.99):.0f} ms" for status, spent in times.items())
    health = f"health worst {1_000 * max(phase.health):.0f} ms" if phase.health else ""
    worked = (
        f"worker had {phase.cpu / phase.seconds:.2f} of a core, {1_000 * phase.cpu / max(1, counts.get(200, 0)):.0f}"
    )
    return f"replies {counts}; {tails}; {health}; {worked} ms CPU an answer"


async def closed(port: int, questions: Questions, clients: int, seconds: float) -> float:
    """The rate at which a few clients that wait for each answer are answered."""
    start, done = time.perf_counter(), 0

    async def client() -> None:
        nonlocal done
        while time.perf_counter() - start < seconds:
            status, _ = await once(port, questions.address())
            done += status == 200

    await asyncio.gather(*(client() for _ in range(clients)))
    return done / (time.perf_counter() - start)


async def phases(
    port: int, questions: Questions, held: float, seconds: float, clock: Callable[[], float]
) -> tuple[Phase, Phase, Phase]:
    """Well under the held load, twice the held load, and at once well under it again."""
    found, asking = [], []
    for rate, length in ((0.6 * held, seconds), (2 * held, seconds), (0.6 * held, max(15, seconds / 2))):
        before = clock()
        phase, tasks = await paced(port, questions, rate, length)
        phase.cpu = clock() - before
        found.append(phase)
        asking += tasks
    await asyncio.gather(*asking)
    calm, storm, after = found
    return calm, storm, after


async def paced(port: int, questions: Questions, rate: float, seconds: float) -> tuple[Phase, list[asyncio.Task[None]]]:
    """Ask at an even pace, whether or not answers come back."""
    phase, start, tasks = Phase(seconds), time.perf_counter(), []

    async def ask(address: str) -> None:
        when = time.perf_counter()
        status, spent = await once(port, address)
        if address == "/health":
            phase.health.append(spent)
        else:
            phase.replies.append((when - start, status, spent))

    for place in range(int(rate * seconds)):
        await asyncio.sleep(max(0, start + place / rate - time.perf_counter()))
        tasks.append(asyncio.create_task(ask(questions.address())))
        if place % max(1, int(rate / 4)) == 0:
            tasks.append(asyncio.create_task(ask("/health")))
    return phase, tasks


async def once(port: int, address: str) -> tuple[int, float]:
    """The status of one request on a connection of its own, and the seconds it took; 0 if there was no reply."""
    start = time.perf_counter()
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET {address} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        reply = await reader.read(-1)
        writer.close()
    except OSError:
        return 0, time.perf_counter() - start
    return int(reply.split(b" ", 2)[1]) if reply else 0, time.perf_counter() - start

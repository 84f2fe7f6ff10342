"""Who reads slowly, or not at all, keeps nobody waiting and is let go; a slow line that moves gets the whole file."""

import asyncio
import socket
import time
from contextlib import AsyncExitStack, ExitStack, suppress
from pathlib import Path

import pytest
from tests.serve.small import small

import sfumato as sf
from sfumato.serve.callers import Callers
from sfumato.serve.limits import Limits
from sfumato.serve.sending import PART, Outgoing
from sfumato.serve.turns import BusyError, Turns

FILE = "/api/v2/tables/wide~number/data?valueCodes[row]=*&valueCodes[column]=*&outputFormat=csv"
QUESTION = "/api/v2/tables/wide~number/data?valueCodes[row]="
KEEPS_LITTLE = {"at_work": 2, "patience": 2, "writing": 60, "cache_bytes": 2**20}
# The server as it was: a part is sent within the turn, and for as long as its reader likes.
SENT_IN_THE_TURN = """
from contextlib import asynccontextmanager
from sfumato.serve.turns import Turn, Turns
@asynccontextmanager
async def inside(turn, *, last):
    yield
async def as_it_was(turns, turn):
    turn.large = True
Turn.aside, Turns.enlarge = inside, as_it_was
"""
NOBODY_HANGS_UP = """
import sfumato.serve.hang_up as module
module.hang_up = lambda peers: None
"""
HANDED_OVER_WHOLE = """
from sfumato.serve.sending import Paces
Paces.take = lambda paces, message: paces.out(message)
"""


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A release whose whole table is a file of seven megabytes, more than a connection's buffers hold."""
    far = {letter: [{"code": f"{letter}{one}", "label": f"{one} {'x' * 200}"} for one in range(110)] for letter in "rc"}
    by = (sf.Attribute("row", sf.Levels.of(far["r"])), sf.Attribute("column", sf.Levels.of(far["c"])))
    return small(tmp_path_factory.mktemp("wide") / "release", "wide", by=by)


def begun(client, address=FILE, window=4_096):
    """A connection that has asked, has seen the first line of the reply, and reads little at a time."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
    line.settimeout(20)
    line.connect((client.base_url.host, client.base_url.port))
    line.sendall(f"GET {address} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
    assert line.recv(15) == b"HTTP/1.1 200 OK"
    return line


def rest(line):
    """All that still comes."""
    parts = []
    with suppress(ConnectionResetError):
        while part := line.recv(2**20):
            parts.append(part)
    return b"".join(parts)


@pytest.fixture(scope="module")
def patient(serving, wide):
    """A server that waits for its readers, with two places for large replies."""
    with serving([wide], limits={**KEEPS_LITTLE, "downloads": 2}) as client:
        yield client


def test_a_slow_line_that_moves_gets_the_whole_file(patient):
    whole = patient.get(FILE).content
    with begun(patient, window=65_536) as line:
        got = b""
        while part := line.recv(65_536):
            got += part
            time.sleep(0.001)
    assert got.endswith(b"0\r\n\r\n")
    assert len(whole) < len(got) < 1.02 * len(whole)


def test_two_slow_readers_keep_nobody_waiting(patient):
    with begun(patient), begun(patient):
        for row in range(5):
            assert patient.get(f"{QUESTION}r{row}").status_code == 200
        assert patient.get("/health").status_code == 200
        assert patient.get(FILE).status_code == 503, "two large replies are under way"
    until_answered(patient)


def until_answered(client):
    """Ask for the file until there is a place for it."""
    patience = time.monotonic() + 20
    while client.get(FILE).status_code != 200:
        assert time.monotonic() < patience
        time.sleep(0.1)


def test_two_slow_readers_stop_a_server_that_sends_within_the_turn_and_its_health_says_so(serving, wide):
    limits = {**KEEPS_LITTLE, "patience": 0.5}
    with serving([wide], SENT_IN_THE_TURN, limits=limits) as client, begun(client), begun(client):
        time.sleep(1)
        assert client.get(f"{QUESTION}r1").status_code == 503
        assert client.get("/health").status_code == 503


def test_who_takes_nothing_loses_its_connection_before_the_end_of_the_file(serving, wide):
    with serving([wide], limits={**KEEPS_LITTLE, "writing": 0.5}) as client, begun(client) as line:
        assert lost(client, 20)
        assert not rest(line).endswith(b"0\r\n\r\n"), "a part of a file was ended as if it were the whole"


def test_a_server_that_does_not_hang_up_keeps_it(serving, wide):
    with serving([wide], NOBODY_HANGS_UP, limits={**KEEPS_LITTLE, "writing": 0.5}) as client, begun(client):
        assert not lost(client, 1.5)


def lost(client, seconds):
    """Whether the one connection that there is is gone by then."""
    patience, there = time.monotonic() + seconds, connections(client)
    while connections(client) >= there and time.monotonic() < patience:
        time.sleep(0.1)
    return connections(client) < there


def connections(client):
    """The sockets that the worker has open."""
    found = 0
    for file in Path(f"/proc/{worker(client)}/fd").iterdir():
        with suppress(FileNotFoundError):
            found += "socket" in str(file.readlink())
    return found


@pytest.mark.parametrize(("before", "copied"), [("", False), (HANDED_OVER_WHOLE, True)], ids=["shared", "copied"])
def test_readers_who_take_nothing_share_one_copy_of_a_kept_answer(serving, wide, before, copied):
    with serving([wide], before, limits={"writing": 60}) as client, ExitStack() as lines:
        size = len(client.get(FILE).content)
        first = memory(client)
        for _ in range(40):
            lines.enter_context(begun(client))
        grown = memory(client) - first
    assert (grown > 30 * size) == copied, f"{grown:,} bytes more for 40 readers of {size:,}"


def worker(client):
    """The process that answers."""
    return Path(f"/proc/{client.process.pid}/task/{client.process.pid}/children").read_text().split()[0]


def memory(client):
    """The bytes that the worker holds."""
    told = Path(f"/proc/{worker(client)}/status").read_text()
    return 1_024 * next(int(line.split()[1]) for line in told.splitlines() if line.startswith("VmRSS"))


def test_bodies_on_their_way_are_bounded_and_one_body_is_counted_once():
    held, body, other = Outgoing(3 * PART), bytes(2 * PART), bytes(2 * PART + 1)
    with held.holding(body), held.holding(body):
        assert held.size == 2 * PART
        with pytest.raises(BusyError), held.holding(other):
            pass
        with held.holding(b"short"):
            assert held.size == 2 * PART
    with held.holding(bytes(9 * PART)):
        assert held.size == 9 * PART, "what is larger than the bound goes alone"
    assert held.size == 0


def of(address):
    return {"client": (address, 5), "headers": []}


def test_one_large_reply_is_worked_on_at_a_time_and_a_turn_is_left_for_questions():
    turns, most = Turns(Limits(at_work=2, patience=5)), []

    async def download(at_work):
        async with turns.turn(of("192.0.2.1")) as turn:
            await turns.enlarge(turn)
            for part in range(3):
                at_work.add(turn)
                most.append(len(at_work))
                await asyncio.sleep(0.01)
                at_work.discard(turn)
                async with turn.aside(last=part == 2):
                    await asyncio.sleep(0.01)

    async def work():
        downloads = [asyncio.create_task(download(at_work)) for at_work in [set()] for _ in range(4)]
        await asyncio.sleep(0.02)
        for _ in range(5):
            async with asyncio.timeout(1), turns.turn(of("192.0.2.2")):
                pass
        await asyncio.gather(*downloads)

    asyncio.run(work())
    assert len(most) == 12
    assert max(most) == 1
    assert (turns.inside, turns.downloads.total(), turns.stuck) == (0, 0, False)


def test_large_replies_are_counted_and_one_client_has_a_quarter_of_them():
    turns = Turns(Limits(at_work=10, downloads=8))

    async def work():
        async with AsyncExitStack() as open_turns:
            for client in ("192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.2", "192.0.2.3"):
                await large(open_turns, client)
            with pytest.raises(BusyError):
                await large(open_turns, "192.0.2.1")
            for _ in range(3):
                await large(open_turns, "127.0.0.1")
            with pytest.raises(BusyError):
                await large(open_turns, "192.0.2.4")
        async with AsyncExitStack() as open_turns:
            await large(open_turns, "192.0.2.1")

    async def large(open_turns, client):
        turn = await open_turns.enter_async_context(turns.turn(of(client)))
        await turns.enlarge(turn)
        await open_turns.enter_async_context(turn.aside(last=True))

    asyncio.run(work())
    assert (turns.inside, turns.downloads.total()) == (0, 0)


def test_long_work_counts_as_the_calls_that_it_would_have_been():
    now = 0.0
    callers = Callers(Limits(calls=10, window=10), clock=lambda: now)

    def asked(seconds):
        assert callers.wait(of("192.0.2.1")) == 0
        callers.charge("192.0.2.1", seconds)

    for _ in range(10):
        asked(1)  # one call refills in a second: none of these is counted twice
    assert callers.wait(of("192.0.2.1")) == 1
    now = 100.0
    asked(8)
    asked(0)
    asked(0)
    assert callers.wait(of("192.0.2.1")) == 1
    assert callers.wait(of("192.0.2.2")) == 0
    callers.charge("192.0.2.1", 10_000)
    assert callers.wait(of("192.0.2.1")) == 11, "nobody owes more than a window"
    callers.charge(None, 10_000)

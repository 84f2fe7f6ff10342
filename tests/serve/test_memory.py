"""A worker gives back what it lets go: pieces of replies leave no holes in it, however their readers end."""

import asyncio
import gc
import os
import subprocess
import sys
from contextlib import suppress
from functools import partial

import pytest
from starlette.responses import StreamingResponse

from sfumato.serve.cache import Cache, Collected, Remembering
from sfumato.serve.limits import Limits
from sfumato.serve.sending import TooSlowError
from sfumato.serve.turns import Turns

# Sixty pieces on their way, each with something small that stays for longer after it; then their readers are cut off.
PIECES = """
import sys, threading
from pathlib import Path
{before}
from sfumato.serve.run import _admitted, _application
from sfumato.serve.limits import Running
application = _application(lambda: _admitted([sys.argv[1]], "127.0.0.1"), "", Running())
def held():
    told = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in told.splitlines() if line.startswith("VmRSS")) / 1_000
def piece(size):
    return b"x" * size
def cut_off():
    piece(16_000_000)  # the largest that was let go says from where on blocks are kept
    pieces = []
    for _ in range(60):
        pieces.append(piece(1_000_000))
        kept.append(piece(2_000))
kept, before = [], held()
thread = threading.Thread(target=cut_off)
thread.start(), thread.join()
print(held() - before)
"""
AS_IT_WAS = "import sfumato.serve.run as module; module.give_back = lambda: None"
# What a reply is made of is small: three thousand texts, each with something smaller after it that stays.
HOLES = (
    PIECES.replace("import sys, threading", "import sys, threading, time")
    .replace("range(60)", "range(3_000)")
    .replace("piece(1_000_000)", "piece(20_000)")
    .replace("print(", "time.sleep(2); print(")
)
SOON = "import sfumato.serve.memory as module; module.TRIMS_AFTER = 0.5"
NEVER = "import sfumato.serve.memory as module; module.TRIMS_AFTER = 3_600"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the settings are those of Linux's C library")
@pytest.mark.parametrize(
    ("held", "before", "least", "most"),
    [(PIECES, "", -5, 5), (PIECES, AS_IT_WAS, 50, 90), (HOLES, SOON, -5, 35), (HOLES, NEVER, 50, 90)],
    ids=["pieces", "pieces as they were", "holes", "holes as they were"],
)
def test_a_worker_holds_nothing_of_pieces_that_were_let_go(release, held, before, least, most):
    command = [sys.executable, "-c", held.format(before=before), str(release)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert least < float(done.stdout) < most, "MB more than before"


def held_by_replies():
    """Bytes of bodies that collected replies hold, in cycles too."""
    replies = [one for one in gc.get_objects() if isinstance(one, Collected)]
    return sum(len(message.get("body", b"")) for one in replies for message in one.messages)


async def let_go_of(application):
    """Three readers take the head and nothing else of a streamed reply of ten pieces."""

    async def taken(message):
        if message.get("body"):
            raise TooSlowError

    async def nothing():
        await asyncio.sleep(60)

    for place in range(3):
        scope = {
            "type": "http",
            "method": "GET",
            "path": f"/{place}",
            "query_string": b"",
            "headers": [],
            "client": None,
        }
        scope |= {"root_path": "", "client": None, "asgi": {"version": "3.0"}, "extensions": {}, "state": {}}
        with suppress(TooSlowError, ExceptionGroup):
            await application(scope, nothing, taken)


def test_nothing_is_held_of_replies_whose_readers_were_let_go(monkeypatch):
    """Their errors and frames are cycles, which are collected minutes later: 250 MB of pieces were held until then."""

    async def streamed(scope, receive, send):
        pieces = iter([b"x" * 500_000] * 10)
        await StreamingResponse(pieces, headers={"etag": '"a"'})(scope, receive, send)

    class Kept(list):
        def clear(self):
            """As it was: nobody let go of them."""

    limits = Limits(at_work=2, waiting=2)
    application = Remembering(streamed, Cache(8 * 2**20), Turns(limits), zips=False)
    gc.collect()
    gc.disable()
    try:
        asyncio.run(let_go_of(application))
        assert held_by_replies() == 0
        monkeypatch.setattr("sfumato.serve.cache.Collected", partial(Collected, messages=Kept()))
        asyncio.run(let_go_of(application))
        assert held_by_replies() > 1_000_000
    finally:
        gc.enable()

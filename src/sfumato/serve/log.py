"""Log: one line a request for who runs the server, and one for a fault; what readers ask and who they are is theirs."""

import sys
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.serve.limits import Log
from sfumato.serve.reply import problem
from sfumato.serve.sending import TooSlowError
from sfumato.serve.turns import BusyError

FAULT = "The server met a fault of its own and noted it; the same question may fail again, others will not."
Write = Callable[[str], object]

_HERE = Path(__file__).parents[1]


def to_stderr(line: str) -> None:
    """Write a whole line at once, so that lines of several workers do not mix."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


class Logged:
    """An application that says what it was asked and what it answered."""

    def __init__(self, inner: ASGIApp, base_path: str, log: Log, write: Write = to_stderr) -> None:
        self.inner, self.base_path, self.log, self.write = inner, base_path, log, write

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return
        status, size, start = 0, 0, time.perf_counter()

        async def counted(message: Message) -> None:
            nonlocal status, size
            status = message.get("status", status)
            size += len(message.get("body", b""))
            await send(message)

        try:
            await self.inner(scope, receive, counted)
        finally:
            spent = 1_000 * (time.perf_counter() - start)
            said = f"{_moment()} {scope['method']} {self._asked(scope)} {status} {spent:.1f}ms {size}B"
            self.write(f"{said} {(scope.get('client') or '-')[0]}" if self.log.readers else said)

    def _asked(self, scope: Scope) -> str:
        # Written as it travels, so that no address can start a line of its own; the base may hold a key.
        path = quote(scope["path"].removeprefix(self.base_path), safe="/~", errors="replace")
        query = quote(scope["query_string"], safe="%&=[],+*~") if self.log.questions else ""
        return f"{path}?{query}" if query else path


class Noted:
    """An application whose faults are noted: where in the program, never with what values."""

    def __init__(self, inner: ASGIApp, write: Write = to_stderr) -> None:
        self.inner, self.write = inner, write

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.inner(scope, receive, watched)
        except (BusyError, TooSlowError):
            raise
        except Exception as fault:  # noqa: BLE001 - whatever it is, the reader gets an answer and the log a line
            self.write(f"{_moment()} fault {_where(fault)}")
            if not begun:
                await problem(500, FAULT)(scope, receive, send)


def _where(fault: BaseException) -> str:
    """The kind of a fault and the last places it passed; its message may repeat a question, so it is left out."""
    passed = traceback.extract_tb(fault.__traceback__)
    ours = [one for one in passed if _HERE in Path(one.filename).parents] or passed
    return f"{type(fault).__name__} at " + " > ".join(f"{Path(one.filename).name}:{one.lineno}" for one in ours[-4:])


def _moment() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

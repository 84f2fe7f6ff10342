"""Commands and pages in the process of a test, where a dropped file is found."""

import asyncio
import io
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import httpx
from tests.serve.small import Seen
from typer.testing import CliRunner

from sfumato.cli.main import app, main
from sfumato.serve import app as served


@dataclass(frozen=True)
class Done:
    """What a command wrote, and the code that it ended with."""

    returncode: int
    stdout: str
    stderr: str


def command(*words: object, cwd: Path | str = ".") -> Done:
    """The program `sfumato` with these words, in this process: a start of Python costs more than most commands do."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    named = patch.object(sys, "argv", ["sfumato", *map(str, words)])
    code: object = 0
    with named, chdir(cwd), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    told = (stream.buffer.getvalue().decode() for stream in (out, err))
    return Done(int(code or 0) if isinstance(code, int | None) else 1, *told)


def sfumato(*words: object) -> str:
    """A command in this process, where the dropped file is."""
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def page(folder: Path, address: str) -> Seen:
    """A page of a release that is served."""

    async def asked() -> httpx.Response:
        transport = httpx.ASGITransport(served([folder]))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            return await client.get(address)

    reply = asyncio.run(asked())
    assert reply.status_code == 200, reply.text
    return Seen(reply.text)

"""Commands and pages in the process of a test, where a dropped file is found."""

import asyncio
from pathlib import Path

import httpx
from tests.serve.small import Seen
from typer.testing import CliRunner

from sfumato.cli.main import app
from sfumato.serve import app as served


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

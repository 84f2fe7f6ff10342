"""Addresses of every kind of page and API answer, asked of the golden releases in this process."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

import httpx
from tests.golden.content import hash_reply

from sfumato.serve import app

ADDRESSES = Path(__file__).with_name("addresses.txt")


def read_addresses() -> list[str]:
    """The addresses that are asked, one a line."""
    return ADDRESSES.read_text(encoding="utf-8").split()


def hash_replies(folders: Iterable[Path], addresses: Iterable[str]) -> dict[str, str]:
    """The status of every address and the hash of what its reply says."""
    return asyncio.run(_hash_replies(list(folders), list(addresses)))


async def _hash_replies(folders: list[Path], addresses: list[str]) -> dict[str, str]:
    transport = httpx.ASGITransport(app(folders), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        replies = {address: await client.get(address) for address in addresses}
    return {
        address: f"{reply.status_code} {hash_reply(reply.headers['content-type'], reply.content)}"
        for address, reply in replies.items()
    }

"""Asking: the application answers in this process; nothing listens anywhere."""

import asyncio
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from starlette.types import ASGIApp


@dataclass(frozen=True)
class Reply:
    """What the application replied."""

    status: int
    body: bytes


def ask(application: ASGIApp, host: str, address: str) -> Reply:
    """The reply to a reader who asks for an address: a path, and a query if there is one."""
    return asyncio.run(_asked(application, host, address))


async def _asked(application: ASGIApp, host: str, address: str) -> Reply:
    parts, sent = urlsplit(address), list[MutableMapping[str, Any]]()
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "https",
        "path": unquote(parts.path), "raw_path": parts.path.encode(), "query_string": parts.query.encode(),
        "root_path": "", "headers": [(b"host", host.encode())], "client": ("127.0.0.1", 0), "server": (host, 443),
    }  # fmt: skip

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    await application(scope, receive, send)
    status = next(one["status"] for one in sent if one["type"] == "http.response.start")
    return Reply(status, b"".join(one.get("body", b"") for one in sent if one["type"] == "http.response.body"))

"""Guard: what every reply carries and what no request may bring, before any route is looked at."""

import ipaddress
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.serve.reply import problem

LONGEST_QUERY = 32_768
POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}

_UNKEPT = {"Cache-Control": "no-store"}


class Guarded:
    """An application below a path, behind the guard; a private one must not be seen off this machine."""

    def __init__(self, inner: ASGIApp, base_path: str, *, private: bool) -> None:
        self.inner, self.base_path, self.private = inner, base_path, private

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS | (_UNKEPT if self.private else {}))
            await send(message)

        refusal = self._refusal(scope)
        if refusal is None:
            await self.inner({**scope, "root_path": self.base_path}, receive, send_guarded)
        else:
            await problem(*refusal)(scope, receive, send_guarded)

    def _refusal(self, scope: MutableMapping[str, Any]) -> tuple[int, str] | None:
        if len(scope["query_string"]) > LONGEST_QUERY:
            return 414, f"The address is longer than {LONGEST_QUERY:,} characters; ask for fewer codes, or for a level."
        if self.private and not _from_here(scope):
            return 403, "A release that is not for publication is shown on this machine only, under a loopback address."
        return None


def is_loopback(host: str) -> bool:
    """Whether an address is of this machine alone.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "stat.example")]
    [True, True, True, False, False]
    """
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _from_here(scope: MutableMapping[str, Any]) -> bool:
    """Whether a request names this machine and came through no proxy.

    A page elsewhere can point a name of its own at 127.0.0.1, and a proxy on this machine can hand requests on; neither
    may read what is only for the people at this machine.
    """
    headers = Headers(scope=scope)
    passed_on = any(name == "forwarded" or name.startswith("x-forwarded-") for name in headers)
    return not passed_on and is_loopback(_host(headers.get("host", "")))


def _host(written: str) -> str:
    """The host without its port."""
    bracketed = written.startswith("[") or written.count(":") != 1
    return written.partition("]")[0].strip("[") if bracketed else written.partition(":")[0]

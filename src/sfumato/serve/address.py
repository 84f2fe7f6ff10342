"""Address: under which names the server is reached, where that is, and what an address asks."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import QueryParams
from starlette.requests import Request

from sfumato.serve.loopback import host_alone, is_loopback

_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}(:\d{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:\d{1,5})?")
_WITHOUT_HOST = {"1", "1.0"}
_ORIGIN = "sfumato.origin"
Key = tuple[object, ...]


@dataclass(frozen=True)
class Door:
    """The names that a server answers to: any where none is stated, else those and this machine's own.

    Whatever was said in the request, `origin` is where readers reach it if that is stated.
    """

    origin: str = ""
    names: frozenset[str] = frozenset()

    def refusal(self, scope: Mapping[str, Any], *, by_any_name: bool = False) -> str | None:
        """Why a request is not let in under the host that it names, and what would be."""
        hosts = _hosts(scope)
        if len(hosts) > 1:
            return f"The request has {len(hosts)} Host headers; send one."
        if not hosts:
            # Only HTTP/1.0 has no Host; checks of a server's health are still asked in it.
            return None if scope.get("http_version") in _WITHOUT_HOST else "The request has no Host; send one."
        if not _HOST.fullmatch(hosts[0]):
            return "The Host of the request is not the name of a host; send one like statistics.example."
        named = host_alone(hosts[0]).lower().rstrip(".")
        if self.names and not by_any_name and named not in self.names and not is_loopback(named):
            return f"Nothing is served here under the name {named}; ask for {' or '.join(sorted(self.names))}."
        return None

    def reached(self, scope: Mapping[str, Any]) -> str:
        """Where the reader of a request that was let in reaches the server."""
        hosts = _hosts(scope)
        scheme = scope.get("scheme", "http")
        return self.origin or (f"{scheme}://{hosts[0]}" if hosts else "https://server")

    def through(self, scope: Mapping[str, Any], base_path: str) -> dict[str, Any]:
        """The request as the application sees it: what it says of the server's place is read from here alone."""
        return {**scope, "root_path": base_path, _ORIGIN: self.reached(scope)}


def _hosts(scope: Mapping[str, Any]) -> list[str]:
    # The server program hands on an empty Host where there is none.
    return [value.decode("latin-1") for name, value in scope["headers"] if name == b"host" and value]


def origin(request: Request) -> str:
    """Where the reader reaches this server, such as https://statistics.example."""
    reached: str = request.scope[_ORIGIN]
    return reached


def question_key(scope: Mapping[str, Any]) -> Key:
    """What is asked and where, however it is written: parameters in any order, values of one in the order given.

    >>> def key(query): return question_key({"path": "/t", "query_string": query})
    >>> key(b"sum[sex]=male&codelist%5Bage%5D=all") == key(b"codelist[age]=all&&sum%5bsex%5D=male")
    True
    >>> key(b"rows=age&rows=sex") == key(b"rows=sex&rows=age")
    False
    """
    pairs = QueryParams(scope["query_string"]).multi_items()
    # Upper and lower case of a name count the same to the application, so their order among themselves may matter.
    pairs.sort(key=lambda pair: pair[0].lower())
    return (scope.get(_ORIGIN), scope["path"], *pairs)

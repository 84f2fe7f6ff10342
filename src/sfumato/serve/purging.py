"""Purging: the keys by which a cache in front of the server forgets what a withdrawal changes, before it asks again.

What is about one series has the key of the series; what shows several, and every page, has that of the catalogue too.
Varnish and Fastly read `Surrogate-Key`, Cloudflare and Akamai `Cache-Tag`; whoever knows neither passes them on.
"""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.query.notices import plain_name
from sfumato.serve.catalogue import Catalogue

CATALOGUE = "sfumato-catalogue"
_OF_TABLES, _OF_RELEASES = ("/api/v2/tables/",), ("/api/v2/privacy/", "/api/v2/files/", "/privacy/")
_OF_SERIES = "/series/"


def keys_of(series: str) -> tuple[str, str]:
    """The keys of everything that the withdrawal of a release of a series may change.

    >>> keys_of("Jobs & pay")
    ('sfumato-catalogue', 'sfumato-series-Jobs-pay')
    """
    return CATALOGUE, f"sfumato-series-{plain_name(series) or 'release'}"


class Purgeable:
    """An application whose replies that may be kept say by which keys they are forgotten."""

    def __init__(self, inner: ASGIApp, catalogue: Catalogue) -> None:
        self.inner, self.catalogue = inner, catalogue

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start" and _kept(message):
                message = {**message, "headers": [*message["headers"], *self._headers(scope)]}
            await send(message)

        await self.inner(scope, receive, marked if scope["type"] == "http" else send)

    def _headers(self, scope: Scope) -> list[tuple[bytes, bytes]]:
        keys = self.keys(scope["path"].removeprefix(scope.get("root_path", "")))
        return [(b"surrogate-key", " ".join(keys).encode()), (b"cache-tag", ",".join(keys).encode())]

    def keys(self, path: str) -> list[str]:
        """The keys of what lies at a path below the base."""
        series = self._series(path)
        whole = [] if series and path.startswith("/api/") else [CATALOGUE]
        return [*whole, *([f"sfumato-series-{series}"] if series else [])]

    def _series(self, path: str) -> str:
        if path.startswith(_OF_SERIES):
            named = path.removeprefix(_OF_SERIES)
            return named if named in {one.series for one in self.catalogue.editions} else ""
        start = next((one for one in (*_OF_TABLES, *_OF_RELEASES) if path.startswith(one)), "/")
        first = path.removeprefix(start).partition("/")[0]
        edition = self.catalogue.releases.get(first if start in _OF_RELEASES else first.partition("~")[0])
        return edition.series if edition else ""


def _kept(message: Message) -> bool:
    return any(name.lower() == b"cache-control" and value.startswith(b"public") for name, value in message["headers"])

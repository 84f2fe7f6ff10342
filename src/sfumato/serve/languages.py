"""Languages: in which one a reader is answered, and that caches keep what each was given apart.

What an address says wins, then what the reader's browser asks for, then the language of the releases. The choice is
made before anything is looked up among answers that are kept, and becomes a part of what is asked: so an answer has the
same name and the same place in a cache however its language came to be asked for. Programs are answered by their
address alone: numbers that a script fetches do not depend on the machine that it runs on.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from urllib.parse import parse_qsl

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.query.wording import languages
from sfumato.schema.languages import OWN
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.reply import for_programs

ACCEPT, VARY = b"accept-language", "Accept-Language"
_LONGEST, _MOST = 1_000, 40
"""The most characters that are read of what a browser asks for, and the most languages."""
_RANGE = re.compile(r"\s*(\*|[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?")
_SAME_IN_ALL = ("/static/", "/files/")
"""What lies below these is the same bytes in every language."""
_UNASKED = (*_SAME_IN_ALL, "/api/v2/savedqueries")
"""What is asked in no language where its address says none: a saved query holds its own."""


@lru_cache(maxsize=1_000)
def preferred(accepted: str, offered: Collection[str], otherwise: str) -> str:
    """The language of an `Accept-Language` that is offered, the most wanted first (RFC 4647, 3.4).

    >>> [preferred(one, ("en", "de"), "en") for one in ("de-AT", "fr, de;q=0.4, en;q=0.8", "de;q=0, *", "fr", "")]
    ['de', 'en', 'en', 'en', 'en']
    """
    wanted: dict[str, float] = {}
    for part in accepted[:_LONGEST].split(",")[:_MOST]:
        if found := _RANGE.fullmatch(part):
            wanted.setdefault(found[1].lower(), 1.0 if found[2] is None else min(1.0, float(found[2])))
    for tag in sorted((tag for tag, weight in wanted.items() if weight), key=lambda tag: -wanted[tag]):
        if tag == "*":
            left = [one for one in (otherwise, *offered) if wanted.get(one, 1.0)]
            return left[0] if left else otherwise
        if (first := tag.partition("-")[0]) in offered and wanted.get(first, 1.0):
            return first
    return otherwise


class Negotiated:
    """An application that is asked in a language, whether the address says it or not."""

    def __init__(self, inner: ASGIApp, catalogue: Catalogue, base: str) -> None:
        self.inner, self.base, self.offered = inner, base, tuple(languages())
        self.own = own_of(catalogue)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "").removeprefix(self.base)
        if scope["type"] != "http" or path.startswith(_UNASKED) or _says(scope["query_string"]):
            await self.inner(scope, receive, send)
        elif for_programs(path) and path != "/api":
            await self.inner(self._asked_in(scope, self.own), receive, send)
        else:
            await self.inner(self._asked_in(scope, self._wanted(scope)), receive, _varying(send))

    def _wanted(self, scope: Scope) -> str:
        values = (value.decode("latin-1") for name, value in scope["headers"] if name == ACCEPT)
        return preferred(", ".join(values), self.offered, self.own)

    def _asked_in(self, scope: Scope, language: str) -> Scope:
        """The question with its language said, but for the one that is meant where none is."""
        if language == OWN:
            return scope
        query = scope["query_string"]
        return {**scope, "query_string": b"&".join([*([query] if query else []), f"lang={language}".encode()])}


def own_of(catalogue: Catalogue) -> str:
    """The language of everything that is served; English where releases differ, or where there are no words for it."""
    own = {edition.release.own.manifest.own_language for edition in catalogue.editions}
    return own.pop() if len(own) == 1 and own <= {*languages()} else OWN


def _says(query: bytes) -> bool:
    """Whether an address says a language itself, if only a wrong one."""
    return any(key.lower() == "lang" for key, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True))


def _varying(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).add_vary_header(VARY)
        await send(message)

    return sent

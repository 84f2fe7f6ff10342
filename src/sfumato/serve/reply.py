"""Replies: bytes with a name of their content, so that a reader who has them already is told so."""

import hashlib
import tomllib
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import nearest
from sfumato.serve.address import question_key
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.editions import Edition
from sfumato.serve.shapes import ProblemDetails, Shape

# A withdrawal must be seen within a minute, so a copy is asked about again after 25 seconds; asking is cheap. For 30
# more a cache may give it while it asks, so that no reader waits.
SOON = "public, max-age=25, s-maxage=25, stale-while-revalidate=30"
FOREVER = "public, max-age=31536000, immutable"
"""For what lies at an address that holds the hash of its content."""
REFUSALS: dict[int, dict[str, str]] = {
    int(status): told
    for status, told in tomllib.loads(Path(__file__).with_name("refusals.toml").read_text("utf-8")).items()
}
"""The statuses of refusals, each with its title and, where the API says it, what it means."""
ZIPPED = "-gzip"
"""What the name of a content has at its end when it travels compressed, as the bytes are others."""


def named(request: Request, content: str) -> str:
    """The name of a body: what it is made of, what its address asks, and where readers reach the server."""
    said = repr((content, question_key(request.scope)))
    return hashlib.sha256(said.encode()).hexdigest()[:32]


def unchanged(request: Request, tag: str, keep: str = SOON) -> Response | None:
    """The reply to a reader who holds this content already."""
    held = held_tag(request.headers.get("if-none-match", ""), tag)
    return None if held is None else Response(status_code=304, headers=_headers(held, keep))


def held_tag(said: str, tag: str) -> str | None:
    """The name under which a reader holds a content already, compressed or not.

    >>> [held_tag(said, "a") for said in ('"b", W/"a"', '"a-gzip"', "*", '"b"', "")]
    ['a', 'a-gzip', 'a', None, None]
    """
    if not said:
        return None
    names = {name.strip().removeprefix("W/").strip('"') for name in said.split(",")}
    return next((one for one in (tag, tag + ZIPPED) if one in names), tag if "*" in names else None)


def fresh(content: bytes | str, media_type: str, tag: str = "", status: int = 200, keep: str = SOON) -> Response:
    """The reply with its content; an error, and what has no name, is not kept."""
    headers = _headers(tag, keep) if tag and status == 200 else {"Cache-Control": "no-store"}
    return Response(content, status, headers, media_type)


def as_json(request: Request, said: Shape, content: str) -> Response:
    """The reply to a program, unless it holds the content already."""
    tag = named(request, content)
    return unchanged(request, tag) or fresh(said.to_bytes(), "application/json", tag)


def for_programs(path: str) -> bool:
    """Whether an address below the base is asked by programs, which are refused in JSON."""
    return path.startswith(("/api", "/files/")) or path in {"/version", "/health", "/openapi.json", "/oembed"}


def problem(status: int, detail: str) -> Response:
    """The reply that says why not, as JSON (RFC 9457)."""
    said = ProblemDetails(title=REFUSALS.get(status, {}).get("title", "Problem"), status=status, detail=detail)
    return fresh(said.to_bytes(), "application/problem+json", status=status)


def _headers(tag: str, keep: str) -> dict[str, str]:
    return {"ETag": f'"{tag}"', "Cache-Control": keep}


def edition_of(catalogue: Catalogue, key: str) -> Edition:
    """The release of this key; a wrong key answers with the nearest."""
    if key not in catalogue.releases:
        raise HTTPException(404, f"No release '{key[:100]}' is served here; {nearest(key[:100], catalogue.releases)}")
    return catalogue.releases[key]

"""Files: every file of a release at an address that holds the hash of its content, whole or in parts.

What lies at such an address never changes, so that whoever holds a copy need not ask again, for a year, and any page
or program elsewhere may read it: it is published. Parquet is read in parts: a reader asks for the end of a file, where
its pieces are listed, and then for the columns that it wants.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from sfumato.release.manifest import NAME, FileLine
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.editions import Edition
from sfumato.serve.reply import FOREVER, held_tag

ADDRESS = "/files/{digest}/{name}"
TYPES = {"parquet": "application/vnd.apache.parquet", "json": "application/json", "toml": "application/toml"}
AT_ONCE, PIECE = 2**20, 2**18
"""The most bytes that are read before anything is sent, and those of each piece of what is larger."""
_RANGE = re.compile(r"bytes=([0-9]{0,19})-([0-9]{0,19})")
CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "Accept-Ranges, Content-Length, Content-Range, ETag",
}
PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD",
    "Access-Control-Allow-Headers": "Range, If-Range, If-None-Match",
    "Access-Control-Max-Age": "86400",
}


@dataclass(frozen=True)
class PublishedFile:
    """A file as it was when its release was verified; one that has changed since is not given."""

    path: Path
    line: FileLine
    changed: int

    @property
    def address(self) -> str:
        return f"/files/{self.line.sha256}/{self.path.name}"

    @property
    def media_type(self) -> str:
        return TYPES.get(self.path.suffix.removeprefix("."), "application/octet-stream")

    @property
    def as_it_was(self) -> bool:
        try:
            now = self.path.stat()
        except OSError:
            return False
        return (now.st_size, now.st_mtime_ns) == (self.line.bytes, self.changed)

    def pieces(self, start: int, count: int) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            file.seek(start)
            while count > 0 and (piece := file.read(min(PIECE, count))):
                count -= len(piece)
                yield piece


def files_of(edition: Edition) -> dict[str, PublishedFile]:
    """The files of a release by their names in its folder, its manifest among them; none where it lies in no folder."""
    release = edition.release
    if release.folder is None:
        return {}
    manifest = FileLine(bytes=len(release.manifest.to_bytes()), sha256=release.id)
    listed = {NAME: manifest, **release.manifest.files}
    return {name: PublishedFile(release.folder / name, line, release.changed[name]) for name, line in listed.items()}


class ReleaseFiles:
    """The files of all releases by where they are given."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.of: Mapping[str, dict[str, PublishedFile]] = {one.key: files_of(one) for one in catalogue.editions}
        self._at = {one.address: one for files in self.of.values() for one in files.values()}

    @property
    def route(self) -> Route:
        return Route(ADDRESS, self.reply, methods=["GET", "HEAD", "OPTIONS"], include_in_schema=False)

    def reply(self, request: Request) -> Response:
        """A file or a part of it, or that its reader holds it already."""
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=CORS | PREFLIGHT)
        found = self._at.get(f"/files/{request.path_params['digest']}/{request.path_params['name']}")
        if found is None or not found.as_it_was:
            raise HTTPException(404, "No file with this hash and name is published here; /api/v2/files lists them.")
        return _given(found, request)


def _given(file: PublishedFile, request: Request) -> Response:
    tag, size = file.line.sha256, file.line.bytes
    headers = {**CORS, "ETag": f'"{tag}"', "Cache-Control": FOREVER, "Accept-Ranges": "bytes"}
    if held_tag(request.headers.get("if-none-match", ""), tag):
        return Response(status_code=304, headers=headers)
    whole = request.headers.get("if-range", f'"{tag}"') != f'"{tag}"'
    part = None if whole else asked_part(request.headers.get("range", ""), size)
    if part is not None and not part:
        return Response(
            status_code=416, headers={**CORS, "Content-Range": f"bytes */{size}", "Cache-Control": "no-store"}
        )
    start, count = (part.start, len(part)) if part else (0, size)
    headers["Content-Length"] = str(count)
    if part:
        headers["Content-Range"] = f"bytes {start}-{start + count - 1}/{size}"
    status = 206 if part else 200
    if request.method == "HEAD":
        return Response(status_code=status, headers=headers, media_type=file.media_type)
    if count <= AT_ONCE:
        return Response(b"".join(file.pieces(start, count)), status, headers, file.media_type)
    return StreamingResponse(file.pieces(start, count), status, headers, file.media_type)


def asked_part(asked: str, size: int) -> range | None:
    """The bytes that a request asks for (RFC 9110, 14.1.2); none where there are no such, and None for all of them.

    Several parts at once, and what is written in no known way, are answered with the whole file, as may be done.

    >>> [asked_part(asked, 10) for asked in ("bytes=2-4", "bytes=7-", "bytes=-3", "bytes=5-99", "bytes=10-", "")]
    [range(2, 5), range(7, 10), range(7, 10), range(5, 10), range(0, 0), None]
    >>> [asked_part(asked, 10) for asked in ("bytes=4-2", "bytes=0-1,5-6", "bytes=-", "lines=1-2", "bytes=-0")]
    [None, None, None, None, range(0, 0)]
    """
    found = _RANGE.fullmatch(asked.strip())
    if not found or not (found[1] or found[2]):
        return None
    if not found[1]:
        last = min(int(found[2]), size)
        return range(size - last, size) if last else range(0)
    first, end = int(found[1]), int(found[2]) if found[2] else size
    if found[2] and end < first:
        return None
    return range(first, min(end + 1, size)) if first < size else range(0)

"""Published files: where each file of a release lies for good, with its size and hash."""

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from sfumato.serve.api.describe import Operation
from sfumato.serve.api.lookup import Served, parameters
from sfumato.serve.api.parameters import LANG
from sfumato.serve.api.selection import language_of
from sfumato.serve.reply import as_json, edition_of
from sfumato.serve.shapes import FileAt, FilesResponse


def files(served: Served, request: Request) -> Response:
    """The files of a release, each at an address that holds its hash and gives it whole or in parts."""
    edition = edition_of(served.catalogue, request.path_params["release"])
    language_of(parameters(request, "lang"))
    at = served.at(request)
    said = FilesResponse(
        key=edition.key,
        release=edition.release.id,
        notices=[notice.sentence for notice in edition.notices],
        files=[
            FileAt(name=name, bytes=one.line.bytes, sha256=one.line.sha256, href=f"{at}{quote(one.address)}")
            for name, one in served.files[edition.key].items()
        ],
    )
    return as_json(request, said, f"files-{edition.tag}")


OPERATIONS = (Operation("GetFiles", "/api/v2/files/{release}", files, FilesResponse, [LANG]),)

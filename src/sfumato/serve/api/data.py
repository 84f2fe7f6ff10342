"""Data: the numbers of a table, each with its errors, in any format, at once or piece by piece."""

import re
from collections.abc import Iterator
from itertools import chain

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from sfumato.query import LARGEST_PAGE
from sfumato.query.answer import Answer
from sfumato.query.downloads.formats import DEFAULT, Format, TooLargeError
from sfumato.serve.api.describe import Operation
from sfumato.serve.api.lookup import Served
from sfumato.serve.api.parameters import ASKED, DATA_CONTENT, DATA_PARAMETERS
from sfumato.serve.api.selection import from_address, from_body, read_body
from sfumato.serve.editions import Sheet
from sfumato.serve.reply import fresh, named, unchanged
from sfumato.serve.shapes import VariablesSelection

PATH = "/api/v2/tables/{table_id}/data"


def data(served: Served, request: Request) -> Response:
    """The numbers, each with its errors."""
    sheet = served.sheet(request.path_params["table_id"])
    answer, form = from_address(sheet, request.query_params.multi_items(), served.at(request))
    return given(request, sheet, answer, form)


def data_by_post(served: Served, request: Request) -> Response:
    """The numbers for a selection in the body, where it is too long for an address."""
    sheet = served.sheet(request.path_params["table_id"])
    pairs, whole = request.query_params.multi_items(), body_of(request)
    if whole.strip():
        answer, form = from_body(sheet, read_body(whole, VariablesSelection), pairs, served.at(request))
    else:
        answer, form = from_address(sheet, pairs, served.at(request))
    return given(request, sheet, answer, form)


def body_of(request: Request) -> bytes:
    """The body, which the route read before it began to work."""
    whole: bytes = request.state.body
    return whole


def given(request: Request, sheet: Sheet, answer: Answer, form: Format) -> Response:
    """The reply with an answer in a format; what is too large is refused before any work."""
    tag = named(request, sheet.edition.tag)
    try:
        form.refuse(answer.figures.size)
    except TooLargeError as error:
        raise HTTPException(403, str(error)) from None
    held = unchanged(request, tag)
    if held:
        return held
    if form.pieces is not None and answer.figures.size > LARGEST_PAGE:
        reply = _streamed(form.pieces(answer), form, tag)
    else:
        reply = fresh(form.write(answer), form.media_type, tag)
    if form is not DEFAULT:
        name = re.sub(r"[^A-Za-z0-9._~-]", "_", sheet.lasting_id)
        reply.headers["Content-Disposition"] = f'attachment; filename="{name}.{form.suffix}"'
    if request.method == "POST":
        del reply.headers["ETag"]
        reply.headers["Cache-Control"] = "no-store"
    return reply


def _streamed(pieces: Iterator[bytes], form: Format, tag: str) -> Response:
    """A reply whose pieces are made as they are sent; the first one now, so that a refusal is still a refusal."""
    first = next(pieces)
    headers = dict(fresh(b"", form.media_type, tag).headers)
    del headers["content-length"]
    return StreamingResponse(chain([first], pieces), headers=headers, media_type=form.media_type)


OPERATIONS = (
    Operation("GetTableData", PATH, data, DATA_CONTENT, DATA_PARAMETERS),
    Operation(
        "GetTableDataByPost", PATH, data_by_post, DATA_CONTENT, ASKED, body=VariablesSelection, may_be_empty=True
    ),
)

"""Within: GeoJSON that a reader has sent becomes the drawing in the address of the page, which is the page's state."""

from dataclasses import replace
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import QueryError
from sfumato.geography.reader_area import MOST_BYTES, from_geojson
from sfumato.serve.drawn import NothingMetError, apart, drawn_groups, shapes_of
from sfumato.serve.pages.form import with_groups
from sfumato.serve.pages.layout import Layout
from sfumato.serve.pages.site import HTML, Pages, sheet_of
from sfumato.serve.pages.table import refused, shown
from sfumato.serve.reply import fresh

FIELD = b"geojson="
"""How the one field of a form of plain text begins: what is in it stands as it was written."""


def without_body(pages: Pages, request: Request) -> Response:
    """The way back to the page, for who asks for the address that a form was sent to."""
    query = f"?{request.url.query}" if request.url.query else ""
    where = f"{pages.base_path}/{quote(sheet_of(pages, request).id, safe='~')}{query}#area"
    return Response(status_code=303, headers={"Location": where, "Cache-Control": "no-store"})


def within(pages: Pages, request: Request) -> Response:
    """The way to the page with the area that was sent, or the page as it was, which says why there is none."""
    sheet, brought = sheet_of(pages, request), request.state.body.removeprefix(FIELD).strip()
    try:
        layout = Layout.read(sheet, request.query_params.multi_items())
    except QueryError as error:
        return fresh(refused(pages, request, sheet, str(error)), HTML, status=400)
    try:
        address = with_area(layout, brought).address()
    except QueryError as error:
        layout = replace(layout, missed=error.outline if isinstance(error, NothingMetError) else "")
        sent, why = brought.decode(errors="replace")[:MOST_BYTES], sheet.product.says(str(error))
        page = shown(layout, pages, request, sent, why)
        return fresh(pages.page("table.html", layout.look.lang, **page), HTML, status=400)
    where = f"{pages.base_path}/{quote(sheet.id, safe='~')}?{address}#area"
    return Response(status_code=303, headers={"Location": where, "Cache-Control": "no-store"})


def with_area(layout: Layout, written: bytes) -> Layout:
    """The layout with the area of some GeoJSON drawn on its map, in place of what was drawn before."""
    if len(layout.rows) != 1:
        raise QueryError("An area is drawn on the map of one row variable; leave the second out.")
    name = layout.rows[0]
    area = from_geojson(written, shapes_of(layout.sheet, name))
    parts = drawn_groups(layout.sheet, {name: (area.outline,)}, layout.look.words.listed("drawn_parts"))[name]
    kept, _ = apart(layout.of(name))
    return with_groups(layout, name, (*kept, *parts))

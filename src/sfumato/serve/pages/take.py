"""What a reader takes along: files in every format, the call that made them, and how to cite them."""

from dataclasses import replace
from typing import Any
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import QueryError
from sfumato.query.downloads.formats import FORMATS
from sfumato.query.figures import only
from sfumato.serve.address_parameters import unknown
from sfumato.serve.pages.headline import titled
from sfumato.serve.pages.layout import PARAMETERS, Layout
from sfumato.serve.pages.picture import file_of, pictures_of
from sfumato.serve.pages.site import Pages
from sfumato.serve.question import data_path, data_query
from sfumato.serve.reply import fresh, unchanged
from sfumato.serve.snippets import citation, snippets

PICTURES = {"svg": "image/svg+xml", "png": "image/png", "json": "application/json"}


def taken(layout: Layout, origin: str, base: str) -> dict[str, Any]:
    """What goes along with a table, where the reader sees the server: files, snippets, a lasting link, the citation."""
    question, placement, presented = layout.question, layout.placement, layout.presentation
    path = data_path(layout.sheet, base, lasting=False)
    queries = {
        one.label: data_query(question, placement, one.name, layout.look.language, presented.pairs) for one in FORMATS
    }
    plain = replace(layout, look=layout.look.but(cell="", hold="")).lasting
    address = f"{base}/{quote(layout.sheet.lasting_id, safe='~')}?{plain.address()}"
    figures = presented.figures(question, placement)
    editions = [layout.sheet.timeline.edition(one) for one in figures.releases]
    cited = citation(editions, _title(layout), origin, address, figures.caveats.sentence(layout.look.language))
    files = [(label, f"{path}?{query}") for label, query in queries.items()]
    calls = snippets(question, origin, base, placement, presented)
    return {"files": files, "snippets": calls, "lasting": address, "citation": cited}


def _title(layout: Layout) -> str:
    """What a table is called where it is cited: its variables, what percentages are of, and what it is only about."""
    sheet, title = layout.sheet, titled(layout)
    share = layout.share
    said = layout.look.words
    title = said(f"title.percent_{share}", title=title) if share else title
    held = only({name: codes for name, codes in layout.within.items() if name in sheet.names}, sheet.product.attributes)
    return said("title.only", title=title, what=held) if held else title


def picture(pages: Pages, request: Request) -> Response:
    """The picture of a page as a file; it carries the release, its notices and every error with it."""
    sheet, form = pages.catalogue.tables.get(request.path_params["table_id"]), request.path_params["form"]
    if sheet is None or form not in PICTURES:
        raise HTTPException(404, "There is no such picture here; pictures end in .svg, .png or .json (Vega-Lite).")
    tag = pages.tag(request, f"{sheet.edition.tag}-{pages.catalogue.tag}")
    if strange := unknown(request.query_params, PARAMETERS):
        raise QueryError(f"A picture has no parameters {', '.join(strange)}; take its address from its page.")
    layout = Layout.read(sheet, request.query_params.multi_items())
    if layout.look.view == "table":
        raise QueryError("A table is not a picture; ask for view=chart or view=map.")
    held = unchanged(request, tag)
    if held:
        return held
    reply = fresh(file_of(pictures_of(layout), form), PICTURES[form], tag)
    reply.headers["Content-Disposition"] = f'attachment; filename="{sheet.lasting_id}.{form}"'
    return reply

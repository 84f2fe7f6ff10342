"""Embeds: one table or picture for pages elsewhere, which may frame this address and no other, and oEmbed.

There is no form, no script and nothing that acts in it; what is embedded says its errors, its grades and its release,
and turns red once that release is withdrawn.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import QueryError
from sfumato.foreign_text import joined
from sfumato.pictures import Picture
from sfumato.query.wording import grade_words, languages
from sfumato.schema.languages import OWN
from sfumato.serve.address import origin
from sfumato.serve.address_parameters import Pairs, unknown
from sfumato.serve.editions import Edition, Sheet
from sfumato.serve.pages.headline import found_in, headline, named_apart, titled, universe_named
from sfumato.serve.pages.layout import PARAMETERS, Layout
from sfumato.serve.pages.picture import PictureSize, pictures_by_width
from sfumato.serve.pages.site import HTML, Pages, language, sheet_of
from sfumato.serve.pages.view import Head, Row, TableView, questions_of, table_view
from sfumato.serve.reply import fresh, problem, unchanged

WIDE, NARROW = PictureSize(760, headed=True, linked=False), PictureSize(350, headed=True, linked=False)
ENOUGH = 640
"""From this width on the wide picture is shown."""
MOST_CELLS = 600
_ROUND, _ROW, _FOOT, _TITLE = 24, 34, 130, 60
"""In pixels: what surrounds a picture, a row of a table, what stands below, and a title that is not drawn."""


@dataclass(frozen=True)
class Embedded:
    """What is embedded: its layout, its table or its pictures in both widths, and the releases that it is from."""

    layout: Layout
    view: TableView
    pictures: Sequence[tuple[Head | None, tuple[Picture, Picture]]]

    @classmethod
    def of(cls, sheet: Sheet, pairs: Pairs) -> "Embedded":
        layout = Layout.read(sheet, pairs)
        layout = replace(layout, look=layout.look.but(cell="", hold="", own=""))
        # Before any number is computed: a table knows how large it will be.
        size = sum(question.table(layout.rows, layout.column).size for question, _ in questions_of(layout))
        if size > MOST_CELLS:
            raise QueryError(f"The table has {size:,} cells, and {MOST_CELLS} are embedded; choose fewer rows.")
        view = _unpressed(table_view(layout))
        if layout.look.view != "table":
            drawn = pictures_by_width(layout, [WIDE, NARROW])
            return cls(layout, view, [(head, (wide, narrow)) for head, (wide, narrow) in drawn])
        return cls(layout, view, [])

    @property
    def editions(self) -> tuple[Edition, ...]:
        """The releases that the numbers are from, as they are served."""
        line = self.layout.sheet.timeline
        found = [line.edition(release) for table in self.view.tables for release in table.releases]
        return tuple(dict.fromkeys([self.layout.sheet.edition, *found]))

    @property
    def title(self) -> str:
        """What is embedded in one line."""
        periods = {release.manifest.period for table in self.view.tables for release in table.releases} - {""}
        when = [*periods] if len(periods) == 1 and not self.layout.look.change else []
        return joined(" · ", [titled(self.layout), *named_apart(self.layout), *universe_named(self.layout), *when])

    @property
    def told(self) -> str:
        """What oEmbed calls it: what is to be said of its releases and numbers, the title, and what the numbers say."""
        warned = (one for edition in self.editions for one in edition.sentences)
        said = joined(" · ", filter(None, [self.title, headline(self.layout)]))
        caveat = filter(None, [self.view.caveat(self.layout.look.language)])
        return joined(" ", [*dict.fromkeys(warned), *caveat, said])

    def height(self, width: int) -> int:
        """How high a frame of this width is to be, so that nothing in it has to be scrolled, about."""
        if not self.pictures:
            rows = sum(len(block.all_rows) + 2 for block in self.view.blocks)
            return _FOOT + 90 + _ROW * rows
        drawn = [both[0 if width >= ENOUGH else 1] for _, both in self.pictures]
        heads = 40 * sum(head is not None for head, _ in self.pictures)
        wide = min(width, 512) if width < ENOUGH else width
        titles = sum(one.width > WIDE.width for one in drawn) * _TITLE
        return round(_FOOT + heads + titles + sum(_ROUND + one.height * (wide - _ROUND) / one.width for one in drawn))


def _unpressed(view: TableView) -> TableView:
    """The same tables, of which no cell opens."""
    return replace(
        view,
        blocks=tuple(
            replace(
                block,
                rows=tuple(_still(row) for row in block.rows),
                totals=_still(block.totals) if block.totals else None,
            )
            for block in view.blocks
        ),
    )


def _still(row: Row) -> Row:
    return replace(row, cells=tuple(replace(one, code="") for one in row.cells))


def embed(pages: Pages, request: Request) -> Response:
    """What stands in a frame of a page elsewhere."""
    sheet = sheet_of(pages, request)
    tag = pages.tag(request, f"{sheet.edition.tag}-{pages.catalogue.tag}")
    if strange := unknown(request.query_params, PARAMETERS):
        raise QueryError(f"An embed has no parameters {', '.join(strange)}; take its address from its page.")
    if held := unchanged(request, tag):
        return held
    shown = Embedded.of(sheet, request.query_params.multi_items())
    layout = shown.layout
    page = f"{origin(request)}{pages.base_path}/{quote(sheet.lasting_id, safe='~')}?{layout.address()}"
    graded = grade_words(sheet.edition.release.manifest.grades, layout.look.language)
    parts: dict[str, Any] = {
        "shown": shown,
        "layout": layout,
        "look": layout.look,
        "page": page,
        "headline": found_in(layout),
    }
    return fresh(pages.page("embed.html", layout.look.lang, **parts, grades=graded), HTML, tag)


def embed_address(layout: Layout, base: str) -> str:
    """Where a layout is embedded from: the very releases that its numbers are from, so that a withdrawal shows."""
    plain = replace(layout, look=layout.look.but(cell="", hold="", own="")).lasting
    return f"{base}/{quote(layout.sheet.lasting_id, safe='~')}/embed?{plain.address()}"


def snippet(shown: Embedded, address: str, width: int, height: int) -> str:
    """The frame to paste into a page."""
    size = f'width="{width}" height="{height}" loading="lazy" style="border:0;max-width:100%"'
    return f'<iframe src="{escape(address)}" title="{escape(shown.title)}" {size}></iframe>'


def offered(pages: Pages, shown: Embedded, here: str) -> dict[str, str] | None:
    """What the page of a table offers: the frame, and where oEmbed asks; nothing of what only this machine may see."""
    if pages.catalogue.private or shown.view.size > MOST_CELLS:
        return None
    address = f"{here}{embed_address(shown.layout, pages.base_path)}"
    asked = f"{pages.base_path}/oembed?url={quote(address, safe='')}"
    return {"frame": snippet(shown, address, round(WIDE.width), shown.height(round(WIDE.width))), "oembed": asked}


def oembed(pages: Pages, request: Request) -> Response:
    """The frame of oEmbed 1.0: from the address of a table, or of its embed, to the frame to paste (https://oembed.com)."""
    asked = request.query_params
    if strange := unknown(asked, ("url", "format", "maxwidth", "maxheight", "lang")):
        return problem(400, f"oEmbed has no parameters {', '.join(strange)}; it has url, format, maxwidth, maxheight.")
    if asked.get("format", "json") != "json":
        return problem(501, "oEmbed is given as JSON; ask for format=json.")
    found = _found(pages, asked.get("url", ""), origin(request), language(request))
    if found is None or pages.catalogue.private:
        return problem(404, "There is no table to embed at this url; give the address of a page of a table here.")
    sheet, pairs = found
    tag = pages.tag(request, f"{sheet.edition.tag}-{pages.catalogue.tag}")
    if held := unchanged(request, tag):
        return held
    shown = Embedded.of(sheet, pairs)
    width = min(_bound(asked.get("maxwidth"), "maxwidth") or round(WIDE.width), round(WIDE.width))
    height = shown.height(width)
    height = min(_bound(asked.get("maxheight"), "maxheight") or height, height)
    address = f"{origin(request)}{embed_address(shown.layout, pages.base_path)}"
    said = {"version": "1.0", "type": "rich", "title": shown.told}
    said |= {"provider_name": "Sfumato", "provider_url": f"{origin(request)}{pages.base_path}/"}
    frame = snippet(shown, address, width, height)
    content = {**said, "cache_age": 60, "html": frame, "width": width, "height": height}
    return fresh(json.dumps(content, ensure_ascii=False).encode(), "application/json", tag)


def _found(pages: Pages, url: str, here: str, lang: str) -> tuple[Sheet, Pairs] | None:
    """The table that an address of this site names, and what it asks of it; in `lang`, unless it says a language."""
    try:
        place = urlsplit(url)
    except ValueError:  # as of http://[, which is no address
        return None
    start = f"{pages.base_path}/"
    if f"{place.scheme}://{place.netloc}" != here or not place.path.startswith(start):
        return None
    pairs = parse_qsl(place.query, keep_blank_values=True)
    said = dict(pairs).get("lang", lang)
    pairs += [("lang", lang)] if lang and "lang" not in dict(pairs) else []
    tables = pages.in_language(said if said in languages() else OWN).catalogue.tables
    sheet = tables.get(unquote(place.path).removeprefix(start).removesuffix("/embed"))
    return None if sheet is None else (sheet, pairs)


def _bound(written: str | None, name: str) -> int | None:
    """A bound on the size of a frame, in pixels."""
    if written is None:
        return None
    if not (written.isascii() and written.isdigit() and int(written[:9]) > 0 and len(written) < 6):
        raise QueryError(f"{name} is '{written[:40]}'; give a number of pixels, such as 600.")
    return int(written)

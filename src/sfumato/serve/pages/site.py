"""The pages: the list of releases and the table builder, whose address is its state."""

import hashlib
import math
from importlib.resources import files
from typing import Any

from fastapi import APIRouter
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sfumato import __version__
from sfumato.errors import QueryError
from sfumato.query import LARGEST_PAGE
from sfumato.serve.catalogue import Catalogue, Edition, Sheet
from sfumato.serve.form import form
from sfumato.serve.jsonstat import grade_words, reasons
from sfumato.serve.layout import ERRORS, Layout
from sfumato.serve.reply import fresh, unchanged
from sfumato.serve.view import table_view, total_view

HTML = "text/html; charset=utf-8"
_TYPES = {"css": "text/css; charset=utf-8", "svg": "image/svg+xml"}


class Pages:
    """The pages over one catalogue; templates and static files are read once, before the first request."""

    def __init__(self, catalogue: Catalogue, base_path: str) -> None:
        self.catalogue, self.base_path = catalogue, base_path
        self.static = {name: content for name, content in _read("static").items() if name.rpartition(".")[2] in _TYPES}
        seen = b"".join(content for _, content in sorted({**_read("templates"), **self.static}.items()))
        self.look = hashlib.sha256(seen).hexdigest()[:12]
        loader = PackageLoader("sfumato.serve", "templates")
        self.templates = Environment(
            loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        self.templates.globals |= {"base": base_path, "look": self.look, "version": __version__}

    def routes(self) -> APIRouter:
        routes = APIRouter(include_in_schema=False)
        routes.add_route("/", self.home, methods=["GET"])
        routes.add_route("/static/{name}", self.asset, methods=["GET"])
        routes.add_route("/{table_id}", self.table, methods=["GET"])
        return routes

    def page(self, template: str, **shown: Any) -> str:
        return self.templates.get_template(template).render(**shown)

    def home(self, request: Request) -> Response:
        """The releases and their tables."""
        tag = f"{self.catalogue.tag}-{self.look}"
        held = unchanged(request, tag)
        if held:
            return held
        sheets = [sheet for edition in self.catalogue.editions for sheet in edition.sheets]
        totals = {sheet.id: total_view(sheet) for sheet in sheets}
        return fresh(self.page("home.html", editions=self.catalogue.editions, totals=totals), HTML, tag)

    def asset(self, request: Request) -> Response:
        """A file of the look, by a name from the list made at the start."""
        name = request.path_params["name"]
        if name not in self.static:
            raise HTTPException(404, "There is no such file here.")
        return unchanged(request, self.look) or fresh(self.static[name], _TYPES[name.rpartition(".")[2]], self.look)

    def table(self, request: Request) -> Response:
        """The table builder: a form, the table it asked for, and how the table was protected."""
        sheet = self.catalogue.tables.get(request.path_params["table_id"])
        if sheet is None:
            raise HTTPException(404, "There is no such page here; the first page lists all tables.")
        tag = f"{sheet.edition.tag}-{self.look}"
        try:
            layout = Layout.read(sheet, request.query_params.multi_items())
            held = unchanged(request, tag)
            return held or fresh(self.page("table.html", **_shown(sheet, layout)), HTML, tag)
        except QueryError as error:
            asked = Layout.first(sheet)
            shown = _frame(sheet, asked) | {"problem": str(error), "view": None}
            return fresh(self.page("table.html", **shown), HTML, tag, 400)

    def problem(self, status: int, detail: str) -> Response:
        """A page that says why not."""
        return fresh(self.page("problem.html", status=status, detail=detail), HTML, "", status)


def _read(folder: str) -> dict[str, bytes]:
    """The files of one folder of the package."""
    return {one.name: one.read_bytes() for one in (files("sfumato.serve") / folder).iterdir() if one.is_file()}


def _shown(sheet: Sheet, layout: Layout) -> dict[str, Any]:
    view = table_view(layout)
    return _frame(sheet, layout) | {
        "problem": None,
        "view": view,
        "title": sheet.titled(layout.names),
        "within": _within(layout),
        "error_words": ERRORS[layout.error],
        "grades": {
            name: words
            for name, words in grade_words(sheet.edition.release.manifest.grades).items()
            if name != "-" or "-" in view.grades
        },
        "withheld": reasons(list(view.estimates)),
        "limit": LARGEST_PAGE,
    }


def _frame(sheet: Sheet, layout: Layout) -> dict[str, Any]:
    """What the page shows whether or not there is a table on it."""
    return {
        "sheet": sheet,
        "edition": sheet.edition,
        "layout": layout,
        "form": form(layout),
        "privacy": _privacy(sheet.edition),
    }


def _within(layout: Layout) -> list[tuple[str, str]]:
    """The universe in words, the table's own first."""
    said = [(name, ", ".join(codes)) for name, codes in layout.sheet.product.subject.universe.items()]
    for name, codes in layout.within.items():
        if name in layout.sheet.names:
            levels = layout.sheet.attribute(name).levels
            said.append((layout.sheet.attribute(name).label, ", ".join(levels.label(code) for code in codes)))
    return said


def _privacy(edition: Edition) -> dict[str, Any]:
    """The promise in plain words; chances are rounded up, as a promise must not sound better than it is."""
    manifest = edition.release.manifest
    promise = manifest.promise
    return {
        "manifest": manifest,
        "unit": promise.hidden.get("unit", "unit"),
        "told": min(100, math.ceil(100 * promise.power_at_5_percent - 1e-9)),
        "even": min(100, math.ceil(100 * promise.posterior_from_even_odds - 1e-9)),
        "formal": "unbounded" not in promise.loss,
    }

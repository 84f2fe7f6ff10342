"""Site: the templates and files of the pages, read once, and what is on every page."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sfumato import __version__
from sfumato.foreign_text import capitalized, joined, language_of, marked
from sfumato.query import number
from sfumato.query.value_notes import noted
from sfumato.query.wording import languages
from sfumato.release.translator import sentence_in
from sfumato.schema.languages import OWN
from sfumato.serve.address_parameters import unknown
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.editions import Edition, Sheet
from sfumato.serve.pages.cell import SEEN, cells, figured
from sfumato.serve.pages.look import ERRORS, SHARES, Look
from sfumato.serve.pages.slimmed import slimmed
from sfumato.serve.reply import fresh, named, unchanged

Show = Callable[[Look], Mapping[str, Any]]
"""From a look to what a template is filled with."""
HTML = "text/html; charset=utf-8"
NO_PAGE = "There is no such page here; the first page lists all tables."
TYPES = {
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "js": "text/javascript; charset=utf-8",
    "woff2": "font/woff2",
    "txt": "text/plain; charset=utf-8",
}


class Pages:
    """The pages over one catalogue; templates and static files are read once, before the first request.

    Those that become files say nothing of what only a server does.
    """

    def __init__(self, catalogue: Catalogue, base_path: str, *, still: bool = False) -> None:
        self.catalogue, self.base_path = catalogue, base_path
        self._in_language = dict[str, Pages]()
        static = {name: content for name, content in _read("static").items() if name.rpartition(".")[2] in TYPES}
        self.static = {name: slimmed(name, content) for name, content in static.items()}
        seen = {**_read("templates"), **_read("words"), **self.static}
        self.look = hashlib.sha256(b"".join(content for _, content in sorted(seen.items()))).hexdigest()[:12]
        loader = PackageLoader("sfumato.serve", "templates")
        self.templates = Environment(
            loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        self.templates.globals |= {"base": base_path, "stamp": self.look, "version": __version__, "still": still}
        self.templates.globals |= {"languages": languages(), "figured": figured, "cells": cells, "number": number}
        self.templates.globals |= {"errors": ERRORS, "shares": SHARES, "noted": noted, "seen": SEEN}
        self.templates.globals |= {"joined": joined, "capitalized": capitalized}
        self.templates.filters |= {"lang": in_its_language, "lang_attribute": lang_attribute}

    def in_language(self, language: str) -> "Pages":
        """The same pages over the releases as readers of a language see them."""
        if language not in self._in_language:
            found = copy(self)
            found.catalogue = self.catalogue.in_language(language)
            self._in_language[language] = found
        return self._in_language[language]

    def page(self, template: str, lang: str = "", strange: Sequence[str] = (), **shown: Any) -> str:
        """A page in one language; `w` gives its texts, `strange` are the parts of its address that it does not know.

        `tongue` is the language as links say it, which is not said where an address without it means the same.
        """
        look = Look(lang=lang)
        said = {"w": look.words, "lang": look.language, "tongue": f"?lang={lang}" if lang else ""}
        said["also"] = said["tongue"].replace("?", "&")  # type: ignore[attr-defined]
        said["made_up"] = self.in_language(look.language).catalogue.made_up
        return self.templates.get_template(template).render(said, strange=strange, **shown)

    def reply(self, request: Request, template: str, content: str, show: Show, known: Sequence[str] = ()) -> Response:
        """The page in the language that its address asks for, made unless the reader holds it already."""
        look, tag = Look(lang=language(request)), self.tag(request, content)
        held = unchanged(request, tag)
        if held:
            return held
        strange = unknown(request.query_params, ("lang", *known))
        strange += ("lang",) if request.query_params.get("lang", look.lang) != look.lang else ()
        return fresh(self.page(template, look.lang, strange, **show(look)), HTML, tag)

    def tag(self, request: Request, content: str) -> str:
        """The name of a page: what it is made of, how it looks, and what its address asks where."""
        return named(request, f"{content}-{self.look}")

    def problem(self, status: int, detail: str, path: str = "", lang: str = "") -> Response:
        """A page that says why not, and what is to be said of the release that was asked for."""
        pages = self.in_language(lang or OWN)
        edition = _concerned(pages.catalogue, path)
        said = sentence_in(lang or OWN, detail)
        written = pages.page("problem.html", lang, status=status, detail=said, edition=edition)
        return fresh(written, HTML, status=status)


def in_its_language(text: str) -> Markup:
    """A text on a page: what is in another language than the page is marked as such, and ± stays with its number."""
    return Markup(marked(text, escaped=_unbroken))  # noqa: S704 - every part is escaped


def _unbroken(words: str) -> str:
    """Escaped words in which no line ends between a sign and the number that follows it."""
    return str(escape(words.replace("± ", "±\u00a0")))


def lang_attribute(text: str) -> Markup:
    """The same of an element that holds text alone, as one to choose."""
    language = language_of(text)
    return Markup(' lang="{}"').format(language) if language else Markup()


def _concerned(catalogue: Catalogue, path: str) -> Edition | None:
    """The release that an address below the base names, if it names one."""
    first, *rest = path.strip("/").split("/")
    key = rest[0] if first == "privacy" and rest else first.partition("~")[0]
    return catalogue.releases.get(key)


def language(request: Request) -> str:
    """The language that an address asks for, if there is a file for it; '' where it asks for none."""
    asked = request.query_params.get("lang", "")
    return asked if asked in languages() else ""


def sheet_of(pages: Pages, request: Request) -> Sheet:
    """The table that an address names."""
    sheet = pages.catalogue.tables.get(request.path_params["table_id"])
    if sheet is None:
        raise HTTPException(404, NO_PAGE)
    return sheet


def _read(folder: str) -> dict[str, bytes]:
    """The files of one folder of the package."""
    return {path.name: path.read_bytes() for path in (files("sfumato.serve") / folder).iterdir() if path.is_file()}

"""Places: which addresses of the application become files of a site, and which files."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import PurePosixPath
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from sfumato.query.downloads.formats import FORMATS
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.code_list import code_list
from sfumato.serve.editions import Sheet
from sfumato.serve.pages.layout import Layout
from sfumato.serve.pages.look import Look
from sfumato.serve.pages.picture import views_of
from sfumato.serve.pages.take import taken

TAKEN = ("csv", "xlsx", "parquet")
"""The formats that every table is written in beside its page."""
Key = tuple[str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True)
class Place:
    """An address that is asked for, with its query, and the file that the reply becomes."""

    address: str
    file: str
    sheet: Sheet | None = None
    title: str = ""

    @property
    def is_page(self) -> bool:
        return self.file.endswith(".html")


def key_of(address: str) -> Key:
    """What two addresses of one page share: its path, and what it asks in whatever order and language."""
    parts = urlsplit(address)
    return unquote(parts.path), tuple(sorted(pair for pair in parse_qsl(parts.query) if pair[0] != "lang"))


def places_of(catalogue: Catalogue, base: str, lang: str) -> Iterator[Place]:
    """Every page of the site, and the files that go along with its tables."""
    tongue = f"?lang={lang}" if lang else ""
    for address, file in {"/": "index.html", "/help": "help.html", "/budget": "budget.html"}.items():
        yield Place(f"{base}{address}{tongue}", file)
    for series in catalogue.all_series:
        yield Place(f"{base}/series/{quote(series.name)}{tongue}", f"series/{series.name}.html")
    for edition in catalogue.editions:
        yield Place(f"{base}/privacy/{quote(edition.key)}{tongue}", f"privacy/{edition.key}.html")
        for sheet in edition.sheets:
            yield from _of_sheet(sheet, base, lang)


def _of_sheet(sheet: Sheet, base: str, lang: str) -> Iterator[Place]:
    """The tables by one and by two variables of one statistic, each with its pictures and files."""
    folder, path = PurePosixPath(sheet.edition.key) / sheet.product.subject.name, f"{base}/{quote(sheet.id, safe='~')}"
    for layout in _layouts(sheet, Look(lang=lang)):
        stem, title = folder / ("-by-".join(layout.names) or "total"), sheet.titled(layout.names)
        for view in views_of(layout):
            file = f"{stem}{'' if view == 'table' else f'-{view}'}.html"
            yield Place(f"{path}?{layout.address(layout.look.but(view=view))}", file, sheet, title)
        files = dict(taken(layout, "", base)["files"])
        for one in FORMATS:
            if one.name in TAKEN:
                yield Place(files[one.label], f"{stem}.{one.suffix}", sheet)


def _layouts(sheet: Sheet, look: Look) -> Iterator[Layout]:
    """The first table that a reader sees, then by each variable and by each two that may stand together."""
    seen = set()
    first = Layout.first(sheet, look)
    alone = [(name,) for name in sheet.names]
    pairs = [_ordered(sheet, pair) for pair in combinations(sheet.names, 2) if not sheet.source.refusal(set(pair))]
    for names in (first.names, *alone, *pairs):
        if frozenset(names) not in seen:
            seen.add(frozenset(names))
            placed = zip(("rows", "cols"), names, strict=False)
            yield Layout.read(sheet, [*placed, *look.pairs()])


def _ordered(sheet: Sheet, pair: tuple[str, str]) -> tuple[str, ...]:
    """Two variables, the one with more levels down the page."""
    shown = {name: len(code_list(sheet.attribute(name).levels, Layout.first(sheet).list_of(name))) for name in pair}
    return tuple(sorted(pair, key=lambda name: -shown[name]))

"""Found: what a search means on pages: for each find its label, its number, and the table that has it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from sfumato.errors import QueryError
from sfumato.foreign_text import joined
from sfumato.query import Estimate
from sfumato.query.finder import OTHERS, Find
from sfumato.query.search_topics import SearchedTable
from sfumato.query.wording import grade_bounds
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.code_pairs import code_pairs
from sfumato.serve.editions import Sheet
from sfumato.serve.pages.cell import Cell, address, cell
from sfumato.serve.pages.headline import headline
from sfumato.serve.pages.layout import Layout, Pair
from sfumato.serve.pages.look import Look

MOST_ROWS = 40
"""The longest list that a level is shown among; of a longer one it is shown with what stands below the same level."""
MOST_SCANNED = 5_000
"""The longest list that is looked through for the neighbours of a level; in a longer one it stands alone."""
MOST_HEADLINES = 3
"""The most tables whose headline is worked out for one page."""


@dataclass(frozen=True)
class FoundNumber:
    """One number of a find: of which statistic it is, and the page where it stands."""

    sheet: Sheet
    title: str
    unit: str
    href: str
    estimate: Estimate | None = None
    cell: Cell | None = None

    @property
    def text(self) -> str:
        """The number with its error and its unit, in one line; '' where there is none."""
        if self.cell is None:
            return ""
        grade = f" {self.cell.grade}" if self.cell.grade in {"B", "C"} else ""
        said = f" ({self.cell.caveat})" if self.cell.caveat else ""
        return f"{self.cell.number} {self.cell.error}".strip() + f"{grade} {self.unit}{said}"


@dataclass(frozen=True)
class FoundLine:
    """One find as a page lists it."""

    find: Find
    label: str
    about: str
    """Which variable and code it is."""
    release: str
    numbers: tuple[FoundNumber, ...]
    """The number in each statistic that has it; the first is the one that was found."""
    said: str = ""
    """The headline of the table, where rows were found."""
    grades: str = ""
    """What its grades are, where releases with others are served beside it."""

    @property
    def first(self) -> FoundNumber:
        return self.numbers[0]


def found_lines(
    catalogue: Catalogue, base: str, finds: Sequence[Find], look: Look, others: int = OTHERS
) -> list[FoundLine]:
    """Finds as pages list them, each with at most so many other statistics; headlines of the first tables alone."""
    lines, asked = [], 0
    for one in finds:
        asked += bool(one.variable)
        lines.append(_line(catalogue, base, one, look, others, headlined=asked <= MOST_HEADLINES))
    return lines


def in_one(lines: Sequence[FoundLine]) -> list[FoundLine]:
    """The same with what was found in several statistics of one release listed once, with the number of each."""
    kept: dict[tuple[object, ...], FoundLine] = {}
    for place, one in enumerate(lines):
        key = (one.label, one.about, one.release) if not one.find.variable else (place,)
        known = kept.get(key, one)
        more = [number for number in one.numbers if number.href not in {held.href for held in known.numbers}]
        kept[key] = replace(known, numbers=(*known.numbers, *more))
    return [*kept.values()]


def _line(catalogue: Catalogue, base: str, one: Find, look: Look, others: int, *, headlined: bool) -> FoundLine:
    numbers = tuple(_number(catalogue, base, find, look) for find in one.with_others(others))
    sheet = catalogue.tables[one.table.id]
    manifest = sheet.edition.release.manifest
    said = headline(layout) if headlined and one.variable and (layout := layout_of(sheet, one, look)) else ""
    label = look.words("find.by", what=one.label, title=numbers[0].title) if one.variable else one.label
    if one.share:
        label = look.words("find.share", what=_levels(one), variable=one.table.attribute(one.variable).label)
    elif one.variable and one.codes:
        label = look.words("find.by", what=one.table.attribute(one.variable).label, title=_levels(one))
    named = joined(" ", filter(None, [manifest.title, manifest.period]))
    return FoundLine(one, label, _about(one), named, numbers, said, _grades(catalogue, manifest.grades, look))


def _grades(catalogue: Catalogue, grades: Mapping[str, float], look: Look) -> str:
    """What a release calls A and B, where another that is served calls other numbers so; else ''."""
    every = {tuple(sorted(edition.release.manifest.grades.items())) for edition in catalogue.editions}
    return look.words("find.grades", **grade_bounds(grades, look.words)) if len(every) > 1 else ""


def _levels(one: Find) -> str:
    return joined(", ", (one.table.attribute(name).levels.label(code) for name, code in one.codes))


def _about(one: Find) -> str:
    """The variables and codes of a find, each code once that is not its own label."""
    parts = []
    for name, code in one.codes:
        attribute = one.table.attribute(name)
        other = "" if attribute.levels.is_named_by_its_code(code) else f" {code}"
        parts.append(attribute.label + other)
    return joined(", ", [*parts, *([one.table.product.subject.title] if one.variable else [])])


def _number(catalogue: Catalogue, base: str, one: Find, look: Look) -> FoundNumber:
    sheet = catalogue.tables[one.table.id]
    layout, subject = layout_of(sheet, one, look), sheet.product.subject
    tongue = f"?lang={look.lang}" if look.lang else ""
    query = f"?{layout.address()}" if layout is not None and (one.codes or one.variable) else tongue
    href, figure = f"{base}/{quote(sheet.id, safe='~')}{query}", one.figure
    shown = cell(figure, look, scaled=False) if figure is not None else None
    title, unit = (layout.subject, layout.unit) if one.per and layout else (sheet.called, subject.unit)
    return FoundNumber(sheet, title, unit, href, figure, shown)


def layout_of(sheet: Sheet, one: Find, look: Look) -> Layout | None:
    """The table in which a find is a cell, or along whose rows it goes; none where there is no such table."""
    try:
        layout = Layout.read(sheet, [*_placed(one), *([("lang", look.lang)] if look.lang else [])])
        layout.sheet.source.refuse({*layout.names, *layout.within})
        answers = bool(layout.question)
    except QueryError:
        return None
    return layout if answers else None


def _placed(one: Find) -> list[Pair]:
    """A find as parameters: its first level among its neighbours and opened, the universe held to the others."""
    held = [(f"sum[{name}]", code) for name, code in one.codes]
    if one.share:
        name, code = one.codes[0]
        shown = _around(one.table, name, code)
        return [("rows", one.variable), ("cols", name), *shown, ("share", "row"), ("sort", code)]
    if one.variable or not one.codes:
        rows = [("rows", one.variable), *_finest(one)] if one.variable else []
        return [*rows, *held, *_per(one)]
    name, code = one.codes[0]
    return [("rows", name), *_around(one.table, name, code), *held[1:], *_per(one), ("cell", address([code]))]


def _per(one: Find) -> list[Pair]:
    return [("per", one.per)] if one.per else []


def _finest(one: Find) -> list[Pair]:
    """The finest list of a variable that is not too long: who asks for states means these, and not regions."""
    levels = one.table.attribute(one.variable).levels
    if not levels.depth or len(levels.codes) > MOST_SCANNED or not one.table.product.subject.additive:
        return []
    if len(levels.leaves) <= MOST_ROWS:
        return [(f"codelist[{one.variable}]", "leaves")]
    short = [depth for depth in range(1, levels.depth) if len(levels.at(depth)) <= MOST_ROWS]
    return [(f"codelist[{one.variable}]", f"level{short[-1]}")] if short else []


def _around(table: SearchedTable, name: str, code: str) -> list[Pair]:
    """The levels that one is shown among: all that stand below the same level, if they are few.

    None are named where these are what a table shows anyway.
    """
    levels, key = table.attribute(name).levels, f"valueCodes[{name}]"
    if len(levels.codes) > MOST_SCANNED:
        return [(key, code)]
    parent, pairs = levels.parent(code), zip(levels.codes, levels.parents, strict=True)
    beside = tuple(other for other, above in pairs if above == parent)
    if len(beside) > MOST_ROWS:
        return [(key, code)]
    first = levels.at(0) if table.product.subject.additive else levels.leaves
    return [] if beside == first else code_pairs(key, beside, levels)

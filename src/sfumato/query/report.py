"""Report: one self-contained page about one level of a variable, with tables, means, pictures and what is promised."""

from collections.abc import Iterator
from functools import partial
from html import escape

from sfumato.errors import QueryError
from sfumato.pictures import Picture
from sfumato.query.engine import QueryEngine, divisors
from sfumato.query.figures import per_one
from sfumato.query.notices import cited, notices_of
from sfumato.query.report_map import level_map
from sfumato.query.report_tables import MOST_SERIES, picture_of_cells, table_and_picture
from sfumato.query.value_notes import noted
from sfumato.release import Product
from sfumato.schema import Attribute, Box, Grid, LeafGroups

MOST_COLUMNS = 12
"""The most levels of a variable above a table."""
MOST_ON_PAPER = 40
"""The most areas of a map whose numbers are printed below it."""
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #221f1a; background: #fffefa; max-width: 72rem; margin: 2rem auto;
  padding: 0 1rem; }
table { display: block; overflow-x: auto; border-collapse: collapse; margin: 1rem 0 2rem; }
caption { text-align: left; font-weight: 600; padding: .5rem 0; }
th, td { padding: .2rem .5rem; text-align: right; border-bottom: 1px solid #e8e4d8; white-space: nowrap; }
td { font-size: .93em; }
td .n { display: block; }
td .moe, td .grade { font-size: .85em; }
th[scope=row] { text-align: left; }
.moe { color: #7a7466; }
.notice { border-left: 4px solid #a8323e; padding: .3rem 1rem; }
figure { margin: 0; }
svg { max-width: 100%; height: auto; }
.paper { display: none; }
@page { size: landscape; margin: 10mm; }
@media print {
  body { margin: 0; padding: 0; max-width: none; font-size: 12px; background: none; }
  h1, h2, h3, p { margin: .3rem 0; }
  table { display: table; overflow: visible; margin: .2rem 0; min-width: 32rem; }
  th, td { padding: .1rem .3rem; white-space: normal; overflow-wrap: anywhere; }
  section, table, figure { break-inside: avoid; }
  h2, h3, h2 + p { break-after: avoid; }
  section:first-of-type { break-inside: auto; }
  svg { max-width: 13cm; max-height: 17cm; }
  details { display: none; }
  .paper { display: block; }
}
"""


def report(engine: QueryEngine, by: str, code: str) -> str:
    """The page about one level: of every statistic a table and a picture, and means where both parts are there."""
    manifest = engine.release.manifest
    products = [engine.product(name) for name in engine.statistics]
    attribute = next((one for one in engine.release.attributes if one.name == by), None)
    if attribute is None:
        raise QueryError(f"'{by}' is no variable of this release, so that there is no report by it.")
    label = attribute.levels.label(code)
    about = ", ".join(filter(None, (manifest.title, manifest.period)))
    parts = [f"<h1>{escape(label)}</h1><p>{escape(about)}</p>"]
    parts += [f'<p class="notice">{escape(one.sentence)}</p>' for one in notices_of(engine.release)]
    for product in products:
        parts += _statistic(engine, product, attribute, code)
    parts += _means(engine, products, by, code)
    promised = f"{manifest.promise.words} The loss is {manifest.promise.loss_words}."
    parts.append(
        f"<h2>What is promised</h2><p>{escape(promised)} "
        "± is the 90% margin of error; noise was drawn once, and this page shows what the release holds.</p>"
    )
    parts += [f"<p>Outside the guarantee: {escape(one.sentences)}</p>" for one in manifest.exposures]
    parts.append(f"<p>{escape(cited(engine.release))}</p>")
    title = escape(f"{label}: {manifest.title}")
    fits = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    head = f'<meta charset="utf-8">{fits}<title>{title}</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'


def _axes(product: Product, by: str, code: str) -> tuple[Attribute, Attribute | None]:
    """The variable of the rows and, if it has few levels, the one above: the first and the last beside the report's.

    Nothing is above of which the report's level can have one level alone: who does not work has no distance to it.
    """
    first, *others = [one for one in product.attributes if one.name != by] or list(product.attributes)
    above = next((one for one in reversed(others) if _told(product, one, by, code)), None)
    return first, above if above and len(above.levels.leaves) <= MOST_COLUMNS else None


def _told(product: Product, attribute: Attribute, by: str, code: str) -> bool:
    """Whether two levels of a variable or more can be with a level of the report's."""
    within = {one.name: one.levels.mask(code) for one in product.attributes if one.name == by}
    grid = Grid(((attribute.name, LeafGroups.each(len(attribute.levels.leaves))),), Box(within))
    return bool((product.cell_counts(grid) > 0).sum() > 1)


def _statistic(engine: QueryEngine, product: Product, by: Attribute, code: str) -> Iterator[str]:
    """The tables of a statistic and its pictures, and what is to be known of its numbers; or why there are none."""
    title = f"<h2>{escape(product.subject.title)}</h2>"
    if by.name not in {one.name for one in product.attributes}:
        yield f"{title}<p>It is not by {escape(by.label)}, so that there is nothing of it on this page.</p>"
        return
    shown = _summed if product.subject.additive else _unsummed
    try:
        parts = "".join(shown(engine, product, by.name, code))
    except QueryError as why:
        parts = f"<p>It is not on this page: {escape(str(why))}</p>"
    yield f"<section>{title}{_notes(product)}{parts}</section>"


def _notes(product: Product) -> str:
    """What is to be said of how values were counted."""
    said = noted(product.subject)
    return f"<p>{escape(said)}</p>" if said else ""


def _summed(engine: QueryEngine, product: Product, by: str, code: str) -> Iterator[str]:
    """One table by two variables, summed over the others, a picture, and a map where there are shapes."""
    asked = partial(engine.table, where={by: code}, of=product.subject.name)
    yield from table_and_picture(asked, *_axes(product, by, code))
    if found := level_map(engine, product, by, code):
        yield found._repr_html_() + _on_paper(found)


def _on_paper(drawn: Picture) -> str:
    """What a map says in words, where a page is printed: small areas have no room for their number."""
    told = drawn.told if len(drawn.told) <= MOST_ON_PAPER else ()
    return f'<p class="paper">{escape("; ".join(told))}.</p>' if told else ""


def _unsummed(engine: QueryEngine, product: Product, by: str, code: str) -> Iterator[str]:
    """Every cell of what may not be summed, and pictures of them: of two row variables one a level of the first."""
    _, column = _axes(product, by, code)
    kept = [one for one in product.attributes if one.name != by] or list(product.attributes)
    rows, lowest = [one for one in kept if one is not column], {one.name: "leaves" for one in kept}
    asked = partial(engine.table, of=product.subject.name, at=lowest)
    yield asked([one.name for one in rows], column.name if column else None, {by: code})._repr_html_()
    if len(rows) == 1:
        yield from picture_of_cells(partial(asked, where={by: code}), rows[0], column)
    elif len(rows) == 2 and len(rows[0].levels.leaves) <= MOST_SERIES:
        for leaf in rows[0].levels.leaves:
            held = partial(asked, where={by: code, rows[0].name: leaf})
            yield from (
                f"<h3>{escape(rows[0].levels.label(leaf))}</h3>{one}" for one in picture_of_cells(held, rows[1], column)
            )


def _means(engine: QueryEngine, products: list[Product], by: str, code: str) -> Iterator[str]:
    """The means of every total over the count of the same records, with the interval of Fieller, and their picture."""
    for product in (one for one in products if one.subject.statistic == "total"):
        names = {one.name for one in product.attributes}
        per = next(iter(divisors(engine, product.subject.name, names)), None) if by in names else None
        if per is not None:
            title = per_one(product.subject.title, per.one, engine.release.language)
            asked = partial(engine.means, product.subject.name, where={by: code}, per=per.name)
            parts = "".join(table_and_picture(asked, *_axes(product, by, code)))
            yield f"<section><h2>{escape(title)}</h2>{_notes(product)}{parts}</section>"

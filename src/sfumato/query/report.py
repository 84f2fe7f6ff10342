"""Report: one self-contained page about one level of a variable, with tables, means, pictures and what is promised."""

from collections.abc import Iterator
from html import escape

from sfumato.errors import QueryError
from sfumato.pictures import Picture
from sfumato.query.crosstab import Crosstab
from sfumato.query.engine import QueryEngine
from sfumato.query.layout import as_seen
from sfumato.query.notices import cited, notices_of
from sfumato.query.report_map import level_map
from sfumato.query.value_notes import noted
from sfumato.release import Product
from sfumato.schema import Attribute, Box, Grid, LeafGroups

MOST_COLUMNS, MOST_SERIES, MOST_MARKS = 12, 6, 60
"""The most levels of a variable above a table, and of one that a picture tells apart; the most cells of a picture."""
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
@page { size: landscape; margin: 10mm; }
@media print {
  body { margin: 0; padding: 0; max-width: none; font-size: 12px; }
  table { display: table; overflow: visible; }
  th, td { padding: .1rem .3rem; white-space: normal; overflow-wrap: anywhere; }
  table, figure { break-inside: avoid; }
  h2, h2 + p { break-after: avoid; }
  svg { max-height: 10cm; }
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
    parts = [f"<h1>{escape(label)}</h1><p>{escape(manifest.title)}, {escape(manifest.period)}</p>"]
    parts += [f'<p class="notice">{escape(one.sentence)}</p>' for one in notices_of(engine.release)]
    for product in products:
        parts += _statistic(engine, product, attribute, code)
    parts += _means(engine, products, by, code)
    parts.append(
        f"<h2>What is promised</h2><p>{escape(manifest.promise.words)} {escape(manifest.promise.loss_words)}. "
        "± is the 90% margin of error; noise was drawn once, and this page shows what the release holds.</p>"
    )
    parts += [f"<p>Outside the guarantee: {escape(one.sentences)}</p>" for one in manifest.exposures]
    parts.append(f"<p>{escape(cited(engine.release))}</p>")
    title = escape(f"{label}: {manifest.title}")
    head = f'<meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
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
    """The tables of a statistic and its picture, and what is to be known of its numbers; or why there are none."""
    title = f"<h2>{escape(product.subject.title)}</h2>"
    if by.name not in {one.name for one in product.attributes}:
        yield f"{title}<p>It is not by {escape(by.label)}, so that there is nothing of it on this page.</p>"
        return
    shown = _summed if product.subject.additive else _unsummed
    try:
        parts = "".join(one._repr_html_() for one in shown(engine, product, by.name, code))  # as notebooks show them
    except QueryError as why:
        parts = f"<p>It is not on this page: {escape(str(why))}</p>"
    yield f"{title}{_notes(product)}{parts}"


def _notes(product: Product) -> str:
    """What is to be said of how values were counted."""
    said = noted(product.subject)
    return f"<p>{escape(said)}</p>" if said else ""


def _summed(engine: QueryEngine, product: Product, by: str, code: str) -> Iterator[Crosstab | Picture]:
    """One table by two variables, summed over the others, a picture, and a map where there are shapes."""
    row, column = _axes(product, by, code)
    of, where = product.subject.name, {by: code}
    yield engine.table(row.name, column.name if column else None, where, of)
    if column and len(row.levels.leaves) <= MOST_SERIES:
        yield engine.table(column.name, row.name, where, of).plot("line")
    else:
        yield engine.table(row.name, None, where, of).plot()
    if found := level_map(engine, product, by, code):
        yield found


def _unsummed(engine: QueryEngine, product: Product, by: str, code: str) -> Iterator[Crosstab | Picture]:
    """Every cell of what may not be summed, and a picture of it where that has room for all."""
    _, column = _axes(product, by, code)
    kept = [one for one in product.attributes if one.name != by] or list(product.attributes)
    rows = [one.name for one in kept if one is not column]
    lowest = {one.name: "leaves" for one in kept}
    table = engine.table(rows, column.name if column else None, {by: code}, product.subject.name, lowest)
    yield table
    if table.size <= MOST_MARKS:
        yield table.plot()


def _means(engine: QueryEngine, products: list[Product], by: str, code: str) -> Iterator[str]:
    """The mean of every total over the count of the same records, with the interval of Fieller."""
    counts = [one for one in products if one.subject.statistic == "count"]
    for product in (one for one in products if one.subject.statistic == "total"):
        count = next((one for one in counts if one.attributes == product.attributes), None)
        if count is None or by not in {one.name for one in product.attributes}:
            continue
        row, column = _axes(product, by, code)
        above = column.levels.leaves if column else ("",)
        heads = "".join(f'<th scope="col">{escape(column.levels.label(one) if column else "")}</th>' for one in above)
        body = ""
        for leaf in row.levels.leaves if row.name != by else (code,):
            cells = ""
            for head in above:
                where = {by: code, row.name: leaf, **({column.name: head} if column else {})}
                cells += _mean(engine, product.subject.name, count.subject.name, where)
            body += f'<tr><th scope="row">{escape(row.levels.label(leaf))}</th>{cells}</tr>'
        title = f"{product.subject.title} per {count.subject.unit.rstrip('s')}, {product.subject.unit}"
        yield f"<h2>{escape(title)}</h2>{_notes(product)}<table><tr><th></th>{heads}</tr>{body}</table>"


def _mean(engine: QueryEngine, of: str, per: str, where: dict[str, str]) -> str:
    try:
        value, margin = as_seen(engine.mean(of, where, per))
    except QueryError:
        return '<td title="The count may be 0 for all that noise tells.">–</td>'
    return f'<td><span class="n">{value}</span> <span class="moe">± {margin}</span></td>'

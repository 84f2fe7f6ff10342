"""Layout: the sheets of a report, laid out as its words say, and how its numbers are written."""

import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sfumato.confidential.assessment.comparisons import FEW, Numbers, share
from sfumato.query import number

HERE = Path(__file__).parent
MOST_TABLES = 60
Row = Sequence[str]
DIMENSIONS = {0: "the total", 1: "one-way", 2: "two-way", 3: "three-way"}
NOTHING = "–"
WORDS: dict[str, Numbers] = tomllib.loads((HERE / "words.toml").read_text(encoding="utf-8"))
"""The title of each metric, the sentence on how to read it, what to mind, and what stands in its sheets."""
SAID = WORDS.pop("said")
"""Captions and notes."""


@dataclass(frozen=True)
class ReportTable:
    """A table of a report: its heads, its rows, the first columns names and the rest numbers."""

    heads: Row
    rows: Sequence[Row]
    names: int
    note: str


def sheets_of(id: str, numbers: Numbers) -> Iterator[ReportTable]:  # noqa: A002 - the id of an element
    """The sheets of a metric, as its words lay them out."""
    for sheet in WORDS[id].get("sheet", ()):
        for product, rows in _lists(numbers)[sheet.get("over", "parts")]:
            found = [row | {"one": _asked(sheet.get("one", "one"), **row)} for row in rows]
            cells = [[_asked(cell, **row) for _, cell in sheet["columns"]] for row in found if row["one"]]
            heads = [head.format(product=product.get("name")) for head, _ in sheet["columns"]]
            yield ReportTable(heads, cells, sheet.get("names", 1), _asked(sheet.get("note", "''"), product=product))


def _asked(expression: str, **row: Any) -> Any:
    return _compiled(expression)(**row)


@cache
def _compiled(expression: str) -> Callable[..., Any]:
    return environment().compile_expression(expression, undefined_to_none=False)


def _lists(numbers: Numbers) -> dict[str, list[tuple[Numbers, list[Numbers]]]]:
    """What sheets have rows for: all that there is of a kind in one sheet, or a sheet for each product."""
    products, sweep = numbers["products"], numbers["sweep"] or {"points": []}
    every = [{"name": name, "product": product, "part": part} for name, product, part in parts(numbers)]
    budgets = [
        {"name": budget_named(point, sweep), "point": point, "one": utility}
        for point in sweep["points"]
        for utility in point["utilities"]
    ]
    return {
        "parts": [({}, every)],
        "means": [({}, [{"name": name, "one": one} for name, one in divided(numbers)])],
        "products": [({}, [{"product": product} for product in products])],
        "budgets": [({}, budgets)],
        "sizes": [(product, [{"one": one} for one in product["by_size"]]) for product in products],
        "tables": [(product, [{"one": one} for one in product["tables"][:MOST_TABLES]]) for product in products],
    }


def budget_named(point: Numbers, sweep: Numbers) -> str:
    words = f"{sweep['currency']} {point['total']:g}" if point["refused"] else point["words"]
    return words + (f", cap {point['cap']}" if point["cap"] is not None else "")


def parts(numbers: Numbers) -> Iterator[tuple[str, Numbers, Numbers]]:
    """Every product at every dimension: a name, the product, the numbers."""
    for product in numbers["products"]:
        for part in product["by_dimension"]:
            yield f"{product['name']}, {kind_of(part, product)}", product, part


def divided(numbers: Numbers) -> Iterator[tuple[str, Numbers]]:
    """Every mean at every dimension: a name, and the numbers."""
    for one in numbers["means"]:
        yield f"{one['name']}, {kind_of(one, one)}", one


def kind_of(part: Numbers, product: Numbers) -> str:
    """What tables a part is about, in words."""
    dimension = part["dimension"]
    if dimension == len(product["attributes"]) > 2:
        return f"all {dimension} attributes"
    return DIMENSIONS.get(dimension, f"{dimension}-way")


def count(value: int | None) -> str:
    return NOTHING if value is None else f"{value:,}"


def amount(value: float | None) -> str:
    """A number as people read it, or a dash.

    >>> amount(None), amount(1234567.8), amount(0.012345)
    ('–', '1,234,568', '0.0123')
    """
    return NOTHING if value is None else number(value)


def decimals(value: float | None, digits: int = 2) -> str:
    """A number to a fixed place, or a dash."""
    return NOTHING if value is None else f"{value:.{digits}f}".replace("-", "−")


def percent(value: float | None) -> str:
    """A share as people read it.

    >>> percent(0.1234), percent(12.5), percent(0), percent(None), percent(0.0042), percent(0.00004)
    ('12.3%', '1,250%', '0%', '–', '0.42%', 'under 0.01%')
    """
    if value is None:
        return NOTHING
    number_of = value * 100
    if 0 < abs(number_of) < 0.01:
        return "under 0.01%"
    digits = 0 if number_of in {0, 100} or abs(number_of) >= 100 else 1 if abs(number_of) >= 1 else 2
    return f"{number_of:,.{digits}f}%".replace("-", "−")


def hits(value: float | None, cells: int) -> str:
    """The share of some cells, or how many of how many where they are few.

    >>> hits(0.6, 5), hits(0.9, 4000), hits(None, 0)
    ('3 of 5', '90.0%', '–')
    """
    return percent(value) if value is None or cells >= FEW else f"{round(value * cells):,} of {cells:,}"


@cache
def environment() -> Environment:
    """Where the page and what stands in its sheets are written out; whatever comes from a plan is escaped."""
    jinja = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    jinja.filters |= {"count": count, "amount": amount, "decimals": decimals, "percent": percent, "hits": hits}
    jinja.globals |= {"share": share, "said": SAID, "most": MOST_TABLES, "kind_of": kind_of}
    jinja.globals |= {"budget_named": budget_named}
    return jinja

"""Layout: the nouns that a report is laid out in, and how its numbers are written."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from sfumato.query import number

Row = Sequence[str]
DIMENSIONS = {0: "the total", 1: "one-way", 2: "two-way", 3: "three-way"}


@dataclass(frozen=True)
class Sheet:
    """A table of a report: its heads, its rows, the first columns names and the rest numbers."""

    heads: Row
    rows: Sequence[Row]
    names: int = 1
    note: str = ""


@dataclass(frozen=True)
class Section:
    """One metric: how to read it in one sentence, its pictures with captions, its tables, what to mind."""

    id: str
    title: str
    reads: str
    pictures: Sequence[tuple[str, Markup]] = field(default_factory=tuple)
    sheets: Sequence[Sheet] = field(default_factory=tuple)
    notes: Sequence[str] = field(default_factory=tuple)
    folded: bool = False


def parts(numbers: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Every product at every dimension: a name, the product, the numbers."""
    for product in numbers["products"]:
        for part in product["by_dimension"]:
            yield f"{product['name']}, {figure(part, product)}", product, part


def figure(part: dict[str, Any], product: dict[str, Any]) -> str:
    """What tables a part is about, in words."""
    dimension = part["dimension"]
    if dimension == len(product["attributes"]) > 2:
        return f"all {dimension} attributes"
    return DIMENSIONS.get(dimension, f"{dimension}-way")


def count(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def amount(value: float | None) -> str:
    """A number as people read it, or a dash.

    >>> amount(None), amount(1234567.8), amount(0.012345)
    ('–', '1,234,568', '0.0123')
    """
    return "–" if value is None else number(value)

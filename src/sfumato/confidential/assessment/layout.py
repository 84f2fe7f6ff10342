"""Layout: the nouns that a report is laid out in, and how its numbers are written."""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from sfumato.confidential.assessment.comparisons import Numbers
from sfumato.query import number

Row = Sequence[str]
Picture = tuple[str, Markup]
DIMENSIONS = {0: "the total", 1: "one-way", 2: "two-way", 3: "three-way"}
NOTHING = "–"
WORDS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
"""The title of each metric, the sentence on how to read it, and what to mind."""
SAID = WORDS.pop("said")
"""Captions and notes."""


@dataclass(frozen=True)
class ReportTable:
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
    pictures: Sequence[Picture]
    sheets: Sequence[ReportTable]
    notes: Sequence[str]
    folded: bool = False


def section(
    id: str,  # noqa: A002 - it becomes the id of an element
    sheets: Sequence[ReportTable],
    pictures: Sequence[Picture] = (),
    notes: Sequence[str] = (),
    **filled: object,
) -> Section:
    """The section of a metric with its words, the names in them filled in."""
    words = WORDS[id]
    mind = [words["mind"].format(**filled)] if "mind" in words else []
    return Section(id, words["title"], words["reads"].format(**filled), pictures, sheets, [*mind, *notes])


def parts(numbers: Numbers) -> Iterator[tuple[str, Numbers, Numbers]]:
    """Every product at every dimension: a name, the product, the numbers."""
    for product in numbers["products"]:
        for part in product["by_dimension"]:
            yield f"{product['name']}, {kind_of(part, product)}", product, part


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

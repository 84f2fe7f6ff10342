"""The page of an assessment: sections of pictures and tables with one sentence each on how to read them."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from sfumato import __version__
from sfumato.confidential.assessment.layout import kind_of, percent
from sfumato.confidential.assessment.sections_honesty import bounds_section, errors_section, honesty_section
from sfumato.confidential.assessment.sections_risk import flips_section, slivers_section, sweep_section, uniques_section
from sfumato.confidential.assessment.sections_utility import (
    association_section,
    differences_section,
    overlap_section,
    publishable_section,
    size_section,
    tables_section,
)

HERE = Path(__file__).parent
SECTIONS = (
    flips_section,
    uniques_section,
    slivers_section,
    differences_section,
    size_section,
    publishable_section,
    association_section,
    overlap_section,
    honesty_section,
    errors_section,
    bounds_section,
    sweep_section,
    tables_section,
)


def page(numbers: dict[str, Any]) -> str:
    """The report as one HTML file; everything that comes from a plan or a release is escaped."""
    environment = Environment(loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    sections = [section for section in (make(numbers) for make in SECTIONS) if section is not None]
    style = Markup((HERE / "report.css").read_text(encoding="utf-8"))  # noqa: S704 - ours
    return environment.get_template("report.html").render(
        numbers=numbers, glance=glance(numbers), sections=sections, style=style, version=__version__
    )


def glance(numbers: dict[str, Any]) -> list[tuple[str, str]]:
    """The few numbers to look at first: what an attacker gains, the first product's errors, whether errors are true."""
    shown = [(percent(numbers["release"]["power"]), "power of the best test against one unit, at a level of 5%")]
    for product in numbers["products"][:1]:
        for part in product["by_dimension"]:
            if part["dimension"] in {1, 2}:
                middle = percent(part["differences"]["relative"][1])
                shown.append((middle, f"median relative error of {product['name']}, {kind_of(part, product)} tables"))
        flips = product["by_dimension"][-1]["flips"] if product["by_dimension"] else {"zeros": 0}
        if flips["zeros"]:
            moved = percent(flips["to_nonzero"] / flips["zeros"])
            shown.append((moved, f"of the empty cells of {product['name']} no longer look empty"))
    honest = [part["honesty"] for one in numbers["products"] for part in one["by_dimension"]]
    stated = [one for one in honest if one["cells"]]
    if stated:
        mean = sum(one["held"] * one["cells"] for one in stated) / sum(one["cells"] for one in stated)
        shown.append((percent(mean), "of the 90% margins hold what the noise was added to"))
    return shown

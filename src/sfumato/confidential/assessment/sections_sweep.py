"""The section on the choice of the budget: the risk–utility curve."""

from typing import Any

from sfumato.confidential.assessment.charts import Line, curves
from sfumato.confidential.assessment.layout import ReportTable, Section, percent, section
from sfumato.confidential.assessment.words import BETTER, CHEAPER


def sweep_section(numbers: dict[str, Any]) -> Section | None:
    sweep = numbers["sweep"]
    if not sweep:
        return None
    rows = [_row(point, utility, sweep) for point in sweep["points"] for utility in point["utilities"]]
    heads = ["budget", "product", "test power", "best guess from even odds", "median relative error", "over the draws"]
    now = numbers["release"]["power"]
    pictures = [(CHEAPER, curves(_lines(sweep, "relative"), now, CHEAPER, falls=True))]
    pictures.append((BETTER, curves(_lines(sweep, "grade_a"), now, BETTER, falls=False)))
    draws = f"{sweep['draws']} seeded draw{'s' if sweep['draws'] > 1 else ''}"
    sheet = ReportTable([*heads, "grade A", "margins that hold"], rows, names=2)
    return section("sweep", [sheet], pictures, _notes(sweep), draws=draws, currency=sweep["currency"])


def _row(point: dict[str, Any], one: dict[str, Any], sweep: dict[str, Any]) -> list[str]:
    between = f"{percent(one['least'])} to {percent(one['most'])}"
    gained = [percent(point["power"]), percent(point["posterior"]), percent(one["relative"]), between]
    return [_named(point, sweep), one["product"], *gained, percent(one["grade_a"]), percent(one["held"])]


def _named(point: dict[str, Any], sweep: dict[str, Any]) -> str:
    words = f"{sweep['currency']} {point['total']:g}" if point["refused"] else point["words"]
    return words + (f", cap {point['cap']}" if point["cap"] is not None else "")


def _lines(sweep: dict[str, Any], key: str) -> list[Line]:
    """A line for every product and cap, from the smallest loss to the largest."""
    lines: dict[str, list[tuple[float, float, str]]] = {}
    for point in sweep["points"]:
        for utility in point["utilities"]:
            name = utility["product"] + (f", cap {point['cap']}" if point["cap"] is not None else "")
            if utility[key] is not None:
                lines.setdefault(name, []).append((point["power"], utility[key], f"{point['total']:g}"))
    return [(name, sorted(points)) for name, points in lines.items()]


def _notes(sweep: dict[str, Any]) -> list[str]:
    points = [(_named(point, sweep), point) for point in sweep["points"]]
    notes = [f"{name} was refused: {one['refused']}" for name, one in points if one["refused"]]
    lost = "steps of the plan found no answer in some of the draws"
    return notes + [f"{name}: {one['diverged']} {lost}." for name, one in points if one["diverged"]]

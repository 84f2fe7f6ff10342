"""The section on the choice of the budget: the risk–utility curve."""

from typing import Any

from sfumato.confidential.assessment.charts import Line, curves, percent
from sfumato.confidential.assessment.layout import Section, Sheet


def sweep_section(numbers: dict[str, Any]) -> Section | None:
    sweep = numbers["sweep"]
    if not sweep:
        return None
    rows = []
    for point in sweep["points"]:
        for one in point["utilities"]:
            between = f"{percent(one['least'])} to {percent(one['most'])}"
            rows.append(
                [f"{_named(point, sweep)}", one["product"], percent(point["power"]), percent(point["posterior"])]
            )
            rows[-1] += [percent(one["relative"]), between, percent(one["grade_a"]), percent(one["held"])]
    heads = ["budget", "product", "test power", "best guess from even odds", "median relative error", "over the draws"]
    now = numbers["release"]["power"]
    pictures = [
        ("Lower and further left is better: median relative error against what an attacker gains", "relative", True),
        ("Higher and further left is better: share of grade A cells against what an attacker gains", "grade_a", False),
    ]
    return Section(
        "sweep",
        "Choosing the budget",
        "Each point is this plan with all its budgets scaled alike: go along the line and stop where the next step buys "
        "less than it costs.",
        [(words, curves(_lines(sweep, key), now, words, powers=powers)) for words, key, powers in pictures],
        [Sheet([*heads, "grade A", "margins that hold"], rows, names=2)],
        [*_notes(sweep)],
    )  # fmt: skip


def _named(point: dict[str, Any], sweep: dict[str, Any]) -> str:
    cap = f", cap {point['cap']}" if point["cap"] is not None else ""
    return f"{point['words'] if not point['refused'] else sweep['currency'] + ' ' + format(point['total'], 'g')}{cap}"


def _lines(sweep: dict[str, Any], key: str) -> list[Line]:
    """A line for every product and cap, from the smallest loss to the largest."""
    lines: dict[str, list[tuple[float, float, str]]] = {}
    for point in sweep["points"]:
        for one in point["utilities"]:
            name = one["product"] + (f", cap {point['cap']}" if point["cap"] is not None else "")
            if one[key] is not None:
                lines.setdefault(name, []).append((point["power"], one[key], f"{point['total']:g}"))
    return [(name, sorted(points)) for name, points in lines.items()]


def _notes(sweep: dict[str, Any]) -> list[str]:
    draws = sweep["draws"]
    notes = [
        f"Every budget was rehearsed with {draws} seeded draw{'s' if draws > 1 else ''} on the true cells, charged to "
        f"no ledger; numbers at the points are {sweep['currency']} in all. Tables of one and two attributes."
    ]
    notes += [f"{_named(one, sweep)} was refused: {one['refused']}" for one in sweep["points"] if one["refused"]]
    notes += [
        f"{_named(one, sweep)}: {one['diverged']} steps of the plan found no answer in some draws."
        for one in sweep["points"]
        if one["diverged"]
    ]
    return notes

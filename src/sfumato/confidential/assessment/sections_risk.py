"""The sections on risk: flips at zero, uniques, slivers, and what each budget would buy."""

from sfumato.confidential.assessment.charts import Line, curves, parts_of
from sfumato.confidential.assessment.comparisons import Numbers, share
from sfumato.confidential.assessment.layout import (
    NOTHING,
    SAID,
    ReportTable,
    Section,
    amount,
    count,
    parts,
    percent,
    section,
)


def flips_section(numbers: Numbers) -> Section:
    rows, bars = [], []
    for name, product, part in parts(numbers):
        one = part["flips"]
        rose, fell = share(one["to_nonzero"], one["zeros"]), share(one["to_zero"], one["nonzeros"])
        near = f"{amount(one['threshold'])} {product['unit']}"
        zeros = [count(one["zeros"]), count(one["to_nonzero"]), percent(rose)]
        others = [count(one["nonzeros"]), count(one["to_zero"]), percent(fell)]
        rows.append([name, near, *zeros, *others, count(one["negative"])])
        bars += [(name, [rose, 1 - rose])] if rose is not None else []
    heads = ["table", "zero is under", "zero cells", "to non-zero", "share", "other cells", "to zero", "share"]
    pictures = [(SAID["emptied"], parts_of(bars, ["noise", "rest"], "share"))] if bars else []
    sheet = ReportTable([*heads, "negative"], rows, names=2)
    return section("flips", [sheet], pictures, near=numbers["rules"]["near_zero"])


def uniques_section(numbers: Numbers) -> Section | None:
    rows = []
    for name, _, part in parts(numbers):
        if one := part["uniques"]:
            true = [count(one["unique"]), percent(share(one["unique"], one["cells"]))]
            looked = [count(one["look_unique"]), count(one["both"]), percent(share(one["both"], one["look_unique"]))]
            rows.append([name, count(one["cells"]), *true, *looked])
    heads = ["table", "cells", "truly unique", "of all cells", "look unique", "look and are", "of those that look"]
    return section("uniques", [ReportTable(heads, rows)]) if rows else None


def slivers_section(numbers: Numbers) -> Section | None:
    rows = []
    for name, _, part in parts(numbers):
        if slivers := part["slivers"]:
            low, middle, high = map(amount, slivers["said"])
            said = NOTHING if middle == NOTHING else f"{middle} ({low} to {high})"
            told = percent(share(slivers["told"], slivers["slivers"]))
            rightly, base = share(slivers["say_rightly"], slivers["say"]), share(slivers["slivers"], slivers["pairs"])
            first = [count(slivers["pairs"]), count(slivers["slivers"]), said, amount(slivers["error"]), told]
            rows.append([name, *first, count(slivers["say"]), percent(rightly), percent(base)])
    heads = ["table", "nested pairs", "slivers", "released difference", "its error", "read rightly"]
    heads += ["read as 1 or 2", "of which true", "slivers in all pairs"]
    return section("slivers", [ReportTable(heads, rows)], least=numbers["rules"]["least"]) if rows else None


def sweep_section(numbers: Numbers) -> Section | None:
    sweep = numbers["sweep"]
    if not sweep:
        return None
    rows = [_budget_row(point, utility, sweep) for point in sweep["points"] for utility in point["utilities"]]
    heads = ["budget", "product", "test power", "best guess from even odds", "median relative error", "over the draws"]
    now = numbers["release"]["power"]
    pictures = [(SAID["cheaper"], curves(_lines(sweep, "relative"), now, SAID["cheaper"], falls=True))]
    pictures.append((SAID["better"], curves(_lines(sweep, "grade_a"), now, SAID["better"], falls=False)))
    draws = f"{sweep['draws']} seeded draw{'s' if sweep['draws'] > 1 else ''}"
    sheet = ReportTable([*heads, "grade A", "margins that hold"], rows, names=2)
    return section("sweep", [sheet], pictures, _notes(sweep), draws=draws, currency=sweep["currency"])


def _budget_row(point: Numbers, one: Numbers, sweep: Numbers) -> list[str]:
    between = f"{percent(one['least'])} to {percent(one['most'])}"
    gained = [percent(point["power"]), percent(point["posterior"]), percent(one["relative"]), between]
    return [_named(point, sweep), one["product"], *gained, percent(one["grade_a"]), percent(one["held"])]


def _named(point: Numbers, sweep: Numbers) -> str:
    words = f"{sweep['currency']} {point['total']:g}" if point["refused"] else point["words"]
    return words + (f", cap {point['cap']}" if point["cap"] is not None else "")


def _lines(sweep: Numbers, key: str) -> list[Line]:
    """A line for every product and cap, from the smallest loss to the largest."""
    lines: dict[str, list[tuple[float, float, str]]] = {}
    for point in sweep["points"]:
        for utility in point["utilities"]:
            name = utility["product"] + (f", cap {point['cap']}" if point["cap"] is not None else "")
            if utility[key] is not None:
                lines.setdefault(name, []).append((point["power"], utility[key], f"{point['total']:g}"))
    return [(name, sorted(points)) for name, points in lines.items()]


def _notes(sweep: Numbers) -> list[str]:
    points = [(_named(point, sweep), point) for point in sweep["points"]]
    notes = [f"{name} was refused: {one['refused']}" for name, one in points if one["refused"]]
    lost = "steps of the plan found no answer in some of the draws"
    return notes + [f"{name}: {one['diverged']} {lost}." for name, one in points if one["diverged"]]

"""The sections on honesty: stated against realised error, what errors are made of, what the bounds took."""

from sfumato.confidential.assessment.charts import coverage, parts_of
from sfumato.confidential.assessment.comparisons import LEVEL, Numbers, share
from sfumato.confidential.assessment.layout import (
    NOTHING,
    SAID,
    ReportTable,
    Section,
    amount,
    count,
    decimals,
    parts,
    percent,
    section,
)


def honesty_section(numbers: Numbers) -> Section:
    rows, seen = [], []
    for name, _, part in parts(numbers):
        one = part["honesty"]
        rows.append([name, count(one["cells"]), percent(one["held"]), percent(one["truth"]), decimals(one["squared"])])
        seen += [(name, one["held"], one["truth"], part["independent"])] if one["held"] is not None else []
    heads = ["table", "cells", "hold what noise was added to", "hold the data as they are"]
    sheet = ReportTable([*heads, "squared error over variance"], rows)
    words = "share of the 90% margins that hold the truth"
    return section(
        "honesty", [sheet], [(SAID["covered"], coverage(seen, LEVEL, words))] if seen else [], _drawn(numbers)
    )


def _drawn(numbers: Numbers) -> list[str]:
    return [SAID["another_draw"]] if any(product["bounds"]["dropped"] for product in numbers["products"]) else []


def errors_section(numbers: Numbers) -> Section:
    rows, literal, bars = [], [], []
    for name, product, part in parts(numbers):
        if not (errors := part["errors"]):
            continue
        sampled = errors["ratio"] is not None
        noise_share = percent(errors["noise_share"]) if sampled else NOTHING
        row = [name, product["unit"], amount(errors["noise"]), amount(errors["sampling"]), noise_share]
        rows.append([*row, decimals(errors["ratio"])])
        given = [
            count(errors["gives_away"]),
            count(errors["empty"]),
            percent(share(errors["empty"], errors["gives_away"])),
        ]
        literal.append([name, product["unit"], amount(errors["honest"]), amount(errors["literal"]), *given])
        bars += [(name, [errors["noise_share"], 1 - errors["noise_share"]])] if sampled else []
    heads = ["table", "in", "noise, median", "sampling, median", "noise in all variance", "with over without"]
    instead = ["table", "in", "honest error", "by the paper", "equal the estimate", "of those empty", "share"]
    sheets = [ReportTable(heads, rows, names=2), ReportTable(instead, literal, names=2, note=SAID["literal"])]
    pictures = [(SAID["shared"], parts_of(bars, ["noise", "sampling"], "share of the variance"))] if bars else []
    return section("errors", sheets, pictures, [*_without(numbers)])


def _without(numbers: Numbers) -> list[str]:
    lacking = [product for product in numbers["products"] if product["no_sampling_error"]]
    return [f"{one['name']} has no sampling error here: {one['no_sampling_error']}." for one in lacking]


def bounds_section(numbers: Numbers) -> Section:
    rows = []
    for product in numbers["products"]:
        bounds = product["bounds"]
        worst = f"{percent(bounds['worst'])} in {bounds['worst_level']}" if bounds["worst_level"] else NOTHING
        clip = [bounds["clip"] or "none", worst, amount(bounds["total"]), percent(bounds["clipped"])]
        dropped = [count(bounds["rows"]), count(bounds["dropped"]), percent(share(bounds["dropped"], bounds["rows"]))]
        rows.append([product["name"], *clip, *dropped, percent(bounds["left_out"])])
    heads = ["product", "clip", "most taken from a single level", "true total", "taken by clip and step"]
    heads += ["rows", "left out by at_most", "share of rows", "share of total"]
    return section("bounds", [ReportTable(heads, rows, names=3)], notes=_drawn(numbers))

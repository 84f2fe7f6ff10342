"""The sections on risk: flips at zero, uniques, slivers."""

from typing import Any

from sfumato.confidential.assessment.charts import parts_of
from sfumato.confidential.assessment.comparisons import share
from sfumato.confidential.assessment.layout import NOTHING, ReportTable, Section, amount, count, parts, percent, section
from sfumato.confidential.assessment.words import EMPTIED


def flips_section(numbers: dict[str, Any]) -> Section:
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
    pictures = [(EMPTIED, parts_of(bars, ["noise", "rest"], "share"))] if bars else []
    sheet = ReportTable([*heads, "negative"], rows, names=2)
    return section("flips", [sheet], pictures, near=numbers["rules"]["near_zero"])


def uniques_section(numbers: dict[str, Any]) -> Section | None:
    rows = []
    for name, _, part in parts(numbers):
        if one := part["uniques"]:
            true = [count(one["unique"]), percent(share(one["unique"], one["cells"]))]
            looked = [count(one["look_unique"]), count(one["both"]), percent(share(one["both"], one["look_unique"]))]
            rows.append([name, count(one["cells"]), *true, *looked])
    heads = ["table", "cells", "truly unique", "of all cells", "look unique", "look and are", "of those that look"]
    return section("uniques", [ReportTable(heads, rows)]) if rows else None


def slivers_section(numbers: dict[str, Any]) -> Section | None:
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

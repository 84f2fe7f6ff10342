"""The sections on risk: flips at zero, uniques, slivers."""

from typing import Any

from sfumato.confidential.assessment.charts import parts_of, percent
from sfumato.confidential.assessment.compared import share
from sfumato.confidential.assessment.layout import Section, Sheet, amount, count, parts


def flips_section(numbers: dict[str, Any]) -> Section:
    rows, bars = [], []
    for name, product, part in parts(numbers):
        one = part["flips"]
        rose, fell = share(one["to_nonzero"], one["zeros"]), share(one["to_zero"], one["nonzeros"])
        near = f"{amount(one['threshold'])} {product['unit']}"
        rows.append([name, near, count(one["zeros"]), count(one["to_nonzero"]), percent(rose)])
        rows[-1] += [count(one["nonzeros"]), count(one["to_zero"]), percent(fell), count(one["negative"])]
        if rose is not None:
            bars.append((name, [rose, 1 - rose]))
    heads = [
        "table",
        "zero is under",
        "zero cells",
        "to non-zero",
        "share",
        "other cells",
        "to zero",
        "share",
        "negative",
    ]
    return Section(
        "flips",
        "Zeros that moved",
        "The more true zeros are released as something else, and the more small numbers as zero, the less a zero in "
        "the release gives away.",
        [("Of the truly empty cells, the share that no longer looks empty", parts_of(bars, ["noise", "rest"], "share"))]
        if bars
        else [],
        [Sheet(heads, rows, names=2)],
        [
            "Near zero is half a record by default: half of 1 in a count, half of what a record adds on average in a "
            "total. Set it with --near-zero."
        ],
    )


def uniques_section(numbers: dict[str, Any]) -> Section | None:
    rows = []
    for name, _, part in parts(numbers):
        one = part["uniques"]
        if one:
            rows.append([name, count(one["cells"]), count(one["unique"]), percent(share(one["unique"], one["cells"]))])
            rows[-1] += [count(one["look_unique"]), count(one["both"]), percent(share(one["both"], one["look_unique"]))]
    if not rows:
        return None
    heads = ["table", "cells", "truly unique", "of all cells", "look unique", "look and are", "of those that look"]
    return Section(
        "uniques",
        "Sample uniques",
        "A cell with one record points at somebody; if the last share is near the share of uniques in all cells, "
        "looking unique in the release says little.",
        sheets=[Sheet(heads, rows)],
        notes=["A cell looks unique when its released number of records rounds to 1."],
    )


def slivers_section(numbers: dict[str, Any]) -> Section | None:
    rows = []
    for name, _, part in parts(numbers):
        one = part["slivers"]
        if one:
            low, middle, high = one["said"]
            said = f"{amount(middle)} ({amount(low)} to {amount(high)})" if middle is not None else "–"
            rows.append([name, count(one["pairs"]), count(one["slivers"]), said, amount(one["error"])])
            rows[-1] += [percent(share(one["told"], one["slivers"])), count(one["say"])]
            rows[-1] += [percent(share(one["say_rightly"], one["say"])), percent(share(one["slivers"], one["pairs"]))]
    if not rows:
        return None
    heads = ["table", "nested pairs", "slivers", "released difference", "its error", "read rightly"]
    heads += ["read as 1 or 2", "of which true", "slivers in all pairs"]
    least = numbers["rules"]["least"]
    return Section(
        "slivers",
        "Slivers by differencing",
        "Ask for a group, then for the group without one level: where one or two records lie between, the release "
        "should not say so; 'of which true' near 'slivers in all pairs' means that the difference tells nothing.",
        sheets=[Sheet(heads, rows)],
        notes=[
            f"Both questions hold {least} records or more, so rules on cells would let both pass. The released "
            "difference is shown as its median and quartiles over the true slivers."
        ],
    )

"""The sections on utility: differences, size, publication, association, overlap, and every table."""

from dataclasses import replace

from sfumato.confidential.assessment.charts import Spread, changes, parts_of, spreads
from sfumato.confidential.assessment.comparisons import Numbers
from sfumato.confidential.assessment.layout import (
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

MOST_TABLES = 60
MOST_PAIRS = 12


def differences_section(numbers: Numbers) -> Section:
    rows, seen = [], []
    for name, product, part in parts(numbers):
        one = part["differences"]
        absolute = [amount(one["mean_absolute"]), amount(one["root_mean_square"]), amount(one["bias"])]
        relative = [percent(one["relative"][1]), percent(one["mean_relative"]), percent(part["grade_a"])]
        row = [name, product["unit"], count(one["cells"]), *absolute, *relative]
        rows.append([*row, decimals(part["hellinger"], 3)])
        seen.append((name, *one["relative"]))
    heads = ["table", "in", "cells", "mean absolute", "root mean square", "mean"]
    heads += ["median relative", "mean relative", "grade A", "Hellinger"]
    pictures = [(SAID["smeared"], spreads(seen, "relative difference"))] if _some(seen) else []
    return section("differences", [ReportTable(heads, rows, names=2)], pictures, grade=percent(numbers["grades"]["A"]))


def _some(seen: list[Spread]) -> bool:
    return any(middle is not None for _, _, middle, _ in seen)


def size_section(numbers: Numbers) -> Section:
    pictures, sheets = [], []
    for product in numbers["products"]:
        seen, rows = [], []
        for one in product["by_size"]:
            found = one["differences"]
            seen.append((f"{one['size']} ({count(one['cells'])} cells)", *found["relative"]))
            absolute = [amount(found["mean_absolute"]), amount(found["root_mean_square"])]
            held = percent(one["honesty"]["held"])
            rows.append([one["size"], count(one["cells"]), *absolute, percent(found["relative"][1]), held])
        caption = f"{product['title']}, by the records in a cell: relative difference, first to ninth decile"
        pictures += [(caption, spreads(seen, "relative difference"))] if _some(seen) else []
        heads = [f"{product['name']}: records in the cell", "cells", "mean absolute", "root mean square"]
        sheets.append(ReportTable([*heads, "median relative", "margins that hold"], rows))
    return section("size", sheets, pictures)


def publishable_section(numbers: Numbers) -> Section:
    rows, bars = [], []
    for name, _, part in parts(numbers):
        one = part["publishable"]
        shown = ("cells", "before", "after", "newly", "lost", "by_cv", "newly_by_cv")
        rows.append([name, *(count(one[key]) for key in shown)])
        if one["cells"]:
            shares = [value / one["cells"] for value in (one["before"] - one["lost"], one["newly"], one["lost"])]
            bars.append((name, [*shares, max(0.0, 1 - sum(shares))]))
    heads = ["table", "cells", "before", "after", "newly", "no longer", "after, by CV alone", "newly, by CV alone"]
    pictures = [(SAID["ruled"], parts_of(bars, ["accent", "noise", "lost", "rest"], "share of cells"))] if bars else []
    rules = numbers["rules"]
    notes = [] if all(part["publishable"]["count_known"] for _, _, part in parts(numbers)) else [SAID["no_count"]]
    filled = {"least": rules["least"], "cv": percent(rules["largest_cv"])}
    return section("publishable", [ReportTable(heads, rows)], pictures, notes, **filled)


def association_section(numbers: Numbers) -> Section | None:
    pictures = []
    for product in numbers["products"]:
        both = [(table["title"], *table["cramers_v"]) for table in product["tables"] if table["cramers_v"]]
        found = [row for row in both if row[1] is not None and row[2] is not None]
        largest = sorted(found, key=lambda row: -abs(row[2] - row[1]))[:MOST_PAIRS]
        which = (
            f"the {len(largest)} pairs of {len(found)} that changed most" if len(found) > len(largest) else "all pairs"
        )
        if found:
            caption = f"{product['title']}: ring, true; dot, released; {which}"
            pictures.append((caption, changes(largest, "Cramér's V")))
    return section("association", [], pictures) if pictures else None


def overlap_section(numbers: Numbers) -> Section | None:
    rows = [
        [name, count(one["cells"]), decimals(one["mean"]), decimals(one["median"]), count(one["apart"])]
        for name, _, part in parts(numbers)
        if (one := part["overlap"])
    ]
    heads = ["table", "cells", "mean", "median", "intervals apart"]
    return section("overlap", [ReportTable(heads, rows)]) if rows else None


def tables_section(numbers: Numbers) -> Section:
    sheets = []
    for product in numbers["products"]:
        rows = [_row(table) for table in product["tables"][:MOST_TABLES]]
        heads = [f"{product['name']} by", "cells", "mean absolute", "median relative", "margins that hold"]
        more = len(product["tables"]) - len(rows)
        note = f"{more} more tables of {product['name']} are in the JSON." if more else ""
        sheets.append(ReportTable([*heads, "Hellinger", "V before", "V after"], rows, note=note))
    left_out = [sentence for product in numbers["products"] for sentence in product["left_out"]]
    return replace(section("tables", sheets, notes=left_out), folded=True)


def _row(one: Numbers) -> list[str]:
    before, after = one["cramers_v"] or (None, None)
    found = one["differences"]
    row = [one["title"], count(one["cells"]), amount(found["mean_absolute"]), percent(found["relative"][1])]
    row += [percent(one["honesty"]["held"]), decimals(one["hellinger"], 3)]
    return [*row, decimals(before, 3), decimals(after, 3)]

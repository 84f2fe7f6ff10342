"""The sections on utility: differences, size, publication, association, overlap, and every table."""

from typing import Any

from sfumato.confidential.assessment.charts import changes, parts_of, percent, spreads
from sfumato.confidential.assessment.layout import Section, Sheet, amount, count, parts

MOST_TABLES = 60
MOST_PAIRS = 20


def differences_section(numbers: dict[str, Any]) -> Section:
    rows, seen = [], []
    for name, product, part in parts(numbers):
        one = part["differences"]
        rows.append([name, product["unit"], count(part["tables"]), count(one["cells"]), amount(one["mean_absolute"])])
        rows[-1] += [amount(one["root_mean_square"]), amount(one["bias"]), percent(one["relative"][1])]
        rows[-1] += [percent(one["mean_relative"]), percent(part["grade_a"]), amount(part["hellinger"])]
        seen.append((name, *one["relative"]))
    heads = ["table", "in", "tables", "cells", "mean absolute", "root mean square", "mean"]
    heads += ["median relative", "mean relative", "grade A", "Hellinger"]
    grade = percent(numbers["grades"]["A"])
    return Section(
        "differences",
        "Differences of estimates",
        "How far a released number is from the true one; relative differences are over cells whose true value is not 0.",
        [("Relative difference: a smear from the first to the ninth decile, a dot at the median", spreads(seen, "relative difference"))],
        [Sheet(heads, rows, names=2)],
        [
            f"Grade A is a CV under {grade} by noise alone, away from 0. Hellinger's distance is 0 where the shares of "
            "all cells are right and 1 where no cell is shared, the mean over the tables; negative numbers count as 0."
        ],
    )  # fmt: skip


def size_section(numbers: dict[str, Any]) -> Section:
    pictures, sheets = [], []
    for product in numbers["products"]:
        seen, rows = [], []
        for one in product["by_size"]:
            found = one["differences"]
            seen.append((f"{one['size']} ({count(one['cells'])} cells)", *found["relative"]))
            rows.append([one["size"], count(one["cells"]), amount(found["mean_absolute"])])
            rows[-1] += [
                amount(found["root_mean_square"]),
                percent(found["relative"][1]),
                percent(one["honesty"]["held"]),
            ]
        if any(row[2] is not None for row in seen):
            pictures.append(
                (
                    f"{product['title']}: relative difference by records in the cell",
                    spreads(seen, "relative difference"),
                )
            )
        heads = [f"{product['name']}: records in the cell", "cells", "mean absolute", "root mean square"]
        sheets.append(Sheet([*heads, "median relative", "margins that hold"], rows))
    return Section(
        "size",
        "Differences by size of cell",
        "Noise does not grow with a cell, so large cells are right and small ones are not; look for the size from "
        "which on the numbers serve.",
        pictures,
        sheets,
        ["Over the tables of one and two attributes together."],
    )  # fmt: skip


def publishable_section(numbers: dict[str, Any]) -> Section:
    rows, bars, unknown = [], [], False
    for name, _, part in parts(numbers):
        one = part["publishable"]
        unknown = unknown or not one["count_known"]
        numbers_of = ("cells", "before", "after", "newly", "lost", "by_cv", "newly_by_cv")
        rows.append([name, *(count(one[key]) for key in numbers_of)])
        if one["cells"]:
            kept = one["before"] - one["lost"]
            shares = [value / one["cells"] for value in (kept, one["newly"], one["lost"])]
            bars.append((name, [*shares, max(0.0, 1 - sum(shares))]))
    rules = numbers["rules"]
    heads = ["table", "cells", "before", "after", "newly", "no longer", "after, by CV alone", "newly, by CV alone"]
    picture = parts_of(bars, ["accent", "noise", "lost", "rest"], "share of cells")
    notes = ["The released rule leaves out the number of records where the release has none."] if unknown else []
    return Section(
        "publishable",
        "What may be published",
        f"The rule asks for {rules['least']} records or more and a CV of at most {percent(rules['largest_cv'])}: "
        "before, of the true number by its sampling error; after, of the released one, whose CV counts the noise too.",
        [("Umber: publishable before and after. Ochre: newly. Hatched: no longer. Pale: neither", picture)] if bars else [],
        [Sheet(heads, rows)],
        [*notes, "By the CV alone is the relaxed rule: noise protects small cells, so that only precision is asked for."],
    )  # fmt: skip


def association_section(numbers: dict[str, Any]) -> Section | None:
    found = []
    for product in numbers["products"]:
        for one in product["tables"]:
            before, after = one["cramers_v"] or (None, None)
            if before is not None and after is not None:
                found.append((f"{product['name']}: {one['title']}", before, after))
    if not found:
        return None
    largest = sorted(found, key=lambda row: -abs(row[2] - row[1]))[:MOST_PAIRS]
    which = (
        f"the {len(largest)} pairs that changed most, of {len(found)}" if len(found) > len(largest) else "every pair"
    )
    return Section(
        "association",
        "Association: Cramér's V",
        "0 is no association of two attributes, 1 a perfect one; noise in small cells makes tables look more "
        "associated than they are, so mind pairs that rise.",
        [(f"Ring: true. Dot: released. Shown are {which}", changes(largest, "Cramér's V"))],
        notes=["Negative cells count as 0, and empty rows and columns are left out, before and after."],
    )


def overlap_section(numbers: dict[str, Any]) -> Section | None:
    rows = [
        [name, count(one["cells"]), amount(one["mean"]), amount(one["median"]), count(one["apart"])]
        for name, _, part in parts(numbers)
        if (one := part["overlap"])
    ]
    if not rows:
        return None
    heads = ["table", "cells", "mean", "median", "intervals apart"]
    return Section(
        "overlap",
        "Overlap of intervals",
        "How far the 95% interval with noise covers the one without (Karr et al. 2006): 1 if equal, 0.745 if shifted by "
        "one standard error, below 0 if apart.",
        sheets=[Sheet(heads, rows)],
        notes=["Over the cells that have a sampling error."],
    )


def tables_section(numbers: dict[str, Any]) -> Section:
    sheets = []
    for product in numbers["products"]:
        rows = []
        for one in product["tables"][:MOST_TABLES]:
            before, after = one["cramers_v"] or (None, None)
            found = one["differences"]
            rows.append([one["title"], count(one["cells"]), amount(found["mean_absolute"])])
            rows[-1] += [percent(found["relative"][1]), percent(one["honesty"]["held"]), amount(one["hellinger"])]
            rows[-1] += [amount(before), amount(after)]
        heads = [f"{product['name']} by", "cells", "mean absolute", "median relative", "margins that hold"]
        more = len(product["tables"]) - len(rows)
        note = f"{more} more tables are in the JSON." if more else ""
        sheets.append(Sheet([*heads, "Hellinger", "V before", "V after"], rows, note=note))
    left_out = [sentence for product in numbers["products"] for sentence in product["left_out"]]
    reads = "The same numbers table by table, for the tables that matter to you."
    return Section("tables", "Every table", reads, sheets=sheets, notes=left_out, folded=True)

"""The sections on honesty: stated against realised error, what errors are made of, what the bounds took."""

from typing import Any

from sfumato.confidential.assessment.charts import coverage, parts_of, percent
from sfumato.confidential.assessment.compared import LEVEL, share
from sfumato.confidential.assessment.layout import Section, Sheet, amount, count, parts


def honesty_section(numbers: dict[str, Any]) -> Section:
    rows, seen = [], []
    for name, _, part in parts(numbers):
        one = part["honesty"]
        rows.append([name, count(one["cells"]), percent(one["held"]), percent(one["truth"]), amount(one["squared"])])
        seen.append((name, one["held"], one["truth"], one["cells"]))
    heads = [
        "table",
        "cells",
        "hold what noise was added to",
        "hold the data as they are",
        "squared error over variance",
    ]
    words = "share of the 90% margins that hold the truth"
    return Section(
        "honesty",
        "Are the stated errors true?",
        "About nine in ten 90% margins should hold what the noise was added to, more where numbers move in whole steps; "
        "well below means that the release claims to be more precise than it is.",
        [("Dot: against what the noise was added to. Ring: against the data as they are, which clip and at_most changed", coverage(seen, LEVEL, words))]
        if any(row[1] is not None for row in seen)
        else [],
        [Sheet(heads, rows)],
        [
            "The last column is 1 where the stated variance is right, 2 where it is half of what it should be. The band "
            "holds nineteen of twenty honest releases if cells were independent; margins of one cube share their noise, "
            "so a release may lie outside it by chance."
        ],
    )  # fmt: skip


def errors_section(numbers: dict[str, Any]) -> Section:
    rows, literal, bars = [], [], []
    for name, product, part in parts(numbers):
        one = part["errors"]
        if not one:
            continue
        rows.append([name, product["unit"], amount(one["noise"]), amount(one["sampling"])])
        rows[-1] += [percent(one["noise_share"]) if one["sampling"] is not None else "–", amount(one["ratio"])]
        literal.append([name, product["unit"], amount(one["honest"]), amount(one["literal"]), count(one["gives_away"])])
        literal[-1] += [count(one["empty"]), percent(share(one["empty"], one["gives_away"]))]
        if one["ratio"] is not None:
            bars.append((name, [one["noise_share"], 1 - one["noise_share"]]))
    heads = ["table", "in", "noise, median", "sampling, median", "noise in all variance", "with over without"]
    instead = [
        "table",
        "in",
        "honest error",
        "var + (estimate − truth)²",
        "equal the estimate",
        "of those empty",
        "share",
    ]
    why = [
        f"{one['name']} has no sampling error here: {one['no_sampling_error']}."
        for one in numbers["products"]
        if one["no_sampling_error"]
    ]
    return Section(
        "errors",
        "Standard errors: noise beside sampling",
        "Where noise is a small part of the variance, protection costs users little; where it is most of it, more "
        "sample buys nothing.",
        [("Ochre: the noise's part of the variance. Slate: the sampling's", parts_of(bars, ["noise", "sampling"], "share of the variance"))] if bars else [],
        [Sheet(heads, rows, names=2), Sheet(instead, literal, names=2, note=LITERAL)],
        why,
    )  # fmt: skip


LITERAL = (
    "The formula of Li and Krenzke, var + (estimate − truth)², agrees with the honest error on average (root mean "
    "squares are shown) and must not leave the agency: in an empty cell it equals the estimate, so it says which cells "
    "are empty, and without sampling error it is the truth, up to a sign."
)


def bounds_section(numbers: dict[str, Any]) -> Section:
    rows = []
    for product in numbers["products"]:
        one = product["bounds"]
        worst = f"{percent(one['worst'])} in {one['worst_level']}" if one["worst_level"] else "–"
        rows.append([product["name"], one["clip"] or "none", amount(one["total"]), percent(one["clipped"]), worst])
        rows[-1] += [count(one["rows"]), count(one["dropped"]), percent(share(one["dropped"], one["rows"]))]
        rows[-1].append(percent(one["left_out"]))
    heads = [
        "product",
        "clip",
        "true total",
        "taken by clip and step",
        "most in a single level",
        "rows",
        "left out by at_most",
    ]
    notes = []
    if any(product["bounds"]["dropped"] for product in numbers["products"]):
        notes.append(
            "Which rows of a unit were left out was drawn by the run and cannot be known again; another draw of the "
            "same rule stands for it here."
        )
    return Section(
        "bounds",
        "What the bounds took",
        "Clip and at_most bend the numbers before any noise, always to the same side; no stated error speaks of it, so "
        "keep it well below the noise.",
        sheets=[Sheet([*heads, "share of rows", "share of total"], rows, names=2)],
        notes=notes,
    )  # fmt: skip

"""Sections: each metric with how to read it, its pictures, its sheets and what to mind."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sfumato.confidential.assessment.charts import Line, Spread, changes, coverage, curves, parts_of, spreads
from sfumato.confidential.assessment.comparisons import LEVEL, Numbers
from sfumato.confidential.assessment.layout import SAID, WORDS, ReportTable, count, divided, parts, percent, sheets_of

Picture = tuple[str, Markup]
MOST_PAIRS = 12


@dataclass(frozen=True)
class Section:
    """One metric: how to read it in one sentence, its pictures with captions, its sheets, what to mind."""

    id: str
    title: str
    reads: str
    mind: str
    pictures: Sequence[Picture]
    sheets: Sequence[ReportTable]


def sections(numbers: Numbers) -> Iterator[Section]:
    """Every metric that there is something to say of."""
    filled = _filled(numbers)
    for id_, words in WORDS.items():
        sheets = list(sheets_of(id_, numbers))
        pictures = list(PICTURES[id_](numbers)) if id_ in PICTURES else []
        if words.get("if_any") and not pictures and not any(sheet.rows for sheet in sheets):
            continue
        reads, mind = (words.get(key, "").format(**filled) for key in ("reads", "mind"))
        yield Section(id_, words["title"], reads, mind, pictures, sheets)


def _filled(numbers: Numbers) -> Numbers:
    """What fills the names in the words of metrics."""
    rules, sweep = numbers["rules"], numbers["sweep"] or {"draws": 0, "currency": ""}
    draws = f"{sweep['draws']} seeded draw{'s' if sweep['draws'] > 1 else ''}"
    weighted = f", {rules['least_weighted']:,.6g} by their weights" if rules["least_weighted"] is not None else ""
    ruled = {
        "weighted": weighted,
        "near": rules["near_zero"],
        "least": rules["least"],
        "cv": percent(rules["largest_cv"]),
    }
    return ruled | {"grade": percent(numbers["grades"]["A"]), "draws": draws, "currency": sweep["currency"]}


def _flips(numbers: Numbers) -> Iterator[Picture]:
    flips = [(name, part["flips"]) for name, _, part in parts(numbers)]
    moved = [(name, one["to_nonzero"] / one["zeros"]) for name, one in flips if one["zeros"]]
    if moved:
        bars = [(name, [rose, 1 - rose]) for name, rose in moved]
        yield SAID["emptied"], parts_of(bars, ["noise", "rest"], "share")


def _errors(numbers: Numbers) -> Iterator[Picture]:
    errors = [(name, part["errors"]) for name, _, part in parts(numbers) if part["errors"]]
    sampled = [(name, one["noise_share"]) for name, one in errors if one["ratio"] is not None]
    if sampled:
        bars = [(name, [noise, 1 - noise]) for name, noise in sampled]
        yield SAID["shared"], parts_of(bars, ["noise", "sampling"], "share of the variance")


def _publishable(numbers: Numbers) -> Iterator[Picture]:
    bars = []
    for name, _, part in parts(numbers):
        one = part["publishable"]
        if one["cells"]:
            shares = [value / one["cells"] for value in (one["before"] - one["lost"], one["newly"], one["lost"])]
            bars.append((name, [*shares, max(0.0, 1 - sum(shares))]))
    if bars:
        yield SAID["ruled"], parts_of(bars, ["accent", "noise", "lost", "rest"], "share of cells")


def _smears(caption: str, rows: Sequence[Spread]) -> Iterator[Picture]:
    if any(middle is not None for _, _, middle, _ in rows):
        yield caption, spreads(rows, "relative difference")


def _differences(numbers: Numbers) -> Iterator[Picture]:
    return _smears(SAID["smeared"], [(name, *part["differences"]["relative"]) for name, _, part in parts(numbers)])


def _means(numbers: Numbers) -> Iterator[Picture]:
    return _smears(SAID["smeared"], [(name, *one["differences"]["relative"]) for name, one in divided(numbers)])


def _sizes(numbers: Numbers) -> Iterator[Picture]:
    for product in numbers["products"]:
        sizes = [
            (f"{one['size']} ({count(one['cells'])} cell{'s' * (one['cells'] != 1)})", one["differences"])
            for one in product["by_size"]
        ]
        caption = f"{product['title']}, by the records in a cell: relative difference, first to ninth decile"
        yield from _smears(caption, [(name, *one["relative"]) for name, one in sizes])


def _association(numbers: Numbers) -> Iterator[Picture]:
    for product in numbers["products"]:
        both = [(table["title"], *table["cramers_v"]) for table in product["tables"] if table["cramers_v"]]
        found = [row for row in both if row[1] is not None and row[2] is not None]
        largest = sorted(found, key=lambda row: -abs(row[2] - row[1]))[:MOST_PAIRS]
        some = len(found) > len(largest)
        which = f"the {len(largest)} pairs of {len(found)} that changed most" if some else "all pairs"
        if found:
            caption = f"{product['title']}: ring, true; dot, released; {which}"
            yield caption, changes(largest, "Cramér's V")


def _honesty(numbers: Numbers) -> Iterator[Picture]:
    told = [(name, part["honesty"], part["independent"]) for name, _, part in parts(numbers)]
    seen = [(name, one["held"], one["truth"], cells) for name, one, cells in told if one["held"] is not None]
    if seen:
        yield SAID["covered"], coverage(seen, LEVEL, "share of the 90% margins that hold the truth")


def _sweep(numbers: Numbers) -> Iterator[Picture]:
    for caption, key in (("cheaper", "relative"), ("better", "grade_a")):
        if numbers["sweep"]:
            lines, now = _lines(numbers["sweep"], key), numbers["release"]["power"]
            yield SAID[caption], curves(lines, now, SAID[caption], falls=key == "relative")


def _lines(sweep: Numbers, key: str) -> list[Line]:
    """A line for every product and cap, from the smallest loss to the largest."""
    lines: dict[str, list[tuple[float, float, str]]] = {}
    for point in sweep["points"]:
        for utility in point["utilities"]:
            name = utility["product"] + (f", cap {point['cap']}" if point["cap"] is not None else "")
            if utility[key] is not None:
                lines.setdefault(name, []).append((point["power"], utility[key], f"{point['total']:g}"))
    return [(name, sorted(points)) for name, points in lines.items()]


PICTURES = {
    "flips": _flips,
    "differences": _differences,
    "size": _sizes,
    "means": _means,
    "publishable": _publishable,
    "association": _association,
    "honesty": _honesty,
    "errors": _errors,
    "sweep": _sweep,
}

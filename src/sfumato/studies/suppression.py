"""Suppression: what the slides show of it, worked out, and what it takes of a synthetic census of employers."""

from collections.abc import Mapping
from fractions import Fraction
from math import erf, log10, sqrt

import numpy as np

from sfumato.confidential.suppress import Contributions, Needs, PrimaryRules, protect
from sfumato.studies.study import Line
from sfumato.suppression import Floats, LinkedTables, Nesting, Published, Required, audit, decide
from sfumato.synth.qcew import Economy
from sfumato.synth.qcew_codes import industries

QUARTERS = ("Q1", "Q2", "Q3", "Q4")
JOBS = {"1": (22, 22, 23, 22), "2": (16, 17, 15, 17), "3": (15, 15, 13, 15)}
"""Industry by quarter, on the slides of the sensitive cell."""
SERIES = {"Sub1": (1981, 2256, 2382, 1957), "Sub2": (32, 33, 37, 33), "Sub3": (587, 610, 603, 609)}
"""The parts of Series 1 by quarter."""
SHOWN = {"1": (23, 21, 23, 21), "2": (16, 19, 13, 17), "3": (15, 15, 14, 15)}
"""What the slide shows as the same table with rounded normal noise of variance 1."""
REAL = "51.8% of the six-digit cells of real QCEW"
"""New Jersey, 16 counties, early 2016: 5,803 of 11,211 rows of aggregation level 78 have disclosure code N."""
ESTABLISHMENTS = 25_000


class Quarters:
    """Parts in four quarters and all their totals; without annual ones where the slide leaves them out."""

    def __init__(self, parts: Mapping[str, tuple[int, ...]], *, annual: bool = True) -> None:
        self.parts = parts
        rows = Nesting.under("part", dict.fromkeys(parts, ""), whole=annual)
        self.linked = LinkedTables.of([[rows, Nesting.under("quarter", dict.fromkeys(QUARTERS, ""), whole=annual)]])
        self.values = np.array([self._sum(**self.linked.named(cell)) for cell in range(self.linked.size)])

    def _sum(self, part: str = "", quarter: str = "") -> float:
        rows = [self.parts[part]] if part else list(self.parts.values())
        return float(sum(row[QUARTERS.index(quarter)] if quarter else sum(row) for row in rows))

    def cell(self, part: str, quarter: str) -> int:
        return self.linked.find({"part": part, "quarter": quarter})

    def without(self, holes: list[tuple[str, str]]) -> Floats:
        values = self.values.copy()
        values[[self.cell(*hole) for hole in holes]] = np.nan
        return values

    def intervals(self, holes: list[tuple[str, str]]) -> str:
        """What an attacker works out of some missing cells."""
        found = audit(Published.of(self.linked, self.without(holes)))
        told = [found.interval(self.cell(*hole)) for hole in holes]
        return ", ".join(f"{low:g}" if low == high else f"[{low:g}, {high:g}]" for low, high in told)

    def protected(self, part: str, quarter: str) -> tuple[int, bool, bool]:
        """How many secondary cells a sensitive one takes, whether that is safe, and whether the cell alone is."""
        need = np.zeros(self.linked.size)
        cell = self.cell(part, quarter)
        need[cell] = self.values[cell] / 10
        asked = Needs(need, need.copy(), ["given" if place == cell else "" for place in range(len(need))])
        cells = Contributions.told(self.values, np.full(len(need), 3), np.full((len(need), 1), np.nan))
        pattern = protect(self.linked, cells, PrimaryRules(), asked=asked)
        required = Required(self.values, need, need)
        published = [np.where(kept, np.nan, self.values) for kept in (pattern.suppressed, need > 0)]
        safe = [not decide(Published.of(self.linked, values), required) for values in published]
        return pattern.count("secondary"), safe[0], safe[1]


def lines(_runs: int) -> list[Line]:
    """The slides one by one, then a synthetic census."""
    return [*slides(), *census()]


def slides() -> list[Line]:
    """What the slides show, and the same tables suppressed by us."""
    slide = Quarters(JOBS)
    row = [("1", "Q2"), ("1", "Q3")]
    cheese = [*row, ("3", "Q2"), ("3", "Q3")]
    found = [
        Line(
            "one cell removed: industry 1, Q2",
            "22",
            slide.intervals(row[:1]),
            "the only value it can have",
            place="'Cell Suppression'",
        ),
        Line("two cells of one row", "", slide.intervals(row), "both known exactly"),
        Line("Swiss cheese", "", slide.intervals(cheese), "industries 1 and 3, Q2 and Q3"),
    ]
    found += [*_neighbours(), _noise()]
    for what, table, cell in (
        ("the same table by us", slide, ("1", "Q2")),
        ("Series 1 and its parts by us, Sub2 in Q1 sensitive", Quarters(SERIES), ("Sub2", "Q1")),
    ):
        secondary, safe, alone = table.protected(*cell)
        passes = "passes the audit" if safe else "FAILS the audit"
        told = "the sensitive cell alone passes" if alone else "the sensitive cell alone fails it"
        found.append(Line(what, "", f"{secondary} secondary cells", f"{passes}; {told}"))
    return found


def _neighbours() -> list[Line]:
    """Whether a published table tells D from D*, in which one value is another."""
    hidden, open_ = ({**JOBS, "1": (22, 24, 23, 22)}, {**JOBS, "1": (22, 22, 27, 22)})
    told = []
    for what, other, annual, printed in (
        ("D* with another value in the missing cell, no totals", hidden, False, "M(D*) = M(D)"),
        ("D* with another value in a published cell, no totals", open_, False, "M(D*) ≠ M(D)"),
        (
            "D* with another value in the missing cell, annual totals",
            hidden,
            True,
            "not true if we publish annual totals",
        ),
    ):
        tables = [Quarters(parts, annual=annual).without([("1", "Q2")]) for parts in (JOBS, other)]
        same = np.array_equal(tables[0], tables[1], equal_nan=True)
        ours = "the same publication" if same else "told apart"
        told.append(Line(what, printed, ours, place="'Cell Suppression', deterministic method"))
    return told


def _noise() -> Line:
    """The chance of the table that the slide shows, under D and under the D* that suppression tells from it."""
    chances = [_chance(parts) for parts in (JOBS, {**JOBS, "1": (22, 22, 27, 22)})]
    ours = " and ".join(f"{10**chance:.1e}" for chance in chances)
    return Line(
        "its noisy table under D and under D*",
        "P(M(D*) = M(D)) > 0",
        ours,
        "chances, noise N(0, 1) rounded",
        "'Formal Privacy'",
    )


def _chance(parts: Mapping[str, tuple[int, ...]]) -> float:
    """The logarithm to base 10 of the chance that rounded normal noise makes the table that is shown."""
    steps = [shown - true for row, values in parts.items() for shown, true in zip(SHOWN[row], values, strict=True)]
    return sum(log10((erf((step + 0.5) / sqrt(2)) - erf((step - 0.5) / sqrt(2))) / 2) for step in steps)


def census(rows: int = ESTABLISHMENTS) -> list[Line]:
    """What n < 3 and the 10% rule, by firm, and their secondary cells take of a synthetic QCEW."""
    economy = Economy(rows)
    (piece,) = economy.pieces()
    reports, frame = piece.reports(0), piece.frame()
    kept = reports.join(frame, "establishment_id").combine_chunks()
    industry = Nesting.under("industry", {str(level["code"]): str(level["parent"]) for level in industries()})
    county = Nesting.under("county", dict.fromkeys(economy.counties, ""))
    linked = LinkedTables.of([[industry, county]])
    codes = {"industry": kept["naics"].cast("string").to_pylist(), "county": kept["county"].cast("string").to_pylist()}
    cells = Contributions.of(linked, codes, np.asarray(kept["m3emp"]), kept["firm_id"].to_pylist())
    pattern = protect(linked, cells, PrimaryRules(3, p=Fraction(1, 10)), contributors=False)
    leaf = np.array([len(code) == 6 for code in linked.column("industry")])
    six = leaf & (cells.counts > 0) & np.array([bool(code) for code in linked.column("county")])
    primary, secondary = (float(pattern.where(status)[six].mean()) for status in ("primary", "secondary"))
    what = f"six-digit cells by county, {rows:,} establishments"
    return [
        Line(f"{what}: sensitive", "", f"{primary:.1%}", "fewer than 3 firms, or the 10% rule"),
        Line(f"{what}: missing", "over 60% of all possible cells", f"{primary + secondary:.1%}", REAL, "'Suppression'"),
    ]

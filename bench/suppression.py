"""Secondary suppression of hierarchical tables of growing size, and the audit of what it leaves.

Establishments of skewed sizes, one in ten of a larger firm, by six-digit industry in five levels and by county, in the
larger tables within regions; n < 3 and the 10% rule by firm. Ours is the whole of `protect`, against anybody: rules,
programs, clean-up and its own audit; beside it stands the audit alone, the decision for every sensitive cell from the
finished pattern. CPU seconds of this process, one thread; cells are those that are not empty.
"""

import time
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from bench.line import Line

from sfumato.confidential.suppress import Contributions, PrimaryRules, needs, protect
from sfumato.suppression import LinkedTables, Nesting, Published, Required, decide

SIZES = ((5, 80, 1_500, 0), (10, 160, 4_000, 3), (30, 250, 9_000, 5))
"""Counties, industries, establishments and regions."""
RULES = PrimaryRules(3, p=Fraction(1, 10))


def lines(*, quick: bool) -> Iterator[Line]:
    for size in SIZES[:1] if quick else SIZES:
        yield protected(*size)


def economy(counties: int, industries: int, establishments: int, regions: int) -> tuple[LinkedTables, Contributions]:
    """Linked cells by industry and county, and who contributes to them."""
    rng = np.random.default_rng(1)
    leaves = [f"{11 + i % 20}{i // 20 % 5}{i // 100 % 4}{i // 400 % 3}{i // 1200}" for i in range(industries)]
    under = {code[:depth]: code[: depth - 1] if depth > 2 else "" for code in leaves for depth in range(2, 7)}
    places = {f"c{number}": f"r{number % regions}" if regions else "" for number in range(counties)}
    trees = places | dict.fromkeys(sorted({region for region in places.values() if region}), "")
    linked = LinkedTables.of([[Nesting.under("industry", under), Nesting.under("county", trees)]])
    weights, attraction = (1.0 + np.arange(industries)) ** -0.6, np.exp(rng.normal(0, 1.1, counties))
    industry = rng.choice(industries, establishments, p=weights / weights.sum())
    county = rng.choice(counties, establishments, p=attraction / attraction.sum())
    codes = {"industry": [leaves[i] for i in industry], "county": [f"c{c}" for c in county]}
    jobs = np.rint(np.exp(rng.normal(1.6, 1.3, establishments))) + 1
    own = np.arange(establishments) + establishments
    firms = np.where(rng.random(establishments) < 0.1, rng.integers(0, establishments // 20, establishments), own)
    return linked, Contributions.of(linked, codes, jobs, firms.tolist())


def protected(counties: int, industries: int, establishments: int, regions: int) -> Line:
    linked, cells = economy(counties, industries, establishments, regions)
    start = time.process_time()
    pattern = protect(linked, cells, RULES, contributors=False)
    ours = time.process_time() - start
    asked = needs(linked, cells, RULES)
    required = Required(cells.totals, asked.upper, np.minimum(asked.lower, cells.totals))
    start = time.process_time()
    found = decide(Published.of(linked, np.where(pattern.suppressed, np.nan, cells.totals)), required)
    audited = time.process_time() - start
    count = int((cells.counts > 0).sum())
    told = (
        f"{pattern.count('primary'):,} primary, {pattern.count('secondary'):,} secondary, {pattern.share:.0%} missing"
    )
    return Line(
        f"suppression, {count:,} cells", "CPU s", ours, "its audit alone", audited, cpu=ours, cpu_theirs=audited,
        agree=not found, note=f"{told}; {pattern.work.programs + pattern.work.tried:,} programs",
    )  # fmt: skip

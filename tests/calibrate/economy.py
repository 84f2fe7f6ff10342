"""A small economy of establishments in a frame, and what the mechanisms publish of it."""

from fractions import Fraction

import numpy as np

from sfumato.draws import SeededDraws
from sfumato.mechanisms import Cells, ClippedTotal, SquareRoot
from sfumato.privacy import Root
from sfumato.release import Product, Subject
from sfumato.release import measured as as_product
from sfumato.schema import Attribute, Frame, Level, Levels

HALF = Fraction(1, 2)
COUNTY, TRADE = Level("county"), Level("trade", 0)
SETS = {"all": (), "county": (COUNTY,), "trade": (TRADE,), "cell": (COUNTY, TRADE)}


def economy(rows: int = 600, seed: int = 1) -> tuple[Frame, np.ndarray]:
    """Skewed sizes with zeros among them, in three counties and twelve trades of two levels."""
    rng = np.random.default_rng(seed)
    trades = [{"code": f"{one}"} for one in range(6)]
    trades += [{"code": f"{one}{two}", "parent": f"{one}"} for one in range(6) for two in range(2)]
    attributes = (Attribute("county", Levels.of("abc")), Attribute("trade", Levels.of(trades)))
    places = {"county": rng.integers(0, 3, rows), "trade": (rng.random(rows) ** 2 * 12).astype(int)}
    jobs = np.floor(rng.lognormal(1.7, 1.3, rows)).astype(np.int64)
    frame = Frame("unit", attributes, {name: one.astype(np.int32) for name, one in places.items()}, range(rows))
    return frame, np.where(rng.random(rows) < 0.05, 0, jobs)


def measured(frame, jobs, name, with_, draws, given=None, by=None) -> Product:
    grouping = None if by is None else frame.grouped(by)
    table = frame if grouping is None else grouping.groups
    noisy = with_.perturb(Cells(table, jobs, Fraction(1), Root(HALF), grouping), draws, given)
    return as_product(Subject(name, "total", name, "jobs", noisy.step), noisy, with_.uncertainty(noisy))


def products(frame, jobs, seed, sets=SETS, mu="0.7", totals=ClippedTotal) -> dict[str, Product]:
    draws = SeededDraws(seed)
    found = {"rows": measured(frame, jobs, "rows", SquareRoot(mu), draws)}
    rows = {"rows": found["rows"]}
    return found | {name: measured(frame, jobs, name, totals("0.6"), draws, rows, by) for name, by in sets.items()}

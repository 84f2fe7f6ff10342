"""The tables of the slides, and the fictitious tables of ../shared where they are there."""

from pathlib import Path

import numpy as np
import pytest

from sfumato.suppression import LinkedTables, Nesting

SHARED = Path(__file__).parents[3] / "shared" / "data"
QUARTERS = ("Q1", "Q2", "Q3", "Q4")
JOBS = {"1": (22, 22, 23, 22), "2": (16, 17, 15, 17), "3": (15, 15, 13, 15)}
"""Industry by quarter: Toth, 'Disclosure limitation', the slide of the sensitive cell."""


class Slide:
    """Three industries in four quarters, with their totals."""

    def __init__(self, *, annual: bool = True) -> None:
        industry = Nesting.under("industry", dict.fromkeys(JOBS, ""))
        quarter = Nesting.under("quarter", dict.fromkeys(QUARTERS, ""), whole=annual)
        self.linked = LinkedTables.of([[industry, quarter]])
        self.values = np.array([self.sum(**self.linked.named(cell)) for cell in range(self.linked.size)])

    @staticmethod
    def sum(industry: str = "", quarter: str = "") -> float:
        rows = [JOBS[industry]] if industry else list(JOBS.values())
        return float(sum(row[QUARTERS.index(quarter)] if quarter else sum(row) for row in rows))

    def cell(self, industry: str, quarter: str) -> int:
        return self.linked.find({"industry": industry, "quarter": quarter})

    def without(self, *holes: tuple[str, str]) -> np.ndarray:
        values = self.values.copy()
        values[[self.cell(*hole) for hole in holes]] = np.nan
        return values


@pytest.fixture
def slide() -> Slide:
    return Slide()

"""The mayor's simulation on the whole table of Fürth, 853 areas times 188 combinations, 5,000 times, cell by cell.

Four tables of each draw: signed, cells below 0 set to 0, set to 1, and records with calibration weights. Cells are
drawn exactly; totals of the signed table alone could be had by the shortcut of `iab_small`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from sfumato.draws import Draws, SeededDraws, TwoSidedGeometric
from sfumato.kernels.choose import compiled
from sfumato.kernels.signs import Integers, Summed
from sfumato.release.noisy import Floats
from sfumato.studies.iab_mayor import QUESTIONS
from sfumato.studies.iab_small import RATES, noisy_totals, summed_up, variance_of
from sfumato.studies.iab_table import furth
from sfumato.studies.study import Line

WAYS = ("signed", "set to 0", "one carrier", "calibrated")
Printed = dict[str, tuple[float, float, float, float]]
TO_ZERO: Printed = {
    "# not employed": (10_778.41, 1.8, 0, 439.41),
    "# not employed foreigners": (3_999.96, 2.05, 0, 310.71),
    "% not employed": (7.66, 1.89, 0, 0.31),
    "% not employed among foreigners": (6.75, 2.11, 0, 0.52),
}
CALIBRATED: Printed = {
    "# not employed": (8_023.74, 0.97, 94.36, 439.41),
    "# not employed foreigners": (2_258.13, 0.99, 94.66, 310.71),
    "% not employed": (18.81, 0.97, 94.78, 1.24),
    "% not employed among foreigners": (40.28, 1.01, 95.14, 11.14),
}
PUBLISHED = {"one carrier": TO_ZERO, "calibrated": CALIBRATED}
"""The slide of 'negatives set to zero' stands beside one carrier: what it prints is above what 0 can give."""
PLACES = {"one carrier": "the slide of negatives set to zero", "calibrated": "the slide of the calibration approach"}
RUNS_AT_ONCE = 16
"""Runs that are drawn together: enough for the sampler to be at its best."""


@dataclass(frozen=True)
class Furth:
    """The true cells of the table, group by group of people, and where each group ends."""

    cells: Integers
    ends: Integers

    @property
    def sizes(self) -> Floats:
        return np.diff(self.ends, prepend=0).astype(np.float64)

    def runs(self, rate: Fraction, runs: int, draws: Draws) -> Iterator[Summed]:
        """What the groups sum to, a draw of all cells after the other."""
        law, size, kernel = TwoSidedGeometric(rate), len(self.cells), compiled("signs")
        compiled("draws")
        for start in range(0, runs, RUNS_AT_ONCE):
            some = min(RUNS_AT_ONCE, runs - start)
            noise = law.draw(some * size, draws).reshape(some, size)
            for one in noise:
                yield kernel.summed(one, self.cells, self.ends)


def simulated(furth: Furth, rate: Fraction, runs: int, draws: Draws) -> dict[str, Floats]:
    """The totals of the groups in every run, by how cells below 0 were treated."""
    found = list(furth.runs(rate, runs, draws))
    signed, below, count = (np.array([run[place] for run in found], dtype=np.float64) for place in range(3))
    weighted = np.array([run.weighted for run in found])
    return dict(zip(WAYS, (signed, signed - below, signed - below + count, weighted), strict=True))


def lines(runs: int) -> list[Line]:
    """The four answers from each of the four tables; and the lengths that a sound epsilon of 1 gives."""
    truth = Furth(*furth())
    found = []
    totals = simulated(truth, Fraction(1), runs, SeededDraws(1))
    for way in WAYS:
        for question in QUESTIONS:
            published = PUBLISHED.get(way, {}).get(question.name)
            name, plain = f"{way}: {question.name}", way == "signed"
            rows = summed_up(name, question, totals[way], truth.sizes, variance_of(1.0), published, exact=plain)
            found += [replace(row, place=PLACES[way]) for row in rows] if published else rows
    return [*found, *_sound(truth, runs)]


def _sound(truth: Furth, runs: int) -> list[Line]:
    """The same for a promise that holds where sizes of areas are public; totals are drawn by the shortcut."""
    rate = RATES["sound"]
    totals = noisy_totals(truth.sizes, rate, runs, np.random.default_rng(2))
    asked = (summed_up(f"sound: {one.name}", one, totals, truth.sizes, variance_of(rate), None) for one in QUESTIONS)
    return [line for lines in asked for line in lines]

"""The door of sparse tables, cell by cell: all cells together have the law of a draw for each, the first and last too.

A wide table would hide a single cell without noise, so the tables here are tiny and published thousands of times. Each
check has a false-alarm rate of 1e-9; the draws are seeded, so what passes once passes always.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from contract_moves import MOVES
from scipy.stats import chi2

from sfumato.draws import Law, SeededDraws
from sfumato.draws.changes import Changed
from sfumato.mechanisms import Cells, DiscreteGaussian, Geometric, RoundedGaussian, additive
from sfumato.schema import Attribute, Levels, Rule, Table

ONE = MOVES["count add-remove 1"]
TABLE = Table(
    (Attribute("row", Levels.of(range(2))), Attribute("column", Levels.of(range(3)))),
    (Rule.of({"row": "1", "column": "0"}),),
)
TRUE = np.array([0, 3, 0, 0, -2, 0])
HELD = np.array([1, 2, 4])  # the third holds records that sum to 0, as totals may
POSSIBLE = [0, 1, 2, 4, 5]
SOUND = [Geometric(1), Geometric(3), DiscreteGaussian(2), RoundedGaussian(3)]
"""The first changes more than half of all cells, so that each is drawn; of the others the gaps between changes are."""


def published(mechanism_, calls: int = 4000, seed: int = 3) -> np.ndarray:
    """The noise of every cell, a row a call."""
    cells, draws = Cells(TABLE, TRUE[HELD], Fraction(1), ONE, places=HELD), SeededDraws(seed)
    found = np.zeros((calls, TABLE.size), dtype=np.int64)
    for row in found:
        noisy = mechanism_.perturb(cells, draws)
        assert (noisy.values != 0).all()
        row[noisy.places] = noisy.values
    return found - TRUE


def faults(noise: np.ndarray, law: Law) -> list[str]:
    """What the signs of all cells together, and the size of each, have that independent draws of the law have not."""
    said = ["an impossible cell is listed"] if noise[:, 3].any() else []
    change = float(law.survival(1))
    signs = np.array([change / 2, 1 - change, change / 2])
    chances = np.array([np.prod(signs[list(way)]) for way in product(range(3), repeat=5)])
    counted = np.bincount((np.sign(noise[:, POSSIBLE]) + 1) @ 3 ** np.arange(4, -1, -1), minlength=243)
    said += ["cells are not independent draws"] if unlikely(counted, chances) else []
    sizes = np.array([float(law.survival(m)) for m in range(1, 60)])
    for place in POSSIBLE:
        counted = np.bincount(np.minimum(np.abs(noise[:, place]), 59), minlength=60)
        if unlikely(counted, np.concatenate([[1 - change], sizes[:-1] - sizes[1:], sizes[-1:]])):
            said.append(f"cell {place} has noise of another law")
    return said


def unlikely(counted: np.ndarray, chances: np.ndarray) -> bool:
    """Chi-square, outcomes that are expected fewer than ten times taken together."""
    expected = counted.sum() * chances
    often = expected >= 10
    counted, expected = (np.append(part[often], part[~often].sum()) for part in (counted, expected))
    kept = expected > 1e-6
    return bool(chi2.sf(((counted - expected)[kept] ** 2 / expected[kept]).sum(), kept.sum() - 1) < 1e-9)


@pytest.mark.parametrize("sound", SOUND, ids=lambda one: one.words())
def test_every_cell_is_noisy_by_the_law_and_none_knows_of_another(sound):
    assert faults(published(sound), sound.law(ONE)) == []


@dataclass(frozen=True)
class Shifted:
    """Changes that land one cell further on."""

    law: Law

    def changed(self, n, draws):
        for some in self.law.changed(n, draws):
            inside = some.places + 1 < n
            yield Changed(some.places[inside] + 1, some.values[inside])


def bare(chosen):
    """A door that leaves the cells that are chosen, of a table and its records, as they are."""

    def door(cells, law, draws):
        values = np.zeros(TABLE.size, dtype=np.int64)
        places, noisy = SOUND_DOOR(cells, law, draws)
        values[places] = noisy
        kept = chosen(np.arange(TABLE.size), cells.places)
        values[kept] = TRUE[kept]
        return np.flatnonzero(values), values[np.flatnonzero(values)]

    return door


SOUND_DOOR = additive.scattered
DOORS = {
    "records alone are noisy": bare(lambda places, held: ~np.isin(places, held)),
    "records are not noisy": bare(np.isin),
    "the first cell is not noisy": bare(lambda places, held: places == 0),
    "the last cell is not noisy": bare(lambda places, held: places == TABLE.size - 1),
    "changes are one cell off": lambda cells, law, draws: SOUND_DOOR(cells, Shifted(law), draws),
}


@pytest.mark.parametrize("sound", SOUND, ids=lambda one: one.words())
@pytest.mark.parametrize("door", DOORS.values(), ids=list(DOORS))
def test_a_door_that_leaves_out_a_single_cell_is_rejected(door, sound, monkeypatch):
    monkeypatch.setattr(additive, "scattered", door)
    assert faults(published(sound, calls=1500), sound.law(ONE))

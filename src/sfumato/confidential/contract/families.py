"""Mechanisms on families of tables: records put into their cells one by one, and noise through their own door.

Every coordinate has normal noise of its own, rounded or discrete, so neighbours whose contrasts are d apart, each over
its own scale, lose mu = |d| or rho = |d|² / 2 at most.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
from scipy.stats import norm

from sfumato.confidential.contract.drawn import FALSE_ALARM
from sfumato.draws import Draws
from sfumato.mechanisms import Cells, Mechanism
from sfumato.privacy import Concentrated, EveryTable, Gaussian
from sfumato.schema import Family

TOLERANCE, MOST_RECORDS = 1e-9, 200
"""What floating point may add to a distance, and how many pairs of records are tried."""
COPIES, MOST_DRAWS = 8_000, 40_000_000
"""How often everything is published, at the most, and how many draws that may take."""


def no_record_is_further(mechanism: Mechanism, move: EveryTable, step: Fraction, draws: Draws) -> list[str]:
    """Complaints about units whose rows, all in one cell or put into another, lose more than is claimed."""
    claim = mechanism.loss(move)
    if not isinstance(claim, (Gaussian, Concentrated)):
        return [f"{claim.words()} is no claim that is known here"]
    most = claim.mu if isinstance(claim, Gaussian) else math.sqrt(2 * float(claim.rho))
    empty = Cells(move.family, np.zeros(move.family.size, dtype=np.int64), step, move)
    scales, said = mechanism.scales(mechanism.perturb(empty, draws)), []
    for cells in _moved(move, empty, draws):
        far = float(np.linalg.norm(mechanism.clean(cells) / scales))
        if not far <= most * (1 + TOLERANCE):
            said.append(f"{claim.words()} broken by rows that move {far:.6f} standard deviations")
    return said


def _moved(move: EveryTable, empty: Cells, draws: Draws) -> Iterator[Cells]:
    """Cells that differ from empty ones as far as rows of a unit go: all into one cell, or from one to another."""
    family = move.family
    for _ in range(MOST_RECORDS):
        one, other = (_record(family, draws) for _ in range(2))
        if move.kept is None:
            yield replace(empty, values=move.rows.l1 * _placed(family, one))
            continue
        other = [
            first if name in move.kept else second for name, first, second in zip(family.names, one, other, strict=True)
        ]
        yield replace(empty, values=move.rows.l1 // 2 * (_placed(family, one) - _placed(family, other)))


def _record(family: Family, draws: Draws) -> list[int]:
    """A leaf of every attribute."""
    return [int(draws.bits(64) % len(one.levels.leaves)) for one in family.attributes]


def _placed(family: Family, record: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """One record in its cell of every table."""
    found = np.zeros(family.size, dtype=np.int64)
    for top, where in zip(family.tops, family.slices, strict=True):
        told = [(tree.rungs[level], leaf) for tree, level, leaf in zip(family.trees, top, record, strict=True) if level]
        place = np.ravel_multi_index([rung.parts.of[leaf] for rung, leaf in told], family.shape(top)) if told else 0
        found[where.start + int(place)] = 1
    return found


def every_component_has_its_noise(mechanism: Mechanism, move: EveryTable, step: Fraction, draws: Draws) -> list[str]:
    """The mean and the variance of the noise of each component, in its own scale, and what two copies share."""
    empty = Cells(move.family, np.zeros(move.family.size, dtype=np.int64), step, move)
    once = mechanism.perturb(empty, draws)
    copies = max(2, min(COPIES, MOST_DRAWS // once.values.size))
    stacked = replace(empty, values=np.zeros((copies, move.family.size), dtype=np.int64))
    noise = mechanism.seen(mechanism.perturb(stacked, draws)) / mechanism.scales(once)
    said, start, strict = [], 0, norm.isf(FALSE_ALARM / (6 * len(move.family.components)))
    for one in move.family.components:
        part = noise[:, start : start + math.prod(move.family.shape(one))]
        start += part.shape[1]
        root = math.sqrt(part.size)
        z = abs(part.mean()) * root, (np.mean(part**2) - 1) * root / math.sqrt(2)
        shared = float(np.mean(part[::2][: copies // 2] * part[1::2][: copies // 2])) * math.sqrt(part.size / 2)
        # Rounding adds 1/12 of a step, squared, to the variance of the narrowest noise.
        if z[0] > strict or abs(shared) > strict or not -strict < z[1] < strict + root / 12:
            said.append(
                f"the noise of component {one} is {z[0]:.1f} errors off in its mean, {z[1]:.1f} in its variance"
            )
    return said


FAMILY_CHECKS = {
    "no record is further": no_record_is_further,
    "every component has its noise": every_component_has_its_noise,
}

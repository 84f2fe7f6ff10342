"""Mechanisms between square-root neighbours: farthest neighbours by the exact rule, and noise through their own door.

Neighbours are found in rationals: √b − √a <= beta for b >= a exactly where d = b − a − beta² is at most 0, or d² is
4 beta² a at most. Rounding a normal is post-processing of it, so cells that go d in all, each over its own deviation,
lose no more than mu = |d|.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from sfumato.confidential.contract.drawn import Drawn
from sfumato.confidential.copies import published, watched_rows
from sfumato.confidential.stated import Samples
from sfumato.draws import Draws, Law
from sfumato.mechanisms import Cells, Mechanism
from sfumato.privacy import Gaussian, Root
from sfumato.privacy.neighbours.square_root_within import worst_sizes
from sfumato.release import Product
from sfumato.schema import Frame, Grouping

SIZES = (0, 1, 2, 5, 20, 100, 1_000, 100_000)
TOLERANCE = 1e-9
SAMPLES = 200_000
Sides = tuple[Cells, Cells]


def farthest(size: int, beta: Fraction, step: Fraction) -> int:
    """The largest neighbour of a size, in steps.

    >>> farthest(100, Fraction(1), Fraction(1)), farthest(0, Fraction(1, 2), Fraction(1, 4))
    (121, 1)
    """
    low, high = size, size + 1
    while _alike(size, high, beta**2 / step):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _alike(size, middle, beta**2 / step) else (low, middle)
    return low


def _alike(low: int, high: int, squared: Fraction) -> bool:
    far = high - low - squared
    return far <= 0 or far**2 <= 4 * squared * low


def moved_rows(
    mechanism: Mechanism, move: Root, sizes: tuple[int, int], step: Fraction, draws: Draws
) -> tuple[Sides, Mapping[str, Product]]:
    """The rows of a firm that go from one size to another, and one that stays; in one group where it is given rows."""
    moving = math.isqrt(move.crowded) if mechanism.rests_on else move.units
    rows = Frame("row", (), {}, range(moving + 1))
    group = Grouping(Frame("group", (), {}, range(1)), np.zeros(moving + 1, dtype=np.int32))
    one, other = (Cells(rows, np.array([size] * moving + [sizes[0]]), step, move) for size in sizes)
    given = {rest.name: published(rest.name, rest, one, draws, {}) for rest in mechanism.rests_on}
    if given:
        one, other = (replace(cells, domain=group.groups, grouping=group) for cells in (one, other))
    return (one, other), given


def no_neighbour_is_further(mechanism: Mechanism, move: Root, step: Fraction, draws: Draws) -> list[str]:
    """Complaints about rows of any size whose farthest neighbours lose more than is claimed."""
    claim = mechanism.loss(move)
    if not isinstance(claim, Gaussian):
        return [f"{claim.words()} is no claim that is known here"]
    said = []
    for size in SIZES:
        (one, other), given = moved_rows(mechanism, move, (size, farthest(size, move.beta, step)), step, draws)
        noisy = mechanism.perturb(one, draws, given)
        apart = mechanism.clean(other, given) - mechanism.clean(one, given)
        laws = [mechanism.law_at(noisy, place) for place in range(len(apart))]
        far = math.hypot(*(int(gone) / law.scale for gone, law in zip(apart, laws, strict=True) if law))
        if None in laws or not far <= claim.mu * (1 + TOLERANCE):
            said.append(f"{claim.words()} broken by rows of {size} steps: mu {far:.6f}")
    return said


def drawn_rows(mechanism: Mechanism, move: Root, step: Fraction, draws: Draws) -> Drawn:
    """Noise on one cell, drawn anew many times, on either side of a pair whose roots are far from 0."""
    claim = mechanism.loss(move)
    mu = claim.mu if isinstance(claim, Gaussian) else 1.0
    sides, given = moved_rows(mechanism, move, worst_sizes(move.beta, step, mu / math.sqrt(move.units)), step, draws)
    (watched, *_) = watched_rows(mechanism.name, mechanism, sides, Samples(SAMPLES), draws, given)
    law = watched.laws and watched.laws[0][0]
    if not isinstance(law, Law):
        raise TypeError(f"{mechanism.name} states no law for its noise.")
    first, second = watched.one[:, 0] - watched.true_one[0], watched.other[:, 0] - watched.true_other[0]
    return Drawn(law, first, second)

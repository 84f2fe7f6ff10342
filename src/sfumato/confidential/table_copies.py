"""Table copies: the cells of a table that differ on two sides, published again and again through their own door."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.draws import Draws
from sfumato.mechanisms import Cells, Mechanism
from sfumato.privacy import Unsummed
from sfumato.release import Noisy
from sfumato.schema import Attribute, Levels, Table

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
MOST_MOVED = 64
"""How many of the cells that differ are published again and again."""
AT_ONCE = 4_000_000
"""How many numbers are published at once."""
UNTOLD = -(2**52)
"""What stands for cells without a number: below all numbers, and the same on both sides."""


def side_by_side(one: Cells, other: Cells) -> tuple[Cells, Cells]:
    """The cells of two sides in the same places: of a sparse table those that either holds, and one that neither does.

    They stay sparse, and are published through the same door.
    """
    if one.places is None or other.places is None or not isinstance(one.domain, Table):
        return one, other
    held = np.union1d(one.places, other.places)
    some = np.setdiff1d(np.arange(min(2 * len(held) + 1, one.domain.size)), held)
    held = np.concatenate([held, some[one.domain.possible_at(some)][:1]])
    table = Table((Attribute("cell", Levels.of(range(len(held)))),))
    return _taken(one, one.places, table, held), _taken(other, other.places, table, held)


def _taken(cells: Cells, places: Integers, table: Table, held: Integers) -> Cells:
    """The cells at some places, empty ones where there is none."""
    found = np.where(np.isin(held, places), np.searchsorted(places, held), -1)
    return cells.taken(table, found, np.arange(len(held)))


def most_moved(apart: Integers, most: int = MOST_MOVED) -> NDArray[np.intp]:
    """The cells that are farthest apart, a few of those that are at all."""
    return np.argsort(-apart, kind="stable")[: min(most, int(np.count_nonzero(apart)))]


def apart_places(one: Cells, other: Cells) -> tuple[Integers, Integers]:
    """The cells that are watched: those farthest apart, and one that is not; and all others that are."""
    apart = one.apart(other)
    moved = most_moved(apart, len(apart))
    possible = one.domain.possible.ravel() if isinstance(one.domain, Table) else np.ones(len(apart), dtype=bool)
    still = np.flatnonzero((apart == 0) & possible & (not isinstance(one.move, Unsummed)))
    watched = np.concatenate([moved[:MOST_MOVED], still[:1]]) if len(moved) else moved
    return watched, moved[MOST_MOVED:]


def published_copies(
    mechanism: Mechanism, cells: Cells, places: Integers, samples: int, draws: Draws
) -> tuple[Integers, Floats | None]:
    """What is seen of so many copies of a few cells, a row each, and the variances that are told of them, if any are.

    Some are perturbed at once.
    """
    at_once = max(1_000, AT_ONCE // len(places))
    seen, stated = [], []
    for start in range(0, samples, at_once):
        copies = min(at_once, samples - start)
        noisy = perturbed_copies(mechanism, cells, places, copies, draws)
        seen.append(_told(mechanism, noisy).reshape(-1, len(places))[:copies])
        if "variance" in noisy.public:
            stated.append(np.asarray(noisy.public["variance"], dtype=float).reshape(-1, len(places))[:copies])
    return np.concatenate(seen), np.concatenate(stated) if stated else None


def perturbed_copies(mechanism: Mechanism, cells: Cells, places: Integers, samples: int, draws: Draws) -> Noisy:
    """So many copies of a few cells, or a few more, as one table, perturbed at once."""
    side = math.isqrt(samples - 1) + 1
    sizes = {"copy": side, "and_copy": side, "cell": len(places)}
    table = Table(tuple(Attribute(name, Levels.of(range(size))) for name, size in sizes.items()))
    copies = cells.taken(table, np.tile(places, side**2))
    if cells.places is None:
        return mechanism.perturb(copies, draws)
    noisy = mechanism.perturb(_listed(copies), draws)
    values = np.zeros(table.size, dtype=np.int64)
    values[noisy.places] = noisy.values
    return replace(noisy, values=values, places=None)


def _told(mechanism: Mechanism, noisy: Noisy) -> Integers:
    """What is seen of cells; one without a number by why it has none, below all numbers."""
    seen = mechanism.seen(noisy)
    if noisy.statuses is None:
        return seen
    which = noisy.statuses.which.reshape(seen.shape)
    return np.where(which > 0, UNTOLD - which, seen)


def _listed(cells: Cells) -> Cells:
    """The same cells as a sparse table has them: those that are not 0, by their numbers."""
    assert isinstance(cells.domain, Table)  # noqa: S101 - a few cells, laid out
    full = np.flatnonzero(cells.values)
    return cells.taken(cells.domain, full, full)

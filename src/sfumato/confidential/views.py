"""Views: what an attacker may look at in the published numbers, sampled on both sides, with the law stated for them."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.signal import fftconvolve

from sfumato.confidential.evidence import learned
from sfumato.confidential.sealed import Sealed
from sfumato.draws import Draws, Law
from sfumato.mechanisms import Cells, Mechanism
from sfumato.privacy import Unsummed
from sfumato.release import Noisy
from sfumato.schema import Attribute, Levels, Table

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
GRAIN = 5e-3
"""Outcomes whose losses are this close are taken together when the law of a likelihood ratio is worked out."""
MOST_MOVED, FEW = 64, 2
"""How many of the cells that differ are published again and again, and how many are looked at two by two."""
UNTOLD = -(2**52)
"""What stands for cells without a number: below all numbers, and the same on both sides."""
FARTHEST = 60.0
"""Log-likelihood ratios of a cell are held within this."""


@dataclass(frozen=True, eq=False, repr=False)
class View(Sealed):
    """A number made of what is published, many times on either side, and the chances of its outcomes by a stated law.

    The mean of so many publications of one cell is its true value, so a view is as confidential as the data.
    """

    measure: str
    name: str
    one: Floats
    other: Floats
    law_one: Floats | None
    law_other: Floats | None
    speaks: bool = False
    """Whether the number is how much is said for one side, by the stated law."""


class Seen(Sealed, ABC):
    """One measure on both sides, published again and again."""

    measure: str

    @property
    @abstractmethod
    def plain(self) -> list[View]:
        """The numbers that are looked at by themselves."""

    @property
    @abstractmethod
    def spoken(self) -> tuple[Floats, Floats]:
        """How much the samples of either side speak for one of them."""

    @property
    @abstractmethod
    def chances(self) -> list[tuple[Floats, Floats]] | None:
        """The chances of independent outcomes on either side, by the stated law; none where none is stated."""


@dataclass(frozen=True, eq=False, repr=False)
class Watched(Seen):
    """A few cells of one measure on both sides: what they truly are, and what was published of them, a row a sample."""

    measure: str
    law: Law | None
    true_one: Integers
    true_other: Integers
    one: Integers
    other: Integers
    summed: bool = True
    """Whether cells may be summed; of those that may not each is looked at by itself."""

    @classmethod
    def of(cls, measure: str, with_: Mechanism, sides: tuple[Cells, Cells], samples: int, draws: Draws) -> "Watched":
        """Publish the cells that differ, and one that does not, so many times, through the mechanism's own door.

        One that does not would only blur the others where they may not be summed.
        """
        places = _places(*sides)
        noisy = [_published(with_, cells, places, samples, draws) for cells in sides]
        true_one, true_other = (with_.clean(cells).ravel()[places] for cells in sides)
        one, other = (_told(with_, side).reshape(-1, len(places))[:samples] for side in noisy)
        summed = not isinstance(sides[0].move, Unsummed)
        return cls(measure, with_.law_at(noisy[0], 0), true_one, true_other, one, other, summed)

    @property
    def shifts(self) -> Integers:
        return self.true_one - self.true_other

    @property
    def plain(self) -> list[View]:
        """A cell, the total of all that are watched, and the difference of two, or all at once where many move."""
        cells, moved = len(self.shifts), np.count_nonzero(self.shifts)
        views = [self.weighed("a cell", [1] + [0] * (cells - 1))]
        if moved > FEW and self.summed:
            # A cell that stays would only blur the others, which come first.
            total = self.weighed(f"the total of {moved} cells", [1] * moved + [0] * (cells - moved))
            return [*views, total, all_at_once(self.measure, [self])]
        if cells > 1 and self.summed:
            views.append(self.weighed(f"the total of {cells} cells", [1] * cells))
            views.append(self.weighed("the difference of two cells", [1, -1] + [0] * (cells - 2)))
        return views

    def weighed(self, name: str, weights: Sequence[int]) -> View:
        """A sum or difference of cells."""
        weight = np.array(weights, dtype=np.int64)
        one, other = ((part @ weight).astype(float) for part in (self.one, self.other))
        moved, still = _summed(self.law, weight, self.shifts) if self.law else (None, None)
        return View(self.measure, name, one, other, moved, still)

    @property
    def spoken(self) -> tuple[Floats, Floats]:
        return self.speaking(self.one), self.speaking(self.other)

    @property
    def chances(self) -> list[tuple[Floats, Floats]] | None:
        if self.law is None:
            return None
        edges = [(_edges(self.law, int(shift)), int(shift)) for shift in self.shifts[self.shifts != 0]]
        each = [(_chances(self.law, at, shift), _chances(self.law, at, 0)) for at, shift in edges]
        return [_merged(moved, still) for moved, still in each]

    def speaking(self, published: Integers) -> Floats:
        """How much each sample speaks for one side, by the law, or by the samples that events are chosen on."""
        if self.law is None:
            cells = zip(self.one.T, self.other.T, published.T, strict=True)
            return np.asarray(np.sum([learned(one, other, each) for one, other, each in cells], axis=0))
        moved = self.shifts != 0
        if_one, if_other = (
            _log_pmf(self.law, published[:, moved] - true[moved]) for true in (self.true_one, self.true_other)
        )
        return np.asarray(np.clip(if_one - if_other, -FARTHEST, FARTHEST).sum(axis=1))


def _summed(law: Law, weight: Integers, shifts: Integers) -> tuple[Floats, Floats]:
    """The chances of a sum or difference of cells by their law, on either side."""
    shift = int(weight @ shifts)
    edges = _edges(law, shift)
    moved, still, blur = _chances(law, edges, shift), _chances(law, edges, 0), _chances(law, _edges(law, 0), 0)
    # The law is symmetric, so a cell that is taken away blurs as much as one that is added.
    for _ in range(int(np.abs(weight).sum()) - 1):
        moved, still = (np.maximum(fftconvolve(part, blur), 0.0) for part in (moved, still))
    return moved, still


def all_at_once(measure: str, measures: Sequence["Seen"]) -> View:
    """All cells at once, each by how much it speaks for one side: the best test if all state a law, and it is true."""
    spoken = [watched.spoken for watched in measures]
    samples = min(len(one) for one, _ in spoken)  # wide families are published fewer times
    one, other = (np.sum([part[:samples] for part in side], axis=0) for side in zip(*spoken, strict=True))
    law_one, law_other = np.ones(1), np.ones(1)
    for watched in measures:
        if watched.chances is None:
            return View(measure, "all cells at once", one, other, None, None)
        for cell in watched.chances:  # what independent cells say adds up, on one grid
            law_one, law_other = (
                np.maximum(fftconvolve(law, part), 0.0)
                for law, part in zip((law_one, law_other), _by_loss(*cell), strict=True)
            )
    likely = law_one + law_other > 1e-15
    law_one, law_other = law_one[likely], law_other[likely]
    return View(measure, "all cells by the law", one, other, law_one, law_other, speaks=True)


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


def _places(one: Cells, other: Cells) -> Integers:
    apart = one.apart(other)
    moved = most_moved(apart)
    possible = one.domain.possible.ravel() if isinstance(one.domain, Table) else np.ones(len(apart), dtype=bool)
    still = np.flatnonzero((apart == 0) & possible & (not isinstance(one.move, Unsummed)))
    return np.concatenate([moved, still[:1]]) if len(moved) else moved


def _published(mechanism: Mechanism, cells: Cells, places: Integers, samples: int, draws: Draws) -> Noisy:
    """So many copies of a few cells as one table, perturbed at once."""
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


def _log_pmf(law: Law, noise: Integers) -> Floats:
    found, place = np.unique(noise, return_inverse=True)
    return np.asarray(np.log(np.maximum(law.pmf(found), 1e-300))[place].reshape(noise.shape))


def _edges(law: Law, shift: int) -> Floats:
    """Ends of bins over all that the law and its shift reach, one integer a bin unless the law is wide."""
    reach = int(8 * law.scale) + 8
    while float(law.survival(reach)) > 1e-13:
        reach *= 2
    pitch = max(1, int(law.scale) // 300)
    return np.arange(-reach + min(shift, 0), reach + max(shift, 0) + 2 * pitch, pitch, dtype=float)


def _chances(law: Law, edges: Floats, shift: int) -> Floats:
    """The chance of each bin when the law is shifted."""
    return np.maximum(np.diff(law.below(edges - shift)), 0.0)


def _merged(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    one, other = _by_loss(one, other)
    return one[one + other > 0], other[one + other > 0]


def _by_loss(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """The chances of outcomes on either side by how much they speak for one of them, on a grid from the least on."""
    seen = one + other > 1e-15
    one, other = one[seen], other[seen]
    steps = np.round(np.clip(np.log((one + 1e-300) / (other + 1e-300)), -FARTHEST, FARTHEST) / GRAIN).astype(np.int64)
    place = steps - steps.min()
    return np.bincount(place, one).astype(np.float64), np.bincount(place, other).astype(np.float64)

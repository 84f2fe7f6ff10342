"""Views: what an attacker may look at in the published numbers, sampled on both sides, with the law stated for them."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.evidence import Sampled, learned
from sfumato.confidential.sealed import Sealed
from sfumato.confidential.stated import FARTHEST, Chances, Noise, Samples, outcomes, together
from sfumato.confidential.table_copies import apart_places, perturbed_copies, published_copies
from sfumato.draws import Draws
from sfumato.mechanisms import Cells, Mechanism
from sfumato.mechanisms.told_errors import ToldErrors
from sfumato.privacy import Unsummed

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Laws = tuple[tuple[Noise, Noise], ...]
"""The laws of the noise of cells, on either side."""
NOWHERE = np.zeros(0, dtype=np.int64)
FEW = 2
"""How many of the cells that differ are looked at two by two."""
WIDEST = 10_000_000
"""Over how many integers chances are laid out in a row."""


@dataclass(frozen=True, eq=False, repr=False)
class View(Sealed):
    """A number made of what is published, many times on either side.

    The mean of so many publications of one cell is its true value, so a view is as confidential as the data.
    """

    name: str
    seen: Sampled


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
    def chances(self) -> Sequence[Chances] | None:
        """The chances of independent outcomes on either side, by the laws of noise; none where there are none."""

    unseen: Sequence[Chances] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Watched(Seen):
    """A few cells of one measure on both sides: what they truly are, and what was published of them, a row a sample."""

    measure: str
    laws: Laws | None
    true_one: Integers
    true_other: Integers
    one: Integers
    other: Integers
    summed: bool = True
    """Whether cells may be summed; of those that may not each is looked at by itself."""
    unseen: Sequence[Chances] = ()
    """The chances of cells that differ too and are not watched, as they are too many."""
    stated: tuple[Floats, Floats] | None = None
    """The variances that are published of the first cell, where they are not the same whatever the cells hold."""

    @classmethod
    def of(
        cls, measure: str, with_: Mechanism, sides: tuple[Cells, Cells], samples: Samples, draws: Draws
    ) -> list["Watched"]:
        """Publish the cells that differ, and one that does not, so many times, through the mechanism's own door.

        One that does not would only blur the others where they may not be summed. Errors that are told by draws of
        their own are watched beside.
        """
        places, unseen = apart_places(*sides)
        once = perturbed_copies(with_, sides[0], places, 1, draws)
        clean = [with_.clean(cells).ravel() for cells in sides]

        def laws_at(some: Integers) -> Laws | None:
            return both_laws([[with_.law_in(cells, int(place), once) for place in some] for cells in sides])

        laws, (true_one, true_other) = laws_at(places), (side[places] for side in clean)
        told = BothTold.of(with_, sides)
        many = samples.showing(told_too(chances_of(laws, true_one - true_other), told, places))
        (one, stated_one), (other, stated_other) = (
            published_copies(with_, cells, places, many, draws) for cells in sides
        )
        summed = not isinstance(sides[0].move, Unsummed)
        beyond = chances_of(laws_at(unseen), clean[0][unseen] - clean[1][unseen]) or []
        if stated_one is None or stated_other is None:
            return [cls(measure, laws, true_one, true_other, one, other, summed, beyond)]
        first = stated_one[:, 0], stated_other[:, 0]
        numbers = cls(measure, laws, true_one, true_other, one, other, summed, beyond, first)
        return [numbers, *WatchedErrors.told(measure, told, (stated_one, stated_other), places, unseen)]

    @property
    def shifts(self) -> Integers:
        return self.true_one - self.true_other

    @property
    def plain(self) -> list[View]:
        """A cell, the total of all that are watched, and the difference of two."""
        cells, moved = len(self.shifts), np.count_nonzero(self.shifts)
        views = [self.weighed("a cell", [1] + [0] * (cells - 1))]
        if self.stated is not None:
            views.append(View("the error of a cell that is told", Sampled(*self.stated)))
        if moved > FEW and self.summed:
            # A cell that stays would only blur the others, which come first.
            return [*views, self.weighed(f"the total of {moved} cells", [1] * moved + [0] * (cells - moved))]
        if cells > 1 and self.summed:
            views.append(self.weighed(f"the total of {cells} cells", [1] * cells))
            views.append(self.weighed("the difference of two cells", [1, -1] + [0] * (cells - 2)))
        return views

    def weighed(self, name: str, weights: Sequence[int]) -> View:
        """A sum or difference of cells."""
        weight = np.array(weights, dtype=np.int64)
        one, other = ((part @ weight).astype(float) for part in (self.one, self.other))
        return View(name, Sampled(one, other))

    @property
    def spoken(self) -> tuple[Floats, Floats]:
        return self.speaking(self.one), self.speaking(self.other)

    @property
    def chances(self) -> Sequence[Chances] | None:
        return chances_of(self.laws, self.shifts)

    def speaking(self, published: Integers) -> Floats:
        """How much each sample speaks for one side, by the laws, or by the samples that events are chosen on."""
        found = np.zeros(len(published))
        for place, cell in enumerate(published.T):
            if self.laws is None:
                found += learned(*(side[:, place].astype(float) for side in (self.one, self.other, published)))
            elif self._differs(place):
                law_one, law_other = self.laws[place]
                if_one, if_other = (
                    _log_pmf(law, cell - true[place])
                    for law, true in ((law_one, self.true_one), (law_other, self.true_other))
                )
                found += np.clip(if_one - if_other, -FARTHEST, FARTHEST)
        return found

    def _differs(self, place: int) -> bool:
        assert self.laws is not None  # noqa: S101 - asked where there are some
        return bool(self.shifts[place]) or self.laws[place][0] != self.laws[place][1]


@dataclass(frozen=True, eq=False, repr=False)
class BothTold(Sealed):
    """The errors that are told by draws of their own: the true logarithms of scales on either side, and their law."""

    one: Integers
    other: Integers
    law: ToldErrors

    @classmethod
    def of(cls, with_: Mechanism, sides: tuple[Cells, Cells]) -> "BothTold | None":
        one, other = (with_.told_errors(cells) for cells in sides)
        return None if one is None or other is None else cls(one[0], other[0], one[1])

    def laws(self, places: Integers) -> Laws:
        return ((self.law.law, self.law.law),) * len(places)

    def chances(self, places: Integers) -> list[Chances]:
        """Of what is told of some cells."""
        return chances_of(self.laws(places), self.one[places] - self.other[places]) or []


@dataclass(frozen=True, eq=False, repr=False)
class WatchedErrors(Watched):
    """The errors that are told of cells by draws of their own, as integers on their lattice."""

    @classmethod
    def told(
        cls,
        measure: str,
        told: BothTold | None,
        stated: tuple[Floats, Floats],
        places: Integers,
        unseen: Integers = NOWHERE,
    ) -> list["WatchedErrors"]:
        """What was told of some cells on either side, a row a sample; others differ too, and are not watched.

        None where variances have no law of their own.
        """
        if told is None:
            return []
        one, other = (told.law.seen(side) for side in stated)
        true = told.one[places], told.other[places]
        return [cls(measure, told.laws(places), *true, one, other, unseen=told.chances(unseen))]

    @property
    def plain(self) -> list[View]:
        """None: variances are looked at as they are published, whatever lattice they should be on."""
        return []


def told_too(cells: list[Chances] | None, told: BothTold | None, places: Integers) -> list[Chances] | None:
    """The chances of cells, and of the errors that are told of them."""
    return cells if cells is None or told is None else [*cells, *told.chances(places)]


def both_laws(sides: Sequence[Sequence[Noise | None]]) -> Laws | None:
    """The laws of cells on either side, if all have some."""
    pairs = [(one, other) for one, other in zip(*sides, strict=True) if one is not None and other is not None]
    return tuple(pairs) if len(pairs) == len(sides[0]) else None


def chances_of(laws: Laws | None, shifts: Integers) -> list[Chances] | None:
    """The chances of what is published of cells that differ, or whose noise does."""
    if laws is None:
        return None
    return [
        outcomes(*both, int(shift)) for both, shift in zip(laws, shifts, strict=True) if shift or both[0] != both[1]
    ]


def all_at_once(spoken: Sequence[tuple[Floats, Floats]], cells: Sequence[Chances] | None) -> View:
    """All cells at once, each by how much it speaks for one side: the best test if all state a law, and it is true."""
    samples = min(len(one) for one, _ in spoken)  # wide families are published fewer times
    one, other = (np.sum([part[:samples] for part in side], axis=0) for side in zip(*spoken, strict=True))
    if cells is None:
        return View("all cells at once", Sampled(one, other))
    return View("all cells by the law", Sampled(one, other, together(cells)))


def every_chance(measures: Sequence[Seen]) -> list[Chances] | None:
    """The chances of all that several publish, if all state a law."""
    found: list[Chances] = []
    for watched in measures:
        if (cells := watched.chances) is None:
            return None
        found += cells
    return found


def _log_pmf(law: Noise, noise: Integers) -> Floats:
    """The logarithms of chances, laid out in a row unless the noise is too wide."""
    low, high = int(noise.min()), int(noise.max())
    found, place = (
        (np.arange(low, high + 1), noise - low) if high - low < WIDEST else np.unique(noise, return_inverse=True)
    )
    return np.asarray(np.log(np.maximum(law.pmf(found), 1e-300))[place].reshape(noise.shape))

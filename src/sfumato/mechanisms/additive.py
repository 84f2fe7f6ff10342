"""Additive noise: independent draws of one law on every possible cell, laid out or listed.

Both have the same law. Of a sparse table, cell by cell, the noise is 0 or one of the changes that `Law.changed` finds
among all its cells, and the value is what the records sum to plus that. A cell is listed if its noisy value is not 0,
so which cells are listed says no more than their noisy values do.
"""

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from sfumato.draws import Draws, Law
from sfumato.errors import PlanError
from sfumato.mechanisms.cells import Cells
from sfumato.mechanisms.example import example
from sfumato.mechanisms.mechanism import Mechanism, Typical
from sfumato.mechanisms.published_law import PublishedLaw
from sfumato.privacy import Move
from sfumato.release import Independent, Noisy, Product, Uncertainty, Withheld
from sfumato.release.error_law import ErrorLaw
from sfumato.release.manifest import NoiseLine
from sfumato.release.noisy import Integers
from sfumato.schema import Table

LARGEST_SPREAD = 2**44
"""The largest standard deviation of noise, in steps, that leaves room in 64 bits for a sum over all cells."""
LEAST_SPREAD = 1e-25
"""The smallest, in steps: what a release states of narrower noise is too small or too large to be read back."""
NARROW, NOTHING = 8, 1e-13
"""The standard deviation, in steps, up to which a law is stated step by step, and the chance that is left out."""


class Additive(Mechanism):
    """Adds integer noise of one law to every possible cell, the empty ones too; its law is all that it must state."""

    columns_beside: ClassVar[int] = 0

    @abstractmethod
    def law(self, move: Move) -> Law:
        """The law of the noise in one cell, in steps."""

    def perturb(self, cells: Cells, draws: Draws, given: Mapping[str, Product] | None = None) -> Noisy:  # noqa: ARG002
        law = self.law(cells.move)
        if cells.places is not None:
            places, values = scattered(cells, law, draws)
            return Noisy(cells.domain, values, cells.step, cells.move, places=places)
        return Noisy(cells.domain, laid_out(cells, law, draws), cells.step, cells.move)

    def refuse_unstatable(self, move: Move) -> None:
        refuse_next_to_none(self.law(move), self.words())

    def error_law(self, move: Move, number: Typical) -> ErrorLaw:
        return stated_noise(self.law(move)).law.times(float(number.step))

    def uncertainty(self, noisy: Noisy) -> Uncertainty:
        return stated_noise(self.law(noisy.move))

    def expected(self, move: Move, number: Typical) -> float | Withheld:
        return float(number.step) * math.sqrt(self.law(move).variance * number.cells)

    def published_law(self, move: Move, number: Typical) -> PublishedLaw:
        return PublishedLaw.of_steps(self.law(move).below, float(number.step))

    def facts(self, move: Move, number: Typical) -> NoiseLine:
        step = float(number.step)
        error = step * math.sqrt(self.law(move).variance)
        shown = example(lambda _: error, self.published_law(move, number).below, step)
        return NoiseLine(standard_error=error, example=shown)

    def changes(self, move: Move) -> float:
        return float(self.law(move).survival(1))

    def law_at(self, noisy: Noisy, place: int) -> Law:  # noqa: ARG002 - the same in all
        return self.law(noisy.move)


def stated_noise(law: Law) -> Independent:
    """What is stated of noise of one law: step by step where it is so narrow that whole steps show in its margins."""
    excess = law.fourth_moment / law.variance**2 - 3 if law.variance else 0.0
    # Twice as far as a Laplace law needs to leave less than is left out.
    chances = law.pmf(np.arange(64 * NARROW)) if law.variance <= NARROW**2 else np.zeros(0)
    narrow = tuple(chances[: np.count_nonzero(chances > NOTHING)].tolist())
    # Below a hundredth no interval would change in three digits: noise is stated as normal.
    return Independent(law.variance, excess if abs(excess) > 0.01 else 0.0, narrow)


def fits(law: Law, what: str) -> Law:
    """The law, unless its noise would not fit the integers that carry it."""
    if law.variance > float(LARGEST_SPREAD) ** 2:
        raise PlanError(
            f"{what} asks for noise with a standard deviation of {law.variance**0.5:.3g} steps, more than 64-bit cells "
            "can carry; use a coarser step, a tighter clip or a larger budget."
        )
    return law


def refuse_next_to_none(law: Law, what: str) -> None:
    """Refuse noise that is so narrow that a release could not state its error, or not be read back."""
    if law.variance < LEAST_SPREAD**2:
        raise PlanError(
            f"{what} asks for noise with a standard deviation below {LEAST_SPREAD:g} steps, which changes no number "
            "and cannot be stated; give less budget."
        )


def laid_out(cells: Cells, law: Law, draws: Draws) -> Integers:
    """The noisy value of every cell, row or group, 0 where a cell is impossible."""
    domain, true = cells.domain, cells.totals
    if not domain.impossible:
        noise = law.draw(domain.size, draws).reshape(true.shape)
        noise += true
        return noise
    values = np.zeros(true.shape, dtype=np.int64)
    values[domain.possible] = true[domain.possible] + law.draw(int(domain.possible.sum()), draws)
    return values


def scattered(cells: Cells, law: Law, draws: Draws) -> tuple[Integers, Integers]:
    """The cells of a sparse table whose noisy value is not 0: their numbers, increasing, and their values.

    Changes come some at a time and in order, so they meet the records up to the last of them, and those that are
    left when no change is.
    """
    table = cells.domain
    assert isinstance(table, Table)  # noqa: S101 - asked of sparse tables alone
    assert cells.places is not None  # noqa: S101
    places, values = _possible(table, cells.places, cells.values)
    found, start = [], 0
    for some in law.changed(table.size, draws):
        stop = int(np.searchsorted(places, some.places[-1], "right")) if len(some.places) else start
        changed, noise = _possible(table, some.places, some.values)
        here = slice(start, stop)
        found.append(summed(np.concatenate([places[here], changed]), np.concatenate([values[here], noise])))
        start = stop
    found.append(summed(places[start:], values[start:]))
    return np.concatenate([one for one, _ in found]), np.concatenate([one for _, one in found])


def _possible(table: Table, places: Integers, values: Integers) -> tuple[Integers, Integers]:
    """The cells that may hold a record, and their values."""
    if not table.ruled:
        return places, values
    possible = table.possible_at(places)
    return places[possible], values[possible]


def summed(places: Integers, values: Integers) -> tuple[Integers, Integers]:
    """The places, increasing and each once, at which values do not sum to 0, and what they sum to.

    >>> [part.tolist() for part in summed(np.array([3, 7, 1, 3, 7]), np.array([5, 2, -1, 1, -2]))]
    [[1, 3], [-1, 6]]
    """
    if not len(places):
        return places, values
    order = np.argsort(places, kind="stable")  # two increasing runs, which this merges in one pass
    places, values = places[order], values[order]
    first = np.flatnonzero(np.concatenate(([True], places[1:] != places[:-1])))
    sums = np.add.reduceat(values, first)
    kept = sums != 0
    return places[first[kept]], sums[kept]

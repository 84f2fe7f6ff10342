"""Pair search: of all combinations of pairs of leaves, an attribute after the other, the one that is furthest apart.

What is summed over components, each weighted, are products with a factor for every attribute. Once an attribute is
chosen, components that differ in nothing else are one, so that few numbers are left when combinations are many.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from sfumato.release.noisy import Floats, Integers
from sfumato.schema import Component

AT_ONCE = 2**20
"""How many numbers are held at once."""
Gifts = tuple[Floats, Floats, Floats]
"""What an attribute gives to the products of one record, of the other, and of both: a row for each pair of leaves."""


@dataclass(frozen=True, eq=False)
class _Step:
    """One attribute of a search: what it gives to each rest of a component, and which rests are the same without it."""

    axis: int
    one: Floats
    other: Floats
    both: Floats
    order: Integers
    starts: Integers
    like: bool
    """Whether it can be put for the attribute before, so that the pair chosen of it is no earlier one."""


@dataclass(frozen=True, eq=False)
class _Choices:
    """Some choices of pairs of leaves, a row each, and the sums over components that have the same rest.

    Sums that are the same for all choices stand in one row.
    """

    choices: NDArray[np.int16]
    sums: tuple[Floats, ...]

    def parts(self, rows: int) -> Iterator["_Choices"]:
        """So many choices at a time."""
        for start in range(0, len(self.choices), rows):
            some = slice(start, start + rows)
            yield _Choices(self.choices[some], tuple(one[some] if len(one) > 1 else one for one in self.sums))


@dataclass(frozen=True, eq=False)
class PairSearch:
    """All combinations of pairs of leaves, an attribute after the other."""

    weights: Floats
    steps: tuple[_Step, ...]

    @classmethod
    def of(cls, given: Sequence[Gifts], components: Integers, weights: Floats) -> "PairSearch":
        """Of components, a row each by the level of every attribute, and what each is weighted by."""
        order = sorted(range(len(given)), key=lambda axis: [part.tolist() for part in given[axis]])
        found, before = [], None
        known = {tuple(one): weight for one, weight in zip(components.tolist(), weights.tolist(), strict=True)}
        rest = components[:, order]
        for axis in order:
            like = before is not None and _same(given[before], given[axis]) and interchangeable(known, before, axis)
            levels, rest = rest[:, 0], rest[:, 1:]
            rest, inverse = np.unique(rest, axis=0, return_inverse=True)
            places = np.argsort(inverse.ravel(), kind="stable")
            starts = np.searchsorted(inverse.ravel()[places], np.arange(len(rest)))
            one, other, both = (part[:, levels] for part in given[axis])
            found.append(_Step(axis, one, other, both, places, starts, like))
            before = axis
        return cls(weights, tuple(found))

    @property
    def combinations(self) -> int:
        """How many there are; of attributes alike, those in one order."""
        found, run = 1, 1
        for step, after in zip(self.steps, (*self.steps[1:], None), strict=True):
            if after is not None and after.like:
                run += 1
                continue
            found, run = found * comb(run + len(step.one) - 1, run), 1
        return found

    def best(self, left: float, come: float) -> list[int]:
        """The pair of leaves of each attribute that is chosen where records are furthest apart."""
        start = _Choices(np.zeros((1, 0), dtype=np.int16), (self.weights[None, :],) * 3)
        choice = self._best(start, (left**2, come**2, -2 * left * come), 0)[1]
        by_axis = {step.axis: at for step, at in zip(self.steps, choice, strict=True)}
        return [by_axis[axis] for axis in range(len(self.steps))]

    def _best(self, tried: _Choices, factors: tuple[float, float, float], at: int) -> tuple[float, list[int]]:
        if at == len(self.steps):
            costs = np.zeros(len(tried.choices))
            for factor, part in zip(factors, tried.sums, strict=True):
                costs += factor * part[:, 0]
            place = int(np.argmax(costs))
            return float(costs[place]), tried.choices[place].tolist()
        step = self.steps[at]
        parts = tried.parts(max(1, AT_ONCE // step.one.size))
        return max(self._best(_grown(part, step), factors, at + 1) for part in parts)


def _grown(tried: _Choices, step: _Step) -> _Choices:
    """Every choice with each pair of leaves of one attribute more."""
    rows, pairs = (one.ravel() for one in np.indices((len(tried.choices), len(step.one))))
    if step.like:
        later = pairs >= tried.choices[rows, -1]
        rows, pairs = rows[later], pairs[later]
    sums = []
    for part, given in zip(tried.sums, (step.one, step.other, step.both), strict=True):
        if len(part) == 1:
            each = part * (given[:1] if (given == given[0]).all() else given[pairs])
        else:
            each = part[rows] * given[pairs]
        sums.append(np.add.reduceat(each[:, step.order], step.starts, axis=1))
    return _Choices(np.column_stack([tried.choices[rows], pairs.astype(np.int16)]), tuple(sums))


def _same(one: Gifts, other: Gifts) -> bool:
    return all(np.array_equal(first, second) for first, second in zip(one, other, strict=True))


def interchangeable(known: Mapping[Component, float], one: int, other: int) -> bool:
    """Whether two attributes can be put for each other in every component, and what is known of it."""
    for component, weight in known.items():
        if component[one] != component[other]:
            turned = list(component)
            turned[one], turned[other] = component[other], component[one]
            if known.get(tuple(turned)) != weight:
                return False
    return True

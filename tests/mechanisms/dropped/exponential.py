"""The exponential mechanism on ranks: one of so many public values is published, the likelier the nearer to the middle.

Claim. Cells in which rows move l1 places in all, up or down, lose epsilon.
Law. With d(c) the distance between the numbers of rows below and above a candidate c, P(c) is in proportion to b^d(c),
b the next multiple of 2^-24 above exp(-epsilon / 2 l1).
Proof. A row that comes, goes or changes sides moves every d(c) of its cell by its places at most, so s places change
the weight of a candidate, and the sum of all weights, by b^-s each at most; b^-2 is at most e^(epsilon / l1) (McSherry
and Talwar 2007).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from sfumato.draws import bounds
from sfumato.errors import PlanError, PromiseError
from sfumato.mechanisms.mechanism import Mechanism
from sfumato.privacy import Approximate, Unsummed, bounded, positive
from sfumato.release import Noisy, Withheld
from sfumato.schema import Sorted

FINE = 24
WHY = "how exact it is depends on how dense the values lie about the middle, which is hidden"


@dataclass(frozen=True)
class Exponential(Mechanism):
    """One of so many evenly spaced values at an epsilon."""

    name: ClassVar[str] = "exponential"
    source: ClassVar[str] = "McSherry and Talwar 2007; rational weights here, so that epsilon holds exactly"
    epsilon: Fraction
    candidates: int

    def __init__(self, epsilon, candidates=21):
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "candidates", candidates)

    def loss(self, move):
        self.places(move)
        return Approximate(self.epsilon)

    def needs(self, of):
        if not any(isinstance(one, Sorted) for one in of):
            raise PlanError("exponential publishes a value that rows have, in their order; measure a median with it.")
        return ()

    def places(self, move):
        """How many places rows go in all, up or down."""
        if not isinstance(move, Unsummed):
            raise PromiseError("exponential hides the order of rows, and a sum is moved by how large they are.")
        return bounded(move.rows, self.name).l1

    def base(self, move):
        rate = self.epsilon / (2 * self.places(move))
        return Fraction(bounds.exponential_minus(rate, FINE)[1], 1 << FINE)

    def grid(self, cells):
        """The values that may be published, in steps."""
        (of,) = (one.of for one in cells.columns if isinstance(one, Sorted))
        return np.unique(np.linspace(int(of.low / of.step), int(of.high / of.step), self.candidates).astype(np.int64))

    def distribution(self, cells, cell):
        """The exact chance of every candidate in one cell."""
        (rows,) = (column for one, column in cells.columns.items() if isinstance(one, Sorted))
        held, grid = rows.at(cell), self.grid(cells)
        below, above = np.searchsorted(held, grid, "left"), len(held) - np.searchsorted(held, grid, "right")
        far, base = np.abs(below - above), self.base(cells.move)
        weights = [base ** int(one) for one in far - far.min()]
        return [weight / sum(weights) for weight in weights]

    def perturb(self, cells, draws, given=None):
        (rows,) = (column for one, column in cells.columns.items() if isinstance(one, Sorted))
        grid, values = self.grid(cells), np.zeros(cells.domain.shape, dtype=np.int64).ravel()
        alike = {}
        for cell in np.flatnonzero(cells.domain.possible.ravel()):
            alike.setdefault(rows.at(cell).tobytes(), []).append(cell)
        for same in alike.values():
            values[same] = grid[_chosen(self.distribution(cells, same[0]), len(same), draws)]
        return Noisy(cells.domain, values.reshape(cells.domain.shape), cells.step, cells.move)

    def uncertainty(self, noisy):
        return Withheld(WHY)

    def expected(self, move, number):
        self.base(move)
        return Withheld(WHY)


def _chosen(chances, count, draws):
    """So many draws: 63 bits each, and further ones where those meet the end of a chance, once in 10^17 draws."""
    ends = np.cumsum(np.array(chances, dtype=object))
    whole = np.array([int(end * 2**63) for end in ends[:-1]], dtype=np.uint64)
    drawn = draws.words(count) >> np.uint64(1)
    found = np.searchsorted(whole, drawn, "right")
    for place in np.flatnonzero(np.isin(drawn, whole)):
        far = (Fraction(int(drawn[place])) + Fraction(draws.bits(256), 2**256)) / 2**63
        found[place] = sum(far >= end for end in ends[:-1])
    return found


EXAMPLE = Exponential(1)

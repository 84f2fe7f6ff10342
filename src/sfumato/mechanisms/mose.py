"""Noise by the maximum observed sensitivity (MOSE): lines in cells, with noise scaled to the most that any line moves.

Claim. None. LS is the most that a line moves when a point comes at a corner of its bounds or one of its own goes, chi
is the largest N · LS of some cells, and noise has scale chi / (epsilon N). The authors argue that given chi the loss is
epsilon. It is not: chi is a maximum over the data, and one person may change it; a cell whose next point moves it by
more than chi / N, or more than a corner does, shows it; and how far is not bounded. The order of such attacks is known
(Protivash, Durrell, Kifer, Ding and Zhang, on individual and bootstrap privacy).
Law. Laplace's or the normal law with a variance of 2 (chi / (epsilon n))², drawn exactly on a lattice of 2^-40 and
rounded to steps; n is a noisy count with a draw of its own, less twice its standard deviation and at least 1: an upper
bound of the scale that tells nothing of the true count. Cells of fewer than `least` by the noisy count have no number
and no part in chi.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.draws import Draws, RoundedLaplace, RoundedNormal
from sfumato.errors import PlanError
from sfumato.kernels.simple_regression import Moments, told
from sfumato.mechanisms.cells import Cells
from sfumato.mechanisms.mechanism import Mechanism, Typical
from sfumato.privacy import Approximate, Bounded, Exact, Loss, Move, Unbounded, Unsummed, plain, positive
from sfumato.release import Noisy, NoNumber, Product, Statuses, Uncertainty, Varying, Withheld
from sfumato.release.figures import number
from sfumato.release.noisy import Floats, Integers
from sfumato.release.tails import LAPLACE
from sfumato.schema import Aggregate, Clipped, Domain, Influence, Level, Ragged, Table

FINE = 2**40
NOISES = ("laplace", "normal")
WHY = (
    "noise follows chi, a maximum over the data that one person may change, and the corners understate how far a cell "
    "can move; the authors' argument, that given chi the loss is epsilon, leaves both out"
)
AHEAD = "its scale is chi over a noisy count, and chi is a maximum over the data"


@dataclass(frozen=True)
class Mose(Mechanism):
    """Noise on what lines tell, scaled to chi by some attributes of the table (`tract@0`: at a depth of it)."""

    name: ClassVar[str] = "mose"
    source: ClassVar[str] = "Chetty and Friedman 2019; noisy counts with draws of their own here"
    exposes: ClassVar[tuple[str, ...]] = ("chi",)
    counted: ClassVar[bool] = True
    instead: ClassVar[str] = "lines with theil-sen or noisy-stats, means as a clipped total over a count"
    epsilon: Fraction
    chi_by: tuple[str, ...]
    noise: str
    least: Fraction

    def __init__(self, epsilon: Exact, chi_by: tuple[str, ...] = (), noise: str = NOISES[0], least: Exact = 20) -> None:
        made = {"epsilon": positive(epsilon, "epsilon"), "least": positive(least, "least")}
        vars(self).update(made, chi_by=tuple(chi_by), noise=noise)
        if noise not in NOISES:
            raise PlanError(f"The noise of {self.name} is '{noise}'; it is {' or '.join(map(repr, NOISES))}.")

    def parameters(self) -> str:
        by = f", chi by {' × '.join(self.chi_by)}" if self.chi_by else ""
        return f"epsilon {plain(self.epsilon)}{by}, {self.noise}, not formally private"

    @property
    def note(self) -> str:
        return (
            f"Not formally private: the authors argue that given chi the loss is epsilon {plain(self.epsilon)}, but "
            "chi is a maximum over the data, and the corners understate how far a cell can move."
        )

    def loss(self, move: Move) -> Loss:  # noqa: ARG002 - whatever moves, nothing is claimed
        return Unbounded(WHY)

    def argued(self, move: Move) -> Loss | None:
        """Epsilon for each row of a unit, given chi; of normal noise not even the authors' argument gives any."""
        if self.noise != NOISES[0] or not isinstance(move, Unsummed) or not isinstance(move.rows, Bounded):
            return None
        return Approximate(self.epsilon * move.rows.l1)

    def needs(self, of: tuple[Aggregate, ...]) -> tuple[Aggregate, ...]:
        if not any(isinstance(one, Influence) and one.what for one in of):
            raise PlanError(f'{self.name} is for what lines tell; measure of = {{ statistic = "fitted", … }}.')
        return ()

    def refuse_cells(self, domain: Domain) -> None:
        groups_of(domain, self.chi_by)

    def scale_counts(self, true: Floats, counts: Product) -> Floats:  # noqa: ARG002 - the noisy ones alone
        """The counts that noise is scaled by: lower bounds from what is public."""
        spread = np.sqrt(counts.even or 0.0)
        return np.asarray(np.maximum(counts.values.ravel() - 2 * spread, 1.0), dtype=np.float64)

    def unit_noise(self, cells: Cells, counts: Product, draws: Draws) -> Floats:  # noqa: ARG002 - a draw of its own
        """Noise of variance 2 in every cell."""
        if self.noise == NOISES[0]:
            return np.asarray(RoundedLaplace(Fraction(FINE)).draw(cells.domain.size, draws) / FINE)
        return np.asarray(RoundedNormal(Fraction(2 * FINE**2)).draw(cells.domain.size, draws) / FINE)

    def perturb(self, cells: Cells, draws: Draws, given: Mapping[str, Product] | None = None) -> Noisy:
        (counts,), lines = (given or {}).values(), CellLines.of(cells)
        shown = (counts.values.ravel() >= float(self.least)) & cells.domain.possible.ravel()
        chi = self.chi(cells, lines, shown)
        scale = chi / (float(self.epsilon) * self.scale_counts(lines.moments.count, counts))
        step, shape = float(cells.step), cells.domain.possible.shape
        found = lines.value(lines.moments) + scale * self.unit_noise(cells, counts, draws)
        values = np.where(shown, np.rint(np.clip(found, -1e6, 1e6) / step), 0).astype(np.int64)
        variance = np.where(shown, 2 * (scale / step) ** 2 + 1 / 12, 0.0)
        few = NoNumber(f"Fewer than {plain(self.least)} {counts.subject.unit} here, by the noisy count.", "n", "Q")
        which = np.where(cells.domain.possible.ravel() & ~shown, 1, 0).reshape(shape)
        public = {"variance": variance.reshape(shape)}
        said = _chi_words(chi[shown])
        return Noisy(
            cells.domain, values.reshape(shape), cells.step, cells.move, public, None, Statuses((few,), which), said
        )

    def local_sensitivity(self, lines: "CellLines") -> Floats:
        """How far a line moves by a point at a corner, or by one of its own points less: the largest."""
        return lines.local_sensitivity

    def chi(self, cells: Cells, lines: "CellLines", shown: NDArray[np.bool_]) -> Floats:
        """The largest N · LS of the cells that are shown and alike in some attributes, for every cell."""
        place = groups_of(cells.domain, self.chi_by)
        reached = np.where(shown, lines.moments.count * self.local_sensitivity(lines), 0.0)
        largest = np.zeros(int(place.max(initial=0)) + 1)
        np.maximum.at(largest, place, reached)
        return largest[place]

    def uncertainty(self, noisy: Noisy) -> Uncertainty:
        return Varying(noisy.public["variance"], excess=LAPLACE if self.noise == NOISES[0] else 0.0)

    def expected(self, move: Move, number: Typical) -> Withheld:  # noqa: ARG002 - only the data tell it
        return Withheld(AHEAD)


@dataclass(frozen=True, eq=False)
class CellLines:
    """The points of every cell, and what is told of their lines: confidential."""

    of_rows: Influence
    rows: Ragged
    moments: Moments

    @classmethod
    def of(cls, cells: Cells) -> "CellLines":
        ((influence, rows),) = ((one, column) for one, column in cells.columns.items() if isinstance(one, Influence))
        y, x = (rows.values[:, place].astype(np.float64) * float(cells.step) for place in (0, 1))
        return cls(influence, rows, Moments.of(y, x, rows.offsets))

    def value(self, moments: Moments) -> Floats:
        return told(moments, self.of_rows.what, float(self.of_rows.at))

    @property
    def local_sensitivity(self) -> Floats:
        """How far a line goes by a point at a corner of the bounds, or by one of its own points less: the largest."""
        return np.maximum(self.corner_sensitivity, self._removed())

    @property
    def corner_sensitivity(self) -> Floats:
        """How far a line goes by a point at a corner of the bounds: the largest."""
        up, right = self.of_rows.y, self.of_rows.x
        assert isinstance(up, Clipped)  # noqa: S101 - lines are of values within bounds
        assert isinstance(right, Clipped)  # noqa: S101
        true, found = self.value(self.moments), np.zeros(len(self.rows))
        for x in (float(right.low), float(right.high)):
            for y in (float(up.low), float(up.high)):
                found = np.maximum(found, np.abs(self.value(self.moments.with_point(x, y)) - true))
        return found

    def _removed(self) -> Floats:
        """The furthest that a line goes by one of its own points less."""
        cell, true = np.repeat(np.arange(len(self.rows)), self.rows.lengths), self.value(self.moments)
        assert isinstance(self.of_rows.y, Clipped)  # noqa: S101 - lines are of values within bounds
        assert isinstance(self.of_rows.x, Clipped)  # noqa: S101
        steps = (float(self.of_rows.y.step), float(self.of_rows.x.step))
        y, x = (self.rows.values[:, at].astype(np.float64) * step for at, step in enumerate(steps))
        without = self.value(self.moments.taken(cell).with_point(x, y, -1))
        found = np.zeros(len(self.rows))
        np.maximum.at(found, cell, np.abs(without - true[cell]))
        return np.where(self.rows.lengths > 1, found, 0.0)


def groups_of(domain: Domain, by: tuple[str, ...]) -> Integers:
    """For every cell of a table the number of its group, by some attributes at some depth of each."""
    if not isinstance(domain, Table):
        raise PlanError("Lines are told in the cells of one table; name the attributes of it.")
    place = np.zeros(domain.shape, dtype=np.int64)
    for level in map(Level.read, by):
        if level.name not in domain.names:
            raise PlanError(
                f"chi is by '{level.name}', which the table is not by; name one of {', '.join(domain.names)}."
            )
        axis, whole = domain.names.index(level.name), domain.attribute(level.name)
        cut = level.of(whole)
        above = np.arange(len(whole.levels.leaves)) if level.depth is None else whole.levels.above(cut.levels)
        along = [1] * len(domain.shape)
        along[axis] = -1
        place = place * len(cut.levels.leaves) + above.reshape(along)
    return np.unique(place.ravel(), return_inverse=True)[1].astype(np.int64)


def _chi_words(chi: Floats) -> str:
    """What is made known of chi."""
    found = np.unique(chi)
    if not len(found):
        return ""
    ends = number(float(found[0])) if len(found) == 1 else f"{number(float(found[0]))} to {number(float(found[-1]))}"
    return f"chi is {ends}, and stands in every error."


EXAMPLE = Mose(8)

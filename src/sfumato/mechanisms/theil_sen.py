"""Theil-Sen: the median of what pairs of rows predict, by a private median.

Claim. Rows that come, go or have other values, r of them in all: epsilon, whatever cells they are in; that of the noisy
count by which small cells are left out is in it. Where the counts of cells are public nothing is spent on them.
Law. The rows of a cell are paired at random, `matchings` times, and each pair's line predicts a value, held within half
a range of the bounds. `exponential`: a value of a public grid, P(c) in proportion to w^d(c), d(c) being how far the
numbers of predictions below and above c are apart. `widened`: the same with the least d within a hundredth of the
range. `smooth`: the median with noise p(k) in proportion to 1 / (1 + (k/s)^4), s = 2.2796 S / (epsilon / 2), S being
the smooth sensitivity of the median (Nissim, Raskhodnikova and Smith 2007) at b = epsilon / 6.006, and one step more.
Proof. Pairings that are equally likely can be coupled: with a row more, the new row takes the place of one that was
paired, which is then left out, or is paired with the one that was; so one prediction of a matching is other or new.
That moves each d(c) by 2 at most, for m matchings and r rows by 2 m r, so w is the next multiple of 2^-24 above
exp(−epsilon / (4 m r)); a mixture over coupled pairings loses no more than each. A row that is put for another in some
cell is one that goes and one that comes, r = 2. Where counts are public it stays in its cell, and both sides are paired
alike: it is in one pair of a matching, which is other, so that r is 1. Of `smooth` one prediction is other as well: S
then goes e^b at most, which costs 3.0026 b, half of epsilon.
Failure. A cell of fewer than `least` has no number: by its public count, or by a noisy one at `count` of the
epsilon.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np

from sfumato.draws import Draws, Quartic, TwoSidedGeometric, bounds, draw_quartic
from sfumato.errors import PlanError, PromiseError
from sfumato.mechanisms.cells import Cells
from sfumato.mechanisms.mechanism import Mechanism, RowsApart, Typical
from sfumato.mechanisms.noisy_stats import LinePlace, ends_of, points_of
from sfumato.mechanisms.pairings import all_pairings, paired, predicted, smooth_sensitivity, step_of
from sfumato.mechanisms.ranked_choice import RankedChoice
from sfumato.privacy import Approximate, Exact, Loss, Move, Unsummed, bounded, plain, positive
from sfumato.release import Noisy, NoNumber, Product, Statuses, Uncertainty, Withheld
from sfumato.release.noisy import Integers
from sfumato.schema import Aggregate, Influence, Ragged

MEDIANS = ("exponential", "widened", "smooth")
FINE = 24
WIDTH = 100
"""Into how many parts of the range the widened median looks to either side."""
SLIDE, STRETCH = Fraction("2.2796"), Fraction("3.0026")
"""As in smooth-gamma: what a shift by the scale costs, and a scale that is e times another."""
PARTS_OF_A_STEP = 2**30
"""What scales of a smooth median are rounded up to: so little that it costs less than is left for it."""
MOST_MATCHINGS, MOST_LISTED = 100, 20_000
SMALLEST = Fraction(1, 1000)
WHY = "how exact a median is depends on how dense the predictions lie about it, which is hidden"


@dataclass(frozen=True)
class TheilSen(Mechanism):
    """A private median of the predictions of pairs, at an epsilon of which `count` is for a noisy count."""

    name: ClassVar[str] = "theil-sen"
    source: ClassVar[str] = "Alabi et al. 2020, algorithms 3 to 6; rational weights and integer noise here"
    epsilon: Fraction
    median: str
    matchings: int
    candidates: int
    least: Fraction
    count: Fraction

    def __init__(
        self,
        epsilon: Exact,
        median: str = MEDIANS[0],
        matchings: int = 1,
        candidates: int = 401,
        least: Exact = 20,
        count: Exact = "0.1",
    ) -> None:
        made = {"epsilon": positive(epsilon, "epsilon"), "least": positive(least, "least")}
        vars(self).update(
            made, count=positive(count, "count"), median=median, matchings=matchings, candidates=candidates
        )
        if median not in MEDIANS:
            raise PlanError(f"The median of {self.name} is '{median}'; it is {', '.join(map(repr, MEDIANS))}.")
        if not isinstance(matchings, int) or not 1 <= matchings <= MOST_MATCHINGS:
            raise PlanError(f"{self.name} has {matchings!r} matchings; it is 1 to {MOST_MATCHINGS}.")
        if not isinstance(candidates, int) or not 2 <= candidates <= 10_000:
            raise PlanError(f"{self.name} has {candidates!r} candidates; 2 to 10,000 values may be published.")
        if self.count >= self.epsilon:
            raise PlanError(f"The count of {self.name} is {plain(self.count)}, a part of its epsilon; give it less.")
        if median == "smooth" and matchings != 1:
            raise PlanError(f"{self.name} has one matching where its median is smooth.")

    @property
    def note(self) -> str:
        return "The line is the median of what pairs of rows predict (Theil-Sen), not that of least squares."

    def parameters(self) -> str:
        many = f", {self.matchings} matchings" * (self.matchings > 1)
        return f"epsilon {plain(self.epsilon)}, {self.median}{many}, at least {plain(self.least)}"

    def loss(self, move: Move) -> Loss:
        self.rows(move)
        if self.median == "smooth" and not (isinstance(move, Unsummed) and move.within):
            raise PromiseError(
                f"{self.words()} needs public counts of cells, as a smooth median has so many values: write [hidden] "
                'neighbours = "replace-one" with fixed = all attributes of the table, or median = "widened".'
            )
        return Approximate(self.epsilon)

    def rows(self, move: Move) -> int:
        """How many rows come, go, or have other values where they stay in their cells."""
        if not isinstance(move, Unsummed):
            raise PromiseError(f"{self.name} hides rows of lines, not how large sums of them are; {move.words()}.")
        gone_and_come = bounded(move.rows, self.name).l1
        return gone_and_come // 2 if move.within else gone_and_come

    def of_median(self, move: Move) -> Fraction:
        """The epsilon of the median: all of it where counts are public, else what the noisy count leaves."""
        return self.epsilon if isinstance(move, Unsummed) and move.within else self.epsilon - self.count

    def needs(self, of: tuple[Aggregate, ...]) -> tuple[Aggregate, ...]:
        if not any(isinstance(one, Influence) and one.what == "prediction" for one in of):
            raise PlanError(
                f'{self.name} is for what lines predict; measure of = {{ statistic = "fitted", at = … }}, and a slope '
                "as the difference of two."
            )
        return ()

    @property
    def all_told(self) -> Mechanism:
        """With small cells told too: the noisy count leaves them out, and the claim is for any least."""
        return replace(self, least=SMALLEST)

    def rows_apart(self, of: tuple[Aggregate, ...], move: Move) -> RowsApart:
        """Rows at one point and one beside them: however they are paired, one pair is other than the rest.

        Of four, another row makes the other pair predict a value further on, so that those between the two predictions
        that were furthest from the middle are in it. Where rows stay in their cells the one beside goes to the other
        side of the point. Of a smooth median so many are at the point that its scale is small, and grows by the row.
        """
        (line,) = (one for one in of if isinstance(one, Influence))
        place, within = LinePlace.of(line), isinstance(move, Unsummed) and move.within
        if self.median == "smooth":
            point, pairs = place.row(1, place.start), 8 if self.of_median(move) >= 2 else 2
            return RowsApart((point,) * (2 * pairs - 1), point, place.row(0, place.steep))
        if within:
            return RowsApart((place.row(0.5, place.start),) * 3, *(place.row(y, place.steep) for y in (0, 1)))
        point, beside = place.row(0, place.start), place.row(0.87, place.steep)
        return RowsApart((point, point, point, beside), place.row(1, place.steep), point)

    def base(self, move: Move) -> Fraction:
        """The weight of a candidate that is off by one, next to one that is not."""
        far = 4 * self.matchings * self.rows(move)
        return Fraction(bounds.exponential_minus(self.of_median(move) / far, FINE)[1], 1 << FINE)

    def grid(self, of: Influence) -> Integers:
        """The values that may be published, in steps: half a range beyond the bounds of y."""
        low, high = ends_of(of.y)
        return np.unique(np.linspace(low - (high - low) / 2, high + (high - low) / 2, self.candidates).astype(np.int64))

    def distances(self, grid: Integers, predictions: Integers) -> Integers:
        """How far the numbers of predictions below and above a candidate are apart; of `widened` the least nearby."""
        below = np.searchsorted(predictions, grid, "left")
        above = len(predictions) - np.searchsorted(predictions, grid, "right")
        far = np.maximum(np.abs(below - above) - (len(predictions) - below - above), 0)
        if self.median != "widened":
            return np.asarray(far, dtype=np.int64)
        reach = math.ceil(len(grid) / WIDTH)
        padded = np.pad(far, reach, mode="edge")
        return np.asarray(np.min([padded[at : at + len(far)] for at in range(2 * reach + 1)], axis=0))

    def distribution(self, grid: Integers, predictions: Integers, move: Move) -> list[Fraction]:
        """The exact chance of every candidate, given the predictions of a pairing."""
        return self._choice(grid, move).chances(predictions)

    def _choice(self, grid: Integers, move: Move) -> RankedChoice:
        return RankedChoice(self.base(move), partial(self.distances, grid))

    def chances(self, of: tuple[Aggregate, ...], rows: Integers, move: Move) -> dict[int | None, float] | None:
        """Over all pairings of few rows, each as likely, and the noisy count where there is one."""
        (line,) = (one for one in of if isinstance(one, Influence))
        ways = all_pairings(len(rows))
        if ways is None or self.matchings != 1 or (self.median == "smooth" and np.ptp(self.grid(line)) > MOST_LISTED):
            return None
        (low, high), place = ends_of(line.y), float(line.at / step_of(line))
        found: dict[int | None, float] = {}
        told = self._told_chance(len(rows), move)
        for way in ways:
            one, other = (rows[[pair[end] for pair in way]].reshape(-1, 2) for end in (0, 1))
            for value, chance in self._published(line, np.sort(predicted(one, other, place, low, high)), move):
                found[value] = found.get(value, 0.0) + told * chance / len(ways)
        return found | {None: 1 - told}

    def _published(self, of: Influence, predictions: Integers, move: Move) -> Iterable[tuple[int, float]]:
        """How likely each value is, given the predictions of a pairing."""
        if self.median != "smooth":
            grid = self.grid(of)
            return zip(grid.tolist(), self._choice(grid, move).shares(predictions).tolist(), strict=True)
        low, high = self.grid(of)[[0, -1]].tolist()
        middle, scale = self.smooth_noise(predictions, low, high, move)
        inside = np.arange(low, high + 1)
        chances = Quartic(scale).pmf(inside - middle)
        ends = [float(Quartic(scale).survival(np.array([max(far, 1)]))[0]) / 2 for far in (middle - low, high - middle)]
        for place, far, beyond in ((0, middle - low, ends[0]), (-1, high - middle, ends[1])):
            chances[place] = beyond if far else chances[place] / 2 + 0.5
        return zip(inside.tolist(), chances.tolist(), strict=True)

    def _told_chance(self, count: int, move: Move) -> float:
        """The chance that a cell of so many rows has a number."""
        if isinstance(move, Unsummed) and move.within:
            return float(count >= self.least)
        law = TwoSidedGeometric(self.count / self.rows(move))
        return 1 - float(law.below(np.array([math.ceil(self.least) - count]))[0])

    def perturb(self, cells: Cells, draws: Draws, given: Mapping[str, Product] | None = None) -> Noisy:  # noqa: ARG002
        of, rows = points_of(cells)
        possible = cells.domain.possible.ravel()
        told = self._counted(rows, cells.move, draws) >= float(self.least)
        predictions = paired(of, rows, self.matchings, cells, draws)
        found = self._medians(of, predictions, cells, draws)
        shown = told & possible
        by = "" if isinstance(cells.move, Unsummed) and cells.move.within else ", by a noisy count"
        few = NoNumber(f"Fewer than {plain(self.least)} rows here{by}.", "n", "Q")
        shape = cells.domain.possible.shape
        statuses = Statuses((few,), (possible & ~told).astype(np.int64).reshape(shape))
        return Noisy(cells.domain, np.where(shown, found, 0).reshape(shape), cells.step, cells.move, statuses=statuses)

    def _counted(self, rows: Ragged, move: Move, draws: Draws) -> Integers:
        """How many rows cells have: as everybody knows, where counts are public, else with noise."""
        if isinstance(move, Unsummed) and move.within:
            return rows.lengths
        law = TwoSidedGeometric(self.count / self.rows(move))
        return rows.lengths + law.draw(len(rows), draws)

    def _medians(self, of: Influence, predictions: Ragged, cells: Cells, draws: Draws) -> Integers:
        if self.median == "smooth":
            return self._smoothed(of, predictions, cells.move, draws)
        grid, words = self.grid(of), draws.words(len(predictions)).tolist()
        choice = self._choice(grid, cells.move)
        places = [choice.place(predictions.at(cell), word, draws) for cell, word in enumerate(words)]
        return np.asarray(grid[places], dtype=np.int64)

    def _smoothed(self, of: Influence, predictions: Ragged, move: Move, draws: Draws) -> Integers:
        low, high = self.grid(of)[[0, -1]].tolist()
        known: dict[bytes, tuple[int, Fraction]] = {}  # many small cells are alike
        for cell in range(len(predictions)):
            held = predictions.at(cell)
            if held.tobytes() not in known:
                known[held.tobytes()] = self.smooth_noise(held, low, high, move)
        found = [known[predictions.at(cell).tobytes()] for cell in range(len(predictions))]
        scales = sorted({scale for _, scale in found})
        places = {scale: place for place, scale in enumerate(scales)}
        noise = draw_quartic(scales, np.array([places[scale] for _, scale in found], dtype=np.int64), draws)
        medians = np.array([middle for middle, _ in found], dtype=np.int64)
        return np.asarray(np.clip(medians + noise, low, high), dtype=np.int64)

    def smooth_noise(self, held: Integers, low: int, high: int, move: Move) -> tuple[int, Fraction]:
        """The median of some predictions, in steps, and the scale of the noise on it."""
        half = self.of_median(move) / 2
        b = float(half / STRETCH) * (1 - 1e-5)  # the rest is for scales that are rounded up
        middle = int(held[(len(held) - 1) // 2]) if len(held) else (low + high) // 2
        size = math.ceil((smooth_sensitivity(held, low, high, b) + 1) * PARTS_OF_A_STEP)
        return middle, max(SLIDE / half * Fraction(size, PARTS_OF_A_STEP), Fraction(2))

    def uncertainty(self, noisy: Noisy) -> Uncertainty:  # noqa: ARG002 - withheld
        return Withheld(WHY)

    def unstated(self, move: Move) -> Withheld:  # noqa: ARG002 - never
        return Withheld(WHY)

    def expected(self, move: Move, number: Typical) -> Withheld:  # noqa: ARG002 - withheld
        self.loss(move)
        return Withheld(WHY)


EXAMPLE = TheilSen(2)

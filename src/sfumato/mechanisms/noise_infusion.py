"""Noise infusion: what a unit has is multiplied by a factor of its own that never changes, then tabulated.

Claim. None. A cell of one unit is its value times its factor, so the ratio of two such cells, the share of women or of
the young, is the true one: `tests/attacks` reads shares off releases.
Law. The factor of a unit is 1 + s d: the sign s is either with chance 1/2, and d has the ramp density
2 (high − d) / (high − low)² from low to high, so that its mean is low + (high − low) / 3. It is computed from a keyed
digest of the unit's name, hence the same in every table and every release while the key is kept. A cell is the sum of
factor times value over its units, rounded half up. A cell without records stays 0. One whose infused value is above 0
and below `limit` is replaced by a number from 1 to ⌊limit⌋, drawn for each cell anew with the shares that these numbers
have among the true values of all cells so replaced, one more added to each: a posterior predictive draw under a flat
prior, which does not depend on the cell's own value.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from math import floor
from typing import ClassVar

import numpy as np

from sfumato.draws import Draws
from sfumato.errors import PlanError, PromiseError
from sfumato.mechanisms.cells import Cells
from sfumato.mechanisms.mechanism import Mechanism, Typical
from sfumato.privacy import EveryTable, Exact, Loss, Move, Unbounded, exact, plain, positive
from sfumato.release import Noisy, Product, Uncertainty, Withheld
from sfumato.release.noisy import Floats, Integers
from sfumato.schema import Aggregate, Frame, Ragged, Rows, Sum, UnitSums

WHY = "the factor of every unit is confidential, and so is how far a total of few of them lies from the truth"
LOSS = "a table of one unit's cells shows its shares as they are, and its factor is the same in every release"
_BITS = 53


@dataclass(frozen=True)
class NoiseInfusion(Mechanism):
    """Lasting factors on what units have, zeros kept, small cells replaced; `per` is the column of units."""

    name: ClassVar[str] = "noise-infusion"
    source: ClassVar[str] = (
        "the system in use since 2003: Haney et al. 2017, 'Current SDL Protection'; ramp as in the QWI"
    )
    low: Fraction
    high: Fraction
    limit: Fraction
    per: str | None

    def __init__(self, low: Exact, high: Exact, limit: Exact = "2.5", per: str | None = None) -> None:
        found = {"low": positive(low, "low"), "high": positive(high, "high"), "limit": exact(limit, "limit")}
        vars(self).update(found, per=per)
        if not self.low < self.high < 1:
            raise PlanError(
                f"noise-infusion goes from low {plain(self.low)} to high {plain(self.high)}; factors are 1 - high to "
                '1 - low and 1 + low to 1 + high, so low lies below high and both below 1: low = "0.05", high = "0.15".'
            )
        if self.limit < 0:
            raise PlanError(f"The limit of small cells is {plain(self.limit)}; it is 0, for none, or more: 2.5.")

    @property
    def note(self) -> str:
        return (
            "Not formally private: what each unit has was multiplied by a lasting confidential factor between "
            f"{plain(1 - self.high)} and {plain(1 + self.high)}, and never by one nearer to 1 than {plain(self.low)}; "
            f"cells without records are 0, and those below {plain(self.limit)} were replaced by a small number."
        )

    def loss(self, move: Move) -> Loss:
        if isinstance(move, EveryTable):
            raise PromiseError(f"{self.name} is for single tables; name each in a measure of its own.")
        return Unbounded(LOSS)

    def needs(self, of: tuple[Aggregate, ...]) -> tuple[Aggregate, ...]:
        match of:
            case (Rows(),):
                return (UnitSums(None, self.per),)
            case (Sum(value),):
                return (UnitSums(value, self.per),)
        raise PlanError(f"{self.name} is for counts and totals, which are sums over units.")

    def perturb(self, cells: Cells, draws: Draws, given: Mapping[str, Product] | None = None) -> Noisy:  # noqa: ARG002
        values, places = self.rounded(self.infused(cells, draws), cells.totals, cells.step, draws), cells.places
        if places is not None:  # of a sparse table the cells that are not 0 are listed
            values, places = values[values != 0], places[values != 0]
        return Noisy(cells.domain, values, cells.step, cells.move, places=places)

    def rounded(self, infused: Floats, true: Integers, step: Fraction, draws: Draws) -> Integers:
        """What is published of infused values: whole numbers, 0 where the truth is, drawn where they are small."""
        values = np.where(true == 0, 0, np.floor(infused + 0.5)).astype(np.int64)
        small = (true != 0) & (np.abs(infused) < float(self.limit / step))
        values[small] = self._drawn(true[small], floor(self.limit / step), draws)
        return values

    def refuse_unready(self, draws: Draws) -> None:
        draws.lasting(self.name)

    def infused(self, cells: Cells, draws: Draws) -> Floats:
        """The sum over the units of every cell, or group of rows, of factor times value, in steps: confidential."""
        (units,) = (column for one, column in cells.columns.items() if isinstance(one, UnitSums))
        factors = self.factors(units.values[:, 0], draws)
        if not isinstance(cells.domain, Frame):
            return _summed(units, factors * units.values[:, 1]).reshape(cells.values.shape)
        # Of a frame a unit is a row, and a universe has set the values outside it to 0.
        by_row = _summed(units, factors) * cells.values
        return by_row if cells.grouping is None else cells.grouping.sums(by_row)

    def factors(self, digests: Integers, draws: Draws) -> Floats:
        """The lasting factor of each unit, by the digest of its name."""
        key = draws.lasting(self.name)
        named, back = np.unique(digests, return_inverse=True)
        words = b"".join(blake2b(one, key=key, digest_size=8).digest() for one in _bytes(named))
        drawn = np.frombuffer(words, dtype="<u8")
        sign = np.where(drawn & np.uint64(1), 1.0, -1.0)
        left = ((drawn >> np.uint64(64 - _BITS)) + 0.5) / 2.0**_BITS  # 1 minus the distribution function of d
        low, high = float(self.low), float(self.high)
        return np.asarray((1 + sign * (high - (high - low) * np.sqrt(left)))[back], dtype=np.float64)

    def _drawn(self, true: Integers, most: int, draws: Draws) -> Integers:
        """A number from 1 to the most for each small cell, by the smoothed shares of these among the true ones."""
        if not len(true):
            return true
        held = np.bincount(np.clip(np.abs(true), 1, most) - 1, minlength=most) + 1
        words = draws.words(len(true)) % np.uint64(held.sum())
        found = 1 + np.searchsorted(np.cumsum(held), words.astype(np.int64), side="right")
        return np.asarray(np.sign(true) * found, dtype=np.int64)

    def uncertainty(self, noisy: Noisy) -> Uncertainty:  # noqa: ARG002 - of whatever values
        return Withheld(WHY)

    def expected(self, move: Move, number: Typical) -> float | Withheld:  # noqa: ARG002
        return Withheld(WHY)

    def parameters(self) -> str:
        said = f"low {plain(self.low)}, high {plain(self.high)}, limit {plain(self.limit)}"
        return said if self.per is None else f"{said}, per {self.per}"

    def changes(self, move: Move) -> float:  # noqa: ARG002 - empty cells stay empty
        return 0.0


def _bytes(digests: Integers) -> list[bytes]:
    written = digests.astype("<i8").tobytes()
    return [written[start : start + 8] for start in range(0, len(written), 8)]


def _summed(units: Ragged, values: Floats) -> Floats:
    """What the units of every cell sum to."""
    return np.bincount(np.repeat(np.arange(len(units)), units.lengths), values, len(units)).astype(np.float64)


EXAMPLE = NoiseInfusion("0.05", "0.15")

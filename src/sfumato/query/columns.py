"""Columns: every cell of a table at once, as arrays; the same arithmetic as `Estimate`, to the last bit."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.query.caveats import NONE, Caveats
from sfumato.query.estimate import IMPOSSIBLE, Estimate, Figure, Variance
from sfumato.query.grade import grades_of
from sfumato.query.reaching import Reaching, risks
from sfumato.release import NoNumber, Statuses, Subject
from sfumato.release.error_law import NORMAL, ErrorLaw, NoisyTotals

Floats = NDArray[np.float64]
_EXACT = 2**53


@dataclass(frozen=True, eq=False)
class Columns:
    """The cells of a table in a row, the last axis running fastest; an error that is withheld is not a number (NaN).

    The estimates are whole numbers where the step is; `cells` says how many published cells each one sums. A cell that
    holds no number has None or NaN for an estimate, and its status says why.
    """

    estimate: NDArray[Any]
    noise_variance: Floats
    sampling_variance: Floats
    cells: NDArray[np.int64]
    grades: Mapping[str, float] = field(default_factory=lambda: {"A": 0.15, "B": 0.30})
    law: ErrorLaw = NORMAL
    statuses: Statuses | None = None
    more: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    """What is told of each cell besides: of a change what was before and after, the percentage and the verdict."""
    caveats: Caveats = NONE
    """What the numbers leave out."""
    bought: Reaching | None = None
    """How far beyond noise intervals go, where the release bought what was cut."""

    def __len__(self) -> int:
        return len(self.cells)

    @cached_property
    def empty(self) -> NDArray[np.bool_]:
        """Which cells hold no number."""
        return np.zeros(len(self), dtype=bool) if self.statuses is None else self.statuses.missing

    @property
    def kinds(self) -> tuple[NoNumber, ...]:
        """Why cells hold no number, each kind that occurs once."""
        if self.statuses is None:
            return ()
        return tuple(self.statuses.kinds[place - 1] for place in np.unique(self.statuses.which).tolist() if place)

    def at(self, places: NDArray[np.intp]) -> "Columns":
        """The cells at some places, one as often as it is named."""
        statuses = self.statuses and Statuses(self.statuses.kinds, self.statuses.which.ravel()[places])
        noise, sampled = self.noise_variance[places], self.sampling_variance[places]
        law = self.law.only(places)
        cells = self.cells[places]
        found = Columns(self.estimate[places], noise, sampled, cells, self.grades, law, statuses, caveats=self.caveats)
        return replace(found, bought=self.bought and self.bought.only(places))

    def figure(self, flat: int, noise: Variance | None, sampled: Variance | None, subject: Subject) -> Figure:
        """The figure of one cell; `noise` and `sampled` say why an error is withheld, where one is."""
        missing = self.statuses.at(flat) if self.statuses else None
        if missing or not self.cells[flat]:
            return missing or IMPOSSIBLE
        value = self.estimate[flat]
        value = value.item() if isinstance(value, np.generic) else value
        return Estimate(
            int(value) if value == int(value) and subject.step.denominator > 1 else value,
            float(self.noise_variance[flat]) if noise is None else noise,
            float(self.sampling_variance[flat]) if sampled is None else sampled,
            subject.unit,
            int(self.cells[flat]),
            self.grades,
            self.law.only([flat]),
            self.caveats,
            self.bought and self.bought.only([flat]),
        )

    def status(self, word: str, otherwise: str = "") -> list[str]:
        """For every cell the `code`, `reason` or `sdmx` of its status; where it holds a number, something else."""
        if self.statuses is None:
            return [otherwise] * len(self)
        words = [otherwise, *(str(getattr(kind, word)) for kind in self.statuses.kinds)]
        return [words[place] for place in self.statuses.which.ravel().tolist()]

    @property
    def told(self) -> "Columns":
        """The same for whoever takes them away: what cannot exist, 0 by definition here, is no number there."""
        none = (self.cells == 0) & ~self.empty
        if not none.any():
            return self
        held = Statuses((), np.zeros(len(self), dtype=int)) if self.statuses is None else self.statuses
        kinds = (*held.kinds, IMPOSSIBLE)
        statuses = Statuses(kinds, np.where(none, len(kinds), held.which.ravel()))
        noise, sampled = (np.where(none, np.nan, one) for one in (self.noise_variance, self.sampling_variance))
        value = emptied(self.estimate, none)
        return replace(self, estimate=value, noise_variance=noise, sampling_variance=sampled, statuses=statuses)

    @cached_property
    def variance(self) -> Floats:
        return self.noise_variance + self.sampling_variance

    @cached_property
    def se(self) -> Floats:
        return _root(self.variance)

    @cached_property
    def se_noise(self) -> Floats:
        return _root(self.noise_variance)

    @cached_property
    def se_sampling(self) -> Floats:
        return _root(self.sampling_variance)

    @property
    def noise_alone(self) -> NDArray[np.bool_]:
        """Where margins count the noise and not the sampling error, of which nothing is stated."""
        return np.isnan(self.sampling_variance) & ~np.isnan(self.noise_variance)

    @property
    def lopsided(self) -> bool:
        """Whether intervals may be longer to one side, so that a margin does not tell them."""
        return self.law.lopsided or self.bought is not None

    def moe(self, level: float = 0.90) -> Floats:
        """The margins of error at a level, the longer side of each interval."""
        return np.asarray(np.maximum(*self.reach(level)), dtype=np.float64)

    def reach(self, level: float) -> tuple[Floats, Floats]:
        """How far intervals go below and above, by the noise alone where nothing is stated of the sampling error."""
        if self.bought is None:
            return self.noise_reach(level)
        noisy, risk = risks(level)
        (below, _), (under, over), (low, high) = self.noise_reach(level), self.noise_reach(noisy), self.allowance(risk)
        return np.where(low > 0, under + low, below), over + high

    def allowance(self, risk: float) -> tuple[Floats, Floats]:
        """How much farther intervals go than noise does, below and above, for what was cut."""
        none = np.zeros(len(self))
        return (none, none) if self.bought is None else self.bought.allowance(risk)

    def noise_reach(self, level: float) -> tuple[Floats, Floats]:
        """The same by noise and sampling, whatever was cut."""
        some = ~np.isnan(self.noise_variance)
        columns = (self.estimate, self.noise_variance, self.sampling_variance, self.cells)
        totals = NoisyTotals(*(one[some].astype(np.float64) for one in columns))
        below, above = np.full((2, len(self)), np.nan)
        below[some], above[some] = self.law.only(some).reach(level, totals)
        return below, above

    def ends(self, level: float) -> tuple[Floats, Floats]:
        """Both ends of every interval."""
        below, above = self.reach(level)
        values = np.array([np.nan if one is None else one for one in self.estimate.tolist()], dtype=np.float64)
        return values - below, values + above

    @cached_property
    def moe90(self) -> Floats:
        return self.moe(0.90)

    @cached_property
    def cv(self) -> Floats:
        """The standard errors as shares of the values; infinite where the value is 0 and the error is not."""
        value = self.estimate.astype(np.float64)
        apart = np.where(np.isnan(self.se), np.nan, np.where(self.se > 0, np.inf, 0.0))
        return np.abs(np.divide(self.se, value, out=apart, where=value != 0))

    @cached_property
    def noise_share(self) -> Floats:
        """The share of the variance that is privacy noise; NaN where it is withheld, and where there is no error."""
        share = np.full(len(self), np.nan)
        np.divide(self.noise_variance, self.variance, out=share, where=self.variance > 0)
        return share

    @cached_property
    def grade(self) -> NDArray[np.str_]:
        """A, B or C as `Estimate.grade` says it; - where the error is withheld or there is no number."""
        return grades_of(self.estimate.astype(np.float64), self.se, self.moe90, self.grades)


def _root(variance: Floats) -> Floats:
    return np.sqrt(np.where(variance < 0, 0.0, variance))


def in_units(steps: NDArray[np.int64], step: Fraction) -> NDArray[Any]:
    """Whole steps as numbers in the unit: whole where the step is, else the nearest floats.

    >>> in_units(np.array([3, 4]), Fraction(1, 4)).tolist()
    [0.75, 1.0]
    """
    largest = max(int(steps.max(initial=0)), -int(steps.min(initial=0))) * step.numerator
    if largest >= _EXACT:
        # Beyond what a float holds exactly, integers of Python take over.
        exact = [int(one) * step for one in steps.ravel().tolist()]
        whole = step.denominator == 1
        found = [int(one) if whole else float(one) for one in exact]
        return np.array(found, dtype=object if whole else np.float64).reshape(steps.shape)
    scaled = steps * step.numerator
    return scaled if step.denominator == 1 else scaled / step.denominator


def emptied(numbers: NDArray[Any], empty: NDArray[np.bool_]) -> NDArray[Any]:
    """The numbers without some: None where they are whole, else not a number."""
    if not empty.any():
        return numbers
    kept = numbers.astype(numbers.dtype if numbers.dtype.kind == "f" else object)
    kept[empty] = np.nan if numbers.dtype.kind == "f" else None
    return kept


def listed(numbers: NDArray[Any], *, finite: bool = False) -> list[Any]:
    """The numbers as Python's own, None where one is withheld, and where one has no end if only finite ones are wanted.

    >>> listed(np.array([1.5, np.nan, np.inf])), listed(np.array([np.inf]), finite=True)
    ([1.5, None, inf], [None])
    """
    if numbers.dtype.kind != "f":
        return numbers.tolist()  # type: ignore[no-any-return]
    said = numbers.astype(object)
    said[~np.isfinite(numbers) if finite else np.isnan(numbers)] = None
    return said.tolist()  # type: ignore[no-any-return]

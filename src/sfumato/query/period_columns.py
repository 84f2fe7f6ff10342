"""PeriodColumns: the cells of several periods side by side, what years are of them, and why some hold no number."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.query.caveats import joint
from sfumato.query.columns import Columns, Floats, emptied
from sfumato.query.reaching import AddedExcess
from sfumato.release import NoNumber, Statuses


@dataclass(frozen=True, eq=False)
class PeriodColumns(Columns):
    """The columns of several periods as one, each with the law of its own noise."""

    every: tuple[Columns, ...] = ()
    order: NDArray[np.intp] = None  # type: ignore[assignment]
    """Where each cell stands when the periods stand one after the other."""

    @classmethod
    def of(cls, every: Sequence[Columns], order: NDArray[np.intp], *, exact: bool = True) -> "PeriodColumns":
        """Columns of the same cells in several periods; with `exact` whole numbers stay whole."""
        estimates = np.concatenate([one.estimate for one in every])[order]
        return cls(
            estimates if exact else estimates.astype(np.float64),
            _joined([one.noise_variance for one in every], order),
            _joined([one.sampling_variance for one in every], order),
            _joined([one.cells for one in every], order),
            every[-1].grades,
            statuses=_statuses([one.statuses for one in every], order, len(every[0])),
            more={name: _joined([one.more[name] for one in every], order) for name in every[0].more},
            caveats=joint(one.caveats for one in every),
            every=tuple(every),
            order=order,
        )

    @property
    def lopsided(self) -> bool:
        return any(one.lopsided for one in self.every)

    def reach(self, level: float) -> tuple[Floats, Floats]:
        below, above = zip(*(one.reach(level) for one in self.every), strict=True)
        return _joined(below, self.order), _joined(above, self.order)

    @cached_property
    def grade(self) -> NDArray[np.str_]:
        return np.where(self.empty, "-", _joined([one.grade for one in self.every], self.order))


def _joined(each: Iterable[NDArray[Any]], order: NDArray[np.intp]) -> NDArray[Any]:
    return np.concatenate(list(each))[order]


def _statuses(each: Sequence[Statuses | None], order: NDArray[np.intp], size: int) -> Statuses | None:
    """The statuses of the cells of several periods as one."""
    kinds: list[NoNumber] = []
    found = np.zeros((len(each), size), dtype=int)
    for row, statuses in enumerate(each):
        if statuses:
            found[row] = np.where(statuses.missing, statuses.which.ravel() + len(kinds), 0)
            kinds += statuses.kinds
    return Statuses(tuple(kinds), found.ravel()[order]) if kinds else None


def first_missing(parts: Sequence[Columns]) -> Statuses | None:
    """Why cells made of those of several periods hold no number: one of the periods holds none."""
    size = len(parts[0])
    order = np.arange(len(parts) * size).reshape(len(parts), size).T.ravel()
    beside = _statuses([one.statuses for one in parts], order, size)
    if beside is None:
        return None
    which = beside.which.reshape(size, len(parts))
    first = (which > 0).argmax(axis=1)
    return Statuses(beside.kinds, which[np.arange(size), first])


def together_of(parts: Sequence[Columns], together: str | None, shared: Floats | float = 0.0) -> Columns:
    """Periods together: values and noise variances add up, sampling errors only where there are none.

    `shared` is what noise gives them in common, twice for each pair.
    """
    scale = 1 / len(parts) if together == "mean" else 1
    statuses = first_missing(parts)
    empty = statuses.missing if statuses else np.zeros(len(parts[0]), dtype=bool)
    # Whole estimates in 64 bits are below 2^53 (`in_units`), and larger ones integers of Python: no year wraps.
    value = np.sum([np.where(empty, 0, one.estimate) for one in parts], axis=0) * scale
    noise = np.sum([one.noise_variance for one in parts], axis=0) + shared
    sampled = np.sum([one.sampling_variance for one in parts], axis=0)
    cells = np.sum([one.cells for one in parts], axis=0)
    unsampled = np.where(sampled == 0, 0.0, np.nan)
    law = reduce(lambda one, other: one.plus(other), [one.law for one in parts]).times(scale)
    grades, caveats = parts[-1].grades, joint(one.caveats for one in parts)
    found = Columns(emptied(value, empty), noise * scale**2, unsampled, cells, grades, law, statuses, caveats=caveats)
    bought = AddedExcess(tuple(parts), scale) if any(one.bought is not None for one in parts) else None
    return replace(found, bought=bought)

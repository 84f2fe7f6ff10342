"""Statuses: which boxes of a grid hold no number, and why."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class NoNumber:
    """There is no number here: the reason, a mark that stands in its place, and its code in SDMX's CL_OBS_STATUS.

    In SDMX, Q is suppressed, M cannot exist, L was not collected, and O is missing for any other reason.
    """

    reason: str
    code: str = "–"
    sdmx: str = "O"


@dataclass(frozen=True, eq=False)
class Statuses:
    """For every box of a grid 0 where it holds a number, else the place of its status among `kinds`, from 1 on.

    >>> statuses = Statuses((NoNumber("fewer than 3 firms", "s", "Q"),), np.array([0, 1]))
    >>> statuses.at(0), statuses.at(1).reason, statuses.missing.tolist()
    (None, 'fewer than 3 firms', [False, True])
    """

    kinds: tuple[NoNumber, ...]
    which: NDArray[np.integer]

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Whether each box holds no number, in the order of the flattened grid."""
        return self.which.ravel() > 0

    def said(self, says: Callable[[str], str]) -> "Statuses":
        """The same with other words for why there is no number."""
        return Statuses(tuple(replace(kind, reason=says(kind.reason)) for kind in self.kinds), self.which)

    def sdmx(self, code: str) -> NDArray[np.bool_]:
        """Whether each box has a status of this code of SDMX, in the order of the flattened grid."""
        named = np.array([False, *(kind.sdmx == code for kind in self.kinds)])
        return np.asarray(named[self.which.ravel()])

    def at(self, flat: int) -> NoNumber | None:
        """Why the box at a place of the flattened grid holds no number; None where it holds one."""
        place = int(self.which.flat[flat])
        return self.kinds[place - 1] if place else None

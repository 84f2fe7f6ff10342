"""Fit: rows moved to noisy totals by least squares, as equations with which the same can be done to other draws."""

from dataclasses import dataclass

from sfumato.release.noisy import Floats
from sfumato.release.uncertainties.joint_cells import Joined
from sfumato.release.uncertainties.normal import Normal


@dataclass(frozen=True, eq=False)
class Fit:
    """The equations by which rows are moved to controls, and the variances that the controls were drawn with."""

    joined: Joined
    normal: Normal
    drawn: Floats

    def pulls(self, gaps: Floats) -> Floats:
        """How far each joint cell is moved to close gaps of the controls, a unit of variance."""
        return self.joined.spread(self.normal.solve(gaps))

"""Calibration signs: totals that replicate weights hardly move, as they would if weights were calibrated to them.

Of a sample that is drawn at random the number of units in a domain with a share p of all has a variance of about
Σw² (1 − p), Σw² over the records of the domain. Replicates of weights that were calibrated to that number all give it
again, but for rounding. So do replicates of a design that fixed it: where the domain is a stratum.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.design import Survey
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.sealed import Sealed, scrubbed
from sfumato.errors import DataError
from sfumato.foreign_text import joined
from sfumato.plan import Plan
from sfumato.query import Axis
from sfumato.release import Withheld
from sfumato.schema import Attribute, Grid
from sfumato.schema.schema import BASE

LEAST_RECORDS = 30
"""Domains of fewer records are not looked at."""
LARGEST_SHARE = 0.9
"""Domains of a larger share are fixed by the size of the sample as much as by anything else."""
HARDLY = 0.01
"""The part of the variance of a random sample below which a total hardly moves: a tenth of its standard error."""


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationSigns(Sealed):
    """The attributes by whose levels the weighted number of units hardly moves between replicates."""

    attributes: tuple[str, ...]
    unit: str
    unread: str = ""
    """Why replicate weights could not be read, where they could not."""

    @property
    def words(self) -> str:
        """What was seen, what it may mean, and what to write; '' where nothing was."""
        if self.unread:
            return f"Calibration of the weights was not looked for. {self.unread}"
        if not self.attributes:
            return ""
        named = joined(", ", self.attributes)
        return (
            f"Replicate weights hardly move the number of {self.unit}s by {named}. So it is where weights were "
            "calibrated to these numbers, or where they are strata of the sample. If weights were calibrated, write "
            '[data] weight_kind = "adjusted" and list it as an exposure. The guarantee does not cover what one record '
            "does to the weights of others."
        )

    def to_dict(self) -> dict[str, Any]:
        """The same for machines."""
        return {"attributes": list(self.attributes), "words": self.words}


def find_calibration(plan: Plan, microdata: Microdata) -> CalibrationSigns:
    """The signs that weights which a plan calls base weights were calibrated; without replicates there are none."""
    schema = plan.schema
    if schema.weight is None or schema.weight_kind != BASE or not schema.replicates:
        return CalibrationSigns((), schema.unit)
    try:
        return CalibrationSigns(tuple(scrubbed(_list_unmoved, plan, microdata)), schema.unit)
    except DataError as error:  # `run` reads no replicates, so that data without them are no fault
        return CalibrationSigns((), schema.unit, str(error))


def _list_unmoved(plan: Plan, microdata: Microdata) -> list[str]:
    """The labels of the attributes with a level whose number hardly moves."""
    attributes = plan.over.attributes(plan.measures)
    names = [attribute.name for attribute in attributes]
    with closing(Survey(plan, microdata, names, [str(plan.schema.weight)])) as survey:
        return list(_iterate_unmoved(survey, attributes))


def _iterate_unmoved(survey: Survey, attributes: Sequence[Attribute]) -> Iterator[str]:
    whole = float(survey.total(Grid(())).full)
    for attribute in attributes:
        grid = Grid(((attribute.name, Axis(attribute, attribute.levels.codes).groups),))
        numbers = survey.total(grid)
        variances = survey.variances(numbers)
        if isinstance(variances, Withheld):
            return
        squares = survey.total(grid, survey.plan.schema.weight).full
        if hardly_moves(numbers.full, squares, variances, survey.records(grid), whole).any():
            yield attribute.label


def hardly_moves(
    numbers: NDArray[Any], squares: NDArray[Any], variances: NDArray[Any], records: NDArray[Any], whole: float
) -> NDArray[np.bool_]:
    """Whether the variance by replicates is next to nothing beside that of a random sample of as many.

    >>> numbers, squares = np.array([500.0, 500.0]), np.array([5000.0, 5000.0])
    >>> hardly_moves(numbers, squares, np.array([0.0, 2400.0]), np.array([50, 50]), 1000.0).tolist()
    [True, False]
    """
    shares = numbers / max(whole, 1e-300)
    random = squares * (1 - shares)
    looked_at = (records >= LEAST_RECORDS) & (shares > 0) & (shares <= LARGEST_SHARE)
    return np.asarray(looked_at & (variances < HARDLY * random))

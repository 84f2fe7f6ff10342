"""Grade: A, B or C by how large the error of a number is beside it, and never better than the margin beside it says.

The standard error of a ratio is Taylor's and its margin Fieller's, which is longer where the denominator is not far
from 0; margins of whole numbers go up to a whole step. A grade by the standard error alone would call 67.6% ± 49.1 a B.
So the margin counts as well: at 90% it is 1.645 standard errors of a normal law, and what is longer is graded as the
standard error that would have that margin.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sfumato.release.noisy import Floats
from sfumato.release.tails import CENSUS_90

Grades = Mapping[str, float]
"""The bounds of A and B: shares of the number that its error stays under."""


def grade_of(value: float, se: float, margin: float, grades: Grades) -> str:
    """The grade of a number by its standard error and its 90% margin; C also where that reaches 0.

    >>> grade_of(0.676, 0.199, 0.327, {"A": 0.15, "B": 0.30}), grade_of(0.676, 0.199, 0.491, {"A": 0.15, "B": 0.30})
    ('B', 'C')
    """
    error = max(se, margin / CENSUS_90)
    if error and abs(value) <= margin:
        return "C"
    return next((grade for grade in ("A", "B") if error < grades[grade] * abs(value) or not error), "C")


def grades_of(value: Floats, se: Floats, margin: Floats, grades: Grades) -> NDArray[np.str_]:
    """The same of many numbers; - where there is no number, or its standard error is not stated.

    >>> grades_of(*np.array([[100.0, 100, 0], [10, 10, np.nan], [16.45, 40, 0]]), {"A": 0.15, "B": 0.30}).tolist()
    ['A', 'B', '-']
    """
    error, size = np.maximum(se, margin / CENSUS_90), np.abs(value)
    found = np.where(error < grades["A"] * size, "A", np.where(error < grades["B"] * size, "B", "C"))
    found = np.where((error > 0) & (size <= margin), "C", found)
    return np.where(np.isnan(se) | np.isnan(value), "-", np.where(error == 0, "A", found))


def margin_bound(grade: float) -> float:
    """The share of a number that its 90% margin stays under, for a bound of its standard error.

    >>> round(margin_bound(0.15), 3)
    0.247
    """
    return CENSUS_90 * grade

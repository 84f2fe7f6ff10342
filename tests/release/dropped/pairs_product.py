"""Pairs: a product of which only tables of two attributes were published."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from sfumato.release.products.cube import Cube
from sfumato.release.products.product import Subject
from sfumato.release.uncertainties import Independent
from sfumato.schema import Attribute, Levels, Table


@dataclass(frozen=True, eq=False)
class Pairs(Cube):
    """Numbers that are told apart by two attributes at a time."""

    kind: ClassVar[str] = "pairs"

    @classmethod
    def of(cls, subject, noisy, uncertainty):
        return None

    def refuses(self, names):
        if len(names) <= 2:
            return ""
        return f"Only tables of two variables were published; {', '.join(sorted(names))} are {len(names)}."


_TABLE = Table(tuple(Attribute(name, Levels.of("12")) for name in "abc"))
EXAMPLE = Pairs(Subject("jobs", "count", "Jobs", "jobs", Fraction(1)), _TABLE, np.ones((2, 2, 2)), Independent(2.0))

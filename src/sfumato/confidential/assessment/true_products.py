"""TrueProducts: what a plan measures as the data have it, asked as a release is asked; as confidential as the data.

What a clip or a step of the plan takes from values is not taken here: it is an error of the releases that clip, and of
no other.
"""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.confidential.assessment.comparisons import Floats, Integers
from sfumato.confidential.assessment.truth import as_they_are, leaves
from sfumato.confidential.design import Survey
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.sealed import Sealed, scrubbed
from sfumato.confidential.tabulate import Tabulation
from sfumato.draws import SystemDraws
from sfumato.errors import PlanError
from sfumato.plan import Measure, Plan
from sfumato.privacy import Unclaimed
from sfumato.release import Independent, Noisy, Product, Subject, measured
from sfumato.schema import Table
from sfumato.statistics import Count, Total

EXACT_TO = 2**53
"""Whole numbers that a double holds exactly."""
Key = tuple[object, ...]
"""What a number is of: the statistic, its column, and the universe."""


def key_of(measure: Measure) -> Key:
    """What the numbers of a measure are of, whatever was done to them."""
    where = tuple(sorted((name, *codes) for name, codes in measure.where.items()))
    row = measure.of.contribution
    return measure.of.name, row.column, row.power, row.weight is not None, where


@dataclass(frozen=True, eq=False, repr=False)
class TrueProduct(Sealed):
    """The true totals of a statistic, and how many units they are of."""

    measure: Measure
    totals: Product
    units: Product


class TrueProducts(Sealed):
    """Every statistic of a plan that is a sum, read once; and once more where the plan clips values."""

    def __init__(self, plan: Plan, microdata: Microdata) -> None:
        self._plan, self._open = plan, ExitStack()
        records = scrubbed(Tabulation, plan, microdata, SystemDraws(), truncated=False)
        self._records = self._open.enter_context(closing(records))
        scrubbed(self._records.refuse_faults)
        self._survey: Survey | None = None
        if any(_clipped(one, plan) for one in plan.measures):
            self._survey = self._open.enter_context(closing(as_they_are(plan, microdata)))
        self._weighed = self._survey
        if any(one.of.weighted for one in plan.measures):
            self._weighed = self._open.enter_context(closing(as_they_are(plan, microdata, weighted=True)))

    def close(self) -> None:
        self._open.close()

    def found(self) -> Iterator[tuple[Key, TrueProduct]]:
        """The statistics, each by the finest of the measures that are of it."""
        widest: dict[Key, Measure] = {}
        for measure in (one for one in self._plan.measures if one.of.additive):
            known = widest.setdefault(key_of(measure), measure)
            if len(self._plan.over.by(measure)) > len(self._plan.over.by(known)):
                widest[key_of(measure)] = measure
        if not widest:
            raise PlanError("The plan measures nothing that is a sum, so there is nothing to lay side by side.")
        for key, measure in widest.items():
            yield key, self._true(measure)

    def _true(self, measure: Measure) -> TrueProduct:
        domain, values, units = self._records.truth(measure)
        row, step = self._plan.schema.unit, measure.of.step
        survey = self._weighed if measure.of.weighted else self._survey
        if (clipped := _clipped(measure, self._plan)) and survey is not None and isinstance(domain, Table):
            column = clipped.column if isinstance(clipped, Total) else None
            whole = survey.total(leaves(domain, self._plan, measure), column, measure.of.contribution.power).full
            values, step = in_steps(np.asarray(whole, dtype=np.float64))
        unit = f"{row}s" if measure.of.unit == "records" else measure.of.unit
        about = Subject(measure.name, measure.of.name, measure.titled(row, self._plan.language), unit, step)
        whose = Subject("units", "count", f"Number of {row}s", f"{row}s", Fraction(1))
        held = Noisy(domain, values, step, Unclaimed())
        counted = Noisy(domain, units, Fraction(1), Unclaimed())
        exact = Independent(0.0)
        return TrueProduct(measure, measured(about, held, exact), measured(whose, counted, exact))


def _clipped(measure: Measure, plan: Plan) -> Total | Count | None:
    """The total of a measure whose values the plan clips, or the count whose weights it clips.

    Of a register what units report is read as it is.
    """
    of = measure.of
    if isinstance(of, Count):
        return of if of.weighted else None
    return of if isinstance(of, Total) and of.held is not None and plan.over.register is None else None


def in_steps(values: Floats) -> tuple[Integers, Fraction]:
    """Numbers as whole multiples of a step: 1 where they are whole, else the smallest that keeps all their digits.

    >>> steps, step = in_steps(np.array([0.5, 2.0**40]))
    >>> steps.tolist(), step, in_steps(np.array([3.0, 41.0]))[1]
    ([500, 1099511627776000], Fraction(1, 1000), Fraction(1, 1))
    """
    digits, largest = 0, float(np.abs(values).max(initial=1))
    if np.any(values != np.rint(values)):
        while largest * 10 ** (digits + 1) < EXACT_TO:
            digits += 1
    return np.rint(values * 10**digits).astype(np.int64), Fraction(1, 10**digits)

"""TrueProducts: what a plan measures as the data have it, asked as a release is asked; as confidential as the data."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from sfumato.confidential.microdata import Microdata
from sfumato.confidential.sealed import Sealed, scrubbed
from sfumato.confidential.tabulate import Tabulation
from sfumato.draws import SystemDraws
from sfumato.errors import PlanError
from sfumato.plan import Measure, Plan
from sfumato.privacy import Unclaimed
from sfumato.release import Independent, Noisy, Product, Subject, measured

Key = tuple[object, ...]
"""What a number is of: the statistic, its column, and the universe."""


def key_of(measure: Measure) -> Key:
    """What the numbers of a measure are of, whatever was done to them."""
    where = tuple(sorted((name, *codes) for name, codes in measure.where.items()))
    return measure.of.name, measure.of.contribution.column, measure.of.contribution.power, where


@dataclass(frozen=True, eq=False, repr=False)
class TrueProduct(Sealed):
    """The true totals of a statistic, and how many units they are of."""

    measure: Measure
    totals: Product
    units: Product


class TrueProducts(Sealed):
    """Every statistic of a plan that is a sum, read once."""

    def __init__(self, plan: Plan, microdata: Microdata) -> None:
        self._plan = plan
        self._records = scrubbed(Tabulation, plan, microdata, SystemDraws(), truncated=False)
        scrubbed(self._records.refuse_faults)

    def close(self) -> None:
        self._records.close()

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
        row = self._plan.schema.unit
        unit = f"{row}s" if measure.of.unit == "records" else measure.of.unit
        about = Subject(measure.name, measure.of.name, measure.titled(row), unit, measure.of.step)
        whose = Subject("units", "count", f"Number of {row}s", f"{row}s", Fraction(1))
        held = Noisy(domain, values, measure.of.step, Unclaimed())
        counted = Noisy(domain, units, Fraction(1), Unclaimed())
        exact = Independent(0.0)
        return TrueProduct(measure, measured(about, held, exact), measured(whose, counted, exact))

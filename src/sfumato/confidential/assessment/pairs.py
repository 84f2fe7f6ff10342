"""Pairs: every table of a release that is looked at, put beside the same table of the microdata."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sfumato.confidential.assessment.comparisons import (
    LEVEL,
    Compared,
    ComparedTable,
    Floats,
    ReportRules,
    leaves_of,
    totals,
)
from sfumato.confidential.assessment.truth import SamplingVariances, Truth, Truths
from sfumato.confidential.sealed import Sealed
from sfumato.errors import PlanError, ReleaseError
from sfumato.plan import Measure, Plan
from sfumato.plan.weights import sums_weight
from sfumato.query.columns import Columns
from sfumato.query.sampling import NotSampled, Sampling, sampling_of
from sfumato.release import Product, Release, stated
from sfumato.schema import Box, Domain, Family, Mask, Table

MOST_CELLS = 2_000_000
"""The most cells of a table that is looked at."""
MOST_STATED = 2_000
"""The most cells of a table whose stated errors are worked out one by one."""
CENSUS = NotSampled()


@dataclass(frozen=True, eq=False, repr=False)
class Pair(Sealed):
    """A product that answers, and the truth of the measure that it came from."""

    product: Product
    truth: Truth
    sampling: SamplingVariances | None = None
    count: Product | None = None
    weights: Product | None = None
    states: Sampling = CENSUS
    """What the release states of the sampling error."""

    @property
    def name(self) -> str:
        return self.product.subject.name

    def table(self, names: tuple[str, ...], most_stated: int = MOST_STATED) -> ComparedTable:
        """One table, its possible cells in a row."""
        table, laid_out = self.truth.laid_out.table(names), self.truth.laid_out
        sampling = self.sampling.variances(names) if self.sampling else None
        chosen, columns, weight = table.possible, stated_columns(self.product, table, most_stated), self.truth.weight
        published, noise = columns.estimate, columns.noise_variance
        told = self.states.totals(published, noise)
        both = [columns.reach(LEVEL), replace(columns, sampling_variance=told).reach(LEVEL)]
        cells = Compared(
            released=published,
            truth=laid_out.summed(self.truth.as_is, names)[chosen],
            held=laid_out.summed(self.truth.kept, names)[chosen],
            records=laid_out.summed(self.truth.records, names)[chosen],
            noise=noise,
            sampling=None if sampling is None else sampling[chosen],
            counted=self._beside(self.count, table),
            weight=None if weight is None else laid_out.summed(weight, names)[chosen],
            weighed=self._beside(self.weights, table),
            margins=np.maximum(*both[0]),
            told=told,
            margins_of_both=np.maximum(*both[1]),
            below=both[0][0],
            above=both[0][1],
            worth=self.truth.worth,
            of_rows=self.truth.of_rows,
            clipped=laid_out.summed(self.truth.clipped, names)[chosen],
        )
        return ComparedTable(table, cells.take(self._told(table, cells)))

    def _told(self, table: Table, cells: Compared) -> Mask:
        """Which of the possible cells hold a number, in the release and in truth."""
        statuses = self.product.missing(leaves_of(table, self.product))
        there = np.isfinite(cells.truth)
        return there if statuses is None else there & ~statuses.missing[table.possible.ravel()]

    def _beside(self, product: Product | None, table: Table) -> Floats | None:
        """The same table of another product, where it holds it."""
        if product is None or product.refuses(frozenset(table.names)) or product.missing(leaves_of(table, product)):
            return None
        return released(product, table)


def released(product: Product, table: Table) -> Floats:
    """The published numbers of the possible cells of a table, in the product's unit."""
    return totals(product, table)[table.possible]


def stated_variances(product: Product, table: Table, most: int) -> Floats:
    """The variances that the release states, in squared steps; not a number where withheld or not worked out.

    Where each takes an equation of its own and there are too many, cells evenly spread over the table stand for all.
    """
    if table.size <= most or product.errors.at_once:
        found = stated(product.variances(leaves_of(table, product)))
        return np.full(table.shape, np.nan) if found is None else np.maximum(found.reshape(table.shape), 0)
    variances = np.full(table.size, np.nan)
    for place in np.linspace(0, table.size - 1, most).astype(np.int64):
        box = _box(table, int(place), product)
        alone = stated(product.covariance(box, box))
        variances[place] = np.nan if alone is None else max(alone, 0.0)
    return variances.reshape(table.shape)


def stated_columns(product: Product, table: Table, most: int = MOST_STATED) -> Columns:
    """The possible cells of a table with the errors of their noise, as the release prints them.

    Not a number where the variance of the noise is withheld or not worked out.
    """
    step, chosen = float(product.subject.step), table.possible
    noise = stated_variances(product, table, most)[chosen] * step**2
    cells = product.cell_counts(leaves_of(table, product)).reshape(table.shape)[chosen]
    law = product.errors.law(leaves_of(table, product)).times(step).only(chosen.ravel())
    return Columns(released(product, table), noise, np.zeros(len(noise)), cells, law=law)


def _box(table: Table, place: int, product: Product) -> Box:
    index = np.unravel_index(place, table.shape)
    return leaves_of(table, product).box([int(at) for at in index])


def pairs(plan: Plan, release: Release, truths: Truths) -> list[Pair]:
    """Every product that answers, beside its truth."""
    answering = [line.name for line in release.manifest.products if line.answers]
    measures = {name: _measure(plan, release, name) for name in answering}
    found = []
    for name, measure in measures.items():
        product = release.products[name]
        count = next((release.products[one] for one in answering if _counts(measures[one], measure)), None)
        weights = next((release.products[one] for one in answering if _weighs(plan, measures[one], measure)), None)
        states, step = sampling_of(release.manifest.sampling, name), plan.another(name)
        if step is not None:
            found.append(Pair(product, truths.made_of(measure, step), states=states))
            continue
        found.append(Pair(product, truths.of(measure), truths.sampling(measure), count, weights, states))
    return found


def _counts(one: Measure, other: Measure) -> bool:
    """Whether one measure counts the records of the other's cells."""
    counts = one.of.name == "count" and not one.of.weighted
    return counts and one.where == other.where and set(other.levels) <= set(one.levels)


def _weighs(plan: Plan, one: Measure, other: Measure) -> bool:
    """Whether one measure sums the weights of the records in the other's cells."""
    return sums_weight(plan.schema, one.of) and one.where == other.where and set(other.levels) <= set(one.levels)


def _measure(plan: Plan, release: Release, name: str) -> Measure:
    """The measure that a product came from, if the plan has the same; a release of another plan is refused."""
    product = release.products[name]
    try:
        measure = plan.began(name)
    except PlanError:
        raise ReleaseError(
            f"The release has '{name}', which this plan does not make; assess it by its own plan."
        ) from None
    step, domain = plan.another(name), plan.over.domain(measure)
    made = step.makes(plan.table(measure)) if step else domain
    known, there = (_by(one) for one in (made, product.domain))
    same = step is not None or measure.of.name == product.subject.statistic
    if known != there or not same or dict(measure.where) != dict(product.subject.universe):
        raise ReleaseError(f"'{name}' of the release is not what this plan measures; assess it by its own plan.")
    return measure


def _by(domain: Domain) -> tuple[Any, ...]:
    """What numbers stand for: the leaves of every attribute, and of a family which of them are together."""
    leaves = [(one.name, one.levels.leaves) for one in domain.attributes]
    return leaves, domain.tops if isinstance(domain, Family) else ()


def tables(pair: Pair, rules: ReportRules) -> Iterator[tuple[str, ...]]:
    """The tables looked at: those asked for, or all of one and two attributes and the largest ones, the product itself.

    Where numbers may not be summed the product itself is all that there is.
    """
    laid_out = pair.truth.laid_out
    if not pair.product.subject.additive:
        yield laid_out.names
        return
    if rules.tables:
        yield from (one for one in rules.tables if laid_out.holder(one) is not None)
        return
    yield from laid_out.small()
    yield from laid_out.largest()


def looked_at(pair: Pair, rules: ReportRules) -> list[tuple[str, ...]]:
    """The tables that are not too large to be looked at."""
    return [names for names in tables(pair, rules) if pair.truth.laid_out.table(names).size <= MOST_CELLS]

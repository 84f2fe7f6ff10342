"""Source: one product of one release; totals over its boxes as estimates, with the errors that the release states."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sfumato.errors import QueryError, nearest
from sfumato.query.caveats import Caveats, caveats_of
from sfumato.query.comparison import Comparison, difference_of
from sfumato.query.estimate import Estimate, Variance
from sfumato.query.excess import BoughtExcess, ClipExcess
from sfumato.query.sampling import NotSampled, Sampling, sampling_of
from sfumato.query.sides import NoisySide
from sfumato.release import NoNumber, Product, Release, Withheld
from sfumato.release.error_law import ErrorLaw, Floats
from sfumato.schema import Attribute, Box, Grid
from sfumato.schema.languages import OWN


@dataclass(frozen=True, eq=False)
class Source:
    """What a question is answered from."""

    release: Release
    product: Product

    @cached_property
    def sampling(self) -> Sampling:
        """What the release says of the sampling error of the product."""
        return sampling_of(self.release.manifest.sampling, self.product.subject.name)

    @cached_property
    def caveats(self) -> Caveats:
        """What the numbers of the product leave out."""
        return caveats_of(self.release, self.product)

    @cached_property
    def _bought(self) -> BoughtExcess | None:
        return BoughtExcess.of(self.release, self.product)

    def bought(self, grid: Grid, clipped: NoisySide) -> ClipExcess | None:
        """How far above the totals of a grid the true ones may lie, where the release bought what its clip cut."""
        return self._bought.over(grid, clipped) if self._bought else None

    @property
    def names(self) -> frozenset[str]:
        """The variables of the product."""
        return frozenset(attribute.name for attribute in self.product.attributes)

    def attribute(self, name: str) -> Attribute:
        """The variable of this name; a wrong name answers with the nearest."""
        known = {attribute.name: attribute for attribute in self.product.attributes}
        if name not in known:
            title = self.product.subject.title
            title = title.lower() if self.release.language == OWN else title
            raise QueryError(f"'{name}' is not a variable of {title}; {nearest(name, known)}")
        return known[name]

    def refusal(self, names: Iterable[str]) -> str:
        """Why a question that tells some attributes apart has no answer; '' where it has one."""
        return self.product.refuses(self.names.intersection(names))

    @property
    def together(self) -> str:
        """Which variables may be asked together; '' where all may be."""
        return self.product.together or self.refusal(self.names)

    def refuse(self, names: Iterable[str]) -> None:
        """Say so before anything else when the product cannot answer."""
        why = self.refusal(names)
        if why:
            raise QueryError(why)

    def missing(self, box: Box) -> NoNumber | None:
        """Why a box holds no number, in English as errors are; None where it holds one."""
        statuses = self.product.own.missing(Grid((), box))
        return statuses.at(0) if statuses else None

    def estimate(self, box: Box) -> Estimate:
        """The total over a box; a box that holds no number says why."""
        product, step = self.product, self.product.subject.step
        missing = self.missing(box)
        if missing:
            raise QueryError(missing.reason)
        value, cells = product.total(box) * step, product.cells(box)
        noise, unit, grades = self.covariance(box, box), product.subject.unit, self.release.manifest.grades
        sampled = self.sampling.total(float(value), noise)
        total = int(value) if value.denominator == 1 else float(value)
        found = Estimate(total, noise, sampled, unit, cells, grades, self.law(Grid((), box)), self.caveats)
        return replace(found, bought=self.bought(Grid((), box), NoisySide.of(found)))

    def law(self, grid: Grid) -> ErrorLaw:
        """The law of the noise of the totals of a grid, in the product's unit."""
        return self.product.errors.law(grid).times(float(self.product.subject.step))

    def covariance(self, one: Box, other: Box) -> Variance:
        """The covariance of two totals by privacy noise, in the product's unit."""
        return self.product.covariance(one, other) * float(self.product.subject.step) ** 2

    def difference(self, one: Box, other: Box) -> Comparison:
        """The total over one box minus that over another; what they share has no sampling error in the difference."""
        first, second = self.estimate(one), self.estimate(other)
        alone: list[Variance] | None = [0.0, 0.0]
        if not isinstance(self.sampling, NotSampled):
            alone = self._alone(one, other, first, second)
        if alone is None:
            whole = [first.sampling_variance, second.sampling_variance]
            return replace(difference_of(first, second, self.covariance(one, other), whole), apart=True)
        return difference_of(first, second, self.covariance(one, other), alone)

    def sampled_together(self, ones: list[Box], others: list[Box]) -> Floats | Withheld:
        """What the sample gives each of some totals and each of some others in common, for shares of them."""
        if isinstance(self.sampling, NotSampled):
            return np.zeros((len(ones), len(others)))
        shared = [[one.within(other) for other in others] for one in ones]
        for box in itertools.chain(*shared):
            missing = self.missing(box)
            if why := self.refusal(box.masks) or (missing.reason if missing else ""):
                return Withheld(why)
        totals = [[float(self.product.total(box) * self.product.subject.step) for box in row] for row in shared]
        return self.sampling.in_common(np.array(totals))

    def _alone(self, one: Box, other: Box, first: Estimate, second: Estimate) -> list[Variance] | None:
        """The sampling variances of what each of two totals has that the other has not; none where that is no number.

        Then they are taken as if nothing were shared, which can only make the error of the difference larger.
        """
        shared = one.within(other)
        if self.refusal(shared.masks) or self.missing(shared):
            return None
        both = float(self.product.total(shared) * self.product.subject.step)
        alone = [(part.value - both, part.noise_variance) for part in (first, second)]
        told = [(value, self.sampling.total(value, noise)) for value, noise in alone]
        # What has nothing of its own has no error of its own, where errors are stated at all.
        return [one if value or isinstance(one, Withheld) else 0.0 for value, one in told]

"""QueryEngine: any table, total, share, mean or comparison of a release, by totals and covariances alone."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import QueryError, nearest
from sfumato.query.axis import Axis, Choice, axis
from sfumato.query.comparison import Comparison, difference_of
from sfumato.query.crosstab import Crosstab
from sfumato.query.estimate import Estimate, Variance
from sfumato.query.ratio import Ratio, ratio_of
from sfumato.query.sampling import NotSampled, Sampling, sampling_of
from sfumato.release import Product, Release, Withheld, open_release
from sfumato.schema import Attribute, Box, Grid, Mask, Where

LARGEST_PAGE = 10_000
"""The most cells that a page or a call answers at once."""


class QueryEngine:
    """Answers from one release; the same question has the same answer, and asking costs nothing."""

    def __init__(self, release: Release) -> None:
        self.release = release

    def __repr__(self) -> str:
        manifest = self.release.manifest
        names = ", ".join(attribute.name for attribute in self.release.attributes)
        told = " ".join([*self.warnings(), ""])
        return f"<{told}{manifest.title} {manifest.period}: {manifest.promise.loss_words}; by {names}>"

    @property
    def statistics(self) -> tuple[str, ...]:
        """The names of the products that answer."""
        return tuple(line.name for line in self.release.manifest.products if line.answers)

    def product(self, of: str | None = None) -> Product:
        """The one product that answers for a statistic, by its name or its statistic's; the first one by default."""
        answering = [self.release.products[name] for name in self.statistics]
        if of is None:
            return answering[0]
        for product in answering:
            if product.subject.name == of:
                return product
        same = [product for product in answering if product.subject.statistic == of]
        if len(same) == 1:
            return same[0]
        raise QueryError(f"This release has no one answer for '{of}'; {nearest(of, self.statistics)}")

    def total(self, where: Where | None = None, of: str | None = None) -> Estimate:
        """The total over the records in some levels, with its error."""
        product = self.product(of)
        return self._estimate(product, self._box(product, where or {}))

    def share(self, part: Where, within: Where | None = None, of: str | None = None) -> Ratio:
        """The share that a part has within a whole."""
        product = self.product(of)
        whole = self._box(product, within or {})
        inner = self._box(product, part).within(whole)
        step = float(product.subject.step)
        sampled = self.sampling(product).share(product.total(inner) * step, product.total(whole) * step)
        return self._ratio(product, inner, product, whole, "share", sampled)

    def ratio(self, over: Where, under: Where, of: str | None = None) -> Ratio:
        """One total over another, which need not contain it."""
        product = self.product(of)
        sampled = self.sampling(product).ratio()
        return self._ratio(product, self._box(product, over), product, self._box(product, under), "ratio", sampled)

    def mean(self, of: str, where: Where | None = None, per: str = "count") -> Ratio:
        """A total per record: the total of one statistic over the count of the same records."""
        amount, number = self.product(of), self.product(per)
        unit = f"{amount.subject.unit} per {number.subject.unit.rstrip('s')}"
        over, under = self._box(amount, where or {}), self._box(number, where or {})
        return self._ratio(amount, over, number, under, unit, self.sampling(amount).ratio())

    def compare(self, one: Where, other: Where, of: str | None = None) -> Comparison:
        """One total minus another, and whether they really differ."""
        product = self.product(of)
        return self.difference(product, self._box(product, one), self._box(product, other))

    def difference(self, product: Product, one: Box, other: Box) -> Comparison:
        """The total over one box minus that over another; what they share has no sampling error in the difference."""
        first, second = self._estimate(product, one), self._estimate(product, other)
        sampling = self.sampling(product)
        alone: list[Variance] = [0.0, 0.0]
        if not isinstance(sampling, NotSampled):
            both = float(product.total(one.within(other)) * product.subject.step)
            alone = [sampling.total(part.value - both, part.noise_variance) for part in (first, second)]
        return difference_of(first, second, self._covariance(product, one, product, other), alone)

    def table(
        self,
        rows: str | Sequence[str],
        cols: str | None = None,
        where: Where | None = None,
        of: str | None = None,
        at: Mapping[str, Choice] | None = None,
        at_most: int | None = None,
    ) -> Crosstab:
        """A table as people lay it out; `at` chooses the levels and groups that an axis shows.

        A table has at most `LARGEST_PAGE` cells; a download may state a larger bound with `at_most`.
        """
        product = self.product(of)
        names = [rows] if isinstance(rows, str) else list(rows)
        names += [cols] if cols else []
        asked = where or {}
        axes = tuple(self._axis(product, name, (at or {}).get(name), asked.get(name)) for name in names)
        grid = self._grid(product, axes, asked, LARGEST_PAGE if at_most is None else at_most)
        return Crosstab(self, product, axes, grid, dict(where or {}), has_columns=cols is not None)

    def _axis(
        self, product: Product, name: str, choice: Choice | None, held: str | int | Sequence[str | int] | None
    ) -> Axis:
        """The axis of a variable, without the levels that a filter on the same variable leaves empty."""
        whole = axis(self._attribute(product, name), choice)
        if held is None and name not in product.subject.universe:
            return whole
        inside = self._box(product, {} if held is None else {name: held}, {name: whole.groups}).mask(whole.attribute)
        kept = [code for code, group in zip(whole.codes, whole.groups, strict=True) if (group & inside).any()]
        if not kept:
            raise QueryError(f"{whole.attribute.label}: none of the levels shown is within the filter; show others.")
        return whole.only(kept)

    def _grid(self, product: Product, axes: tuple[Axis, ...], where: Where, at_most: int) -> Grid:
        names = [one.attribute.name for one in axes]
        if len(set(names)) != len(names):
            raise QueryError(f"A table by {' and '.join(names)} names an attribute twice.")
        size = math.prod(len(one.codes) for one in axes)
        if size > at_most:
            raise QueryError(
                f"The table has {size:,} cells, more than {at_most:,}; show a higher level, fewer variables, "
                "or filter, or take the whole product from the release folder."
            )
        groups = tuple((one.attribute.name, one.groups) for one in axes)
        return Grid(groups, self._box(product, where, dict(groups)))

    def _attribute(self, product: Product, name: str) -> Attribute:
        for attribute in product.attributes:
            if attribute.name == name:
                return attribute
        known = [attribute.name for attribute in product.attributes]
        raise QueryError(f"'{name}' is not a variable of {product.subject.title.lower()}; {nearest(name, known)}")

    def _box(self, product: Product, where: Where, shown: Mapping[str, NDArray[np.bool_]] | None = None) -> Box:
        known = {attribute.name for attribute in product.attributes}
        about = {name: codes for name, codes in product.subject.universe.items() if name in known}
        masks: dict[str, Mask] = {
            name: self._attribute(product, name).levels.mask(codes) for name, codes in about.items()
        }
        for name, levels in where.items():
            # What all records share needs no mask; where the cells tell it apart, they answer as tables do.
            if name not in known and product.subject.universe.get(name) == _codes(levels):
                continue
            attribute = self._attribute(product, name)
            try:
                asked = attribute.levels.mask(levels)
            except KeyError as error:
                raise QueryError(f"{attribute.label}: {error.args[0]}") from None
            masks[name] = asked & masks[name] if name in masks else asked
            if asked.any() and not masks[name].any():
                only = ", ".join(about[name])
                raise QueryError(f"{product.subject.title} is only about {attribute.label} {only}; ask within it.")
        if not product.subject.additive:
            _refuse_sum(product, masks, shown or {})
        return Box(masks)

    def _estimate(self, product: Product, box: Box) -> Estimate:
        return self.estimate(product, product.total(box), product.covariance(box, box), product.cells(box))

    def estimate(self, product: Product, steps: int, variance: Variance, cells: int) -> Estimate:
        """A total in steps as an estimate in the product's unit."""
        step = product.subject.step
        value = steps * step
        noise = variance if isinstance(variance, Withheld) else variance * float(step) ** 2
        return Estimate(
            int(value) if value.denominator == 1 else float(value),
            noise,
            self.sampling(product).total(float(value), noise),
            product.subject.unit,
            cells,
            float(step),
            self.release.manifest.grades,
            float(product.excess(np.array([cells]))[0]),
        )

    def sampling(self, product: Product) -> Sampling:
        """What the release says of the sampling error of a product."""
        return sampling_of(self.release.manifest.sampling, product.subject.name)

    def _covariance(self, one: Product, first: Box, other: Product, second: Box) -> Variance:
        """The covariance of two totals; products are measured with noise of their own."""
        if one is not other:
            return 0.0
        shared = one.covariance(first, second)
        return shared if isinstance(shared, Withheld) else shared * float(one.subject.step) ** 2

    def _ratio(self, over: Product, first: Box, under: Product, second: Box, unit: str, sampled: Variance) -> Ratio:
        shared = self._covariance(over, first, under, second)
        return ratio_of(self._estimate(over, first), self._estimate(under, second), shared, unit, sampled)

    def warnings(self) -> list[str]:
        """What a reader must be told before any number: withdrawn, not to be published, not formally private."""
        said = [f"WITHDRAWN: {self.release.withdrawn}"] if self.release.withdrawn else []
        manifest = self.release.manifest
        return said + ([] if manifest.releasable else [f"NOT TO BE PUBLISHED: {manifest.why}."]) + [*manifest.caveats]

    def cite(self) -> str:
        """How to cite the release."""
        manifest = self.release.manifest
        period = f", {manifest.period}" if manifest.period else ""
        issued = f"Release {self.release.id[:16]}, {manifest.created[:10]}"
        return f"{manifest.title}{period}. {issued}. {manifest.promise.loss_words}."


def _refuse_sum(product: Product, masks: Mapping[str, Mask], shown: Mapping[str, NDArray[np.bool_]]) -> None:
    """Where numbers may not be summed, each variable is held to one lowest level or shows lowest levels only."""
    single = {name for name, mask in masks.items() if mask.sum() == 1}
    single |= {name for name, groups in shown.items() if groups.sum(axis=1).max() == 1}
    summed = [attribute.label for attribute in product.attributes if attribute.name not in single]
    if summed:
        raise QueryError(
            f"{product.subject.title} may not be summed over {', '.join(summed)}; "
            "name one lowest level of each variable, or show its lowest levels."
        )


def _codes(levels: str | int | Sequence[str | int]) -> tuple[str, ...]:
    return (str(levels),) if isinstance(levels, (str, int)) else tuple(str(one) for one in levels)


def open_folder(folder: Path | str) -> QueryEngine:
    """Open a release for questions; it is verified first."""
    return QueryEngine(open_release(folder))

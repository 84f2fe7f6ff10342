"""Spoken: a product whose title, unit, variables and levels are said in another language; its numbers are the same."""

from functools import cached_property
from typing import Any

from sfumato.errors import TooFineError
from sfumato.release.noisy import Floats, Integers
from sfumato.release.phrases import Retold
from sfumato.release.products.product import Product, Subject
from sfumato.release.statuses import Statuses
from sfumato.release.uncertainties import Errors, Uncertainty, Withheld
from sfumato.schema import Attribute, Box, Domain, Grid


class Spoken(Product):
    """A view of a product: every question goes to the one that it is of, whose tables are held once."""

    def __init__(self, product: Product, subject: Subject, attributes: tuple[Attribute, ...], retold: Retold) -> None:
        self.product, self.subject, self.attributes, self.retold = product, subject, attributes, retold

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["product"], name)

    kind = property(lambda self: self.product.kind)
    laid_out = property(lambda self: self.product.laid_out)
    per_row = property(lambda self: self.product.per_row)
    noise_of_its_own = property(lambda self: self.product.noise_of_its_own)
    exact = property(lambda self: self.product.exact)
    residuals = property(lambda self: self.product.residuals)
    even = property(lambda self: self.product.even)

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return self.product.domain

    @property
    def values(self) -> Integers:  # type: ignore[override]
        return self.product.values

    @property
    def uncertainty(self) -> Uncertainty:  # type: ignore[override]
        return self.product.uncertainty

    def total(self, box: Box) -> int:
        return self.product.total(box)

    def covariance(self, one: Box, other: Box) -> float | Withheld:
        return self.product.covariance(one, other)

    def cells(self, box: Box) -> int:
        return self.product.cells(box)

    def says(self, sentence: str) -> str:
        return self.retold.sentence(sentence)

    def refuses(self, names: frozenset[str]) -> str:
        return self.says(self.product.refuses(names))

    @property
    def together(self) -> str:
        return self.says(self.product.together)

    def missing(self, grid: Grid) -> Statuses | None:
        found = self.product.missing(grid)
        return None if found is None else found.said(self.says)

    def too_fine(self, grid: Grid) -> TooFineError | None:
        return self.product.too_fine(grid)

    def totals(self, grid: Grid) -> Integers:
        return self.product.totals(grid)

    def cell_counts(self, grid: Grid) -> Integers:
        return self.product.cell_counts(grid)

    @cached_property
    def errors(self) -> Errors:
        return self.product.errors

    def variances(self, grid: Grid) -> Floats | Withheld:
        return self.product.variances(grid)

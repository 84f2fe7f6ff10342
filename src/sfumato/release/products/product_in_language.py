"""A product in another language: its title, unit, variables and levels are said in it; its numbers are the same."""

from dataclasses import dataclass
from functools import cached_property

from sfumato.errors import TooFineError
from sfumato.release.noisy import Floats, Integers
from sfumato.release.products.product import Product, Subject
from sfumato.release.residuals import Residuals
from sfumato.release.statuses import Statuses
from sfumato.release.translator import Translator
from sfumato.release.uncertainties import Errors, Uncertainty, Withheld
from sfumato.schema import Attribute, Box, Domain, Grid


@dataclass(frozen=True, eq=False)
class ProductInLanguage(Product):
    """A view of a product: every question goes to the one that it is of, whose tables are held once."""

    product: Product
    subject: Subject
    attributes: tuple[Attribute, ...]
    translator: Translator

    @property
    def own(self) -> Product:
        return self.product

    @property
    def kind(self) -> str:  # type: ignore[override]
        return self.product.kind

    @property
    def laid_out(self) -> bool:  # type: ignore[override]
        return self.product.laid_out

    @property
    def per_row(self) -> bool:  # type: ignore[override]
        return self.product.per_row

    @property
    def noise_of_its_own(self) -> bool:  # type: ignore[override]
        return self.product.noise_of_its_own

    @property
    def exact(self) -> bool:  # type: ignore[override]
        return self.product.exact

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return self.product.domain

    @property
    def values(self) -> Integers:  # type: ignore[override]
        return self.product.values

    @property
    def uncertainty(self) -> Uncertainty:  # type: ignore[override]
        return self.product.uncertainty

    @property
    def residuals(self) -> Residuals | None:  # type: ignore[override]
        return self.product.residuals

    @property
    def even(self) -> float | None:
        return self.product.even

    @cached_property
    def errors(self) -> Errors:
        return self.product.errors

    def total(self, box: Box) -> int:
        return self.product.total(box)

    def covariance(self, one: Box, other: Box) -> float | Withheld:
        return self.product.covariance(one, other)

    def cells(self, box: Box) -> int:
        return self.product.cells(box)

    def totals(self, grid: Grid) -> Integers:
        return self.product.totals(grid)

    def cell_counts(self, grid: Grid) -> Integers:
        return self.product.cell_counts(grid)

    def variances(self, grid: Grid) -> Floats | Withheld:
        return self.product.variances(grid)

    def too_fine(self, grid: Grid) -> TooFineError | None:
        return self.product.too_fine(grid)

    def says(self, sentence: str) -> str:
        return self.translator.sentence(sentence)

    def refuses(self, names: frozenset[str]) -> str:
        return self.product.refuses(names)

    @property
    def together(self) -> str:
        return self.says(self.product.together)

    def missing(self, grid: Grid) -> Statuses | None:
        found = self.product.missing(grid)
        return None if found is None else found.said(self.says)

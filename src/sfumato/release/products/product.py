"""Product: the published cells of one measure; it answers totals over boxes and their covariances, nothing else."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sfumato.errors import ReleaseError, TooFineError
from sfumato.privacy import plain
from sfumato.release.figures import exact_step
from sfumato.release.lattice import WRAPS, wraps
from sfumato.release.manifest import ProductLine
from sfumato.release.noisy import Floats, Integers, Noisy
from sfumato.release.residuals import Residuals
from sfumato.release.statuses import Statuses
from sfumato.release.uncertainties import Errors, StatedIn, Uncertainty, Withheld, read_uncertainty
from sfumato.release.value_bounds import ValueBounds
from sfumato.release.weighting import UNSAMPLED, is_weighted
from sfumato.schema import Attribute, Box, Domain, Grid

PUBLISHED = "none: published totals"
"""What stands for the mechanism of totals that were published before."""
MOST_NESTED = 12
"""How many steps may have moved the cells of one product, one after the other."""
_SAME = ("name", "statistic", "title", "unit", "additive", "mechanism", "note", "weighting")
"""What a manifest says of a product in the words that the product has for it."""


@dataclass(frozen=True)
class Subject:
    """What the numbers of a product are about."""

    name: str
    statistic: str
    title: str
    unit: str
    step: Fraction
    additive: bool = True
    universe: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    mechanism: str = ""
    note: str = ""
    value_bounds: ValueBounds | None = None
    weighting: str = UNSAMPLED
    """Whether its numbers count records by their weights, as far as the release says it."""
    unit_of_one: str = ""
    """What one of its unit is called, where that is not the unit without an s at its end."""

    @property
    def one(self) -> str:
        """One of what it counts.

        >>> Subject("jobs", "count", "Jobs", "jobs", Fraction(1)).one
        'job'
        """
        return self.unit_of_one or self.unit.removesuffix("s")

    @property
    def nonnegative(self) -> bool:
        """Whether no true number is below 0, as far as the release says it: counts, and values that count from 0 on."""
        return self.statistic == "count" or (self.value_bounds is not None and self.value_bounds.low >= 0)

    def counts_as(self, other: "Subject") -> bool:
        """Whether both are the same statistic of the same records in one unit, whatever they are called.

        >>> from dataclasses import replace
        >>> jobs = Subject("jobs", "count", "Jobs", "jobs", Fraction(1))
        >>> jobs.counts_as(replace(jobs, title="All jobs")), jobs.counts_as(replace(jobs, universe={"sex": ("f",)}))
        (True, False)
        """
        both = self, other
        kinds = {(one.statistic, one.unit, one.additive) for one in both}
        records = [{name: {*codes} for name, codes in one.universe.items()} for one in both]
        weightings = {one.weighting for one in both} - {UNSAMPLED}  # releases made before do not say it
        weighted = {one.is_weighted for one in both} - {None}
        return len(kinds) == 1 and records[0] == records[1] and len(weightings) < 2 and len(weighted) < 2

    @property
    def is_weighted(self) -> bool | None:
        """Whether records count by their weights; a count that does not say it is of records, and else None.

        >>> persons = Subject("persons", "count", "Persons", "persons", Fraction(1))
        >>> from dataclasses import replace
        >>> persons.is_weighted, replace(persons, weighting="weight").is_weighted
        (False, True)
        """
        return False if self.weighting == UNSAMPLED and self.statistic == "count" else is_weighted(self.weighting)

    def held_as(self, other: "Subject") -> bool:
        """Whether the values of both are held within the same bounds, as far as both say them."""
        mine, theirs = self.value_bounds, other.value_bounds
        return mine is None or theirs is None or mine.alike(theirs)

    @classmethod
    def read(cls, line: ProductLine) -> "Subject":
        universe = {name: tuple(codes) for name, codes in line.universe.items()}
        same, bounds = {name: getattr(line, name) for name in _SAME}, ValueBounds.read(line.value_bounds)
        return cls(**same, step=exact_step(line.step), universe=universe, value_bounds=bounds)


@dataclass(frozen=True, eq=False)
class ProductFile:
    """One product as a manifest describes it, in its folder, beside the other products of the release."""

    line: ProductLine
    folder: Path
    unit: str
    attributes: Mapping[str, Attribute]
    product: Callable[[str], "Product"]
    shared: dict[str, Any]
    """What several products of a release need, and one of them has read."""

    @property
    def path(self) -> Path:
        return self.folder / self.line.file

    def uncertainty(self, column: Callable[[str], Any]) -> Uncertainty:
        """What the manifest states, with columns of the file as the product lays them out."""
        stated, nested = self.line.uncertainty, 0
        while isinstance(stated, dict) and "base" in stated:
            stated, nested = stated["base"], nested + 1
        if nested > MOST_NESTED:
            raise ReleaseError(f"Product '{self.line.name}' states an error of an error more than {MOST_NESTED} times.")
        return read_uncertainty(self.line.uncertainty, StatedIn(exact_step(self.line.step), column, self._measured))

    def _measured(self, name: str) -> tuple[Fraction, Uncertainty]:
        other = self.product(name)
        return other.subject.step, other.uncertainty


class Product(ABC):
    """Published numbers on which any box can be asked; the query engine knows no more than this."""

    kind: ClassVar[str]
    laid_out: ClassVar[bool] = False
    """Whether `values` hold every cell of a table, in its shape."""
    per_row: ClassVar[bool] = False
    """Whether `values` hold a number for each row of the public register."""
    noise_of_its_own: ClassVar[bool] = True
    """Whether every cell has noise of its own; else it was drawn for many tables together."""
    exact: ClassVar[bool] = False
    """Whether its numbers are the true ones, of which some are withheld in place of noise."""
    subject: Subject
    attributes: tuple[Attribute, ...]
    domain: Domain
    values: Integers
    uncertainty: Uncertainty
    residuals: Residuals | None = None
    """What is known of the components of its tables, where it is of several and was just made; else nothing."""

    @abstractmethod
    def total(self, box: Box) -> int:
        """The sum over a box, an exact integer of steps."""

    @abstractmethod
    def covariance(self, one: Box, other: Box) -> float | Withheld:
        """The covariance of two totals by privacy noise, in squared steps."""

    @abstractmethod
    def cells(self, box: Box) -> int:
        """How many published cells a box sums."""

    @classmethod
    def of(cls, subject: Subject, noisy: Noisy, uncertainty: Uncertainty) -> "Product | None":  # noqa: ARG003
        """What a mechanism gave as a product of this kind; nothing where it is of another."""
        return None

    @classmethod
    def read(cls, opened: ProductFile) -> "Product":
        """The product in a folder, as the manifest describes it."""
        raise ReleaseError(f"Product '{opened.line.name}' is of kind '{opened.line.kind}', which cannot be read.")

    def write(self, folder: Path) -> ProductLine:
        """Write the product to its file in a folder, and say what stands in the manifest."""
        raise ReleaseError(f"Product '{self.subject.name}' is of a kind that cannot be written to {folder}.")

    @property
    def own(self) -> "Product":
        """The product in its own language: the same numbers."""
        return self

    def says(self, sentence: str) -> str:
        """A sentence of the program's own in the language that the product is told in."""
        return sentence

    def refuses(self, names: frozenset[str]) -> str:  # noqa: ARG002 - most products answer every question
        """Why a question that tells these attributes apart, by its axes or filters, has no answer; '' where it has.

        It is in English, as all errors are until a page says them.
        """
        return ""

    def missing(self, grid: Grid) -> Statuses | None:  # noqa: ARG002 - most products hold every number
        """Which boxes of a grid hold no number, and why; None where all of them hold one."""
        return None

    def too_fine(self, grid: Grid) -> TooFineError | None:  # noqa: ARG002 - most products hold every level
        """Why no box of a grid has an answer, as its levels are too fine together; None where some box has one."""
        return None

    @property
    def together(self) -> str:
        """Which variables may be asked together, in a sentence; '' where all may be."""
        return ""

    @property
    def even(self) -> float | None:
        """The variance of any one cell, where each has noise of its own and of the same law; else nothing."""
        return None

    def totals(self, grid: Grid) -> Integers:
        """The totals of all boxes of a grid."""
        return np.array([self.total(box) for box in grid.boxes()], dtype=np.int64).reshape(grid.shape)

    def cell_counts(self, grid: Grid) -> Integers:
        """How many published cells each box of a grid sums."""
        return np.array([self.cells(box) for box in grid.boxes()], dtype=np.int64).reshape(grid.shape)

    @cached_property
    def errors(self) -> Errors:
        """The joint error of any totals; of a product that states none, box by box as it answers itself."""
        return Answered(self.covariance)

    def variances(self, grid: Grid) -> Floats | Withheld:
        """The variances of all totals of a grid."""
        return self.errors.with_whole(grid, tuple(name for name, _ in grid.axes))


@dataclass(frozen=True, eq=False)
class Answered(Errors):
    """The errors of a product that answers for itself."""

    answer: Callable[[Box, Box], float | Withheld]

    def covariance(self, one: Box, other: Box) -> float | Withheld:
        return self.answer(one, other)


class Held(Product):
    """A value for every cell that a domain has, and an uncertainty that knows their errors."""

    @abstractmethod
    def store(self, folder: Path, file: str) -> None:
        """Write the cells, with the columns that their uncertainty needs beside them, to a file of the folder."""

    @abstractmethod
    def totals(self, grid: Grid) -> Integers: ...

    def write(self, folder: Path) -> ProductLine:
        subject, file = self.subject, f"products/{self.subject.name}.parquet"
        if wraps(self.values):
            raise ReleaseError(f"Product '{subject.name}' cannot be published: {WRAPS}; use a coarser step.")
        self.store(folder, file)
        return ProductLine(
            kind=self.kind,
            step=plain(subject.step),
            by=[str(level) for level in self.domain.by],
            universe={name: list(codes) for name, codes in subject.universe.items()},
            impossible=[{name: list(codes) for name, codes in rule.where} for rule in self.domain.impossible],
            uncertainty=self.uncertainty.to_dict(),
            value_bounds=subject.value_bounds.to_dict() if subject.value_bounds else {},
            file=file,
            **{name: getattr(subject, name) for name in _SAME},
        )

    @property
    def attributes(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        return self.domain.attributes

    @property
    def even(self) -> float | None:
        return self.uncertainty.even

    @cached_property
    def errors(self) -> Errors:
        return self.uncertainty.over(self.domain, self.values)

    def total(self, box: Box) -> int:
        return int(self.totals(Grid((), box)))

    def covariance(self, one: Box, other: Box) -> float | Withheld:
        return self.errors.covariance(one, other)

    def cells(self, box: Box) -> int:
        return self.domain.count(box)

    def cell_counts(self, grid: Grid) -> Integers:
        return self.domain.counts(grid)

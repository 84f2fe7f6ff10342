"""OtherTotals: what another release published, as controls, with the error that it states."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.errors import PlanError, ReleaseError, nearest
from sfumato.plan.control import Rows
from sfumato.privacy import plain
from sfumato.release import Product, Withheld, open_release
from sfumato.schema import Attribute, Grid, Mask, Table


def refuse_several(releases: Sequence[str | None]) -> None:
    """Tables of other releases may share their noise, which nobody could tell: one of them at most is a control."""
    if len([one for one in releases if one is not None]) > 1:
        raise PlanError(
            "Two [[control]] come from other releases, and whether these share noise cannot be told, so it could be "
            "counted as new; name one table of one release."
        )


def _alike(universe: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    """Whether two universes are of the same levels of the same attributes."""

    def levels(of: Mapping[str, Any]) -> dict[str, list[str]]:
        return {name: sorted([one] if isinstance(one, str) else one) for name, one in of.items()}

    return levels(universe) == levels(where)


@dataclass(frozen=True)
class OtherTotals:
    """A table of a product of another release, in its folder."""

    folder: Path
    product: str
    table: Table

    def rows(self, of: str | Mapping[str, Any], where: Mapping[str, Any]) -> Rows:
        """A row for each cell: its codes, its value, and the standard error of its noise, as in a file of totals."""
        found = self._opened()
        statistic = of if isinstance(of, str) else of.get("statistic")
        if statistic != "count" or found.subject.statistic != statistic or not _alike(found.subject.universe, where):
            raise PlanError(
                f"{self._words} is of another statistic, or of other records, than what it is to control. Counts of "
                "the same records are controls; a release does not say of which column and bounds a total is, so give "
                "totals as a file."
            )
        if not found.noise_of_its_own:
            raise PlanError(
                f"{self._words} is a family of tables, whose cells share noise and were rounded together after it was "
                "drawn, so that the rounding is in all of what it tells and no error of what is moved to it could be "
                "stated. Name a measure of one table of that release, or measure both families in one plan, where one "
                "is moved to the other before either is rounded."
            )
        if found.even is None:
            raise PlanError(
                f"{self._words} is no table whose cells have noise of their own, all of one law; name the measure of "
                "one table."
            )
        return list(self._listed(found))

    @property
    def _words(self) -> str:
        return f"'{self.product}' of {self.folder}"

    def _opened(self) -> Product:
        try:
            release = open_release(self.folder)
        except (OSError, ReleaseError) as error:
            raise PlanError(f"{self.folder} cannot be read as a release: {error}") from None
        if not release.manifest.releasable or release.withdrawn:
            raise PlanError(f"{self.folder} is not public, or was withdrawn; controls are totals that are published.")
        if self.product not in release.products:
            raise PlanError(f"{self._words} is not there; {nearest(self.product, list(release.products))}")
        return release.products[self.product]

    def _listed(self, product: Product) -> Iterator[tuple[str, Mapping[str, Any]]]:
        grid = Grid(tuple((one.name, self._masks(product, one)) for one in self.table.attributes))
        totals, variances, step = product.totals(grid), product.variances(grid), product.subject.step
        assert not isinstance(variances, Withheld)  # noqa: S101 - an even error is stated
        for place in np.ndindex(*grid.shape):
            codes = {one.name: one.levels.leaves[at] for one, at in zip(self.table.attributes, place, strict=True)}
            error = f"{sqrt(float(variances[place])) * float(step):.15g}"
            yield self._words, {**codes, "value": plain(int(totals[place]) * step), "standard_error": error}

    def _masks(self, product: Product, attribute: Attribute) -> Mask:
        """Which leaves of the product lie in each level of an attribute that a control tells apart."""
        own = next((one for one in product.attributes if one.name == attribute.name), None)
        if own is None or any(code not in own.levels.codes for code in attribute.levels.leaves):
            raise PlanError(f"{self._words} is not by {attribute.name}, or not by these levels of it.")
        return np.stack([own.levels.mask(code) for code in attribute.levels.leaves])

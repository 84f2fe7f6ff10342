"""OtherTotals: what another release published, as controls, with the error that it states."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.errors import PlanError, ReleaseError, nearest
from sfumato.plan.control import FamilyNoise, Rows
from sfumato.privacy import Neighbours, plain
from sfumato.privacy.notation import hidden_from_dict
from sfumato.release import Components, Product, Release, Withheld, open_release
from sfumato.release.weighting import is_weighted
from sfumato.schema import Attribute, Component, Family, Grid, LeafGroups, Schema, Table, UpTo


def _alike(universe: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    """Whether two universes are of the same levels of the same attributes."""

    def levels(of: Mapping[str, Any]) -> dict[str, list[str]]:
        return {name: sorted([one] if isinstance(one, str) else one) for name, one in of.items()}

    return levels(universe) == levels(where)


@dataclass(frozen=True)
class CountedRecords:
    """Which records are counted, as far as plans and releases say."""

    unit: str
    kept: str
    weight: str
    period: str

    @classmethod
    def of(cls, unit: str, hidden: Neighbours, period: str, weight: str | None, *, register: bool) -> "CountedRecords":
        """What a plan counts: a register whole, or of each unit so many rows as it keeps."""
        cut = hidden.truncation
        kept = f"at most {cut.at_most} for one {cut.column}" if cut else "all there are"
        return cls(unit, "all of a register" if register else kept, weight or "nothing", period)

    @classmethod
    def released(cls, release: Release) -> "CountedRecords":
        """What a release counts, by its manifest and by the plan that lies in it."""
        manifest, path = release.manifest, (release.folder or Path()) / "plan.toml"
        try:
            written = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise PlanError(f"{path} cannot be read as a plan, so what the release counts is not known.") from None
        hidden, weight = hidden_from_dict(manifest.promise.hidden), written.get("data", {}).get("weight")
        return cls.of(manifest.unit, hidden, manifest.period, weight, register="frame" in written)

    def unlike(self, other: "CountedRecords") -> str:
        """What tells other records from these, in words; '' where nothing does."""
        said = {"unit": "{}s", "kept": "{}", "weight": "records weighed by {}"}
        for name, words in said.items():
            its, own = getattr(other, name), getattr(self, name)
            if its != own:
                return f"it counts {words.format(its)}, and this plan {words.format(own)}"
        both = self.period and other.period
        return f"it is of {other.period}, and this plan of {self.period}" if both and self.period != both else ""


@dataclass(frozen=True)
class OtherTotals:
    """A table of a product of another release, in its folder."""

    folder: Path
    product: str
    schema: Schema
    table: Table
    counted: CountedRecords

    def read(self, of: str | Mapping[str, Any], where: Mapping[str, Any]) -> tuple[Rows, FamilyNoise | None]:
        """A row for each cell, as in a file of totals: its codes, its value, and the standard error of its noise.

        Of a table of a family also what is stated of the noise that its cells share.
        """
        found = self._opened()
        statistic, weighted = (of, False) if isinstance(of, str) else (of.get("statistic"), bool(of.get("weighted")))
        same = found.subject.statistic == statistic and bool(is_weighted(found.subject.weighting)) == weighted
        if statistic != "count" or not same or not _alike(found.subject.universe, where):
            raise PlanError(
                f"{self._words} is of another statistic, or of other records, than what it is to control. Counts of "
                "the same records are controls; a release does not say of which column and bounds a total is, so give "
                "totals as a file."
            )
        shared = self._shared(found) if isinstance(found.domain, Family) and self.table.by else None
        if found.even is None and not isinstance(found.domain, Family):
            raise PlanError(
                f"{self._words} is no table whose cells have noise of their own, all of one law; name the measure of "
                "one table, or of a family of tables."
            )
        return list(self._listed(found)), shared

    def _shared(self, found: Product) -> FamilyNoise:
        """The noise of the components of one table of a family, as its release measured them."""
        theirs, stated = found.domain, found.uncertainty
        assert isinstance(theirs, Family)  # noqa: S101 - it was asked
        if not isinstance(stated, Components) or not all(stated.variances) or stated.rounded_total or stated.inherited:
            raise PlanError(
                f"{self._words} was moved to other totals after it was measured, and shares what these have; name the "
                "family as it was measured."
            )
        for attribute in self.table.attributes:
            self._refuse_unlike(found, attribute)
        own = UpTo(len(self.table.by), tuple(map(str, self.table.by))).family(self.schema)
        sizes = [dict(zip(own.names, _sizes(own, one), strict=True)) for one in own.components]
        places = [theirs.levels(one) for one in sizes]
        if any(one is None or theirs.holder(one) is None for one in places):
            raise PlanError(
                f"{self._words} has no table by {', '.join(map(str, self.table.by))}; name fewer variables."
            )
        known = dict(zip(theirs.components, stated.variances, strict=True))
        return FamilyNoise(found.subject.step, tuple(known[one] for one in places if one), stated.even_design)

    def _refuse_unlike(self, found: Product, attribute: Attribute) -> None:
        """Its tables were rounded along its own levels, which are to be those of the plan, in their order."""
        own = next((one for one in found.attributes if one.name == attribute.name), None)
        cuts = [] if own is None else [own.levels.cut(depth) for depth in range(own.levels.depth + 1)]
        if not any((one.codes, one.parents) == (attribute.levels.codes, attribute.levels.parents) for one in cuts):
            raise PlanError(
                f"{self._words} is not by {attribute.name}, or not by these levels of it in this order, along which "
                "its tables were rounded."
            )

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
        if why := self.counted.unlike(CountedRecords.released(release)):
            raise PlanError(f"{self._words} is of other records: {why}. Counts of the same records are controls.")
        return release.products[self.product]

    def _listed(self, product: Product) -> Iterator[tuple[str, Mapping[str, Any]]]:
        grid = Grid(tuple((one.name, self._groups(product, one)) for one in self.table.attributes))
        totals, variances, step = product.totals(grid), product.variances(grid), product.subject.step
        assert not isinstance(variances, Withheld)  # noqa: S101 - an even error is stated
        for place in np.ndindex(*grid.shape):
            codes = {one.name: one.levels.leaves[at] for one, at in zip(self.table.attributes, place, strict=True)}
            error = f"{sqrt(float(variances[place])) * float(step):.15g}"
            yield self._words, {**codes, "value": plain(int(totals[place]) * step), "standard_error": error}

    def _groups(self, product: Product, attribute: Attribute) -> LeafGroups:
        """Which leaves of the product lie in each level of an attribute that a control tells apart."""
        own = next((one for one in product.attributes if one.name == attribute.name), None)
        if own is None or any(code not in own.levels.codes for code in attribute.levels.leaves):
            raise PlanError(f"{self._words} is not by {attribute.name}, or not by these levels of it.")
        return own.levels.groups(attribute.levels.leaves)


def _sizes(family: Family, component: Component) -> list[int]:
    """How many parts each attribute has at a choice of levels."""
    return [tree.rungs[level].size for tree, level in zip(family.trees, component, strict=True)]

"""Tables: all tables of up to so many variables, whole numbers that agree to the last digit."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sfumato.errors import PlanError, TooFineError
from sfumato.release.lattice import Lattice
from sfumato.release.manifest import ProductLine
from sfumato.release.noisy import Integers, Noisy
from sfumato.release.products.product import Held, ProductFile, Subject
from sfumato.release.residuals import Residuals
from sfumato.release.statuses import NoNumber, Statuses
from sfumato.release.uncertainties import Components, Uncertainty
from sfumato.release.whole_tables import agree, residuals_of, rounded_tables
from sfumato.schema import LARGEST, Attribute, Family, Grid, Level, Levels, Schema, UpTo
from sfumato.schema.trees import Tree

MOST_NAMED = 3
"""How many tables beside those of up to so many variables are named to a reader."""


@dataclass(frozen=True, eq=False)
class Tables(Held):
    """The tables of a family that are in no other of them, their cells one table after the other."""

    kind: ClassVar[str] = "tables"
    noise_of_its_own: ClassVar[bool] = False
    subject: Subject
    domain: Family
    values: Integers
    uncertainty: Uncertainty
    residuals: Residuals | None = None
    """What its tables were rounded of, where they were just made; a release holds the tables alone."""

    @classmethod
    def of(cls, subject: Subject, noisy: Noisy, uncertainty: Uncertainty) -> "Tables | None":
        family = noisy.domain
        if not isinstance(family, Family):
            return None
        parts = dict(residuals_of(family, noisy.values))
        known = Residuals.stated_by(family, parts, uncertainty) if isinstance(uncertainty, Components) else None
        return cls(subject, family, rounded_tables(family, parts), uncertainty, known)

    @classmethod
    def read(cls, opened: ProductFile) -> "Tables":
        from sfumato.release.parquet import read_values

        family = family_of(opened)
        values = read_values(opened.path, family.size).astype(np.int64)
        if not agree(family, values):
            raise ValueError("its tables do not agree with each other")
        uncertainty = opened.uncertainty(_no_column)
        if not uncertainty.of_families:
            raise ValueError(f"its tables agree, so that cells share noise, and it states a '{uncertainty.kind}' error")
        return cls(Subject.read(opened.line), family, values, uncertainty)

    def write(self, folder: Path) -> ProductLine:
        return super().write(folder).model_copy(update={"family": described(self.domain)})

    def store(self, folder: Path, file: str) -> None:
        from sfumato.release.parquet import write_tables

        write_tables(folder / file, self.domain.members, self.values)

    def refuses(self, names: frozenset[str]) -> str:
        if self.domain.holds(names):
            return ""
        labels, most = [one.label for one in self.attributes if one.name in names], self.domain.spec.up_to
        count = f"are {len(labels)}" if len(labels) > most else "are not among them"
        leave = "one" if len(labels) <= most + 1 else "some"
        return f"{self._reach}; {' × '.join(labels)} {count}. Leave {leave} out."

    @property
    def together(self) -> str:
        return "" if self.domain.holds(frozenset(self.domain.names)) else f"{self._reach}."

    @cached_property
    def _reach(self) -> str:
        """Which variables are together in its tables; further ones are named where they are few."""
        spec, labels = self.domain.spec, {one.name: one.label for one in self.attributes}
        named = [Level.read(one).name for one in spec.of]
        among = "variables" if {*named} == {*labels} else f"of {', '.join(labels[one] for one in named)}"
        reach = f"This release has tables of up to {spec.up_to} {among} together"
        if not spec.also or len(spec.also) > MOST_NAMED:
            return reach + (f", and {len(spec.also):,} more" if spec.also else "")
        others = (map(Level.read, table) for table in spec.also)
        said = [" × ".join(labels[one.name] + " (coarser)" * (one.depth is not None) for one in by) for by in others]
        return f"{reach}, and of {', of '.join(said)}"

    def missing(self, grid: Grid) -> Statuses | None:
        unheld = self.domain.answered(grid, lambda _, part: np.zeros(part.shape, dtype=np.int64))[1]
        if not unheld.any():
            return None
        why = NoNumber(
            "These variables were measured together at coarser levels only; ask for a level above.", "…", "L"
        )
        return Statuses((why,), unheld.astype(np.int64))

    def too_fine(self, grid: Grid) -> TooFineError | None:
        """A box at the coarsest levels that are asked for is the likeliest to be held."""
        family = self.domain
        needed = [int(one.min(initial=tree.depth)) for one, tree in zip(family.needed(grid), family.trees, strict=True)]
        if family.holder(tuple(needed)) is not None:
            return None
        above = product(*(range(min(level, 1), level + 1) for level in needed))
        held = max((one for one in above if family.holder(one) is not None), key=sum, default=())
        asked = [attribute.label for attribute, level in zip(self.attributes, needed, strict=True) if level]
        coarser = zip(self.attributes, family.trees, needed, held, strict=False)
        depths = {one.name: _depth(one, tree, to) for one, tree, level, to in coarser if to < level}
        return TooFineError(f"This release has {' × '.join(asked)} together at coarser levels only", depths)

    @cached_property
    def lattices(self) -> tuple[Lattice, ...]:
        """The margins of each table that questions are answered from."""
        parts = zip(self.domain.members, self.domain.slices, strict=True)
        return tuple(Lattice(self.values[where].reshape(one.shape), one.attributes) for one, where in parts)

    def totals(self, grid: Grid) -> Integers:
        family = self.domain
        answer = lambda at, part: family.from_table(at, part, self.lattices[at].totals)  # noqa: E731
        return family.answered(grid, answer)[0]


def _depth(attribute: Attribute, tree: Tree, level: int) -> int:
    """The depth of a hierarchy that is a level of its tree."""
    sizes = (len(attribute.levels.cut(depth).leaves) for depth in range(attribute.levels.depth + 1))
    return next(depth for depth, size in enumerate(sizes) if size == tree.rungs[level].size)


def described(family: Family) -> dict[str, Any]:
    """A family as a manifest describes it."""
    spec = family.spec
    return {"up_to": spec.up_to, "of": list(spec.of), "also": [list(one) for one in spec.also]}


def family_of(opened: ProductFile) -> Family:
    """The family that a manifest describes, of so many cells at most."""
    said = opened.line.family
    lists = [said.get("of"), said.get("also"), *(said["also"] if isinstance(said.get("also"), list) else ())]
    if {*said} != {"up_to", "of", "also"} or not all(isinstance(one, list) for one in lists):
        raise ValueError("it does not say which tables it has")
    try:
        spec = UpTo(said["up_to"], tuple(said["of"]), tuple(map(tuple, said["also"])))
        family = spec.family(Schema(tuple(opened.attributes.values())))
    except PlanError as error:
        raise ValueError(str(error)) from None
    if family.size > LARGEST:
        raise ValueError(f"its tables have {family.size:,} cells, more than the {LARGEST:,} that are read")
    if opened.line.by != [str(level) for level in family.by] or opened.line.impossible:
        raise ValueError("its tables are by other attributes than it says, or by fewer combinations of them")
    return family


def _no_column(name: str) -> Any:
    raise ValueError(f"its tables have no column '{name}'")


_ATTRIBUTES = (Attribute("a", Levels.of("12")), Attribute("b", Levels.of("345")))
_FAMILY = UpTo(1, ("a", "b")).family(Schema(_ATTRIBUTES))
_SUBJECT = Subject("jobs", "count", "Jobs", "jobs", Fraction(1))
EXAMPLE = Tables(_SUBJECT, _FAMILY, np.array([10, 15, 6, 7, 12]), Components((1.9, 1.9, 1.9)))

"""Risk: what the release still says about single records, and what it no longer says."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.confidential.assessment.comparisons import (
    Compared,
    ComparedTable,
    Floats,
    Integers,
    ReportRules,
    margin,
    quantile,
)
from sfumato.confidential.sealed import Sealed
from sfumato.release import Product
from sfumato.schema import Grid, Table


@dataclass(frozen=True)
class Flips:
    """How many cells went from zero to something and back; zero is less than the threshold away from 0."""

    cells: int
    threshold: float
    zeros: int
    to_nonzero: int
    nonzeros: int
    to_zero: int
    negative: int


def flips(cells: Compared, rules: ReportRules) -> Flips:
    """Flips between zero and non-zero; the more of them, the less an empty or occupied cell gives away."""
    near = rules.near_zero * cells.worth
    was, now = np.abs(cells.truth) < near, np.abs(cells.released) < near
    return Flips(
        cells=cells.size,
        threshold=near,
        zeros=int(was.sum()),
        to_nonzero=int((was & ~now).sum()),
        nonzeros=int((~was).sum()),
        to_zero=int((~was & now).sum()),
        negative=int((cells.released <= -near).sum()),
    )


@dataclass(frozen=True)
class Uniques:
    """How many cells hold one record, how many look so in the release, and how many are both."""

    cells: int
    unique: int
    look_unique: int
    both: int


def uniques(cells: Compared) -> Uniques | None:
    """Sample uniques before and after noise; nothing where the release has no number of records."""
    if cells.counted is None:
        return None
    unique, look = cells.records == 1, np.rint(cells.counted) == 1
    return Uniques(cells.size, int(unique.sum()), int(look.sum()), int((unique & look).sum()))


@dataclass(frozen=True)
class Slivers:
    """Pairs of nested questions, both large enough to publish, and those whose difference holds one or two records.

    `told` slivers read as their true number once the released difference is rounded. `say` counts all pairs whose
    released difference reads as 1 or 2, and `say_rightly` those of them that are slivers.
    """

    pairs: int
    slivers: int
    told: int
    say: int
    say_rightly: int
    said: tuple[float | None, float | None, float | None]
    error: float | None


@dataclass(frozen=True, eq=False, repr=False)
class NestedDifferences(Sealed):
    """Differences of nested questions: the records in each, what the release says of them, its stated error."""

    true: Integers
    said: Floats
    error: Floats


def nested(product: Product, looked: ComparedTable, rules: ReportRules) -> NestedDifferences:
    """What an attacker gets by asking a universe, asking it again without one level, and taking the difference.

    Both questions are put to the product as anyone would, and both hold enough records to be published.
    """
    table = looked.table
    records, noise = looked.spread(looked.cells.records), looked.spread(looked.cells.noise)
    found = []
    for place, name in enumerate(table.names):
        rest = [one for one in table.names if one != name]
        said = np.expand_dims(_totals(product, table, rest), place) - _totals(product, table, table.names, without=name)
        larger = np.expand_dims(margin(records, table.names, rest), place)
        asked = table.possible & (larger - records >= rules.least)
        found.append((records[asked], said[asked], np.sqrt(noise[asked])))
    true, said, error = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return NestedDifferences(true.astype(np.int64), said, error)


def slivers(differences: Sequence[NestedDifferences]) -> Slivers:
    """Slivers among the differences of nested questions in several tables."""
    true, released, error = (
        np.concatenate([getattr(difference, name) for difference in differences]) for name in ("true", "said", "error")
    )
    sliver, read = (true == 1) | (true == 2), np.rint(released)
    say = (read == 1) | (read == 2)
    return Slivers(
        pairs=len(true),
        slivers=int(sliver.sum()),
        told=int((sliver & (read == true)).sum()),
        say=int(say.sum()),
        say_rightly=int((say & sliver).sum()),
        said=(quantile(released[sliver], 0.25), quantile(released[sliver], 0.5), quantile(released[sliver], 0.75)),
        error=quantile(error[sliver & np.isfinite(error)], 0.5),
    )


def _totals(product: Product, table: Table, names: Sequence[str], without: str | None = None) -> Floats:
    """The released totals by some attributes; of one of them each level is left out in turn instead of taken."""
    axes = []
    for name in names:
        leaves = np.eye(len(table.attribute(name).levels.leaves), dtype=bool)
        axes.append((name, ~leaves if name == without else leaves))
    grid = Grid(tuple(axes))
    return np.asarray(product.totals(grid).reshape(grid.shape) * float(product.subject.step))

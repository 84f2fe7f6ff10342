"""Weighted records: a noisy table of counts as microdata, one row a record, from which any total, mean or share is had.

A cell with the noisy value T has n records of the weight T / n, so the weights of any rows add up to the noisy total of
their cells, below 0 where that is. Noise is in every possible cell, empty ones too, so each has a record at least, and
each record its part V / n of the variance of its cell: the variance of Σ w z, z anything that the attributes tell, is
V Σ z² over cells, which is Σ v z² over rows. Sampling formulas would not give it: rows were not sampled. For packages
that take replicate weights there are such: w ± √V / n, the same sign for all records of a cell, fair and apart in each
cell and replicate; the mean of the squared differences is then V Σ z², in the mean over signs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import QueryError, nearest
from sfumato.query.engine import QueryEngine
from sfumato.release import Cube, Product, Shifted, WeightedCells, Withheld
from sfumato.release.noisy import Floats, Integers
from sfumato.release.weighting import is_weighted
from sfumato.schema import Attribute, Level, Table

CHUNK = 2**16
"""About how many rows are made at a time."""
OWN = ("weight", "noise_variance", "moved")


@dataclass(frozen=True)
class CodeColumn:
    """An attribute at one of its levels: its name in the file, what it is, and the code of every leaf."""

    name: str
    attribute: Attribute
    leaf: str
    up: NDArray[np.intp]

    @property
    def codes(self) -> tuple[str, ...]:
        return self.attribute.levels.leaves

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.attribute.levels.label(code) for code in self.codes)


@dataclass(frozen=True, eq=False)
class WeightedRecords:
    """The records of one product, and how many replicates of its weights go with them."""

    product: WeightedCells
    replicates: int
    seed: str
    answering: tuple[str, ...] = ()
    """Where tables of the release are answered by other products than this one: which."""

    @property
    def table(self) -> Table:
        return self.product.domain

    @property
    def size(self) -> int:
        return int(self.product.records.sum())

    @cached_property
    def names(self) -> dict[str, str]:
        """What the columns of weights are called: as an attribute is called none of them is."""
        used = {column.name for column in self.codes}
        wanted = [*OWN, *(f"rw{place + 1}" for place in range(self.replicates))]
        prefix = "protected_" if used & set(wanted) else ""
        return {name: f"{prefix}{name}" for name in wanted if name != "moved" or self.moved is not None}

    @cached_property
    def codes(self) -> list[CodeColumn]:
        """Every attribute at its lowest level and, where it has a hierarchy, at those above."""
        found = []
        for one in self.table.attributes:
            depths = (*range(one.levels.depth), None) if one.levels.depth else (None,)
            for level in (Level(one.name, depth) for depth in depths):
                cut = level.of(one)
                above = np.arange(len(one.levels.leaves)) if cut is one else one.levels.above(cut.levels)
                found.append(CodeColumn(level.column, cut, one.name, above))
        return found

    @property
    def moved(self) -> Floats | None:
        """How far each cell is from its unbiased value, in its unit, where it was moved."""
        stated = self.product.uncertainty
        return stated.shift * self._step if isinstance(stated, Shifted) else None

    @property
    def _step(self) -> float:
        return float(self.product.subject.step)

    @cached_property
    def variances(self) -> Floats:
        """The variance of the noise in every cell, in its unit."""
        stated = self.product.uncertainty
        base = stated.base if isinstance(stated, Shifted) else stated
        weights = base.over(self.table, self.product.values).weights
        if weights is None:
            raise QueryError(
                f"The cells of '{self.product.subject.name}' share noise, so that records cannot carry it."
            )
        return np.broadcast_to(np.asarray(weights[0] * weights[1] * self._step**2, dtype=np.float64), self.table.shape)

    def chunks(self) -> Iterator[dict[str, NDArray[Any]]]:
        """The columns of some rows after the others: places of codes, weights and what belongs to them."""
        cells = np.flatnonzero(self.product.records)
        counts = self.product.records.ravel()[cells]
        ends = np.cumsum(counts)
        cuts = [0, *(np.searchsorted(ends, np.arange(CHUNK, int(ends[-1]), CHUNK)) + 1).tolist(), len(cells)]
        for place, (start, stop) in enumerate(pairwise(cuts)):
            if start < stop:
                yield self._rows(cells[start:stop], counts[start:stop], place)

    def _rows(self, cells: Integers, counts: Integers, chunk: int) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {
            one.name: np.repeat(one.up[self.table.leaves_at(cells, one.leaf)], counts) for one in self.codes
        }
        variance = self.variances.ravel()[cells]
        columns = {
            "weight": self.product.values.ravel()[cells] * self._step / counts,
            "noise_variance": variance / counts,
        }
        signs = self._signs(len(cells), chunk)
        moved = None if self.moved is None else self.moved.ravel()[cells] / counts
        for place in range(self.replicates):
            drawn = np.sqrt(variance) / counts * signs[place]
            drawn = drawn if moved is None else drawn + (-1) ** place * moved
            columns[f"rw{place + 1}"] = columns["weight"] + drawn
        columns |= {} if moved is None else {"moved": moved}
        return found | {self.names[name]: np.repeat(columns[name], counts) for name in self.names}

    def _signs(self, cells: int, chunk: int) -> NDArray[np.int8]:
        """Fair signs, drawn from public numbers: the same for the same release."""
        words = [int(self.seed[:16], 16), *self.product.subject.name.encode(), chunk]
        bits = np.random.default_rng(words).integers(0, 2, (self.replicates, cells), dtype=np.int8)
        return np.asarray(2 * bits - 1, dtype=np.int8)


def records_of(engine: QueryEngine, of: str | None, replicates: int) -> WeightedRecords:
    """The records of the product that is asked for, or of the only one that can be had as records."""
    products = engine.release.products
    if of is not None and of not in products:
        raise QueryError(f"The release has no product '{of}'; {nearest(of, list(products))}")
    if of is not None:
        named = _carried(products[of])
        if named is None:
            raise QueryError(f"Of '{of}' no records can be made. {_instead(engine)}")
        others = () if of in engine.statistics else engine.statistics
        return WeightedRecords(named, replicates, engine.release.id, others)
    weighted = [_told(one.own, one) for one in products.values() if isinstance(one.own, WeightedCells)]
    found = weighted or [one for name in engine.statistics if (one := _carried(products[name])) is not None]
    if len(found) > 1:
        names = ", ".join(one.subject.name for one in found)
        raise QueryError(f"Records are made of one table of counts, and this release has {names}; name one with --of.")
    if not found:
        raise QueryError(f"Of what answers in this release no records can be made. {_instead(engine)}")
    return WeightedRecords(found[0], replicates, engine.release.id)


def _instead(engine: QueryEngine) -> str:
    """What records are made of, and of what in a release they can be."""
    why = "Records are made of a table of counts with noise of its own in every cell; ask others with `sfumato table`"
    known = [name for name, one in engine.release.products.items() if _carried(one) is not None]
    if not known:
        return f"{why}."
    aside = "" if set(known) <= set(engine.statistics) else ", whose totals are not those that `sfumato table` prints"
    return f"{why}, or make records of what was measured, --of {' or '.join(known)}{aside}."


def _carried(product: Product) -> WeightedCells | None:
    """A measured table of counts with a record for every person and one for every cell below 1; else nothing."""
    own = product.own
    counts = isinstance(own, Cube) and own.subject.statistic == "count" and not is_weighted(own.subject.weighting)
    if not isinstance(own, Cube) or not counts or own.subject.step != 1:
        return None
    if isinstance(own, WeightedCells):
        return _told(own, product)
    errors = own.uncertainty.over(own.domain, own.values)
    if isinstance(errors, Withheld) or errors.weights is None or isinstance(own.uncertainty, Shifted):
        return None
    records = np.where(own.domain.possible, np.maximum(own.values, 1), 0).astype(np.int64)
    return _told(WeightedCells(own.subject, own.domain, own.values, own.uncertainty, records), product)


def _told(cells: WeightedCells, product: Product) -> WeightedCells:
    """The same records in the language that a product is told in."""
    if product is product.own:
        return cells
    return replace(cells, subject=product.subject, domain=replace(cells.domain, attributes=product.attributes))

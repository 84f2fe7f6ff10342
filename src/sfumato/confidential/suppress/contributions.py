"""Contributions: what every holding adds to every cell of linked tables."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.confidential.sealed import Sealed
from sfumato.confidential.suppress.own_parts import added_up
from sfumato.errors import DataError, how_many
from sfumato.suppression import Flags, Floats, Insiders, Integers, LinkedTables, Nesting, together


class Contributions(Sealed):
    """Of every cell its total, the number of its holdings, and what they add, the largest first.

    A holding is who must be protected: all establishments of an enterprise are one. Where only the largest
    contributions of a cell are known, as in tables made elsewhere, `listed` are those.
    """

    def __init__(  # noqa: PLR0913 - each is a column of what is known
        self,
        totals: Floats,
        counts: Integers,
        cells: Integers,
        holdings: Integers,
        amounts: Floats,
        sizes: Floats | None = None,
        waived: Flags | None = None,
        *,
        listed: int | None = None,
    ) -> None:
        order = np.lexsort((holdings, -np.abs(amounts), cells))
        self.totals, self.counts = totals, counts
        self.cells, self.holdings, self.amounts = cells[order], holdings[order], amounts[order]
        self.sizes = np.abs(totals) if sizes is None else sizes
        """What each cell's contributions add up to without their signs: the total of a cell without negative ones."""
        self.waived = np.zeros(int(holdings.max(initial=-1)) + 1, dtype=bool) if waived is None else waived
        """Which holdings have agreed that their part may be told."""
        self.listed = listed
        """How many contributions a cell are known at most; None where all are."""
        starts = np.searchsorted(self.cells, np.arange(len(totals) + 1))
        self.rank = np.arange(len(self.cells)) - starts[self.cells]

    @classmethod
    def of(
        cls,
        linked: LinkedTables,
        codes: Mapping[str, Sequence[str]],
        values: Sequence[float] | Floats,
        holdings: Sequence[object] | None = None,
        weights: Sequence[float] | Floats | None = None,
        waived: Collection[object] = (),
    ) -> "Contributions":
        """Those of microdata: a row has a code of each attribute, a value, and, if wanted, a holding and a weight.

        With weights a cell's total is weighted, and what a holding knows of it is its own, unweighted part.
        """
        value, weight = _checked(values, weights)
        names = list(range(len(value))) if holdings is None else [str(one) for one in holdings]
        known, holding = np.unique(np.array(names), return_inverse=True)
        cells, rows = _memberships(linked, codes, len(value))
        pair, where = np.unique(cells * (len(known) + 1) + holding[rows], return_inverse=True)
        totals = np.bincount(cells, (value * weight)[rows], linked.size).astype(np.float64)
        amounts = np.bincount(where, value[rows], len(pair)).astype(np.float64)
        of_pair = pair // (len(known) + 1)
        # What a holding gains and loses in one cell adds nothing to it, and hides nobody else in it.
        parts = np.abs(np.bincount(where, (value * weight)[rows], len(pair)))
        sizes = np.bincount(of_pair, parts, linked.size).astype(np.float64)
        agreed = np.isin(known, [str(one) for one in waived]) if waived else np.zeros(len(known), dtype=bool)
        counts = np.bincount(of_pair, minlength=linked.size)
        return cls(totals, counts, of_pair, pair % (len(known) + 1), amounts, sizes, agreed)

    @classmethod
    def told(cls, totals: Floats, counts: Integers, largest: Floats) -> "Contributions":
        """Those of a table made elsewhere: each cell's total, number of contributors and largest contributions.

        Nobody is known to contribute to two cells; a contribution that is not known is NaN.
        """
        cells, rank = np.nonzero(~np.isnan(largest))
        return cls(totals, counts, cells, np.arange(len(cells)), largest[cells, rank], listed=largest.shape[1])

    @property
    def contributors(self) -> int:
        """How many holdings there are."""
        return len(np.unique(self.holdings))

    @property
    def top(self) -> tuple[Floats, Floats]:
        """The largest and the second largest contribution of each cell, 0 where there is none."""
        return self.at(0), self.at(1)

    def at(self, rank: int) -> Floats:
        """The size of the contribution of a rank in each cell, 0 where there is none."""
        found = np.zeros(len(self.totals))
        those = self.rank == rank
        found[self.cells[those]] = np.abs(self.amounts[those])
        return found

    def only(self, kept: Flags) -> "Contributions":
        """The same of some cells, renumbered."""
        entries = kept[self.cells]
        place = np.cumsum(kept) - 1
        return Contributions(
            self.totals[kept], self.counts[kept], place[self.cells[entries]], self.holdings[entries],
            self.amounts[entries], self.sizes[kept], self.waived, listed=self.listed,
        )  # fmt: skip

    def joined(self, unions: Sequence[tuple[int, ...]]) -> "Contributions":
        """The same of unions of cells, each as one cell."""
        starts = np.searchsorted(self.cells, np.arange(len(self.totals) + 1))
        lengths = np.array([len(one) for one in unions])
        members = np.array([cell for one in unions for cell in one], dtype=np.int64)
        union = np.repeat(np.arange(len(unions)), lengths)
        counts = starts[members + 1] - starts[members]
        offset = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        entries = np.repeat(starts[members], counts) + offset
        width = int(self.holdings.max(initial=0)) + 1
        pair, where = np.unique(np.repeat(union, counts) * width + self.holdings[entries], return_inverse=True)
        amounts = np.bincount(where, self.amounts[entries], len(pair)).astype(np.float64)
        # Weights add what nobody knows; what holdings add is taken over the union, where it may cancel out.
        unknown = self.sizes - np.bincount(self.cells, np.abs(self.amounts), len(self.sizes))
        totals, others = (
            np.bincount(union, column[members], len(unions)).astype(np.float64) for column in (self.totals, unknown)
        )
        sizes = others + np.bincount(pair // width, np.abs(amounts), len(unions))
        holders = np.bincount(pair // width, minlength=len(unions))
        return Contributions(totals, holders, pair // width, pair % width, amounts, sizes, self.waived)

    def insiders(self, linked: LinkedTables, upper: Floats, others: Floats) -> Insiders:
        """Who knows a part of which cells; `upper` is how uncertain each must stay, `others` to those not in it.

        They are all holdings, in every cell that they contribute to: one that is small in a cell knows that the cell
        is no less than its part. Of tables made elsewhere they are those who are alone in a cell.
        """
        single = self.counts == 1
        known = self if self.listed is None else self._followed(linked)
        lonely = np.zeros(int(known.holdings.max(initial=-1)) + 1, dtype=bool)
        lonely[known.holdings[single[known.cells]]] = True
        kept = np.flatnonzero(lonely[known.holdings] | (self.listed is None))
        kept = kept[np.lexsort((known.holdings[kept], known.cells[kept]))]
        first, second = self.top
        if self.listed == 1:
            second = np.where(self.counts == 2, np.maximum(self.sizes - first, 0), 0)
        # Where the largest has agreed, others are protected from it, and nothing less is asked of what it knows.
        agreed = np.zeros(len(self.totals), dtype=bool)
        agreed[self.cells[self.rank == 0]] = self.waived[self.holdings[self.rank == 0]]
        first, second = np.where(agreed, np.inf, first), np.where(agreed, first, second)
        cells = known.cells[kept]
        return Insiders(
            cells, known.holdings[kept], known.amounts[kept], single[cells], first, second, self.sizes, upper,
            others,
        )  # fmt: skip

    def _followed(self, linked: LinkedTables) -> "Contributions":
        """Those of cells with one contributor, followed into every total that they are a part of."""
        single = np.flatnonzero(self.counts == 1)
        person = _same_one(linked, self.counts)
        pairs = np.unique(np.stack([single, person[single]]), axis=1)
        up = _totals_of(linked)
        new = pairs
        while new.shape[1]:
            times = up.counts[new[0]]
            offset = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
            above = np.stack([up.totals[np.repeat(up.starts[new[0]], times) + offset], np.repeat(new[1], times)])
            both = np.unique(np.concatenate([pairs, above], axis=1), axis=1)
            new = above if both.shape[1] > pairs.shape[1] else above[:, :0]
            pairs = both
        known = np.where(self.counts == 1, self.totals, -np.inf)[pairs[0]]
        amounts = added_up(linked.equations, pairs[0], pairs[1], known)
        return Contributions(self.totals, self.counts, pairs[0], pairs[1], amounts, self.sizes)


def _checked(values: Sequence[float] | Floats, weights: Sequence[float] | Floats | None) -> tuple[Floats, Floats]:
    """Values and weights that suppression can do with."""
    value = np.asarray(values, dtype=np.float64)
    weight = np.ones(len(value)) if weights is None else np.asarray(weights, dtype=np.float64)
    for name, column in (("value", value), ("weight", weight)):
        if not np.all(np.isfinite(column)):
            row = int(np.flatnonzero(~np.isfinite(column))[0]) + 1
            raise DataError(f"Row {row:,} has no {name} that is a number; suppression needs that of every row.")
    if not np.all(weight >= 1):
        row = int(np.flatnonzero(weight < 1)[0]) + 1
        raise DataError(
            f"The weight of row {row:,} is below 1; in suppression a row stands for itself and others, so weigh from 1 "
            "on."
        )
    return value, weight


@dataclass(frozen=True, eq=False)
class _Above:
    """The totals that each cell is a part of, one cell after the other."""

    starts: Integers
    counts: Integers
    totals: Integers


def _totals_of(linked: LinkedTables) -> _Above:
    """Where a total has one part alone, whoever is in either is in the other."""
    entries = linked.equations
    parts = entries.signs > 0
    only = (np.bincount(entries.rows[parts], minlength=entries.count) == 1)[entries.rows] & parts
    up = np.concatenate([entries.parents[entries.rows[parts]], entries.cells[only]])
    cells = np.concatenate([entries.cells[parts], entries.parents[entries.rows[only]]])
    order = np.argsort(cells, kind="stable")
    counts = np.bincount(cells, minlength=linked.size)
    return _Above(np.cumsum(counts) - counts, counts, up[order])


def _same_one(linked: LinkedTables, counts: Integers) -> Integers:
    """A number for every cell, the same for cells of one contributor that are sure to have the same one.

    The only contributor of a total is the only one of the one part that is not empty.
    """
    entries, label = linked.equations, np.arange(linked.size)
    chained = (counts[entries.parents] == 1)[entries.rows] & (counts[entries.cells] == 1)
    return together(entries.rows[chained], entries.cells[chained], label)


def _memberships(linked: LinkedTables, codes: Mapping[str, Sequence[str]], length: int) -> tuple[Integers, Integers]:
    """Every cell that a row is in, with the row; a cell that stands in several tables is told once."""
    filled = np.zeros(linked.size, dtype=bool)
    cells, rows = [], []
    for table in linked.tables:
        place, row = _of_table(linked, table, codes, length)
        new = ~filled[place]
        cells.append(place[new])
        rows.append(row[new])
        filled[place] = True
    return np.concatenate(cells), np.concatenate(rows)


def _of_table(
    linked: LinkedTables, table: Sequence[Nesting], codes: Mapping[str, Sequence[str]], length: int
) -> tuple[Integers, Integers]:
    rows, number = np.arange(length), np.zeros(length, dtype=np.int64)
    for nesting in table:
        if nesting.name not in codes:
            raise DataError(f"The rows have no codes of '{nesting.name}', which classifies their cells; give them.")
        seen, which = np.unique(np.asarray(codes[nesting.name], dtype=str), return_inverse=True)
        up, told = linked.above(nesting.name), set(nesting.codes)
        named = [[one for one in up.get(code, ()) if one in told] for code in seen.tolist()]
        unknown = named.count([])
        if unknown:
            raise DataError(
                f"The data have {how_many(unknown, 'code')} of '{nesting.name}' that its hierarchy lacks: list it."
            )
        above = [linked.numbers(nesting.name, ups) for ups in named]
        lengths, every = np.array([len(one) for one in above]), np.concatenate(above)
        starts, of_row = np.cumsum(lengths) - lengths, which[rows]
        times = lengths[of_row]
        offset = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
        number = np.repeat(number, times) + every[np.repeat(starts[of_row], times) + offset]
        rows = np.repeat(rows, times)
    return linked.at(number), rows

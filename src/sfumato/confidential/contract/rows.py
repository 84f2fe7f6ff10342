"""Mechanisms that are given rows: all small cells of a few rows and every neighbour of them, by the stated chances.

A row comes, or has other values where counts are public. The chances of all that may be published are compared one by
one, so that what one row loses, times how many of them a unit has, is held to the claim. The same chances are held
against so many cells as they are drawn through the mechanism's own door.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product

import numpy as np
from scipy.stats import chi2

from sfumato.confidential.contract.drawn import FALSE_ALARM, Drawn, calls_are_independent, cells_are_independent
from sfumato.draws import Draws, RoundedLaplace
from sfumato.mechanisms import Cells, Mechanism
from sfumato.mechanisms.noisy_stats import LineSums, NoisyStats
from sfumato.privacy import Approximate, Unsummed, bounded
from sfumato.release.noisy import Floats, Integers
from sfumato.schema import Aggregate, Attribute, Clipped, Influence, Levels, Ragged, Sorted, Table

MOST_ROWS, TOLERANCE = 4, 1e-6
CELLS, FEWEST = 20_000, 40
"""How many cells are drawn, and how many of them at least are expected of what is counted together."""
SLOPES = (-10.0, -1.0, -0.25, 0.0, 0.25, 1.0, 10.0)
WHOLE = Fraction(1)
MOST_TIMES = 100
THREE = "what is published follows three draws at once, and its law is not stated"
LISTED = "it has too many outcomes, or pairings, to list"


def corners(of: Aggregate) -> list[tuple[int, ...]]:
    """Rows at the ends and in the middle of the bounds, of single values also a tenth from one end, in steps."""
    values = (of.y, of.x) if isinstance(of, Influence) else of.values
    ends = [value.ends for value in values if isinstance(value, Clipped)]
    tenth = {low + (high - low) // 10 for low, high in ends if len(ends) == 1}
    return sorted(product(*({low, (low + high) // 2, high} | tenth for low, high in ends)))


def small_cells(of: Aggregate, move: Unsummed) -> Iterator[tuple[Integers, Integers]]:
    """Cells of up to a few rows at corners, and their neighbours: one row more, or any of them with other values."""
    few = corners(of)
    for size in range(MOST_ROWS):
        for rows in combinations_with_replacement(few, size):
            sides = [_rows((*rows, other), len(few[0])) for other in few]
            if move.within:
                yield from combinations(sides, 2)
            else:
                yield from ((_rows(rows, len(few[0])), side) for side in sides)


def _rows(rows: tuple[tuple[int, ...], ...], width: int) -> Integers:
    return np.array(sorted(rows), dtype=np.int64).reshape(-1, width)


def no_row_is_further(mechanism: Mechanism, move: Unsummed, of: tuple[Aggregate, ...], claimed: float) -> list[str]:
    """Complaints about a row by which some outcome is likelier than the share of a row in the claim allows."""
    (ranked,) = _of_rows(of)
    pairs = list(small_cells(ranked, move))
    cells = {rows.tobytes(): rows for pair in pairs for rows in pair}
    places: dict[int | None, int] = {}

    def chances(rows: Integers) -> Floats:
        stated = mechanism.chances(of, rows, move) or {}
        where = [places.setdefault(key, len(places)) for key in stated]
        found = np.zeros(len(places))
        found[where] = list(stated.values())
        return found

    known = {name: chances(rows) for name, rows in cells.items()}
    known = {name: np.pad(one, (0, len(places) - len(one))) for name, one in known.items()}
    worst = max(_apart(*(known[rows.tobytes()] for rows in pair)) for pair in pairs)
    lost = worst * rows_of(mechanism, move)
    return [] if lost <= claimed + TOLERANCE else [f"epsilon {claimed:g} broken by one row: {lost:.6f}"]


def _apart(one: Floats, other: Floats) -> float:
    """The largest log-ratio of the chances of any outcome that either side may have."""
    some = (one > 0) | (other > 0)
    with np.errstate(divide="ignore"):
        return float(np.abs(np.log(one[some]) - np.log(other[some])).max(initial=0.0))


def rows_of(mechanism: Mechanism, move: Unsummed) -> int:
    """How many rows come or go; where they stay in their cells, how many have other values."""
    both = bounded(move.rows, mechanism.name).l1
    return both // 2 if move.within else both


def no_sums_are_further(mechanism: NoisyStats, move: Unsummed, of: tuple[Aggregate, ...], claimed: float) -> list[str]:
    """Complaints about a row with other values that moves sums, or what a line predicts, further than noise hides."""
    (line,) = (one for one in of if isinstance(one, Influence))
    pairs = [pair for pair in small_cells(line, move) if len(pair[0]) > 1]
    first, second = (LineSums.of(line, _together(side)) for side in zip(*pairs, strict=True))
    lost = np.abs(first.products - second.products) / first.products_move
    lost += np.abs(first.squares - second.squares) / first.squares_move
    far = []
    for slope in np.array(SLOPES):
        (value, moves), (beside, _) = (side.predicted(slope, first.wide_x / 4) for side in (first, second))
        far.append(np.abs(value - beside) / moves)
    worst = float((lost + np.max(far, axis=0)).max() * float(mechanism.epsilon) / 3)
    return [] if worst <= claimed * (1 + TOLERANCE) else [f"epsilon {claimed:g} broken by one row: {worst:.6f}"]


def _together(cells: tuple[Integers, ...]) -> Ragged:
    return Ragged(np.cumsum([0, *map(len, cells)]), np.concatenate(cells))


def drawn_cells(move: Unsummed, step: Fraction, of: tuple[Aggregate, ...], times: int = 1) -> Cells:
    """Many cells of the same few rows, each so many times."""
    (one,) = _of_rows(of)
    few = corners(one)
    rows = _rows((few[0], few[-1], few[0], few[-1]) * times, len(few[0]))
    values = np.tile(rows if rows.shape[1] > 1 else np.sort(rows.ravel()), (CELLS, 1) if rows.shape[1] > 1 else CELLS)
    columns = {one: Ragged(np.arange(CELLS + 1) * len(rows), values)}
    table = Table((Attribute("cell", Levels.of(range(CELLS))),))
    return Cells(table, np.zeros(CELLS, dtype=np.int64), step, move, columns=columns)


def draws_have_the_stated_chances(
    mechanism: Mechanism, cells: Cells, move: Unsummed, of: tuple[Aggregate, ...], draws: Draws
) -> list[str]:
    """Complaints about what was published of many cells alike, by chi-square, neighbouring outcomes together."""
    stated = dict(mechanism.chances(of, own_rows(cells), move) or {})
    noisy = mechanism.perturb(cells, draws)
    told = np.ones(CELLS, dtype=bool) if noisy.statuses is None else noisy.statuses.which.ravel() == 0
    keys = sorted(key for key in stated if key is not None)
    places = np.searchsorted(keys, noisy.values.ravel()[told])
    counts = np.append(np.bincount(places, minlength=len(keys)), CELLS - told.sum())
    expected = CELLS * np.array([*(stated[key] for key in keys), stated.get(None, 0.0)])
    group = np.floor(np.cumsum(expected) / FEWEST - 1e-9).astype(np.int64)
    seen, wanted = np.bincount(group, counts), np.bincount(group, expected)
    some = wanted > 0
    misfit = float((((seen - wanted) ** 2)[some] / wanted[some]).sum())
    if misfit <= chi2.isf(FALSE_ALARM, max(int(some.sum()) - 1, 1)):
        return []
    return [f"outcomes of {CELLS:,} cells are not as likely as stated: a chi-square of {misfit:.0f}"]


def independence(mechanism: Mechanism, cells: Cells, draws: Draws) -> dict[str, list[str] | str]:
    """Whether cells, and calls, share draws, by whether what is published lies above the middle."""
    both = [mechanism.perturb(cells, draws).values.ravel() for _ in range(2)]
    middle = np.median(both[0])
    if len(np.unique(both[0])) == 1:
        alike = "no cell of so few rows has a number at this epsilon"
        return {"cells are independent": alike, "calls are independent": alike}
    first, second = (np.sign(one - middle).astype(np.int64) for one in both)
    signs = Drawn(RoundedLaplace(WHOLE), first, second)
    return {
        "cells are independent": cells_are_independent(signs),
        "calls are independent": calls_are_independent(signs),
    }


def row_checks(
    mechanism: Mechanism, move: Unsummed, step: Fraction, of: tuple[Aggregate, ...], draws: Draws
) -> dict[str, list[str] | str]:
    """What is wrong by each check, or why it was not made."""
    claim = mechanism.loss(move)
    if not isinstance(claim, Approximate):
        return {"all": f"{mechanism.name} claims nothing that could be checked"}
    claimed = float(claim.epsilon)
    found: dict[str, list[str] | str] = {}
    told = mechanism.all_told
    if isinstance(mechanism, NoisyStats):
        found["no row is further"] = no_sums_are_further(mechanism, move, of, claimed)
        found["draws have the stated chances"] = THREE
        return found | independence(told, drawn_cells(move, step, of, min(MOST_TIMES, math.ceil(60 / claimed))), draws)
    cells = drawn_cells(move, step, of)
    listed = told.chances(of, own_rows(cells), move) is not None
    found["no row is further"] = no_row_is_further(told, move, of, claimed) if listed else LISTED
    found["draws have the stated chances"] = (
        draws_have_the_stated_chances(told, cells, move, of, draws) if listed else LISTED
    )
    return found | independence(told, cells, draws)


def own_rows(cells: Cells) -> Integers:
    """The rows of each of the cells, which are alike."""
    ((_, rows),) = cells.columns.items()
    return np.asarray(rows.at(0)).reshape(len(rows.at(0)), -1)


def _of_rows(of: tuple[Aggregate, ...]) -> list[Aggregate]:
    """The aggregate that a mechanism is given the rows of."""
    return [one for one in of if isinstance(one, Influence) or (isinstance(one, Sorted) and one.at)]

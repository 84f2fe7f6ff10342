"""The loops of `kernels.rake`, compiled; of a matrix that is mostly zeros only the other cells are touched.

A side is settled on levels: the sums over the places of its first part, of its first two, and so on to all of them.
Each part reads its own level, weighed by what the parts before it were changed by, so that a side of many parts takes
hardly longer than a read of its places.
"""

import numpy as np

from sfumato.kernels.kept import njit
from sfumato.kernels.rake import Factors, Floats, ListedCells, Side

_SPARSE = 4
"""A cell in a list takes about as long as so many in a matrix."""


@njit(cache=True)
def _fold(widths, sums, levels):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    size, end = len(sums), len(levels)
    levels[end - size :] = sums
    for part in range(len(widths) - 1, 0, -1):
        width, fine = widths[part], levels[end - size : end]
        end -= size
        size //= width
        coarse = levels[end - size : end]
        for place in range(size):
            total = 0.0
            for beside in range(width):
                total += fine[place * width + beside]
            coarse[place] = total


# Each slice of an array costs as much here as some tens of its cells, so numbers say where to read.
@njit(cache=True)
def _see(levels, level, size, change, seen, width):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    """What a part sees of its level: the sums over the places before it, each changed as they were."""
    for place in range(width):
        seen[place] = 0.0
    for before in range(size):
        weight, row = change[before], level + before * width
        for place in range(width):
            seen[place] += weight * levels[row + place]


@njit(cache=True)
def _total(of, begin, width, seen, totals, start):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    for place in range(width):
        totals[start + of[begin + place]] += seen[place]


@njit(cache=True)
def _divide(aims, totals, start, end, tolerance):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    """The totals of one table become what its cells are multiplied by; whether there is such a number for each."""
    for cell in range(start, end):
        total = totals[cell]
        if not np.isfinite(total) or (total == 0 and abs(aims[cell]) > tolerance):
            return False
        totals[cell] = aims[cell] / total if total != 0 else 0.0
    return True


@njit(cache=True)
def _settle(side, levels, sums, factors, tolerance):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    widths, within, of, starts, aims = side
    widest = widths.max()
    seen, own, totals, change = np.empty(widest), np.empty(widest), np.zeros(len(aims)), np.ones(len(sums))
    size, level, table, begin = 1, 0, 0, 0
    for part in range(len(widths)):
        width = widths[part]
        own[:width] = 1.0
        _see(levels, level, size, change, seen, width)
        while table < len(within) and within[table] == part:
            start = starts[table]
            _total(of, begin, width, seen, totals, start)
            if not _divide(aims, totals, start, starts[table + 1], tolerance):
                return False
            for place in range(width):
                factor = totals[start + of[begin + place]]
                seen[place] *= factor
                own[place] *= factor
            table += 1
            begin += width
        # From the last place on, as what is read stands before what is written.
        for before in range(size - 1, -1, -1):
            changed = change[before]
            for place in range(width - 1, -1, -1):
                change[before * width + place] = changed * own[place]
        size *= width
        level += size
    for place in range(len(sums)):
        sums[place] *= change[place]
        factors[place] *= change[place]
    return True


@njit(cache=True)
def _farthest(side, levels, enough):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    """How far the sums are from the control that they miss most; more than enough ends the search."""
    widths, within, of, starts, aims = side
    seen, totals, unchanged = np.empty(widths.max()), np.zeros(len(aims)), np.ones(len(levels))
    worst, size, level, part, begin = 0.0, 1, 0, -1, 0
    for table in range(len(within)):
        width = widths[within[table]]
        if within[table] > part:
            part = within[table]
            _see(levels, level, size, unchanged, seen, width)
            size *= width
            level += size
        _total(of, begin, width, seen, totals, starts[table])
        begin += width
        for cell in range(starts[table], starts[table + 1]):
            gap = abs(totals[cell] - aims[cell])
            if gap > worst or np.isnan(gap):
                worst = gap
        if not worst <= enough:
            break
    return worst


# Sums in any order let the processor take several cells at once; four rows at a time need the factors and the sums,
# which stand in the cache, a quarter as often, and then the matrix comes as fast as memory gives it.
@njit(cache=True, fastmath={"reassoc", "contract"})
def _down(matrix, others):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    sums, whole = np.empty(len(matrix)), len(matrix) // 4 * 4
    for row in range(0, whole, 4):
        a, b, c, d = matrix[row], matrix[row + 1], matrix[row + 2], matrix[row + 3]
        in_a = in_b = in_c = in_d = 0.0
        for column in range(len(others)):
            factor = others[column]
            in_a += a[column] * factor
            in_b += b[column] * factor
            in_c += c[column] * factor
            in_d += d[column] * factor
        sums[row], sums[row + 1], sums[row + 2], sums[row + 3] = in_a, in_b, in_c, in_d
    for row in range(whole, len(matrix)):
        total = 0.0
        for column in range(len(others)):
            total += matrix[row, column] * others[column]
        sums[row] = total
    return sums


@njit(cache=True, fastmath={"reassoc", "contract"})
def _across(matrix, ones):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    sums, whole = np.zeros(matrix.shape[1]), len(matrix) // 4 * 4
    for row in range(0, whole, 4):
        a, b, c, d = matrix[row], matrix[row + 1], matrix[row + 2], matrix[row + 3]
        by_a, by_b, by_c, by_d = ones[row], ones[row + 1], ones[row + 2], ones[row + 3]
        for column in range(len(sums)):
            sums[column] += a[column] * by_a + b[column] * by_b + c[column] * by_c + d[column] * by_d
    for row in range(whole, len(matrix)):
        for column in range(len(sums)):
            sums[column] += matrix[row, column] * ones[row]
    return sums


@njit(cache=True)
def _gathered(values, onto, other, factors, size):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    sums = np.zeros(size)
    for cell in range(len(values)):
        sums[onto[cell]] += values[cell] * factors[other[cell]]
    return sums


@njit(cache=True)
def _filled(matrix, most):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    """How many cells are not 0; counting ends above the most that matter."""
    filled = 0
    for row in range(len(matrix)):
        for column in range(matrix.shape[1]):
            filled += matrix[row, column] != 0
        if filled > most:
            break
    return filled


@njit(cache=True)
def _listed(matrix, filled):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    values, first, second = np.empty(filled), np.empty(filled, np.int32), np.empty(filled, np.int32)
    cell = 0
    for row in range(len(matrix)):
        for column in range(matrix.shape[1]):
            if matrix[row, column] != 0:
                values[cell], first[cell], second[cell] = matrix[row, column], row, column
                cell += 1
    return values, first, second


@njit(cache=True)
def _rake(dense, matrix, values, at, to, one, two, cycles, tolerance):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202, PLR0913, PLR0917
    ones, others, missed = np.ones(np.prod(one[0])), np.ones(np.prod(two[0])), np.inf
    # Room for the levels of either side, the coarsest first.
    down, across = np.empty(np.cumprod(one[0]).sum()), np.empty(np.cumprod(two[0]).sum())
    sums = _down(matrix, others) if dense else _gathered(values, at, to, others, len(ones))
    _fold(one[0], sums, down)
    for cycle in range(cycles):
        if not _settle(one, down, sums, ones, tolerance):
            return ones, others, np.inf
        beside = _across(matrix, ones) if dense else _gathered(values, to, at, ones, len(others))
        beside *= others
        _fold(two[0], beside, across)
        if not _settle(two, across, beside, others, tolerance):
            return ones, others, np.inf
        sums = _down(matrix, others) if dense else _gathered(values, at, to, others, len(ones))
        sums *= ones
        _fold(one[0], sums, down)
        # One control missed is reason enough for another cycle; after the last it has to be the worst.
        enough = tolerance if cycle < cycles - 1 else np.inf
        missed = _farthest(one, down, enough)
        if missed <= enough:
            _fold(two[0], beside, across)
            also = _farthest(two, across, enough)
            if not also <= missed:
                missed = also
        if missed <= tolerance:
            break
    return ones, others, missed


@njit(cache=True)
def _scale(cells, down, across, made):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    for row in range(len(down)):
        own, mine, by = cells[row], made[row], down[row]
        for column in range(len(across)):
            mine[column] = own[column] * by * across[column]


_NONE = (np.empty(0), np.empty(0, np.int32), np.empty(0, np.int32))


def rake(cells: Floats | ListedCells, first: Side, second: Side, cycles: int, tolerance: float) -> Factors:
    sides = [(side.widths, side.within, side.of, side.starts, side.aims) for side in (first, second)]
    if isinstance(cells, ListedCells):
        dense, matrix, held = False, np.empty((0, 0)), (cells.values, cells.first, cells.second)
    else:
        most = cells.size // _SPARSE
        filled = _filled(cells, most)
        dense, matrix, held = filled > most, cells, _NONE if filled > most else _listed(cells, filled)
    made: tuple[Floats, Floats, float] = _rake(dense, matrix, *held, *sides, cycles, tolerance)
    return Factors(*made)


def scale(cells: Floats, down: Floats, across: Floats) -> Floats:
    rest = cells.size // (len(down) * len(across))
    # Memory that numpy asks for comes in large pages; what compiled code asks for does not.
    made = np.empty(cells.shape)
    wide = across if rest == 1 else np.repeat(across, rest)
    _scale(cells.reshape(len(down), -1), down, wide, made.reshape(len(down), -1))
    return made

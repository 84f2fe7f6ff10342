"""The loops of `kernels.rake`, compiled; of a matrix that is mostly zeros only the other cells are touched."""

import numpy as np
from numba import njit

from sfumato.kernels.rake import Factors, Floats, Listed, Side

_SPARSE = 4
"""A cell in a list takes about as long as so many in a matrix."""


@njit(cache=True)
def _settle(of, starts, aims, sums, factors, tolerance):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    totals = np.empty(len(aims))
    for table in range(len(of)):
        here = of[table]
        start, end = starts[table], starts[table + 1]
        totals[start:end] = 0.0
        for place in range(len(sums)):
            totals[here[place]] += sums[place]
        for cell in range(start, end):
            total = totals[cell]
            if not np.isfinite(total) or (total == 0 and abs(aims[cell]) > tolerance):
                return False
            totals[cell] = aims[cell] / total if total != 0 else 0.0
        for place in range(len(sums)):
            factor = totals[here[place]]
            sums[place] *= factor
            factors[place] *= factor
    return True


@njit(cache=True)
def _farthest(of, aims, sums):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    totals, worst = np.zeros(len(aims)), 0.0
    for table in range(len(of)):
        for place in range(len(sums)):
            totals[of[table, place]] += sums[place]
    for cell in range(len(aims)):
        gap = abs(totals[cell] - aims[cell])
        if gap > worst or np.isnan(gap):
            worst = gap
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
    found = 0
    for row in range(len(matrix)):
        for column in range(matrix.shape[1]):
            found += matrix[row, column] != 0
        if found > most:
            break
    return found


@njit(cache=True)
def _listed(matrix, found):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
    values, first, second = np.empty(found), np.empty(found, np.int32), np.empty(found, np.int32)
    cell = 0
    for row in range(len(matrix)):
        for column in range(matrix.shape[1]):
            if matrix[row, column] != 0:
                values[cell], first[cell], second[cell] = matrix[row, column], row, column
                cell += 1
    return values, first, second


@njit(cache=True)
def _rake(dense, matrix, values, at, to, one, two, cycles, tolerance):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202, PLR0913, PLR0917
    ones, others, missed = np.ones(one[0].shape[1]), np.ones(two[0].shape[1]), np.inf
    sums = _down(matrix, others) if dense else _gathered(values, at, to, others, len(ones))
    for _ in range(cycles):
        if not _settle(one[0], one[1], one[2], sums, ones, tolerance):
            return ones, others, np.inf
        across = _across(matrix, ones) if dense else _gathered(values, to, at, ones, len(others))
        across *= others
        if not _settle(two[0], two[1], two[2], across, others, tolerance):
            return ones, others, np.inf
        sums = _down(matrix, others) if dense else _gathered(values, at, to, others, len(ones))
        sums *= ones
        missed, beside = _farthest(one[0], one[2], sums), _farthest(two[0], two[2], across)
        if beside > missed or np.isnan(beside):
            missed = beside
        if missed <= tolerance:
            break
    return ones, others, missed


_NONE = (np.empty(0), np.empty(0, np.int32), np.empty(0, np.int32))


def rake(cells: Floats | Listed, first: Side, second: Side, cycles: int, tolerance: float) -> Factors:
    sides = [(side.of, side.starts, side.aims) for side in (first, second)]
    if isinstance(cells, Listed):
        dense, matrix, held = False, np.empty((0, 0)), (cells.values, cells.first, cells.second)
    else:
        most = cells.size // _SPARSE
        found = _filled(cells, most)
        dense, matrix, held = found > most, cells, _NONE if found > most else _listed(cells, found)
    made: tuple[Floats, Floats, float] = _rake(dense, matrix, *held, *sides, cycles, tolerance)  # type: ignore[call-arg]
    return Factors(*made)

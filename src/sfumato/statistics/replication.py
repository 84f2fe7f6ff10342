"""Replication: Hadamard matrices and the factors of successive difference replication, pure mathematics of no data.

Fay and Train 1995, Ash 2014. Unit i of a sample in selection order takes rows i + 1 and i + 2 of a
Hadamard matrix whose row 0, all ones, is passed over; its weight in replicate r is multiplied by
1 + 2^(-3/2) (h[i + 1, r] - h[i + 2, r]), and the variance is 4/R times the sum of squared departures.
"""

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PlanError

Signs = NDArray[np.int8]
Floats = NDArray[np.float64]

HALF_ROOT = 2**-1.5


def hadamard(order: int) -> Signs:
    """A matrix of signs with orthogonal rows, its first row and first column all ones.

    Paley's construction where order - 1 is a prime of the form 4k + 3 (80 = 79 + 1), else Sylvester's doubling.

    >>> hadamard(4).tolist()
    [[1, 1, 1, 1], [1, -1, -1, 1], [1, 1, -1, -1], [1, -1, 1, -1]]
    >>> bool((hadamard(80).astype(int) @ hadamard(80).T == 80 * np.eye(80)).all())
    True
    """
    core = order
    while core > 1 and not (core % 4 == 0 and _prime(core - 1)):
        if core % 2:
            break
        core //= 2
    if core < 1 or (core > 1 and core % 2):
        raise PlanError(
            f"A Hadamard matrix of order {order} cannot be built here; orders are 1, a prime of the form 4k + 3 "
            "plus one, and such numbers doubled any number of times: 80 and 160 are customary."
        )
    matrix = _paley(core - 1) if core > 1 else np.ones((1, 1), dtype=np.int8)
    while len(matrix) < order:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]]).astype(np.int8)
    return matrix


def _prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))


def _paley(prime: int) -> Signs:
    """Rows of quadratic residues: row i of the core holds -1 where j = i or j - i is a square, else 1."""
    square = np.full(prime, -1, dtype=np.int8)
    square[np.arange(prime) ** 2 % prime] = 1
    place = np.arange(prime)
    matrix = np.ones((prime + 1, prime + 1), dtype=np.int8)
    matrix[1:, 1:] = -square[(place[None, :] - place[:, None]) % prime]
    return matrix


def sdr_factors(count: int, replicates: int = 80) -> Floats:
    """The factors of `count` units in selection order, one column a replicate: 1.7071, 1 or 0.2929.

    After replicates - 1 units the rows begin again, so the factors repeat. A smaller sample closes its own circle: its
    last unit takes the first unit's row, and the variance of a total is exactly half the circular sum of squares.

    >>> sdr_factors(3, 4).round(4).tolist()
    [[1.0, 0.2929, 1.0, 1.7071], [1.0, 1.7071, 0.2929, 1.0], [1.0, 1.0, 1.7071, 0.2929]]
    """
    if count < 1 or replicates < 4:
        raise PlanError(
            f"Successive difference replication of {count} units in {replicates} replicates; it needs 1 and 4 or more."
        )
    rows = hadamard(replicates)[1:]
    cycle = min(count, replicates - 1)
    place = np.arange(count)
    return 1 + HALF_ROOT * (rows[place % cycle].astype(np.float64) - rows[(place + 1) % cycle])

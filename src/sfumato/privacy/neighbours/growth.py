"""Growth: sizes that grow by alpha of themselves in a step, or by one."""

import math
from fractions import Fraction


def grown(size: int, alpha: Fraction) -> int:
    """The largest neighbour of a size.

    >>> [grown(size, Fraction(1, 10)) for size in (0, 9, 10, 19, 20)]
    [1, 10, 11, 20, 22]
    """
    return max(math.floor((1 + alpha) * size), size + 1)


def steps(size: int, alpha: Fraction) -> int:
    """How many steps it takes from 0 to a size: one by one up to 2 / alpha and less, then in proportion.

    >>> [steps(size, Fraction(1, 10)) for size in (1, 10, 100, 1_000)]
    [1, 10, 39, 64]
    """
    found, reached = 0, 0
    while reached < size:
        found, reached = found + 1, grown(reached, alpha)
    return found


def reach(size: int, alpha: Fraction) -> tuple[int, int]:
    """The sizes that look alike with a size: from the least that grows to it, to the largest that it grows to.

    >>> reach(100, Fraction(1, 10)), reach(0, Fraction(1, 10))
    ((91, 110), (0, 1))
    """
    least = max(0, min(math.ceil(size / (1 + alpha)), size - 1))
    return least, grown(size, alpha)

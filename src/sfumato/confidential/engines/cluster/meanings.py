"""Meanings: what values of columns mean, of columns with few values in one table, so that records are looked up seldom.

A table has the values of its columns as `raw0`, … by the places of these, and beside them leaves and steps.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa

MOST_COMBINED = 4096
"""The most combinations of values that one table has, as a longer one takes longer to look up in."""


@dataclass(frozen=True)
class Meanings:
    """Columns by their places, and what all combinations of their values mean."""

    columns: tuple[int, ...]
    listed: pa.Table


def combined(levels: Sequence[pa.Table], apart: Collection[int] = ()) -> list[Meanings]:
    """The columns with as few tables as may be, those with the fewest values first; some of them by themselves.

    >>> sexes, sizes = ({"raw": list(own), f"leaf{at}": [0, 1]} for at, own in enumerate(["fm", "sl"]))
    >>> (both,) = combined([pa.table(sexes), pa.table(sizes)])
    >>> both.columns, both.listed["raw1"].to_pylist(), both.listed["leaf0"].to_pylist()
    ((0, 1), ['s', 'l', 's', 'l'], [0, 0, 1, 1])
    """
    shares = [[place] for place in apart]
    joint = list[int]()
    for place in sorted(set(range(len(levels))) - set(apart), key=lambda one: len(levels[one])):
        if joint and math.prod(len(levels[one]) for one in (*joint, place)) > MOST_COMBINED:
            shares.append(joint)
            joint = []
        joint.append(place)
    return [_together(share, levels) for share in [*shares, joint] if share]


def _together(places: Sequence[int], levels: Sequence[pa.Table]) -> Meanings:
    named = [
        levels[place].rename_columns([f"raw{place}" if one == "raw" else one for one in levels[place].column_names])
        for place in places
    ]
    return Meanings(tuple(places), reduce(_crossed, named))


def _crossed(one: pa.Table, other: pa.Table) -> pa.Table:
    """Every row of one table with every row of another."""
    rows = one.take(np.repeat(np.arange(len(one)), len(other)))
    others = other.take(np.tile(np.arange(len(other)), len(one)))
    return pa.table({name: own[name] for own in (rows, others) for name in own.column_names})

"""Area trees: areas that are too small joined to their neighbours, and all areas listed with those that they lie in."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.errors import DataError
from sfumato.geography.locations import Integers, Locations


@dataclass(frozen=True)
class AreaLevel:
    """An area as lists of levels have it: its code, its label, the area that it lies in, and a note."""

    code: str
    label: str
    parent: str = ""
    note: str = ""


def joined(locations: Locations, k: int) -> Integers:
    """For each finest area the one that its units are taken with: itself, unless it has fewer than k units.

    The smallest goes first, to the area whose middle is nearest, in the same area above where there is another one.
    """
    above = [chain[1:] for chain in locations.chains]
    number = {one: place for place, one in enumerate(above)}
    beside = np.array([number[one] for one in above])
    sizes = np.bincount(locations.finest, minlength=len(above))
    sums = np.column_stack([np.bincount(locations.finest, side, len(above)) for side in locations.points.T])
    into = np.arange(len(above))
    while (small := np.flatnonzero((sizes > 0) & (sizes < k))).size:
        own = int(small[np.argmin(sizes[small])])
        others = np.flatnonzero((sizes > 0) & (np.arange(len(above)) != own))
        near = others[beside[others] == beside[own]]
        others = near if near.size else others
        apart = ((sums[others] / sizes[others, None] - sums[own] / sizes[own]) ** 2).sum(axis=1)
        to = int(others[np.argmin(apart)])
        into[into == own] = to
        sizes[to], sums[to], sizes[own] = sizes[to] + sizes[own], sums[to] + sums[own], 0
    return into


Branch = tuple[tuple[str, ...], int, str]
"""The code of a finest area and of those that it lies in, how many clusters it has, and a note."""


def listed(branches: Iterable[Branch]) -> tuple[AreaLevel, ...]:
    """All levels, each area followed by those in it; branches of one area stand together."""
    found: dict[str, AreaLevel] = {}
    for chain, count, note in branches:
        down = chain[::-1]
        for depth, code in enumerate(down):
            parent = down[depth - 1] if depth else ""
            own = AreaLevel(code, code, parent, note if depth == len(down) - 1 else "")
            if code in found and (depth == len(down) - 1 or found[code].parent != parent):
                raise DataError(f"'{code}' stands at two levels of areas; give each level codes of its own.")
            found.setdefault(code, own)
        found |= {level.code: level for level in _clusters(chain[0] if chain else "", range(1, count + 1))}
    return tuple(found.values())


def _clusters(within: str, numbers: Sequence[int]) -> list[AreaLevel]:
    digits = len(str(len(numbers)))
    codes = [f"{number:0{digits}d}" for number in numbers]
    if not within:
        return [AreaLevel(f"cluster-{code}", f"Cluster {int(code)}") for code in codes]
    return [AreaLevel(f"{within}-{code}", f"{within}, cluster {int(code)}", within) for code in codes]

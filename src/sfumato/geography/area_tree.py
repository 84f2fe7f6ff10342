"""Area trees: areas that are too small joined to their neighbours, and all areas listed with those that they lie in."""

from collections.abc import Iterable, Mapping, Sequence
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

    The smallest goes first, to the area whose middle is nearest, in the same area above where there is another one;
    else in the one above that, and where none of these has another one, anywhere.
    """
    beside = _beside(locations.chains)
    count = len(locations.chains)
    sizes = np.bincount(locations.finest, minlength=count)
    sums = np.column_stack([np.bincount(locations.finest, side, count) for side in locations.points.T])
    into = np.arange(count)
    while (small := np.flatnonzero((sizes > 0) & (sizes < k))).size:
        own = int(small[np.argmin(sizes[small])])
        every = np.flatnonzero((sizes > 0) & (np.arange(count) != own))
        near = (every[above[every] == above[own]] for above in beside)
        others = next((some for some in near if some.size), every)
        apart = ((sums[others] / sizes[others, None] - sums[own] / sizes[own]) ** 2).sum(axis=1)
        to = int(others[np.argmin(apart)])
        into[into == own] = to
        sizes[to], sums[to], sizes[own] = sizes[to] + sizes[own], sums[to] + sums[own], 0
    return into


def _beside(chains: Sequence[tuple[str, ...]]) -> list[Integers]:
    """For each level above the finest, from the lowest up, a number of the area of it that each finest area lies in."""
    found = []
    for depth in range(1, len(chains[0])):
        number = {chain[depth:]: place for place, chain in enumerate(chains)}
        found.append(np.array([number[chain[depth:]] for chain in chains]))
    return found


def told_joins(chains: Sequence[tuple[str, ...]], into: Integers, k: int) -> list[tuple[str, str]]:
    """The areas that others were joined to, and what is said there: of the finest, and of those above that end so."""
    found: dict[tuple[str, str], str] = {}
    left = {(depth, chains[to][depth]) for to in into.tolist() for depth in range(len(chains[0]))}
    for own, to in enumerate(into.tolist()):
        for depth, (code, other) in enumerate(zip(chains[own], chains[to], strict=True)):
            ends = code != other and (depth, code) not in left
            what = "is joined to" if depth == 0 else "is in no list, as its people are joined to"
            if ends:
                found[other, code] = f"{code} has fewer than {k:,} people and {what} {other}."
    return [(other, words) for (other, _), words in found.items()]


Branch = tuple[tuple[str, ...], int]
"""The code of a finest area and of those that it lies in, and how many clusters it has."""


def listed(branches: Iterable[Branch], notes: Mapping[str, str]) -> tuple[AreaLevel, ...]:
    """All levels, each area followed by those in it; branches of one area stand together."""
    found: dict[str, AreaLevel] = {}
    for chain, count in branches:
        down = chain[::-1]
        for depth, code in enumerate(down):
            parent = down[depth - 1] if depth else ""
            own = AreaLevel(code, code, parent, notes.get(code, ""))
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

"""Attributes with a hierarchy, random tables over them, and their totals summed one box at a time."""

from itertools import product

import numpy as np

from sfumato.schema import Attribute, Box, Grid, Levels
from sfumato.schema.trees import levels_of


def attributes() -> tuple[Attribute, ...]:
    tree = [{"code": "a"}, {"code": "b"}, {"code": "c"}]
    tree += [{"code": f"{top}{place}", "parent": top} for place in range(2) for top in "ab"]
    tree += [
        {"code": f"{top}{place}{leaf}", "parent": f"{top}{place}"} for leaf in "xyz" for top in "ab" for place in (0, 1)
    ]
    return (
        Attribute("job", Levels.of(tree)),
        Attribute("sex", Levels.of("fm")),
        Attribute("age", Levels.of(range(5))),
        Attribute("hours", Levels.of(range(4))),
    )


KNOWN = attributes()
SHAPE = tuple(len(one.levels.leaves) for one in KNOWN)


def one_by_one(values, grid: Grid) -> np.ndarray:
    found = [values[np.ix_(*(box.mask(one) for one in KNOWN))].sum(dtype=object) for box in grid.boxes()]
    return np.array(found, dtype=object).reshape(grid.shape)


def random_grid(rng) -> Grid:
    axes = []
    for place in rng.permutation(len(KNOWN))[: rng.integers(0, 5)]:
        one, length = KNOWN[place], SHAPE[place]
        if rng.random() < 0.3:
            groups = rng.random((rng.integers(1, 6), length)) < 0.5  # groups that overlap, and empty ones
        else:
            level = levels_of(one.levels)[rng.integers(0, len(levels_of(one.levels)))]
            groups = np.arange(level.size)[:, None] == level.of
        axes.append((one.name, groups))
    within = {one.name: rng.random(n) < 0.6 for one, n in zip(KNOWN, SHAPE, strict=True) if rng.random() < 0.3}
    return Grid(tuple(axes), Box(within))


def wholes(grid, kept):
    """For each box of a grid the wider one that only some of its axes tell."""
    for place in product(*map(range, grid.shape)):
        told = {name: groups.dense[row] for (name, groups), row in zip(grid.axes, place, strict=True) if name in kept}
        yield grid.within.within(Box(told))

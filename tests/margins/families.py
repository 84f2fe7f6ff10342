"""Families of tables over flat attributes and trees, for the tests of margin-optimal tables."""

from fractions import Fraction
from itertools import product

import numpy as np

from sfumato.mechanisms import Cells
from sfumato.privacy import Bounded, EveryTable
from sfumato.schema import Attribute, Box, Family, Levels, Schema, UpTo

ORS = (5, 4, 3, 3, 3, 2, 2, 2, 2, 2)
"""The sizes of the ten requirements of the survey."""
ONE_RECORD = Bounded(cells=1, l1=1, l2_squared=1, largest=1)
ONE_REPLACED = Bounded(cells=2, l1=2, l2_squared=2, largest=1)


def flat(*sizes: int) -> Schema:
    return Schema(tuple(Attribute(f"v{place}", Levels.of(range(size))) for place, size in enumerate(sizes)))


def family(schema: Schema, up_to: int, also: tuple[tuple[str, ...], ...] = ()) -> Family:
    return UpTo(up_to, schema.names, also).family(schema)


def tree(rng: np.random.Generator, name: str, depth: int) -> Attribute:
    """An attribute with a random tree, some of whose leaves end early, its codes in a random order."""
    codes, above = [{"code": f"{name}{place}"} for place in range(rng.integers(1, 4))], 0
    for _ in range(depth):
        here, above = codes[above:], len(codes)
        for one in here:
            codes += [{"code": f"{one['code']}.{child}", "parent": one["code"]} for child in range(rng.integers(0, 4))]
    listed = [codes[place] for place in rng.permutation(len(codes))]
    return Attribute(name, Levels.of(sorted(listed, key=lambda one: one["code"].count("."))))


def random_family(seed: int) -> Family:
    """Two to four attributes, some with a tree, in tables of up to some of them and one more at coarser levels."""
    rng = np.random.default_rng(seed)
    names = "abcd"[: rng.integers(2, 5)]
    schema = Schema(tuple(tree(rng, name, int(rng.integers(0, 3))) for name in names))
    also = (tuple(f"{name}@0" for name in names),) if rng.integers(2) else ()
    return UpTo(int(rng.integers(1, len(names) + 1)), tuple(names), also).family(schema)


def cells_of(one: Family, records: np.ndarray, move: EveryTable | None = None) -> Cells:
    """The true cells of records, each a row of leaves, counted table by table without any of our engines."""
    found = []
    for top in one.tops:
        table = np.zeros(one.shape(top), dtype=np.int64)
        for record in records:
            told = [
                tree.parts[level].of[leaf] for tree, level, leaf in zip(one.trees, top, record, strict=True) if level
            ]
            table[tuple(told)] += 1
        found.append(table.ravel())
    return Cells(one, np.concatenate(found), Fraction(1), move or EveryTable(ONE_RECORD, one))


def records_of(one: Family, count: int, rng: np.random.Generator) -> np.ndarray:
    return np.stack([rng.integers(0, len(a.levels.leaves), count) for a in one.attributes], axis=1)


def held_boxes(one: Family, rng: np.random.Generator, count: int) -> list[Box]:
    """Boxes that some table holds: parts of levels that it tells apart, in any union."""
    found = []
    for _ in range(count):
        top = one.tops[rng.integers(len(one.tops))]
        masks = {}
        for attribute, tree_, level in zip(one.attributes, one.trees, top, strict=True):
            chosen = int(rng.integers(0, level + 1))
            parts = rng.integers(0, 2, tree_.rungs[chosen].size).astype(bool) if chosen else np.ones(1, dtype=bool)
            masks[attribute.name] = parts[tree_.parts[chosen].of]
        found.append(Box(masks))
    return found


def records_in(one: Family, records: np.ndarray, box: Box) -> int:
    inside = np.ones(len(records), dtype=bool)
    for place, attribute in enumerate(one.attributes):
        inside &= box.mask(attribute)[records[:, place]]
    return int(inside.sum())


def leaf_tuples(one: Family):
    return product(*(range(len(a.levels.leaves)) for a in one.attributes))

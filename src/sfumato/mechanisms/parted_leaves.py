"""Parted leaves: of two records that are put for each other, what each attribute may have, without going through pairs.

Two records share a leaf of an attribute, or part at one level, below which each goes its own way; all that counts are
the siblings on both paths. Whatever else they have, more siblings on any level never make them less far apart
(`exchanges` has the proof), so of all pairs those are kept that no other is above on every level.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from sfumato.schema.trees import Tree

Path = tuple[int, ...]
"""How many siblings, itself among them, a part has on each level."""


@dataclass(frozen=True)
class LeafPair:
    """Two leaves that share their first levels, and the siblings of the parts that each lies in."""

    one: Path
    other: Path
    shared: int
    """How many levels they share; all where they are one leaf."""
    leaves: tuple[int, int]

    @property
    def siblings(self) -> Path:
        """The siblings on both paths, those of shared levels once."""
        return (*self.one, *self.other[self.shared :])

    @property
    def turned(self) -> "LeafPair":
        return LeafPair(self.other, self.one, self.shared, (self.leaves[1], self.leaves[0]))


@lru_cache(maxsize=256)
def same_leaf(tree: Tree) -> tuple[LeafPair, ...]:
    """Two records that share a leaf, one of those that may be dearest."""
    found = {path: LeafPair(path, path, tree.depth, (leaf, leaf)) for leaf, path in enumerate(_paths(tree))}
    return tuple(_outer(found.values()))


@lru_cache(maxsize=256)
def other_leaf(tree: Tree) -> tuple[LeafPair, ...]:
    """Two records that part at some level, of those that may be furthest apart; in either order."""
    found: list[LeafPair] = []
    for level in range(tree.depth):
        found += _outer(_parted_at(tree, level))
    turned = [pair.turned for pair in found if pair.one != pair.other]
    return (*found, *turned)


def _paths(tree: Tree) -> list[Path]:
    """The siblings on the path of every leaf."""
    counts = [rung.siblings[rung.parts.of].tolist() for rung in tree.rungs[1:]]
    return list(zip(*counts, strict=True)) if counts else [()] * tree.rungs[0].parts.of.size


def _parted_at(tree: Tree, level: int) -> Iterator[LeafPair]:
    """Two leaves of one part that are in different ones of the next level."""
    paths, parts = _paths(tree), zip(tree.parts[level].of.tolist(), tree.parts[level + 1].of.tolist(), strict=True)
    within: dict[int, dict[Path, dict[int, int]]] = {}
    for leaf, (parent, child) in enumerate(parts):
        within.setdefault(parent, {}).setdefault(paths[leaf], {}).setdefault(child, leaf)
    for ways in within.values():
        kept = _best_two(ways)
        for path, children in kept.items():
            if len(children) > 1:
                yield LeafPair(path, path, level, tuple(list(children.values())[:2]))  # type: ignore[arg-type]
        for one, other in combinations(kept, 2):
            pair = next(((a, b) for c, a in kept[one].items() for d, b in kept[other].items() if c != d), None)
            if pair is not None:
                yield LeafPair(one, other, level, pair)


def _best_two(ways: dict[Path, dict[int, int]]) -> dict[Path, dict[int, int]]:
    """The paths of a part that fewer than two of its children surpass: another may have taken one of these.

    Of every path two children are enough, as one of them is not the other leaf's.
    """
    found: dict[Path, dict[int, int]] = {}
    for path in sorted(ways, key=sum, reverse=True):
        above = {child for other, children in found.items() if _above(other, path) for child in children}
        if len(above) < 2:
            found[path] = dict(list(ways[path].items())[:2])
    return found


def _above(one: Path, other: Path) -> bool:
    return all(first >= second for first, second in zip(one, other, strict=True))


def _outer(pairs: Iterable[LeafPair]) -> list[LeafPair]:
    """The pairs that no other is above on every level, on both paths in either order."""
    listed = {tuple(sorted((pair.siblings, pair.turned.siblings))): pair for pair in pairs}.values()
    found: list[LeafPair] = []
    for pair in sorted(listed, key=lambda one: (sum(one.siblings), one.siblings), reverse=True):
        if not any(_above(one, pair.siblings) for kept in found for one in (kept.siblings, kept.turned.siblings)):
            found.append(pair)
    return found

"""Nodes: every part of an attribute's hierarchy, each once, however many codes name the same leaves."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.schema.attributes import Attribute
from sfumato.schema.trees import Rung, Tree, levels_of

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Nodes:
    """The whole, which is node 0, and the parts of every level; a part that is no smaller than the one above is that.

    >>> from sfumato.schema.levels import Levels
    >>> trade = Attribute("trade", Levels.of(["1", {"code": "11", "parent": "1"}, {"code": "12", "parent": "1"}, "2"]))
    >>> nodes = Nodes(trade)
    >>> nodes.codes, nodes.parents.tolist(), nodes.within(np.array([False, True, True])).tolist()
    ((None, '1', '2', '11', '12'), [-1, 0, 0, 1, 1], [2, 4])
    """

    attribute: Attribute

    @cached_property
    def _rungs(self) -> tuple[Rung, ...]:
        return Tree(tuple(levels_of(self.attribute.levels))).rungs

    @cached_property
    def _new(self) -> tuple[NDArray[np.bool_], ...]:
        """Which parts of each level are smaller than the one above that they lie in."""
        return (np.ones(1, dtype=bool), *(rung.siblings > 1 for rung in self._rungs[1:]))

    @cached_property
    def at(self) -> tuple[Places, ...]:
        """For each level the node that each of its parts is."""
        found, known = [np.zeros(1, dtype=np.intp)], 1
        for rung, new in zip(self._rungs[1:], self._new[1:], strict=True):
            found.append(np.where(new, known + np.cumsum(new) - 1, found[-1][rung.parents]))
            known += int(new.sum())
        return tuple(found)

    def of_leaves(self, level: int) -> Places:
        """The node of a level that each leaf lies in."""
        return self.at[level][self._rungs[level].parts.of]

    def first(self, level: int) -> Places:
        """One leaf of each part of a level."""
        return self._rungs[level].parts.one

    @property
    def size(self) -> int:
        return len(self.level)

    @cached_property
    def level(self) -> Places:
        """The coarsest level of the tree that each node is a part of."""
        return np.concatenate([np.full(int(new.sum()), at, dtype=np.intp) for at, new in enumerate(self._new)])

    @cached_property
    def parents(self) -> Places:
        """The node that each lies in; -1 of the whole."""
        pairs = zip(self._rungs[1:], self.at, self._new[1:], strict=False)
        return np.concatenate(
            [np.array([-1], dtype=np.intp), *(above[rung.parents][new] for rung, above, new in pairs)]
        )

    @cached_property
    def splits(self) -> Places:
        """The level at which each node falls into others; 0 of one that never does."""
        found = np.zeros(self.size, dtype=np.intp)
        found[self.parents[1:]] = self.level[1:]
        return found

    @cached_property
    def codes(self) -> tuple[str | None, ...]:
        """The code of each node, the coarsest where several name the same leaves; the whole has none."""
        found: list[str | None] = [None]
        for rung, new in zip(self._rungs[1:], self._new[1:], strict=True):
            cuts = (self.attribute.levels.cut(depth) for depth in range(self.attribute.levels.depth + 1))
            leaves = next(cut.leaves for cut in cuts if len(cut.leaves) == rung.size)
            found += [code for code, kept in zip(leaves, new.tolist(), strict=True) if kept]
        return tuple(found)

    @cached_property
    def node(self) -> dict[str, int]:
        """The node of each code, whichever of those it is that name the same leaves."""
        levels = self.attribute.levels
        places = {code: self.within(levels.mask(code)) for code in levels.codes}
        return {code: int(found[0]) for code, found in places.items()}

    def within(self, mask: NDArray[np.bool_]) -> Places:
        """The fewest nodes that some leaves are; none where there are no leaves."""
        left, found = mask.copy(), []
        for rung, nodes in zip(self._rungs, self.at, strict=True):
            of = rung.parts.of
            full = np.bincount(of, left, rung.size) == np.bincount(of)
            if full.any():
                found.append(nodes[full])
                left &= ~full[of]
        return np.concatenate(found) if found else np.zeros(0, dtype=np.intp)

"""Tables: a set of tables as one domain, their cells one after the other, told apart by which table they are of.

A cell lies in a box if the box holds its table, its leaf of every attribute of that table, and all leaves of those that
the table does not tell. So boxes are sets of cells here as in one table, and what two boxes share is what lies in both.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.schema.attributes import Attribute, Rule
from sfumato.schema.boxes import Box, Grid
from sfumato.schema.domain import Domain
from sfumato.schema.levels import Levels
from sfumato.schema.table import Table

WHICH = "table"


@dataclass(frozen=True, eq=False)
class Tables(Domain):
    """Some tables, the attribute `table` saying which of them a cell is of: 0, 1 and so on."""

    register: ClassVar[bool] = False
    members: tuple[Table, ...]
    attributes: tuple[Attribute, ...] = field(init=False)
    impossible: tuple[Rule, ...] = ()

    def __post_init__(self) -> None:
        told = {one.name: one for member in self.members for one in member.attributes}
        which = Attribute(WHICH, Levels.of(range(len(self.members))))
        object.__setattr__(self, "attributes", (which, *told.values()))

    @property
    def size(self) -> int:
        return sum(member.size for member in self.members)

    @property
    def possible(self) -> NDArray[np.bool_]:
        return np.concatenate([member.possible.ravel() for member in self.members])

    def counts(self, grid: Grid) -> NDArray[np.int64]:
        return self._summed(grid, lambda member, _, part: member.counts(part))

    def totals(self, column: NDArray[Any], grid: Grid) -> NDArray[Any]:
        return self._summed(grid, lambda member, cells, part: member.totals(column[cells], part))

    def common(
        self, ones: list[Box], others: list[Box], column: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        found = np.zeros((len(ones), len(others)))
        for place, member, cells in self._parts():
            first, second = ([_holds(member, place, box) for box in boxes] for boxes in (ones, others))
            part = None if column is None else column[cells]
            found += np.outer(first, second) * member.common(ones, others, part)
        return found

    def _parts(self) -> Iterator[tuple[int, Table, slice]]:
        ends = np.cumsum([0, *(member.size for member in self.members)]).tolist()
        for place, member in enumerate(self.members):
            yield place, member, slice(ends[place], ends[place + 1])

    def _summed(self, grid: Grid, of: Callable[[Table, slice, Grid], NDArray[Any]]) -> NDArray[Any]:
        """The sums over the members of what each has in the boxes of a grid, where they hold its cells at all."""
        found: Any = 0
        for place, member, cells in self._parts():
            axes = tuple(axis for axis in grid.axes if axis[0] in member.names)
            shape = [len(groups) if name in member.names else 1 for name, groups in grid.axes]
            held = np.reshape([_holds(member, place, box) for box in grid.boxes()], grid.shape)
            found = found + held * of(member, cells, Grid(axes, grid.within)).reshape(shape)
        return np.asarray(found)


def _holds(member: Table, place: int, box: Box) -> bool:
    """Whether a box holds a member, and all leaves of what it does not tell."""
    others = [(name, mask) for name, mask in box.masks.items() if name not in member.names]
    return all(mask[place] if name == WHICH else mask.all() for name, mask in others)

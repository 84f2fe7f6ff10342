"""Engine: whatever reads the microdata once and gives whole numbers over cells; a file in this folder is one."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.engines.request import Fault, Reading
from sfumato.schema import Aggregate, Box, Table

Columns = Mapping[Aggregate, Any]
Sources = Sequence[Any] | Mapping[str, Sequence[Any]]
"""Where the records are: files, tables and frames; of a plan with joined tables, those of each by its name."""

MOST_LISTED = 10
"""How many offending values are listed."""


class Unsure(Exception):  # noqa: N818 - it is no error, another engine reads on
    """An engine declines data, for a reason that names no value of theirs; another one reads them from the start."""


class Engine(ABC):
    """One reading of the sources, in which no rule is broken, or which names those that are.

    All engines give the same cells: a record becomes leaves and whole steps as the plan says, and of a crowded unit the
    rows of `crowded` are kept. `knows` are the aggregates that it runs; whose `turn` is least is asked first.
    """

    name: ClassVar[str]
    turn: ClassVar[int]
    knows: ClassVar[frozenset[type[Aggregate]]]
    afar: ClassVar[bool] = False
    """Whether it reads what stays in a cluster, which no other engine may fetch."""
    ahead: ClassVar[bool] = False
    """Whether its cells are had before a charge, as what it reads them from may fail."""
    in_passing: ClassVar[bool] = False
    """Whether it counts one table as records are read, and holds none of them."""
    reading: Reading
    stated: tuple[str, ...] = ()
    """What is to be said of the place where the records are: who else may see numbers of theirs."""
    rows: int | None = None
    """How many records it read, if it says so: data without any are refused before the charge."""

    @abstractmethod
    def __init__(self, sources: Sources, reading: Reading, salt: bytes) -> None:
        """Read the sources, or raise `Unsure`; which rows of crowded units are kept depends on the salt."""

    @property
    def described(self) -> str:
        """Which it is, where the reading is told of."""
        return self.name

    @abstractmethod
    def faults(self) -> list[Fault]:
        """The rules that the data break, none of them with a value; there are none where such data are declined."""

    @abstractmethod
    def examples(self, fault: Fault) -> list[tuple[str | None, int]]:
        """The commonest offending values and how many records have each: confidential."""

    def broken(self, fault: Fault) -> int | None:  # noqa: ARG002 - where it does not count them
        """How many records break a rule."""
        return None

    def offending(self, fault: Fault, turn: int, turns: int) -> list[tuple[str | None, int]]:  # noqa: ARG002 - so too
        """All offending values that have a turn, by their hash, and how many records have each: confidential."""
        return []

    def crowds(self, column: str, at_most: int, most: int = MOST_LISTED) -> tuple[int, list[tuple[str, int]]]:  # noqa: ARG002 - where it does not
        """How many records are of names that stand in more than so many, and `most` of those in most: confidential."""
        return 0, []

    @abstractmethod
    def aggregate(self, table: Table, aggregates: Sequence[Aggregate], universe: Box) -> Columns:
        """The aggregates of every cell of a table, empty ones included, over the records in a universe."""

    @abstractmethod
    def occupied(
        self, table: Table, aggregates: Sequence[Aggregate], universe: Box
    ) -> tuple[NDArray[np.int64], Columns]:
        """The places of the cells that hold records of a universe, rising, and the aggregates of these cells alone."""

    @abstractmethod
    def reports(self, aggregates: Sequence[Aggregate]) -> Columns:
        """The aggregates of every unit of the register, in its order; 0 of one that did not report."""

    @abstractmethod
    def close(self) -> None:
        """Forget all that was read."""

"""Statistic: what is computed in a cell, and how far one unit can move it."""

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import ClassVar

from sfumato.privacy import Hidden, Move
from sfumato.schema import Aggregate, Table


class Statistic(ABC):
    """What is computed in a cell; it knows neighbours and no mechanism."""

    name: ClassVar[str]
    additive: ClassVar[bool] = True
    step: Fraction
    unit: str

    @property
    @abstractmethod
    def aggregates(self) -> tuple[Aggregate, ...]:
        """What an engine must compute for it."""

    @abstractmethod
    def move(self, hidden: Hidden, table: Table) -> Move:
        """How far its cells can go between neighbours; PromiseError names the bound that is missing."""

    @property
    def note(self) -> str:
        """What a reader must know of how values were counted, as one sentence."""
        return ""

    @property
    @abstractmethod
    def title(self) -> str:
        """What its numbers are, in a reader's words."""

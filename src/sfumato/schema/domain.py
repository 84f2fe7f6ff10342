"""Domain: what the numbers of a measure stand for, whether cells of a table or rows of a register."""

from typing import Protocol

from sfumato.schema.attributes import Attribute
from sfumato.schema.table import Box


class Domain(Protocol):
    """So many cells, described by attributes; a register's are units that everybody may know of."""

    @property
    def register(self) -> bool:
        """Whether which units there are, and what its attributes say of each, is public."""

    @property
    def size(self) -> int: ...

    @property
    def attributes(self) -> tuple[Attribute, ...]: ...

    @property
    def names(self) -> tuple[str, ...]: ...

    def attribute(self, name: str) -> Attribute: ...

    def count(self, box: Box) -> int:
        """How many cells lie in a box."""

"""Level: an attribute at a depth of its hierarchy, as in `naics@3`, in tables, frames and controls alike."""

from dataclasses import dataclass, replace

from sfumato.errors import PlanError
from sfumato.schema.attributes import Attribute


@dataclass(frozen=True)
class Level:
    """The name of an attribute and a depth, 0 at the top; without a depth its lowest levels.

    >>> Level.read("naics@3"), str(Level("county")), Level("naics", 3).column
    (Level(name='naics', depth=3), 'county', 'naics_3')
    """

    name: str
    depth: int | None = None

    @classmethod
    def read(cls, written: str) -> "Level":
        name, at, depth = written.partition("@")
        if at and not (depth.isascii() and depth.isdigit() and len(depth) < 10):
            raise PlanError(f"'{written}': after @ stands a depth of {name}, 0 at the top.")
        return cls(name, int(depth) if at else None)

    def __str__(self) -> str:
        return self.name if self.depth is None else f"{self.name}@{self.depth}"

    @property
    def column(self) -> str:
        """What its column is called in the file of a product."""
        return self.name if self.depth is None else f"{self.name}_{self.depth}"

    def of(self, attribute: Attribute) -> Attribute:
        """The attribute, cut off at the depth; as it is where nothing is below that."""
        levels = attribute.levels.cut(self.depth)
        return attribute if levels is attribute.levels else replace(attribute, levels=levels, depth=self.depth)

    def within(self, attribute: Attribute) -> "Level":
        """The same, without a depth where that is the lowest one; a depth that is not there is refused."""
        if self.depth is not None and self.depth > attribute.levels.depth:
            raise PlanError(f"'{self}': {self.name} has levels @0 to @{attribute.levels.depth}, the top one first.")
        return Level(self.name) if self.depth == attribute.levels.depth else self

    def sums(self, other: "Level") -> bool:
        """Whether it is the same attribute as another, at the same depth or a coarser one."""
        return self.name == other.name and (
            other.depth is None or (self.depth is not None and self.depth <= other.depth)
        )


By = tuple[Level, ...]


def lacking(coarse: By, fine: By) -> By:
    """The levels that a finer table does not tell apart, so that a coarser one is no sum of it.

    >>> [str(one) for one in lacking((Level("area", 0), Level("sex")), (Level("area"), Level("age")))]
    ['sex']
    """
    return tuple(one for one in coarse if not any(one.sums(other) for other in fine))

"""Reading: what an engine is asked to read of the microdata, and the faults that it may find in them."""

from dataclasses import dataclass

from sfumato.schema import Attribute, Schema, Sum


@dataclass(frozen=True)
class Reading:
    """The attributes, sums, unit and key that a plan needs; known before any data are opened."""

    schema: Schema
    attributes: tuple[Attribute, ...]
    sums: tuple[Sum, ...]
    id: str | None
    at_most: int

    @property
    def columns(self) -> list[str]:
        """The columns of the microdata that are read, each once."""
        named = [attribute.column for attribute in self.attributes] + [one.column for one in self.sums]
        named += [name for name in (self.id, self.schema.key) if name]
        return list(dict.fromkeys(named))


@dataclass(frozen=True)
class Fault:
    """A column and the rule that some of its values break; the values stay with the engine."""

    column: str
    rule: str
    query: str = ""

    def __str__(self) -> str:
        return f"Column '{self.column}': {self.rule}"

"""Axis: one attribute laid out as the rows or columns of a table, at any level of its hierarchy."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import QueryError, nearest
from sfumato.schema import Attribute

Choice = int | str | Sequence[str | int]
"""Which levels an axis shows: a depth (0, or "@0", is the top), "leaves", "all", or codes or labels."""


@dataclass(frozen=True, eq=False)
class Axis:
    """An attribute and the codes shown of it."""

    attribute: Attribute
    codes: tuple[str, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.attribute.levels.label(code) for code in self.codes)

    @property
    def groups(self) -> NDArray[np.bool_]:
        """For each code the leaves under it."""
        return np.stack([self.attribute.levels.mask(code) for code in self.codes])

    def place(self, name: str | int) -> int:
        """Where a code or label stands on the axis."""
        try:
            code = self.attribute.levels.find(name)
        except KeyError as error:
            raise QueryError(f"{self.attribute.label}: {error.args[0]}") from None
        if code not in self.codes:
            raise QueryError(
                f"{self.attribute.label}: '{name}' is not shown in this table; {nearest(str(name), self.labels)}"
            )
        return self.codes.index(code)


def axis(attribute: Attribute, choice: Choice | None) -> Axis:
    """The axis of an attribute; without a choice the top of its hierarchy."""
    return Axis(attribute, _codes(attribute, 0 if choice is None else choice))


def _codes(attribute: Attribute, choice: Choice) -> tuple[str, ...]:
    levels = attribute.levels
    if isinstance(choice, str) and choice[:1] == "@" and choice[1:].isdigit():
        choice = int(choice[1:])
    if isinstance(choice, int):
        if not 0 <= choice <= levels.depth:
            raise QueryError(f"{attribute.label} has levels 0 to {levels.depth}; {choice} was asked for.")
        return levels.at(choice)
    if choice == "leaves":
        return levels.leaves
    if choice == "all":
        return levels.codes
    wanted = [choice] if isinstance(choice, str) else list(choice)
    try:
        return tuple(dict.fromkeys(levels.find(name) for name in wanted))
    except KeyError as error:
        raise QueryError(f"{attribute.label}: {error.args[0]}") from None

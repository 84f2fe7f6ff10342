"""CodeList: the codes of a variable that have a name together: one level of the hierarchy, the leaves, or all."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from sfumato.errors import QueryError, nearest
from sfumato.schema import Levels
from sfumato.serve.address_parameters import shortened


@dataclass(frozen=True)
class CodeList(Sequence[str]):
    """A named list, of which single codes are looked up without going through all of a long one.

    >>> towns = CodeList(Levels.of(["b", "a", {"code": "b1", "parent": "b"}, {"code": "a1", "parent": "a"}]), "all")
    >>> towns.in_order(["a", "b1", "b"]), "a" in towns, "c" in towns
    (('b', 'b1', 'a'), True, False)
    """

    levels: Levels
    name: str

    def __post_init__(self) -> None:
        if self.name not in (known := code_lists(self.levels)):
            asked = shortened(self.name)
            raise QueryError(f"There is no code list '{asked}'; {nearest(asked, known)}")

    @property
    def codes(self) -> tuple[str, ...]:
        """All of them: each under its parent where all levels are listed."""
        if self.name == "all":
            return self.levels.branches
        return self.levels.leaves if self.name == "leaves" else self.levels.at(self._depth)

    def __contains__(self, code: object) -> bool:
        if not isinstance(code, str) or not self.levels.has(code):
            return False
        return self.name == "all" or self.levels.is_at(code, self._depth)

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[str]:
        return iter(self.codes)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        return self.codes[place]

    def in_order(self, codes: Iterable[str]) -> tuple[str, ...]:
        """Some of its codes, each once, in the order of the list."""
        turn = self.levels.branch_turn if self.name == "all" else self.levels.turn
        return tuple(sorted(set(codes), key=turn))

    @property
    def _depth(self) -> int:
        return self.levels.depth if self.name == "leaves" else int(self.name.removeprefix("level"))


def code_list(levels: Levels, name: str) -> tuple[str, ...]:
    """The codes of a named list: one level of the hierarchy, the leaves, or all, each under its parent."""
    return CodeList(levels, name).codes


def code_lists(levels: Levels) -> dict[str, str]:
    """The code lists of a hierarchy and what people call them."""
    steps = {f"level{depth}": f"level {depth + 1}" for depth in range(1, levels.depth)}
    return {"level0": "top level"} | steps | {"leaves": "lowest level", "all": "all levels"}

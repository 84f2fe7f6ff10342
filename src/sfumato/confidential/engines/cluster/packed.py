"""Packed: several whole numbers of known extents in one of 64 bits, as a row that is moved costs by its length."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

ROOM = 2**62
"""How many values a number has for the columns in it."""
TEXTS = 4096
"""How many small numbers, from 0, are written beforehand."""


@dataclass(frozen=True)
class Packed:
    """Columns by their least values and how many they may have; each stands in a number as its distance to the least.

    >>> both = Packed({"leaf0": (0, 50), "value0": (-9, 20)})
    >>> both.numbers
    {'packed0': '((0L * 50L + (leaf0 - 0L)) * 20L + (value0 - -9L))'}
    >>> both.columns
    {'leaf0': '((packed0 div 20L) % 50L + 0L)', 'value0': '((packed0 div 1L) % 20L + -9L)'}
    """

    extents: Mapping[str, tuple[int, int]]

    @cached_property
    def _shares(self) -> list[list[str]]:
        """Which columns share a number: as many as have room in it, in their order."""
        shares, taken = list[list[str]](), 1
        for name, (_, many) in self.extents.items():
            if not shares or taken * many > ROOM:
                shares.append([])
                taken = 1
            shares[-1].append(name)
            taken *= many
        return shares

    @property
    def numbers(self) -> dict[str, str]:
        """The numbers, by what they are called, as terms of the columns; null where one of its columns is."""
        found = {}
        for place, names in enumerate(self._shares):
            term = "0L"
            for name in names:
                least, many = self.extents[name]
                term = f"({term} * {many}L + ({name} - {least}L))"
            found[f"packed{place}"] = term
        return found

    def cut(self, first: Collection[str]) -> dict[str, str]:
        """The numbers of the first columns alone, as terms of those of all; it is what these give packed alone.

        >>> Packed({"leaf0": (0, 50), "value0": (-9, 20)}).cut(["leaf0"])
        {'packed0': '(packed0 div 20L)'}
        """
        shares = {place: names for place, names in enumerate(self._shares) if names[0] in first}
        behind = {place: [self.extents[one][1] for one in names if one not in first] for place, names in shares.items()}
        return {f"packed{place}": f"(packed{place} div {math.prod(many)}L)" for place, many in behind.items()}

    def written(self, name: str) -> str:
        """A column as a text of the numbers: looked up in `texts` where it is small, as writing numbers takes longer.

        >>> both = Packed({"leaf0": (0, 50), "value0": (-9, 20)})
        >>> both.written("leaf0")
        'texts[((packed0 div 20L) % 50L + 0L)]'
        >>> both.written("value0"), both.written("value1")
        ('CAST(((packed0 div 1L) % 20L + -9L) AS STRING)', 'CAST(value1 AS STRING)')
        """
        least, many = self.extents.get(name, (-1, 0))
        term = self.columns.get(name, name)
        return f"texts[{term}]" if least >= 0 and least + many <= TEXTS else f"CAST({term} AS STRING)"

    @property
    def columns(self) -> dict[str, str]:
        """The columns as terms of the numbers."""
        found = {}
        for place, names in enumerate(self._shares):
            below = 1
            for name in reversed(names):
                least, many = self.extents[name]
                found[name] = f"((packed{place} div {below}L) % {many}L + {least}L)"
                below *= many
        return {name: found[name] for name in self.extents}

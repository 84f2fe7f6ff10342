"""Code pairs: codes of a variable as few and short parameters of an address."""

from collections.abc import Sequence

from sfumato.schema import Levels

ALL = "*"
_APART = frozenset(",[]()")
"""The signs of a code that stands in a parameter of its own, as an address parts codes at them."""


def code_pairs(key: str, codes: Sequence[str], levels: Levels, start: str = "") -> list[tuple[str, str]]:
    """Codes as few parameters: a star for all of them, else parted by commas, unless that could be read otherwise.

    >>> code_pairs("sum[place]", ["N", "S"], Levels.of(["N", "S", "W"]))
    [('sum[place]', 'N,S')]
    >>> code_pairs("sum[place]", ["N", "S"], Levels.of(["N", "S"]))
    [('sum[place]', '*')]
    >>> code_pairs("sum[place]", ["N", "S"], Levels.of(["N", "S", "N,S"]))
    [('sum[place]', 'N'), ('sum[place]', 'S')]
    """
    if len(codes) > 1 and len(codes) == len(levels.codes) and set(codes) == set(levels.codes):
        return [(key, start + ALL)]
    return listed_pairs(key, codes, levels, start)


def listed_pairs(key: str, codes: Sequence[str], levels: Levels, start: str = "") -> list[tuple[str, str]]:
    """The same with every code named, as all periods of today are not all of tomorrow."""
    together = ",".join(codes)
    if len(codes) > 1 and _APART.isdisjoint("".join(codes)) and not levels.has(together):
        return [(key, start + together)]
    return [(key, start + code) for code in codes]

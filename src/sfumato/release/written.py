"""Written: JSON that anybody may have written, bounded before anything is computed with it."""

import json
from typing import Any

from sfumato.errors import ReleaseError

MOST_BYTES = 2**27
"""The most that a manifest may hold."""
DEEPEST = 48
"""How far lists and tables may stand within one another."""
LARGEST_NUMBER = 1e60
"""No count, amount or variance is larger, and squares of numbers below it can still be computed with."""
_LONGEST = 40


def read_json(written: bytes) -> Any:
    """What some bytes mean; what is too deep, no number that can be meant, or no text is a ValueError in words.

    >>> read_json(b'{"b": 612.5}')
    {'b': 612.5}
    >>> read_json(b"[1e308]")
    Traceback (most recent call last):
    ...
    ValueError: it states the number 1e308, which none can be
    """
    if len(written) > MOST_BYTES:
        raise ValueError(f"it is {len(written):,} bytes, more than {MOST_BYTES:,}")
    try:
        found = json.loads(written, parse_float=_float, parse_int=_integer, parse_constant=_refused)
    except RecursionError:
        raise ValueError("its lists stand too deep within one another") from None
    _refuse_deep(found)
    return found


def _refused(written: str) -> Any:
    raise ValueError(f"it states the number {written[:_LONGEST]}, which none can be")


def _float(written: str) -> float:
    found = float(written)
    return found if abs(found) <= LARGEST_NUMBER else float(_refused(written))


def _integer(written: str) -> int:
    return int(written) if len(written) <= _LONGEST else int(_refused(written))


def _refuse_deep(found: Any) -> None:
    """A walk without recursion: over every text too, as half of a pair of surrogates can be neither shown nor sent."""
    waiting = [(found, 1)]
    while waiting:
        part, depth = waiting.pop()
        if depth > DEEPEST:
            raise ValueError("its lists stand too deep within one another")
        inside = [*part, *part.values()] if isinstance(part, dict) else part if isinstance(part, list) else ()
        for one in (part, *inside):
            if isinstance(one, str) and not one.isascii() and any("\ud800" <= letter <= "\udfff" for letter in one):
                raise ValueError(f"its text {one[:_LONGEST]!a} is not Unicode")
        waiting += [(one, depth + 1) for one in inside if isinstance(one, (dict, list))]


def number(written: object, least: float = -LARGEST_NUMBER, most: float = LARGEST_NUMBER) -> float:
    """A number between bounds as a manifest states it; what none can be is refused before it is computed with.

    >>> number(2)
    2.0
    """
    if isinstance(written, bool) or not isinstance(written, (int, float)) or not least <= written <= most:
        raise ReleaseError(
            f"The manifest states {str(written)[:_LONGEST]!r} where a number from {least:g} to {most:g} stands, "
            "which none can be; it was edited, or is not one of ours."
        )
    return float(written)

"""Expressions: the codes that PxWebApi's ways to write a choice mean: 29*, ??, top(3), from(x), range(a,b)."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import translate
from functools import lru_cache

from sfumato.errors import QueryError, nearest

_FUNCTION = re.compile(r"(top|bottom|from|to|range)\((.*)\)", re.IGNORECASE | re.DOTALL)
_SIGNS = re.compile(r"[*?(]")
_MOST_SIGNS = 200
FEW_EXPRESSIONS, MOST_TRIED = 10, 200_000
"""So many expressions are always read; more as long as they compare no more codes than this."""


def chosen(known: Sequence[str], given: Sequence[str], *, split: bool = True) -> tuple[str, ...]:
    """The codes that are meant, in the order asked; a plain word stays as it is, so that who looks it up can say so.

    Whether a code is among those known is asked of them, so that a long list may know without going through all.

    >>> chosen(["29-0", "29-1", "35-0"], ["29*,35-0"]), chosen(["a", "b", "c"], ["[range(b,c)]"])
    (('29-0', '29-1', '35-0'), ('b', 'c'))
    """
    parts: dict[str, None] = {}
    for written in dict.fromkeys(given):
        whole = not split or written in known
        parts |= dict.fromkeys([written] if whole else _split(written))
    _refuse_many(known, parts)
    found: dict[str, None] = {}
    for part in parts:
        found |= dict.fromkeys([part] if part in known else _meant(known, part))
    return tuple(found)


def _refuse_many(known: Sequence[str], parts: Iterable[str]) -> None:
    """Stop where all codes of a list would be gone through for very many expressions."""
    if len(_SIGNS.findall(" ".join(parts))) <= FEW_EXPRESSIONS:
        return
    count = sum(1 for part in parts if part not in known and _SIGNS.search(part))
    most = max(FEW_EXPRESSIONS, MOST_TRIED // max(len(known), 1))
    if count > most:
        raise QueryError(f"{count:,} expressions were given, such as 29*; at most {most:,} are read: name codes.")


def _split(written: str) -> list[str]:
    """The parts between commas; a comma within brackets parts nothing."""
    parts, depth = [""], 0
    for sign in written:
        depth = max(0, depth + (sign in "[(") - (sign in ")]"))
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    trimmed = [part.strip() for part in parts]
    return [part[1:-1].strip() if part[:1] == "[" and part[-1:] == "]" else part for part in trimmed if part]


def _meant(known: Sequence[str], part: str) -> list[str]:
    function = _FUNCTION.fullmatch(part) if len(part) <= _MOST_SIGNS else None
    if function:
        return _from_function(known, function[1].lower(), [one.strip() for one in function[2].split(",")])
    if part == "*":
        return list(known)
    if ("*" in part or "?" in part) and len(part) <= _MOST_SIGNS:
        matched = [code for code in known if fits(code, part)]
        if not matched:
            some = f"Codes are, for example, {', '.join(known[:3])}."
            raise QueryError(f"'{part}' fits no code; a * stands for any characters, a ? for one. {some}")
        return matched
    return [part]


def _from_function(known: Sequence[str], name: str, given: list[str]) -> list[str]:
    if name in {"top", "bottom"}:
        count, offset = _counts(name, given)
        kept = known[: len(known) - offset] if name == "top" else known[offset:]
        return list(kept[-count:] if name == "top" else kept[:count])
    wanted = 2 if name == "range" else 1
    if len(given) != wanted:
        raise QueryError(f"{name}() takes {wanted} code{'s' if wanted > 1 else ''}; {len(given)} were given.")
    places = [_place(known, code) for code in given]
    if name == "range":
        return list(known[places[0] : places[1] + 1])
    return list(known[places[0] :] if name == "from" else known[: places[0] + 1])


def _counts(name: str, given: list[str]) -> tuple[int, int]:
    numbers = [int(one) for one in given if one.isascii() and one.isdigit() and len(one) < 10]
    if len(numbers) != len(given) or len(given) not in {1, 2} or numbers[0] < 1:
        raise QueryError(
            f"{name}() takes a number from 1 and, if wanted, how many to skip, as in {name}(3) or {name}(3,1)."
        )
    return numbers[0], numbers[1] if len(numbers) > 1 else 0


def _place(known: Sequence[str], code: str) -> int:
    if code not in known:
        raise QueryError(f"'{code}' is not a code of this list; {nearest(code, known)}")
    return tuple(known).index(code)


def fits(code: str, pattern: str) -> bool:
    """Whether a code fits a pattern of * and ?; brackets stand for themselves.

    >>> [fits("29-1141", one) for one in ("29*", "*41", "29-????", "?", "*-*")]
    [True, True, True, False, True]
    """
    return _compiled(pattern).match(code) is not None


@lru_cache(maxsize=64)  # fnmatch would keep 32,768 patterns, whoever wrote them
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern.replace("[", "[[]")))

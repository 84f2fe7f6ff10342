"""Parameters: what stands in the query string of an address, by name; nothing of it is ignored."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from sfumato.errors import QueryError, nearest

Codes = Mapping[str, tuple[str, ...]]
Pairs = Sequence[tuple[str, str]]
_KEY = re.compile(r"([^\[\]]*)(?:\[([^\[\]]*)\])?")
_LONGEST_NAME = 200


@dataclass(frozen=True)
class Parameters:
    """The parameters of an address: plain ones, and those of one variable as in `sum[sex]=female`."""

    plain: Mapping[str, tuple[str, ...]]
    of_variable: Mapping[str, Codes]

    @classmethod
    def read(cls, pairs: Pairs, plain: Sequence[str], of_variable: Sequence[str]) -> "Parameters":
        """Sort the pairs by name; upper and lower case count the same, an unknown name answers with the nearest."""
        singles: dict[str, tuple[str, ...]] = {}
        named: dict[str, dict[str, tuple[str, ...]]] = {name: {} for name in of_variable}
        for key, value in pairs:
            if len(key) > _LONGEST_NAME:
                raise QueryError(
                    f"There is no parameter '{shortened(key)}' here; {nearest('', [*plain, *of_variable])}"
                )
            found = _KEY.fullmatch(key)
            variable = found[2] if found else None
            name = _known(key, found[1] if found else key, plain if variable is None else of_variable)
            place = singles if variable is None else named[name]
            at = name if variable is None else variable
            place[at] = (*place.get(at, ()), value)
        return cls(singles, named)

    def one(self, name: str, default: str, known: Sequence[str]) -> str:
        """The last value of a plain parameter, which must be one of the known ones."""
        value = self.plain.get(name, (default,))[-1] or default
        if value not in known:
            raise QueryError(f"{name} is '{shortened(value)}'; {nearest(shortened(value), known)}")
        return value

    def whole(self, name: str, default: int, most: int) -> int:
        """The last value of a plain parameter, which must be a whole number from 1 on."""
        written = self.plain.get(name, (str(default),))[-1]
        if not (written.isascii() and written.isdigit() and len(written) < 10 and 1 <= int(written) <= most):
            raise QueryError(f"{name} is '{written[:100]}'; it is a whole number from 1 to {most:,}.")
        return int(written)


def unknown(given: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """The parameters that mean nothing, each once, with the known one that it is nearest to.

    >>> unknown(["rows", "sotr", "utm_source"], ["rows", "sort"])
    ('sotr (sort?)', 'utm_source')
    """
    lower = {one.lower() for one in known}
    names = dict.fromkeys(shortened(one) for one in given if one.partition("[")[0].lower() not in lower)
    near = {one: get_close_matches(one.partition("[")[0], known, n=1) for one in names}
    return tuple(f"{one} ({found[0]}?)" if found else one for one, found in near.items())


def _known(key: str, name: str, known: Sequence[str]) -> str:
    for one in known:
        if one.lower() == name.lower():
            return one
    raise QueryError(f"There is no parameter '{key}' here; {nearest(name, known)}")


def shortened(text: str) -> str:
    """A text of an address, no longer than a message takes."""
    return text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}…"

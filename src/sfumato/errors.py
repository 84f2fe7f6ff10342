"""The errors a user can meet: each message says what was asked, why not, and what would work."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches


class SfumatoError(Exception):
    """Anything Sfumato refuses; the message never carries a confidential value."""


class PlanError(SfumatoError):
    """A plan, or the schema in it, says something that cannot be meant."""


class PromiseError(SfumatoError):
    """A privacy claim that cannot be made, or that the limit does not cover."""


class DataError(SfumatoError):
    """The microdata do not fit the plan; names the column and the rule, never the value."""


class LedgerError(SfumatoError):
    """The account is missing, damaged, or kept for other units."""


class ReleaseError(SfumatoError):
    """A release folder that is missing, altered, or not to be published."""


class QueryError(SfumatoError):
    """A question that a release cannot answer."""


class TooFineError(QueryError):
    """A question at levels that are not together in a release, and the depths of hierarchies at which it has them.

    >>> str(TooFineError("There are no such towns", {"place": 0}))
    'There are no such towns; ask for place=@0.'
    """

    def __init__(self, why: str, coarser: Mapping[str, int]) -> None:
        self.why, self.coarser = why, coarser
        asks = ", ".join(f"{name}=@{depth}" for name, depth in coarser.items())
        super().__init__(f"{why}; ask for {asks}." if asks else f"{why}.")


def with_article(noun: str) -> str:
    """What somebody or something is called, after its article as it sounds.

    >>> [with_article(noun) for noun in ("establishment", "job", "unit", "hourly wage")]
    ['an establishment', 'a job', 'a unit', 'an hourly wage']
    """
    word = noun.lower()
    sounds = word.startswith(("a", "e", "i", "o", "u", "hour", "heir", "honor", "honour", "honest"))
    vowel = sounds and not word.startswith(("uni", "use", "usu", "uti", "eu", "one", "once"))
    return f"{'an' if vowel else 'a'} {noun}"


def how_many(count: int, noun: str, one_does: str = "", many_do: str = "") -> str:
    """So many of something, as a sentence has it, and what one of it does or many do.

    >>> how_many(1, "cell"), how_many(0, "row"), how_many(1_200, "cell")
    ('1 cell', '0 rows', '1,200 cells')
    >>> how_many(1, "area", "lies", "lie"), how_many(2, "area", "lies", "lie")
    ('1 area lies', '2 areas lie')
    """
    does = one_does if count == 1 else many_do
    return f"{count:,} {noun}{'s' * (count != 1)}{' ' * bool(does)}{does}"


MOST_COMPARED = 10_000
"""Names that an unknown one is compared with, letter by letter."""


def nearest(name: str, known: Iterable[str]) -> str:
    """The hint that ends a message about an unknown name.

    >>> nearest("eduction", ["education", "age"])
    "did you mean 'education'?"
    >>> nearest("zzz", ["education", "age"])
    'known: education, age'
    """
    names = list(dict.fromkeys(map(str, known)))
    by_lower = {one.lower(): one for one in _alike(str(name), names)}
    close = get_close_matches(str(name).lower(), list(by_lower), n=1, cutoff=0.6)
    if close:
        return f"did you mean '{by_lower[close[0]]}'?"
    shown = ", ".join(names[:12])
    return f"known: {shown}" + (f" and {len(names) - 12:,} more" if len(names) > 12 else "")


def _alike(name: str, names: list[str]) -> list[str]:
    """The names to compare letter by letter: all, or of a long list those that begin alike the furthest.

    To compare one name with a million takes seconds, which anybody could have of a server by a wrong code.

    >>> _alike("c70O", [f"c{number}" for number in range(20_000)])[:3]
    ['c70', 'c700', 'c701']
    """
    if len(names) <= MOST_COMPARED:
        return names
    for length in range(1, len(name) + 1):
        alike = [one for one in names if one[:length].lower() == name[:length].lower()]
        if not alike:
            break
        names = alike
    return names if len(names) <= MOST_COMPARED else []

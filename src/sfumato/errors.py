"""The errors a user can meet: each message says what was asked, why not, and what would work."""

from collections.abc import Iterable
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


def nearest(name: str, known: Iterable[str]) -> str:
    """The hint that ends a message about an unknown name.

    >>> nearest("eduction", ["education", "age"])
    "did you mean 'education'?"
    >>> nearest("zzz", ["education", "age"])
    'known: education, age'
    """
    names = list(dict.fromkeys(str(one) for one in known))
    by_lower = {one.lower(): one for one in names}
    close = get_close_matches(str(name).lower(), list(by_lower), n=1, cutoff=0.6)
    if close:
        return f"did you mean '{by_lower[close[0]]}'?"
    shown = ", ".join(names[:12])
    return f"known: {shown}" + (f" and {len(names) - 12} more" if len(names) > 12 else "")

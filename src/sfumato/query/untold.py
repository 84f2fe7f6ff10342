"""Untold: why an error is withheld, with what holds of the numbers that are shown all the same."""

from collections.abc import Collection

from sfumato.foreign_text import joined
from sfumato.query.wording import words
from sfumato.release import Withheld
from sfumato.release.translator import sentence_in


def untold(error: Withheld, measured: Collection[bool], language: str = "en") -> str:
    """The reason, and what is told of cells as measured where some are shown; of other numbers it would be false.

    >>> untold(Withheld("it has no variance", "of a cell 90% lie within 5"), {True})
    'it has no variance; of a cell 90% lie within 5'
    >>> untold(Withheld("it has no variance", "of a cell 90% lie within 5"), {False})
    'it has no variance; no error is told of a number that is computed from several measured cells'
    """
    if not error.of_cell:
        return sentence_in(language, error.reason)
    made = "" if all(measured) else words(language)("about.withheld_made")
    told = sentence_in(language, error.in_full if any(measured) else error.reason)
    return joined("; ", filter(None, (told, made)))

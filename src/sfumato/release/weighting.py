"""Weighting: what a release says of whether its numbers count records by their weights, and which go together."""

WEIGHT, WEIGHTED, NOT_WEIGHTED, WITHOUT_WEIGHT = WEIGHTINGS = ("weight", "weighted", "not weighted", "no weight")
"""The total of the weight, a weighted total, a number of the records as they are, and a sample without a weight."""
UNSAMPLED = ""
"""What is said where everybody was counted; releases made before say it of samples too."""


def is_weighted(weighting: str) -> bool | None:
    """Whether a number counts records by their weights; None where a release made before does not say.

    >>> [is_weighted(one) for one in (WEIGHT, WEIGHTED, NOT_WEIGHTED, WITHOUT_WEIGHT, UNSAMPLED)]
    [True, True, False, False, None]
    """
    return None if weighting == UNSAMPLED else weighting in {WEIGHT, WEIGHTED}


WORDS = {"en": "not weighted", "de": "nicht gewichtet"}
"""What is said beside the title of a number of records in a release with weights, by language."""


def not_weighted(title: str, language: str = "en") -> str:
    """The title of a number that counts records as they are, which says so.

    >>> not_weighted("Interviews"), not_weighted("Interviews (not weighted)")
    ('Interviews, not weighted', 'Interviews (not weighted)')
    """
    words = WORDS.get(language, WORDS["en"])
    return title if words in title.lower() else f"{title}, {words}"


def split_title(title: str, language: str = "en") -> str | None:
    """The title without what `not_weighted` put behind it; None where it put nothing there.

    >>> split_title("Interviews, not weighted"), split_title("Jobs")
    ('Interviews', None)
    """
    ending = f", {WORDS.get(language, WORDS['en'])}"
    return title.removesuffix(ending) if title.endswith(ending) else None


def title_before(title: str) -> str:
    """A title without the words that it is not weighted, in whatever language.

    >>> title_before("Betriebe, nicht gewichtet"), title_before("Jobs")
    ('Betriebe', 'Jobs')
    """
    return next((base for language in WORDS if (base := split_title(title, language)) is not None), title)


def title_like(title: str, other: str) -> str:
    """Another title with the words that a first is not weighted, where it has them.

    >>> title_like("Interviews, not weighted", "Median wage"), title_like("Jobs", "Median wage")
    ('Median wage, not weighted', 'Median wage')
    """
    language = next((one for one in WORDS if split_title(title, one) is not None), "")
    return not_weighted(other, language) if language else other

"""Weighting: which numbers of a release may be divided by one another: both are weighted, or neither is."""

from sfumato.errors import QueryError
from sfumato.query.source import Source
from sfumato.release import Subject
from sfumato.release.weighting import WEIGHT, is_weighted

CENSUS = "census"


def refuse_mixed(amount: Source, number: Source) -> None:
    """Stop at a number that counts records by their weights over one that does not, or the reverse."""
    first, second = amount.product.subject, number.product.subject
    weighted = is_weighted(first.weighting), is_weighted(second.weighting)
    if amount.product is number.product or (None not in weighted and weighted[0] == weighted[1]):
        return
    if None in weighted and True not in weighted:
        _refuse_unsaid(amount, number)
        return
    heavy, light = (first, second) if weighted[0] else (second, first)
    raise QueryError(
        f"{heavy.title} ({heavy.name}) is weighted and {light.title} ({light.name}) is not, so that one over the other "
        "means nothing. Divide weighted numbers by weighted ones."
    )


def _refuse_unsaid(amount: Source, number: Source) -> None:
    """A release made before does not say what is weighted: of a sample only a mean over its records can be right."""
    first, second = amount.product.subject, number.product.subject
    stated = amount.release.manifest.sampling.get("kind", CENSUS)
    if stated == CENSUS or second.statistic == "count":
        return
    raise QueryError(
        f"The release was made before releases said which numbers are weighted, so {first.title} ({first.name}) over "
        f"{second.title} ({second.name}) may mix both. Publish it again, or divide by a count."
    )


def are_mixed(amount: Source, number: Source) -> bool:
    """Whether one number counts records by their weights and the other does not."""
    try:
        refuse_mixed(amount, number)
    except QueryError:
        return True
    return False


def counts_units(subject: Subject) -> bool:
    """Whether numbers count records or what these stand for, so that means may be per one of them."""
    return subject.additive and (subject.statistic == "count" or subject.weighting == WEIGHT)

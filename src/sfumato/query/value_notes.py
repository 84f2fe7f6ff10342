"""Notes on values: what a reader is told beside a total of how its values were counted, in every language."""

from collections.abc import Mapping
from fractions import Fraction

from sfumato.foreign_text import joined
from sfumato.query.wording import Words, words
from sfumato.release import Subject
from sfumato.release.figures import number
from sfumato.release.value_bounds import ClipTook, ValueBounds


def noted(subject: Subject, language: str = "en") -> str:
    """All that is to be said beside the numbers of a subject: what lies beyond its bounds, and which rows count."""
    held = _held(subject, subject.value_bounds, words(language)) if subject.value_bounds else []
    return joined(" ", (one for one in (*held, subject.note) if one))


def bounds_by_period(subjects: Mapping[str, Subject], language: str = "en") -> str:
    """Within which bounds the values of a statistic count in each period that says it."""
    said = words(language)
    held = ((period, one.value_bounds) for period, one in subjects.items() if one.value_bounds)
    told = (
        said("bounds.by_period", period=period, low=_figure(one.low, said), high=_figure(one.high, said))
        for period, one in held
    )
    return "; ".join(told)


def _held(subject: Subject, bounds: ValueBounds, said: Words) -> list[str]:
    """What lies beyond the bounds is not in the totals, and what that comes to where it was measured.

    Of what is no total one beyond a bound counts as that.
    """
    high = _figure(bounds.high, said)
    filled = {
        "column": bounds.column,
        "low": _figure(bounds.low, said),
        "high": high,
        "step": _figure(bounds.step, said),
    }
    if not subject.additive:
        return [said("bounds.held", **filled)]
    key = "squared" if bounds.power == 2 else "above" if bounds.low == 0 else "beyond"
    found = [said(f"bounds.{key}", **filled)]
    if took := bounds.took:
        told = {"high": high, "up_to": _figure(took.up_to, said), "value": _figure(took.value, said)}
        found.append(said("bounds.took", **told, error=_error(took, said)))
    return found + (_held(subject, bounds.weight, said) if bounds.weight else [])


def _error(took: ClipTook, said: Words) -> str:
    """The margin of what was measured; the standard error where a release made before states only that."""
    if took.margin is not None:
        return said("bounds.margin", margin=_figure(took.margin, said))
    return "" if took.standard_error is None else said("bounds.error", error=_figure(took.standard_error, said))


def _figure(value: Fraction | float, said: Words) -> str:
    """A bound with all of its digits, a measured number as numbers of tables are written."""
    return said.figure(f"{float(value):,.12g}" if isinstance(value, Fraction) else number(value))

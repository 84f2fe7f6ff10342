"""Excess: totals say what their clip took, where the plan bought that number; all of it is noisy already."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from sfumato.plan import Measure, Plan
from sfumato.release import Product, Subject, stated
from sfumato.release.value_bounds import ClipTook
from sfumato.schema import Box, Grid


def told_excess(plan: Plan, made: Mapping[str, Product]) -> dict[str, Product]:
    """The same, every total with the noisy number of what its clip took, where the plan measures that.

    It may be measured as a whole, by some attributes, or both; then totals say in all, and name every table.
    """
    found = dict(made)
    for name, product in made.items():
        held, measures = product.subject.value_bounds, _bought(plan, made, product.subject)
        if held is not None and measures:
            took = _took(made, measures)
            found[name] = replace(product, subject=replace(product.subject, value_bounds=replace(held, took=took)))  # type: ignore[type-var]
    return found


def _bought(plan: Plan, made: Mapping[str, Product], subject: Subject) -> list[Measure]:
    """The measures of what lies above the clip of a total, of the same records, the one in all first."""
    found = []
    for measure in plan.measures:
        above = measure.of.above
        if above is not None and above[0].alike(subject.value_bounds):
            found += [measure] if made[measure.name].subject.universe == subject.universe else []
    return sorted(found, key=lambda measure: bool(measure.by))


def _took(made: Mapping[str, Product], measures: list[Measure]) -> ClipTook:
    """What was bought in all, with the errors that its own table states, and every table up to the same bound."""
    (first, up_to) = measures[0], _up_to(measures[0])
    excess = made[first.name]
    tables = tuple(measure.name for measure in measures if _up_to(measure) == up_to)
    return replace(_whole(excess, up_to), tables=tables)


def _up_to(measure: Measure) -> Fraction:
    """The farther bound up to which a measure counts what lies above a clip."""
    assert measure.of.above is not None  # noqa: S101 - only such measures are asked
    return measure.of.above[1]


def _whole(excess: Product, up_to: Fraction) -> ClipTook:
    """The whole of an excess, with the errors that its own table states."""
    from sfumato.query import Estimate

    step = float(excess.subject.step)
    law = excess.errors.law(Grid((), Box())).times(step)
    whole = Estimate(excess.total(Box()) * step, excess.covariance(Box(), Box()) * step**2, law=law)
    return ClipTook(up_to, whole.value, stated(whole.noise_se), stated(whole.moe(0.90)))

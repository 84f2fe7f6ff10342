"""Excess: totals say what their clip took, where the plan bought that number; all of it is noisy already."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from sfumato.plan import Plan
from sfumato.release import Product, stated
from sfumato.release.value_bounds import ClipTook
from sfumato.schema import Box, Grid


def told_excess(plan: Plan, made: Mapping[str, Product]) -> dict[str, Product]:
    """The same, every total with the noisy number of what its clip took, where the plan measures that as a whole."""
    found = dict(made)
    for measure in plan.measures:
        if measure.of.above is None or measure.by:
            continue
        (bounds, up_to), excess = measure.of.above, made[measure.name]
        took = _took(excess, up_to)
        for name, product in made.items():
            subject, held = product.subject, product.subject.value_bounds
            if held is not None and bounds.alike(held) and subject.universe == excess.subject.universe:
                found[name] = replace(product, subject=replace(subject, value_bounds=replace(held, took=took)))  # type: ignore[type-var]
    return found


def _took(excess: Product, up_to: Fraction) -> ClipTook:
    """The whole of an excess, with the errors that its own table states."""
    from sfumato.query import Estimate

    step = float(excess.subject.step)
    law = excess.errors.law(Grid((), Box())).times(step)
    whole = Estimate(excess.total(Box()) * step, excess.covariance(Box(), Box()) * step**2, law=law)
    return ClipTook(up_to, whole.value, stated(whole.noise_se), stated(whole.moe(0.90)))

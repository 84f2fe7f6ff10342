"""Excess: totals say what their clip took, where the plan bought that number; all of it is noisy already."""

import math
from collections.abc import Mapping
from dataclasses import replace

from sfumato.plan import Plan
from sfumato.release import Product, Withheld
from sfumato.release.value_bounds import ClipTook
from sfumato.schema import Box


def told_excess(plan: Plan, made: Mapping[str, Product]) -> dict[str, Product]:
    """The same, every total with the noisy number of what its clip took, where the plan measures that as a whole."""
    found = dict(made)
    for measure in plan.measures:
        if measure.of.above is None or measure.by:
            continue
        (bounds, up_to), excess = measure.of.above, made[measure.name]
        variance, step = excess.covariance(Box(), Box()), float(excess.subject.step)
        error = None if isinstance(variance, Withheld) else math.sqrt(max(variance, 0.0)) * step
        took = ClipTook(up_to, excess.total(Box()) * step, error)
        for name, product in made.items():
            subject, held = product.subject, product.subject.value_bounds
            if held is not None and bounds.alike(held) and subject.universe == excess.subject.universe:
                found[name] = replace(product, subject=replace(subject, value_bounds=replace(held, took=took)))  # type: ignore[type-var]
    return found

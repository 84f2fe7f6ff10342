"""Weights: what a plan must say of its weight, and which of its numbers count by it."""

from collections.abc import Iterable
from dataclasses import replace

from sfumato.errors import PlanError
from sfumato.plan.measure import Measure
from sfumato.privacy import plain
from sfumato.release.weighting import NOT_WEIGHTED, UNSAMPLED, WEIGHT, WEIGHTED, WITHOUT_WEIGHT
from sfumato.schema import Schema
from sfumato.schema.schema import ADJUSTED, BASE
from sfumato.statistics import Count, Statistic, Total

ADJUSTED_WEIGHTS = "adjusted weights"
"""What the exposure of a plan names whose weights depend on other records."""


def sums_weight(schema: Schema, of: Statistic) -> bool:
    """Whether a statistic is the total of the weight: how many units the records stand for."""
    row = of.contribution
    sums = of.name in {Count.name, Total.name} and (row.column, row.power) == (schema.weight, 1)
    return schema.weight is not None and sums


def is_weighted(schema: Schema, of: Statistic) -> bool:
    """Whether the numbers of a statistic count records by their weights."""
    return bool(of.weighted) or (schema.weight is not None and of.contribution.column == schema.weight)


def weighting_of(schema: Schema, of: Statistic, *, sampled: bool) -> str:
    """What a release says of the numbers of a statistic."""
    if schema.weight is None:
        return WITHOUT_WEIGHT if sampled else UNSAMPLED
    if sums_weight(schema, of):
        return WEIGHT
    return WEIGHTED if is_weighted(schema, of) else NOT_WEIGHTED


def weigh_measures(measures: Iterable[Measure], schema: Schema, *, register: bool) -> tuple[Measure, ...]:
    """The measures, each weighted one with the weight of the plan; one that does not say is refused."""
    return tuple(_weigh(measure, schema, register) for measure in measures)


def _weigh(measure: Measure, schema: Schema, register: bool) -> Measure:
    of = measure.of
    if of.weighted and schema.weight is None:
        raise PlanError(
            f"Measure '{measure.name}' is weighted, and [data] has no weight. Write in [data]: weight = \"…\", "
            'weight_kind = "base", weight_clip = ["0", "1500"].'
        )
    if schema.weight is None:
        return measure
    if register:
        raise PlanError(
            "[data] names a weight, and a [frame] lists every unit, so that each counts once. Leave the weight out."
        )
    if not of.weighted:
        _refuse_unsaid(measure, schema)
        return measure
    if schema.weighting is None:
        raise PlanError(
            f"Measure '{measure.name}' is weighted, and [data] does not bound the weight, so that one record could "
            f'move it without limit. Write in [data]: weight_clip = ["0", "1500"], from the design and not the data.'
        )
    try:
        return replace(measure, of=of.with_weight(schema.weighting))
    except PlanError as error:
        raise PlanError(f"Measure '{measure.name}': {error}") from None


def _refuse_unsaid(measure: Measure, schema: Schema) -> None:
    """A number that is not weighted says so, and the total of the weight counts by the same weight as all others."""
    of, weight = measure.of, schema.weight
    if not is_weighted(schema, of):
        if of.weighted is None:
            raise PlanError(
                f"[data] weight is '{weight}', and measure '{measure.name}' does not say whether it is weighted. Write "
                "weighted = true in its `of`, or weighted = false for a number of records as they are."
            )
        return
    if of.weighted is False:
        raise PlanError(
            f"Measure '{measure.name}' sums the weight '{weight}', which makes it a weighted number. Leave "
            "weighted = false out."
        )
    bounds, weighting = of.value_bounds, schema.weighting
    if (
        bounds
        and weighting
        and (bounds.low, bounds.high, bounds.step) != (weighting.low, weighting.high, weighting.step)
    ):
        low, high, step = plain(weighting.low), plain(weighting.high), plain(weighting.step)
        raise PlanError(
            f"Measure '{measure.name}' sums the weight '{weight}' within other bounds or steps than weight_clip, so "
            f'that means would divide by other weights. Write its bounds as {low} to {high} and step = "{step}", or '
            'of = { statistic = "count", weighted = true }.'
        )


def not_promised(schema: Schema, unit: str) -> str:
    """What the guarantee does not cover of weights that depend on other records; '' where they do not."""
    if schema.weight_kind != ADJUSTED:
        return ""
    shows = f"one {unit} may show in the weights of others"
    return f"Weights were adjusted with other records, so {shows}; that is not hidden."


def refuse_unkind(schema: Schema) -> None:
    """A plan with a weight says whether the weight is that of the design alone."""
    if schema.weight is not None and not schema.weight_kind:
        raise PlanError(
            f"[data] does not say what kind of weight '{schema.weight}' is. Write weight_kind = \"{BASE}\" if it "
            "depends on the design and the record alone. Write weight_kind = "
            f'"{ADJUSTED}" if it was adjusted for non-response or calibrated to totals.'
        )

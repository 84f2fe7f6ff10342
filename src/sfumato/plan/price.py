"""Price: the loss of each measure and of all together, what an attacker gains by it, with no data in sight."""

import math
import re
from dataclasses import dataclass, replace
from fractions import Fraction

from sfumato.errors import PlanError, PromiseError, with_article
from sfumato.plan.control import SOURCES
from sfumato.plan.decisions import Decisions
from sfumato.plan.margins import typical
from sfumato.plan.weights import ADJUSTED_WEIGHTS
from sfumato.privacy import Approximate, Exposure, Loss, Spend, Unbounded, exact, over_universes
from sfumato.privacy.groups import of_group_in_parts
from sfumato.privacy.notation import loss_to_dict
from sfumato.release.promise import LARGEST_LOSS, LONGEST_LOSS
from sfumato.schema import Box
from sfumato.schema.schema import ADJUSTED

LARGEST_NOISE = 2**61
"""What the sizes of all noise of a measure may sum to, in steps: a quarter of what 64 bits hold."""


@dataclass(frozen=True)
class Price:
    """The bill: a spend for each measure, the total in the currency of the limit, the exposures, the cells."""

    spends: tuple[Spend, ...]
    total: Loss
    limit: Loss
    exposures: tuple[Exposure, ...]
    cells: tuple[int, ...]
    argued: tuple[Spend, ...] = ()
    """What authors hold that each measure loses, on grounds that are no bound, and all together last."""

    def of_group(self, steps: int | Fraction) -> Loss:
        """What the plan loses of those that are so many steps away from each other."""
        return of_group_in_parts([spend.loss for spend in self.spends], self.total, steps, self.limit)

    def __str__(self) -> str:
        lines = [f"{spend.measure}: {spend.loss.words()} ({spend.mechanism})" for spend in self.spends]
        return "\n".join([*lines, f"total: {self.total.words()} of {self.limit.words()}"])


def price(plan: Decisions) -> Price:
    """Price every measure under the plan's neighbours and add up."""
    _refuse_unnamed_unit(plan)
    plan.refuse_too_large()
    for measure in plan.measures:
        if why := plan.hidden.unfit(measure.of.contribution):
            raise PromiseError(why)
    spends = tuple(
        Spend(measure.name, measure.with_.loss(plan.move(measure)), measure.with_.words()) for measure in plan.measures
    )
    _refuse_undrawable(plan)
    _refuse_unweighed(plan)
    _refuse_unlisted(plan)
    total = total_of(plan, [spend.loss for spend in spends])
    _refuse_over(total, plan.limit, spends)
    _refuse_unstatable([plan.limit, total, *(spend.loss for spend in spends)])
    cells = tuple(plan.over.size(measure) for measure in plan.measures)
    return Price(spends, total, plan.limit, plan.exposures, cells, _argued(plan, spends))


def _argued(plan: Decisions, spends: tuple[Spend, ...]) -> tuple[Spend, ...]:
    """What a paper would charge, where it argues for what nothing bounds."""
    held = [measure.with_.argued(plan.move(measure)) for measure in plan.measures]
    losses = [spend.loss if one is None else one for one, spend in zip(held, spends, strict=True)]
    if all(one is None for one in held) or not all(isinstance(one, Approximate) for one in losses):
        return ()
    total = total_of(replace(plan, limit=Approximate(1)), losses)  # in epsilon; no limit is asked of an argument
    parts = (replace(spend, loss=loss) for spend, loss in zip(spends, losses, strict=True))
    return (*parts, Spend("all together", total, ""))


def _refuse_unnamed_unit(plan: Decisions) -> None:
    """Without an id every row is taken for a unit of its own, which it is not where a row is something else."""
    hidden, row = plan.hidden.unit, plan.schema.unit
    if plan.hidden.id is None and row != hidden:
        raise PromiseError(
            f"[hidden] unit is {hidden} and [data] says that a row is {with_article(row)}, so one {hidden} may have "
            f"many rows; give [hidden] id, the column that names the unit{plan.hidden.beside_id}, or say in [data] "
            f"that a row is {with_article(hidden)}."
        )
    if plan.hidden.id is not None and plan.schema.key == (plan.hidden.id,) and row != hidden:
        raise PromiseError(
            f"[hidden] id is '{plan.hidden.id}', the key of {with_article(row)}, so each {row} would be hidden by "
            f"itself and {with_article(hidden)} not at all; name the column of the {hidden}, or hide the {row}."
        )


def total_of(plan: Decisions, losses: list[Loss]) -> Loss:
    """The smallest of the true bounds: told apart by any attribute, or by the public ones alone."""
    boxes = [plan.universe(measure) for measure in plan.measures]
    kept = plan.hidden.keeps(plan.schema.attributes)
    narrowed = [Box({name: mask for name, mask in box.masks.items() if name in kept}) for box in boxes]
    by_any = _over(plan, losses, boxes, plan.hidden.touches(frozenset()))
    by_kept = _over(plan, losses, narrowed, plan.hidden.touches(kept))
    if isinstance(by_any, Unbounded) or isinstance(by_kept, Unbounded):
        return by_any
    return by_kept if by_kept.within(by_any) else by_any


def _over(plan: Decisions, losses: list[Loss], boxes: list[Box], touches: int) -> Loss:
    return over_universes(losses, lambda one, other: boxes[one].disjoint(boxes[other]), touches, plan.limit)


def _refuse_unstatable(losses: list[Loss]) -> None:
    """A release states what it costs and may cost, in numbers that its readers compute with."""
    for name, written in (pair for loss in losses for pair in loss_to_dict(loss).items()):
        if len(written) > LONGEST_LOSS or (name != "unbounded" and exact(written, name) > LARGEST_LOSS):
            raise PlanError(
                f"A loss is {name} {written[:40]}, which promises nothing, or has more digits than anybody reads; "
                f"{name} is {LARGEST_LOSS:,} at most, in round numbers."
            )


def _refuse_over(total: Loss, limit: Loss, spends: tuple[Spend, ...]) -> None:
    if isinstance(limit, Unbounded):
        return
    if isinstance(total, Unbounded):
        raise PromiseError(
            f"The plan has no guarantee, {total.words()}. Give it a bound, or say in [limit] that it has none "
            'and why, unbounded = "the reason": the release and all later ones of its population are then marked.'
        )
    if not total.within(limit):
        parts = ", ".join(f"{spend.measure} {spend.loss.words()}" for spend in spends)
        raise PromiseError(
            f"The measures cost {total.words()} together ({parts}), over the plan's limit of {limit.words()}; "
            "give the measures less, or raise [limit] if the agency agrees."
        )


def _refuse_undrawable(plan: Decisions) -> None:
    for measure in plan.measures:
        cells = plan.over.size(measure)
        try:
            measure.with_.refuse_unstatable(plan.move(measure))
            error = measure.with_.expected(plan.move(measure), typical(plan, measure, cells=cells))
        except ValueError as refused:
            raise PlanError(f"Measure '{measure.name}' with {measure.with_.words()}: {refused}") from None
        # The sizes of n noises sum to about n standard errors of one, √n of their sum.
        if isinstance(error, float) and error * math.sqrt(cells) / float(measure.of.step) >= LARGEST_NOISE:
            raise PlanError(
                f"Measure '{measure.name}' with {measure.with_.words()}: the noise of its {cells:,} cells is too wide "
                "to be summed in 64 bits; give it more budget, or a coarser step."
            )


def _refuse_unweighed(plan: Decisions) -> None:
    """Steps weigh numbers by their errors; where none can be stated that is said before anything is charged."""
    measures = {measure.name: measure for measure in plan.measures}
    for step in plan.then:
        for measure in (measures[name] for name in step.reads if name in measures):
            if why := measure.with_.unstated(plan.move(measure)):
                raise PlanError(f"Step '{step.name}' reads '{measure.name}', whose error is withheld: {why.in_full}.")


def _refuse_unlisted(plan: Decisions) -> None:
    """What lies outside the guarantee must be listed with a reason, or the plan does not run."""
    needed = [(what, f"mechanism {measure.with_.name}") for measure in plan.measures for what in measure.with_.exposes]
    needed += [(name, f"[hidden] {plan.hidden.kind}") for name in plan.hidden.exposes()]
    needed += [(what, f"[{what}]") for what in plan.over.exposes]
    needed += [(ADJUSTED_WEIGHTS, '[data] weight_kind = "adjusted"')] if plan.schema.weight_kind == ADJUSTED else []
    functions = plan.sampling if isinstance(plan.sampling, tuple) else ()
    needed += [(one.of, "[[sampling]] outside") for one in functions if getattr(one, "outside", False)]
    for what, where in needed:
        _refuse_untold(what, where, plan.exposures, "its kind")
    for control in plan.controls:
        kind = SOURCES[control.from_]
        listed = tuple(one for one in plan.exposures if one.kind == kind)
        _refuse_untold(control.name, f"[[control]], {control.from_},", listed, f'kind = "{kind}"')


def _refuse_untold(what: str, where: str, exposures: tuple[Exposure, ...], kind: str) -> None:
    if not any(re.search(rf"\b{re.escape(what)}\b", exposure.what) for exposure in exposures):
        raise PromiseError(
            f"{where} leaves '{what}' outside the guarantee, and the plan does not say so; "
            f'add an [[exposure]] with what = "{what}", {kind} and why it is let out.'
        )

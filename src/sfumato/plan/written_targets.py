"""Written targets: what people write of the accuracy that they want, by the names of measures or patterns of them."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from sfumato.errors import PlanError
from sfumato.plan.decisions import Decisions
from sfumato.plan.mean_targets import PER, MeanTarget, of_mean
from sfumato.plan.targets import AccuracyTarget, read_target


def targets_of(
    plan: Decisions,
    margins: Mapping[str, str],
    sizes: Mapping[str, float],
    largest: Mapping[str, float],
    spreads: Mapping[str, float],
) -> tuple[AccuracyTarget, ...]:
    """Targets as people write them, by the name of a measure or a pattern of names such as jobs_*_county.

    A mean is wages/jobs, of which each part gets its own.
    """
    names = [measure.name for measure in plan.measures]
    targets: dict[str, AccuracyTarget] = {}
    for pattern, written in margins.items():
        if PER in pattern:
            targets |= _without_another(of_mean(plan, pattern, written, sizes), targets)
            continue
        meant = [name for name in names if fnmatchcase(name, pattern)]
        if not meant:
            plan.measure(pattern)
        for name in meant:
            found = read_target(name, written, *(_of(name, given) for given in (sizes, largest, spreads)))
            _refuse_part(name, targets)
            targets[name] = found
    for given in (sizes, largest, spreads):
        for pattern in given:
            if not any(fnmatchcase(name, pattern) for name in targets):
                raise PlanError(f"A size is given for '{pattern}', which has no target; targets: {', '.join(targets)}.")
    return tuple(targets.values())


def _without_another(parts: Sequence[MeanTarget], targets: Mapping[str, AccuracyTarget]) -> dict[str, AccuracyTarget]:
    """The parts of a mean by their measures, of which none may have a target already: both are allotted together."""
    for one in parts:
        if one.measure in targets:
            raise PlanError(
                f"'{one.measure}' has a target already, and the mean {one.named} shares a budget between its parts; "
                "give one of the two targets at a time, and keep the larger budget."
            )
    return {one.measure: one for one in parts}


def _refuse_part(name: str, targets: Mapping[str, AccuracyTarget]) -> None:
    if isinstance(part := targets.get(name), MeanTarget):
        _without_another([part], targets)


def _of(name: str, given: Mapping[str, float]) -> float | None:
    return next((value for pattern, value in given.items() if fnmatchcase(name, pattern)), None)

"""Periods: the same question to several releases of a series, and what changed between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sfumato.errors import QueryError
from sfumato.query.comparison import Comparison, difference_of
from sfumato.query.engine import QueryEngine
from sfumato.query.estimate import Estimate
from sfumato.schema import Where


@dataclass(frozen=True)
class AtPeriod:
    """The answer of one release of a series, or why it has none."""

    period: str
    estimate: Estimate | None
    reason: str = ""


def by_period(engines: Sequence[QueryEngine]) -> tuple[QueryEngine, ...]:
    """The releases in the order of their periods, each of another one."""
    ordered = sorted(engines, key=lambda engine: engine.release.manifest.period)
    for one, other in pairwise(engine.release.manifest.period for engine in ordered):
        if one == other:
            raise QueryError(f"Two of the releases are of the period '{one}'; ask the one that supersedes the other.")
    return tuple(ordered)


def over_periods(
    engines: Sequence[QueryEngine], where: Where | None = None, of: str | None = None
) -> tuple[AtPeriod, ...]:
    """The total of the same levels in each release, by period; a release that cannot answer says why."""
    return tuple(_at(engine, where or {}, of) for engine in by_period(engines))


def _at(engine: QueryEngine, where: Where, of: str | None) -> AtPeriod:
    period = engine.release.manifest.period
    try:
        return AtPeriod(period, engine.total(where, of))
    except QueryError as error:
        return AtPeriod(period, None, str(error))


def change(before: AtPeriod, after: AtPeriod) -> Comparison:
    """The later total minus the earlier one: each release has noise of its own, so their variances add.

    Sampling errors are added too, which is too much where the two samples share units.
    """
    if before.estimate is None or after.estimate is None:
        raise QueryError(f"The change cannot be stated: {before.reason or after.reason}")
    sampled = [after.estimate.sampling_variance, before.estimate.sampling_variance]
    return difference_of(after.estimate, before.estimate, 0.0, sampled)

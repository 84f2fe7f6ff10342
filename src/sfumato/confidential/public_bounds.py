"""Public bounds: what a plan tells everybody of a withheld cell before any number is published."""

from collections.abc import Iterable
from itertools import combinations

import numpy as np

from sfumato.confidential.linked_system import LinkedSystem
from sfumato.confidential.suppress import Contributions, Prior
from sfumato.errors import PlanError
from sfumato.plan import Measure, Plan
from sfumato.plan.weighed import Weighed
from sfumato.privacy import plain
from sfumato.schema import Frame
from sfumato.suppression import Floats, circle


def record_bounds(measure: Measure) -> tuple[float | None, float | None]:
    """The least and the most that a record adds to a cell, in steps of the measure; None where it is not public.

    Weights are 1 or more and have no public end.
    """
    contribution, of = measure.of.contribution, measure.of
    low, high = (
        None if end is None else float(end / contribution.step) for end in (contribution.low, contribution.high)
    )
    if isinstance(of, Weighed):
        return None if low is None else low * of.parts, None
    return low, high


def prior_of(plan: Plan, measure: Measure, system: LinkedSystem, cells: Contributions) -> Prior:
    """What everybody knows of the cells of a measure: what a record adds, and how many units a register lists."""
    low, high = record_bounds(measure)
    _refuse_narrow(measure, low, high)
    prior = Prior.of(cells.totals, cells.counts > 0, low if low is None or low >= 0 else None)
    register = plan.over.register
    if register is None or high is None:
        return prior
    units = _registered(plan, measure, system, register)
    return prior.within(np.full(len(units), -np.inf), high * units)


def refuse_circle(system: LinkedSystem) -> None:
    """Tables in a circle bound each other's cells beyond their sums, which neither search nor audit looks at."""
    names = [nodes.attribute.name for nodes in system.cells.nodes]
    levels = [
        [(name, depth) for name, level in zip(names, top, strict=True) for depth in range(level)]
        for top in system.family.tops
    ]
    left = circle(levels)
    if left:
        tables = ", ".join(" × ".join(sorted({name for name, _ in table})) for table in left)
        raise PlanError(
            f"[suppress] by has tables in a circle, {tables}: together they tell more of withheld cells than their "
            "sums do. Publish them as one table of all their attributes, or leave one of them out."
        )


def refuse_bounding(measures: Iterable[Measure]) -> None:
    """Refuse measures of which one bounds how many records the other counts: each is audited by itself alone.

    A total of records that add at most `high` is of no fewer records than total / high; one of records that add at
    least `low` is of no more than total / low. A count bounds the records both ways.
    """
    for first, second in combinations(measures, 2):
        if (first.of, dict(first.where)) == (second.of, dict(second.where)):
            continue
        (low, high), (other_low, other_high) = record_bounds(first), record_bounds(second)
        if (high is not None and (other_low or 0) > 0) or (other_high is not None and (low or 0) > 0):
            raise PlanError(
                f"[suppress] publishes '{first.name}' and '{second.name}', and the bounds of a record tell from one "
                "how many records the other counts, so that withheld cells could be worked out of both. Publish one of "
                "them."
            )


def _refuse_narrow(measure: Measure, low: float | None, high: float | None) -> None:
    """Where records add nearly the same, a total tells of how many records it is, and which values it cannot have."""
    contribution = measure.of.contribution
    if contribution.column is None or low is None or high is None or not 0 < low <= high < 2 * low:
        return
    ends = [plain(end) for end in (contribution.low, contribution.high) if end is not None]
    raise PlanError(
        f"[suppress] '{measure.name}' has a clip from {ends[0]} to {ends[1]}, so a total tells how many records it is "
        f'of. Begin the clip at 0: clip = ["0", "{ends[1]}"].'
    )


def _registered(plan: Plan, measure: Measure, system: LinkedSystem, register: Frame) -> Floats:
    """How many units of a register are in each cell, whether they reported or not."""
    rows = np.arange(register.size)
    if measure.where:
        rows = np.flatnonzero(register.rows(plan.universe(measure)))
    every = np.ones(register.size, dtype=np.int64)
    return system.contributions([system.of_register(register, rows, 0 * every, every)]).totals

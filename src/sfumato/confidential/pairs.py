"""Pairs: neighbouring microdata made of the plan alone, as far apart as it allows, so that no real data are needed."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.confidential.engines import Reading
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.tabulate import reading
from sfumato.errors import PlanError
from sfumato.plan import Measure, Plan
from sfumato.privacy import AddRemove, ReplaceOne
from sfumato.schema import Attribute, Bands, Box, Mask

Record = Mapping[str, str | None]
OTHERS = 4
"""How many records of other units stand in each of the two cells, the same on both sides."""


def neighbours_of(plan: Plan) -> list[tuple[Microdata, Microdata]]:
    """For each measure a pair in which one unit, with more rows than it may have, fills or leaves a cell of it."""
    found: list[tuple[Microdata, Microdata]] = []
    seen: list[tuple[pa.Table, pa.Table]] = []
    for measure in plan.measures:
        frames = _frames(plan, measure)
        if not any(all(a.equals(b) for a, b in zip(frames, one, strict=True)) for one in seen):
            seen.append(frames)
            found.append((Microdata.open(frames[0], plan.schema), Microdata.open(frames[1], plan.schema)))
    return found


def _frames(plan: Plan, measure: Measure) -> tuple[pa.Table, pa.Table]:
    """The unit's rows in the first cell against none, or against as many in the second."""
    need = reading(plan)
    first = _record(plan, need, [measure, *plan.measures], {})
    second = _record(plan, need, _untouched(plan, need, first), first)
    rows = plan.hidden.at_most + 2 if plan.hidden.id else 1
    others = [first, second] * OTHERS
    ours, theirs = [first] * rows, [] if isinstance(plan.hidden, AddRemove) else [second] * rows
    return _table(need, others, ours), _table(need, others, theirs)


def _untouched(plan: Plan, need: Reading, record: Mapping[str, int]) -> list[Measure]:
    """The measures, those first that a record is not in: a replaced unit leaves some and joins others."""

    def holds(measure: Measure) -> bool:
        masks = plan.universe(measure).masks
        return all(bool(mask[record[name]]) for name, mask in masks.items())

    return sorted(plan.measures, key=holds)

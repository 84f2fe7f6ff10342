"""Product size: the bytes that the products of a plan may take on a disk, from the plan alone."""

from sfumato.plan.decisions import Decisions
from sfumato.plan.measure import Measure

PER_FILE = 32_768
"""Bytes of a Parquet file besides its cells: its schema, and what the manifest says of it."""
PER_NUMBER, PER_CODE = 8, 4
"""Bytes of a number, and of a code of a cell whose number is not 0; compression takes what it can off both."""
PER_STEP = 2
"""Columns by which each step before may make the file of a step wider."""


def product_bytes(plan: Decisions) -> int:
    """The most bytes that all products take together."""
    total = sum(_file_bytes(plan, measure, measure.with_.columns_beside) for measure in plan.measures)
    for place, step in enumerate(plan.then):
        total += _file_bytes(plan, plan.began(step.name), step.columns_beside + PER_STEP * place)
    return total


def _file_bytes(plan: Decisions, measure: Measure, columns_beside: int) -> int:
    attributes = len(plan.over.attributes([measure]))
    return PER_FILE + plan.over.cells_held(measure) * (PER_NUMBER * (1 + columns_beside) + PER_CODE * attributes)

"""Memory: what a run of a plan will hold at once, told from the plan and its public register before data are read."""

import math
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sfumato.errors import PlanError
from sfumato.plan.decisions import Decisions
from sfumato.plan.measure import Measure
from sfumato.schema import FARTHEST, LARGEST

BASE_OF_FRAME, BASE_OF_TABLES = 400_000_000, 180_000_000
"""The program, its libraries, and what does not grow; over a frame the matrix of the controls as well."""
FIXED, PER_ATTRIBUTE, PER_GROUPING, PER_COLUMN, PER_STEP = 80, 8, 4, 24, 24
"""Bytes a row of a frame: for its name, twice, and the work at hand; and for each thing held for every row."""
PER_NUMBER, PER_CALIBRATED = 8, 48
"""Bytes of a number, and of a cell while a step works on it."""
PER_LISTED, LISTED_IN_WORK, LISTED_AGAIN, PER_PACKED = 16, 32, 24, 64
"""Bytes of a listed cell: its number and value; more while the list is made, or is read back; and of a record's own."""


@dataclass(frozen=True)
class Memory:
    """What is held, the bytes that it is expected to take at once, and those that every record takes beside it."""

    held: str
    bytes: int
    a_record: int = 0

    def words(self) -> str:
        """One line of a price list.

        >>> Memory("10,000,000 rows of m1emp, wages", 4_200_000_000).words()
        '10,000,000 rows of m1emp, wages: about 4.2 GB of memory'
        >>> Memory("100,000 cells", 160_000_000, 6).words()
        '100,000 cells: about 0.2 GB of memory, and 6 bytes for every record'
        """
        beside = f", and {self.a_record} bytes for every record" if self.a_record else ""
        return f"{self.held}: about {self.bytes / 1e9:.1f} GB of memory{beside}"


def expected(plan: Decisions) -> Memory | None:
    """What a run of a plan will need; nothing is said where its register is not at hand."""
    if plan.framed is None:
        return _of_tables(plan)
    if not plan.framed.file.path.is_file():
        return None
    rows = rows_in(plan.framed.file.path)
    columns = tuple(dict.fromkeys(str(getattr(measure.of, "column", "")) for measure in plan.measures))
    groupings = {measure.by for measure in plan.measures if not plan.framed.of_rows(measure)}
    each = FIXED + PER_ATTRIBUTE * len(plan.schema.attributes) + PER_GROUPING * len(groupings)
    each += PER_COLUMN * len(columns) + PER_STEP * len(plan.then)
    return Memory(f"{rows:,} rows of {', '.join(columns)}", BASE_OF_FRAME + rows * each)


def _of_tables(plan: Decisions) -> Memory:
    """Products stay until the release is read back; beside them stands the work of a measure or of a step, or those."""
    sizes = {measure.name: listed_cells(plan, measure) for measure in plan.measures}
    dense = {measure.name for measure in plan.measures if plan.table(measure).dense}
    made = [*sizes, *(plan.began(step.name).name for step in plan.then)]
    products = sum(sizes[name] * (PER_NUMBER if name in dense else PER_LISTED) for name in made)
    work = [sum(sizes[name] * (PER_NUMBER if name in dense else LISTED_AGAIN) for name in made)]
    work += [PER_NUMBER * len(measure.aggregates) * sizes[measure.name] for measure in plan.measures]
    work += [LISTED_IN_WORK * size for name, size in sizes.items() if name not in dense]
    work += [PER_CALIBRATED * sizes[name] for name in made[len(sizes) :]]
    laid, listed = sum(sizes[name] for name in dense), sum(size for name, size in sizes.items() if name not in dense)
    held = [f"{laid:,} cells"] * bool(laid) + [f"about {listed:,} listed cells"] * bool(listed)
    return Memory(" and ".join(held), BASE_OF_TABLES + products + max(work), _a_record(plan))


def _a_record(plan: Decisions) -> int:
    """Bytes of a record: a small integer for each attribute, a number for each value that is summed.

    Of a sparse table a cell as well, as records may all stand in cells of their own.
    """
    read = dict.fromkeys(name for measure in plan.measures for name in (*measure.names, *measure.where))
    leaves = [len(plan.schema.attribute(name).levels.leaves) for name in read]
    values = {value for measure in plan.measures for aggregate in measure.aggregates for value in aggregate.values}
    packed = any(not plan.table(measure).dense for measure in plan.measures)
    return sum(np.min_scalar_type(size).itemsize for size in leaves) + PER_NUMBER * len(values) + PER_PACKED * packed


def listed_cells(plan: Decisions, measure: Measure) -> int:
    """How many cells of a measure are held: all where they are laid out, else those that noise will likely change."""
    table = plan.table(measure)
    if table.dense:
        return table.size
    return math.ceil(table.size * measure.with_.changes(plan.move(measure)))


def refuse_over(plan: Decisions, limit: int | None = None) -> None:
    """Stop a plan that does not fit, before a ledger is charged or a register read."""
    refuse_unlistable(plan)
    memory = expected(plan)
    there = available() if limit is None else limit
    if memory and memory.bytes > there:
        raise PlanError(f"{memory.words()}, and this machine has {there / 1e9:.1f} GB; {_instead(plan)}")


def refuse_unlistable(plan: Decisions) -> None:
    """Stop a plan with a table that is neither laid out nor listed, on whatever machine."""
    for measure in plan.measures if plan.framed is None else ():
        table = plan.table(measure)
        table.refuse_if_too_large(FARTHEST)
        if (listed := listed_cells(plan, measure)) > LARGEST:
            raise PlanError(
                f"Measure '{measure.name}' is over {table.sides}, {table.size:,} cells, of which "
                f"{measure.with_.words()} changes about {listed:,}; {LARGEST:,} can be listed. Leave out an attribute, "
                "measure at a coarser level, or give it more budget, as less noise leaves more cells at 0."
            )


def _instead(plan: Decisions) -> str:
    if plan.framed:
        return "measure fewer columns in one plan, split the frame by state, or use a larger machine."
    largest = max(plan.measures, key=lambda measure: listed_cells(plan, measure))
    return (
        f"the largest is '{largest.name}' by {plan.table(largest).sides}: leave out an attribute, measure at a coarser "
        "level, or use a larger machine."
    )


def rows_in(path: Path) -> int:
    """How many rows a Parquet or CSV file has, without reading its columns."""
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return int(pq.read_metadata(path).num_rows)
        except (pa.ArrowException, OSError):
            raise PlanError(f"{path} cannot be read; a frame is a Parquet file, or a CSV file in UTF-8.") from None
    with path.open("rb") as file:
        return max(0, sum(block.count(b"\n") for block in iter(lambda: file.read(2**20), b"")) - 1)


def available() -> int:
    """The memory of the machine, or of the container that this process runs in."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        held = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
    except OSError:
        return whole
    return min(whole, int(held)) if held.isdigit() else whole

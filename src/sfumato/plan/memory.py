"""Memory: what a plan over a frame will need, told from the size of the register before anything is read."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.errors import PlanError

if TYPE_CHECKING:
    from sfumato.plan.plan import Plan

BASE = 400_000_000
"""The program and its libraries, the matrix of the controls, and what does not grow with the rows."""
FIXED, PER_ATTRIBUTE, PER_GROUPING, PER_COLUMN, PER_STEP = 80, 8, 4, 24, 24
"""Bytes a row: for its name, twice, and the work at hand; and for each thing that is held for every row."""


@dataclass(frozen=True)
class Memory:
    """How many rows, of which columns, and the bytes that a run is expected to hold at once."""

    rows: int
    columns: tuple[str, ...]
    bytes: int

    def words(self) -> str:
        """One line of a price list.

        >>> Memory(10_000_000, ("m1emp", "wages"), 4_200_000_000).words()
        '10,000,000 rows of m1emp, wages: about 4.2 GB of memory'
        """
        return f"{self.rows:,} rows of {', '.join(self.columns)}: about {self.bytes / 1e9:.1f} GB of memory"


def expected(plan: "Plan") -> Memory | None:
    """What a run of a plan will need; nothing is said where there is no frame, or it is not at hand."""
    if plan.framed is None or not plan.framed.file.path.is_file():
        return None
    rows = rows_in(plan.framed.file.path)
    columns = tuple(dict.fromkeys(str(getattr(one.of, "column", "")) for one in plan.measures))
    groupings = {one.by for one in plan.measures if not plan.framed.of_rows(one)}
    each = FIXED + PER_ATTRIBUTE * len(plan.schema.attributes) + PER_GROUPING * len(groupings)
    each += PER_COLUMN * len(columns) + PER_STEP * len(plan.then)
    return Memory(rows, columns, BASE + rows * each)


def refuse_over(plan: "Plan", limit: int | None = None) -> None:
    """Stop a plan whose rows do not fit, before a ledger is charged or a register read."""
    memory = expected(plan)
    there = available() if limit is None else limit
    if memory and memory.bytes > there:
        raise PlanError(
            f"{memory.words()}, and this machine has {there / 1e9:.1f} GB; measure fewer columns in one plan, "
            "split the frame by state, or use a larger machine."
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

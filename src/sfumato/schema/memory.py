"""Memory: what a run of a plan, a partition or a server will hold at once, told before anything large is read."""

import os
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import PlanError, SfumatoError

NAMES_AT_ONCE = 2**25
"""How many records of Parquet files have the names of their units held at once, where no more is asked of them."""
PER_SIFTED = 10
"""Bytes of a record whose name is not held, at most: its buckets in the sieve, and whether it is kept."""
PER_COMPARED = 100
"""Bytes of a record whose row is looked for in other files, at least: all are held, by queries."""
BUCKETS = 4
"""Buckets a record, at least: of names that stand once, at most every fifth shares its bucket with another."""

IN_A_PART, GATHERED, MOST_PARTS = 2**21, 2**20, 1024
"""Where records are spilled: how many stand in a part, about, and how many wait to be written; and the most parts."""

PER_PARTED = 600
"""Bytes of a record in the part that is being read, at most: by queries, where a rule is broken."""


@dataclass(frozen=True)
class Memory:
    """What is held, the bytes that it is expected to take at once, and those that every record takes beside it.

    Of Parquet files and frames, that is; queries hold more of a record, some 50 bytes and 200 with a unit's name.
    """

    held: str
    bytes: int
    a_record: int = 0
    instead: str = ""
    """What would take less."""
    of_names: int = 0
    """The bytes of a record that are of names in turns, which no more records take than have theirs held at once."""

    def words(self) -> str:
        """One line of a price list.

        >>> Memory("10,000,000 rows of m1emp, wages", 4_200_000_000).words()
        '10,000,000 rows of m1emp, wages: about 4.2 GB of memory'
        >>> Memory("100,000 cells", 160_000_000, 6).words()
        '100,000 cells: about 0.2 GB of memory, and 6 bytes for every record of a Parquet file'
        >>> Memory("9 cells", 180_000_000, 132, of_names=128).words().partition("file")[2]
        ', from 34 million records on 14 for every further one'
        """
        beside = f", and {self.a_record} bytes for every record of a Parquet file" if self.a_record else ""
        further = self.a_record - self.of_names + PER_SIFTED
        many = f", from {NAMES_AT_ONCE / 1e6:.0f} million records on {further} for every further one"
        return f"{self.held}: about {self.bytes / 1e9:.1f} GB of memory{beside}{many if self.of_names else ''}"

    def refuse_over(self, limit: int | None = None, *, error: type[SfumatoError] = PlanError) -> None:
        """Stop what does not fit this machine."""
        there = available() if limit is None else limit
        if self.bytes > there:
            raise error(f"{self.words()}, and this machine has {there / 1e9:.1f} GB; {self.instead}")

    def refuse_records(
        self, records: int, limit: int | None = None, *, in_turns: bool = False, compared: bool = False
    ) -> None:
        """Stop what does not fit with so many records; how many they are is not said, as that is of the data."""
        there = available() if limit is None else limit
        beyond = max(0, records - NAMES_AT_ONCE) if in_turns and not compared else 0
        sifted = buckets_for(records) + 2 * records if beyond else 0
        each = max(self.a_record, PER_COMPARED) if compared else self.a_record
        if self.bytes + each * records - self.of_names * beyond + sifted > there:
            looked_for = (
                f" Rows that stand in two of the files are looked for, which takes at least {PER_COMPARED} bytes for "
                "every record: give [data] a key, or repeated_rows = true."
            )
            raise PlanError(
                f"{self.words()}: with the records of these files that is more than the {there / 1e9:.1f} GB of this "
                f"machine. Nothing was read.{looked_for if compared else ''} Run it on a larger one, or make a release "
                "for each part of the data."
            )


def buckets_for(records: int) -> int:
    """How many buckets, of a byte each, the names of so many records are counted in."""
    return 1 << (BUCKETS * max(records, 1) - 1).bit_length()


def available() -> int:
    """The memory of the machine, or of the container that this process runs in."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        held = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
    except OSError:
        return whole
    return min(whole, int(held)) if held.isdigit() else whole

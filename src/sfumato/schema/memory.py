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

IN_A_PART, GATHERED, MOST_PARTS = 2**20, 2**20, 1024
"""Where records are spilled: how many stand in a part, about, and how many wait to be written; and the most parts."""

PER_PARTED = 600
"""Bytes of a record in the part that is being read, at most: by queries, where a rule is broken."""
PER_SPILLED_TEXT = 16
"""Bytes on disk of a text of a record, about, where rows are compared."""


@dataclass(frozen=True)
class SpillNeed:
    """What a run takes whose records are spilled: memory in all, memory and disk for every record."""

    bytes: int
    a_record: int
    on_disk: int

    def words(self) -> str:
        """The rest of a line of a price list.

        >>> SpillNeed(1_400_000_000, 0, 60).words()
        '; with --spill DIR about 1.4 GB of memory, and 60 bytes of disk for every record'
        """
        beside = f" and {self.a_record} bytes for every record" if self.a_record else ""
        disk = f"{self.on_disk} bytes of disk for every record"
        return f"; with --spill DIR about {self.bytes / 1e9:.1f} GB of memory{beside}, and {disk}"

    def bytes_for(self, records: int) -> int:
        """Memory with so many records."""
        return self.bytes + self.a_record * records


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
    spilled: SpillNeed | None = None
    """What is taken instead where records are spilled; nothing where that saves nothing, or cannot be."""

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
        held = f"{self.held}: about {self.bytes / 1e9:.1f} GB of memory{beside}{many if self.of_names else ''}"
        return held + (self.spilled.words() if self.spilled else "")

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
            spill = " Spill them to a disk with --spill DIR, or run it" if self.spilled or compared else " Run it"
            raise PlanError(
                f"{self.words()}: with the records of these files that is more than the {there / 1e9:.1f} GB of this "
                f"machine. Nothing was read.{looked_for if compared else ''}{spill} on a larger one, or make a release "
                "for each part of the data."
            )

    def refuse_spilled(self, records: int, free: int, *, compared: int = 0, limit: int | None = None) -> None:
        """Stop what fits neither memory nor the free space of a folder where so many records are spilled.

        So many texts of each are compared, where rows are looked for that stand in two files.
        """
        need, there = self.spilled or SpillNeed(self.bytes, self.a_record, 0), available() if limit is None else limit
        told = f"{self.held}{need.words()}: with the records of these files that is more than the "
        on_disk = need.on_disk + PER_SPILLED_TEXT * compared
        if need.bytes_for(records) > there:
            raise PlanError(f"{told}{there / 1e9:.1f} GB of this machine. Nothing was read. Run it on a larger one.")
        if on_disk * records > free:
            more = f", of which rows that are compared take {PER_SPILLED_TEXT * compared} more" if compared else ""
            raise PlanError(
                f"{told}{free / 1e9:.1f} GB that are free in the folder of --spill{more}. Nothing was read. Name one "
                "on a larger disk, or make a release for each part of the data."
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

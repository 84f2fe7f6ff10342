"""Settings: what a session of Spark must be set to for sums to be exact, and what a cluster lets others see."""

from collections.abc import Callable

from sfumato.errors import DataError

EXACT = {
    "spark.sql.ansi.enabled": "true",  # else sums wrap around and casts make nulls
    "spark.sql.caseSensitive": "true",  # else a column stands for another
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # else a folder state=01 is the number 1
    "spark.sql.files.ignoreCorruptFiles": "false",  # else records are left out in silence
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.parquet.mergeSchema": "true",  # else a column that one file lacks may be lost in all
    "spark.sql.session.timeZone": "UTC",
}
"""What is set in a session of our own, and asked for in that of a frame."""
QUICK = {"spark.sql.codegen.aggregate.fastHashMap.capacityBit": "18"}
"""What is set where a cluster lets it be, for speed alone: how many groups Spark finds sooner, 2^16 unless told."""
LENDING = "spark.sql.session.localRelationSizeLimit"
"""What the client of Spark asks before it sends a table."""
Asked = Callable[[str], str | None]

SEEN = {
    "spark.eventLog.enabled": (
        "true",
        "the cluster keeps an event log, which holds true counts: its history server is as confidential as the data",
    ),
    "spark.ui.enabled": (
        None,
        "the cluster shows its jobs on a web page, with true counts: it is as confidential as the data",
    ),
}
"""What lets others see true counts, where it is so set, or not set at all."""
SHIELDED = {
    "spark.io.encryption.enabled": "what it writes to its disks while it works is not encrypted",
    "spark.network.crypto.enabled": "what its machines send each other is not encrypted by Spark",
    "spark.authenticate": "its machines do not ask one another for a secret",
}
"""What protects records within the cluster, and what is said where it is off."""


def refuse_unset(asked: Asked) -> None:
    """Stop at a session in which sums may not be exact, or records left out."""
    wrong = [f"{name}={value}" for name, value in EXACT.items() if (asked(name) or "").lower() != value.lower()]
    if wrong:
        raise DataError(
            f"The session of Spark must be set so before its frame is made: {', '.join(wrong)}; else sums may wrap, "
            "codes change or records be left out."
        )


def stated(asked: Asked) -> tuple[str, ...]:
    """What the cluster lets others see, in words for the report of a run."""
    seen = [words for name, (value, words) in SEEN.items() if _is_on(asked(name), unset=value is None)]
    bare = [words for name, words in SHIELDED.items() if not _is_on(asked(name), unset=False)]
    return tuple(seen + bare)


def _is_on(value: str | None, *, unset: bool) -> bool:
    return unset if value is None else value.lower() == "true"

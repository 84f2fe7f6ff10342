"""Microdata: files, a database table or a frame behind a schema; it prints as its name."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sfumato.confidential.engines.sources.cluster import ClusterTable
from sfumato.confidential.engines.sources.parts import parts_of
from sfumato.confidential.sealed import Sealed
from sfumato.errors import DataError, nearest
from sfumato.schema import Schema

Frame = Any
Source = str | Path | Frame
"""A path, a folder of Parquet files, a pattern of names, `file.duckdb#table`, `postgresql://…#table`, a `ClusterTable`,
or any frame; a frame of Spark Connect is read where it is."""


@dataclass(frozen=True, eq=False, repr=False)
class Microdata(Sealed):
    """Where the confidential records are; nothing of them is shown, and it can be neither pickled nor copied."""

    sources: tuple[Source, ...] | Mapping[str, tuple[Source, ...]]
    schema: Schema
    engine: str = ""
    """Which engine reads them; where none is named, the first that is sure of them."""
    spill: Path | None = None
    """A folder on a disk where records that do not fit in memory are kept meanwhile, encrypted."""

    @classmethod
    def open(
        cls,
        source: Source | Sequence[Source] | Mapping[str, Source],
        schema: Schema,
        engine: str = "",
        spill: Path | None = None,
    ) -> "Microdata":
        """Microdata from one source or several, by the names of their tables where the plan joins some.

        They are opened when a run reads them.
        """
        if schema.joined:
            return cls(_named(source, schema), schema, engine, spill)
        sources = _several(source)
        _refuse_twice(sources)
        return cls(sources, schema, engine, spill)

    def __repr__(self) -> str:
        return f"<Microdata of {self.schema.unit}: confidential>"


def _several(source: Any) -> tuple[Source, ...]:
    sources = tuple(source) if isinstance(source, (list, tuple)) else (source,)
    if not sources:
        raise DataError("No data were given; name at least one file, table or frame.")
    return tuple(part for one in sources for part in parts_of(one))


def _named(source: Any, schema: Schema) -> dict[str, tuple[Source, ...]]:
    """The sources of every table that the plan joins."""
    tables = ", ".join(schema.tables)
    if not isinstance(source, Mapping):
        raise DataError(f"The plan joins the tables {tables}; say which source is which, as in {schema.base}=FILE.")
    for name in source:
        if name not in schema.tables:
            raise DataError(f"The plan joins no table '{name}'; {nearest(name, schema.tables)}")
    for name in schema.tables:
        if name not in source:
            raise DataError(f"The plan joins the tables {tables}, and no data were given for '{name}'.")
    named = {name: _several(source[name]) for name in schema.tables}
    _refuse_twice([one for own in named.values() for one in own])
    return named


def _refuse_twice(sources: Sequence[Source]) -> None:
    seen: dict[Hashable, int] = {}
    for number, source in enumerate(sources, start=1):
        first = seen.setdefault(_identity(source), number)
        if first != number:
            raise DataError(
                f"Sources {first} and {number} are the same, and records would be counted twice; name each source once."
            )


def _identity(source: Source) -> Hashable:
    """What two names of one source share: a file's place on its disk, a database's address without the password."""
    if isinstance(source, ClusterTable):
        return source
    if not isinstance(source, (str, Path)):
        return id(source)
    if "://" in str(source):
        parts = urlsplit(str(source))
        _, _, server = parts.netloc.rpartition("@")
        return server.lower().removesuffix(":5432"), parts.path, parts.query, parts.fragment.removeprefix("public.")
    name, _, table = (str(source), "", "") if Path(source).is_file() else str(source).partition("#")
    try:
        place = Path(name).stat()
    except (OSError, ValueError):
        return name, table  # it is not there, which is said when it is opened
    return place.st_dev, place.st_ino, table.lower().removeprefix("main.")

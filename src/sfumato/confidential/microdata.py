"""Microdata: files, a database table or a frame behind a schema; it prints as its name."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from sfumato.errors import DataError
from sfumato.schema import Schema

Frame = Any
Source = str | Path | Frame
"""A path, `file.duckdb#table`, `postgresql://…#table`, or any frame that narwhals accepts."""


@dataclass(frozen=True, eq=False, repr=False)
class Microdata:
    """Where the confidential records are; nothing of them is shown, and it cannot be pickled."""

    sources: tuple[Source, ...]
    schema: Schema

    @classmethod
    def open(cls, source: Source | Sequence[Source], schema: Schema) -> "Microdata":
        """Microdata from one source or several; they are opened when a run reads them, after it was charged."""
        sources = tuple(source) if isinstance(source, (list, tuple)) else (source,)
        if not sources:
            raise DataError("No data were given; name at least one file, table or frame.")
        _refuse_twice([one for one in sources if isinstance(one, (str, Path))])
        return cls(sources, schema)

    def __repr__(self) -> str:
        return f"<Microdata of {self.schema.unit}: confidential>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("Microdata are confidential and cannot be pickled.")


def _refuse_twice(named: list[str | Path]) -> None:
    seen: set[str] = set()
    for one in named:
        place = str(one) if "#" in str(one) or "://" in str(one) else str(Path(one).resolve())
        if place in seen:
            raise DataError(f"{one} is given twice; its records would be counted twice. Name each source once.")
        seen.add(place)

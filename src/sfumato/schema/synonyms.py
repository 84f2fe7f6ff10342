"""Synonyms: other names of levels, as people say them; public text, by which the levels are found."""

import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import PlanError, nearest
from sfumato.schema.letters import encoding_of

FIELDS = ("code", "synonym")
MOST, LONGEST = 200_000, 200
"""The most synonyms of one attribute, and the most characters of one."""


@dataclass(frozen=True)
class Synonyms:
    """Codes, and beside each another name of it; a code may have several, and a name may be of several codes.

    >>> Synonyms.of([{"code": "15-1252", "synonym": "Programmer"}]).names
    ('Programmer',)
    """

    codes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.names) > MOST:
            raise PlanError(f"synonyms lists {len(self.names):,} names, more than {MOST:,}; leave the rarest out.")
        long = next((name for name in self.names if len(name) > LONGEST), None)
        if long is not None:
            raise PlanError(f"The synonym '{long[:40]}…' has {len(long):,} characters; a name has {LONGEST} at most.")

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def of(cls, listed: Iterable[Mapping[str, object]]) -> "Synonyms":
        """Synonyms from records of a code and a synonym, each pair once."""
        pairs = dict.fromkeys(_pair(one) for one in listed)
        return cls(tuple(code for code, _ in pairs), tuple(name for _, name in pairs))

    @classmethod
    def read(cls, path: Path, encoding: str | None = None) -> "Synonyms":
        """Synonyms from a CSV or Parquet file with the columns `code` and `synonym`; others are not read."""
        if not os.path.isfile(path):  # noqa: PTH113 - of a name that no file can have, a path raises
            raise PlanError(f"The synonyms {path} are not there; a path is taken from the plan's own folder.")
        try:
            rows = _rows(path, encoding)
        except (ValueError, TypeError, LookupError, NotImplementedError, OSError, MemoryError, csv.Error):
            raise PlanError(f"{path} cannot be read; synonyms are a CSV file in UTF-8, or a Parquet file.") from None
        if any(set(FIELDS) - set(row) for row in rows[:1]) or not rows:
            raise PlanError(f"{path} lacks rows, or one of the columns {' and '.join(FIELDS)}, which synonyms have.")
        return cls.of([{field: row[field] for field in FIELDS} for row in rows])

    def refuse_unknown(self, codes: Sequence[str]) -> None:
        """Refuse the synonym of a code that no level has."""
        known = set(codes) if self.codes else set()
        for code, name in zip(self.codes, self.names, strict=True):
            if code not in known:
                raise PlanError(f"the synonym '{name}' is of '{code}', which is no level; {nearest(code, codes)}")

    def records(self) -> list[dict[str, str]]:
        """The synonyms as plans write them."""
        return [{"code": code, "synonym": name} for code, name in zip(self.codes, self.names, strict=True)]


def _pair(one: Mapping[str, object]) -> tuple[str, str]:
    for key in one:
        if key not in FIELDS:
            raise PlanError(f"A synonym has no '{key}'; {nearest(key, FIELDS)}")
    code, name = ("" if one.get(field) is None else str(one[field]).strip() for field in FIELDS)
    if not code or not name:
        raise PlanError("A synonym has a code and a name; one of them is empty.")
    return code, name


def _rows(path: Path, encoding: str | None) -> list[dict[str, object]]:
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as file:
            if file.metadata.num_rows > MOST:
                raise PlanError(f"{path} lists more than {MOST:,} names; leave the rarest out.")
            found: list[dict[str, object]] = file.read([*FIELDS]).to_pylist()
            return found
    with path.open(newline="", encoding=encoding_of(path, encoding)) as file:
        return list(csv.DictReader(file))

"""Synonyms: other names of levels, as people say them; public text, by which the levels are found."""

import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import PlanError, nearest
from sfumato.schema.languages import in_further_languages, refuse_text
from sfumato.schema.letters import encoding_of

FIELDS = ("code", "synonym")
MOST, LONGEST = 200_000, 200
"""The most synonyms of one attribute, and the most characters of one."""


@dataclass(frozen=True)
class Synonyms:
    """Codes, and beside each another name of it; a code may have several, and a name may be of several codes.

    >>> Synonyms.of([{"code": "15-1252", "synonym": "Programmer"}]).names
    ('Programmer',)
    >>> Synonyms.of([{"code": "15-1252", "synonym.de": "Programmiererin"}]).languages
    ('de',)
    """

    codes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    """The language of each name, '' for that of the list; none where all are in that one."""

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
        """Synonyms from records of a code and a synonym, or one in a further language, `synonym.de`, each pair once."""
        found: dict[tuple[str, str], str] = {}
        for one in listed:
            for code, name, language in _named(one):
                found.setdefault((code, name), language)
        languages = tuple(found.values()) if any(found.values()) else ()
        return cls(tuple(code for code, _ in found), tuple(name for _, name in found), languages)

    @classmethod
    def read(cls, path: Path, encoding: str | None = None) -> "Synonyms":
        """Synonyms from a CSV or Parquet file with the columns `code` and `synonym`, or `synonym.de`."""
        if not os.path.isfile(path):  # noqa: PTH113 - of a name that no file can have, a path raises
            raise PlanError(f"The synonyms {path} are not there; a path is taken from the plan's own folder.")
        try:
            rows = _rows(path, encoding)
        except (ValueError, TypeError, LookupError, NotImplementedError, OSError, MemoryError, csv.Error):
            raise PlanError(f"{path} cannot be read; synonyms are a CSV file in UTF-8, or a Parquet file.") from None
        names = list(rows[0]) if rows else []
        further = in_further_languages(names, FIELDS[1:])
        if "code" not in names or not {FIELDS[1], *further} & {*names}:
            raise PlanError(f"{path} lacks rows, or one of the columns {' and '.join(FIELDS)}, which synonyms have.")
        wanted = [name for name in (*FIELDS, *further) if name in names]
        return cls.of([{field: row[field] for field in wanted} for row in rows])

    def refuse_unknown(self, codes: Sequence[str]) -> None:
        """Refuse the synonym of a code that no level has."""
        known = set(codes) if self.codes else set()
        for code, name in zip(self.codes, self.names, strict=True):
            if code not in known:
                raise PlanError(f"the synonym '{name}' is of '{code}', which is no level; {nearest(code, codes)}")

    def records(self) -> list[dict[str, str]]:
        """The synonyms as plans write them."""
        languages = self.languages or ("",) * len(self)
        rows = zip(self.codes, self.names, languages, strict=True)
        return [{"code": code, f"synonym.{said}" if said else "synonym": name} for code, name, said in rows]


def _named(one: Mapping[str, object]) -> list[tuple[str, str, str]]:
    """A code, each of its other names in a record, and the language of each."""
    further = in_further_languages(one, FIELDS[1:])
    for key in one:
        if key not in FIELDS and key not in further:
            raise PlanError(f"A synonym has no '{key}'; {nearest(key, FIELDS)}")
    texts = {key: "" if one.get(key) is None else str(one[key]).strip() for key in one}
    names = [(name, key.partition(".")[2]) for key, name in texts.items() if key != "code" and name]
    if not texts.get("code") or not names:
        raise PlanError("A synonym has a code and a name; one of them is empty.")
    for name, language in names:
        _ = language and refuse_text(name, f"The synonym.{language} of '{texts['code']}'")
    return [(texts["code"], name, language) for name, language in names]


def _rows(path: Path, encoding: str | None) -> list[dict[str, object]]:
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as file:
            if file.metadata.num_rows > MOST:
                raise PlanError(f"{path} lists more than {MOST:,} names; leave the rarest out.")
            names = file.schema_arrow.names
            wanted = [name for name in (*FIELDS, *in_further_languages(names, FIELDS[1:])) if name in names]
            found: list[dict[str, object]] = file.read(wanted).to_pylist()
            return found
    with path.open(newline="", encoding=encoding_of(path, encoding)) as file:
        return list(csv.DictReader(file))

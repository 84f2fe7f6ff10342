"""Level columns: a list of levels as plans, files and releases write it, before anything is known of its hierarchy."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import PlanError, nearest
from sfumato.schema.languages import Texts, in_further_languages, refuse_text
from sfumato.schema.level_files import columns_of

FIELDS = ("code", "label", "parent", "note")
TRANSLATED = ("label", "note")
"""What may be said again in further languages."""


@dataclass(frozen=True)
class LevelColumns:
    """Codes, labels, parents and notes, each in the order of the list, and what is said again in further languages."""

    codes: tuple[str, ...]
    labels: tuple[str, ...]
    parents: tuple[str | None, ...]
    notes: tuple[str, ...]
    texts: Texts

    @classmethod
    def of(cls, listed: Iterable[str | int | Mapping[str, object]]) -> "LevelColumns":
        """The columns of plain codes, or of records of code, label, parent and note."""
        records = [_record(one) for one in listed]
        keys = dict.fromkeys(key for one in records for key in one)
        return cls._of({key: [one.get(key) for one in records] for key in keys}, len(records))

    @classmethod
    def read(cls, path: Path, encoding: str | None = None) -> "LevelColumns":
        """The columns of a CSV or Parquet file with `code` and, if wanted, `label`, `parent`, `note`."""
        columns = columns_of(path, FIELDS, TRANSLATED, encoding)
        return cls._of(columns, len(columns["code"]))

    @classmethod
    def _of(cls, columns: Mapping[str, Sequence[object]], count: int) -> "LevelColumns":
        none = [None] * count
        codes, labels, parents, notes = (_texts(columns.get(field, none)) for field in FIELDS)
        if "" in codes:
            raise PlanError(
                "A level has no code; give each level a code, and a label if people should read another word."
            )
        texts = {name: tuple(_texts(columns[name])) for name in in_further_languages(columns, TRANSLATED)}
        for name, column in texts.items():
            for code, text in zip(codes, column, strict=True):
                _ = text and refuse_text(text, f"{name} of '{code}'")
        named = tuple(label or code for code, label in zip(codes, labels, strict=True))
        return cls(tuple(codes), named, tuple(parent or None for parent in parents), tuple(notes), texts)


def _record(one: str | int | Mapping[str, object]) -> Mapping[str, object]:
    if not isinstance(one, Mapping):
        return {"code": one}
    further = in_further_languages(one, TRANSLATED)
    for key in one:
        if key not in FIELDS and key not in further:
            raise PlanError(f"A level has no '{key}'; {nearest(key, FIELDS)}")
    return one


def _texts(column: Sequence[object]) -> list[str]:
    """One of the fields of all levels, as text; '' where it is not there."""
    if any(isinstance(one, (list, dict)) for one in column):
        raise PlanError("A level's code, label, parent and note are single words or sentences; got a list or a table.")
    return ["" if one is None else str(one) for one in column]

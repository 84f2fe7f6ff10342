"""Levels: the public code list of an attribute, a hierarchy of any depth by its parent column."""

import csv
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PlanError, nearest
from sfumato.schema.leaf_groups import LeafGroups
from sfumato.schema.letters import encoding_of

Mask = NDArray[np.bool_]
FIELDS = ("code", "label", "parent", "note")
MOST, MOST_BYTES, DEEPEST = 2_000_000, 2**28, 64
"""The most levels of one list, the most bytes that they take, and the most levels above one another."""
TOO_MANY = f"{{}} lists more than {MOST:,} levels, or in more than {MOST_BYTES:,} bytes; use a coarser classification."


@dataclass(frozen=True)
class Levels:
    """Codes with labels, parents and notes; the cells of a table stand on the leaves, in listed order.

    >>> jobs = Levels.of([{"code": "29", "label": "Health"}, {"code": "29-1", "parent": "29"}, "35"])
    >>> jobs.leaves, jobs.mask("29").tolist()
    (('29-1', '35'), [True, False])
    """

    codes: tuple[str, ...]
    labels: tuple[str, ...]
    parents: tuple[str | None, ...]
    notes: tuple[str, ...]
    whole: "Levels | None" = field(default=None, compare=False, repr=False)
    """Of levels that are cut off at a depth: all of them."""

    def __post_init__(self) -> None:
        if not self.codes:
            raise PlanError("A list of levels is empty; levels are declared, never read off the data: list them.")
        if len(self._row) != len(self.codes):
            twice = min(code for code, times in Counter(self.codes).items() if times > 1)
            raise PlanError(f"The code '{twice}' stands twice in its list of levels; a code names one level.")
        for code, parent in zip(self.codes, self.parents, strict=True):
            if parent is not None and parent not in self._row:
                raise PlanError(
                    f"Level '{code}' has parent '{parent}', which is not listed; {nearest(parent, self.codes)}"
                )
            self.path(code)

    @classmethod
    def of(cls, listed: Iterable[str | int | Mapping[str, object]]) -> "Levels":
        """Levels from plain codes or from records of code, label, parent and note."""
        records = [_record(one) for one in listed]
        return cls(
            codes=tuple(one["code"] for one in records),
            labels=tuple(one["label"] or one["code"] for one in records),
            parents=tuple(one["parent"] or None for one in records),
            notes=tuple(one["note"] for one in records),
        )

    @classmethod
    def read(cls, path: Path, encoding: str | None = None) -> "Levels":
        """Levels from a CSV or Parquet file with a column `code` and, if wanted, `label`, `parent`, `note`."""
        if not os.path.isfile(path):  # noqa: PTH113 - of a name that no file can have, a path raises
            raise PlanError(f"The list of levels {path} is not there; a path is taken from the plan's own folder.")
        try:
            records = _records(path, encoding)
        except (ValueError, TypeError, LookupError, NotImplementedError, OSError, MemoryError, csv.Error):
            said = "a list of levels is a CSV file in UTF-8, or as [data] encoding says, or a Parquet file."
            raise PlanError(f"{path} cannot be read; {said}") from None
        if not records or "code" not in records[0]:
            raise PlanError(
                f"{path} has no column 'code'; a list of levels has code, and may have label, parent, note."
            )
        return cls.of(records)

    @cached_property
    def _row(self) -> dict[str, int]:
        return {code: row for row, code in enumerate(self.codes)}

    def path(self, code: str) -> list[str]:
        """The code and its ancestors, nearest first."""
        path = [code]
        while (parent := self.parents[self._row[path[-1]]]) is not None:
            if parent in path or len(path) > DEEPEST:
                raise PlanError(
                    f"Level '{parent}' is its own ancestor, or stands above more than {DEEPEST} others; a hierarchy "
                    "must end in a level without a parent."
                )
            path.append(parent)
        return path

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The codes that are nobody's parent: the ones that data may carry."""
        inner = set(self.parents)
        return tuple(code for code in self.codes if code not in inner)

    @cached_property
    def branches(self) -> tuple[str, ...]:
        """All codes, each under its parent, whichever order they are listed in.

        >>> Levels.of(["a", "b", {"code": "b1", "parent": "b"}, {"code": "a1", "parent": "a"}]).branches
        ('a', 'a1', 'b', 'b1')
        """
        place = self._row
        return tuple(sorted(self.codes, key=lambda code: [place[one] for one in reversed(self.path(code))]))

    @cached_property
    def leaf_index(self) -> dict[str, int]:
        return {code: place for place, code in enumerate(self.leaves)}

    @cached_property
    def carried(self) -> dict[str, int]:
        """The place of every code that data may carry: a leaf's own, or that of the leaf it was cut off at."""
        if self.whole is None:
            return self.leaf_index
        return dict(zip(self.whole.leaves, self.whole.above(self).tolist(), strict=True))

    @property
    def under(self) -> LeafGroups:
        """For each leaf those that data may carry under it: itself, or the leaves that were cut off there."""
        return LeafGroups.parted(np.array(list(self.carried.values())), len(self.leaves))

    def cut(self, depth: int | None) -> "Levels":
        """The levels down to a depth, 0 at the top; all of them where none is below it; made once and kept."""
        if depth is None or depth >= self.depth:
            return self
        if depth not in self._cuts:
            kept = [one for one in self.records() if self.depths[one["code"]] <= depth]
            self._cuts[depth] = replace(Levels.of(kept), whole=self.whole or self)
        return self._cuts[depth]

    @cached_property
    def _cuts(self) -> dict[int, "Levels"]:
        return {}

    def above(self, cut: "Levels") -> NDArray[np.intp]:
        """For each leaf the place of the leaf above it among levels that are cut off.

        >>> jobs = Levels.of(["29", {"code": "29-1", "parent": "29"}, "35", {"code": "29-2", "parent": "29"}])
        >>> jobs.leaves, jobs.above(jobs.cut(0)).tolist()
        (('29-1', '35', '29-2'), [0, 1, 0])
        """
        found = np.zeros(len(self.leaves), dtype=np.intp)
        for place, code in enumerate(cut.leaves):
            found[self._under[code]] = place
        return found

    @cached_property
    def _under(self) -> dict[str, list[int]]:
        """The places of the leaves under each code: a mask for each would be the square of a long list."""
        under: dict[str, list[int]] = {code: [] for code in self.codes}
        for place, leaf in enumerate(self.leaves):
            for code in self.path(leaf):
                under[code].append(place)
        return under

    @cached_property
    def depths(self) -> dict[str, int]:
        """How far each code stands below the top of its tree."""
        return {code: len(self.path(code)) - 1 for code in self.codes}

    @cached_property
    def depth(self) -> int:
        return max(self.depths.values())

    def has(self, code: str) -> bool:
        """Whether it is one of the codes."""
        return code in self._row

    def label(self, code: str) -> str:
        return self.labels[self._row[code]]

    def parent(self, code: str) -> str | None:
        return self.parents[self._row[code]]

    def find(self, name: str | int) -> str:
        """The code that is named by itself or by its label."""
        name = str(name)
        if name in self._row:
            return name
        same = [code for code, label in zip(self.codes, self.labels, strict=True) if label.lower() == name.lower()]
        # Addresses and commands trim what they are given, so a code with space around it is found without.
        same = same or [code for code in self.codes if code.strip() == name.strip()]
        if len(same) == 1:
            return same[0]
        if same:
            raise KeyError(f"'{name}' is the name of several levels ({', '.join(same[:5])}): use the code")
        if self.whole is not None and (finer := self._finer(name)):
            raise KeyError(finer)
        raise KeyError(f"'{name}' is not a level; {nearest(name, [*self.codes, *self.labels])}")

    def _finer(self, name: str) -> str:
        """What to say of a level that was cut off; nothing where there is no such level at all."""
        try:
            above = self.whole.find(name) if self.whole else ""
        except KeyError:
            return ""
        while self.whole and above not in self._row:
            above = str(self.whole.parent(above))
        return f"'{name}' is finer than what was measured; '{above}' is the level above it that was"

    def mask(self, names: str | int | Sequence[str | int]) -> Mask:
        """Which leaves lie under any of the named levels."""
        wanted = [names] if isinstance(names, (str, int)) else list(names)
        mask = np.zeros(len(self.leaves), dtype=bool)
        for name in wanted:
            mask[self._under[self.find(name)]] = True
        return mask

    def groups(self, named: Sequence[str | Sequence[str]]) -> LeafGroups:
        """For each code, or each list of codes, the leaves under it."""
        leaves = [
            self._under[self.find(one)] if isinstance(one, str) else np.flatnonzero(self.mask(one)) for one in named
        ]
        return LeafGroups.listed(leaves, len(self.leaves))

    def at(self, depth: int) -> tuple[str, ...]:
        """The codes at a depth, and the leaves that end above it: together they hold every leaf once."""
        if depth not in self._tiers:
            leaves, depths = self.leaf_index, self.depths
            self._tiers[depth] = tuple(
                code for code in self.codes if depths[code] == depth or (code in leaves and depths[code] < depth)
            )
        return self._tiers[depth]

    @cached_property
    def _tiers(self) -> dict[int, tuple[str, ...]]:
        """The codes of the depths that were asked for: pages ask for them again and again."""
        return {}

    def records(self) -> list[dict[str, str]]:
        """The list as records without empty entries, as plans and releases write it."""
        rows = zip(self.codes, self.labels, self.parents, self.notes, strict=True)
        return [
            {"code": code}
            | ({"label": label} if label != code else {})
            | ({"parent": parent} if parent else {})
            | ({"note": note} if note else {})
            for code, label, parent, note in rows
        ]


def _record(one: str | int | Mapping[str, object]) -> dict[str, str]:
    if not isinstance(one, Mapping):
        one = {"code": one}
    for key in one:
        if key not in FIELDS:
            raise PlanError(f"A level has no '{key}'; {nearest(key, FIELDS)}")
    if any(isinstance(value, (list, dict)) for value in one.values()):
        raise PlanError("A level's code, label, parent and note are single words or sentences; got a list or a table.")
    if one.get("code") is None or one["code"] == "":
        raise PlanError("A level has no code; give each level a code, and a label if people should read another word.")
    return {field: "" if one.get(field) is None else str(one[field]) for field in FIELDS}


def _records(path: Path, encoding: str | None) -> list[dict[str, object]]:
    """The rows of a CSV or Parquet file, of the columns that a level has."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        # Read as one file: a reader of folders of files, which `read_table` brings in, takes longer to load than this.
        with pq.ParquetFile(path) as file:
            groups = [file.metadata.row_group(place) for place in range(file.metadata.num_row_groups)]
            if file.metadata.num_rows > MOST or sum(group.total_byte_size for group in groups) > MOST_BYTES:
                raise PlanError(TOO_MANY.format(path))
            known = [name for name in file.schema_arrow.names if name in FIELDS]
            rows = file.read(known).to_pylist()
    else:
        with path.open(newline="", encoding=encoding_of(path, encoding)) as file:
            rows = list(csv.DictReader(file))
    return [{key: row[key] for key in FIELDS if key in row} for row in rows]

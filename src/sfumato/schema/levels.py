"""Levels: the public code list of an attribute, a hierarchy of any depth by its parent column."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PlanError, nearest
from sfumato.foreign_text import foreign
from sfumato.schema.languages import OWN, Texts, by_code
from sfumato.schema.leaf_groups import LeafGroups
from sfumato.schema.level_columns import TRANSLATED, LevelColumns
from sfumato.schema.parent_rows import DEEPEST, ParentRows

Mask = NDArray[np.bool_]


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
    texts: Texts = field(default_factory=dict, compare=False, repr=False)
    """Labels and notes in further languages, as `label.de`; '' of a level that has none."""
    language: str = field(default="", compare=False, repr=False)
    """The language that they are told in, where that is another than their own."""
    own: "Levels | None" = field(default=None, compare=False, repr=False)
    """The list in its own language, where this one is told in another."""
    own_language: str = field(default=OWN, compare=False, repr=False)

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
        if self.depth > DEEPEST:
            self.path(self.codes[int(self._tree.deep.argmax())])  # says what is wrong

    @classmethod
    def of(cls, listed: Iterable[str | int | Mapping[str, object]]) -> "Levels":
        """Levels from plain codes or from records of code, label, parent and note."""
        return cls._of(LevelColumns.of(listed))

    @classmethod
    def read(cls, path: Path, encoding: str | None = None) -> "Levels":
        """Levels from a CSV or Parquet file with a column `code` and, if wanted, `label`, `parent`, `note`."""
        return cls._of(LevelColumns.read(path, encoding))

    @classmethod
    def _of(cls, columns: LevelColumns) -> "Levels":
        return cls(columns.codes, columns.labels, columns.parents, columns.notes, texts=columns.texts)

    @cached_property
    def _row(self) -> dict[str, int]:
        return {code: row for row, code in enumerate(self.codes)}

    @cached_property
    def _tree(self) -> ParentRows:
        above = [-1 if parent is None else self._row[parent] for parent in self.parents]
        return ParentRows(np.array(above, dtype=np.intp))

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
        return tuple(self.codes[row] for row in self._tree.leaves.tolist())

    @cached_property
    def branches(self) -> tuple[str, ...]:
        """All codes, each under its parent, whichever order they are listed in.

        >>> Levels.of(["a", "b", {"code": "b1", "parent": "b"}, {"code": "a1", "parent": "a"}]).branches
        ('a', 'a1', 'b', 'b1')
        """
        return tuple(self.codes[row] for row in self._tree.branches.tolist())

    def branch_turn(self, code: str) -> int:
        """The turn of a code among the branches."""
        return int(self._tree.branch_turns[self._row[code]])

    def turn(self, code: str) -> int:
        """The turn of a code in the list."""
        return self._row[code]

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
            rows = np.flatnonzero(self._tree.deep <= depth).tolist()
            codes, labels, notes = (tuple(side[row] for row in rows) for side in (self.codes, self.labels, self.notes))
            parents = tuple(self.parents[row] for row in rows)
            texts = {name: tuple(column[row] for row in rows) for name, column in self.texts.items()}
            own = self.own.cut(depth) if self.own else None
            told = (self.language, own, self.own_language)
            self._cuts[depth] = Levels(codes, labels, parents, notes, self.whole or self, texts, *told)
        return self._cuts[depth]

    @cached_property
    def _cuts(self) -> dict[int, "Levels"]:
        return {}

    def with_texts(self, language: str, said: Mapping[str, object]) -> "Levels":
        """The levels with labels and notes in a further language, each by its code."""
        places = {"label": "levels", "note": "notes"}
        added = {f"{field}.{language}": by_code(some, self.codes, places[field]) for field, some in said.items()}
        return replace(self, texts={**self.texts, **added})

    def in_language(self, language: str, own_language: str = OWN) -> "Levels":
        """The levels with their labels and notes in a language, as far as they are said in it.

        >>> sexes = Levels.of([{"code": "f", "label": "Women", "label.de": "Frauen"}, "men"]).in_language("de")
        >>> sexes.labels, sexes.label("men").parts
        (('Frauen', 'men'), (('men', 'en'),))
        """
        own = self.own or self
        labels, notes = (own.texts_in(language, field) for field in TRANSLATED)
        whole = own.whole.in_language(language, own_language) if own.whole else None
        told = {"language": language, "own": own, "own_language": own_language}
        return replace(own, labels=labels, notes=notes, whole=whole, **told)  # type: ignore[arg-type]

    def texts_in(self, language: str, field: str) -> tuple[str, ...]:
        """The labels or notes in a language, those that are not said in it as they are."""
        own = self.labels if field == "label" else self.notes
        said = self.texts.get(f"{field}.{language}", ())
        return tuple(new or old for new, old in zip(said, own, strict=True)) if said else own

    def is_named_by_its_code(self, code: str) -> bool:
        """Whether a level has no other name in its own language, so that its code tells a reader nothing more.

        >>> sexes = Levels.of([{"code": "f", "label.de": "Frauen"}, {"code": "11", "label": "Making"}])
        >>> [sexes.in_language("de").is_named_by_its_code(code) for code in sexes.codes]
        [True, False]
        """
        return (self.own or self).label(code).lower() == code.lower()

    def above(self, cut: "Levels") -> NDArray[np.intp]:
        """For each leaf the place of the leaf above it among levels that are cut off.

        >>> jobs = Levels.of(["29", {"code": "29-1", "parent": "29"}, "35", {"code": "29-2", "parent": "29"}])
        >>> jobs.leaves, jobs.above(jobs.cut(0)).tolist()
        (('29-1', '35', '29-2'), [0, 1, 0])
        """
        return np.arange(len(self.leaves)) if cut is self else self.groups(cut.leaves).row_of

    @cached_property
    def depths(self) -> dict[str, int]:
        """How far each code stands below the top of its tree, in the order of the codes."""
        return dict(zip(self.codes, self._tree.deep.tolist(), strict=True))

    @cached_property
    def depth(self) -> int:
        return int(self._tree.deep.max())

    def has(self, code: str) -> bool:
        """Whether it is one of the codes."""
        return code in self._row

    def label(self, code: str) -> str:
        """What a level is called; in its own language where nobody said it in the one that they are told in."""
        row, said = self._row[code], self.texts.get(f"label.{self.language}", ())
        translated = not self.language or (said and said[row])
        return self.labels[row] if translated else foreign(self.labels[row], self.own_language)

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
            mask[self._tree.under.leaves(self._row[self.find(name)])] = True
        return mask

    def groups(self, named: Sequence[str | Sequence[str]]) -> LeafGroups:
        """For each code, or each list of codes, the leaves under it."""
        codes = [one for one in named if isinstance(one, str)]
        if len(codes) == len(named):
            return self._tree.under.at(np.array([self._row[self.find(code)] for code in codes], dtype=np.intp))
        each = (self.mask(one) for one in named)
        return LeafGroups.listed([np.flatnonzero(mask) for mask in each], len(self.leaves))

    def leaf_count(self, code: str) -> int:
        """How many leaves lie under a code."""
        return int(self._tree.under.sizes[self._row[code]])

    def at(self, depth: int) -> tuple[str, ...]:
        """The codes at a depth, and the leaves that end above it: together they hold every leaf once."""
        if depth not in self._tiers:
            self._tiers[depth] = tuple(self.codes[row] for row in self._tree.tier(depth).tolist())
        return self._tiers[depth]

    def is_at(self, code: str, depth: int) -> bool:
        """Whether a code is one of those at a depth."""
        return self._tree.in_tier(self._row[code], depth)

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
            | {name: column[row] for name, column in self.texts.items() if column[row]}
            for row, (code, label, parent, note) in enumerate(rows)
        ]

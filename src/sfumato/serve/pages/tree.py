"""Tree: a long list of codes as people look through it: branches that open, and a search by code or word."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sfumato.schema import Levels

WHOLE = 2_000
"""The most codes that a page holds all at once; of a longer list it holds the branches that were opened."""
MOST = 500
"""The most codes of one branch, or found by one search, on a page that does not hold the whole list."""
Marked = tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class Node:
    """One code: its text in parts of which some were looked for, and what stands below it."""

    code: str
    label: str
    shown_code: Marked
    shown_label: Marked
    ticked: bool
    found: bool
    opened: bool
    below: int
    ticked_below: int
    children: tuple["Node", ...]


def matches(levels: Levels, words: Sequence[str]) -> list[str]:
    """The codes that hold every word, in their code or in their label; upper and lower case count the same.

    >>> matches(Levels.of([{"code": "29-1141", "label": "Registered nurses"}, "35"]), ["NURS", "29"])
    ['29-1141']
    """
    wanted = list(dict.fromkeys(word.casefold() for word in words))
    both = zip(levels.codes, levels.labels, strict=True)
    texts = ((code, f"{code} {label}".casefold()) for code, label in both)
    return [code for code, text in texts if all(word in text for word in wanted)]


def marked(text: str, words: Sequence[str]) -> Marked:
    """The text in parts, each with whether it was looked for.

    >>> marked("Registered nurses", ["nurs"])
    (('Registered ', False), ('nurs', True), ('es', False))
    """
    if not words:
        return ((text, False),)
    hits = re.finditer("|".join(re.escape(word) for word in words), text, flags=re.IGNORECASE)
    ends = [0, *(end for hit in hits for end in hit.span()), len(text)]
    parts = [text[start:end] for start, end in pairwise(ends)]
    return tuple((part, place % 2 == 1) for place, part in enumerate(parts) if part)


class LevelTree:
    """What a reader asked to see of a list: its branches, how many codes were found, and what the page leaves out."""

    def __init__(self, levels: Levels, ticked: Sequence[str], find: str = "", opened: Collection[str] = ()) -> None:
        self.levels, self.words, self.whole = levels, find.split(), len(levels.codes) <= WHOLE
        self._below = _below(levels)
        hits = matches(levels, self.words) if self.words else []
        self.found = len(hits)
        self._hits = frozenset(hits if self.whole else hits[:MOST])
        self._path = self._above(self._hits)
        self._opened = frozenset(opened) | self._above(opened)
        self._ticked, self._ticked_above = frozenset(ticked), self._above(ticked)
        self.left_out = 0 if self.whole else max(0, len(hits) - MOST)
        self._seen: set[str] = set()
        self.nodes = self._nodes(self._below.get(None, ()), inside=False)
        self.unseen = tuple(code for code in ticked if code not in self._seen)
        """Ticked codes that are not on the page, which it carries along."""

    def _above(self, codes: Iterable[str]) -> frozenset[str]:
        """The ancestors of some codes."""
        return frozenset(above for code in codes for above in self.levels.path(code)[1:])

    def _nodes(self, codes: Sequence[str], *, inside: bool) -> tuple[Node, ...]:
        """The nodes of one branch; below a code that was found, everything is there to be opened."""
        kept = [code for code in codes if not self.words or inside or code in self._hits or code in self._path]
        if not self.whole and not self.words and len(kept) > MOST:
            self.left_out += len(kept) - MOST
            kept = kept[:MOST]
        return tuple(self._node(code, inside=inside or code in self._hits) for code in kept)

    def _node(self, code: str, *, inside: bool) -> Node:
        self._seen.add(code)
        below = self._below.get(code, ())
        opened = (
            code in self._path or code in self._opened or (not self.words and self.whole and code in self._ticked_above)
        )
        grown = self.whole or opened
        children = self._nodes(below, inside=inside and (self.whole or code in self._opened)) if below and grown else ()
        label = self.levels.label(code)
        return Node(
            code,
            label,
            () if self.levels.is_named_by_its_code(code) else marked(code, self.words),
            marked(label, self.words),
            ticked=code in self._ticked,
            found=code in self._hits,
            opened=opened,
            below=len(below),
            ticked_below=sum(one in self._ticked for one in below) + sum(child.ticked_below for child in children),
            children=children,
        )


def _below(levels: Levels) -> Mapping[str | None, Sequence[str]]:
    """The codes directly below each code; below nothing stand those at the top."""
    found: dict[str | None, list[str]] = {}
    for code, parent in zip(levels.codes, levels.parents, strict=True):
        found.setdefault(parent, []).append(code)
    return found

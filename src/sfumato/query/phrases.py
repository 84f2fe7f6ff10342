"""Phrases: very many short texts held as one, found by how their words begin, and by words that are nearly theirs.

A text is found by a scan over all of them: a list of 800,000 areas is some twenty megabytes, which a processor reads in
milliseconds, and an index of its words would be ten times as large.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from sfumato.query.near_words import NearWords

MOST_LOOKED_AT = 2_000
"""The most texts that hold one of the words and are looked at for the others."""
MOST_OF_A_KIND = 200
"""The most texts that are found in each way."""
ANYWHERE = 3
"""How well a text fits whose words begin with those looked for, in whatever order."""
_MARKS = re.compile(r"[\u0300-\u036f]+")
_APART = re.compile(r"[^\w\n]+|_+")
_PLAIN = {number: " " for number in range(128) if not chr(number).isalnum() and chr(number) != "\n"}
_WORD = re.compile(rb"[^\s\d]{4,}(?=[\s])")


def folded(text: str) -> str:
    """A text as it is looked for: small letters without accents, one space for whatever is no letter and no digit.

    >>> folded("Köche & Köchinnen, 15-1252"), folded("Straße")
    (' koche kochinnen 15 1252', ' strasse')
    """
    text = f" {text}".replace("\n", "\n ")
    if text.isascii():
        text = text.lower().translate(_PLAIN)
    else:
        text = _APART.sub(" ", _MARKS.sub("", normalize("NFKD", text.casefold())).casefold())
    return re.sub(" +", " ", text)


def words_of(text: str) -> tuple[str, ...]:
    """The words that somebody looks for.

    >>> words_of("  Software-Developers ")
    ('software', 'developers')
    """
    return tuple(folded(text.replace("\n", " ")).split())


@dataclass(frozen=True)
class Phrase:
    """A text that was found: its place, and how well it fits, 0 if it is what was looked for and nothing else."""

    place: int
    fit: int


class Phrases:
    """Texts by their places, in the order in which they were given."""

    def __init__(self, texts: Iterable[str]) -> None:
        lines = "\n".join(text.replace("\n", " ") for text in texts)
        body = _folded_lines(lines)
        self.text = b"\n" + body.encode("utf-8", "replace") + b"\n"
        marks = np.frombuffer(self.text, dtype=np.uint8) == ord("\n")
        self.starts: NDArray[np.int64] = np.flatnonzero(marks)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def nbytes(self) -> int:
        """How much memory the texts take."""
        return len(self.text) + self.starts.nbytes + (self.near.nbytes if "near" in vars(self) else 0)

    @cached_property
    def near(self) -> NearWords:
        """The words of the texts that may be misspelt."""
        return NearWords.of({one[0].decode() for one in _WORD.finditer(self.text)})

    def find(self, words: Sequence[str], most: int = MOST_OF_A_KIND) -> list[Phrase]:
        """The texts whose words begin with these, those that are the words themselves first.

        Then those that begin with them, that hold them one after the other, and that hold them anywhere.
        """
        if not words:
            return []
        phrase = b" " + " ".join(words).encode()
        found = {place: self._fit(place, phrase) for place in islice(self._holding(phrase), MOST_LOOKED_AT)}
        if len(found) == MOST_LOOKED_AT:  # what fits best may stand after so many others
            whole = b"\n" + phrase + b"\n"
            found |= {place: self._fit(place, phrase) for place in islice(self._holding(whole), most)}
        if len(words) > 1:
            found = dict.fromkeys(islice(self._together(words), most), ANYWHERE) | found
        best = sorted(found.items(), key=lambda one: (one[1], one[0]))
        return [Phrase(place, fit) for place, fit in best[: 3 * most]]

    def _fit(self, place: int, phrase: bytes) -> int:
        """How well a text that holds some words one after the other fits: it is these, begins with them, holds them."""
        line = self.line(place)
        return 0 if line == phrase else 1 if line.startswith(phrase) else 2

    def knows(self, word: str) -> bool:
        """Whether a word of some text begins like this."""
        return b" " + word.encode() in self.text

    def meant(self, words: Sequence[str]) -> tuple[str, ...]:
        """The words, each that begins no word of any text replaced by the nearest that is one, if one is near."""
        return tuple(word if self.knows(word) else self.near.nearest(word) or word for word in words)

    def line(self, place: int) -> bytes:
        """A text as it is looked for."""
        return self.text[self.starts[place] + 1 : self.starts[place + 1]]

    def _holding(self, wanted: bytes) -> Iterator[int]:
        """The places of the texts that hold some bytes, in their order, each once."""
        found = self.text.find(wanted)
        while found >= 0:
            # What begins with the mark of a line belongs to the text after it.
            place = int(np.searchsorted(self.starts, found, side="right")) - 1
            yield place
            found = self.text.find(wanted, int(self.starts[place + 1]))

    def _together(self, words: Sequence[str]) -> Iterator[int]:
        first, *others = sorted((b" " + word.encode() for word in words), key=len, reverse=True)
        for place in islice(self._holding(first), MOST_LOOKED_AT):
            line = self.line(place)
            if all(word in line for word in others):
                yield place


def _folded_lines(lines: str) -> str:
    """Many lines at once, each with a space before its first word and none after its last."""
    return folded(lines).replace(" \n", "\n").rstrip(" ")

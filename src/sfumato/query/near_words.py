"""Near words: what somebody who mistyped a word may have meant, by the fewest letters to change."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST, LONGEST = 50_000, 24
"""The most words that are compared with, and the most letters of one."""
SHORTEST = 4
"""A shorter word is as near to many others, and is left as it is."""

Letters = NDArray[np.uint32]


@dataclass(frozen=True)
class NearWords:
    """Words as rows of letters, so that one is compared with all of them at once."""

    words: tuple[str, ...]
    letters: Letters
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, words: Iterable[str]) -> "NearWords":
        """The words of at most so many letters; of too many the first in the order of the alphabet."""
        kept = sorted(word for word in words if SHORTEST <= len(word) <= LONGEST)[:MOST]
        padded = "".join(word.ljust(LONGEST, "\0") for word in kept).encode("utf-32-le")
        letters = np.frombuffer(padded, dtype=np.uint32).reshape(len(kept), LONGEST)
        return cls(tuple(kept), letters, np.array([len(word) for word in kept], dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """How much memory they take."""
        return self.letters.nbytes + self.lengths.nbytes + sum(len(word) + 49 for word in self.words)

    def nearest(self, word: str) -> str | None:
        """The word that the fewest changed letters make of this one, or of its beginning; none if they are too many.

        One letter in a word of up to five, two in a longer one; two neighbours that changed places count as one.

        >>> [NearWords.of(["software", "developers", "nurses"]).nearest(one) for one in ("sofwtare", "devlop", "zebra")]
        ['software', 'developers', None]
        """
        if not SHORTEST <= len(word) <= LONGEST or not self.words:
            return None
        most = 1 if len(word) < 6 else 2
        whole, begun = distances(word, self.letters, self.lengths)
        # Who is still typing has the beginning of a word, which is worth less than a whole one.
        best = np.minimum(2 * whole, 2 * begun + 1)
        place = int(np.lexsort((self.lengths, best))[0])
        return self.words[place] if min(int(whole[place]), int(begun[place])) <= most else None


def distances(word: str, letters: Letters, lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """From a word to each row of letters, and to the nearest beginning of it: letters to add, drop, change or exchange.

    The optimal string alignment distance (Damerau 1964, Wagner and Lowrance 1975, each part changed once).

    >>> rows = np.array([[97, 99, 98, 0], [97, 98, 99, 100]], dtype=np.uint32)
    >>> [one.tolist() for one in distances("abc", rows, np.array([3, 4]))]
    [[1, 1], [1, 0]]
    """
    rows, width = letters.shape
    before: NDArray[np.int64] | None = None
    last = np.broadcast_to(np.arange(width + 1), (rows, width + 1)).copy()
    code = [ord(letter) for letter in word]
    for at, letter in enumerate(code, 1):
        now = np.empty_like(last)
        now[:, 0] = at
        same = letters == letter
        for column in range(1, width + 1):
            changed = last[:, column - 1] + ~same[:, column - 1]
            now[:, column] = np.minimum(np.minimum(last[:, column], now[:, column - 1]) + 1, changed)
            if before is not None and column > 1:
                swapped = same[:, column - 2] & (letters[:, column - 1] == code[at - 2])
                now[:, column] = np.where(
                    swapped, np.minimum(now[:, column], before[:, column - 2] + 1), now[:, column]
                )
        before, last = last, now
    inside = np.arange(width + 1)[None, :] <= lengths[:, None]
    return last[np.arange(rows), lengths], np.where(inside, last, LONGEST).min(axis=1)

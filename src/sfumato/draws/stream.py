"""Random words from a cryptographic stream: the system's for releases, a seeded twin for rehearsals."""

import hashlib
import os
import sys
import threading
from abc import ABC, abstractmethod
from operator import index
from typing import ClassVar, NoReturn, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from sfumato.draws.lasting import kept_key

_SEED_DOMAIN = b"sfumato.draws.SeededDraws/1:"
_ZEROS = memoryview(bytes(1 << 17))  # what is encrypted, in pieces that stay in the cache
_forks = 0


def _count_fork() -> None:
    global _forks  # noqa: PLW0603  the one fact about this process that every stream has to see
    _forks += 1


os.register_at_fork(after_in_child=_count_fork)


class Draws(ABC):
    """A source of independent uniform 64-bit words, none of them ever given twice."""

    rehearsal: ClassVar[bool]

    @abstractmethod
    def fill(self, words: NDArray[np.uint64]) -> None:
        """Put the next words in every place of the array."""

    def words(self, n: int) -> NDArray[np.uint64]:
        """Return the next n words.

        >>> len(SeededDraws(7).words(3))
        3
        """
        words = np.empty(n, dtype=np.uint64)
        self.fill(words)
        return words

    def bits(self, n: int) -> int:
        """Return an integer uniform on 0, ..., 2^n - 1, made of whole new words.

        >>> 0 <= SeededDraws(7).bits(3) < 8
        True
        """
        count = -(-n // 64)
        return int.from_bytes(self.words(count).astype("<u8").tobytes(), "little") >> (64 * count - n)

    def lasting(self, purpose: str) -> bytes:
        """A secret of 32 bytes for a purpose that is the same in every run of this user, or of this seed."""
        raise TypeError(f"{type(self).__name__} keeps no secret for {purpose}.")

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        """Refuse to be copied or pickled, since the copy would give the same words again."""
        raise TypeError(
            f"{type(self).__name__} cannot be copied or pickled: two copies would draw the same noise. "
            "Make one where the noise is drawn."
        )


def _process() -> tuple[int, int]:
    """The running process, told apart from its parent by two independent signs."""
    return os.getpid(), _forks


class _Keystream:
    """AES-256 in counter mode from counter 0, read by one thread at a time (NIST SP 800-38A, section 6.5)."""

    def __init__(self, key: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        self.process = _process()
        self._lock = threading.Lock()
        self._cipher = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()

    def fill(self, words: NDArray[np.uint64]) -> None:
        stream = words.view(np.uint8)
        with self._lock:
            for start in range(0, len(stream), len(_ZEROS)):
                piece = stream[start : start + len(_ZEROS)]
                self._cipher.update_into(_ZEROS[: len(piece)], piece.data)
        if sys.byteorder == "big":
            words.byteswap(inplace=True)


class SystemDraws(Draws):
    """Words no one can predict: AES-256-CTR under a key from the operating system, a new key in every process.

    >>> SystemDraws()
    SystemDraws()
    >>> len(SystemDraws().words(5))
    5
    """

    rehearsal = False

    def __init__(self) -> None:
        self._keystream = _Keystream(os.urandom(32))

    def fill(self, words: NDArray[np.uint64]) -> None:
        """Put the next words in every place of the array."""
        keystream = self._keystream
        if keystream.process != _process():
            # A fork copied the parent's key, and perhaps a lock held by a thread that did not come along. Key,
            # counter and lock are replaced together, so two threads that both get here are merely two streams.
            keystream = self._keystream = _Keystream(os.urandom(32))
        keystream.fill(words)

    def lasting(self, purpose: str) -> bytes:
        return kept_key(purpose)

    def __repr__(self) -> str:
        return "SystemDraws()"


class SeededDraws(Draws):
    """The same stream under a key anyone can recompute from the seed: reproducible, hence for rehearsals only.

    >>> SeededDraws(7).words(2).tolist() == SeededDraws(7).words(2).tolist()
    True
    """

    rehearsal = True

    def __init__(self, seed: int) -> None:
        self.seed = index(seed)
        self._keystream = _Keystream(hashlib.sha256(_SEED_DOMAIN + str(self.seed).encode()).digest())

    def fill(self, words: NDArray[np.uint64]) -> None:
        """Put the next words in every place of the array, in the process that made this stream."""
        if self._keystream.process != _process():
            raise RuntimeError(
                f"{self!r} was made in another process and would repeat the words drawn there. "
                "Make one with its own seed in each process."
            )
        self._keystream.fill(words)

    def lasting(self, purpose: str) -> bytes:
        return hashlib.sha256(_SEED_DOMAIN + f"{self.seed}:{purpose}".encode()).digest()

    def __repr__(self) -> str:
        return f"SeededDraws({self.seed})"

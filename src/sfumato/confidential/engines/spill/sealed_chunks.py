"""Sealed chunks: pieces of records in one file without a name, each encrypted by a key that only this process has.

The file is unlinked as it is made, so that whatever ends the process leaves nothing; what the disk keeps of it cannot
be read, as the key was never written. A chunk is encrypted by AES-256-GCM under its number, and its part and length are
authenticated with it: one that was changed, moved or exchanged is refused.
"""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from sfumato.confidential.engines.spill.folder import SpillFolder
from sfumato.confidential.sealed import Sealed
from sfumato.errors import DataError

COARSE = 4096
"""Bytes that the length of a chunk is a multiple of, so that it tells less of what it holds."""
NONCE, TAG = 12, 16
"""Bytes of a nonce, and of what tells that a chunk is the one that was written."""
CHANGED = "What was spilled was changed or damaged on its disk since; nothing was charged. Run it again elsewhere."


@dataclass(frozen=True)
class Chunk:
    """The number of a chunk, whose it is, where it stands in the file, and how long it is without its padding."""

    number: int
    part: int
    start: int
    content: int

    @property
    def sealed(self) -> int:
        """Its bytes in the file."""
        return self.content + -self.content % COARSE + TAG

    @property
    def nonce(self) -> bytes:
        """Different for every chunk of a file, whose key is its own."""
        return self.number.to_bytes(NONCE, "big")

    @property
    def bound(self) -> bytes:
        """What is authenticated beside the content."""
        return b"".join(one.to_bytes(8, "big") for one in (self.part, self.content))


def new_cipher() -> AESGCM:
    """A cipher by a random key, which is held by it alone."""
    return AESGCM(AESGCM.generate_key(256))


class SealedChunks(Sealed):
    """Chunks by their part, added one after another and read as often as need be."""

    def __init__(self, folder: SpillFolder) -> None:
        self._folder, self._chunks = folder, dict[int, list[Chunk]]()
        self._cipher: Any = new_cipher()
        self._end = self._number = 0
        self._file: Any = None
        with self._told():
            # Readable by its owner alone; on Linux it never has a name, elsewhere it loses it at once.
            self._file = tempfile.TemporaryFile(dir=folder.path, buffering=0)  # noqa: SIM115 - closed by `close`

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._end

    def add(self, part: int, content: Any) -> None:
        """One more chunk of a part."""
        chunk = Chunk(self._number, part, self._end, len(content))
        sealed = self._cipher.encrypt(chunk.nonce, b"".join([content, bytes(-len(content) % COARSE)]), chunk.bound)
        with self._told():
            _write(self._file.fileno(), sealed)
        self._chunks.setdefault(part, []).append(chunk)
        self._end, self._number = self._end + len(sealed), self._number + 1

    def of(self, part: int) -> Iterator[memoryview]:
        """The content of every chunk of a part, in the order in which they were added."""
        for chunk in self._chunks.get(part, ()):
            with self._told():
                sealed = os.pread(self._file.fileno(), chunk.sealed, chunk.start)
            try:
                content = self._cipher.decrypt(chunk.nonce, sealed, chunk.bound)
            except InvalidTag:
                raise DataError(CHANGED) from None
            yield memoryview(content)[: chunk.content]

    def close(self) -> None:
        """Give the space back and forget the key; no chunk can be read any more."""
        if self._file is not None:
            self._file.close()
        self._cipher, self._chunks = None, {}

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say in words what the disk refuses."""
        try:
            yield
        except OSError as error:
            full = error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
            why = "is full" if full else f"could not be written to or read ({type(error).__name__})"
        else:
            return
        self.close()
        raise DataError(
            f"The disk of --spill {self._folder.path} {why}; nothing was charged, and nothing is left there. Name a "
            "folder with more room, or make a release for each part of the data."
        )


def _write(file: int, sealed: bytes) -> None:
    left = memoryview(sealed)
    while left:
        left = left[os.write(file, left) :]

"""Encodings: how the letters of a text file are written, and the first line of one that is written otherwise."""

import gzip
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sfumato.errors import DataError

OTHERWISE = {
    "utf-8": 'UTF-8; if it is Latin-1, say so in the plan: [data] encoding = "latin-1"; or save it as UTF-8.',
    "latin-1": "Latin-1, as some of Windows-1252 are; save it as UTF-8, and leave [data] encoding out of the plan.",
}
"""What is said of a file that is not in its encoding."""


def refuse_foreign(texts: Mapping[Path, str]) -> None:
    """Stop at a text file that is not in its encoding, naming the line and nothing that it holds."""
    for path, encoding in texts.items():
        if line := foreign_line(path, encoding):
            raise DataError(f"{path.name}, line {line}, holds letters that are not {OTHERWISE[encoding]}")


def foreign_line(path: Path, encoding: str) -> int:
    """The first line of a text file whose bytes are no letters of its encoding; 0 where there is none."""
    with suppress(OSError, EOFError, zlib.error), unpacked(path) as lines:
        return next((number for number, line in enumerate(lines, 1) if not _decodable(line, encoding)), 0)
    return 0  # a file that breaks off is not for that in another encoding


def unpacked(path: Path) -> Any:
    """The bytes of a file, unpacked where its name says that it is packed."""
    return gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")


def _decodable(line: bytes, encoding: str) -> bool:
    r"""Whether bytes are letters; Latin-1 has no letters from 80 to 9F, Windows-1252 has.

    >>> [_decodable(b"M\xfcnchen", one) for one in OTHERWISE], _decodable(b"\x93", "latin-1")
    ([False, True], False)
    """
    try:
        text = line.decode(encoding)
    except UnicodeDecodeError:
        return False
    return encoding == "utf-8" or not any("\x80" <= letter <= "\x9f" for letter in text)

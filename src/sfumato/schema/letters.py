"""Letters: in which encoding a text file beside a plan is written."""

import codecs
from pathlib import Path

UTF_8 = "utf-8-sig"
_BLOCK = 2**20


def encoding_of(path: Path, said: str | None) -> str:
    """UTF-8 where the bytes of a file are that, else what the plan says of its text files, if it says something."""
    if said in {None, "utf-8"}:
        return UTF_8
    decode = codecs.getincrementaldecoder("utf-8")().decode
    try:
        with path.open("rb") as file:
            for block in iter(lambda: file.read(_BLOCK), b""):
                decode(block)
            decode(b"", final=True)
    except UnicodeDecodeError:
        return str(said)
    return UTF_8

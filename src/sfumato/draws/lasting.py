"""Lasting keys: secrets that outlive a run, so that what was drawn for a unit once is drawn for it again."""

import os
from pathlib import Path

from sfumato.errors import DataError

LENGTH = 32


def state_folder() -> Path:
    """Where what this user keeps between runs is: `$SFUMATO_STATE`, or `sfumato` in the user's folder of state."""
    if own := os.environ.get("SFUMATO_STATE"):
        return Path(own)
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "sfumato"


def kept_key(purpose: str) -> bytes:
    """The key of this user for a purpose, drawn from the system when it is first asked for and kept from then on."""
    folder = state_folder() / "keys"
    path, words = folder / purpose, ""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            _keep(path)
        key = path.read_bytes()
    except OSError as error:
        words = error.strerror or type(error).__name__
        key = b""
    if len(key) != LENGTH:
        why = words or "the file is not one of ours"
        raise DataError(
            f"The lasting key for {purpose} could not be read from or kept in {folder} ({why}); name a folder that can "
            "be written in $SFUMATO_STATE, or put back the key from a backup."
        )
    return key


def _keep(path: Path) -> None:
    """Write a new key under its name at once, or leave the one that another run wrote meanwhile."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    file = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        os.write(file, os.urandom(LENGTH))
        os.fsync(file)
    finally:
        os.close(file)
    try:
        os.link(part, path)
    except FileExistsError:
        pass
    finally:
        part.unlink()

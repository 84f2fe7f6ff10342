"""Keys: Ed25519 in PEM, to sign what is published and to check who did."""

from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.errors import ReleaseError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

LONGEST = 2**16
"""What a signature or a notice may fill; whoever put more there did not write it with Sfumato."""


def signature(path: Path, content: bytes, public_key: Path | None) -> tuple[str, list[str]]:
    """What a signature beside some content says of it, and what is wrong with it."""
    if not plain_file(path):
        return "not signed", [f"{path.name} is missing, and a public key was given."] if public_key else []
    if public_key is None:
        return "signed; give --public-key to check it", []
    from cryptography.exceptions import InvalidSignature

    try:
        _public(public_key).verify(beginning(path), content)
    except InvalidSignature:
        return "signature false", [f"The signature {path.name} is not of this content by this key."]
    return "signature true", []


def plain_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def beginning(path: Path, most: int = LONGEST) -> bytes:
    """So much of a file, however long it is."""
    with path.open("rb") as file:
        return file.read(most)


def private_key(path: Path) -> "Ed25519PrivateKey":
    """The Ed25519 key in a PEM file."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, ValueError, TypeError):
        key = None
    if isinstance(key, Ed25519PrivateKey):
        return key
    raise ReleaseError(f"{path} is no private Ed25519 key; make one with `openssl genpkey -algorithm ed25519`.")


def _public(path: Path) -> "Ed25519PublicKey":
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(path.read_bytes())
    except (OSError, ValueError, TypeError):
        key = None
    if isinstance(key, Ed25519PublicKey):
        return key
    raise ReleaseError(f"{path} is no public Ed25519 key; make it with `openssl pkey -pubout` from the private one.")

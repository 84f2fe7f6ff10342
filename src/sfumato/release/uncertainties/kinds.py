"""Kinds: every uncertainty found in this folder by what manifests call it."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from sfumato.errors import ReleaseError
from sfumato.plugins import found
from sfumato.release.uncertainties.uncertainty import StatedIn, Uncertainty


def read_uncertainty(written: Mapping[str, Any], source: StatedIn) -> Uncertainty:
    """The uncertainty that a manifest states; of a kind that nobody wrote it is refused."""
    known, kind = found(import_module(__package__), by="kind"), written.get("kind")
    if kind not in known:
        raise ReleaseError(
            f"The manifest states an uncertainty of kind '{kind}', which this version does not know; update Sfumato."
        )
    stated: Uncertainty = type(known[kind]).read(written, source)
    return stated

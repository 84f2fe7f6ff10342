"""PNG: a drawing in pixels, with the same letters on every machine."""

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from sfumato.errors import QueryError

FAMILY = "Source Sans Pro"
_FONT_PACKAGE, _FACES = "font_source_sans_pro", ("SourceSansPro-Regular.ttf", "SourceSansPro-Semibold.ttf")
_BEYOND = re.compile(r"[^\x00-\u052f\u1e00-\u22ff\u2500-\u25ff\ufffd]")
"""Letters that the font of this package lacks: beyond Latin, Greek, Cyrillic and the signs of arithmetic."""


def png(svg: str, zoom: float = 2.0) -> bytes:
    """A standalone drawing as a PNG file; nothing is fetched.

    Letters come from a font installed beside this package, so that the same picture has the same bytes everywhere;
    where a label has letters that it lacks, the machine's own fonts are asked too.
    """
    try:
        import resvg_py
    except ImportError:
        raise QueryError("A PNG needs the package resvg-py, which is not installed; ask for SVG instead.") from None
    beyond = bool(_BEYOND.search(svg))
    return resvg_py.svg_to_bytes(
        svg_string=svg,
        zoom=zoom,
        skip_system_fonts=not beyond,
        font_files=list(_fonts()),
        font_family=FAMILY,
        sans_serif_family=FAMILY,
        serif_family=FAMILY,
    )


@cache
def _fonts() -> tuple[str, ...]:
    """The font files that letters are drawn with."""
    found = find_spec(_FONT_PACKAGE)
    folders = [Path(place) for place in (found.submodule_search_locations or ())] if found else []
    files = [str(file) for folder in folders for face in _FACES for file in folder.rglob(face)]
    if len(files) < len(_FACES):
        raise QueryError(
            "A PNG needs the letters of the package font-source-sans-pro, which is not installed; ask for SVG instead."
        )
    return tuple(files)

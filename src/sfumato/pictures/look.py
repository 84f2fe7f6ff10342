"""Look: the colours of each kind of shape, so that a picture that stands alone looks as it does on a page.

A kind becomes a class (`pic-` before its name) and presentation attributes. The attributes are the light look: they
need no style sheet and no strict policy forbids them. A page's rules for the classes overrule them, in the dark say.
"""

import tomllib
from pathlib import Path
from typing import Any

_TOLD: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
SERIES, SHADES = tuple(_TOLD["series"]), tuple(_TOLD["shades"])
COLOURS: dict[str, str] = _TOLD["colours"] | {f"shade {place}": colour for place, colour in enumerate(SHADES, start=1)}
CARD, INK = COLOURS["card"], COLOURS["ink"]
LOOK: dict[str, dict[str, str]] = {
    kind: {name: COLOURS.get(value, value) for name, value in attributes.items()}
    for kind, attributes in _TOLD["look"].items()
}
LOOK |= {f"map-{place}": {"fill": shade} for place, shade in enumerate(SHADES, start=1)}
for place, colour in enumerate(SERIES):
    LOOK[f"k{place}"] = {"stroke": colour}
    LOOK[f"f{place}"] = {"fill": colour}
    LOOK[f"t{place}"] = {"fill": colour, "opacity": ".16"}


def dressed(kind: str) -> str:
    """The class and the presentation attributes of a kind, or of several named one after another.

    >>> dressed("hair")
    ' class="pic-hair" stroke="#efe8dd"'
    """
    names = kind.split()
    if not names:
        return ""
    attributes = {attribute: value for name in names for attribute, value in LOOK.get(name, {}).items()}
    worn = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f' class="{" ".join(f"pic-{name}" for name in names)}"{worn}'

"""Look: the colours of each kind of shape, so that a picture that stands alone looks as it does on a page.

A kind becomes a class (`pic-` before its name) and presentation attributes. The attributes are the light look: they
need no style sheet and no strict policy forbids them. A page's rules for the classes overrule them, in the dark say.
"""

PAPER, CARD, INK, MUTE, LINE, HAIR = "#faf7f1", "#fffdf9", "#231d16", "#6b6155", "#e2d9cc", "#efe8dd"
ACCENT, NOISE, SAMPLING = "#7d3f1f", "#c98a2b", "#355c7d"
SERIES = ("#4d4a46", "#2f7d6d", "#7a4f8d", "#b0475c", "#73701f", "#7d3f1f")
"""One colour a series; none is the ochre or the slate that already mean something."""
SERIF = "'Iowan Old Style', Palatino, Georgia, serif"

LOOK: dict[str, dict[str, str]] = {
    "card": {"fill": CARD},
    "head": {"font-family": SERIF, "font-size": "16", "font-weight": "600"},
    "axis": {"fill": MUTE, "font-size": "11"},
    "value": {"font-weight": "600"},
    "over": {"fill": INK, "font-weight": "600"},
    "number": {"font-size": "11.5"},
    "broken": {"stroke-dasharray": "3 2"},
    "quiet": {"fill": MUTE},
    "hair": {"stroke": HAIR},
    "zero": {"stroke": MUTE},
    "aim": {"stroke": ACCENT, "stroke-dasharray": "4 3"},
    "smear": {"fill": NOISE, "opacity": ".42"},
    "noisy": {"fill": NOISE, "opacity": ".55"},
    "sampled": {"fill": SAMPLING, "opacity": ".28"},
    "unsplit": {"fill": MUTE, "opacity": ".28"},
    "whisker": {"stroke": INK, "stroke-width": "1.2"},
    "halo": {"stroke": CARD, "stroke-width": "2.6"},
    "clear": {"stroke": CARD, "stroke-width": "3", "paint-order": "stroke"},
    "ink": {"fill": INK},
    "rim": {"stroke": INK},
    "column": {"fill": "#bda88c"},
    "outline": {"stroke": "#8f795c"},
    "gA": {"fill": HAIR},
    "gB": {"fill": "#f7ecd2"},
    "gC": {"fill": "#f6dfd8"},
    "noise": {"fill": NOISE},
    "sampling": {"fill": SAMPLING},
    "accent": {"fill": ACCENT},
    "rest": {"fill": HAIR},
    "band": {"fill": HAIR},
    "lost": {"fill": "none", "stroke": ACCENT, "stroke-width": "1", "stroke-dasharray": "2 2"},
    "left": {"fill": CARD, "stroke": MUTE, "stroke-width": "1", "stroke-dasharray": "3 3"},
    "ring": {"fill": "none", "stroke": INK, "stroke-width": "1.5"},
    "change": {"stroke": NOISE, "stroke-width": "3", "opacity": ".5"},
    "curve": {"fill": "none", "stroke-width": "2"},
    "blind": {"fill": "none", "stroke": MUTE, "stroke-width": "1.2", "stroke-dasharray": "5 4"},
    "gain": {"fill": NOISE, "opacity": ".22"},
    "edge": {"fill": "none", "stroke": NOISE, "stroke-width": "2.5"},
    "hollow": {"fill": CARD, "stroke-width": "1.8"},
    "point": {"fill": CARD, "stroke-width": "2"},
    "notice": {"fill": ACCENT, "font-size": "11.5", "font-weight": "600"},
    "banner": {"fill": ACCENT, "opacity": ".17", "font-weight": "700"},
}
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
    attributes: dict[str, str] = {}
    for name in names:
        attributes |= LOOK.get(name, {})
    worn = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f' class="{" ".join(f"pic-{name}" for name in names)}"{worn}'

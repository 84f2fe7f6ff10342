"""The look of maps: five shades of one colour, and what lies over them; neither noise's ochre nor sampling's slate."""

from sfumato.pictures.look import CARD, INK, LOOK, MUTE, dressed
from sfumato.pictures.svg import short

SHADES = ("#e6f1eb", "#aed0c3", "#78ae9d", "#408575", "#1b5347")
"""From little to much; each is darker than the last, so they are told apart without seeing the colour."""

LOOK.update({f"map-{place}": {"fill": shade} for place, shade in enumerate(SHADES, start=1)})
LOOK.update(
    {
        "map-line": {"stroke": MUTE, "stroke-linejoin": "round"},
        "map-none": {"fill": CARD, "stroke": MUTE, "stroke-linejoin": "round"},
        "map-ground": {"fill": "#f3ede3", "stroke": "#b9ac9a", "stroke-linejoin": "round"},
        "map-dark": {"stroke": INK, "stroke-width": ".9"},
        "map-light": {"stroke": CARD, "stroke-width": ".9"},
        "map-speck": {"fill": INK, "stroke": CARD, "stroke-width": ".6"},
        "map-cross": {"stroke": MUTE, "stroke-width": ".5"},
        "map-name": {"font-size": "11", "font-weight": "600", **LOOK["clear"]},
        "map-said": {"font-size": "10", **LOOK["clear"]},
        "map-dot": {"fill": SHADES[3], "fill-opacity": ".85", "stroke": CARD, "stroke-width": "1"},
        "map-hollow": {"fill": CARD, "fill-opacity": ".8", "stroke": SHADES[4], "stroke-width": "1.6"},
        "map-least": {"fill": "none", "stroke": CARD, "stroke-width": "1", "stroke-dasharray": "2 2"},
        "map-under": {"fill": "none", "stroke": CARD, "stroke-width": "4.5"},
        "map-own": {"fill": "none", "stroke": INK, "stroke-width": "1.8"},
    }
)


def patterns(name: str, scale: float) -> str:
    """What lies over a shade: hatching, a dark line beside a light one so that it shows on any; specks; crosses.

    >>> patterns("x", 1.0).count("<pattern ")
    3
    """
    hatch = _line("M0 2.5H8", "map-dark") + _line("M0 3.5H8", "map-light")
    crosses = _line("M0 0L7 7M7 0L0 7", "map-cross")
    specks = f'<circle cx="3.5" cy="3.5" r="1.4"{dressed("map-speck")}/>'
    return (
        "<defs>"
        + _pattern(f"{name}-hatch", 8, f"scale({_fine(1 / scale)}) rotate(-45)", hatch)
        + _pattern(f"{name}-specks", 7, f"scale({_fine(1 / scale)})", specks)
        + _pattern(f"{name}-crosses", 7, f"scale({_fine(1 / scale)})", crosses)
        + "</defs>"
    )


def _pattern(name: str, size: float, turned: str, inside: str) -> str:
    measured = f'width="{short(size)}" height="{short(size)}" patternUnits="userSpaceOnUse"'
    return f'<pattern id="{name}" {measured} patternTransform="{turned}">{inside}</pattern>'


def _line(d: str, kind: str) -> str:
    return f'<path d="{d}" fill="none"{dressed(kind)}/>'


def _fine(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".")

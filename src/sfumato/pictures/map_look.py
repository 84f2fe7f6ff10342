"""The look of maps: what lies over their shades; neither noise's ochre nor sampling's slate."""

from sfumato.pictures.look import dressed
from sfumato.pictures.svg import short


def patterns(name: str, scale: float) -> str:
    """What lies over a shade: hatching, a dark line beside a light one so that it shows on any; specks; crosses.

    >>> patterns("x", 1.0).count("<pattern ")
    3
    """
    hatch = _line("M0 2.5H8", "map-dark") + _line("M0 3.5H8", "map-light")
    crosses = _line("M0 0L7 7M7 0L0 7", "map-cross")
    specks = f'<circle cx="3.5" cy="3.5" r="1.4"{dressed("map-speck")}/>'
    fine = f"scale({f'{1 / scale:.4f}'.rstrip('0').rstrip('.')})"
    over = _pattern(f"{name}-hatch", 8, f"{fine} rotate(-45)", hatch)
    over += _pattern(f"{name}-specks", 7, fine, specks) + _pattern(f"{name}-crosses", 7, fine, crosses)
    return f"<defs>{over}</defs>"


def _pattern(name: str, size: float, turned: str, inside: str) -> str:
    measured = f'width="{short(size)}" height="{short(size)}" patternUnits="userSpaceOnUse"'
    return f'<pattern id="{name}" {measured} patternTransform="{turned}">{inside}</pattern>'


def _line(d: str, kind: str) -> str:
    return f'<path d="{d}" fill="none"{dressed(kind)}/>'

"""Axis: round numbers over some rows, where a reader begins, and below them again where the rows are many."""

import math

from sfumato.pictures.canvas import fitted
from sfumato.pictures.mark import Caption
from sfumato.pictures.svg import Scale, breadth, line, text

TALL = 420
"""From this height on the numbers stand below the rows too."""


def headroom(caption: Caption) -> float:
    """How much room the numbers over the rows take, and what they count over these."""
    return 36 if caption.axis else 20


def ruled(scale: Scale, top: float, bottom: float, caption: Caption, edge: float) -> tuple[str, float]:
    """Hairlines from top to bottom, their numbers over them and what is counted over these; also where all ends."""
    ticks = scale.ticks()
    written = caption.along(ticks)
    widest = max(breadth(one, 11) for one in written)
    apart = (scale.end - scale.start) / len(ticks)
    every, twice = max(1, math.ceil((widest + 10) / apart)), bottom - top > TALL
    said = fitted(caption.axis, edge - scale.start, lines=1, size=11)
    parts = [text(scale.start, top - 22, said[0], "axis")] if said else []
    for place, (tick, number) in enumerate(zip(ticks, written, strict=True)):
        x = scale(tick)
        parts.append(line(x, top - 3, x, bottom, "hair"))
        if place % every == 0:
            inside = min(max(x, breadth(number, 11) / 2 + 2), edge - breadth(number, 11) / 2 - 2)
            parts.append(text(inside, top - 7, number, "axis", "middle"))
            parts.append(text(inside, bottom + 15, number, "axis", "middle") if twice else "")
    return "".join(parts), bottom + (20 if twice else 4)

"""The picture of protection against utility: the error of cells against mu, one panel for each number of variables."""

from math import sqrt

import numpy as np

from sfumato.draws import SeededDraws
from sfumato.pictures import Picture, svg
from sfumato.pictures.svg import WIDTH, Scale
from sfumato.studies.margin_tables import DESIGNS, MUS, WAYS, released, stated

TOP, BOTTOM, FOOT = 60, 300, 420
TITLE = "Standard error of a cell against mu: lines as stated, marks of one release each"


def curves() -> Picture:
    """For one, two and three variables the standard errors that designs state, and what a release of each had."""
    lines = {name: [stated(name, mu) for mu in MUS] for name in DESIGNS}
    drawn = {name: [released(name, mu, SeededDraws(1)) for mu in MUS] for name in DESIGNS}
    least, most = (
        pick(sqrt(one[w]) for some in lines.values() for one in some for w in (1, WAYS)) for pick in (min, max)
    )
    up = Scale(*svg.powers_around([least, most]), BOTTOM, TOP, powers=True)
    parts = [svg.paper(WIDTH, FOOT), svg.text(14, 22, TITLE, "value")]
    for place in range(WAYS):
        left = 50 + place * (WIDTH - 50) / WAYS
        side = Scale(float(MUS[0]), float(MUS[-1]), left + 10, left + (WIDTH - 50) / WAYS - 20, powers=True)
        parts += _grid(side, up, place)
        for number, name in enumerate(DESIGNS):
            points = [(side(float(mu)), up(sqrt(one[place + 1]))) for mu, one in zip(MUS, lines[name], strict=True)]
            parts.append(svg.path(points, f"curve k{number}"))
            for mu, errors in zip(MUS, drawn[name], strict=True):
                root = sqrt(float(np.mean(errors[place + 1] ** 2)))
                parts.append(svg.glyph(number, side(float(mu)), up(root), f"f{number}", 4))
    for number, name in enumerate(DESIGNS):
        parts.append(svg.glyph(number, 60 + 330 * (number % 2), BOTTOM + 56 + 20 * (number // 2), f"f{number}", 4))
        parts.append(svg.text(70 + 330 * (number % 2), BOTTOM + 60 + 20 * (number // 2), name, "axis"))
    told = tuple(_spoken(name, mu, one) for name in DESIGNS for mu, one in zip(MUS, lines[name], strict=True))
    return Picture(TITLE, svg.drawing(FOOT, TITLE, *parts), told)


def _grid(side: Scale, up: Scale, place: int) -> list[str]:
    """The axes of one panel."""
    parts = [svg.text(side.start, TOP - 16, f"{place + 1} variable{'s' if place else ''}", "value")]
    for tick in up.ticks():
        parts.append(svg.line(side.start, up(tick), side.end, up(tick), "hair"))
        if not place:
            parts.append(svg.text(side.start - 8, up(tick) + 4, svg.tick_words(tick, percent=False), "axis", "end"))
    for mu in MUS:
        parts.append(svg.line(side(float(mu)), BOTTOM, side(float(mu)), BOTTOM + 4, "hair"))
        parts.append(svg.text(side(float(mu)), BOTTOM + 18, mu, "axis", "middle"))
    return [*parts, svg.text((side.start + side.end) / 2, BOTTOM + 34, "mu", "axis", "middle")]


def _spoken(name: str, mu: str, variances: dict[int, float]) -> str:
    errors = ", ".join(f"{sqrt(variances[ways]):.3g}" for ways in range(1, WAYS + 1))
    return f"{name}, mu {mu}: {errors} for 1, 2 and 3 variables"

"""Figures 3, 4 and 5 drawn: against epsilon, at four alphas over all places, and at alpha 0.1 by the size of places."""

from dataclasses import dataclass

from sfumato.errors import how_many
from sfumato.pictures import Picture, svg
from sfumato.pictures.svg import Scale
from sfumato.studies.lodes_cells import EVERYWHERE, STRATA, Say
from sfumato.studies.lodes_figures import EPSILONS, FIGURES, FigurePoint, points
from sfumato.studies.lodes_laws import LAWS

WIDE, TOP, TALL, GAP = 960, 76, 190, 76
SHOWN = (0.01, 0.05, 0.1, 0.2)
DRAWN = LAWS
TITLES = {
    3: "Figure 3: L1 error of jobs by place, sector and ownership over that of noise infusion",
    4: "Figure 4: Spearman correlation with noise infusion, jobs by place, sector and ownership",
    5: "Figure 5: L1 error of single counts by sex and education as well, over that of noise infusion",
}


@dataclass(frozen=True)
class Panel:
    """One pair of axes: what it is of, and where it stands."""

    title: str
    alpha: float
    places: str
    side: Scale
    up: Scale


def picture(figure: int, runs: int, jobs: int, say: Say) -> Picture:
    """All panels of a figure, marks with lines through them, and the names of the mechanisms below."""
    found = points(figure, runs, jobs, say)
    panels, height = _panels(figure, found), TOP + 2 * (TALL + GAP) + 44
    parts = [svg.paper(WIDE, height), svg.text(14, 24, TITLES[figure], "value")]
    parts.append(svg.text(14, 42, f"{jobs:,} synthetic jobs, mean of {how_many(runs, 'trial')}", "axis"))
    for panel in panels:
        parts += _grid(panel, figure)
        for number, law in enumerate(DRAWN):
            own = [one for one in found if _in(one, panel, law.name)]
            places = [(panel.side(one.epsilon), panel.up(one.mean)) for one in own]
            if len(places) > 1:
                parts.append(svg.path(places, f"curve k{number}"))
            parts += [svg.glyph(number, x, y, f"f{number}", 3.2) for x, y in places]
    for number, law in enumerate(DRAWN):
        x, y = 30 + 310 * (number % 3), height - 32 + 20 * (number // 3)
        parts += [svg.glyph(number, x, y - 4, f"f{number}", 4), svg.text(x + 10, y, law.name, "axis")]
    told = tuple(_spoken(one) for one in found if one.alpha == 0.1 and one.places == EVERYWHERE)
    return Picture(TITLES[figure], svg.drawing(height, TITLES[figure], *parts, width=WIDE), told)


def _in(one: FigurePoint, panel: Panel, mechanism: str) -> bool:
    return (one.alpha, one.places, one.mechanism) == (panel.alpha, panel.places, mechanism)


def _panels(figure: int, found: tuple[FigurePoint, ...]) -> list[Panel]:
    """Four alphas over all places above, the strata of places at alpha 0.1 below."""
    shown = [one.mean for one in found]
    # Ratios from a thousandth on; a log-Laplace close to having no mean may be anywhere.
    low, high = (0.0, 1.0) if figure == 4 else svg.powers_around(shown, 1e-3, 1e3)
    above = [(f"alpha {alpha:g}, {EVERYWHERE}", alpha, EVERYWHERE) for alpha in SHOWN]
    held = {one.places for one in found}
    below = [(f"alpha 0.1, residents {name}", 0.1, name) for name in STRATA if name in held]
    panels = []
    for row, own in enumerate((above, below)):
        top = TOP + row * (TALL + GAP)
        for place, (title, alpha, places) in enumerate(own):
            left = 46 + place * (WIDE - 50) / len(SHOWN)
            side = Scale(EPSILONS[0], EPSILONS[-1], left, left + (WIDE - 50) / len(SHOWN) - 50, powers=True)
            panels.append(Panel(title, alpha, places, side, Scale(low, high, top + TALL, top, powers=figure != 4)))
    return panels


def _grid(panel: Panel, figure: int) -> list[str]:
    """The axes of one panel; a ratio of 1 is marked."""
    side, up = panel.side, panel.up
    parts = [svg.text(side.start, up.end - 10, panel.title, "value")]
    for tick in up.ticks():
        parts.append(svg.line(side.start, up(tick), side.end, up(tick), "aim" if tick == 1 else "hair"))
        parts.append(svg.text(side.start - 6, up(tick) + 4, svg.tick_words(tick, percent=False), "axis", "end"))
    parts += [svg.text(side(one), up.start + 16, f"{one:g}", "axis", "middle") for one in EPSILONS]
    words = f"epsilon ({FIGURES[figure]})"
    return [*parts, svg.text((side.start + side.end) / 2, up.start + 32, words, "axis", "middle")]


def _spoken(one: FigurePoint) -> str:
    return f"{one.mechanism}, alpha {one.alpha:g}, epsilon {one.epsilon:g}: {one.measure} {one.mean:.3g}"

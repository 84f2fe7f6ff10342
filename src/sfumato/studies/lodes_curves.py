"""What an establishment loses that is there or not at all, by its size: a stated loss curve for each way to hide jobs.

A promise for near sizes says little of an establishment as a whole; a promise by size does (Seeman et al. 2023, Finley
et al. 2024): noise on f(x), f concave from f(0) = 0 on, tells one of r jobs from none at f(r) times what it tells of a
job. Here f is x (geometric) and the curves ln(1 + x / bend) that a plan may state (curve-laplace); a bend of 10 is
log-laplace at alpha 0.1, noise and all. Establishments that are cut off at 50 jobs lose no more than those of 50.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from sfumato.mechanisms import CurveLaplace, Typical
from sfumato.pictures import Picture, svg
from sfumato.pictures.svg import WIDTH, Scale
from sfumato.privacy import AlongCurve, LossCurve
from sfumato.privacy.neighbours.growth import steps
from sfumato.studies.lodes_odds import ALPHA
from sfumato.studies.lodes_promises import COUNTED
from sfumato.studies.study import Line

SIZES = (1, 10, 100, 1_000, 10_000)
CURVES: dict[str, Callable[[int], float]] = {
    "one worker: geometric noise": float,
    "loss-by-size, bend 100: curve-laplace": lambda size: _of_one_job(100, size),
    "loss-by-size, bend 10, as size-within 10% with log-laplace": lambda size: _of_one_job(10, size),
    "loss-by-size, bend 3: curve-laplace": lambda size: _of_one_job(3, size),
    "size-within 10%: any mechanism, step by step": lambda size: float(steps(size, ALPHA)),
    f"one establishment, {COUNTED} jobs count, at 50 times the noise": lambda size: min(size, COUNTED) / COUNTED,
}
"""The loss of an establishment of each size, over that of one job, at the epsilon that the noise is scaled to."""
ERRORS: dict[str, Callable[[float], float]] = {
    "one worker: geometric noise": lambda n: math.sqrt(2),  # noqa: ARG005 - whatever the size
    "loss-by-size, bend 100: curve-laplace": lambda n: _along(100, n),
    "loss-by-size, bend 10, as size-within 10% with log-laplace": lambda n: _along(10, n),
    "loss-by-size, bend 3: curve-laplace": lambda n: _along(3, n),
    f"one establishment, {COUNTED} jobs count, at 50 times the noise": lambda n: COUNTED * math.sqrt(2),  # noqa: ARG005
}
"""The standard error of a cell of n jobs at epsilon 1 for one job, or for one establishment that is cut off: of Laplace
noise, and as the mechanism states it."""
TOP, BOTTOM, FOOT = 60, 330, 470
TITLE = "Loss of an establishment that is there or not at all, by its jobs, over that of one job"


def _of_one_job(bend: int, size: int) -> float:
    """The loss of a size on a curve that a plan may state, over that of one job."""
    return LossCurve(Fraction(bend), 1).height(size)


def _along(bend: int, size: float) -> float:
    """The standard error that is stated of a cell at epsilon 1 for one job."""
    return float(CurveLaplace(1).expected(AlongCurve(LossCurve(Fraction(bend), 1)), Typical(size=size)))  # type: ignore[arg-type]


def lines(runs: int = 1) -> list[Line]:  # noqa: ARG001 - nothing is drawn
    """The curves at round sizes, and the errors that go with them."""
    said = [
        Line(name, "", " / ".join(f"{curve(size):.3g}" for size in SIZES), "loss at 1, 10, 100, 1,000 and 10,000 jobs")
        for name, curve in CURVES.items()
    ]
    return said + [
        Line(name, "", " / ".join(f"{error(n):.3g}" for n in (10.0, 100.0, 10_000.0)), "error at 10, 100, 10,000 jobs")
        for name, error in ERRORS.items()
    ]


def picture() -> Picture:
    """All curves on one pair of axes, both in powers of ten."""
    sizes = sorted({int(one) for one in np.geomspace(1, SIZES[-1], 120)})
    across = Scale(1.0, float(SIZES[-1]), 60, WIDTH - 30, powers=True)
    up = Scale(*svg.powers_around([0.02, float(SIZES[-1])]), BOTTOM, TOP, powers=True)
    parts = [svg.paper(WIDTH, FOOT), svg.text(14, 22, TITLE, "value")]
    for tick in up.ticks():
        parts.append(svg.line(across.start, up(tick), across.end, up(tick), "hair"))
        parts.append(svg.text(across.start - 8, up(tick) + 4, svg.tick_words(tick, percent=False), "axis", "end"))
    for size in SIZES:
        parts.append(svg.line(across(size), BOTTOM, across(size), BOTTOM + 4, "hair"))
        parts.append(svg.text(across(size), BOTTOM + 18, f"{size:,}", "axis", "middle"))
    for number, (name, curve) in enumerate(CURVES.items()):
        parts.append(svg.path([(across(size), up(curve(size))) for size in sizes], f"curve k{number}"))
        parts.append(svg.glyph(number, across(SIZES[2]), up(curve(SIZES[2])), f"f{number}", 4))
        parts.append(svg.glyph(number, 70, BOTTOM + 40 + 18 * number, f"f{number}", 4))
        parts.append(svg.text(84, BOTTOM + 44 + 18 * number, name, "axis"))
    told = tuple(
        f"{name}: {', '.join(f'{curve(size):.3g} at {size:,}' for size in SIZES)}" for name, curve in CURVES.items()
    )
    return Picture(TITLE, svg.drawing(FOOT, TITLE, *parts), told)

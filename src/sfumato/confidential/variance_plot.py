"""The plot of a fitted variance function: relative errors against estimates, and the curve through them."""

import numpy as np

from sfumato.confidential.variance import FittedVariance
from sfumato.pictures import svg
from sfumato.pictures.picture import Picture
from sfumato.pictures.svg import WIDTH, Scale

LEFT, RIGHT, TOP, BOTTOM = 70, WIDTH - 30, 40, 360
MOST_DOTS = 2000
LEAST, MOST = 1e-12, 1e15


def variance_plot(found: FittedVariance) -> Picture:
    """A dot an estimate, its standard error by replication over itself, and the curve of a and b; confidential."""
    step = -(-len(found.estimates) // MOST_DOTS)
    x, errors = found.estimates[::step], np.sqrt(found.variances[::step])
    across = Scale(*svg.powers_around(x.tolist(), LEAST, MOST), LEFT, RIGHT, powers=True)
    curve = np.geomspace(across.low, across.high, 200)
    relative = found.at(curve) / curve
    up = Scale(*svg.powers_around([*(errors / x), *relative[relative > 0]], 1e-6, 1e3), BOTTOM, TOP, powers=True)
    parts = [svg.paper(WIDTH, BOTTOM + 50), svg.across(across, TOP, BOTTOM, "estimate", number=svg.plain_tick)]
    for tick in up.ticks():
        parts.append(svg.line(LEFT, up(tick), RIGHT, up(tick), "hair"))
        parts.append(svg.text(LEFT - 8, up(tick) + 4, svg.tick_words(tick), "axis", "end"))
    parts += [svg.dot(across(one), up(error / one), "sampling", 2) for one, error in zip(x, errors, strict=True)]
    drawn = [(across(one), up(height)) for one, height in zip(curve, relative, strict=True) if height > 0]
    title = f"CONFIDENTIAL: standard errors of '{found.of.name}' over the estimate, by replicates and by a and b"
    parts += [svg.path(drawn, "curve k0"), svg.text(LEFT, 22, title, "value")]
    return Picture(title, svg.drawing(BOTTOM + 50, title, *parts))

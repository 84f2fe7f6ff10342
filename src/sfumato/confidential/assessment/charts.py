"""Charts: one function a picture, in the house look: ochre is privacy noise, slate is sampling error."""

from collections.abc import Sequence

from markupsafe import Markup

from sfumato.confidential.assessment.layout import percent
from sfumato.pictures import svg
from sfumato.pictures.svg import LABELS, ROW, WIDTH, Scale

RIGHT = WIDTH - 60
LEFT, FAR = 70, WIDTH - 130
Spread = tuple[str, float | None, float | None, float | None]


def spreads(rows: Sequence[Spread], words: str) -> Markup:
    """A smear from the first to the ninth decile and a dot at the median, one row each, on powers of ten."""
    rows = [row for row in rows if row[2] is not None]
    scale = Scale(*svg.powers_around([value for row in rows for value in row[1:] if value]), LABELS, RIGHT, powers=True)
    bottom = 8 + ROW * len(rows)
    parts = [svg.across(scale, 4, bottom, words)]
    for place, (name, low, middle, high) in enumerate(rows):
        y = 8 + ROW * (place + 0.5)
        parts.append(svg.label(y + 4, name))
        parts.append(svg.smear(scale(low or scale.low), scale(high or scale.low), y))
        parts.append(svg.dot(scale(middle or scale.low), y, "ink", 4))
        parts.append(svg.text(RIGHT + 8, y + 4, percent(middle), "value"))
    return svg.drawing(bottom + 42, words, *parts)


def coverage(rows: Sequence[tuple[str, float, float, int]], level: float, words: str) -> Markup:
    """For each row the share of margins that hold what the noise was added to (full) and the data as they are (ring).

    The pale band is where nineteen of twenty honest releases would fall with so many independent cells.
    """
    least = min([min(covered, truth) for _, covered, truth, _ in rows], default=level)
    scale = Scale(min(0.7, int(least * 10) / 10), 1.0, LABELS, RIGHT)
    bottom = 8 + ROW * len(rows)
    parts = [svg.across(scale, 4, bottom, words), svg.line(scale(level), 0, scale(level), bottom, "aim")]
    for place, (name, covered, truth, cells) in enumerate(rows):
        y, reach = 8 + ROW * (place + 0.5), 1.96 * (level * (1 - level) / cells) ** 0.5
        parts.append(svg.label(y + 4, name))
        parts.append(svg.bar(scale(level - reach), y - 7, scale(level + reach) - scale(level - reach), 14, "band"))
        parts.append(svg.dot(scale(truth), y, "ring", 6))
        parts.append(svg.dot(scale(covered), y, "noise", 4))
        parts.append(svg.text(RIGHT + 8, y + 4, percent(covered), "value"))
    return svg.drawing(bottom + 42, words, *parts)


def parts_of(rows: Sequence[tuple[str, Sequence[float]]], kinds: Sequence[str], words: str) -> Markup:
    """One bar a row, its parts shares of 1 in the colours named."""
    scale = Scale(0, 1, LABELS, RIGHT)
    bottom = 8 + ROW * len(rows)
    pieces = [svg.across(scale, 4, bottom, words)]
    for place, (name, shares) in enumerate(rows):
        y, at = 8 + ROW * (place + 0.5), 0.0
        pieces.append(svg.label(y + 4, name))
        for share, kind in zip(shares, kinds, strict=True):
            pieces.append(svg.bar(scale(at), y - 7, scale(at + share) - scale(at), 14, kind))
            at += share
        pieces.append(svg.text(RIGHT + 8, y + 4, percent(shares[0]), "value"))
    return svg.drawing(bottom + 42, words, *pieces)


def changes(rows: Sequence[tuple[str, float, float]], words: str) -> Markup:
    """From a ring, before noise, to a dot, after it."""
    top = max([max(before, after) for _, before, after in rows], default=1.0)
    scale = Scale(0, max(0.1, min(1.0, int(top * 10 + 1) / 10)), LABELS, RIGHT)
    bottom = 8 + ROW * len(rows)
    parts = [svg.across(scale, 4, bottom, words, number=svg.plain_tick)]
    for place, (name, before, after) in enumerate(rows):
        y = 8 + ROW * (place + 0.5)
        parts.append(svg.label(y + 4, name))
        parts.append(svg.line(scale(before), y, scale(after), y, "change"))
        parts.append(svg.dot(scale(before), y, "ring", 5))
        parts.append(svg.dot(scale(after), y, "noise", 4))
        parts.append(svg.text(RIGHT + 8, y + 4, f"{after - before:+.3f}".replace("-", "−"), "value"))
    return svg.drawing(bottom + 42, words, *parts)


Line = tuple[str, Sequence[tuple[float, float, str]]]


def curves(lines: Sequence[Line], now: float | None, words: str, *, falls: bool) -> Markup:
    """Utility against what an attacker gains: a line a product, a point a budget, a rule where this release stands.

    What falls with the loss is drawn on powers of ten, what rises in proportion.
    """
    values = [y for _, points in lines for _, y, _ in points]
    low, high = svg.powers_around(values) if falls else (0.0, max([0.1, *values]))
    across_scale, up = Scale(0, 1, LEFT, FAR), Scale(low, high, 270, 28, powers=falls)
    parts = [svg.across(across_scale, 12, 270, "power of the best test against one unit, at a level of 5%")]
    for tick in up.ticks():
        parts.append(svg.line(LEFT, up(tick), FAR, up(tick), "hair"))
        parts.append(svg.text(LEFT - 8, up(tick) + 4, svg.tick_words(tick), "axis", "end"))
    if now is not None:
        parts.append(svg.line(across_scale(now), 12, across_scale(now), 270, "aim"))
        parts.append(svg.text(across_scale(now) + 5, 10, "this release", "axis"))
    taken: list[tuple[float, float]] = []
    for place, (name, points) in enumerate(lines):
        drawn = [(across_scale(x), up(y)) for x, y, _ in points]
        parts.append(_curve(drawn, [said for _, _, said in points], f"k{place % 4}", taken, falls=falls))
        parts.append(svg.text(drawn[-1][0] + 12, drawn[-1][1] + 4, name, "value"))
    return svg.drawing(312, words, *parts)


def _curve(
    drawn: Sequence[tuple[float, float]],
    said: Sequence[str],
    kind: str,
    taken: list[tuple[float, float]],
    *,
    falls: bool,
) -> str:
    """One line with its points; a point is named where no name stands yet."""
    parts = [svg.path(drawn, f"curve {kind}")]
    for (x, y), words in zip(drawn, said, strict=True):
        parts.append(svg.dot(x, y, f"point {kind}", 4))
        if not any(abs(x - other) < 26 and abs(y - height) < 14 for other, height in taken):
            parts.append(svg.text(x, y - 9, words, "axis", "start" if falls else "end"))
            taken.append((x, y))
    return "".join(parts)

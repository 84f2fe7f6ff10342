"""Noise by the maximum observed sensitivity: chi, what the corners leave out, how one child moves it, and two attacks.

On synthetic children by tract, race and gender. Everything that is published comes out of the mechanisms themselves.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.draws import SeededDraws
from sfumato.kernels.simple_regression import Moments
from sfumato.mechanisms import Cells, Geometric
from sfumato.mechanisms.mose import CellLines, Mose
from sfumato.mechanisms.mose_as_published import MoseAsPublished
from sfumato.pictures import Picture, svg
from sfumato.pictures.svg import WIDTH, Scale
from sfumato.privacy import Bounded, Unsummed
from sfumato.release import Cube, Noisy, Subject, measured
from sfumato.release.noisy import Floats, Integers
from sfumato.schema import Attribute, Levels, Ragged, Table
from sfumato.statistics.fitted import Fitted
from sfumato.studies.study import Line
from sfumato.synth.atlas import Tracts

EPSILON, LEAST = 8, 20
FITTED = Fitted("kid_rank", "parent_rank", at="0.25")
ONE_ROW = Bounded(1, 1, 1)
WIDE = np.linspace(0.0, 1.0, 101)
"""The places at which a point may come, where not the corners alone are looked at."""


@dataclass(frozen=True, eq=False)
class Atlas:
    """Children of cells of tract, race and gender that hold some: confidential in earnest, synthetic here."""

    y: Floats
    x: Floats
    offsets: Integers

    @classmethod
    def drawn(cls, rows: int, seed: int = 1) -> "Atlas":
        table = Tracts(rows, seed).children()
        keys = [
            table[name].combine_chunks().dictionary_encode().indices.to_numpy() for name in ("tract", "race", "gender")
        ]
        cell = (keys[0].astype(np.int64) * 5 + keys[1]) * 2 + keys[2]
        order = np.argsort(cell, kind="stable")
        _, first = np.unique(cell[order], return_index=True)
        y, x = (table[name].to_numpy()[order] for name in ("kid_rank", "parent_rank"))
        return cls(y, x, np.append(first, rows).astype(np.int64))

    @cached_property
    def counts(self) -> Integers:
        return np.diff(self.offsets)

    @cached_property
    def cells(self) -> Cells:
        table = Table((Attribute("cell", Levels.of(range(len(self.counts)))),))
        (of,), step = FITTED.aggregates, float(FITTED.step)
        points = np.stack([np.rint(self.y / step), np.rint(self.x / step)], axis=-1).astype(np.int64)
        columns = {of: Ragged(self.offsets, points)}
        return Cells(table, FITTED.value(columns), FITTED.step, Unsummed(ONE_ROW), columns=columns)

    @cached_property
    def lines(self) -> CellLines:
        return CellLines.of(self.cells)

    def counted(self, epsilon: str, seed: int) -> Cube:
        """The noisy counts of all cells."""
        true = Cells(self.cells.domain, self.counts, Fraction(1), ONE_ROW)
        noisy = Geometric(epsilon).perturb(true, SeededDraws(seed))
        about = Subject("children", "count", "Children", "children", Fraction(1))
        made = measured(about, noisy, Geometric(epsilon).uncertainty(noisy))
        assert isinstance(made, Cube)  # noqa: S101 - every cell is laid out
        return made

    def published(self, mechanism: Mose, counts: Cube, seed: int) -> Noisy:
        return mechanism.perturb(self.cells, SeededDraws(seed), {"children": counts})


def read_counts(noisy: Noisy, counts: Cube) -> Integers:
    """The counts that an attacker works out of the errors, which are in proportion to one over them.

    One of them is tried at every number near its noisy count; the right one makes all others whole.
    """
    step = float(noisy.step)
    shown = np.flatnonzero(noisy.public["variance"].ravel())
    inverse = 1 / (step * np.sqrt(np.maximum(noisy.public["variance"].ravel()[shown] - 1 / 12, 1e-12) / 2))
    told, first = counts.values.ravel()[shown], int(np.argmax(inverse))
    tried = np.arange(max(1, told[first] - 40), told[first] + 41)
    others = tried[:, None] * (inverse / inverse[first])
    off = np.abs(others - np.rint(others)).mean(axis=1) + 1e-3 * np.abs(others - told).mean(axis=1)
    found = np.zeros(len(counts.values.ravel()), dtype=np.int64)
    found[shown] = np.rint(others[int(np.argmin(off))]).astype(np.int64)
    return found


def read_lines(noisy: Noisy, counts: Cube, epsilon: float) -> Floats:
    """What lines tell, once the noise of the counts is taken off them as if both were one draw."""
    true, step = read_counts(noisy, counts), float(noisy.step)
    variance = np.maximum(noisy.public["variance"].ravel() - 1 / 12, 0.0)
    shared = (counts.values.ravel() - true) * epsilon * step * np.sqrt(variance / 2)
    return np.asarray(noisy.values.ravel() * step - shared)


def lines(runs: int, rows: int, tell: object = None) -> list[Line]:  # noqa: ARG001 - one run, and it is quick
    atlas = Atlas.drawn(rows)
    shown, found = atlas.counts >= LEAST, []
    local, counts = atlas.lines.local_sensitivity, atlas.counts
    chi = float((local * counts)[shown].max())
    found.append(Line("cells, of which at least 20 children", "", f"{len(counts):,}, {int(shown.sum()):,}"))
    corners = float((atlas.lines.corner_sensitivity * counts)[shown].max())
    found.append(Line("chi as published, points added at the corners", "", f"{corners:.3f}"))
    found.append(Line("chi, corners added and points removed", "", f"{chi:.3f}", "as mose has it"))
    found += [
        Line(f"scale of Laplace noise at {size} children, epsilon 8", "", f"{chi / (EPSILON * size):.5f}")
        for size in (20, 100, 500)
    ]
    wider = anywhere(atlas)[shown] / local[shown]
    found.append(
        Line(
            "a point anywhere moves a line by more than LS",
            "",
            f"in {100 * np.mean(wider > 1.0001):.0f}% of cells",
            f"by up to {100 * (wider.max() - 1):.0f}%",
        )
    )
    low, high = moved_chi(atlas, shown)
    found.append(
        Line(
            "chi when one child of its cell leaves, or one comes",
            "",
            f"{low:.3f} to {high:.3f}",
            "given chi, nothing of this is counted",
        )
    )
    return [*found, *_attacks(atlas)]


def _attacks(atlas: Atlas) -> list[Line]:
    """Both attacks on the method as published and with noisy counts that have draws of their own."""
    found, true = [], atlas.lines.value(atlas.lines.moments)
    counts = atlas.counted("1", 3)
    for mechanism in (MoseAsPublished(1, least=LEAST), Mose(1, least=LEAST)):
        noisy = atlas.published(mechanism, counts, 4)
        shown = noisy.public["variance"].ravel() > 0
        exact = (read_counts(noisy, counts) == atlas.counts)[shown].mean()
        near = np.abs(read_lines(noisy, counts, 1) - true)[shown] < 1e-5
        found.append(Line(f"{mechanism.name}, epsilon 1: counts read off errors", "", f"{100 * exact:.0f}%"))
        found.append(
            Line(f"{mechanism.name}, epsilon 1: lines read off to five digits", "", f"{100 * near.mean():.0f}%")
        )
    return found


def anywhere(atlas: Atlas) -> Floats:
    """The most that a point anywhere within the bounds moves the line of a cell, or one of its own that goes."""
    true, found = atlas.lines.value(atlas.lines.moments), atlas.lines.local_sensitivity
    for x in WIDE:
        for y in (0.0, 1.0):
            found = np.maximum(found, np.abs(atlas.lines.value(atlas.lines.moments.with_point(float(x), y)) - true))
    return found


def moved_chi(atlas: Atlas, shown: np.ndarray) -> tuple[float, float]:
    """The least and the largest chi when the cell that sets it has one child less, or one more at a corner."""
    reached = np.where(shown, atlas.lines.local_sensitivity * atlas.counts, 0.0)
    top = int(np.argmax(reached))
    others, own = float(np.delete(reached, top).max()), slice(*atlas.offsets[top : top + 2])
    y, x = atlas.y[own], atlas.x[own]
    tried = [(np.delete(y, at), np.delete(x, at)) for at in range(len(y))]
    tried += [(np.append(y, float(up)), np.append(x, float(right))) for up in (0, 1) for right in (0, 1)]
    found = [max(others, _alone(one, other)) for one, other in tried]
    return min(found), max(found)


def _alone(y: Floats, x: Floats) -> float:
    """N · LS of one cell."""
    ends, step = np.array([0, len(y)]), float(FITTED.step)
    points = np.stack([np.rint(y / step), np.rint(x / step)], axis=-1).astype(np.int64)
    lines_of = CellLines(FITTED.aggregates[0], Ragged(ends, points), Moments.of(y, x, ends))  # type: ignore[arg-type]
    return float(lines_of.local_sensitivity[0] * len(y))


def picture(runs: int, rows: int, tell: object = None) -> Picture:  # noqa: ARG001 - as `lines`
    """The local sensitivity of every cell against its children, under the envelope chi / N."""
    atlas, title = (
        Atlas.drawn(rows),
        "How far one child moves the line of a cell, by its children; above all of them chi / N",
    )
    shown = atlas.counts >= LEAST
    counts, local = atlas.counts[shown].astype(float), atlas.lines.local_sensitivity[shown]
    chi, left, top, bottom = float((counts * local).max()), 80, 60, 340
    side = Scale(*svg.powers_around(counts.tolist()), left, WIDTH - 20, powers=True)
    up = Scale(*svg.powers_around([*local.tolist(), chi / counts.min()]), bottom, top, powers=True)
    parts = [svg.paper(WIDTH, 420), svg.text(14, 22, title, "value")]
    for tick in up.ticks():
        parts.append(svg.line(left, up(tick), side.end, up(tick), "hair"))
        parts.append(svg.text(left - 8, up(tick) + 4, svg.tick_words(tick, percent=False), "axis", "end"))
    parts += [
        svg.text(side(tick), bottom + 18, svg.tick_words(tick, percent=False), "axis", "middle")
        for tick in side.ticks()
    ]
    parts.append(svg.text((left + side.end) / 2, bottom + 38, "children in the cell", "axis", "middle"))
    chosen = np.argsort(-counts * local)[:3000]
    parts += [svg.glyph(0, side(float(counts[at])), up(float(local[at])), "f1", 2) for at in chosen]
    ends = np.geomspace(counts.min(), counts.max(), 20)
    parts.append(svg.path([(side(float(one)), up(chi / float(one))) for one in ends], "curve k0"))
    told = (f"chi is {chi:.3g}", f"{int(shown.sum()):,} cells of 20 children or more")
    return Picture(title, svg.drawing(420, title, *parts), told)


DRAWS = 20
LOW, RARE = 0.2, 5
"""Children below this rank are counted, and cells with fewer of them, but some, are suppressed."""


def against_suppression(runs: int, rows: int, tell: object = None) -> list[Line]:  # noqa: ARG001 - as `lines`
    """The slope over cells of how many children stay poor on how rich parents are: true, noisy and suppressed.

    Noise is drawn several times, as one draw says little of what it does on average.
    """
    atlas = Atlas.drawn(rows)
    rare = Atlas((atlas.y < LOW).astype(np.float64), atlas.x, atlas.offsets)
    cell = np.repeat(np.arange(len(atlas.counts)), atlas.counts)
    poor, shown = np.bincount(cell, rare.y, len(atlas.counts)), atlas.counts >= LEAST
    true, rich = rare.lines.value(rare.lines.moments), rare.lines.moments.x
    kept = shown & ((poor == 0) | (poor >= RARE))

    def slope(values: Floats, some: NDArray[np.bool_]) -> float:
        return _slope(rich[some], values[some], atlas.counts[some])

    drawn = [rare.published(Mose(EPSILON, least=LEAST), rare.counted("1", 2 * at), 2 * at + 1) for at in range(DRAWS)]
    slopes = [
        slope(np.asarray(one.values.ravel() * float(one.step), dtype=np.float64), one.public["variance"].ravel() > 0)
        for one in drawn
    ]
    apart = f"mean of {DRAWS} draws, which lie {np.std(slopes, ddof=1):.3f} apart (standard deviation)"
    return [
        Line("all cells, true", "", f"{slope(true, shown):+.3f}", f"{int(shown.sum()):,} cells"),
        Line("MOSE, epsilon 8, one chi", "", f"{np.mean(slopes):+.3f}", apart),
        Line("suppressed: 1 to 4 poor children", "", f"{slope(true, kept):+.3f}", f"{int(kept.sum()):,} cells"),
    ]


def _slope(x: Floats, y: Floats, weights: Integers) -> float:
    """The weighted least-squares slope."""
    right, up = x - np.average(x, weights=weights), y - np.average(y, weights=weights)
    return float((weights * right * up).sum() / (weights * right * right).sum())

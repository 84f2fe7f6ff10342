"""What each relation between employers and each mechanism really gives: posterior odds, exactly, in small universes.

An attacker who knows all but one thing compares two data sets by what is published: the largest change of his odds is
the largest ratio of its chances, in units of the epsilon that the measure costs. Cells are independent, so the logs of
two cells add. One who knows less has a mixture over what he does not know, and learns no more.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import PromiseError
from sfumato.mechanisms import Cells, CurveLaplace, LogLaplace, SmoothGamma, SmoothLaplace
from sfumato.mechanisms.logarithmic import Logarithmic
from sfumato.mechanisms.smooth import Smooth
from sfumato.privacy import AlongCurve, LossCurve, Move, Relative
from sfumato.privacy.neighbours.growth import grown, steps
from sfumato.schema import Frame, Largest, Rows
from sfumato.studies.study import Line

ALPHA = Fraction(1, 10)
MOVE = Relative(ALPHA)
SIZES = range(61)
COUNTED = 50
"""The jobs of one establishment that count where establishments are hidden altogether."""
Cell = tuple[int, int]
"""A number of jobs, and of those of the largest establishment among them."""
Floats = NDArray[np.float64]


def as_cells(cells: list[Cell], move: Move = MOVE) -> Cells:
    """Some cells, each with its largest establishment."""
    jobs, largest = (np.array(one, dtype=np.int64) for one in zip(*cells, strict=True))
    columns = {Rows(): jobs, Largest(): largest[:, None]}
    return Cells(Frame("cell", (), {}, range(len(cells))), jobs, Fraction(1), move, columns=columns)


def logs_lost(mechanism: Logarithmic, move: Move = MOVE) -> Callable[[Cell, Cell], float]:
    """How far logarithms go, over the scale of their noise."""
    rate = float(mechanism.law(move).rate / mechanism.epsilon)
    return lambda one, other: float(np.ptp(mechanism.clean(as_cells([one, other], move)))) * rate


def smooth_lost(mechanism: Smooth) -> Callable[[Cell, Cell], float]:
    """The largest |log ratio| of two quartic laws, at outputs near both values and far out."""
    far = np.unique(np.geomspace(1, 1e10, 1_500).astype(np.int64))
    near = np.arange(-1_500, 1_501)
    k = np.concatenate([-far, near, far])

    def lost(one: Cell, other: Cell) -> float:
        cells = as_cells([one, other])
        scales, which = mechanism.noise_scales(cells)
        centres = mechanism.clean(cells)
        logs = [
            np.log(mechanism.law_of(scales[w]).pmf(k + centres[0] - c)) for w, c in zip(which, centres, strict=True)
        ]
        return float(np.abs(logs[0] - logs[1]).max() / float(mechanism.epsilon))

    return lost


def nearly_lost(mechanism: SmoothLaplace) -> Callable[[Cell, Cell], float]:
    """The least epsilon that leaves no more than the delta between two Laplace laws, by all of their outcomes."""

    def lost(one: Cell, other: Cell) -> float:
        cells = as_cells([one, other])
        scales, which = mechanism.noise_scales(cells)
        centres = mechanism.clean(cells)
        far = 60 * math.ceil(max(scales)) + int(np.ptp(centres))
        k = np.arange(centres.min() - far, centres.max() + far + 1)
        laws = [mechanism.law_of(scales[w]).pmf(k - c) for w, c in zip(which, centres, strict=True)]
        delta, low, high = float(mechanism.delta), 0.0, 4 * float(mechanism.epsilon)
        for _ in range(40):
            middle = (low + high) / 2
            beyond = max(float(np.maximum(p - math.exp(middle) * q, 0).sum()) for p, q in (laws, laws[::-1]))
            low, high = (low, middle) if beyond <= delta else (middle, high)
        return high / float(mechanism.epsilon)

    return lost


@dataclass(frozen=True)
class HiddenBy:
    """A relation with a mechanism: what two states of one cell lose of its epsilon.

    By two kinds of workers each has half of the epsilon, where cells of one establishment share it; `halved` is what is
    lost then, of that half.
    """

    name: str
    lost: Callable[[Cell, Cell], float]
    halved: Callable[[Cell, Cell], float] | None = None
    but: str = ""

    def step(self, size: int, other: int) -> float:
        """What one establishment alone in its cell loses that has one size or another."""
        return self.lost((size, size), (other, other))

    @property
    def given(self) -> dict[str, float]:
        """What the requirements of the paper amount to, in units of epsilon."""
        out = max(self.step(size, size + 1) for size in SIZES)
        size = max(self.step(size, math.ceil((1 + ALPHA) * size)) for size in SIZES if size)
        shape = max(self._shape(women) for women in range(1, 21))
        return {"in or out": out, "to another employer": 2 * out, "size": size, "shape": shape}

    def _shape(self, women: int) -> float:
        """An establishment of 40 in which some more are women and as many fewer men."""
        more, lost = math.ceil(ALPHA * women), self.halved or self.lost
        kinds = ((women, women + more), (40 - women, 40 - women - more))
        return sum(lost((one, one), (other, other)) for one, other in kinds) / (2 if self.halved else 1)


def promised() -> list[HiddenBy]:
    """The relations and mechanisms that are compared, each at epsilon 1."""
    return [
        HiddenBy("one worker, geometric", lambda one, other: float(abs(one[0] - other[0]))),
        HiddenBy(
            f"one establishment, {COUNTED} jobs count, geometric",
            lambda one, other: abs(min(one[1], COUNTED) - min(other[1], COUNTED)) / COUNTED,
        ),
        _by_logs("size-within, log-laplace", 1),
        _by_logs("size-within, log-laplace, factor 2", 2),
        _by_scales("size-within, smooth-gamma"),
        _by_scales("size-within, smooth-gamma, at least one", "at least one"),
        _by_scales("size-within, smooth-gamma as published", "at least one", "paper"),
        _but_for_delta("size-within, smooth-laplace"),
        _but_for_delta("size-within, smooth-laplace, at least one", "at least one"),
        HiddenBy("loss-by-size, bend 10 at 100 jobs, curve-laplace", *_along_curve(), "of one of 100 jobs"),
    ]


def _by_logs(name: str, factor: int) -> HiddenBy:
    whole, half = (logs_lost(LogLaplace(epsilon, factor)) for epsilon in ("1", "0.5"))
    return HiddenBy(name, whole, half)


def _by_scales(name: str, *options: str) -> HiddenBy:
    whole, half = (smooth_lost(SmoothGamma(epsilon, *options)) for epsilon in ("1", "0.5"))
    return HiddenBy(name, whole, half)


def _along_curve() -> tuple[Callable[[Cell, Cell], float], Callable[[Cell, Cell], float]]:
    """Noise along a curve, and at half of the epsilon."""
    move = AlongCurve(LossCurve(Fraction(10), 100))
    return logs_lost(CurveLaplace(10), move), logs_lost(CurveLaplace(5), move)


def _but_for_delta(name: str, *options: str) -> HiddenBy:
    """Smooth Laplace at an epsilon and a delta of which half are enough for one of two kinds."""
    whole, half = (nearly_lost(SmoothLaplace(*budget, *options)) for budget in (("4", "0.001"), ("2", "0.0005")))
    return HiddenBy(name, whole, half, "but for a delta of 0.001")


SAID = {
    "in or out": "whether one worker is there",
    "to another employer": "for which of two employers one works",
    "size": "x or 110% of x, rounded up",
    "shape": "of 40 workers w women, or a tenth of w more and as many fewer men",
}
CLAIMED = {"in or out": "epsilon", "to another employer": "epsilon", "size": "epsilon", "shape": "epsilon"}


def mechanisms(runs: int = 1) -> list[Line]:  # noqa: ARG001 - nothing is drawn
    """What each relation and mechanism gives for each requirement, and to an attacker who knows less."""
    lines = []
    for one in promised():
        for what, amount in one.given.items():
            claimed = CLAIMED[what] if one.name.startswith("size-within") else ""
            remark = f"{SAID[what]}, {one.but}" if one.but else SAID[what]
            lines.append(Line(f"{one.name}: {what}", claimed, f"{amount:.2f} epsilon", remark))
    informed, weak = attackers()
    remark = "20 jobs or 22 in an establishment, by log-laplace; others in its cell are known, or 0 to 40"
    lines.append(Line("who knows all other establishments", "", f"{informed:.2f} epsilon", remark))
    lines.append(Line("who knows how many they may be", "", f"{weak:.2f} epsilon", remark))
    kinds = weak_steps(100, 100)
    lines.append(
        Line("weak neighbours: 100 or 110 jobs, each of a kind of its own", "1 step", f"{kinds} steps", "size")
    )
    return lines


def attackers() -> tuple[float, float]:
    """The odds of 20 against 22 jobs, knowing that nobody else is in the cell, or that there are 0 to 40 others."""
    mechanism = LogLaplace(1)
    law = mechanism.law(MOVE)
    centres = [mechanism.clean(as_cells([(size + other, size) for other in range(41)])) for size in (20, 22)]
    k = np.arange(min(map(min, centres)) - 12_000, max(map(max, centres)) + 12_001)
    known = [law.pmf(k - one[0]) for one in centres]
    guessed = [np.mean([law.pmf(k - one) for one in some], axis=0) for some in centres]
    odds = [float(np.abs(np.log(one) - np.log(other)).max()) for one, other in (known, guessed)]
    return odds[0], odds[1]


def weak_steps(size: int, kinds: int) -> int:
    """Steps between weak neighbours from as many kinds of equal size to 1 + alpha times as many jobs, one kind each."""
    each, more = size // kinds, math.floor(ALPHA * size)
    # Of the kinds that grow by one all together may only grow by a step of what they are together.
    grow, taken, found = more, 0, 0
    while taken < grow:
        together = next(n for n in range(grow - taken, 0, -1) if (each + 1) * n <= grown(each * n, ALPHA))
        taken, found = taken + together, found + 1
    return found


def theorem(runs: int = 1) -> list[Line]:  # noqa: ARG001 - nothing is drawn
    """Ten women come to 100 workers of whom 10 are women: what parts by sex lose, and what a plan is charged."""
    women = ((10, 10), (20, 20))
    paper, tight = (logs_lost(LogLaplace(1, factor=factor))(*women) for factor in (2, 1))
    gamma = smooth_lost(SmoothGamma(1, "at least one", "paper"))(*women)
    return [
        Line("steps from 100 workers to 110", "1", str(steps(110, ALPHA) - steps(100, ALPHA)), "strong neighbours"),
        Line("steps from 10 women to 20", "1", str(_between(10, 20)), "the same two data sets, seen by sex"),
        Line("algorithm 1 on the women", "1 epsilon", f"{paper:.2f} epsilon", "the theorem's own mechanism"),
        Line("algorithm 2 on the women", "1 epsilon", f"{gamma:.2f} epsilon", "smooth gamma as published"),
        Line("log-laplace, factor 1, on the women", "1 epsilon", f"{tight:.2f} epsilon", ""),
        Line("a plan, strong: women and men apart", "1 epsilon", _charged(""), "no bound by sex"),
        Line("a plan, weak: women and men apart", "1 epsilon", _charged('weak = ["sex"]'), "cells of one employer add"),
    ]


def _between(low: int, high: int) -> int:
    found = 0
    while low < high:
        low, found = grown(low, ALPHA), found + 1
    return found


def _charged(weak: str) -> str:
    """What a plan with one measure of women and one of men, epsilon 1 each, is charged."""
    from sfumato.plan import Plan

    measures = "".join(
        f'[[measure]]\nname = "{sex}"\nof = "count"\nby = []\nwhere = {{ sex = ["{sex}"] }}\n'
        'with = { mechanism = "log-laplace", epsilon = "1" }\n'
        for sex in ("f", "m")
    )
    text = (
        'name = "x"\n[data]\nunit = "job"\n[attributes.sex]\nlevels = ["f", "m"]\nof = "worker"\n[hidden]\n'
        f'neighbours = "size-within"\nunit = "establishment"\nid = "e"\nalpha = "0.1"\n{weak}\n[limit]\nepsilon = "9"\n'
    )
    try:
        return Plan.parse(text + measures, Path("theorem.toml")).price().total.words()
    except PromiseError:
        return "refused"

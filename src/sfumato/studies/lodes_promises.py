"""What each relation between employers and each mechanism really gives: posterior odds, exactly, in small universes."""

import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from sfumato.errors import PromiseError
from sfumato.mechanisms import CurveLaplace, LogLaplace, SmoothGamma, SmoothLaplace
from sfumato.privacy import AlongCurve, LossCurve
from sfumato.privacy.neighbours.growth import grown, steps
from sfumato.studies.lodes_odds import (
    ALPHA,
    SAME,
    Change,
    Lost,
    alone,
    attackers,
    logs_lost,
    nearly_lost,
    size_by_sex,
    smooth_lost,
)
from sfumato.studies.study import Line

SIZES = range(61)
SMALL = range(13)
"""The sizes of two employers between whom somebody moves, each with each."""
COUNTED = 50
"""The jobs of one establishment that count where establishments are hidden altogether."""


@dataclass(frozen=True)
class HiddenBy:
    """A relation with a mechanism: what two cells lose together, of the epsilon of a measure.

    `by_sex` is what cells of women and men of one establishment lose, where they share that epsilon.
    """

    name: str
    lost: Lost
    by_sex: Lost
    but: str = ""

    @property
    def given(self) -> dict[str, float]:
        """What the requirements of the paper amount to, in units of epsilon."""
        grown_up = [(size, math.ceil((1 + ALPHA) * size)) for size in SIZES if size]
        return {
            "in or out": max(self.lost(alone(size, size + 1), SAME) for size in SIZES),
            "to another employer": max(
                self.lost(alone(size + 1, size), alone(other, other + 1)) for size in SMALL for other in SMALL
            ),
            "size": max(self.lost(alone(size, more), SAME) for size, more in grown_up),
            "size, from another": max(self.lost(alone(size, more), alone(more - size, 0)) for size, more in grown_up),
            "shape": max(self._shape(women) for women in range(1, 21)),
        }

    def _shape(self, women: int) -> float:
        """An establishment of 40 in which some more are women and as many fewer men."""
        more, men = math.ceil(ALPHA * women), 40 - women
        return self.by_sex(alone(women, women + more), alone(men, men - more))


def promised() -> list[HiddenBy]:
    """The relations and mechanisms that are compared, each at epsilon 1 where nothing else is said."""
    return [
        HiddenBy("one worker, geometric", _jobs_lost, _jobs_lost),
        HiddenBy(f"one establishment, {COUNTED} jobs count, geometric", _counted_lost, _counted_lost),
        _by_logs("size-within, log-laplace", 1),
        _by_logs("size-within, log-laplace, factor 2", 2),
        _by_scales("size-within, smooth-gamma"),
        _by_scales("size-within, smooth-gamma, at least one", "at least one"),
        _by_scales("size-within, smooth-gamma as published", "at least one", "paper"),
        _but_for_delta("size-within, smooth-laplace"),
        _but_for_delta("size-within, smooth-laplace, at least one", "at least one"),
        HiddenBy("loss-by-size, bend 10 at 100 jobs, curve-laplace", *_along_curve(), "of one of 100 jobs"),
    ]


def _jobs_lost(one: Change, other: Change) -> float:
    """A step for every job, of geometric noise at epsilon 1."""
    return float(sum(abs(jobs - others) for (jobs, _), (others, _) in (one, other)))


def _counted_lost(one: Change, other: Change) -> float:
    """The same where one establishment is one step, with all its jobs that count."""
    changes = ((min(jobs, COUNTED) - min(others, COUNTED)) / COUNTED for (_, jobs), (_, others) in (one, other))
    return sum(map(abs, changes))


def _by_logs(name: str, factor: int) -> HiddenBy:
    whole, half = (logs_lost(LogLaplace(epsilon, factor), 1) for epsilon in ("1", "0.5"))
    return HiddenBy(name, whole, half)


def _by_scales(name: str, *options: str) -> HiddenBy:
    whole, half = (smooth_lost(SmoothGamma(epsilon, *options), 1) for epsilon in ("1", "0.5"))
    return HiddenBy(name, whole, half)


def _along_curve() -> tuple[Lost, Lost]:
    """Noise along a curve, and at half of the epsilon."""
    move = AlongCurve(LossCurve(Fraction(10), 100))
    return logs_lost(CurveLaplace(10), 10, move), logs_lost(CurveLaplace(5), 10, move)


def _but_for_delta(name: str, *options: str) -> HiddenBy:
    """Smooth Laplace at an epsilon and a delta of which half are enough for one of two kinds."""
    budgets = (("4", "0.001"), ("2", "0.0005"))
    whole, half = (nearly_lost(SmoothLaplace(*budget, *options), 4, 0.001) for budget in budgets)
    return HiddenBy(name, whole, half, "but for a delta of 0.001")


SAID = {
    "in or out": "whether one worker is there",
    "to another employer": "for which of two employers one works",
    "size": "x or 110% of x, rounded up, x up to 60",
    "size, from another": "the same; the new ones are else all the workers of another employer",
    "shape": "of 40 workers w women, or a tenth of w more and as many fewer men",
}


def mechanisms(runs: int = 1) -> list[Line]:  # noqa: ARG001 - nothing is drawn
    """What each relation and mechanism gives for each requirement, and to an attacker who knows less."""
    lines = []
    for one in promised():
        claimed = "epsilon" if one.name.startswith("size-within") else ""
        for what, amount in one.given.items():
            remark = f"{SAID[what]}, {one.but}" if one.but else SAID[what]
            lines.append(Line(f"{one.name}: {what}", claimed, f"{amount:.2f} epsilon", remark))
    return [*lines, *_known(), *known_by_sex()]


def _known() -> list[Line]:
    """What is learned of a size by those who know others in its cell, and who do not."""
    remark = "20 jobs or 22 in an establishment, by log-laplace; others in its cell are known, or 0 to 40"
    whose = ("who knows all other establishments", "who knows how many they may be")
    return [Line(who, "epsilon", f"{odds:.2f} epsilon", remark) for who, odds in zip(whose, attackers(), strict=True)]


def known_by_sex() -> list[Line]:
    """What weak neighbours leave of a size, to those who know its workers and who do not."""
    informed = logs_lost(LogLaplace("0.5"), 1)(alone(0, 10), SAME)
    guessed = max(size_by_sex(100, women) for women in (0.01, 0.1, 0.5))
    table = "100 jobs or 110, by log-laplace for women and men, half of epsilon each"
    return [
        Line(
            "weak neighbours: size, who knows its workers",
            "",
            f"{informed:.2f} epsilon",
            f"{table}; 100 are men and known, and new ones are women",
        ),
        Line(
            "weak neighbours: size, who does not",
            "epsilon",
            f"{guessed:.2f} epsilon",
            f"{table}; each is a woman as likely as any other, with a chance of 1%, 10% or 50%",
        ),
        Line(
            "weak neighbours: 100 or 110 jobs, each of a kind of its own",
            "1 step",
            f"{weak_steps(100, 100)} steps",
            "size",
        ),
    ]


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
    women = alone(10, 20)
    paper, tight = (logs_lost(LogLaplace(1, factor=factor), 1)(women, SAME) for factor in (2, 1))
    gamma = smooth_lost(SmoothGamma(1, "at least one", "paper"), 1)(women, SAME)
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

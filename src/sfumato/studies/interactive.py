"""Bottom-up against interactive: the same tables at the same loss, summed from one noisy cube or noised one by one.

The paper chose the bottom-up cube because an interactive tool loses additivity. With fresh noise no two tables agree;
whether they are more accurate depends on epsilon and on how many tables share it. With 55 tables fresh noise wins on
one-way tables at epsilon 1, where a margin of the cube sums thousands of noises, and loses everywhere at epsilon 7,
where few cells of the cube move at all.
"""

from fractions import Fraction
from itertools import combinations

import numpy as np

from sfumato.draws import SeededDraws, TwoSidedGeometric
from sfumato.release.noisy import Floats
from sfumato.release.uncertainties.margins import Margins
from sfumato.schema import Level
from sfumato.studies.ors import counted, whole_table
from sfumato.studies.study import Line
from sfumato.synth.ors import paper_set

EPSILONS = (1, 7)


def tables(dimension: int) -> list[tuple[str, ...]]:
    return list(combinations(whole_table().names, dimension))


def bottom_up(epsilon: int, seed: int) -> dict[tuple[str, ...], Floats]:
    """Errors of all one- and two-way tables that are summed from one cube."""
    whole, draws = whole_table(), SeededDraws(seed)
    noise = TwoSidedGeometric(Fraction(epsilon)).draw(whole.size, draws).reshape(whole.shape)
    return {names: Margins(whole, (tuple(map(Level, names)),)).of(noise) for names in tables(1) + tables(2)}


def interactive(epsilon: int, seed: int) -> dict[tuple[str, ...], Floats]:
    """Errors of the same tables, each noised by itself with its share of the same epsilon."""
    whole, draws = whole_table(), SeededDraws(seed)
    asked = tables(1) + tables(2)
    law = TwoSidedGeometric(Fraction(epsilon, len(asked)))
    return {names: law.draw(whole.margin(names).size, draws).astype(float) for names in asked}


def disagreement(errors: dict[tuple[str, ...], Floats]) -> float:
    """The largest difference between a one-way table and the same table summed from a two-way one."""
    whole, worst = whole_table(), 0.0
    for pair in tables(2):
        shape = whole.margin(pair).shape
        for place, name in enumerate(pair):
            summed = errors[pair].reshape(shape).sum(axis=1 - place)
            worst = max(worst, float(np.abs(summed - errors[(name,)]).max()))
    return worst


def lines(runs: int) -> list[Line]:
    """Root mean square errors by dimension, and how far tables disagree."""
    cases = int(counted(paper_set()).sum())
    return [
        line
        for epsilon in EPSILONS
        for name, way in (("cube", bottom_up), ("interactive", interactive))
        for line in _compared(f"epsilon {epsilon}, {name}", [way(epsilon, seed) for seed in range(1, runs + 1)], cases)
    ]


def _compared(name: str, drawn: list[dict[tuple[str, ...], Floats]], cases: int) -> list[Line]:
    found = []
    for dimension in (1, 2):
        pooled = np.concatenate([errors[names] for errors in drawn for names in tables(dimension)])
        error = f"{np.sqrt(np.mean(pooled**2)):.2f}"
        found.append(Line(f"{name}: {dimension}-way rms error", "", error, f"of {cases} cases"))
    worst = max(disagreement(errors) for errors in drawn)
    return [*found, Line(f"{name}: tables disagree by up to", "", f"{worst:.0f}")]

"""Biases: which steps of a plan leave totals biased, and by how much a truly empty cell, known before any data."""

from dataclasses import dataclass

import numpy as np

from sfumato.calibrate import Step
from sfumato.mechanisms.additive import Additive, stated_noise
from sfumato.plan.decisions import Decisions
from sfumato.release.figures import number


@dataclass(frozen=True)
class StepBias:
    """A step whose totals are biased: in words, and the mean error of a cell in which truly nobody is, in its unit."""

    step: str
    kind: str
    words: str
    empty_cell: float | None
    table: str

    @property
    def sentence(self) -> str:
        empty = "" if self.empty_cell is None else f" A cell that is truly 0 is {number(self.empty_cell)} on average."
        return f"Biased: '{self.step}' ({self.kind}). {self.words}{empty} '{self.table}' is unbiased."


def biases(plan: Decisions) -> list[StepBias]:
    """The steps of a plan that leave totals biased, in their order."""
    return [StepBias(one.name, one.kind, one.bias, _of_empty(plan, one), one.table) for one in plan.then if one.bias]


def _of_empty(plan: Decisions, step: Step) -> float | None:
    """Where noise of one known law is in every cell that the step reads, what it leaves of a cell without records."""
    measure = next((one for one in plan.measures if one.name == step.table), None)
    if measure is None or not isinstance(measure.with_, Additive):
        return None
    chances = stated_noise(measure.with_.law(plan.move(measure))).probabilities
    found = step.bias_of_empty(np.array(chances)) if chances else None
    return None if found is None else found * float(measure.of.step)

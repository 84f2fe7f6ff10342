"""Geometric program: the largest of some sums of p / s is to be least, where no sum of B s is more than 1.

With x = log s both are convex: log Σ p exp(−x) and log Σ B exp(x). Newton's method goes down z, above the largest of
the first, times a rate, less the logarithms of what is left to z and to 1; at a rate r the sums are within
exp(n / r) of the least, of n sums in all (Boyd and Vandenberghe 2004, 11.2 and 4.5).
"""

import numpy as np

from sfumato.release.noisy import Floats

GAP, FASTER, MOST_STEPS = 1e-7, 30.0, 60
"""How near the least is come, how much faster each time, and in how many steps of Newton's method at the most."""
SETTLED, SHORTEST = 1e-8, 1e-12
"""When a rate is left, by half the square of Newton's step, and the shortest part of a step that is tried."""


def least_largest(costs: Floats, parts: Floats) -> Floats:
    """The s at which the largest of costs @ (1 / s) is least, where parts @ s is at most 1."""
    logs = np.full(costs.shape[1] + 1, -np.log(2 * parts.sum(axis=1).max()))
    logs[-1] = np.log((costs @ np.exp(-logs[:-1])).max()) + 1
    program, rate, many = _Barrier(costs, parts), 1.0, len(costs) + len(parts)
    while many / rate > GAP:
        rate *= FASTER
        for _ in range(MOST_STEPS):
            step, settled = program.step(logs, rate)
            if settled < SETTLED or not program.moved(logs, step, rate, settled):
                break
    found = np.exp(logs[:-1])
    return np.asarray(found / (parts @ found).max(), dtype=np.float64)


class _Barrier:
    """How far sums are from what they may be, in logarithms; the last variable is what the first are below."""

    def __init__(self, costs: Floats, parts: Floats) -> None:
        self.costs, self.parts = costs, parts

    def _terms(self, logs: Floats) -> tuple[Floats, Floats]:
        return self.costs * np.exp(-logs[:-1]), self.parts * np.exp(logs[:-1])

    def value(self, logs: Floats, rate: float) -> float:
        """What is gone down; without end where a sum is too large."""
        below, within = (terms.sum(axis=1) for terms in self._terms(logs))
        left = np.concatenate([logs[-1] - np.log(below), -np.log(within)])
        return float(rate * logs[-1] - np.log(left).sum()) if (left > 0).all() else np.inf

    def step(self, logs: Floats, rate: float) -> tuple[Floats, float]:
        """Newton's step, and half its square, by which it is told how near the lowest is."""
        size, terms = len(logs) - 1, self._terms(logs)
        slopes, hessian = np.zeros(size + 1), np.zeros((size + 1, size + 1))
        slopes[-1] = rate
        for each, sign, end in zip(terms, (-1.0, 1.0), (logs[-1], 0.0), strict=True):
            sums = each.sum(axis=1)
            force, shares = 1 / (end - np.log(sums)), sign * each / sums[:, None]
            slopes[:-1] += force @ shares
            hessian[:-1, :-1] += (shares * (force**2 - force)[:, None]).T @ shares + np.diag(sign * (force @ shares))
            if sign < 0:
                slopes[-1] -= force.sum()
                hessian[-1, :-1] -= force**2 @ shares
                hessian[-1, -1] += (force**2).sum()
        hessian[:-1, -1] = hessian[-1, :-1]
        hessian[np.diag_indices(size + 1)] += 1e-14 * np.trace(hessian) / (size + 1)
        step = np.asarray(-np.linalg.solve(hessian, slopes), dtype=np.float64)
        return step, float(-slopes @ step) / 2

    def moved(self, logs: Floats, step: Floats, rate: float, settled: float) -> bool:
        """Go as much of a step, in place, as goes down by enough; whether any was."""
        here, part = self.value(logs, rate), 1.0
        while part > SHORTEST:
            if self.value(logs + part * step, rate) <= here - 0.1 * part * settled:
                logs += part * step
                return True
            part /= 2
        return False

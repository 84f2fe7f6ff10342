"""Ways to spend one budget on a state of establishments, and how far each is off at every level.

Square-root noise on a total has variance 4 X beta²/mu² and precision grows with mu², so splitting mu over levels
returns at best what the sum of the rows has already; clipped totals follow the largest establishment instead.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.calibrate.microdata import Fitting, at_least_0
from sfumato.draws import Draws, SeededDraws
from sfumato.mechanisms import ClippedTotal, Mechanism, SquareRoot
from sfumato.release import Product, Subject, measured
from sfumato.release.noisy import Floats
from sfumato.release.uncertainties.trend import Sizes
from sfumato.schema import Grouping, Level
from sfumato.studies.qcew_state import LEVELS, State, state
from sfumato.studies.study import Line

BETA = Fraction(1, 2)
SPLIT = {"state": "0.2", "county": "0.6", "NAICS5": "0.6", "county x NAICS5": "0.7", "rows": "0.7"}
"""The team's baseline budget for the jobs of a month: mu 1.3191 in all."""
GROUPS = LEVELS | {"county": (Level("county"),)}
SETS = ("state", "county", "NAICS5", "county x NAICS5")


def whole_budget(split: dict[str, str]) -> Fraction:
    """The mu of all parts together, to a millionth."""
    squared = sum(Fraction(mu) ** 2 for mu in split.values())
    return Fraction(round(float(squared) ** 0.5 * 10**6), 10**6)


def published(of: State, name: str, with_: Mechanism, draws: Draws, rows: Product | None = None) -> Product:
    """One measure of the state, as the gate would make it."""
    by = None if name == "rows" else GROUPS[name]
    noisy = with_.perturb(of.cells(by, BETA), draws, {} if rows is None else {"rows": rows})
    subject = Subject(name, "total", "Jobs", "jobs", noisy.step)
    return measured(subject, noisy, with_.uncertainty(noisy))


@dataclass(frozen=True, eq=False)
class AtTheDraws(Fitting):
    """Least squares with every variance at its own draw, as first published."""

    def noise(self, sizes: Sizes) -> Floats:  # noqa: ARG002 - not at sizes
        values = [np.maximum(one.values.astype(np.float64) * float(one.subject.step), 0.0) for one in self.controls]
        sets = zip(values, self.sets(Fraction(1)), strict=True)
        return np.concatenate([one.trend.at(drawn, np.zeros(1)) for drawn, one in sets])


def roots_everywhere(of: State, split: dict[str, str], draws: Draws) -> Floats:
    """Square-root noise on the rows and on every set of totals, least squares with variances at the draws."""
    rows = published(of, "rows", SquareRoot(split["rows"]), draws)
    controls = [published(of, name, SquareRoot(split[name]), draws) for name in SETS]
    problem = AtTheDraws(rows, tuple(controls))
    return problem.fit(at_least_0(problem.measured))


def rows_alone(of: State, split: dict[str, str], draws: Draws) -> Floats:
    """Square-root noise on the rows with the whole budget; totals are their sums."""
    rows = published(of, "rows", SquareRoot(whole_budget(split)), draws)
    return np.asarray(rows.values * float(rows.subject.step), dtype=np.float64)


def clipped(of: State, split: dict[str, str], draws: Draws) -> Fitting:
    """Square-root noise on the rows, clipped totals given them: what the plan of this project measures."""
    rows = published(of, "rows", SquareRoot(split["rows"]), draws)
    return Fitting(rows, tuple(published(of, name, ClippedTotal(split[name]), draws, rows) for name in SETS))


def ours(of: State, split: dict[str, str], draws: Draws) -> Floats:
    """Clipped totals and least squares with variances at fitted sizes."""
    problem = clipped(of, split, draws)
    return problem.fit(problem.fitted_sizes())


Way = Callable[[State, dict[str, str], Draws], Floats]
WAYS: dict[str, Way] = {
    "square root on all sets": roots_everywhere,
    "square root on rows alone": rows_alone,
    "clipped totals, least squares": ours,
}


def errors(of: State, rows: Floats) -> dict[str, Floats]:
    """How far each total of each level is off."""
    off = rows - of.jobs
    groupings: dict[str, Grouping] = {name: of.frame.grouped(by) for name, by in LEVELS.items()}
    return {name: np.bincount(one.of, off, one.size).astype(np.float64) for name, one in groupings.items()}


@dataclass(frozen=True, eq=False)
class ErrorsByWay:
    """Mean absolute errors of each way at each level, a row a seed, and the error of the state's total."""

    absolute: dict[str, dict[str, Floats]]
    bias: dict[str, Floats]


def compare(runs: int, ways: Sequence[str] = tuple(WAYS), split: dict[str, str] | None = None) -> ErrorsByWay:
    """All ways on the same state, each with draws of its own; seeds in order."""
    of, split = state(), split or SPLIT
    found = {way: [errors(of, WAYS[way](of, split, SeededDraws(seed))) for seed in range(1, runs + 1)] for way in ways}
    absolute = {
        way: {level: np.array([np.abs(run[level]).mean() for run in list_]) for level in LEVELS}
        for way, list_ in found.items()
    }
    return ErrorsByWay(absolute, {way: np.array([run["state"][0] for run in list_]) for way, list_ in found.items()})


def shown(error: float) -> str:
    """Three digits, or all before the point."""
    return f"{error:,.0f}" if error >= 100 else f"{error:.3g}"


def table(runs: int) -> list[Line]:
    """Mean absolute errors by level, way by way."""
    found = compare(runs)
    lines = []
    for level in LEVELS:
        got = [float(found.absolute[way][level].mean()) for way in WAYS]
        spread = [float(found.absolute[way][level].std(ddof=1)) if runs > 1 else 0.0 for way in WAYS]
        remark = " / ".join(f"{one:.3g}" for one in spread)
        lines.append(Line(level, "", " / ".join(map(shown, got)), f"sd over seeds {remark}"))
    drift = " / ".join(f"{found.bias[way].mean():+.0f}" for way in WAYS)
    se = " / ".join(f"{found.bias[way].std(ddof=1) / runs**0.5:.0f}" for way in WAYS) if runs > 1 else ""
    return [*lines, Line("bias of the state's total", "", drift, f"standard error {se}")]


FACTORS = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2))


def curves(runs: int) -> list[Line]:
    """Utility against protection: the same split at other budgets, mechanism against mechanism at equal mu."""
    lines = []
    for factor in FACTORS:
        split = {name: str(float(Fraction(mu) * factor)) for name, mu in SPLIT.items()}
        found = compare(runs, split=split)
        mu = float(whole_budget(split))
        for level in ("state", "NAICS5", "county x NAICS5"):
            got = " / ".join(shown(float(found.absolute[way][level].mean())) for way in WAYS)
            lines.append(Line(f"mu {mu:.3g}: {level}", "", got))
    return lines

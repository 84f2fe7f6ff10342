"""The numbers on Toth's slides about the future of disclosure limitation for the QCEW, computed again."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from sfumato.calibrate import LeastSquares, calibrated
from sfumato.mechanisms import ClippedTotal, SquareRoot, Typical
from sfumato.privacy import Gaussian, Root, in_sequence
from sfumato.privacy.neighbours.square_root_within import reach
from sfumato.release import Cube, Independent, Product, Subject, Varying
from sfumato.release.noisy import Floats, Integers
from sfumato.schema import Attribute, Box, Levels, Table
from sfumato.studies.study import Line

INTERVALS = {1: ("[0, 4]", "400.0%"), 100: ("[81, 121]", "40.0%"), 1_000: ("[937, 1065]", "12.7%"), 10_000: ("[9801, 10201]", "4.0%"), 100_000: ("[99368, 100634]", "1.3%")}  # fmt: skip  # noqa: E501
POWERS = {"0.5": ("2", "0.1261"), "1": ("1", "0.2595"), "1.5": ("0.67", "0.4424"), "2": ("0.5", "0.6387")}
SPLITS = (("1", "1.5", "1.80"), ("0.75", "1.9", "2.04"))
BASELINE = {"m1emp": ("0.2", "0.6", "0.6", "0.7", "0.7"), "m2emp": ("0.2", "0.6", "0.6", "0.7", "0.7"), "m3emp": ("0.2", "0.6", "0.6", "0.7", "0.7"), "wages": ("0.1", "0.15", "0.15", "0.15", "0.15")}  # fmt: skip  # noqa: E501
"""The team's baseline: mu by variable for the state, counties, NAICS5, county x NAICS5 and the rows."""
COUNTIES = (1_226.92, 640_506.56, 359_329.31)
"""The noisy employment of counties A, B and C on the slide."""
TOTAL = 1_002_394.88
TRUE_COUNTIES = (1_000, 639_000, 360_000)
MU_TOTAL, MU_COUNTY, MU_STATE = "0.3", "0.4", "0.2"
CENT = Fraction(1, 100)
RHODE_ISLAND = (375_797, 4_050)
"""The jobs of the team's substitute data for Rhode Island in 2016, and of the largest establishment."""


def interval(size: float, beta: float = 1.0) -> tuple[float, float]:
    """The sizes whose square root is within beta of that of a size.

    >>> [round(end, 2) for end in interval(1000)]
    [937.75, 1064.25]
    """
    root = math.sqrt(size)
    return max(root - beta, 0.0) ** 2, (root + beta) ** 2


def intervals(_runs: int) -> list[Line]:
    """What looks alike with a size at beta 1."""
    lines = []
    for size, (printed, wide) in INTERVALS.items():
        low, high = interval(size)
        whole = reach(size, Fraction(1))
        remark = f"whole sizes from {whole[0]:,} to {whole[1]:,}"
        ours = f"[{low:g}, {high:g}] {(high - low) / size:.2%}" if size < 1000 else f"[{low:.2f}, {high:.2f}] {(high - low) / size:.3%}"  # fmt: skip  # noqa: E501
        lines.append(Line(f"{size:,}", f"{printed} {wide}", ours, remark))
    return lines


def powers(_runs: int) -> list[Line]:
    """The power of the best test at 5%."""
    lines = []
    for mu, (sigma, printed) in POWERS.items():
        power = Gaussian(mu).power(0.05)
        remark = "the slide cuts the last digit off" if printed != f"{power:.4f}" else ""
        lines.append(Line(f"mu {mu}, sigma {sigma}", printed, f"{power:.5f}", remark))
    return lines


def splits(_runs: int) -> list[Line]:
    """What parts of a budget cost together."""
    lines = []
    for one, other, printed in SPLITS:
        both = in_sequence([Gaussian(one), Gaussian(other)], Gaussian(9))
        lines.append(Line(f"mu {one} and {other}", printed, f"{both.mu:.4f}"))  # type: ignore[union-attr]
    parts = [Gaussian(mu) for mus in BASELINE.values() for mu in mus]
    baseline = in_sequence(parts, Gaussian(9))
    lines.append(Line("the team's baseline, three months and wages", "", f"{baseline.mu:.4f}", "a quarter"))  # type: ignore[union-attr]
    year = in_sequence(parts * 4, Gaussian(9))
    lines.append(Line("the same over four quarters", "", f"{year.mu:.4f}", "a year"))  # type: ignore[union-attr]
    return lines


def fitted(variances: Sequence[float]) -> Product:
    """Counties A, B and C, moved to their total by the step `least-squares`; `variances` are of A, B, C and it."""
    # In cents, as the slide prints them.
    steps = np.asarray(variances, dtype=np.float64) / float(CENT) ** 2
    table = Table((Attribute("county", Levels.of("ABC")),))
    counties = Cube(_subject("counties"), table, _cents(COUNTIES), Varying(steps[:3]))
    total = Cube(_subject("total"), Table(()), _cents(TOTAL), Independent(float(steps[3])))
    made, _ = calibrated([LeastSquares("fitted", "counties", ("total",))], {"counties": counties, "total": total})
    return made["fitted"]


def _subject(name: str) -> Subject:
    return Subject(name, "total", "Jobs", "jobs", CENT)


def _cents(jobs: float | Sequence[float]) -> Integers:
    return np.rint(np.asarray(jobs) / float(CENT)).astype(np.int64)


def example(variances: Sequence[float]) -> Floats:
    """The sums of counties A, B and C that the step finds."""
    found = fitted(variances)
    return np.asarray(found.values * float(found.subject.step), dtype=np.float64)


def total_deviation(variances: Sequence[float]) -> float:
    """The standard deviation of the fitted total, as the step states it: nearly that of one measurement with mu 0.5."""
    found = fitted(variances)
    return math.sqrt(float(found.covariance(Box(), Box()))) * float(found.subject.step)  # type: ignore[arg-type]


def root_variance(size: float, mu: str) -> float:
    """The variance of a value published with square-root noise at beta 1, as the mechanism expects it."""
    return float(SquareRoot(mu).expected(Root(Fraction(1)), Typical(size=size))) ** 2  # type: ignore[arg-type]


def noise_of(counties: Sequence[float], total: float) -> list[float]:
    """The variances of counties and their total at such sizes, by the budgets of the slide."""
    return [*(root_variance(size, MU_COUNTY) for size in counties), root_variance(total, MU_TOTAL)]


def worked_example(_runs: int) -> list[Line]:
    """The four sums that the slide's example determines, with variances at the truth and at the draws."""
    truth, draws = noise_of(TRUE_COUNTIES, sum(TRUE_COUNTIES)), noise_of(COUNTIES, TOTAL)
    lines = []
    for name, noisy, one, other in zip("ABC", COUNTIES, example(truth), example(draws), strict=True):
        lines.append(Line(f"county {name}", f"{noisy:,.2f} noisy", f"{one:,.2f}", f"{other:,.2f} by the draws"))
    sums = float(example(truth).sum()), float(example(draws).sum())
    lines.append(Line("total", f"{TOTAL:,.2f} noisy", f"{sums[0]:,.2f}", f"{sums[1]:,.2f} by the draws"))
    lines.append(
        Line("standard deviation of the total", "", f"{total_deviation(truth):,.0f}", "2 √1,000,000 · 2: mu 0.5")
    )
    lines += [Line(f"each establishment of county {name}", "", "undetermined", "only its sum is") for name in "BC"]
    return lines


def state_totals(_runs: int) -> list[Line]:
    """The noise on the state's total of 375,797 jobs, the largest establishment 4,050, at beta 0.5 and mu 0.2."""
    jobs, largest = RHODE_ISLAND
    move, rows = Root(Fraction(1, 2)), SquareRoot("0.7")
    rooted = SquareRoot(MU_STATE).expected(move, Typical(size=jobs))
    lines = [Line("square root: standard deviation", "", f"{rooted:,.0f}", "2 √X beta / mu")]
    for what, chance in (("1% in any of 1,620 groups", Fraction(1, 162_000)), ("1% in each group", Fraction(1, 100))):
        ours = ClippedTotal(MU_STATE, clip=chance).expected(move, Typical(largest=largest, given=(rows,)))
        lines.append(
            Line(f"clipped total, {what}", "", f"{ours:,.0f}", "the whole steps in beta (2 √T − beta), over mu")
        )
    return lines

"""Careers after research grants: what one university's report costs, and how far its numbers are off.

The slides add the epsilons of all years and both statistics; noise that is scaled to a person's ten rows costs the
same. Numbers come from a rehearsal of the shipped plan on synthetic careers, laid beside the truth.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from sfumato.confidential import Microdata, Options, run
from sfumato.plan import Plan
from sfumato.plan.toml import SHIPPED
from sfumato.release.noisy import Floats
from sfumato.studies.study import Line
from sfumato.synth.umetrics import LONGEST, umetrics

SIZES = ((1, 20), (20, 100), (100, 10**9))


def rehearsed(rows: int, seed: int = 1) -> tuple[Plan, dict[str, Floats], dict[str, Floats]]:
    """The plan, its released cells, and the true ones, in the order of their table."""
    plan, people = Plan.read(SHIPPED / "umetrics.toml"), umetrics(rows, seed)
    with TemporaryDirectory() as folder:
        release = run(plan, Microdata.open(people, plan.schema), None, Path(folder) / "r", Options(rehearsal=seed))
        values = {name: one.values.ravel() * float(one.subject.step) for name, one in release.products.items()}
    table = plan.table(plan.measures[0])
    place = np.zeros(len(people), dtype=np.int64)
    for attribute, length in zip(table.attributes, table.shape, strict=True):
        known = {code: at for at, code in enumerate(attribute.levels.leaves)}
        place = place * length + np.array([known[code] for code in people[attribute.name].to_pylist()])
    counts = np.bincount(place, minlength=table.size)
    pay = np.bincount(place, people["earnings"].to_numpy(), table.size)
    released = {name: np.asarray(one, dtype=np.float64) for name, one in values.items()}
    return plan, released, {"employed": counts.astype(np.float64), "earnings": np.asarray(pay, dtype=np.float64)}


def apart(released: Floats, true: Floats) -> Floats:
    """The absolute percentage difference, |true − noisy| / true."""
    return np.abs(released - true) / true


def lines(runs: int, rows: int, tell: object = None) -> list[Line]:  # noqa: ARG001 - one run, and it is quick
    plan, released, true = rehearsed(rows)
    each = {one.name: float(one.with_.epsilon) / LONGEST for one in plan.measures}  # type: ignore[attr-defined]
    total = sum(LONGEST * one for one in each.values())
    first = Line(
        f"epsilon: {LONGEST} years of employment {each['employed']:g} and earnings {each['earnings']:g}",
        f"{total:g}",
        plan.price().total.words().removeprefix("epsilon "),
        "the sum over years and statistics, as on the slide",
    )
    return [first, *_differences(released, true)]


def _differences(released: dict[str, Floats], true: dict[str, Floats]) -> Iterator[Line]:
    """The absolute percentage difference by the people of a cell: of employment and of mean earnings."""
    count = true["employed"]
    for low, high in SIZES:
        some = (count >= low) & (count < high) & (released["employed"] > 0)
        if not some.any():
            continue
        people = apart(released["employed"][some], count[some])
        paid = [one["earnings"][some] / one["employed"][some] for one in (released, true)]
        means = apart(paid[0], paid[1])
        said = f"{low:,} or more" if high == SIZES[-1][1] else f"{low} to {high - 1}"
        told = " / ".join(f"{100 * np.median(one):.1f}%" for one in (people, means))
        within = " / ".join(f"{100 * np.mean(one <= 0.1):.0f}%" for one in (people, means))
        yield Line(
            f"cells of {said} people: median APD of employment / mean earnings", "", told, f"within 10%: {within}"
        )

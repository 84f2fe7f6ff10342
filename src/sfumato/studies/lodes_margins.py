"""All eight margins of place, sector and ownership, and tables by age, race and ethnicity, beside noise infusion."""

import tempfile
from itertools import combinations
from pathlib import Path

import numpy as np

from sfumato.errors import how_many
from sfumato.plan import Plan
from sfumato.schema import Ragged
from sfumato.studies.lodes_cells import Integers, Marginal, Say, marginal, tabulated
from sfumato.studies.lodes_laws import LAWS
from sfumato.studies.study import Line
from sfumato.synth.lodes import write_lodes

BY, TRAITS = ("location@2", "sector", "ownership"), ("age", "race", "ethnicity")
NAMES = {"location@2": "place"}
ALPHA, EPSILON = 0.1, 1.0


def lines(runs: int, jobs: int, say: Say) -> list[Line]:
    """Each table at the whole epsilon, which its cells of one workplace share where they are by traits."""
    with tempfile.TemporaryDirectory() as folder:
        say(f"making {jobs:,} jobs")
        plan = Plan.read(write_lodes(Path(folder), jobs))
        say("joining and tabulating them")
        whole = tabulated(plan, Path(folder), BY)
        people = tabulated(plan, Path(folder), (*BY[:2], *TRAITS))
    shapes = [plan.schema.table(by).shape for by in (BY, (*BY[:2], *TRAITS))]
    shown = []
    for size in range(len(BY) + 1):
        for kept in combinations(range(len(BY)), size):
            name = " × ".join(NAMES.get(BY[axis], BY[axis]) for axis in kept) or "all jobs"
            say(name)
            shown.append(_line(name, _kept(*whole, shapes[0], kept), 1, runs))
    for place, trait in enumerate(TRAITS, start=2):
        say(trait)
        kinds = shapes[1][place]
        shown.append(_line(f"place × sector × {trait}", _kept(*people, shapes[1], (0, 1, place)), kinds, runs))
    return shown


def _kept(places: Integers, units: Ragged, shape: tuple[int, ...], axes: tuple[int, ...]) -> Marginal:
    """The cells of some axes of a table, with what each workplace has there."""
    codes = np.unravel_index(np.repeat(places, units.lengths), shape)
    cell = np.zeros(len(units.values), dtype=np.int64)
    for axis in axes:
        cell = cell * shape[axis] + codes[axis]
    _, cell = np.unique(cell, return_inverse=True)
    digests, unit = np.unique(units.values[:, 0], return_inverse=True)
    pair, back = np.unique(cell * len(digests) + unit, return_inverse=True)
    count = np.bincount(back, units.values[:, 1]).astype(np.int64)
    own = pair // len(digests)
    return marginal(own, digests, pair % len(digests), count, np.zeros(int(own.max()) + 1, dtype=np.int64))


def _line(name: str, of: Marginal, kinds: int, runs: int) -> Line:
    """The expected L1 error of every mechanism over that of noise infusion, the mean of some keys."""
    infused = np.mean([np.abs(of.infused(1 + run) - of.jobs).sum() for run in range(runs)])
    given = {law: law.own(EPSILON, kinds) for law in LAWS}
    told = [
        f"{law.expected(of.jobs, of.largest, ALPHA, own).sum() / infused:.3g}" if own > law.least(ALPHA) else "-"
        for law, own in given.items()
    ]
    shared = f", epsilon shared by {kinds} kinds" if kinds > 1 else ""
    return Line(name, "", " / ".join(told), f"{how_many(of.jobs.size, 'cell')}{shared}")

"""SideBySide: several releases of the same data beside the truth: cells lost, errors, and what an attacker gets.

Tables are all of up to two variables, at every level of each, that every release has which answers the statistic, or
those that are asked for; cells that hold no unit are left out. A number that a release withholds is lost.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from pathlib import Path

import numpy as np

from sfumato.confidential.assessment.assess import plainly
from sfumato.confidential.assessment.attackers import Attacked, attacked
from sfumato.confidential.assessment.comparisons import Floats, Integers, Numbers, quantile
from sfumato.confidential.assessment.true_products import Key, TrueProduct, TrueProducts, key_of
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.sealed import Sealed
from sfumato.errors import ReleaseError
from sfumato.plan import Plan
from sfumato.release import Product, Release, now, open_release
from sfumato.schema import Grid, LeafGroups, Level, Mask

NOTICE = "CONFIDENTIAL: made from the microdata; do not publish."
MOST_CELLS = 200_000
"""The most cells of a table that is looked at."""
NEAR = 0.10
"""How near to the truth a number is called near."""
SIZES = ((1, 1), (2, 2), (3, 9), (10, 99), (100, None))
"""Cells by how many units they hold."""
Levels = tuple[Level, ...]


@dataclass(frozen=True, eq=False, repr=False)
class LaidBeside(Sealed):
    """One table: how many units each cell holds, what is true, and what each release says, NaN where it withholds.

    A release that has no such table says nothing.
    """

    by: Levels
    title: str
    units: Integers
    truth: Floats
    told: tuple[Floats | None, ...]

    @property
    def size(self) -> int:
        return len(self.units)


@dataclass(frozen=True, eq=False, repr=False)
class SideBySide(Sealed):
    """Releases against the true data: plain numbers, as confidential as the data."""

    numbers: Numbers

    def to_html(self) -> str:
        """One page that stands alone: no script, no font, no picture from elsewhere."""
        from sfumato.confidential.assessment.side_page import side_page

        return side_page(self.numbers)


def side_by_side(
    plan: Plan,
    microdata: Microdata,
    folders: Sequence[Path | str],
    tables: Sequence[str] = (),
    progress: Callable[[str], None] = lambda stage: None,  # noqa: ARG005 - silence
) -> SideBySide:
    """Compare releases of what a plan measures with its data; whatever a release answers by its own plan is found."""
    releases = [open_release(folder) for folder in folders]
    answers = [_answers(release) for release in releases]
    with closing(TrueProducts(plan, microdata)) as truths:
        statistics = {key: true for key, true in truths.found() if any(key in one for one in answers)}
        progress("read")
        if not statistics:
            raise ReleaseError("None of the releases answers what the plan measures; give the plan that they are of.")
        laid = {key: _laid(true, [one.get(key) for one in answers], tables) for key, true in statistics.items()}
        if not any(laid.values()):
            raise ReleaseError("The releases have no table in common; name those to look at with --table.")
        laid = {key: some for key, some in laid.items() if some}
        progress("compared")
        common = [key for key in laid if all(key in one for one in answers)] or list(laid)
        attacks = attacked(releases, answers, {key: _attacked(statistics[key], laid[key]) for key in common})
    progress("attacked")
    numbers = _titled(plan) | {
        "releases": [_about(release) for release in releases],
        "statistics": [_statistic(statistics[key], some) for key, some in laid.items()],
        "attacks": attacks,
    }
    return SideBySide(plainly(numbers))


def _titled(plan: Plan) -> Numbers:
    said = {"title": plan.title, "period": plan.period, "unit": plan.schema.unit, "made": now(), "near": NEAR}
    return {"confidential": True, "notice": NOTICE, **said}


def _attacked(true: TrueProduct, laid: Sequence[LaidBeside]) -> Attacked:
    """The cells of all tables in a row, each by its table and place, and the truth to ask for others."""
    units, truth, told = _pooled(laid)
    names = [f"{','.join(map(str, one.by))} {place}" for one in laid for place in range(one.size)]
    return Attacked(units, truth, told, true.totals, true.units, np.array(names))


def _pooled(laid: Sequence[LaidBeside]) -> tuple[Integers, Floats, tuple[Floats, ...]]:
    """The cells of several tables in a row; what a release has no table for is no number."""
    units, truth = (np.concatenate([getattr(one, name) for one in laid]) for name in ("units", "truth"))
    blank = [[np.full(one.size, np.nan) if said is None else said for said in one.told] for one in laid]
    return units, truth, tuple(np.concatenate(parts) for parts in zip(*blank, strict=True))


def _answers(release: Release) -> dict[Key, Product]:
    """What a release answers, by what it is of, as its own plan says."""
    if release.folder is None:
        raise ReleaseError("A release that is compared lies in a folder.")
    own = Plan.read(release.folder / "plan.toml")
    lines = [line.name for line in release.manifest.products if line.answers]
    known = {*(one.name for one in own.measures), *(one.name for one in own.then)}
    return {key_of(own.began(name)): release.products[name] for name in lines if name in known}


def _about(release: Release) -> Numbers:
    manifest = release.manifest
    promise = manifest.promise
    said = {"formal": promise.formal, "loss": promise.loss_words, "power": promise.power_at_5_percent}
    mechanisms = list(dict.fromkeys(line.mechanism for line in manifest.products if line.answers))
    return {"id": release.id, "title": manifest.title, "mechanisms": mechanisms, "hidden": promise.words, **said}


def _laid(true: TrueProduct, products: Sequence[Product | None], asked: Sequence[str]) -> list[LaidBeside]:
    """Every table of a statistic, the truth beside what each release says."""
    found = []
    for by in _tables(true.totals, asked):
        grid = _grid(true.totals, by)
        units = true.units.totals(grid).ravel()
        step = float(true.totals.subject.step)
        truth = np.asarray(true.totals.totals(grid).ravel() * step, dtype=np.float64)
        told = tuple(_told(one, by, len(units)) for one in products)
        if not asked and any(one is None for one, has in zip(told, products, strict=True) if has):
            continue
        labels = [f"{true.totals.domain.attribute(one.name).label}{_depth(one)}" for one in by]
        found.append(LaidBeside(by, " × ".join(labels) or "the total", units, truth, told))
    return found


def _depth(level: Level) -> str:
    return "" if level.depth is None else f" @{level.depth}"


def _tables(true: Product, asked: Sequence[str]) -> Iterator[Levels]:
    """The tables that are asked for, or all of up to two variables at every level of each."""
    if asked:
        for table in asked:
            levels = tuple(Level.read(name.strip()) for name in table.split(","))
            for level in levels:
                level.within(true.domain.attribute(level.name))
            yield levels
        return
    depths = {one.name: [Level(one.name, at) for at in range(one.levels.depth + 1)] for one in true.attributes}
    for count in (0, 1, 2):
        for names in combinations(depths, count):
            for levels in product(*(depths[name] for name in names)):
                if prod(len(_codes(true, level)) for level in levels) <= MOST_CELLS:
                    yield levels


def _codes(product_: Product, level: Level) -> tuple[str, ...]:
    levels = product_.domain.attribute(level.name).levels
    return levels.at(levels.depth if level.depth is None else level.depth)


def _grid(true: Product, by: Levels) -> Grid:
    return Grid(tuple((one.name, _groups(true, one.name, _codes(true, one))) for one in by))


def _groups(product_: Product, name: str, codes: Sequence[str]) -> LeafGroups:
    return product_.domain.attribute(name).levels.groups(codes)


def _told(release: Product | None, by: Levels, size: int) -> Floats | None:
    """What a release says of every cell of a table, not a number where it withholds it; nothing without a table."""
    names = frozenset(level.name for level in by)
    if release is None or not names <= {one.name for one in release.attributes} or release.refuses(names):
        return None
    grid = Grid(tuple((one.name, _groups(release, one.name, _codes(release, one))) for one in by))
    if prod(grid.shape) != size:  # it tells fewer levels apart
        return None
    statuses = release.missing(grid)
    found = np.asarray(release.totals(grid).ravel() * float(release.subject.step), dtype=np.float64)
    if statuses is None:
        return found
    return None if statuses.sdmx("L").any() else np.where(statuses.missing, np.nan, found)


def _statistic(true: TrueProduct, laid: Sequence[LaidBeside]) -> Numbers:
    subject = true.totals.subject
    units, truth, told = _pooled(laid)
    answered = [any(one.told[place] is not None for one in laid) for place in range(len(told))]
    rows = [("all cells", units > 0)]
    rows += [(_size(low, high), (units >= low) & (units <= (high or units.max(initial=0)))) for low, high in SIZES]
    said = [one if known else None for one, known in zip(told, answered, strict=True)]
    sizes = [{"size": name, **_row(truth, said, some)} for name, some in rows if some.any()]
    tables = [{"title": one.title, **_row(one.truth, one.told, one.units > 0)} for one in laid if one.units.any()]
    return {"title": subject.title, "unit": subject.unit, "tables": tables, "sizes": sizes}


def _row(truth: Floats, told: Sequence[Floats | None], some: Mask) -> Numbers:
    qualities = [None if one is None else _quality(truth[some], one[some]) for one in told]
    return {"cells": int(some.sum()), "releases": qualities}


def _size(low: int, high: int | None) -> str:
    return f"{low} or more" if high is None else str(low) if low == high else f"{low} to {high}"


def _quality(truth: Floats, told: Floats) -> Numbers:
    """How many cells are lost, and how far those that are left are from the truth."""
    lost = np.isnan(told)
    there = ~lost & (truth != 0)
    error = np.abs(told[there] / truth[there] - 1)
    near = int((error <= NEAR).sum()) + int((~lost & (truth == 0) & (told == 0)).sum())
    middle, ninth = (quantile(error, at) for at in (0.5, 0.9))
    return {"cells": len(truth), "lost": int(lost.sum()), "near": near, "median": middle, "ninth": ninth}

"""Attackers: what somebody gets out of a release: its promise, numbers of single units, their ratios, intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.assessment.comparisons import Floats, Integers, Numbers, quantile
from sfumato.confidential.linked_system import LinkedSystem
from sfumato.confidential.sealed import Sealed
from sfumato.release import Product, Release, Suppressed
from sfumato.schema import Grid
from sfumato.suppression import Published, audit

READ_OFF, NEAR = 0.01, 0.10
"""How near to the truth a number is called known, and near."""
Key = tuple[object, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Attacked(Sealed):
    """The cells of one statistic in a row: their units, the truth, what each release says; and all of the truth."""

    units: Integers
    truth: Floats
    told: tuple[Floats, ...]
    true: Product
    counted: Product
    """How many units are in every cell."""
    names: NDArray[np.str_]
    """Which cell of which table each is."""


def attacked(
    releases: Sequence[Release], answers: Sequence[Mapping[Key, Product]], cells: Mapping[Key, Attacked]
) -> list[Numbers]:
    """What each release gives away, in numbers that only the data can tell."""
    return [
        {
            "promise": release.manifest.promise.words if release.manifest.promise.formal else "",
            "loss": release.manifest.promise.loss_words,
            "power": release.manifest.promise.power_at_5_percent,
            "single": _single(place, cells),
            "ratios": _ratios(place, cells),
            "withheld": _withheld(answers[place], cells),
        }
        for place, release in enumerate(releases)
    ]


def _single(place: int, cells: Mapping[Key, Attacked]) -> Numbers:
    """Cells of one unit: how many have a number, and how many of these say what the unit has."""
    alone = [(one.truth[chosen], one.told[place][chosen]) for one in cells.values() for chosen in [_alone(one)]]
    truth, told = (np.concatenate(parts) for parts in zip(*alone, strict=True))
    error = np.abs(told - truth) / truth
    counts = {"cells": len(truth), "published": int((~np.isnan(told)).sum())}
    return counts | {"known": int((error <= READ_OFF).sum()), "near": int((error <= NEAR).sum())}


def _alone(cells: Attacked) -> NDArray[np.bool_]:
    return np.asarray((cells.units == 1) & (cells.truth > 0))


def _ratios(place: int, cells: Mapping[Key, Attacked]) -> Numbers | None:
    """Cells of one unit in which two statistics are published: how often their ratio is the true one.

    A factor that is the same for all that a unit reports leaves its ratios as they are.
    """
    found = []
    for one, other in combinations(cells.values(), 2):
        _, here, there = np.intersect1d(one.names, other.names, assume_unique=True, return_indices=True)
        chosen = _alone(one)[here] & _alone(other)[there]
        here, there = here[chosen], there[chosen]
        with np.errstate(divide="ignore", invalid="ignore"):
            told = one.told[place][here] / other.told[place][there]
            found.append(np.abs(told / (one.truth[here] / other.truth[there]) - 1))
    if not found:
        return None
    error = np.concatenate(found)
    return {"cells": len(error), "published": int(np.isfinite(error).sum()), "known": int((error <= READ_OFF).sum())}


def _withheld(answers: Mapping[Key, Product], cells: Mapping[Key, Attacked]) -> Numbers | None:
    """The intervals that anybody can work out of what is withheld, against what is true."""
    found = [_intervals(one, cells[key]) for key, one in answers.items() if key in cells and one.exact]
    if not found:
        return None
    low, high, truth, units = (np.concatenate(parts) for parts in zip(*found, strict=True))
    size = np.maximum(np.abs(truth), 1.0)
    width = (high - low) / size
    near = np.maximum(high - truth, truth - low) <= NEAR * size
    told = {"cells": len(truth), "exact": int((width <= 1e-7).sum()), "near": int(near.sum())}
    # Cells that protect others need not be uncertain themselves; how many units are in them tells such from failures.
    told["fewest"] = int(units[near].min(initial=units.max(initial=0)))
    return told | {"width": [quantile(width, at) for at in (0.1, 0.5, 0.9)]}


def _intervals(release: Product, cells: Attacked) -> tuple[Floats, Floats, Floats, Floats]:
    """The least and the greatest value of every cell that is withheld, the true one, and how many units are in it."""
    assert isinstance(release, Suppressed)  # noqa: S101 - the one product of true numbers
    system = LinkedSystem.of(release.domain)
    values = np.zeros(system.linked.size)
    places = system.places(release.keys)
    values[places] = np.where(release.withheld, np.nan, release.values)
    negative, least = bool((release.values < 0).any()), _least(release)
    found = audit(Published.of(system.linked, values, negative=negative, least=least, whole=True))
    hidden = np.isnan(values)
    step, worth = float(release.subject.step), float(cells.true.subject.step)
    truth, units = (_true_values(system, one)[hidden] for one in (cells.true, cells.counted))
    return step * found.low[hidden], step * found.high[hidden], worth * truth, units


def _least(release: Suppressed) -> float:
    """What everybody knows a withheld cell to have at least, in steps: it is not empty, or it were published as 0."""
    subject = release.subject
    bounds = subject.value_bounds
    low = Fraction(1) if subject.statistic == "count" else bounds.low if bounds and bounds.power == 1 else Fraction(0)
    return max(float(low / subject.step), 0.0)


def _true_values(system: LinkedSystem, true: Product) -> Floats:
    """What is true of every cell of linked tables."""
    found = np.zeros(system.linked.size)
    for component in system.family.components:
        table, at = system.family.table(component), []
        for nodes, level in zip(system.cells.nodes, component, strict=True):
            at.append(nodes.at[level])
        axes = tuple(
            (one.name, true.domain.attribute(one.name).levels.groups(one.levels.leaves)) for one in table.attributes
        )
        keys = system.cells.keys(np.ix_(*at)).ravel()
        found[system.places(keys)] = true.totals(Grid(axes)).ravel()
    return found

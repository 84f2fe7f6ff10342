"""Mechanisms on families of tables: records put into their cells one by one, and noise through their own door.

Every coordinate has normal noise of its own, rounded or discrete, so neighbours whose contrasts are d apart, each over
its own scale, lose mu = |d| or rho = |d|² / 2 at most. Where few coordinates move, and by little, the loss of the
integers themselves is added up, outcome by outcome.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, poisson

from sfumato.confidential.contract.drawn import FALSE_ALARM, too_large
from sfumato.confidential.contract.law import BothLaws, attained, reach, renyi_of_all, shifted
from sfumato.draws import Draws, Law
from sfumato.mechanisms import Cells, Mechanism
from sfumato.privacy import Concentrated, EveryTable, Gaussian
from sfumato.release.noisy import Noisy
from sfumato.schema import Component, Family

Floats = NDArray[np.float64]
TOLERANCE, MOST_RECORDS, MOST_PARTED = 1e-9, 100, 64
"""What floating point may add to a distance, how many records are tried, and how many ways to leave the dearest."""
COPIES, MOST_DRAWS, MOST_SHIFTED = 8_000, 40_000_000, 1_000_000
"""How often everything is published, at the most, how many draws that may take, and how many are shifted over."""
MOSTLY_NONE = 0.95
"""From which chance of none on noise is looked at by how often there is some."""
MOST_MOVED, WIDEST = 12, 300.0
"""How many coordinates, and of how wide noise, have the chances of all their outcomes added up."""


def no_record_is_further(mechanism: Mechanism, move: EveryTable, step: Fraction, draws: Draws) -> list[str]:
    """Complaints about units whose rows, all in one cell or put into another, lose more than is claimed."""
    claim = mechanism.loss(move)
    if not isinstance(claim, (Gaussian, Concentrated)):
        return [f"{claim.words()} is no claim that is known here"]
    most = claim.mu if isinstance(claim, Gaussian) else math.sqrt(2 * float(claim.rho))
    empty = _empty(move, step)
    scales, said = mechanism.scales(mechanism.perturb(empty, draws)), []
    for cells in _moved(mechanism, move, empty, draws):
        far = float(np.linalg.norm(mechanism.clean(cells) / scales))
        if not far <= most * (1 + TOLERANCE):
            said.append(f"{claim.words()} broken by rows that move {far:.6f} standard deviations")
    return said


def _empty(move: EveryTable, step: Fraction) -> Cells:
    return Cells(move.family, np.zeros(move.family.size, dtype=np.int64), step, move)


def _moved(mechanism: Mechanism, move: EveryTable, empty: Cells, draws: Draws) -> Iterator[Cells]:
    """Cells that differ from empty ones as far as rows of a unit go: all into one cell, or from one to another.

    First those of the dearest record, which leaves some of its attributes for others, and then of records at random.
    """
    family = move.family
    far = mechanism.furthest(move)
    dearest, other = (
        [of.get(name, 0) for name in family.names] for of in ((far.leaves, far.others) if far else ({}, {}))
    )
    pairs = [(dearest, other)] + [(dearest, left) for left in _left(family, dearest) if move.kept is not None]
    pairs += [(_record(family, draws), _record(family, draws)) for _ in range(MOST_RECORDS)]
    for one, last in pairs:
        kept = family.names if move.kept is None else move.kept
        come_to = [a if name in kept else b for name, a, b in zip(family.names, one, last, strict=True)]
        for left, come in move.apart:
            yield replace(empty, values=int(left) * _placed(family, one) - int(come) * _placed(family, come_to))


def _dearest_moves(mechanism: Mechanism, move: EveryTable, empty: Cells, draws: Draws) -> Iterator[Cells]:
    """Those of the dearest record alone: one where it comes or goes, else one for each way to leave it."""
    ways = 0 if move.kept is None else len(list(_left(move.family, [0] * len(move.family.names))))
    return islice(_moved(mechanism, move, empty, draws), (1 + ways) * len(move.apart))


def _left(family: Family, record: list[int]) -> Iterator[list[int]]:
    """Records that share some attributes with one and are in another part of the first level of the others."""
    others = []
    for tree, leaf in zip(family.trees, record, strict=True):
        parts = tree.rungs[min(1, tree.depth)].parts.of
        others.append(sorted({leaf, int(np.argmax(parts != parts[leaf])) if tree.depth else leaf}))
    for chosen in islice(product(*others), MOST_PARTED):
        yield list(chosen)


def _record(family: Family, draws: Draws) -> list[int]:
    """A leaf of every attribute."""
    return [int(draws.bits(64) % len(one.levels.leaves)) for one in family.attributes]


def _placed(family: Family, record: list[int]) -> NDArray[np.int64]:
    """One record in its cell of every table."""
    found = np.zeros(family.size, dtype=np.int64)
    for top, where in zip(family.tops, family.slices, strict=True):
        told = [(tree.rungs[level], leaf) for tree, level, leaf in zip(family.trees, top, record, strict=True) if level]
        place = np.ravel_multi_index([rung.parts.of[leaf] for rung, leaf in told], family.shape(top)) if told else 0
        found[where.start + int(place)] = 1
    return found


def too_many(mechanism: Mechanism, move: EveryTable, step: Fraction, draws: Draws) -> str:
    """Why the outcomes of what a record moves are not added up; '' where they are."""
    empty = _empty(move, step)
    count = max(np.count_nonzero(mechanism.clean(cells)) for cells in _dearest_moves(mechanism, move, empty, draws))
    widest = float(mechanism.scales(mechanism.perturb(empty, draws)).max())
    if count > MOST_MOVED or widest > WIDEST:
        return f"{count:,} contrasts move, with noise of up to {widest:,.0f} steps: too much to add up"
    return ""


def integers_keep_the_claim(mechanism: Mechanism, move: EveryTable, step: Fraction, draws: Draws) -> list[str]:
    """Complaints about the dearest record by the law of the integers: all outcomes of all contrasts that it moves."""
    claim, empty = mechanism.loss(move), _empty(move, step)
    noisy = mechanism.perturb(empty, draws)
    said = []
    for cells in _dearest_moves(mechanism, move, empty, draws):
        pairs = shifts(mechanism, noisy, mechanism.clean(cells))
        if not pairs:
            continue
        if isinstance(claim, Concentrated):
            found, most = renyi_of_all(pairs), float(claim.rho)
        else:
            found, most = attained(together(pairs)), claim.mu if isinstance(claim, Gaussian) else 0.0
        if not found <= most * (1 + TOLERANCE):
            said.append(f"{claim.words()} broken by one unit: {found:.6f}")
    return said


def shifts(mechanism: Mechanism, noisy: Noisy, moved: NDArray[np.int64]) -> list[tuple[Law, int]]:
    """The law of every contrast that moves, and by how much it does."""
    return [(law, abs(int(moved[place]))) for where, law in mechanism.laws(noisy) for place in where if moved[place]]


def together(pairs: list[tuple[Law, int]]) -> BothLaws:
    """Both sides of all contrasts that move, seen at once."""
    each = (shifted(law, shift, reach(law)).merged() for law, shift in pairs)
    return reduce(BothLaws.with_, each)


def every_component_has_its_noise(mechanism: Mechanism, move: EveryTable, step: Fraction, draws: Draws) -> list[str]:
    """The mean and the variance of the noise of each component, and that no two numbers share any, however far apart.

    Of coordinates of one component the sum is looked at as well: where noise is on a table, siblings sum to nothing.
    """
    empty = _empty(move, step)
    once = mechanism.perturb(empty, draws)
    copies = max(2, min(COPIES, MOST_DRAWS // once.values.size))
    stacked = replace(empty, values=np.zeros((copies, move.family.size), dtype=np.int64))
    variances, spread, still = np.ones((3, once.values.size))
    for where, law in mechanism.laws(once):
        still[where] = float(law.pmf(np.zeros(1, dtype=np.int64))[0])
        if still[where[0]] < MOSTLY_NONE:
            variances[where], spread[where] = law.variance, law.fourth_moment / law.variance**2 - 1
    noise = mechanism.seen(mechanism.perturb(stacked, draws)) / np.sqrt(variances)
    said, start, strict = [], 0, norm.isf(FALSE_ALARM / (6 * len(move.family.components)))
    for one in move.family.components:
        places = np.arange(start, start := start + math.prod(move.family.shape(one)))
        rare = still[places] >= MOSTLY_NONE
        said += _rarely(noise[:, places[rare]], still[places[rare]], strict, one)
        if rare.all():
            continue
        z = _off(noise[:, places[~rare]], spread[places[~rare]])
        if max(map(abs, z)) > strict:
            said.append(
                f"the noise of component {one} is {z[0]:.1f} errors off in its mean, {z[1]:.1f} in its variance and "
                f"{z[2]:.1f} in that of its sum"
            )
    often = noise[:, still < MOSTLY_NONE].ravel()[:MOST_SHIFTED]
    return said + (too_large(often, "contrasts some way apart share noise") if often.size > 1 else [])


def _rarely(noise: Floats, still: Floats, strict: float, component: Component) -> list[str]:
    """Of noise that is mostly 0, how often it is not: no more and no less often than as many rare events are."""
    seen, expected = int(np.count_nonzero(noise)), len(noise) * float((1 - still).sum())
    if min(poisson.sf(seen - 1, expected), poisson.cdf(seen, expected)) >= norm.sf(strict):
        return []
    return [f"the noise of component {component} is not 0 {seen:,} times, where it is {expected:,.1f} times by its law"]


def _off(noise: Floats, spread: Floats) -> tuple[float, float, float]:
    """How many errors the mean, the variance and the variance of the sum are off what they are of noise of its own."""
    copies, many = noise.shape
    excess = float(spread.mean())
    sums = noise.sum(axis=1) / math.sqrt(many)
    return (
        float(noise.mean()) * math.sqrt(noise.size),
        _squares_off(float(np.mean(noise**2)), 2 * noise.size / excess),
        _squares_off(float(np.mean(sums**2)), 2 * copies / (2 + (excess - 2) / many)),
    )


def _squares_off(mean: float, freedom: float) -> float:
    """How far a mean of squares is from 1, as a normal deviate: its cube root is all but normal (Wilson, Hilferty)."""
    return (math.cbrt(mean) - 1 + 2 / (9 * freedom)) / math.sqrt(2 / (9 * freedom))


FAMILY_CHECKS = {
    "no record is further": no_record_is_further,
    "integers keep the claim": integers_keep_the_claim,
    "every component has its noise": every_component_has_its_noise,
}

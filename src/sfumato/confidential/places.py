"""Places: the cells that records of a pair can stand in, as far apart and in as many tables as a plan allows."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.engines.request import Reading
from sfumato.confidential.tabulate import reading
from sfumato.errors import PlanError
from sfumato.plan import Measure, Plan
from sfumato.schema import Attribute, Bands, Mask

Place = dict[str, int]
"""A record by the leaf that it has of each attribute."""
Values = dict[str, float]
"""What stands in columns."""
TRIED = 100_000
"""How many combinations of leaves are tried for one that is possible."""


def as_carried(need: Reading) -> list[Attribute]:
    """The attributes as data carry them, and not again cut off at the depths of tables."""
    return [attribute for attribute in need.attributes if attribute.depth is None]


def readable(attribute: Attribute, values: Values) -> Mask:
    """The leaves that some value of the column is read as; one that is summed too has the value of the sum."""
    leaves = range(len(attribute.levels.leaves))
    if attribute.column in values and isinstance(attribute.read, Bands):
        bands = sum(edge <= values[attribute.column] for edge in attribute.read.edges)
        return np.array([raw_code(attribute, leaf) == str(float(attribute.read.edges[bands - 1])) for leaf in leaves])
    missing = attribute.missing and attribute.missing.level
    codes = attribute.levels.leaves
    return np.array([raw_code(attribute, leaf) is not None or codes[leaf] == missing for leaf in leaves])


def place_in(
    plan: Plan,
    measures: Sequence[Measure],
    free: Mapping[str, Mask],
    away: Sequence[Place],
    wanted: Sequence[Mapping[str, Mask]],
) -> Place:
    """A record in the universes of as many of the measures as go together, and elsewhere than others.

    Of what else is wanted it has as much as is possible.
    """
    best = next(_possible(plan, free, away), None)
    if best is None:
        raise PlanError(f"The plan '{plan.name}' leaves no possible record to audit; give two frames of your own.")
    for masks in (*(plan.universe(measure).masks for measure in measures), *wanted):
        narrowed = {name: mask & masks[name] if name in masks else mask for name, mask in free.items()}
        found = next(_possible(plan, narrowed, away), None)
        if found is not None:
            best, free = found, narrowed
    return best


def scattered(
    plan: Plan, measures: Sequence[Measure], free: Mapping[str, Mask], first: Place, count: int
) -> list[Place]:
    """The first place and others that are alike in what units do not keep, as far from each other as goes."""
    places, others = [first], alike(plan, free, first, kept=False)
    while len(places) < count:
        places.append(place_in(plan, measures, others, places, []))
    return places


def alike(plan: Plan, free: Mapping[str, Mask], place: Place, *, kept: bool) -> dict[str, Mask]:
    """The leaves that are free where a place is the same in what units keep, or in what they do not."""
    names = plan.hidden.keeps(plan.schema.attributes)
    return {
        name: mask & (np.arange(len(mask)) == place[name]) if (name in names) is kept else mask
        for name, mask in free.items()
    }


def kinds_of(
    plan: Plan, measure: Measure, told: Sequence[Attribute], free: Mapping[str, Mask], first: Place
) -> list[Place]:
    """The first place with every level that some attributes tell apart of what units do not keep, as far as they go."""
    masks, kept = plan.universe(measure).masks, plan.hidden.keeps(plan.schema.attributes)
    leaves: dict[str, list[int]] = {}
    for cut in told:
        if cut.name not in kept:
            inside = np.flatnonzero(free[cut.name] & masks.get(cut.name, True))
            above = plan.schema.attribute(cut.name).levels.above(cut.levels)[inside]
            leaves[cut.name] = [int(leaf) for leaf in inside[np.unique(above, return_index=True)[1]]]
    tried = (first | dict(zip(leaves, some, strict=True)) for some in islice(product(*leaves.values()), TRIED))
    rules = _rules(plan)
    return [place for place in tried if _allowed(rules, place)]


def holds(plan: Plan, measure: Measure, place: Place) -> bool:
    """Whether a record there is in the universe of a measure."""
    return all(mask[place[name]] for name, mask in plan.universe(measure).masks.items() if name in place)


Wanted = list[dict[str, Mask]]
"""The leaves that are wanted of attributes, one after the other."""


def furthest(plan: Plan, measure: Measure) -> tuple[Wanted, Wanted]:
    """The leaves that records have that cost most, and those that they are exchanged for."""
    cut, far = plan.over.domain(measure), measure.with_.furthest(plan.move(measure))
    if far is None:
        return [], []
    one, other = (
        [
            {name: plan.schema.attribute(name).levels.above(cut.attribute(name).levels) == leaf}
            for name, leaf in leaves.items()
        ]
        for leaves in (far.leaves, far.others)
    )
    return one, other


def outside(plan: Plan, measure: Measure, free: Mapping[str, Mask]) -> dict[str, Mask]:
    """The leaves that are free where a record is not in the universe of a measure; as they are where it must be."""
    for name, mask in plan.universe(measure).masks.items():
        if name in free and (free[name] & ~mask).any():
            return {**free, name: free[name] & ~mask}
    return dict(free)


def _possible(plan: Plan, free: Mapping[str, Mask], away: Sequence[Place]) -> Iterator[Place]:
    """The records that no rule forbids, those first that share least with others.

    Only attributes that a rule names are tried, as the leaves of the others forbid nothing, however many they are.
    """
    leaves = {
        name: _apart(plan, name, np.flatnonzero(mask), [one[name] for one in away]) for name, mask in free.items()
    }
    rules = _rules(plan)
    named = {name for rule in rules for name, _ in rule}
    tried = product(*(listed if name in named else listed[:1] for name, listed in leaves.items()))
    for combination in islice(tried, TRIED):
        place = dict(zip(free, combination, strict=True))
        if _allowed(rules, place):
            yield place


def _rules(plan: Plan) -> list[list[tuple[str, Mask]]]:
    """What no record can be, by the leaves of each attribute that a rule names."""
    return [
        [(name, plan.schema.attribute(name).levels.mask(codes)) for name, codes in rule.where]
        for rule in plan.schema.impossible
    ]


def _allowed(rules: Sequence[Sequence[tuple[str, Mask]]], place: Place) -> bool:
    return not any(all(name in place and mask[place[name]] for name, mask in rule) for rule in rules)


def _apart(plan: Plan, name: str, leaves: NDArray[np.intp], away: Sequence[int]) -> list[int]:
    """Leaves, those last that are in the cells of most others in most tables, each of which is cut off at a depth."""
    if away:
        levels = plan.schema.attribute(name).levels
        ups = [levels.above(one.levels) for one in reading(plan).attributes if one.name == name]
        shared = sum((up[leaves] == up[one]).astype(int) for up in ups for one in away)
        leaves = leaves[np.argsort(shared, kind="stable")]
    return [int(leaf) for leaf in leaves]


def raw_code(attribute: Attribute, leaf: int) -> str | None:
    """A value of the column that is read as a leaf, none where only a missing value is."""
    if isinstance(attribute.read, Bands):
        missing = attribute.missing.level if attribute.missing else None
        bands = [place for place, code in enumerate(attribute.levels.leaves) if code != missing]
        if leaf in bands:
            return str(float(attribute.read.edges[bands.index(leaf)]))
    return next((raw for raw, place in attribute.raw_codes.items() if place == leaf), None)

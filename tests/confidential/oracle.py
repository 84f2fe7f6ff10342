"""An oracle that counts rows in plain Python by the words of a plan, and small plans to try it on."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

from sfumato.confidential import Microdata, Tabulation
from sfumato.draws import SeededDraws
from sfumato.mechanisms import Geometric
from sfumato.plan import Measure, Plan
from sfumato.privacy import AddRemove, Approximate
from sfumato.schema import Attribute, Bands, Levels, Recode, Rule, Schema
from sfumato.statistics import Count, Total


def is_missing(value):
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def as_text(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (float, Decimal)) and value == int(value):
        return str(int(value))
    return str(value)


def leaf(attribute, value):
    """The place of a value among the leaves, by the words of the plan and nothing else."""
    places = {code: place for place, code in enumerate(attribute.levels.leaves)}
    missing = attribute.missing
    if missing and (is_missing(value) or as_text(value) in missing.codes):
        return places[missing.level]
    if isinstance(attribute.read, Bands):
        regular = [code for code in attribute.levels.leaves if not missing or code != missing.level]
        return places[regular[sum(Fraction(as_text(value)) >= edge for edge in attribute.read.edges) - 1]]
    codes = dict(attribute.read.codes) if isinstance(attribute.read, Recode) else {}
    return places[codes.get(as_text(value), as_text(value))]


def steps(total, value):
    """A value in whole steps: clipped, then half up, in fractions."""
    if is_missing(value):
        value = total.missing
    low, high = total.clip
    exact = high if value == math.inf else low if value == -math.inf else Fraction(as_text(value))
    return math.floor(min(max(exact, low), high) / total.step + Fraction(1, 2))


def counted(plan, measure, rows):
    """The cells of a measure, row by row."""
    table = plan.table(measure)
    cells = np.zeros(table.shape, dtype=np.int64)
    universe = [(plan.schema.attribute(name), codes) for name, codes in measure.where.items()]
    for row in rows:
        inside = all(one.levels.mask(codes)[leaf(one, row[one.column])] for one, codes in universe)
        place = tuple(leaf(one, row[one.column]) for one in table.attributes)
        cells[place] += inside * (steps(measure.of, row[measure.of.column]) if isinstance(measure.of, Total) else 1)
    return cells


COUNT = (Count(),)


def make_plan(*attributes, of=COUNT, by=None, where=None, hidden=None, **schema):
    """A plan that measures some statistics by all its attributes."""
    listed = tuple(attributes)
    names = tuple(one.name for one in listed) if by is None else by
    measures = tuple(Measure(f"m{place}", one, names, Geometric(1), where or {}) for place, one in enumerate(of))
    rules = tuple(Rule.of(rule) for rule in schema.pop("impossible", ()))
    return Plan(
        "trial",
        Schema(listed, impossible=rules, **{"unit": "job"} | schema),
        hidden or AddRemove("job"),
        Approximate(99),
        measures,
    )


def levels(name, *codes, **options):
    return Attribute(name, Levels.of(codes), **options)


def tabulate(plan, *sources, seed=1, engine=""):
    """The cells of every measure of a plan."""
    tabulation = Tabulation(plan, Microdata.open(list(sources), plan.schema, engine), SeededDraws(seed))
    return [tabulation.cells(measure).values for measure in plan.measures]

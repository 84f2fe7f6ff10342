"""ResidualPlanner's published errors beside ours for the same aim, all tables of up to three variables at a cost of 1.

Its sum of variances is least in a closed form, as ours is with the aim "cells"; the largest variance it finds by a
convex solver, where the even design is a closed form. Noise is normal in both; ours is whole numbers, whose laws and
roundings add what `price` says, and which is left out here.
"""

from math import prod, sqrt

from sfumato.mechanisms.margin_aims import unit_design
from sfumato.schema import Attribute, Family, Levels, Schema, UpTo
from sfumato.studies.study import Line

WAYS = 3
DOMAINS = {
    "Adult": (100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2),
    "CPS": (100, 50, 7, 4, 2),
    "Loans": (101, 101, 101, 101, 3, 8, 36, 6, 51, 4, 5, 15),
}
PUBLISHED = {"Adult": ("10.665", "253.605"), "CPS": ("2.276", "13.216"), "Loans": ("8.876", "180.817")}
"""The root mean squared error of all cells where their sum is least, and the largest variance where that is."""


def tables(sizes: tuple[int, ...]) -> Family:
    """All tables of up to three variables of so many levels."""
    schema = Schema(tuple(Attribute(f"v{place}", Levels.of(range(size))) for place, size in enumerate(sizes)))
    return UpTo(WAYS, schema.names).family(schema)


def least_mean_error(of: Family) -> float:
    """The root mean squared error of all cells at mu 1, where it is least."""
    design = unit_design(of, None, "cells")
    cells = {one: prod(of.shape(one)) for one in of.components}
    summed = sum(cells[one] * float(variance) for one, variance in design.cell_variances.items())
    return sqrt(summed * float(design.cost) / sum(cells.values()))


def largest_variance(of: Family) -> float:
    """The variance of every cell of the even design at mu 1."""
    return float(unit_design(of, None, None).cost)


def lines(_runs: int) -> list[Line]:
    found = []
    for name, sizes in DOMAINS.items():
        of, (error, variance) = tables(sizes), PUBLISHED[name]
        found.append(
            Line(f"{name}: error of a cell", error, f"{least_mean_error(of):.3f}", "the least sum of variances")
        )
        found.append(Line(f"{name}: largest variance", variance, f"{largest_variance(of):.3f}", "all cells alike"))
    return found

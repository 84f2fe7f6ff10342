"""ControlTable: totals that steps meet and that no mechanism of the plan protects: of the data, or published before."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.errors import PlanError, nearest
from sfumato.mechanisms.exact import Exact
from sfumato.plan.measure import Measure
from sfumato.release import Components, Cube, Independent, Subject, Tables, Varying
from sfumato.release.products.product import PUBLISHED
from sfumato.schema import Family, Schema, Table, UpTo
from sfumato.schema.letters import encoding_of

SOURCES = {"data": "invariant", "published": "published"}
"""Where totals may come from, and the kind of the exposure that says so."""
MOST_STEPS = 2**48
"""The steps that all totals of a control may have together, so that doubles tell every sum of them apart."""
Rows = Iterable[tuple[str, Mapping[str, Any]]]
"""Where each row stands, and what it says."""


@dataclass(frozen=True)
class PublishedTotal:
    """The codes of a cell, its value, and the standard error that it was published with; 0 where it is exact."""

    codes: tuple[str, ...]
    value: Fraction
    standard_error: Fraction = Fraction(0)


@dataclass(frozen=True)
class FamilyNoise:
    """What another release states of its tables: the step they were rounded to, the variances of components in it."""

    step: Fraction
    variances: tuple[float, ...]
    even: bool


@dataclass(frozen=True)
class ControlTable:
    """Totals `of` what a measure is of, `by` some of its attributes, `from_` the data as they are or published."""

    name: str
    of: str
    by: tuple[str, ...]
    from_: str = "data"
    totals: tuple[PublishedTotal, ...] = ()
    shared: FamilyNoise | None = None
    """Of a table of a family of another release, whose cells share noise: what is stated of it."""
    released: bool = False
    """Whether its totals are of another release, with which other tables may share their noise."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", tuple(self.by))
        object.__setattr__(self, "released", self.released or self.shared is not None)
        if self.from_ not in SOURCES:
            raise PlanError(f"[[control]] '{self.name}' is from '{self.from_}'; {nearest(self.from_, list(SOURCES))}")
        if (self.from_ == "published") != bool(self.totals):
            raise PlanError(f"[[control]] '{self.name}': published totals come from a file = \"totals.csv\".")
        if self.released and self.from_ != "published":
            raise PlanError(
                f"[[control]] '{self.name}' is from the data, and so of no other release; leave out released."
            )
        if self.shared and any((one.value / self.step).denominator > 1 for one in self.totals):
            raise PlanError(f"[[control]] '{self.name}': a total is no multiple of the step of shared.")
        if sum(abs(one.value) for one in self.totals) >= MOST_STEPS * self.step:
            raise PlanError(
                f"[[control]] '{self.name}': from all totals together down to the last decimal of any of them are more "
                "digits than sums keep, 14; round the totals to fewer decimals."
            )

    @property
    def step(self) -> Fraction:
        """The largest step of which all totals are multiples; of a table that was rounded, what it was rounded to."""
        if self.shared is not None:
            return self.shared.step
        return Fraction(1, lcm(*(one.value.denominator for one in self.totals)))

    @property
    def noisy(self) -> bool:
        return self.shared is not None or any(one.standard_error for one in self.totals)

    def measure(self, of: Measure) -> Measure:
        """The measurement of the totals, exact and therefore without a bound."""
        return replace(of, name=self.name, by=self.by, with_=Exact(), given=())

    def refuse_negative(self, of: Measure) -> None:
        """Counts, squares, and totals of amounts from 0 up are never below 0, so neither are exact totals of them."""
        row = of.of.contribution
        exact = (one for one in self.totals if not one.standard_error)
        below = [", ".join(one.codes) or "the total" for one in exact if one.value < 0]
        if below and (row.power == 2 or (row.low is not None and row.low >= 0)):
            raise PlanError(f"[[control]] '{self.name}': {below[0]} is below 0, as no {of.of.name} in '{of.name}' is.")

    def family(self, schema: Schema) -> Family | None:
        """The tables that it is of, where their cells share noise."""
        if self.shared is None:
            return None
        family = UpTo(len(self.by), self.by).family(schema)
        if len(self.shared.variances) != len(family.components) or min(self.shared.variances) <= 0:
            raise PlanError(
                f"[[control]] '{self.name}': shared has a variance above 0 for each of {len(family.components)} "
                "choices of levels, as `release = ` writes it."
            )
        return family

    def product(self, schema: Schema, of: Subject) -> Cube | Tables:
        """The totals as a product that a release holds and that answers nothing."""
        family, cube = self.family(schema), self.cube(schema.table(self.by), of)
        if family is None or self.shared is None:
            return cube
        stated = Components(self.shared.variances, self.shared.even)
        return Tables(cube.subject, family, cube.values.reshape(-1), stated)

    def cube(self, table: Table, of: Subject) -> Cube:
        """The published totals as a product, in the largest step of which all are multiples."""
        step = self.step
        values, variances = np.zeros(table.shape, dtype=np.int64), np.zeros(table.shape)
        values[table.possible] = [int(one.value / step) for one in self.totals]
        variances[table.possible] = [float((one.standard_error / step) ** 2) for one in self.totals]
        subject = replace(of, name=self.name, step=step, mechanism=PUBLISHED, note="", value_bounds=None)
        return Cube(subject, table, values, Varying(variances) if self.noisy else Independent(0.0))


def refuse_several(controls: Iterable[ControlTable]) -> None:
    """Tables of other releases may share their noise, which nobody could tell: one of them at most is a control."""
    names = [one.name for one in controls if one.released]
    if len(names) > 1:
        raise PlanError(
            f"[[control]] '{names[0]}' and '{names[1]}' come from other releases, and whether these share noise "
            "cannot be told, so it could be counted as new; name one table of one release."
        )


def rows_at(path: Path, encoding: str | None = None) -> Rows:
    """The rows of a CSV file, each with its line; one that is not in UTF-8 is in the encoding that the plan says."""
    try:
        with path.open(encoding=encoding_of(path, encoding), newline="") as file:
            reader = csv.DictReader(file)
            return [(f"{path}, line {reader.line_num}", row) for row in reader]
    except FileNotFoundError:
        raise PlanError(f"{path} is not there; published totals are named from the plan's folder.") from None
    except (OSError, UnicodeDecodeError, csv.Error):
        raise PlanError(
            f"{path} cannot be read; published totals are a CSV file in UTF-8, or in [data] encoding."
        ) from None


def totals_of(rows: Rows, table: Table, source: str) -> tuple[PublishedTotal, ...]:
    """The total of every possible cell of a table, in its order; each stands once in the source."""
    found: dict[tuple[str, ...], PublishedTotal] = {}
    for place, row in rows:
        codes = tuple(_code(place, row, name, table.attribute(name).levels.leaves) for name in table.names)
        if codes in found:
            raise PlanError(f"{place}: {_cell(table, codes)} stands there twice; give one total for each cell.")
        error = row.get("standard_error")
        exact = _number(place, "standard_error", error) if error not in (None, "") else Fraction(0)
        found[codes] = PublishedTotal(codes, _number(place, "value", row.get("value")), exact)
        if exact < 0 or abs(found[codes].value) * found[codes].value.denominator >= 2**53:
            raise PlanError(f"{place}: a standard_error is 0 or more, and a value has at most 15 digits.")
    leaves = [attribute.levels.leaves for attribute in table.attributes]
    every = [tuple(one[at] for one, at in zip(leaves, place, strict=True)) for place in np.argwhere(table.possible)]
    for codes in every:
        if codes not in found:
            raise PlanError(f"{source} lacks {_cell(table, codes)}; give a total for every cell.")
    for codes in found.keys() - set(every):
        raise PlanError(f"{source} has {_cell(table, codes)}, which is impossible; leave it out.")
    return tuple(found[codes] for codes in every)


def _cell(table: Table, codes: tuple[str, ...]) -> str:
    return ", ".join(f"{name} {code}" for name, code in zip(table.names, codes, strict=True)) or "the total"


def _code(place: str, row: Mapping[str, Any], name: str, leaves: tuple[str, ...]) -> str:
    if name not in row:
        raise PlanError(f"{place} has no column '{name}'; the columns are the attributes, value and standard_error.")
    if str(row[name]) not in leaves:
        raise PlanError(f"{place}: '{row[name]}' is no level of {name}; {nearest(str(row[name]), leaves)}")
    return str(row[name])


def _number(place: str, column: str, written: object) -> Fraction:
    try:
        return Fraction(Decimal(str(written).strip()))
    except (InvalidOperation, ValueError, OverflowError):
        raise PlanError(f"{place}: {column} is '{written}', no finite number; write for example 1018.5.") from None

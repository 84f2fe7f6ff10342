"""Weights: the weight and its replicates summed over cells, in one pass and in no order."""
# ruff: noqa: S608 - tables and columns are numbered here; no name or value of the data stands in a query

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.confidential.engines.queries.database import Database
from sfumato.confidential.engines.request import Fault
from sfumato.confidential.engines.sql.dialect import literal
from sfumato.confidential.sealed import Sealed
from sfumato.errors import DataError
from sfumato.schema import Box, Table, Weighted

ROOT_HALF = math.sqrt(0.5)
UNWEIGHED = "some values are missing or no finite numbers; every record needs its weights."


@dataclass(frozen=True)
class Multiples:
    """The integers that terms are summed in: the terms themselves if whole, else multiples of a power of two.

    The largest term takes 62 bits at most, so that integers of 128 hold every sum, and sums depend on no order.
    """

    whole: bool
    scale: float = 1.0

    @classmethod
    def of(cls, largest: float, rows: int, *, whole: bool) -> "Multiples":
        """The lattice of so many terms, none larger; doubles keep every digit down to 2^-10 of the largest.

        >>> Multiples.of(2738.5, 80, whole=False).scale == 2.0**50
        True
        """
        if whole and largest < 2**53 and largest * rows < 2**62:
            return cls(whole=True)
        return cls(whole=False, scale=2.0 ** min(62 - math.frexp(largest)[1], 1000))

    def sum(self, term: str) -> str:
        """The sum of a term over a group, as SQL."""
        if self.whole:
            return f"CAST(sum(CAST({term} AS BIGINT)) AS BIGINT)"
        steps = f"CAST(round({term} * {literal(self.scale)}) AS BIGINT)"
        return f"CAST(sum({steps}) AS DOUBLE) / {literal(self.scale)}"


class Weights(Sealed):
    """The weights of records; replicate weights are columns, or are built from the order of selection."""

    def __init__(self, records: Database) -> None:
        self._records, self._reading, self._session = records, records.reading, records.session

    @cached_property
    def _facts(self) -> tuple[int, float, bool, list[str]]:
        """One scan of the weights: how many, how large, whether all are whole, and which columns are broken."""
        columns = self._reading.weights
        numbers = [self._records.number(column) for column in columns]
        lacking = [f"bool_or(coalesce(NOT isfinite({number}), true))" for number in numbers]
        asked = ", ".join(["count(*)", *_extent(numbers or [literal(1)]), *lacking])
        ((rows, largest, whole, *broken),) = self._session.ask(f"SELECT {asked} FROM records")
        wrong = [column for column, is_broken in zip(columns, broken, strict=True) if is_broken]
        return rows, largest or 0.0, whole is not False, wrong

    def faults(self) -> list[Fault]:
        """The rules that weights and the order of selection break."""
        found = []
        for column in self._facts[3]:
            broken = f"coalesce(NOT isfinite({self._records.number(column)}), true)"
            listed = f"SELECT nullif({self._records.text(column)}, '') AS value FROM legible WHERE {broken}"
            found.append(Fault(column, UNWEIGHED, listed))
        order = self._reading.schema.order
        if order is not None:
            rule = (
                "some places in the order are missing, no numbers, or stand twice; each record has a place of its own."
            )
            place = f"SELECT {self._records.number(order)} AS value FROM records"
            fault = Fault(order, rule, f"{place} GROUP BY value HAVING count(*) > 1 OR value IS NULL")
            found += [fault] if self._session.ask(f"{fault.query} LIMIT 1") else []
        return found

    def over(self, table: Table, one: Weighted, universe: Box) -> NDArray[Any]:
        """The weighted sums of every cell, on a last axis: by the weight, then by every replicate."""
        lattice, columns = self._lattice(one, universe), self._reading.weights
        terms = [f"weight{place}{'' if one.column is None else ' * value'}" for place in range(len(columns) or 1)]
        if self._built:
            terms += [f"{terms[0]} * sign{place}" for place in range(self._reading.schema.replicate_count)]
        sums = ", ".join(lattice.sum(term) for term in terms)
        cell, within = self._records.key(table), self._records.within(universe)
        places, *found = self._session.columns(
            f"SELECT {cell} AS cell, {sums} FROM {self._placed(one)}{within} GROUP BY cell"
        )
        cells = np.zeros((table.size, len(terms)), dtype=np.int64 if lattice.whole else np.float64)
        cells[np.asarray(places, dtype=np.int64)] = np.stack(found, axis=-1)
        return _replicated(cells, built=self._built).reshape((*table.shape, len(terms)))

    @property
    def _built(self) -> bool:
        return self._reading.schema.order is not None

    def _lattice(self, one: Weighted, universe: Box) -> Multiples:
        """The lattice of weight times value, from one scan of the values; a record without a value is refused."""
        rows, heaviest, are_whole, _ = self._facts
        if one.column is None:
            return Multiples.of(heaviest, rows, whole=are_whole)
        asked = ", ".join(["bool_or(NOT coalesce(isfinite(value), false))", *_extent(["value"])])
        chosen = ", ".join([f"{self._value(one)} AS value", *(f"leaf{place}" for place in self._records.places)])
        query = f"SELECT {asked} FROM (SELECT {chosen} FROM legible){self._records.within(universe)}"
        ((lacking, largest, whole),) = self._session.ask(query)
        term = heaviest * (largest or 0.0)
        refuse_infinite(one, lacking=bool(lacking) or not math.isfinite(term))
        return Multiples.of(term, rows, whole=are_whole and whole is not False)

    def _weighable(self, one: Weighted) -> str:
        """The records as leaf numbers, weights, the value that is weighted and, in a built design, their turn."""
        chosen, order = [f"leaf{place}" for place in self._records.places], self._reading.schema.order
        weights = [self._records.number(column) for column in self._reading.weights]
        for place, weight in enumerate(weights or [literal(1)]):  # a record of a census weighs 1
            chosen.append(f"{weight} AS weight{place}")
        chosen.append(f"{self._value(one)} AS value")
        chosen += [f"row_number() OVER (ORDER BY {self._records.number(order)}) - 1 AS turn"] if order else []
        return f"(SELECT {', '.join(chosen)} FROM legible) AS weighable"

    def _value(self, one: Weighted) -> str:
        if one.column is None:
            return literal(1)
        number = self._records.number(one.column)
        value = number
        if one.missing is not None:
            coded = f"CASE WHEN {number} IN ({', '.join(map(literal, one.codes))}) THEN NULL ELSE {number} END"
            value = f"coalesce({coded if one.codes else number}, {literal(one.missing)})"
        return " * ".join([f"({clipped_term(value, one)})"] * one.power)

    def _placed(self, one: Weighted) -> str:
        """The records, joined where replicates are built with the signs of their turn of selection.

        Successive difference factors are f = 1 + 2^(-3/2) (h1 - h2), so (f - 1) sqrt(2) is -1, 0 or 1.
        """
        if not self._built:
            return self._weighable(one)
        from sfumato.statistics.replication import sdr_factors

        rows, *_ = self._facts
        replicates = self._reading.schema.replicate_count
        cycle = min(max(rows, 1), replicates - 1)  # after which the factors repeat
        signs = np.rint((sdr_factors(cycle, replicates) - 1) / ROOT_HALF).astype(np.int8)
        named = {f"sign{place}": pa.array(np.ascontiguousarray(column)) for place, column in enumerate(signs.T)}
        self._session.register("signs", pa.table({"turn": pa.array(np.arange(cycle)), **named}))
        return f"{self._weighable(one)} JOIN signs ON weighable.turn % {cycle} = signs.turn"


def clipped_term(value: str, one: Weighted) -> str:
    """A value within the clip, where there is one; a value that lacks stays so."""
    if one.clip is None:
        return value
    low, high = map(literal, one.clip)
    return f"CASE WHEN {value} IS NULL THEN NULL ELSE greatest(least({value}, {high}), {low}) END"


def refuse_infinite(one: Weighted, *, lacking: bool) -> None:
    """Stop where a record that is weighed has no value."""
    if lacking:
        raise DataError(
            f"Column '{one.column}': some records in question have no finite number; leave them out with `where`, "
            "or declare `missing`, the value they stand for, where the plan measures the column."
        )


def _extent(terms: Sequence[str]) -> list[str]:
    """How large some terms are, and whether all are whole, as SQL."""
    whole = " AND ".join(f"{term} = floor({term})" for term in terms)
    return [f"greatest({', '.join(f'max(abs({term}))' for term in terms)})", f"bool_and({whole})"]


def _replicated(cells: NDArray[Any], *, built: bool) -> NDArray[Any]:
    """Replicate sums; of built ones only the signed sums were taken, which are exact for whole weights."""
    if not built:
        return cells
    full = cells[:, :1].astype(np.float64)
    return np.concatenate([full, full + ROOT_HALF * cells[:, 1:]], axis=1)

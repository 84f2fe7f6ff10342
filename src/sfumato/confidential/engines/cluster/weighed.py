"""Weighed: the weight and its replicates, summed in the cluster as whole multiples of a power of two, in no order."""
# ruff: noqa: S608 - tables and columns are numbered here; no name or value of the data stands in a query

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.engines.cluster import dialect
from sfumato.confidential.engines.cluster.groups import RecordGroups, refuse_unnumbered
from sfumato.confidential.engines.cluster.translated import local_reading
from sfumato.confidential.engines.queries.database import Database
from sfumato.confidential.engines.queries.weights import UNWEIGHED, Multiples, clipped_term, refuse_infinite
from sfumato.confidential.engines.request import Fault
from sfumato.confidential.engines.sql.dialect import literal
from sfumato.confidential.sealed import Sealed
from sfumato.schema import Box, Table, Weighted

FINITE = "(abs({}) <= 1.7976931348623157e308D)"


class ClusterWeights(Sealed):
    """The weights of records in a cluster; those of a census are 1."""

    def __init__(self, groups: RecordGroups, rows: int) -> None:
        self._groups, self._reading, self._rows = groups, groups.reading, rows
        named = [*self._reading.weights, *(one.column for one in self._reading.weighted if one.column)]
        for column in named:
            refuse_unnumbered(column, [kinds[column] for kinds in groups.kinds], "weighed")

    def _weights(self, place: int) -> dict[str, str]:
        kinds, columns = self._groups.kinds[place], self._reading.weights
        return {f"weight{i}": dialect.number(dialect.quoted(one), kinds[one]) for i, one in enumerate(columns)} or {
            "weight0": "1D"
        }

    def _value(self, one: Weighted, place: int) -> dict[str, str]:
        if one.column is None:
            return {"value": "1D"}
        value = dialect.number(dialect.quoted(one.column), self._groups.kinds[place][one.column])
        if one.missing is not None:
            value = f"coalesce({dialect.without_codes(value, one.codes)}, {dialect.literal(one.missing)})"
        return {"value": " * ".join([f"({clipped_term(value, one)})"] * one.power)}

    @cached_property
    def _facts(self) -> tuple[float, bool, list[str]]:
        """One scan of the weights: how large, whether all are whole, and which columns are broken."""
        if not self._reading.weights:
            return 1.0, True, []
        largest, whole, wrong = 0.0, True, set[str]()
        for place in range(len(self._groups.kinds)):
            weights = self._weights(place)
            extent = {"largest": _largest(list(weights)), "whole": _whole(list(weights))}
            lacking = {
                f"lacking{i}": f"bool_or(coalesce(NOT {FINITE.format(one)}, true))" for i, one in enumerate(weights)
            }
            frame = self._groups.session.summed(self._groups.coded(place, weights), [], extent | lacking)
            ((own, is_whole, *broken),) = self._groups.session.rows(frame)
            largest, whole = max(largest, own or 0.0), whole and is_whole is not False
            wrong |= {column for column, is_broken in zip(self._reading.weights, broken, strict=True) if is_broken}
        return largest, whole, [column for column in self._reading.weights if column in wrong]

    def faults(self) -> list[Fault]:
        """The columns in which some records lack a weight."""
        return [Fault(column, UNWEIGHED, f"weights of {column}") for column in self._facts[2]]

    def examples(self, fault: Fault) -> list[tuple[str | None, int]]:
        """The weights that are none, and how many records have each."""
        found: dict[str | None, int] = {}
        for place in range(len(self._groups.kinds)):
            column = f"weight{self._reading.weights.index(fault.column)}"
            frame = self._groups.coded(place, self._weights(place)).where(
                f"coalesce(NOT {FINITE.format(column)}, true)"
            )
            written = frame.selectExpr(f"CASE WHEN {column} > 0 THEN 'inf' WHEN {column} < 0 THEN '-inf' END AS text")
            for text, rows in self._groups.session.rows(
                self._groups.session.summed(written, ["text"], {"rows": "count(*)"})
            ):
                found[text] = found.get(text, 0) + rows
        return sorted(found.items(), key=lambda one: (-one[1], one[0] is None, one[0]))

    def broken(self, fault: Fault) -> int:
        """How many records lack a weight."""
        return sum(rows for _, rows in self.examples(fault))

    def close(self) -> None:
        """Nothing is held."""

    def over(self, table: Table, one: Weighted, universe: Box) -> NDArray[Any]:
        """The weighted sums of every cell, on a last axis: by the weight, then by every replicate."""
        lattice = self._lattice(one, universe)
        weights = list(self._weights(0))
        terms = {f"term{i}": f"{name}{'' if one.column is None else ' * value'}" for i, name in enumerate(weights)}
        scale = 1.0 if lattice.whole else lattice.scale
        sums = {name: f"sum({dialect.lattice(term, scale)})" for name, term in terms.items()}
        database = self._grouped(one, sums)
        cell, within = database.key(table), database.within(universe)
        added = [f"sum(CAST({name} AS HUGEINT))" for name in terms]
        chosen = [
            f"CAST({own} AS BIGINT)" if lattice.whole else f"CAST({own} AS DOUBLE) / {literal(scale)}" for own in added
        ]
        query = f"SELECT {cell} AS cell, {', '.join(chosen)} FROM coded{within} GROUP BY cell"
        places, *found = database.session.columns(query)
        database.session.close()
        cells = np.zeros((table.size, len(terms)), dtype=np.int64 if lattice.whole else np.float64)
        cells[np.asarray(places, dtype=np.int64)] = np.stack(found, axis=-1)
        return cells.reshape((*table.shape, len(terms)))

    def _grouped(self, one: Weighted, sums: dict[str, str]) -> Database:
        """The groups of records with some sums, each group as leaves."""
        tables = [
            self._groups.fetched(place, self._weights(place) | self._value(one, place), sums)
            for place in range(len(self._groups.kinds))
        ]
        database = Database(tables, local_reading(self._groups), [f" {name}" for name in sums])
        database.code()
        return database

    def _lattice(self, one: Weighted, universe: Box) -> Multiples:
        """The lattice of weight times value, from one scan of the values; a record without a value is refused."""
        heaviest, are_whole, _ = self._facts
        if one.column is None:
            return Multiples.of(heaviest, self._rows, whole=are_whole)
        sums = {
            "lacking": f"bool_or(NOT coalesce({FINITE.format('value')}, false))",
            "largest": _largest(["value"]),
            "whole": _whole(["value"]),
        }
        database = self._grouped(one, sums)
        asked = f"SELECT bool_or(lacking), max(largest), bool_and(whole) FROM coded{database.within(universe)}"
        ((lacking, largest, whole),) = database.session.ask(asked)
        database.session.close()
        term = heaviest * (largest or 0.0)
        refuse_infinite(one, lacking=bool(lacking) or not math.isfinite(term))
        return Multiples.of(term, self._rows, whole=are_whole and whole is not False)


def _largest(terms: list[str]) -> str:
    each = [f"max(abs({term}))" for term in terms]
    return each[0] if len(each) == 1 else f"greatest({', '.join(each)})"


def _whole(terms: list[str]) -> str:
    return f"bool_and({' AND '.join(f'{term} = rint({term})' for term in terms)})"

"""Judges: what breaks a rule, listed and counted over parts as it would be over all records at once."""
# ruff: noqa: S608 - a fault's query has columns by their number; no name or value of the data stands in it

from collections import Counter
from collections.abc import Iterator
from typing import Protocol

from sfumato.confidential.engines.engine import MOST_LISTED, Engine
from sfumato.confidential.engines.queries.rules import NAMELESS, SPELT, stands_twice
from sfumato.confidential.engines.request import Fault
from sfumato.confidential.engines.spill.spilling import OpenPart, SpilledParts
from sfumato.confidential.engines.sql import dialect
from sfumato.confidential.engines.sql.session import Session
from sfumato.confidential.sealed import Sealed

Offending = list[tuple[str | None, int]]
AT_ONCE = 2**21
"""How many records' offending values are counted at once, about."""


class RuleJudge(Protocol):
    """Who holds the records that break a rule."""

    def examples(self, fault: Fault) -> Offending: ...

    def broken(self, fault: Fault) -> int | None: ...


class QueryJudge(Sealed):
    """The records themselves, which tell by a query of their own what breaks a rule; nothing is said of none."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def examples(self, fault: Fault) -> Offending:
        return [(value, rows) for value, rows in self._session.ask(dialect.commonest(fault.query, MOST_LISTED))]

    def broken(self, fault: Fault) -> int:
        ((rows,),) = self._session.ask(f"SELECT count(*) FROM ({fault.query})")
        return int(rows)


class PartsJudge(Sealed):
    """The rules that records in the parts of one parting break."""

    def __init__(self, parts: SpilledParts, open_part: OpenPart) -> None:
        self._parts, self._open = parts, open_part
        self.faults: list[Fault] = []

    def engines(self) -> Iterator[Engine]:
        """An engine for every part, of whose faults those are noted that a part can tell."""
        for engine in self._parts.engines(self._open):
            self.faults += [one for one in engine.faults() if one not in self.faults and self._tells(one)]
            yield engine

    def _tells(self, fault: Fault) -> bool:
        """Whether parts hold together what breaks a rule; all but the main ones tell of their own names alone."""
        parting = self._parts.parting
        own = fault.column == ", ".join(parting.by)
        if fault.rule == SPELT or parting.only_spelt:
            return fault.rule == SPELT and own and len(parting.by) == 1
        return parting.main or (own and fault.rule in {NAMELESS, stands_twice(parting.by)})

    def broken(self, fault: Fault) -> int:
        return sum(engine.broken(own) or 0 for engine, own in self._breaking(fault))

    def examples(self, fault: Fault) -> Offending:
        """The commonest values; where many records break a rule, some values at a time, all records of each."""
        turns, listed = 1 + self.broken(fault) // AT_ONCE, Offending()
        for turn in range(turns):
            counted = Counter[str | None]()
            for engine, own in self._breaking(fault):
                counted.update(dict(engine.offending(own, turn, turns)))
            listed = commonest([*listed, *counted.items()])
        return listed

    def _breaking(self, fault: Fault) -> Iterator[tuple[Engine, Fault]]:
        """The parts in which a rule is broken, each with the rule as its engine has it."""
        for engine in self._parts.engines(self._open):
            for own in engine.faults():
                if own == fault:
                    yield engine, own


def commonest(values: Offending) -> Offending:
    """The values that most records have, a few, in the order of all engines.

    >>> commonest([("b", 2), (None, 2), ("a", 2), ("c", 3)])
    [('c', 3), ('a', 2), ('b', 2), (None, 2)]
    """
    return sorted(values, key=lambda one: (-one[1], one[0] is None, one[0] or ""))[:MOST_LISTED]

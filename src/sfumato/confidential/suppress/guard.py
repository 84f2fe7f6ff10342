"""Guard: which sides of which cells are protected against whom, by witnesses alone."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from sfumato.confidential.suppress.witnesses import Witness, Witnesses
from sfumato.suppression import ENOUGH, TINY, Depths, Flags, Floats, Insiders, Integers, LinkedTables, round_up

EVERYBODY = -1
"""The attacker who knows what is published, and nothing besides."""


@dataclass(frozen=True)
class Need:
    """Cells that together must be able to be `need` more than they are, or less: way 0 is up, 1 is down."""

    members: tuple[int, ...]
    way: int
    need: float

    @property
    def sign(self) -> float:
        return 1.0 if self.way == 0 else -1.0


@dataclass(frozen=True, eq=False)
class Own:
    """What of the room of some cells an attacker leaves, who knows a part of them."""

    cells: Integers
    up: Floats
    down: Floats


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be protected: linked cells, the room that everybody leaves them, needs either way, and costs."""

    linked: LinkedTables
    totals: Floats
    up: Floats
    down: Floats
    upper: Floats
    lower: Floats
    cost: Floats
    fixed: Flags
    """Cells that must be published."""
    insiders: Insiders | None = None
    whole: bool = False
    """Whether everybody knows that cells are whole numbers."""
    deepest: Floats | None = None
    """How far the plan alone lets each cell fall."""
    limits: dict[tuple[tuple[int, ...], int], float] = field(default_factory=dict)
    """How far some cells can fall to somebody before anything is published, where that is less than was asked."""

    @cached_property
    def depths(self) -> Depths | None:
        return None if self.deepest is None else Depths(self.linked.equations, self.deepest, whole=self.whole)

    @cached_property
    def floor(self) -> Floats:
        """From where a cell may fall to who knows a part of it: its total, without end where there may be losses."""
        return np.where(self.down > self.totals, np.inf, self.totals)

    def sides(self) -> list[Need]:
        """Every cell and direction with a need, the largest first."""
        found = [
            Need((cell,), way, float(need[cell]))
            for way, need in enumerate((self.upper, self.lower))
            for cell in np.flatnonzero(need > 0).tolist()
        ]
        return sorted(found, key=lambda one: (-one.need, one.members, one.way))


class Solver(Protocol):
    """Whoever finds a change that meets a side, for an attacker who knows a part of some cells."""

    def change(self, side: Need, own: Own | None) -> Floats | None: ...


class Guard:
    """The witnesses of a task, asked about one side at a time."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.asked: list[tuple[Need, int]] = []
        """The sides that had to be solved for a holding, which asks for more than everybody does."""
        self.witnesses = Witnesses(task.upper, task.lower)
        self.settled = False
        """Whether every side was met once, so that what cannot be met now could be."""

    def own(self, holding: int) -> Own | None:
        """What a holding leaves of the room of the cells that it contributes to."""
        if holding == EVERYBODY or self.task.insiders is None:
            return None
        entries, told = self.task.insiders.of(holding), self.task.insiders
        cells, alone = told.cells[entries], told.alone[entries]
        below = np.maximum(self.task.floor[cells] - np.maximum(told.amounts[entries], 0), 0)
        up = np.where(alone, 0.0, self.task.up[cells])
        return Own(cells, up, np.where(alone, 0.0, np.minimum(self.task.down[cells], below)))

    def secure(self, side: Need, solver: Solver, found: Callable[[Witness], None]) -> set[int] | None:
        """The witnesses that protect a side against everybody, new ones where needed; None where it cannot be."""
        used: set[int] = set()
        met = self._anybody(side)
        if met is None:
            met = self._solved(side, EVERYBODY, solver, found)
        if met is None and self._limited(side, EVERYBODY):
            return self.secure(side, solver, found) if self.needed(side).need > 0 else used
        if met is None:
            return None
        used.add(met)
        exposed = self._exposed(side, met)
        for number in self.witnesses.newest(side.members[0]) if exposed else ():
            left = self._exposed(side, number, exposed)
            used |= {number} if left != exposed else set()
            exposed = left
            if not exposed:
                break
        while exposed:
            met = self._solved(side, min(exposed), solver, found)
            if met is None and self._limited(side, min(exposed)):
                exposed = self._asking(side, exposed)
                continue
            if met is None:
                return None
            used.add(met)
            exposed = self._exposed(side, met, exposed - {min(exposed)})
        return used

    def needed(self, side: Need) -> Need:
        """A side as it can be met: downwards no farther than before anything is published."""
        limit = self.task.limits.get((side.members, EVERYBODY), side.need) if side.way == 1 else side.need
        return side if limit >= side.need else replace(side, need=limit)

    def _asking(self, side: Need, holdings: set[int]) -> set[int]:
        """Of some holdings those that a side must still be protected from."""
        many = np.array(sorted(holdings), dtype=np.int64)
        assert self.task.insiders is not None  # noqa: S101 - there are holdings
        return set(many[self._asked(self.task.insiders, side, many) > 0].tolist())

    def _limited(self, side: Need, holding: int) -> bool:
        """Note how far a side can be met at all by somebody, where that is less than was asked; False if it is not."""
        task, key = self.task, (side.members, holding)
        if side.way == 0 or self.settled or task.depths is None or key in task.limits:
            return False
        need, own, none = self.needed(side).need, self.own(holding), np.zeros(0, dtype=np.int64)
        if own is not None and task.insiders is not None:
            need = float(self._asked(task.insiders, side, np.array([holding]))[0])
        known, alone, rooms = none, none, np.zeros(0)
        if own is not None and task.insiders is not None:
            known = own.cells
            entries = task.insiders.of(holding)
            alone = own.cells[task.insiders.alone[entries]]
            rooms = np.maximum(task.floor[own.cells] - np.maximum(task.insiders.amounts[entries], 0), 0)
        fall = task.depths.fall(np.array(side.members, dtype=np.int64), need, alone, known, rooms)
        if fall >= need * ENOUGH:
            return False
        task.limits[key] = fall
        return True

    def _anybody(self, side: Need) -> int | None:
        """A witness that protects a side against who knows nothing besides."""
        side = self.needed(side)
        if len(side.members) == 1:
            (cell,) = side.members
            met = self.witnesses.reach[side.way, cell] >= side.need * ENOUGH
            return int(self.witnesses.best[side.way, cell]) if met else None
        seen = {number for cell in side.members for number in self.witnesses.newest(cell)}
        for number in sorted(seen, reverse=True):
            if self.witnesses.found[number].scaled(side.members, side.sign * side.need * ENOUGH) is not None:
                return number
        return None

    def _solved(self, side: Need, holding: int, solver: Solver, found: Callable[[Witness], None]) -> int | None:
        side = self.needed(side)
        need = side.need
        if holding != EVERYBODY and self.task.insiders is not None:
            need = float(self._asked(self.task.insiders, side, np.array([holding]))[0])
        asked = replace(side, need=need)
        change = solver.change(asked, self.own(holding)) if need > 0 else None
        if change is None:
            return None
        if holding != EVERYBODY and self.task.insiders is not None:
            self.asked.append((asked, holding))
        witness = Witness.of(change, self.task.up, self.task.down)
        self.witnesses.add(witness)
        found(witness)
        return len(self.witnesses.found) - 1

    def _asked(self, insiders: Insiders, side: Need, holdings: Integers) -> Floats:
        """How far the one cell of a side must be uncertain to each of some holdings."""
        (cell,) = side.members
        needs = insiders.asked(cell, side.way, holdings, self.needed(side).need, float(self.task.floor[cell]))
        if side.way == 1 and self.task.limits:
            limits = [self.task.limits.get((side.members, holding), np.inf) for holding in holdings.tolist()]
            needs = np.minimum(needs, limits)
        return round_up(needs, ENOUGH) if self.task.whole else needs

    def _exposed(self, side: Need, number: int, among: set[int] | None = None) -> set[int]:
        """Of some holdings, or all, those that know better than a witness says, as it changes what they know."""
        told, witness = self.task.insiders, self.witnesses.found[number]
        if told is None or len(side.members) > 1 or among == set():
            return set()
        (cell,), entries = side.members, told.within(witness.cells)
        people, person = np.unique(told.holdings[entries], return_inverse=True)
        if among is not None:
            people = np.union1d(people, np.array(sorted(among), dtype=np.int64))
            person = np.searchsorted(people, told.holdings[entries])
        needs = self._asked(told, side, people) * ENOUGH
        at = np.searchsorted(witness.cells, cell)
        if at >= len(witness.cells) or witness.cells[at] != cell:
            return set(people[needs > 0].tolist()) if among is None else among
        factor = side.sign * needs / witness.changes[at]
        beyond = (factor > witness.stretch * (1 + TINY)) | (-factor > witness.reverse * (1 + TINY))
        change = factor[person] * witness.changes[np.searchsorted(witness.cells, told.cells[entries])]
        below = self.task.floor[told.cells[entries]] - np.maximum(told.amounts[entries], 0)
        slack = TINY * np.abs(needs[person])
        known = np.where(told.alone[entries], np.abs(change) > slack, -change > below + slack)
        knows = beyond | (np.bincount(person, known, len(people)) > 0)
        found = set(people[(needs > 0) & knows].tolist())
        return found if among is None else found & among

"""Protection: what is to be protected of linked tables, as a task over fewer cells, and back again."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.confidential.suppress.contributions import Contributions
from sfumato.confidential.suppress.guard import Need, Task
from sfumato.confidential.suppress.pattern import cost_of
from sfumato.confidential.suppress.primary import Needs, PrimaryRules
from sfumato.confidential.suppress.secondary import Progress
from sfumato.confidential.suppress.unions import sensitive, unions
from sfumato.errors import DataError
from sfumato.suppression import (
    Disclosure,
    Flags,
    Floats,
    Insiders,
    Integers,
    LinkedTables,
    Published,
    Required,
    decide,
)


@dataclass(frozen=True, eq=False)
class Prior:
    """What everybody knows of a cell before anything is published: at least `low`, at most `high`."""

    low: Floats
    high: Floats

    @classmethod
    def of(cls, totals: Floats) -> "Prior":
        """That no cell is negative; nothing where some are."""
        floor = 0.0 if np.all(totals >= 0) else -np.inf
        return cls(np.full(len(totals), floor), np.full(len(totals), np.inf))

    def within(self, low: Floats, high: Floats) -> "Prior":
        """With further bounds that everybody knows."""
        return Prior(np.maximum(self.low, low), np.minimum(self.high, high))


@dataclass(frozen=True, eq=False)
class Protection:
    """What an agency asks for; the task leaves out empty cells and takes cells that are equal for one."""

    linked: LinkedTables
    cells: Contributions
    rules: PrimaryRules
    needs: Needs
    prior: Prior
    cost: str
    contributors: bool
    """Whether cells are protected from those who know their own parts."""
    forced: Flags
    """Cells that are published whatever they tell."""
    before: Flags
    """Cells that were published."""
    also: Flags
    """Cells that are missing in any case."""

    @cached_property
    def there(self) -> Flags:
        return self.cells.counts > 0

    @cached_property
    def held(self) -> Flags:
        """Cells that must be published, or were."""
        return self.forced | self.before

    @cached_property
    def primary(self) -> Flags:
        return self.needs.primary & ~self.held & self.there

    @cached_property
    def _merged(self) -> tuple[LinkedTables, Integers]:
        return self.linked.only(self.there).merged()

    @property
    def place(self) -> Integers:
        """The cell of the task that each of the cells that are not empty has become."""
        return self._merged[1]

    @cached_property
    def _first(self) -> Integers:
        """Of each cell of the task the first of those that have become it."""
        return np.unique(self.place, return_index=True)[1]

    @cached_property
    def task(self) -> Task:
        small, size = self._merged[0], self._merged[0].size
        totals = self.cells.totals[self.there][self._first]
        price = np.bincount(self.place, cost_of(self.cost, self.cells.totals)[self.there], size).astype(np.float64)
        high, low = -self._most(-self.prior.high), self._most(self.prior.low)
        lower = np.minimum(self.needs.lower, self.cells.totals - np.minimum(self.prior.low, 0))  # as far as 0
        return Task(
            small, totals, high - totals, totals - low, self._most(np.where(self.primary, self.needs.upper, 0)),
            self._most(np.where(self.primary, lower, 0)), price, self._most(self.held.astype(np.float64)) > 0,
            self._insiders,
        )  # fmt: skip

    def _most(self, values: Floats) -> Floats:
        """The largest of the cells that each cell of the task stands for."""
        found = np.full(self._merged[0].size, -np.inf)
        np.maximum.at(found, self.place, values[self.there])
        return found

    @property
    def _insiders(self) -> Insiders | None:
        if not self.contributors:
            return None
        upper, others = (np.where(self.primary, need, 0)[self.there] for need in (self.needs.upper, self.needs.others))
        told = self.cells.only(self.there).insiders(self.linked.only(self.there), upper, others)
        return told.at(self.place, self._first, self._merged[0].size)

    @property
    def missing(self) -> Flags:
        """The cells of the task that are missing to begin with."""
        found = np.zeros(self.task.linked.size, dtype=bool)
        found[self.place[self.also[self.there]]] = True
        found &= ~self.task.fixed
        found[self.place[self.primary[self.there]]] = True
        return found

    def unions(self, suppressed: Flags, rows: Integers | None = None) -> list[Need]:
        """The sides of the unions that a pattern of the task makes, in some equations or all."""
        room = np.maximum(self.task.totals, self.task.down)
        return sensitive(unions(self.task.linked, suppressed, rows), self._different, self.rules, room)

    @cached_property
    def _different(self) -> Contributions:
        """Contributions to the cells of the task."""
        return self.cells.only(self.there).only(np.isin(np.arange(len(self.place)), self._first))

    def spread(self, suppressed: Flags) -> Flags:
        """A pattern of the task, of all cells."""
        found = np.zeros(self.linked.size, dtype=bool)
        found[self.there] = suppressed[self.place]
        return found

    def disclosures(self, suppressed: Flags, progress: Progress) -> tuple[Disclosure, ...]:
        """What the audit, which is code of its own, finds of a pattern."""
        task = self.task
        told = np.zeros(task.linked.size, dtype=bool)
        told[self.place[~suppressed[self.there]]] = True  # of cells that are equal, one that is published tells all
        published = Published(
            task.linked, np.where(told, task.totals, np.nan), task.totals - task.down, task.totals + task.up
        )
        both: dict[tuple[int, ...], list[float]] = {}
        for need in self.unions(~told):
            both.setdefault(need.members, [0.0, 0.0])[need.way] = need.need
        asked = [(members, up, down) for members, (up, down) in both.items()]
        wrong = decide(published, Required(task.totals, task.upper, task.lower, task.insiders, asked), progress)
        return tuple(one.at(np.flatnonzero(self.there)[self._first]) for one in wrong)

    def refuse_unsafe(self, suppressed: Flags, progress: Progress) -> None:
        """A pattern that is not safe is a fault of ours and is not handed out."""
        wrong = self.disclosures(suppressed, progress)
        if wrong:
            named = self.linked.words(wrong[0].cell)
            raise DataError(
                f"The pattern that was found does not protect {named} from {wrong[0].attacker}; nothing is handed out."
            )

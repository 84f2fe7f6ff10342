"""Protection: what is to be protected of linked tables, as a task over fewer cells, and back again."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sfumato.confidential.suppress.contributions import Contributions
from sfumato.confidential.suppress.floors import floors, known_least
from sfumato.confidential.suppress.guard import Need, Task
from sfumato.confidential.suppress.pattern import cost_of
from sfumato.confidential.suppress.primary import Needs, PrimaryRules
from sfumato.confidential.suppress.secondary import Progress
from sfumato.confidential.suppress.unions import sensitive, unions
from sfumato.errors import DataError
from sfumato.suppression import (
    ENOUGH,
    Disclosure,
    Flags,
    Floats,
    Insiders,
    Integers,
    LinkedTables,
    Published,
    Required,
    decide,
    round_up,
)


@dataclass(frozen=True, eq=False)
class Prior:
    """What everybody knows of a cell before anything is published: at least `low`, at most `high`.

    Empty cells are published as 0, so a withheld cell has a record, and is no less than what one adds.
    """

    low: Floats
    high: Floats
    floor: Floats | None = None
    """What the plan alone says that a withheld cell is at least: needs downwards end there. None is 0, or no bound."""
    whole: bool = False
    """Whether everybody knows that cells are whole numbers."""
    record: float = 0.0
    """What a record adds at least."""

    @classmethod
    def of(cls, totals: Floats, there: Flags | None = None, record: float | None = None) -> "Prior":
        """What numbers themselves may give away: that none is negative, that all are whole, and that none is below 1.

        `there` are the cells that are not empty, and `record` is what one record adds at least, where that is public.
        """
        kept = totals if there is None else totals[there]
        whole = bool(np.all(totals == np.rint(totals)))
        if (kept < 0).any():
            return cls(np.full(len(totals), -np.inf), np.full(len(totals), np.inf), whole=whole)
        least = float(whole and (kept >= 1).all()) if record is None else record
        low = np.full(len(totals), least)
        return cls(low, np.full(len(totals), np.inf), low, whole, record or 0.0)

    def within(self, low: Floats, high: Floats) -> "Prior":
        """With further bounds that everybody knows."""
        return replace(self, low=np.maximum(self.low, low), high=np.minimum(self.high, high), floor=self.ends)

    @property
    def ends(self) -> Floats:
        """Where needs downwards end."""
        return np.minimum(self.low, 0) if self.floor is None else self.floor


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
        upper, lower = (self._most(np.where(self.primary, need, 0)) for need in (self.needs.upper, self.needs.lower))
        lower = np.minimum(lower, totals - self._floor)
        if self.prior.whole:
            upper, lower = round_up(upper, ENOUGH), round_up(lower, ENOUGH)
        return Task(
            small, totals, high - totals, totals - low, upper, lower, price,
            self._most(self.held.astype(np.float64)) > 0, self._insiders, self.prior.whole, totals - self._floor,
        )  # fmt: skip

    @cached_property
    def _floor(self) -> Floats:
        """What each cell of the task is at least, as everybody knows which of its parts are not empty."""
        return floors(self._merged[0].equations, self._most(self.prior.ends))

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
        told = told.at(self.place, self._first, self._merged[0].size)
        return replace(told, least=known_least(self._merged[0].equations, told, self._floor))

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
        # No sum is asked to be uncertain farther down than everybody knows it to go.
        room = np.where(
            self.task.down > self.task.totals, self.task.down, self.task.totals - np.maximum(self._floor, 0)
        )
        sums = unions(self.task.linked, suppressed, rows)
        return sensitive(sums, self._different, self.rules, room, whole=self.prior.whole)

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
        """What the audit finds of a pattern of all cells."""
        told = np.zeros(self.task.linked.size, dtype=bool)
        told[self.place[~suppressed[self.there]]] = True  # of cells that are equal, one that is published tells all
        return tuple(failure.at(self._every) for failure in self.failures(~told, progress))

    @property
    def _every(self) -> Integers:
        """The cell that each cell of the task is."""
        return np.flatnonzero(self.there)[self._first]

    def failures(self, missing: Flags, progress: Progress, *, whole: bool = True) -> tuple[Disclosure, ...]:
        """What the audit, which is code of its own, finds of a pattern of the task; in `whole` numbers, if it may."""
        task = self.task
        published = Published(
            task.linked, np.where(missing, np.nan, task.totals), task.totals - task.down, task.totals + task.up,
            whole=whole and self.prior.whole,
        )  # fmt: skip
        both: dict[tuple[int, ...], list[float]] = {}
        for need in self.unions(missing):
            both.setdefault(need.members, [0.0, 0.0])[need.way] = need.need
        asked = [(members, up, down) for members, (up, down) in both.items()]
        required = Required(task.totals, task.upper, task.lower, task.insiders, asked, task.deepest)
        return decide(published, required, progress)

    def refuse(self, failures: Sequence[Disclosure], why: str = "") -> None:
        """A pattern that is not safe is not handed out."""
        named, attacker = self.linked.words(int(self._every[failures[0].cell])), failures[0].attacker
        raise DataError(
            f"{named} {why}"
            if why
            else f"The pattern that was found does not protect {named} from {attacker}; nothing is handed out."
        )

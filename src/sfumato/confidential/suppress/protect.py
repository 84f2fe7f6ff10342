"""Protect: primary rules, then secondary suppression, of linked tables as one system."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.confidential.suppress.best import Best, Found, search
from sfumato.confidential.suppress.contributions import Contributions
from sfumato.confidential.suppress.guard import Need, Task
from sfumato.confidential.suppress.pattern import EMPTY, FORCED, PRIMARY, PUBLISHED, SECONDARY, WAIVED, Pattern, cost_of
from sfumato.confidential.suppress.primary import Needs, PrimaryRules, needs
from sfumato.confidential.suppress.secondary import Progress
from sfumato.confidential.suppress.unions import sensitive, unions
from sfumato.errors import DataError
from sfumato.suppression import Flags, Floats, Insiders, Integers, LinkedTables, Published, Required, decide


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


def protect(  # noqa: PLR0913 - each is a decision of the agency
    linked: LinkedTables,
    cells: Contributions,
    rules: PrimaryRules,
    *,
    cost: str = "value",
    forced: Sequence[Mapping[str, str]] = (),
    prior: Prior | None = None,
    asked: Needs | None = None,
    best: Best | None = None,
    contributors: bool | None = None,
    before: Flags | None = None,
    also: Flags | None = None,
    progress: Progress = lambda *_: None,
) -> Pattern:
    """The pattern of linked tables: sensitive cells by the rules, and further cells so that none can be worked out.

    `forced` are cells that are published whatever they tell, `before` those that were, and `also` those that are
    missing in any case; `asked` are needs that were found elsewhere; `best` says how hard to look. Cells are protected
    from `contributors` as well, who know their own parts, where they are known by name. What is found is audited by
    code of its own, and refused where that finds anything.
    """
    none = np.zeros(linked.size, dtype=bool)
    known = cells.listed is None if contributors is None else contributors
    found_needs, prior = asked or needs(linked, cells, rules), prior or Prior.of(cells.totals)
    public = none if before is None else before
    work = _Work(
        linked,
        cells,
        rules,
        found_needs,
        held(linked, forced),
        public,
        none if also is None else also,
        prior,
        cost,
        known,
    )
    task, place = work.task()
    found = search(task, work.primary_of(place, task), work.unions_of(task, place), best or Best(), progress)
    suppressed = np.zeros(linked.size, dtype=bool)
    suppressed[work.there] = found.suppressed[place]
    work.refuse_unsafe(task, place, suppressed, progress)
    return work.pattern(suppressed, found)


def held(linked: LinkedTables, forced: Sequence[Mapping[str, str]]) -> Flags:
    """Which cells are published whatever they tell."""
    found = np.zeros(linked.size, dtype=bool)
    found[[linked.find(where) for where in forced]] = True
    return found


@dataclass(frozen=True, eq=False)
class _Work:
    """The cells that are not empty, cells that are equal taken for one, and back again."""

    linked: LinkedTables
    cells: Contributions
    rules: PrimaryRules
    needs: Needs
    forced: Flags
    before: Flags
    also: Flags
    prior: Prior
    cost: str
    contributors: bool

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
    def upper(self) -> Floats:
        return np.where(self.primary, self.needs.upper, 0)

    @cached_property
    def lower(self) -> Floats:
        return np.where(self.primary, np.minimum(self.needs.lower, self.cells.totals - self.prior.low), 0)

    def _insiders(self, kept: LinkedTables) -> Insiders | None:
        if not self.contributors:
            return None
        others = np.where(self.primary, self.needs.others, 0)
        return self.cells.only(self.there).insiders(kept, self.upper[self.there], others[self.there])

    def task(self) -> tuple[Task, Integers]:
        """What is to be done, and the cell of it that each of the cells that are not empty has become."""
        there, kept = self.there, self.linked.only(self.there)
        small, place = kept.merged()
        size = small.size

        def most(values: Floats) -> Floats:
            found = np.zeros(size)
            np.maximum.at(found, place, values[there])
            return found

        first = np.unique(place, return_index=True)[1]
        totals = self.cells.totals[there][first]
        price = np.bincount(place, cost_of(self.cost, self.cells.totals)[there], size).astype(np.float64)
        high = _least(self.prior.high[there], place, size)
        low = -_least(-self.prior.low[there], place, size)
        told = self._insiders(kept)
        told = told.at(place, first, size) if told is not None else None
        fixed = most(self.held.astype(np.float64)) > 0
        task = Task(small, totals, high - totals, totals - low, most(self.upper), most(self.lower), price, fixed, told)
        return task, place

    def primary_of(self, place: Integers, task: Task) -> Flags:
        found = np.zeros(task.linked.size, dtype=bool)
        found[place[self.also[self.there]]] = True
        found &= ~task.fixed
        found[place[self.primary[self.there]]] = True
        return found

    def unions_of(self, task: Task, place: Integers) -> "_Unions":
        first = np.unique(place, return_index=True)[1]
        cells = self.cells.only(self.there).only(np.isin(np.arange(len(place)), first))
        return _Unions(task.linked, cells, self.rules)

    def refuse_unsafe(self, task: Task, place: Integers, suppressed: Flags, progress: Progress) -> None:
        """Audit a pattern by code of its own; one that is not safe is a fault of ours and is not handed out."""
        told = np.zeros(task.linked.size, dtype=bool)
        told[place[~suppressed[self.there]]] = True  # of cells that are equal, one that is published tells all
        published = Published(
            task.linked, np.where(told, task.totals, np.nan), task.totals - task.down, task.totals + task.up
        )
        both: dict[tuple[int, ...], list[float]] = {}
        for need in self.unions_of(task, place)(~told):
            both.setdefault(need.members, [0.0, 0.0])[need.way] = need.need
        asked = [(members, up, down) for members, (up, down) in both.items()]
        wrong = decide(published, Required(task.totals, task.upper, task.lower, task.insiders, asked), progress)
        if wrong:
            named = task.linked.words(wrong[0].cell)
            raise DataError(
                f"The pattern that was found does not protect {named} from {wrong[0].attacker}; nothing is handed out."
            )

    def pattern(self, suppressed: Flags, found: Found) -> Pattern:
        secondary = suppressed & ~self.primary
        paid = float(cost_of(self.cost, self.cells.totals)[secondary].sum())
        statuses = tuple(self._status(cell, bool(suppressed[cell])) for cell in range(self.linked.size))
        reasons = tuple(self._reason(cell, status) for cell, status in enumerate(statuses))
        return Pattern(self.linked, statuses, reasons, paid, found.bound, found.work)

    def _status(self, cell: int, suppressed: bool) -> str:
        if not self.there[cell]:
            return EMPTY
        if suppressed:
            return PRIMARY if self.primary[cell] else SECONDARY
        if self.needs.rules[cell]:
            return FORCED
        return WAIVED if self.needs.waived[cell] else PUBLISHED

    def _reason(self, cell: int, status: str) -> str:
        if status in {PRIMARY, FORCED}:
            rule = self.rules.words(self.needs.rules[cell])
            why = "published before" if self.before[cell] else "published by decision"
            return rule if status == PRIMARY else f"{why}, although: {rule}"
        if status == SECONDARY and self.also[cell]:
            return "suppressed as another measure of it is"
        return {
            SECONDARY: "suppressed so that other cells cannot be worked out",
            WAIVED: "published as its contributors have agreed",
            EMPTY: "no contributors",
            PUBLISHED: "",
        }[status]


@dataclass(frozen=True, eq=False)
class _Unions:
    """The sides of the unions that a pattern makes."""

    linked: LinkedTables
    cells: Contributions
    rules: PrimaryRules

    def __call__(self, suppressed: Flags, rows: Integers | None = None) -> list[Need]:
        return sensitive(unions(self.linked, suppressed, rows), self.cells, self.rules)


def _least(values: Floats, place: Integers, size: int) -> Floats:
    found = np.full(size, np.inf)
    np.minimum.at(found, place, values)
    return found

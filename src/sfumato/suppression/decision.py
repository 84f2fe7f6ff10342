"""The decision: whether every suppressed cell is as uncertain as it must be, to anybody and to its contributors.

The agency knows the truth, so an attacker's possible tables are changes from it. Each that is found shows many cells to
be uncertain at once; a program is solved only for what none has shown yet.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.suppression.audit import SHORT, Disclosure
from sfumato.suppression.clusters import Cluster, clusters
from sfumato.suppression.equations import Flags, Floats, Integers
from sfumato.suppression.insiders import Insiders
from sfumato.suppression.program import Program
from sfumato.suppression.published import Published

ENOUGH = 1 - 1e-5
ANYBODY, UNION = "anybody", "anybody, of several cells together"


@dataclass(frozen=True, eq=False, repr=False)
class Required:
    """What the agency asks for: true values, how far each must be uncertain either way, and who knows parts of them.

    `unions` are cells that must be uncertain together, and by how much up and down.
    """

    truth: Floats
    upper: Floats
    lower: Floats
    insiders: Insiders | None = None
    unions: Sequence[tuple[tuple[int, ...], float, float]] = ()

    def __repr__(self) -> str:
        return f"<Required of {len(self.truth):,} cells: confidential>"


def decide(
    published: Published, required: Required, progress: Callable[[str, int, int], None] = lambda *_: None
) -> tuple[Disclosure, ...]:
    """The suppressed cells that are less uncertain than they must be, and to whom; none where all is safe."""
    found: list[Disclosure] = []
    open_ = ~published.missing & ((required.upper > 0) | (required.lower > 0))
    found += [Disclosure(int(cell), "published", ANYBODY) for cell in np.flatnonzero(open_)]
    total, done = int(published.missing.sum()), 0
    known = np.zeros(published.linked.size, dtype=bool)
    for cluster in clusters(published):
        known[cluster.cells] = True
        found += _Decision(cluster, published, required).disclosures()
        done += cluster.size
        progress("auditing", done, total)
    return tuple(found)


class _Decision:
    """One cluster: the changes found so far, and what each of them shows."""

    def __init__(self, cluster: Cluster, published: Published, required: Required) -> None:
        self.cells, self.insiders = cluster.cells, required.insiders
        truth = required.truth[self.cells]
        self.place = np.full(published.linked.size, -1, dtype=np.int64)
        self.place[self.cells] = np.arange(cluster.size)
        self.down, self.up = truth - published.low[self.cells], published.high[self.cells] - truth
        self.needs = np.stack([required.upper[self.cells], np.minimum(required.lower[self.cells], self.down)])
        self.unions = [one for one in required.unions if all(self.place[cell] >= 0 for cell in one[0])]
        self.truth = truth
        self.program = Program(cluster.equations, cluster.size)
        self.scale = 0.0
        self._people()

    def _people(self) -> None:
        """The holdings that know a part of the cluster, and what room they leave."""
        none = np.zeros(0, dtype=np.int64)
        self.who, self.at, self.holder, self.below = none, none, none, np.zeros(0)
        self.alone = np.zeros(0, dtype=bool)
        if self.insiders is not None:
            entries = self.insiders.within(self.cells)
            self.who, self.holder = np.unique(self.insiders.holdings[entries], return_inverse=True)
            self.at = self.place[self.insiders.cells[entries]]
            self.alone = self.insiders.alone[entries]
            own = np.maximum(self.insiders.amounts[entries], 0)
            self.below = np.where(self.alone, 0.0, np.maximum(self.truth[self.at] - own, 0))
        self.wanted = np.zeros((2, len(self.cells), len(self.who)))
        for cell in np.flatnonzero(self.needs.max(axis=0) > 0).tolist() if self.insiders is not None else ():
            asked = self.insiders.need(int(self.cells[cell]), self.who)  # type: ignore[union-attr]
            self.wanted[:, cell] = np.clip(asked, 0, self.needs[:, cell, None])

    def disclosures(self) -> list[Disclosure]:
        found = []
        left = self.needs.copy()
        for way, cell in self._largest_first(left):
            if left[way, cell] <= 0:
                continue
            change = self._change(np.array([cell]), way, left[way, cell], None)
            if change is None:
                found.append(Disclosure(int(self.cells[cell]), SHORT, ANYBODY))
                self.wanted[way, cell] = 0  # who knows more is no better protected
            else:
                self._shown(change, left)
        for way, cell, person in np.argwhere(self.wanted > 0).tolist():
            need = float(self.wanted[way, cell, person])
            if need <= 0:
                continue
            change = self._change(np.array([cell]), way, need, person)
            if change is None:
                attacker = "who is alone in another cell" if self._single(person) else "a contributor"
                found.append(Disclosure(int(self.cells[cell]), SHORT, attacker))
                self.wanted[way, cell] = 0
            else:
                self._shown(change, left)
                self.wanted[way, cell, person] = 0
        for members, up, down in self.unions:
            places = self.place[list(members)]
            if any(need > 0 and self._change(places, way, need, None) is None for way, need in enumerate((up, down))):
                found.append(Disclosure(members[0], SHORT, UNION))
        return found

    def _largest_first(self, needs: Floats) -> list[tuple[int, int]]:
        sides = np.argwhere(needs > 0)
        order = np.argsort(-needs[sides[:, 0], sides[:, 1]], kind="stable")
        return [(int(way), int(cell)) for way, cell in sides[order]]

    def _single(self, person: int) -> bool:
        return bool(self.alone[self.holder == person].any())

    def _change(self, places: Integers, way: int, need: float, person: int | None) -> Floats | None:
        """A change in which some cells move by a need, that a person cannot rule out; None where there is none."""
        if not self.scale or not 1e-2 < need / self.scale < 10:
            self.scale = need
            self._bound(np.arange(len(self.cells)), self.up, self.down)
        mine = np.flatnonzero(self.holder == person) if person is not None else np.zeros(0, dtype=np.int64)
        cells = self.at[mine]
        self._bound(
            cells, np.where(self.alone[mine], 0.0, self.up[cells]), np.minimum(self.below[mine], self.down[cells])
        )
        asked = (1.0 if way == 0 else -1.0) * need * ENOUGH / self.scale
        if len(places) == 1:
            self.program.bounds(places, np.array([asked]), np.array([asked]))
            solution = self.program.solve()
        else:
            self.program.add_row(asked, asked, places, np.ones(len(places)))
            solution = self.program.solve()
            self.program.drop_last_row()
        for some in (places, cells):
            self._bound(some, self.up[some], self.down[some])
        return solution.columns * self.scale if solution.solved else None

    def _bound(self, places: Integers, up: Floats, down: Floats) -> None:
        low = -np.minimum(down / self.scale, 1e7)
        self.program.bounds(places, low, np.minimum(up / self.scale, 1e7))

    def _shown(self, change: Floats, left: Floats) -> None:
        """Strike off what a change, or its reverse, shows to be uncertain enough to each who cannot rule it out."""
        change = np.where(np.abs(change) > 1e-7 * np.abs(change).max(initial=0), change, 0)
        for moved in (change, -change):
            with np.errstate(divide="ignore", invalid="ignore"):
                room = np.where(moved > 0, self.up, self.down) / np.abs(moved)
                farthest = float(room[moved != 0].min(initial=np.inf))
                each = np.full(len(self.who), farthest)
                step = moved[self.at]
                ends = np.where(step == 0, np.inf, np.where(self.alone, 0.0, np.where(step < 0, self.below, np.inf)))
                np.minimum.at(each, self.holder, ends / np.where(step == 0, 1.0, np.abs(step)))
            for way in range(2):
                sized = np.maximum(moved if way == 0 else -moved, 0)
                cells = np.flatnonzero(sized)
                left[way, cells[sized[cells] * farthest >= left[way, cells] * ENOUGH]] = 0
                for cell in cells[self.needs[way, cells] > 0].tolist() if len(self.who) else ():
                    self.wanted[way, cell, each * sized[cell] >= self.wanted[way, cell] * ENOUGH] = 0


def flagged(found: Sequence[Disclosure], size: int) -> Flags:
    """Which cells a decision is about."""
    flags = np.zeros(size, dtype=bool)
    flags[[one.cell for one in found]] = True
    return flags

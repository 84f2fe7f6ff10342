"""Published before: releases with withheld cells of the same data, whose numbers everybody knows already.

Two patterns of the same numbers that are safe each by itself may tell a cell together: what one withholds the other
may publish. So a second release is made jointly with the first, or not at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sfumato.confidential.account import Account
from sfumato.confidential.chain import committed
from sfumato.confidential.linked_system import LinkedSystem
from sfumato.confidential.suppress import Contributions
from sfumato.errors import DataError, PlanError, ReleaseError
from sfumato.plan import Measure, Plan
from sfumato.plan.suppress import Suppress
from sfumato.privacy import Loss
from sfumato.privacy.notation import loss_to_dict
from sfumato.release import Release, Suppressed, open_release

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PublishedBefore:
    """A release of true totals of which some are withheld, and the plan that it was made by."""

    release: Release
    plan: Plan
    suppress: Suppress

    @classmethod
    def read(cls, folder: Path) -> "PublishedBefore":
        release = open_release(folder)
        plan = Plan.read_released(folder / "plan.toml")
        if plan.suppress is None:
            raise ReleaseError(
                f"{folder} withholds no cells, so a release that does is not made jointly with it; leave out --beside "
                f"{folder}."
            )
        return cls(release, plan, plan.suppress)

    @property
    def folder(self) -> str:
        return str(self.release.folder)

    def shared(self, measure: Measure) -> Measure | None:
        """The measure of it that has the same numbers; one that has sums or parts of them is refused."""
        for one in self.plan.measures:
            if one.of.contribution.column != measure.of.contribution.column:
                continue
            if one.of == measure.of and dict(one.where) == dict(measure.where):
                return one
            raise PlanError(
                f"{self.folder} has published '{one.name}', which is of the same column as '{measure.name}' in other "
                "records or steps: what one withholds could be worked out of the other. Publish the same measure, with "
                "what tells the records apart as an attribute of its tables."
            )
        return None

    def known(self, measure: Measure, system: LinkedSystem, cells: Contributions) -> Flags:
        """Which cells of a measure it has published, where it has any; they must be what the data say now."""
        found, shared = np.zeros(system.linked.size, dtype=bool), self.shared(measure)
        if shared is None:
            return found
        own, values, withheld = self._told(shared)
        places = system.of_others(own)[~withheld]
        if (cells.totals[places] != values[~withheld]).any():
            raise DataError(
                f"{self.folder} has published other numbers of '{measure.name}' than these data have, so both cannot "
                "be protected as one. Publish the data that it is of; or, if these are of another time, give the plan "
                "the `period` that they are of."
            )
        found[places] = True
        return found

    def withheld(self, measure: Measure, system: LinkedSystem) -> Flags:
        """Which cells it withholds in a measure of the same records: one that is published now would be no secret."""
        found = np.zeros(system.linked.size, dtype=bool)
        for one in self.plan.measures:
            if dict(one.where) == dict(measure.where):
                own, _, withheld = self._told(one)
                at = own.in_both(system)
                found |= (at >= 0) & withheld[at]
        return found

    def _told(self, measure: Measure) -> tuple[LinkedSystem, NDArray[np.int64], Flags]:
        """The system of its cells, their numbers and which have none."""
        product = self.release.products[measure.name]
        if not isinstance(product, Suppressed):
            raise ReleaseError(f"{self.folder} has no tables with withheld cells of '{measure.name}'; it was altered.")
        own = LinkedSystem.of(product.domain)
        return own, *product.told(own.keys)


def joined(plan: Plan, before: Sequence[PublishedBefore]) -> Plan:
    """The plan with the tables that were published of the same measures: all are protected as one."""
    suppress = plan.suppress
    if suppress is None:
        raise PlanError("--beside is for plans with [suppress], whose tables are made jointly; leave it out.")
    tables = list(suppress.by)
    for one in before:
        if not any(one.shared(measure) for measure in plan.measures):
            continue
        _refuse_weaker(suppress, one)
        for table in one.suppress.by:
            _refuse_unknown(plan, table, one.folder)
            tables += [] if table in tables else [table]
    return replace(plan, suppress=replace(suppress, by=tuple(tables)))


def _refuse_weaker(suppress: Suppress, before: PublishedBefore) -> None:
    """What was kept back by stricter rules would not be kept back any more."""
    weaker = suppress.decided().weaker_than(before.suppress.decided())
    if weaker:
        raise PlanError(
            f"{before.folder} withholds cells by stricter rules than this plan has, in {', '.join(weaker)}: what they "
            "protect could be worked out of both. Give [suppress] rules that are no weaker."
        )


def _refuse_unknown(plan: Plan, table: Sequence[str], folder: str) -> None:
    for level in table:
        name = level.partition("@")[0]
        if name not in plan.schema.names:
            raise PlanError(
                f"{folder} has published tables by '{name}', which is no attribute of this plan, and both must be "
                f"protected as one; add [attributes.{name}] as that plan has it."
            )


def refuse_unlaid(account: Account, plan: Plan, loss: Loss, before: Sequence[PublishedBefore]) -> None:
    """Stop where the ledger knows of a release with withheld cells of the same period that is not laid beside."""
    given, done = {one.release.id for one in before}, committed(account.entries)
    for entry in account.entries:
        release = done.get(entry.hash)
        same = entry.kind == "reserve" and entry.body["loss"] == loss_to_dict(loss)
        if same and release and release not in given and entry.body.get("period", "") == plan.period:
            raise ReleaseError(
                f"The release {release[:16]} ('{entry.body['release']}') of the same period withholds cells too, and "
                f"two such releases may tell together what each withholds. Give its folder, --beside DIR: what it has "
                "published is then taken as known, and both are protected as one. If these data are of another time, "
                "give the plan the `period` that they are of."
            )

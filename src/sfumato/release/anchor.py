"""Anchor: where the charge of a release stands, and what was published and lost before it."""

from typing import Any

from pydantic import Field

from sfumato.release.promise import LossAmounts, ManifestPart

_HASH, _MOST = "^([0-9a-f]{64})?$", 10**9
"""A hash or none, and more releases than any ledger holds."""


class Anchor(ManifestPart):
    """The charge of a release, by its hash: a ledger without it was rolled back.

    `spent` is what it and all releases before it cost together, but for those without a bound: how many there are, and
    that they are not counted, is said beside it. From `ledger_id` on stands the chain: which ledger it is, by the hash
    of its opening; the id of the release that was published before it, none before the first; its place among all that
    were; what those that `spent` counts add up to, each currency apart; and the year, where the limit is for one.
    Releases made before have no chain. `account` is whom the ledger hides, where the release hides more than that.
    """

    population: str
    head: str
    spent: LossAmounts
    limit: LossAmounts
    per_year: bool
    unbounded: int = Field(default=0, ge=0)
    not_counted: str = ""
    ledger_id: str = Field(default="", pattern=_HASH)
    previous: str = Field(default="", pattern=_HASH)
    number: int = Field(default=0, ge=0, le=_MOST)
    sums: list[LossAmounts] = Field(default_factory=list, max_length=3)
    year: int = Field(default=0, ge=0, le=9999)
    account: dict[str, Any] = Field(default_factory=dict)

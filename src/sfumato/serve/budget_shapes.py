"""The shapes of the budget: what each population may lose and has lost."""

from typing import Literal

from sfumato.serve.shapes import Shape


class ReleaseCharge(Shape):
    """One release in the account: what it cost by itself, and what all had cost when it was charged.

    The chain: which ledger, the release before it and its place, none where it was made before there was one; `missing`
    releases stand before it and are not served here.
    """

    key: str
    release: str
    title: str
    created: str
    loss: dict[str, str]
    loss_words: str
    spent: dict[str, str]
    ledger: str | None = None
    previous: str | None = None
    number: int | None = None
    missing: int
    withdrawn: bool


class PopulationBudget(Shape):
    """The account of one population, added up from the releases served here, for a year or for life.

    A problem is what cannot be true of them together: a rollback, a second ledger, a lost charge, too much lost.
    """

    population: str
    year: str
    limit: dict[str, str]
    spent: dict[str, str]
    left: dict[str, str]
    unbounded: int
    """How many releases have no bound on their loss; `spent` counts the others only."""
    problems: list[str]
    remarks: list[str]
    releases: list[ReleaseCharge]


class BudgetResponse(Shape):
    """What everything published here has cost; a question to a release costs nothing."""

    populations: list[PopulationBudget]
    uncharged: list[str]
    cost_of_asking: Literal["0"] = "0"
    words: str

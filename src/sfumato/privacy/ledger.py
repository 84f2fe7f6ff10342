"""Spend, Exposure, Account: the ledger of one population of units as pure data; its file is confidential/account.py."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sfumato.errors import LedgerError, PlanError, PromiseError, nearest
from sfumato.foreign_text import capitalized, joined, without_stop
from sfumato.privacy.compose import in_sequence
from sfumato.privacy.groups import of_group_in_parts, smaller
from sfumato.privacy.loss import Limit, Loss, Unbounded
from sfumato.privacy.neighbours import Neighbours
from sfumato.privacy.sums import Sums

EXPOSURES = ("published", "assumed known", "invariant")


@dataclass(frozen=True)
class Spend:
    """What one measure costs."""

    measure: str
    loss: Loss
    mechanism: str


@dataclass(frozen=True)
class Exposure:
    """Something outside the guarantee: of a kind, what it is, and why it is let out."""

    kind: str
    what: str
    why: str

    def __post_init__(self) -> None:
        if self.kind not in EXPOSURES:
            raise PlanError(f"An exposure is of kind '{self.kind}'; {nearest(self.kind, EXPOSURES)}")
        if not self.what.strip() or not self.why.strip():
            raise PlanError("An exposure must say what is outside the guarantee and why it is let out.")

    @property
    def sentences(self) -> str:
        return outside(self.what, self.why)


def outside(what: str, why: str) -> str:
    """What is outside the guarantee and why, as two sentences.

    >>> outside("the list of trades", "it is the national classification")
    'the list of trades. It is the national classification.'
    """
    return joined(". ", [without_stop(what), capitalized(without_stop(why))]) + "."


@dataclass(frozen=True)
class Charge:
    """One entry of the account: a release, what it costs, in which year it was charged, and for which period.

    `id` is that of the release which came of it; entries made before periods were written down have none. `parts` are
    what its measures lose, which entries made before they were written down do not tell.
    """

    release: str
    loss: Loss
    year: int
    finished: bool
    period: str = ""
    id: str = ""
    parts: tuple[Loss, ...] = ()


def not_counted(unbounded: int) -> str:
    """What is said beside a loss that leaves out the releases without a bound.

    >>> not_counted(1)
    'Besides, 1 release of this population has no bound on its loss; what is stated as spent counts the others only.'
    """
    whose = "release of this population has no bound on its"
    if unbounded != 1:
        whose = "releases of this population have no bound on their"
    return f"Besides, {unbounded} {whose} loss; what is stated as spent counts the others only." if unbounded else ""


@dataclass(frozen=True)
class Ledger:
    """The account of one population: whom it hides, how much may be lost, and what was charged so far.

    `id` is that of its opening, and `newest` that of the release that was finished last.
    """

    population: str
    hidden: Neighbours
    limit: Limit
    per_year: bool = False
    charges: tuple[Charge, ...] = ()
    id: str = ""
    newest: str = ""

    @property
    def published(self) -> "Ledger":
        """The account as readers may know it: without the charges that no release came of."""
        return replace(self, charges=tuple(charge for charge in self.charges if charge.finished))

    @property
    def unbounded(self) -> tuple[Charge, ...]:
        """The releases without a bound, which no limit can count, whatever the year."""
        return tuple(charge for charge in self.charges if isinstance(charge.loss, Unbounded))

    def sums(self, year: int, more: Sequence[Loss] = ()) -> Sums:
        """What all charges with a bound, and some more, add up to: for life, or within one year."""
        return Sums.of([*(charge.loss for charge in self.counted(year)), *more], self.limit)

    def counted(self, year: int) -> tuple[Charge, ...]:
        """The charges that a limit counts: for life, or of one year."""
        return tuple(charge for charge in self.charges if not self.per_year or charge.year == year)

    def spent(self, year: int) -> Loss:
        """The same in the currency of the limit."""
        return self.sums(year).loss(self.limit)

    def of_group(self, steps: int | Fraction, year: int) -> Loss:
        """What was spent of those that are so many steps away, by all charges, by each, or by the measures of each.

        All three are true, and the smallest is told. Releases without a bound are counted apart here too.
        """
        charges = [charge for charge in self.counted(year) if not isinstance(charge.loss, Unbounded)]
        whole = [charge.loss for charge in charges]
        parts = [part for charge in charges for part in charge.parts or (charge.loss,)]
        spent = self.spent(year)
        by_charge, by_measure = (of_group_in_parts(each, spent, steps, self.limit) for each in (whole, parts))
        return smaller(by_charge, by_measure)

    def affords(self, loss: Loss, year: int) -> bool:
        """Whether one more loss keeps the account within its limit, as none without a bound does."""
        return (loss if isinstance(loss, Unbounded) else self.sums(year, [loss]).loss(self.limit)).within(self.limit)

    def left(self, year: int) -> Limit:
        """What one more release may cost, in the currency of the limit."""
        spent = self.spent(year)
        if isinstance(spent, Unbounded):
            raise PromiseError(
                f"The ledger of {self.population} cannot add its charges in {self.limit.words()}; nothing is left."
            )
        return self.limit.less(spent)

    def admit(self, release: str, loss: Loss, hidden: Neighbours, year: int) -> None:
        """Refuses a release that hides others than the account does, or costs more than is left.

        One that hides more is admitted where each that the account hides is one step of its neighbours, as then it
        loses of him what it states.
        One without a bound is entered, as no limit can cover or refuse it, and counted apart from then on.
        """
        if (steps := hidden.covers(self.hidden)) != 1:
            told = f" {steps} steps of its neighbours are one of these, which is no price of its own." if steps else ""
            raise LedgerError(
                f"The ledger of {self.population} is for {', '.join(self.hidden.relation())}; the plan hides "
                f"{', '.join(hidden.relation())}. Losses under different neighbours never add: price the plan under "
                f"these, or charge its own ledger.{told}"
            )
        if isinstance(loss, Unbounded) or self.affords(loss, year):
            return
        left, span = self.left(year), f"in {year}" if self.per_year else "for life"
        fits = f"At most {left.words()} fits" if left != in_sequence((), self.limit) else "Nothing more fits"
        raise PromiseError(
            f"Release '{release}' costs {loss.words()}, more than the ledger of {self.population} covers: of "
            f"{self.limit.words()} {span}, {self.spent(year).words()} is spent (failed runs stay charged) and "
            f"{left.words()} is left. {fits}{f'; the limit starts anew in {year + 1}' if self.per_year else ''}."
        )

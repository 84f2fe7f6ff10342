"""Accounts: what each population of units may lose and has lost, as the manifests of the served releases tell it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sfumato.errors import SfumatoError
from sfumato.privacy import Gaussian, Limit, Loss, Unbounded, in_sequence
from sfumato.privacy.loss import exact_root
from sfumato.privacy.notation import limit_from_dict, loss_from_dict
from sfumato.release import Anchor
from sfumato.serve.catalogue import Edition


@dataclass(frozen=True, eq=False)
class AccountLine:
    """One release in its account: what it costs by itself, what all cost up to it, and what of that is not shown here.

    `own` and `unseen` are parts of the bar, in a measure that adds up.
    """

    edition: Edition
    cost: Loss
    spent: Limit
    left: Limit
    own: Fraction
    unseen: Fraction


@dataclass(frozen=True, eq=False)
class PublicAccount:
    """One population: how much may be lost, in one year or for life, and what was lost at each release."""

    population: str
    limit: Limit
    year: str
    """The year that the limit is for; empty where it is for life."""
    entries: tuple[AccountLine, ...]

    @property
    def spent(self) -> Limit:
        return self.entries[-1].spent

    @property
    def left(self) -> Limit:
        return self.entries[-1].left

    @property
    def unbounded(self) -> int:
        """How many releases of the population have no bound on their loss and are not counted in the others'."""
        return max(anchor.unbounded for entry in self.entries if (anchor := entry.edition.release.manifest.ledger))


def accounts(editions: Sequence[Edition]) -> tuple[PublicAccount, ...]:
    """The accounts that the releases were charged to, those with the least left first."""
    charged: dict[tuple[str, str, tuple[tuple[str, str], ...]], list[Edition]] = {}
    for edition in editions:
        anchor = edition.release.manifest.ledger
        if anchor and _readable(anchor):
            year = edition.release.manifest.created[:4] if anchor.per_year else ""
            charged.setdefault((anchor.population, year, tuple(sorted(anchor.limit.items()))), []).append(edition)
    found = [_account(population, year, some) for (population, year, _), some in charged.items()]
    return tuple(sorted(found, key=lambda one: (amount(one.left) / amount(one.limit), one.population, one.year)))


def uncharged(editions: Sequence[Edition]) -> tuple[Edition, ...]:
    """The releases that no ledger was charged for, or whose charge cannot be read."""
    return tuple(
        one for one in editions if not (one.release.manifest.ledger and _readable(one.release.manifest.ledger))
    )


def amount(loss: Loss) -> Fraction:
    """A loss in a measure that adds up: epsilon, rho, or the square of mu."""
    return Fraction(0) if isinstance(loss, Unbounded) else loss.parts[0]


def brief(loss: Loss, *, left: bool = False) -> str:
    """A loss in few words: a mu that is no round number to four decimals, up if it is lost and down if it is left.

    >>> brief(Gaussian(squared=Fraction(3))), brief(Gaussian(squared=Fraction("0.12")), left=True)
    ('mu 1.7321', 'mu 0.3464')
    """
    if not isinstance(loss, Gaussian) or exact_root(loss.mu_squared) is not None:
        return loss.words()
    whole = math.floor(loss.mu * 10_000) if left else math.ceil(loss.mu * 10_000)
    return f"mu {whole / 10_000:.4f}"


def _readable(anchor: Anchor) -> bool:
    """Whether the limit is above 0 and both are of one kind, as everything that Sfumato writes is."""
    try:
        limit, spent = limit_from_dict(anchor.limit), limit_from_dict(anchor.spent)
    except SfumatoError:
        return False
    return limit.kind == spent.kind and amount(limit) > 0


def _account(population: str, year: str, editions: Sequence[Edition]) -> PublicAccount:
    """The entries in the order in which they were charged: what is spent only grows."""
    anchored = [(edition, edition.release.manifest.ledger) for edition in editions]
    told = [(limit_from_dict(anchor.spent), edition, anchor) for edition, anchor in anchored if anchor]
    told.sort(key=lambda one: (amount(one[0]), one[1].release.manifest.created, one[1].key))
    limit = limit_from_dict(told[0][2].limit)
    entries, before = [], Fraction(0)
    for spent, edition, _ in told:
        cost = loss_from_dict(edition.release.manifest.promise.loss)
        grown = amount(spent) - before
        own = min(grown, _in_currency(cost, limit))
        entries.append(AccountLine(edition, cost, spent, limit.less(spent), own, grown - own))
        before = amount(spent)
    return PublicAccount(population, limit, year, tuple(entries))


def _in_currency(cost: Loss, limit: Limit) -> Fraction:
    """What a loss would take of the bar by itself."""
    try:
        return amount(in_sequence([cost], limit))
    except SfumatoError:
        return Fraction(0)

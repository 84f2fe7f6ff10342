"""Accounts: what each population may lose and has lost, added up from the releases in hand and never taken on trust."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from sfumato.errors import SfumatoError
from sfumato.privacy import Approximate, Gaussian, Limit, Loss, Sums, Unbounded
from sfumato.privacy.loss import exact_root
from sfumato.query.histories import History, Stated, unforked
from sfumato.query.wording import Sentence


@dataclass(frozen=True, eq=False)
class LedgerStep:
    """One release in its ledger: what it adds, and what of the sums before it belongs to releases that are not here.

    It contradicts the others where `counted`, what it and those before it add up to, is more than it says was lost.
    """

    release: Stated
    own: Sums
    gap: Sums
    counted: Sums
    contradicts: bool


@dataclass(frozen=True, eq=False)
class AccountLine:
    """One release in its account: what it costs by itself, what all cost up to it, and what of that is not shown here.

    `own` and `unseen` are parts of the bar, in a measure that adds up; `missing` releases are known to be elsewhere.
    """

    release: Stated
    spent: Loss
    left: Limit
    own: Fraction
    unseen: Fraction
    missing: int

    @property
    def cost(self) -> Loss:
        return self.release.cost


@dataclass(frozen=True, eq=False)
class PublicAccount:
    """One population: how much may be lost, in one year or for life, and what was lost at each release."""

    history: History
    limit: Limit
    year: str
    """The year that the limit is for; empty where it is for life."""
    steps: tuple[LedgerStep, ...]

    @property
    def population(self) -> str:
        return self.history.population

    @cached_property
    def entries(self) -> tuple[AccountLine, ...]:
        """The releases in the order in which they were charged, with what all had cost by then."""
        found: list[AccountLine] = []
        sums, before, told = Sums(), Fraction(0), _left(self.limit, self.limit)
        for step in self.steps:
            sums, told = sums.plus(step.own).plus(step.gap), self._told(told, step.release)
            spent = _loss(sums, self.limit)
            spent = spent if isinstance(spent, Unbounded) else spent.joined(told)
            grown = max(amount(spent) - before, Fraction(0))
            alone = amount(_loss(step.own, self.limit))
            own = min(grown, alone) if step.gap != Sums() or step.release.sums is None else grown
            missing = self.history.missing[step.release.id]
            found.append(AccountLine(step.release, spent, _left(self.limit, spent), own, grown - own, missing))
            before += grown
        return tuple(found)

    @property
    def spent(self) -> Loss:
        return self.entries[-1].spent

    @property
    def left(self) -> Limit:
        return self.entries[-1].left

    @property
    def unbounded(self) -> int:
        """How many releases of the population have no bound on their loss and are not counted in the others'."""
        shown = sum(isinstance(one.cost, Unbounded) for one in self.history.releases)
        return max(shown, *(step.release.anchor.unbounded for step in self.steps))

    @cached_property
    def problems(self) -> tuple[Sentence, ...]:
        """What cannot be true of these releases together, or is more than may be lost."""
        found = [*self.history.problems]
        for step in self.steps:
            if step.contradicts:
                said = {"stated": brief(step.release.spent), "found": brief(_loss(step.counted, self.limit))}
                found.append(Sentence("account_contradiction", {"release": step.release.named, **said}))
        if isinstance(self.spent, Unbounded) or any(
            _sums(step.release.cost, self.limit) is None for step in self.steps
        ):
            found.append(Sentence("account_unsummed", {"limit": self.limit.words()}))
        elif not self.spent.within(self.limit):
            found.append(Sentence("account_over", {"spent": brief(self.spent), "limit": brief(self.limit)}))
        return tuple(found)

    @property
    def remarks(self) -> tuple[Sentence, ...]:
        """What these releases cannot tell: of how many more there are, and whether there were others."""
        missing = sum(line.missing for line in self.entries)
        gap = [Sentence("account_gap" if missing > 1 else "account_gap_one", {"count": missing})] if missing else []
        unchained = self.history.unchained
        return (*gap, *([Sentence("account_unchained", {"count": unchained})] if unchained else ()))

    def _told(self, before: Limit, release: Stated) -> Limit:
        """What was lost at least, as the releases without a chain say it."""
        same = release.sums is None and release.spent.kind == self.limit.kind
        return before.joined(release.spent) if same else before


def accounts(found: Sequence[History]) -> tuple[PublicAccount, ...]:
    """The accounts of all populations, those with the least left first."""
    made = [_account(one, year) for one in found for year in sorted({release.year for release in one.releases})]
    return tuple(sorted(made, key=lambda one: (amount(one.left) / amount(one.limit), one.population, one.year)))


def _account(history: History, year: str) -> PublicAccount:
    """One year's account, under the smallest limit that its releases state."""
    charged = [[one for one in some if one.year == year] for some in history.ledgers]
    first = min((one for some in charged for one in some), key=lambda one: one.manifest.created).limit
    limits = [one.limit for some in charged for one in some if one.limit.kind == first.kind]
    limit = min(limits, key=amount)
    steps = [step for some in charged for step in _steps(some, limit)]
    if len(charged) > 1:
        steps.sort(key=lambda step: step.release.manifest.created)
    return PublicAccount(history, limit, year, tuple(steps))


def _steps(releases: Sequence[Stated], limit: Limit) -> Iterator[LedgerStep]:
    """The releases of one ledger and year in turn: what each adds, and what it says that others had added before."""
    counted, chain = Sums(), {one.id for one in unforked(releases)}
    for one in releases:
        own = _sums(one.cost, limit) or Sums()
        if one.id not in chain:  # it comes on top of what the chain that it left adds up to
            yield LedgerStep(one, own, Sums(), counted, contradicts=False)
            continue
        counted = counted.plus(own)
        if one.sums is not None and one.limit.kind == limit.kind:
            gap, contradicts = one.sums.less(counted).over, counted.less(one.sums).over != Sums()
        else:
            gap, contradicts = _told(one, counted, limit)
        yield LedgerStep(one, own, gap, counted, contradicts)
        counted = counted.plus(gap)


def _told(release: Stated, counted: Sums, limit: Limit) -> tuple[Sums, bool]:
    """What a release without a chain says that others took, and whether those in hand cost more than it says."""
    found, spent = _loss(counted, limit), release.spent
    if isinstance(found, Unbounded) or spent.kind != found.kind:
        return Sums(), False
    # What was converted after it was added up does not tell what others added.
    converted = isinstance(limit, Approximate) and (counted.mu_squared or counted.rho)
    gap = Sums() if converted else Sums.of([spent], limit).less(counted).over
    return gap, not found.within(spent)


def _sums(cost: Loss, limit: Limit) -> Sums | None:
    """What a loss adds; none where it has no amount in the currency of a limit that is not its own."""
    try:
        return Sums.of([cost], limit)
    except SfumatoError:
        return None


def _loss(sums: Sums, limit: Limit) -> Loss:
    try:
        return sums.loss(limit)
    except SfumatoError as error:
        return Unbounded(str(error))


def _left(limit: Limit, spent: Loss) -> Limit:
    return limit.less(limit if isinstance(spent, Unbounded) else spent)


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

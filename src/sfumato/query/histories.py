"""Histories: the releases about one population in their order, and whether what they say of each other can be true.

A manifest names the release before it and what all cost so far. A ledger that was put back to an older copy, a second
ledger and a charge that was lost then show from public files alone: two releases follow the same one, share a charge,
or cost more together than the later of them says.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from sfumato.errors import SfumatoError
from sfumato.privacy import Limit, Loss, Sums
from sfumato.privacy.notation import hidden_from_dict, limit_from_dict, loss_from_dict
from sfumato.query.wording import Sentence
from sfumato.release import Anchor, Manifest
from sfumato.schema.spelling import read_alike


@dataclass(frozen=True, eq=False)
class Stated:
    """One release as its manifest accounts for it: what it cost, under which limit, and what all cost so far."""

    id: str
    manifest: Manifest
    anchor: Anchor
    cost: Loss
    limit: Limit
    spent: Limit
    sums: Sums | None
    """What all cost so far, each currency apart; none where the release was made before there was a chain."""

    @classmethod
    def read(cls, id: str, manifest: Manifest) -> "Stated | None":  # noqa: A002 - the id of a release
        """The account of a release; none where it was charged to no ledger, or its charge cannot be read."""
        anchor = manifest.ledger
        if anchor is None:
            return None
        try:
            limit, spent = limit_from_dict(anchor.limit), limit_from_dict(anchor.spent)
            cost, summed = loss_from_dict(manifest.promise.loss), [loss_from_dict(one) for one in anchor.sums]
            sums = Sums.of(summed, limit) if anchor.ledger_id else None
            Sums.of([cost], limit).loss(limit)
        except SfumatoError:
            return None
        if limit.kind != spent.kind or limit.parts[0] <= 0:
            return None
        return cls(id, manifest, anchor, cost, limit, spent, sums)

    @property
    def year(self) -> str:
        """The year that its limit is for; none where it is for life."""
        return (str(self.anchor.year or "") or self.manifest.created[:4]) if self.anchor.per_year else ""

    @property
    def named(self) -> str:
        """What it is called in a sentence."""
        period = f", {self.manifest.period}" if self.manifest.period else ""
        return f"{self.manifest.title}{period} ({self.id[:12]})"

    @property
    def whose(self) -> tuple[str, ...]:
        """Whose account it is: the population, and who is hidden, as losses under different neighbours never add.

        A name that reads the same is the same, so that no second ledger hides behind a space or a capital letter.
        """
        hidden = self.anchor.account or self.manifest.promise.hidden
        try:
            relation = hidden_from_dict(hidden).relation()
        except SfumatoError:  # neighbours that this version does not know
            relation = tuple(f"{key} {hidden[key]}" for key in sorted(hidden))
        return tuple(map(read_alike, (self.anchor.population, *relation)))

    @property
    def turn(self) -> tuple[object, ...]:
        """Its place in the order of charges: what was spent only grows."""
        return (self.year, self.spent.parts[0], self.anchor.number, self.manifest.created, self.id)


@dataclass(frozen=True, eq=False)
class History:
    """All releases in hand about one population, and what of their accounts cannot be true together."""

    population: str
    releases: tuple[Stated, ...]

    @cached_property
    def ledgers(self) -> tuple[tuple[Stated, ...], ...]:
        """The releases ledger by ledger; those without a chain are taken for the ledger's where there is one."""
        known = list(dict.fromkeys(one.anchor.ledger_id for one in self.releases if one.anchor.ledger_id))
        named = known if len(known) == 1 else ["", *known]
        whose = [(one.anchor.ledger_id or named[0], one) for one in self.releases]
        return tuple(tuple(one for name, one in whose if name == ledger) for ledger in dict.fromkeys(dict(whose)))

    @cached_property
    def problems(self) -> tuple[Sentence, ...]:
        """What contradicts itself: each is a rollback, a second ledger, a lost charge or a false manifest."""
        chained = [[one for one in some if one.sums is not None] for some in self.ledgers]
        forks = [said for some in chained for said in _forks(some)]
        return (*self._shared(), *self._several(), *forks, *self._broken_links(chained))

    @cached_property
    def missing(self) -> dict[str, int]:
        """How many releases stand before one in its chain, after the others in hand, and are not here; by its id."""
        found: dict[str, int] = {}
        for some in self.ledgers:
            first = {one.id for one in unforked(some)}
            place = 0
            for one in sorted(some, key=lambda one: (one.anchor.number, *one.turn)):
                found[one.id] = max(one.anchor.number - 1 - place, 0) if one.id in first else 0
                place += found[one.id] + (one.id in first)
        return found

    @property
    def unchained(self) -> int:
        """How many releases were made before releases named the one before them."""
        return sum(one.sums is None for one in self.releases)

    def _shared(self) -> Iterator[Sentence]:
        """Releases that name the same charge, which paid for one of them at most."""
        for some in _alike((one.anchor.head, one) for one in self.releases):
            yield Sentence("account_head", {"releases": _names(some)})

    def _several(self) -> Iterator[Sentence]:
        chained = {one.anchor.ledger_id for one in self.releases if one.sums is not None}
        if len(chained) > 1:
            yield Sentence("account_ledgers", {"count": len(chained)})
        limits = {one.limit.words() for one in self.releases}
        if len(limits) > 1:
            yield Sentence("account_limits", {"limits": " · ".join(sorted(limits))})

    def _broken_links(self, chained: Iterable[Sequence[Stated]]) -> Iterator[Sentence]:
        """Releases that do not follow the one that they name, or the one that has the place before them."""
        known = {one.id: one for one in self.releases}
        for some in chained:
            places = {one.anchor.number: one for one in some}
            for one in some:
                named, there = known.get(one.anchor.previous), places.get(one.anchor.number - 1)
                wrong = named if named and named.sums and not _follows(one, named) else None if named else there
                if wrong:
                    yield Sentence("account_link", {"release": one.named, "other": wrong.named})


def _follows(after: Stated, before: Stated) -> bool:
    one, other = after.anchor, before.anchor
    return one.ledger_id == other.ledger_id and one.number == other.number + 1


def unforked(releases: Sequence[Stated]) -> list[Stated]:
    """One chain of a ledger: of several releases in the same place the first, and all that have no place."""
    places = {one.anchor.number: one for one in reversed(releases) if one.sums is not None}
    return [one for one in releases if places.get(one.anchor.number, one) is one]


def histories(stated: Iterable[Stated]) -> tuple[History, ...]:
    """The releases, population by population, each in the order of its charges."""
    found: dict[tuple[str, ...], list[Stated]] = {}
    for one in stated:
        found.setdefault(one.whose, []).append(one)
    in_turn = (tuple(sorted(some, key=lambda one: one.turn)) for some in found.values())
    return tuple(History(some[0].anchor.population, some) for some in in_turn)


def _forks(chained: Sequence[Stated]) -> Iterator[Sentence]:
    """Releases that follow the same one, or have the same place, in one ledger."""
    told: set[frozenset[str]] = set()
    for some in _alike(("after " + one.anchor.previous, one) for one in chained):
        told.add(frozenset(one.id for one in some))
        yield Sentence("account_fork", {"releases": _names(some)})
    for some in _alike((str(one.anchor.number), one) for one in chained):
        if frozenset(one.id for one in some) not in told:
            yield Sentence("account_fork", {"releases": _names(some)})


def _alike(keyed: Iterable[tuple[str, Stated]]) -> Iterator[list[Stated]]:
    """The releases that share a key with another."""
    found: dict[str, list[Stated]] = {}
    for key, one in keyed:
        found.setdefault(key, []).append(one)
    return (some for some in found.values() if len(some) > 1)


def _names(some: Sequence[Stated]) -> str:
    return " · ".join(one.named for one in some)

"""Audited: what of a measure is looked at on two neighbours, and the strongest bound that it proves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.confidential.evidence import bound, by_each
from sfumato.confidential.sealed import Sealed
from sfumato.confidential.stated import STRONG, Chances, exact_loss
from sfumato.confidential.views import Seen, View, all_at_once, every_chance
from sfumato.privacy import Approximate, Limit
from sfumato.release.certificate import verdict

EACH = "an event of each measure"
"""The name of the view in which every measure is looked at by itself, and the chances are multiplied."""


@dataclass(frozen=True)
class Audit:
    """What is proved on two neighbours: the loss is at least `bound`, where `claim` was promised.

    `exact` is what the laws of the noise lose between these two, `view` that of the `views` which proves the bound.
    """

    measure: str
    view: str
    claim: Limit
    bound: float
    exact: float | None
    samples: int
    views: Mapping[str, float]
    pair: str = ""
    """What differs between the two, as a clause; nothing where they were made of no plan."""

    @property
    def claimed(self) -> float:
        return self.claim.amount

    @property
    def holds(self) -> bool:
        """Whether the claim stands; a false alarm in any line of an audit has a chance of 1% at most."""
        return self.bound <= self.claimed

    @property
    def strong(self) -> bool | None:
        """Whether the bound is near enough to what the laws lose here to count as evidence, if there are some."""
        return None if self.exact is None else self.bound >= STRONG * self.exact

    @property
    def verdict(self) -> str:
        return verdict(self.bound, self.claimed, self.strong)

    def words(self) -> str:
        """The finding as one sentence."""
        law = "no law is stated" if self.exact is None else f"the law loses {self.exact:.3g}"
        least = f"{self.claim.currency} is at least {self.bound:.3g}"
        seen = f"{self.view} where {self.pair}" if self.pair else self.view
        return f"{self.measure}, {seen}: {least}, {self.claim.words()} is claimed, {law}: {self.verdict}."

    def row(self) -> list[str]:
        """The finding as a line of a table: measure, pair, view, bound, loss of the law, claim, verdict."""
        exact = "–" if self.exact is None else f"{self.exact:.3g}"
        return [self.measure, self.pair, self.view, f"{self.bound:.3g}", exact, self.claim.words(), self.verdict]

    def to_dict(self) -> dict[str, Any]:
        told: dict[str, Any] = {"measure": self.measure, "pair": self.pair, "view": self.view}
        told |= {"claim": self.claim.words(), "claimed": self.claimed}
        found = {"bound": self.bound, "exact": self.exact, "samples": self.samples, "views": dict(self.views)}
        return told | found | {"holds": self.holds, "strong": self.strong}


@dataclass(frozen=True, eq=False, repr=False)
class Audited(Sealed):
    """What is looked at of one measure, or of all, on two neighbours."""

    measure: str
    claim: Limit
    views: Sequence[View]
    exact: float | None
    each: Sequence[View]
    """All cells of each measure, which are published apart from those of the others."""

    @classmethod
    def of(cls, measure: str, claim: Limit, watched: Sequence[Seen]) -> "Audited":
        """The cells of one measure."""
        cells, views = every_chance(watched), [view for one in watched for view in one.plain]
        whole = all_at_once([one.spoken for one in watched], cells)
        return cls(measure, claim, [*views, whole], _exact(cells, watched, claim), (whole,))

    @classmethod
    def together(cls, measure: str, claim: Limit, every: Sequence["Audited"], watched: Sequence[Seen]) -> "Audited":
        """All measures that differ."""
        cells, each = every_chance(watched), [view for one in every for view in one.each]
        whole = all_at_once([(view.seen.one, view.seen.other) for view in each], cells)
        apart = each if isinstance(claim, Approximate) else ()
        return cls(measure, claim, [whole], _exact(cells, watched, claim), apart)

    @property
    def count(self) -> int:
        """How many bounds are proved."""
        return len(self.views) + self._apart

    @property
    def _apart(self) -> bool:
        return len(self.each) > 1

    def audit(self, alpha: float, pair: str = "") -> Audit:
        """The strongest of the bounds, each of which is wrong with a chance alpha at most."""
        found = {view.name: bound(view.seen, self.claim, alpha) for view in self.views}
        samples = {view.name: len(view.seen.one) for view in self.views}
        if self._apart:
            found[EACH] = by_each([view.seen for view in self.each], self.claim, alpha)
            samples[EACH] = min(len(view.seen.one) for view in self.each)
        best = max(found, key=lambda name: found[name])
        return Audit(self.measure, best, self.claim, found[best], self.exact, samples[best], found, pair)


def _exact(cells: Sequence[Chances] | None, watched: Sequence[Seen], claim: Limit) -> float | None:
    """What the laws lose in all cells, those too that are not watched."""
    unseen = [chances for one in watched for chances in one.unseen]
    return None if cells is None else exact_loss([*cells, *unseen], claim)

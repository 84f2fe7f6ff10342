"""Movement: what a table over periods found, whether its whole rose or fell from the last period but one to the last.

A rise or a fall is claimed where the change is called real at 90%, by the verdict that a table of changes has: where
nothing changed, in no more than about 10 of 100 releases.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.foreign_text import joined
from sfumato.query.change import NONE, UNSAID, Change
from sfumato.query.changed_table import ChangedTable, other_bounds
from sfumato.query.crosstab import Crosstab
from sfumato.query.wording import Sentence, Words

APART = {"change_none": "change_apart", "change_none_sampled": "change_apart_sampled"}
"""What is said of a difference where the claim has said already that it is no sign of a change."""


@dataclass(frozen=True)
class Movement:
    """How the whole of a statistic changed up to a period."""

    title: str
    until: str
    change: Change

    def claim(self, wording: Words) -> str:
        """Whether it rose, fell, or shows no sign of a change."""
        unmoved = self.change.verdict() == NONE
        key = "steady" if unmoved else "rose" if self.change.value > 0 else "fell"
        return wording(f"headline.{key}", title=self.title, since=self.change.since, until=self.until)

    def numbers(self, wording: Words) -> str:
        """By how much, what its error alone would give, and what both numbers leave out."""
        told = self.change.sentence()
        said = Sentence(APART.get(told.key, told.key), told.values).said(wording)
        return joined(" ", filter(None, [said, self.change.caveats.sentence(wording.code)]))

    def said(self, wording: Words) -> str:
        """The movement in a language: the claim and its numbers in one sentence."""
        return joined(": ", [self.claim(wording), self.numbers(wording)])


def movement_of(tables: Sequence[object], periods: Sequence[str]) -> Movement | None:
    """How the whole changed between the last two of some tables; none where no verdict can be given.

    That is so of percentages, means and what may not be summed, of values held within other bounds, and of true numbers
    that are equal.
    """
    last = [one for one in tables[-2:] if isinstance(one, Crosstab) and one.product.subject.additive]
    if len(last) < 2:
        return None
    before, after = (one.margin([]) if one.axes else one for one in last)
    if before is None or after is None or other_bounds([before, after], periods[-2:]):
        return None
    change = ChangedTable(before, after, *periods[-2:]).figure(0)
    if not isinstance(change, Change) or change.verdict() == UNSAID or not (change.value or change.moe()):
        return None
    return Movement(after.product.subject.title, periods[-1], change)

"""Loss-by-size: one establishment is there or not, or has other jobs, at a loss that a public curve states by size.

Neighbours. Any two data sets in which one establishment has other jobs, or none; they are as many steps apart as the
curve goes from one size to the other, and never fewer than it goes from none to one. With declared traits of workers
that is the most that any set of workers goes which the traits tell, all of them together among these. What is stated as
lost is what is lost at one step, as of an establishment of `at` jobs that is there or not; t steps lose t times as much
in epsilon. So the policy of an agency is a curve of loss by size (per-record privacy), and policies on one curve add.
Move. A cell of establishments goes no further along a concave curve than the one of them that does; of an
establishment's d cells by traits each goes no further than the farthest of its kinds, so d times a step is enough.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sfumato.errors import PromiseError, with_article
from sfumato.privacy.contribution import Contribution
from sfumato.privacy.exact import Exact, digits_up, plain
from sfumato.privacy.neighbours.employers import Employers, listed
from sfumato.privacy.neighbours.loss_curve import AlongCurve, LossCurve
from sfumato.privacy.neighbours.neighbours import Alike, Implied, Neighbours, UnitRows
from sfumato.privacy.neighbours.size_within import SizeWithin
from sfumato.schema import Domain

SIZES = (10, 100, 1_000, 10_000)
MANY, ROWS = 20, 50_000
"""How many times the bend each kind of workers has in the pair of an audit, and all of them together about at most."""
ALPHA = Fraction(1, 10)
"""The share by which a size grows whose loss is told beside, as of size-within neighbours."""


@dataclass(frozen=True, init=False)
class LossBySize(Employers):
    """One establishment is there or not, or has other jobs; `at` jobs lose what is stated, and others by the curve."""

    bend: Fraction = Fraction(1)
    at: int = 1
    kind = "loss-by-size"

    def __init__(
        self,
        unit: str,
        bend: Exact,
        at: int,
        id: str | None = None,  # noqa: A002 - the plan's word
        weak: tuple[str, ...] = (),
        kinds: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        curve = LossCurve.of(bend, at)
        given = {"unit": unit, "id": id, "bend": curve.bend, "at": curve.at}
        for name, value in (given | self._kind_fields(weak, kinds)).items():
            object.__setattr__(self, name, value)
        self.__post_init__()

    @property
    def curve(self) -> LossCurve:
        return LossCurve(self.bend, self.at)

    def move(self, row: Contribution, domain: Domain) -> AlongCurve:
        """One step along the curve in the cell of an establishment, or one in each of its cells by traits.

        >>> from sfumato.schema import Table
        >>> LossBySize("shop", 10, 100, "shop_id").move(Contribution(), Table(()))
        AlongCurve(curve=LossCurve(bend=Fraction(10, 1), at=100), cells=1)
        """
        if why := self.refuses(register=domain.register):
            raise PromiseError(why)
        return AlongCurve(self.curve, self._counted_kinds(row, domain))

    @property
    def attained(self) -> tuple[str, ...]:
        """Of several cells none can go a whole step while all of them together do."""
        return () if self.weak else ("cells",)

    def pair(self, row: Contribution, domain: Domain) -> tuple[UnitRows, UnitRows]:  # noqa: ARG002 - of counts
        """The establishment of the stated size, there or not; of several kinds each grows, all together by a step.

        They are so many that the bend is little beside, or as many as go.
        """
        if (kinds := self._kinds_in(domain)) == 1:
            return UnitRows(self.at), UnitRows(0)
        low = math.ceil(min(MANY * self.bend, ROWS / (kinds * (1 + self.at / self.bend))))
        _, all_together = self.curve.reach(kinds * low)
        return UnitRows(all_together // kinds, of_each=True), UnitRows(low, of_each=True)

    def covers(self, other: Neighbours) -> int | None:
        """A curve that rises faster, more traits; and sizes within alpha, where these are no further than a step."""
        if isinstance(other, LossBySize) and other.unit == self.unit:
            return 1 if other.curve.steeper(self.curve) and self._tells_fewer(other) else None
        if isinstance(other, SizeWithin) and other.unit == self.unit and not other.reports:
            # Where a worker's jobs are hidden together, data with more of them must be refused, which no curve does.
            near = other.worker is None and self.curve.holds(other.alpha) and self.curve.steps(1) <= 1
            return 1 if near and self._tells_fewer(other) else None
        return super().covers(other)

    def implied(self, called: Mapping[str, str] | None = None) -> tuple[Implied, ...]:  # noqa: ARG002 - few name any
        """The curve at round sizes, a job, and a size that grows by a tenth."""
        one, unit = self.curve.steps(1), self.unit
        found = [Implied("any one job, there or not", one), Implied("any one job that goes elsewhere", 2 * one)]
        found += [
            Implied(f"one {unit} of {size:,} jobs, there or not at all", self.curve.steps(size))
            for size in sorted({*SIZES, self.at})
        ]
        if self.weak:  # a size may grow by kinds of which there are few, which is further
            return tuple(found)
        within = f"how large any one {unit} is, within {plain(100 * ALPHA)}%"
        return (*found, Implied(within, self.curve.within(ALPHA)))

    def refuses(self, *, register: bool) -> str:
        if not register:
            return ""
        return (
            f"Over a frame which {self.unit}s there are is public, and a curve of loss by size hides just that; hide "
            'what they report with neighbours = "square-root-within" or "size-within".'
        )

    def words(self, called: Mapping[str, str] | None = None) -> str:
        """The promise as one sentence; traits may be called by their titles.

        >>> LossBySize("shop", 10, 100, "id").words()
        'Whether any one shop is there at all, and how many jobs it has: one of 100 jobs loses what is stated, one of \
10 0.29 times as much, one of 1,000 1.93 times, and any one job in it 0.0398 times.'
        """
        told = f", of each kind told apart by {listed(self.weak, called)}" if self.weak else ""
        small, large = ((size, f"{digits_up(self.curve.height(size))} times") for size in self._beside)
        return (
            f"Whether any one {self.unit} is there at all, and how many jobs it has{told}: one of {self.at:,} jobs "
            f"loses what is stated, one of {small[0]:,} {small[1]} as much, one of {large[0]:,} {large[1]}, and any "
            f"one job in it {digits_up(self.curve.height(1))} times."
        )

    @property
    def _beside(self) -> tuple[int, int]:
        """A size a tenth of the stated one, and ten times as large."""
        return max(1, self.at // 10), 10 * self.at

    def not_hidden(self) -> str:
        more = f"One {self.unit} of more than {self.at:,} jobs loses more than is stated, by the logarithm of its size"
        if not self.weak:
            return f"{more}; that it is elsewhere or something else, twice as much as that it is there or not."
        return (
            f"{more}. Whoever knows {with_article(self.unit)} but for kinds of which it has few learns its size more "
            "exactly than that, as each of these changes by few jobs and all of them together by little more."
        )

    def alike(self) -> tuple[Alike, ...]:
        """The ends of what is within one step of round sizes.

        >>> [(one.size, one.low, one.high) for one in LossBySize("shop", 10, 100, "id").alike()][1]
        (100, 0.0, 1200.0)
        """
        ends, of = ((size, self.curve.reach(size)) for size in SIZES), "jobs of one kind" if self.weak else "jobs"
        return tuple(Alike(of, size, float(low), float(high), of_rows=True) for size, (low, high) in ends)


EXAMPLE = LossBySize("establishment", 10, 100, "id")

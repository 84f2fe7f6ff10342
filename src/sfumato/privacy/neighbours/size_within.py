"""Size-within: one establishment has up to alpha more or fewer workers, or one; or one unit of a register reports so.

Neighbours. Sizes are whole. The larger of two establishments E and E' that are alike holds all workers of the smaller,
and |E'| <= max(floor((1 + alpha) |E|), |E| + 1); a worker with up to J jobs may be there with all of them or not. Those
are strong neighbours. Weak ones keep the same bound for every set of workers that the declared traits tell, all of them
together among these; sets of named workers would leave no more than one worker to differ. Without traits both are the
same, so that a relation is strong where it names none.
Move. A cell of establishments grows no further than the one in it that does: max(alpha y, 1) <= max(alpha x, 1) for
y <= x. By traits as well, each of an establishment's d cells moves so in weak neighbours, all at once where all are
large. In strong ones all that is new may stand in one cell, which was empty: nothing bounds it by its own size. The J
jobs of one worker move J cells by 1, or one by more: two jobs in a cell are two steps. So max(d, J) steps are enough.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sfumato.errors import PlanError, PromiseError, nearest, with_article
from sfumato.privacy.contribution import Contribution
from sfumato.privacy.exact import Exact, plain, positive
from sfumato.privacy.neighbours.employers import Employers, listed, refuse_unlisted
from sfumato.privacy.neighbours.growth import reach, steps
from sfumato.privacy.neighbours.neighbours import Alike, DataRule, FewRows, Implied, Neighbours, UnitRows
from sfumato.privacy.neighbours.relative import Relative
from sfumato.schema import Attribute, Domain

SIZES = (10, 100, 1_000)
LEAST = Fraction(1, 10**6)
"""The least alpha: below it errors in proportion to 1 / alpha would be told in too few digits."""
MANY, ROWS = 20, 40_000
"""How many times 1 / alpha each kind of workers has in the pair of an audit, and how many there are at most in all."""
LARGE = 100
"""Of a column whose step is more than 1: how many times 1 / alpha, in steps, the pair of an audit reports."""


@dataclass(frozen=True, init=False)
class SizeWithin(Employers):
    """One establishment has up to alpha more workers, or one more; where it is and what it makes is public.

    `weak` are the traits of workers by which establishments keep their make-up; `worker` is the column that names who
    holds a job, at most `at_most` of them. Over a register `reports` are the columns that hold what each unit reports.
    """

    alpha: Fraction = Fraction(1)
    worker: str | None = None
    at_most: int | None = None
    reports: tuple[str, ...] = ()
    kind = "size-within"
    columns = frozenset({"id", "worker"})

    def __init__(  # noqa: PLR0913, PLR0917 - the keys of a plan, and what its attributes tell
        self,
        unit: str,
        alpha: Exact,
        id: str | None = None,  # noqa: A002 - the plan's word
        weak: tuple[str, ...] = (),
        worker: str | None = None,
        at_most: int | None = None,
        reports: tuple[str, ...] = (),
        kinds: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        given = {"unit": unit, "id": id, "alpha": positive(alpha, "alpha"), "worker": worker, "at_most": at_most}
        for name, value in (given | {"reports": reports} | self._kind_fields(weak, kinds)).items():
            object.__setattr__(self, name, value)
        if self.alpha < LEAST:
            raise PlanError(f"alpha is {plain(self.alpha)}; it is a share, {plain(LEAST)} or more.")
        refuse_unlisted(reports, 'reports is a list of columns of what units report, for example reports = ["wages"]')
        if at_most is not None and (isinstance(at_most, bool) or not isinstance(at_most, int) or at_most < 1):
            raise PlanError(f"at_most is {at_most!r}; it is the number of jobs one worker may have, 1 or more.")
        if worker is None and at_most is not None:
            raise PlanError(
                f"at_most = {at_most} is the number of jobs of one worker, and no worker is named; give [hidden] "
                "worker, the column that says who holds a job."
            )
        self.__post_init__()

    @property
    def jobs(self) -> int:
        """How many jobs of one worker are hidden together."""
        return self.at_most or 1

    def move(self, row: Contribution, domain: Domain) -> Relative:
        """One step in the cell of an establishment, or one in each of its cells by traits.

        >>> from sfumato.schema import Levels, Table
        >>> traits = Table((Attribute("sex", Levels.of("fm"), of="worker"),))
        >>> SizeWithin("shop", "0.1", "shop_id", weak=("sex",)).move(Contribution(), traits)
        Relative(alpha=Fraction(1, 10), cells=2, together=1)
        """
        if why := self.refuses(register=domain.register):
            raise PromiseError(why)
        if domain.register:
            return self._reported(row)
        kinds = self._counted_kinds(row, domain)
        return Relative(self.alpha, max(kinds, self.jobs), self.jobs)

    def _reported(self, row: Contribution) -> Relative:
        """What one unit of a register reports, in its one cell."""
        if row.column is None or row.power != 1 or row.above is not None:
            raise PromiseError(
                f"Over a frame [hidden] alpha bounds what one {self.unit} reports in a column; measure totals of it, "
                "not counts, squares or what lies above a clip."
            )
        if row.column not in self.reports:
            raise PromiseError(
                f"[hidden] reports says nothing of '{row.column}', so nothing can be promised about it; "
                f"{nearest(row.column, self.reports)}, or add it."
            )
        return Relative(self.alpha)

    def unfit(self, row: Contribution) -> str:
        if row.column is None:
            return ""
        if not self.reports:
            return self.no_sums(row.column)
        if row.low is None and row.high is None:
            return ""
        return (
            f"A clip rounds {row.column} to its step, and values then go further than [hidden] alpha says; leave it "
            "out, as reports are whole steps and need none."
        )

    @property
    def attained(self) -> tuple[str, ...]:
        return ("cells",)

    def pair(self, row: Contribution, domain: Domain) -> tuple[UnitRows, UnitRows]:
        """One job or none, which is the farthest there is in proportion to 1 / alpha more; of reports as many steps.

        Of a worker's jobs all are in one empty cell. Where more kinds of workers are told apart than a worker has jobs,
        each of them grows by alpha, so many that one more than 1 / alpha is little beside.
        """
        if not domain.register:
            kinds = self._kinds_in(domain)
            many = min(Fraction(MANY), self.alpha * ROWS / kinds)
            if kinds <= self.jobs or many < 1:
                return UnitRows(self.jobs), UnitRows(0)
            low = math.floor(many) * math.ceil(1 / self.alpha)
            return UnitRows(math.floor((1 + self.alpha) * low), of_each=True), UnitRows(low, of_each=True)
        if row.step <= 1:
            return UnitRows(1, math.floor(1 / row.step) * row.step), UnitRows(1, Fraction(0))
        low = math.ceil(LARGE / self.alpha)
        return UnitRows(1, math.floor((1 + self.alpha) * low) * row.step), UnitRows(1, low * row.step)

    def pairs(self, row: Contribution, domain: Domain) -> tuple[tuple[UnitRows, UnitRows], ...]:
        """The jobs of one worker in one empty cell, or each in one of its own, with as many establishments."""
        together = self.pair(row, domain)
        if domain.register or self.jobs == 1 or any(side.of_each for side in together):
            return (together,)
        return together, (UnitRows(self.jobs, scattered=True), UnitRows(0))

    def touches(self, named: frozenset[str]) -> int:
        """A worker stands in as many parts told by establishments as he has jobs."""
        return self.jobs * super().touches(named)

    def covers(self, other: Neighbours) -> int | None:
        """Of weaker promises each is kept at the same loss: a smaller alpha, more traits, one job, one worker."""
        named = vars(other)
        if isinstance(other, SizeWithin):
            wider = other.alpha <= self.alpha and self._tells_fewer(other)
            whole = named["worker"] is None or (self.worker is not None and (named["at_most"] or 1) <= self.jobs)
            reported = bool(self.reports) == bool(named["reports"]) and set(named["reports"]) <= set(self.reports)
            return 1 if wider and whole and reported and other.unit == self.unit else None
        # Who is hidden there is told by the column that names him alone: a unit without one may be anything.
        alone = self.worker is not None and other.id == self.worker
        return 1 if other.kind == "add-remove" and alone and named["at_most"] <= self.jobs else None

    def implied(self, called: Mapping[str, str] | None = None) -> tuple[Implied, ...]:  # noqa: ARG002 - few name any
        """What else is promised: what a job, a worker or an establishment of some size loses that is there or not."""
        if self.reports:
            far = ((size, steps(size, self.alpha)) for size in SIZES)
            return tuple(Implied(f"one {self.unit} that reports {size:,}, or nothing", one) for size, one in far)
        whom = "job" if self.worker is None else "worker with all jobs"
        found = [Implied(f"any one {whom}, there or not", 1), Implied(f"any one {whom} that goes elsewhere", 2)]
        # Weak neighbours grow kind by kind, in as many steps as their make-up takes.
        sizes = () if self.weak else SIZES
        whole = (
            Implied(f"one {self.unit} of {size:,} jobs, there or not at all", steps(size, self.alpha)) for size in sizes
        )
        return (*found, *whole)

    def rules(self, attributes: Sequence[Attribute]) -> tuple[DataRule, ...]:
        """No worker has more jobs than are priced."""
        few = (FewRows(self.worker, self.jobs),) if self.worker else ()
        return (*super().rules(attributes), *few)

    def refuses(self, *, register: bool) -> str:
        if register and (self.weak or self.worker):
            return "Over a frame units report numbers and no workers; leave out [hidden] weak, worker and at_most."
        if register and not self.reports:
            return (
                f"Over a frame {with_article(self.unit)} reports numbers; say which of them are hidden within alpha, "
                'for example [hidden] reports = ["employment", "wages"].'
            )
        if self.reports and not register:
            return "[hidden] reports is for what units of a frame report, and there is no [frame]; leave it out."
        return ""

    def words(self, called: Mapping[str, str] | None = None) -> str:
        """The promise as one sentence; traits may be called by their titles.

        >>> SizeWithin("shop", "0.1", "id").words()
        'How large any one shop is, within 10% (100 looks like any number from 91 to 110), and any one job in it.'
        """
        low, high = reach(100, self.alpha)
        alike = f"within {plain(100 * self.alpha)}% (100 looks like any number from {low} to {high})"
        if self.reports:
            return f"What any one {self.unit} reports of {listed(self.reports, called)}, {alike}."
        if not self.weak:
            return f"How large any one {self.unit} is, {alike}, and {self._whom}."
        told = listed(self.weak, called)
        return f"How many jobs of each kind, told apart by {told}, any one {self.unit} has, {alike}, and {self._whom}."

    @property
    def _whom(self) -> str:
        """Who else is hidden: a job, or whoever holds all of his."""
        if self.worker is None:
            return "any one job in it"
        return "any one worker" if self.jobs == 1 else f"any one worker, with all of up to {self.jobs} jobs"

    def not_hidden(self) -> str:
        public = f"Which {self.unit}s there are, and where and what they are, is public"
        what = "numbers" if self.reports else "sizes"
        further = f"{what} that are further apart than {plain(100 * self.alpha)}% are hidden the less, step by step"
        if not self.weak:
            return f"{public}; {further}."
        return (
            f"{public}; {further}. Whoever knows {with_article(self.unit)} but for kinds of which it has few learns "
            "its size more exactly than that, as each of these changes by one job and all of them together by little "
            "more."
        )

    def alike(self) -> tuple[Alike, ...]:
        """The ends of what looks like round sizes.

        >>> [(one.size, one.low, one.high) for one in SizeWithin("shop", "0.1", "id").alike()]
        [(10, 9.0, 11.0), (100, 91.0, 110.0), (1000, 910.0, 1100.0)]
        """
        ends = [(size, reach(size, self.alpha)) for size in SIZES]
        if self.reports:
            return tuple(
                Alike(one, size, float(low), float(high)) for one in self.reports for size, (low, high) in ends
            )
        return tuple(Alike("jobs", size, float(low), float(high), of_rows=True) for size, (low, high) in ends)


EXAMPLE = SizeWithin("establishment", "0.1", "id")

"""Square-root-within: one unit of a public register reports other values, each with its square root near the old one.

Move. Where the k units of a firm change at once, the vector of all roots goes √k · beta in all, as each of k parts goes
beta. So do the roots of totals: √T is the length of the vector of roots in T, and two lengths differ by no more than
the vectors do (the reverse triangle inequality), √n · beta where n of the units are in T; every unit is in one total,
so the squares of these sum to k · beta² over the totals. Equal roots that all go the same way reach it. A total itself,
of values that are cut off, goes as far as its n units add up to: how they share cells is `crowded`, from the frame.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from sfumato.errors import PlanError, PromiseError, nearest
from sfumato.privacy.contribution import Contribution
from sfumato.privacy.exact import Exact, plain, positive
from sfumato.privacy.move import Root
from sfumato.privacy.neighbours.neighbours import Alike, Implied, Neighbours, Truncate, UnitRows
from sfumato.schema import Attribute, Domain

SIZES = (1, 10, 100, 1_000)
FAINT = 0.01
"""The least mu at which a pair is far enough from 0 for all of its noise to be seen."""


@dataclass(frozen=True, init=False)
class SquareRootWithin(Neighbours):
    """One unit reports other values, each with its square root within beta of the old one; the frame is public.

    With a `firm`, a column of the frame, all units of one firm change at once, at most `at_most` of them.
    """

    beta: Mapping[str, Fraction] = field(default_factory=dict)
    firm: str | None = None
    at_most: int = 1
    kind = "square-root-within"
    columns = frozenset({"id", "firm"})

    def __init__(
        self,
        unit: str,
        beta: Mapping[str, Exact],
        id: str | None = None,  # noqa: A002 - the plan's word
        firm: str | None = None,
        at_most: int = 1,
    ) -> None:
        if not isinstance(beta, Mapping) or not beta:
            raise PlanError('[hidden] beta names each variable and its bound, for example { employment = "0.5" }.')
        given = {"unit": unit, "id": id, "firm": firm, "at_most": at_most}
        for name, value in (given | {"beta": {name: positive(one, "beta") for name, one in beta.items()}}).items():
            object.__setattr__(self, name, value)
        if isinstance(at_most, bool) or not isinstance(at_most, int) or at_most < 1:
            raise PlanError(f"at_most is {at_most!r}; it is the number of {unit}s one firm may have, 1 or more.")
        if firm is None and at_most != 1:
            raise PlanError(
                f"at_most = {at_most} is the number of {unit}s of one firm, and no firm is named; give [hidden] firm, "
                "the column of the frame that names it."
            )
        self.__post_init__()

    def move(self, row: Contribution, domain: Domain) -> Root:
        """Root moves of a column's totals; of a register, as elsewhere which units there are would have to be hidden.

        >>> from sfumato.schema import Frame
        >>> hidden, shops = SquareRootWithin("shop", {"jobs": "1/2"}), Frame("shop", (), {}, range(9))
        >>> hidden.move(Contribution("jobs", None, None), shops)
        Root(beta=Fraction(1, 2), units=1, crowded=1)
        """
        if why := self.refuses(register=domain.register):
            raise PromiseError(why)
        if row.column is None:
            raise PromiseError(
                f"Which {self.unit}s there are is public with {self.kind} neighbours, so that a count has nothing to "
                f"hide and no bound: measure totals of {', '.join(self.beta)}."
            )
        if row.power != 1 or row.above is not None:
            what = "its square" if row.power != 1 else "what lies above a clip"
            raise PromiseError(
                f"[hidden] beta bounds how far {row.column} goes, and says nothing of {what}; measure its total."
            )
        return Root(self._of(row.column), self.at_most, domain.together)

    def unfit(self, row: Contribution) -> str:
        if row.low is None and row.high is None:
            return ""
        return (
            f"A clip rounds {row.column} to its step, and roots then go further than [hidden] beta says; leave it out, "
            "as reports are whole steps and need none."
        )

    def _of(self, column: str) -> Fraction:
        """The bound of a variable, for one unit; a firm's units may all move, each by that much."""
        if column not in self.beta:
            raise PromiseError(
                f"[hidden] beta says nothing of '{column}', so nothing can be promised about it; "
                f"{nearest(column, self.beta)}, or give its beta in its own unit."
            )
        return self.beta[column]

    @property
    def attained(self) -> tuple[str, ...]:
        return ("l2_squared",)

    def relation(self) -> tuple[str, ...]:
        """A frame names its units, whether or not a column of the reports is told."""
        return tuple(one for one in super().relation() if one != "id a column")

    def pair(self, row: Contribution, domain: Domain) -> tuple[UnitRows, UnitRows]:  # noqa: ARG002 - of a register
        faint = FAINT / math.sqrt(self.at_most)
        low, high = (size * row.step for size in worst_sizes(self._of(str(row.column)), row.step, faint))
        return UnitRows(1, low), UnitRows(1, high)

    def keeps(self, attributes: Sequence[Attribute]) -> frozenset[str]:
        return frozenset(attribute.name for attribute in attributes)

    def touches(self, named: frozenset[str]) -> int:  # noqa: ARG002 - whatever parts them is public
        """A unit's universe is public, so it moves in one; the units of a firm may stand in several."""
        return self.at_most

    @property
    def truncation(self) -> None:
        return None

    @property
    def together(self) -> Truncate | None:
        return Truncate(self.firm, self.at_most) if self.firm else None

    def refuses(self, *, register: bool) -> str:
        if register:
            return ""
        return (
            "Square-root neighbours change what units report, not which there are: give [frame] file and id, the "
            "public register of the units."
        )

    def implied(self, called: Mapping[str, str] | None = None) -> tuple[Implied, ...]:
        """One more from 0 on is the farthest that 1 goes in square roots, and takes 1 / beta steps."""
        return tuple(
            Implied(
                f"1 more or less of {(called or {}).get(name, name)} that any one {self.unit} reports",
                math.ceil(1 / beta),
            )
            for name, beta in self.beta.items()
        )

    def exposes(self) -> tuple[str, ...]:
        return ()

    def words(self, called: Mapping[str, str] | None = None) -> str:
        """The promise as one sentence, with what it amounts to; variables may be called by their titles.

        >>> SquareRootWithin("establishment", {"jobs": "0.5"}).words()
        'What any one establishment reports: jobs between 91 and 110 when it is 100 (square roots within 0.5).'
        """
        by_beta: dict[Fraction, list[str]] = {}
        for name, beta in self.beta.items():
            by_beta.setdefault(beta, []).append((called or {}).get(name, name))
        said = []
        for beta, names in by_beta.items():
            size = _example(beta)
            low, high = reach(size, beta)
            each = f"{', '.join(names[:-1])} and {names[-1]}, each" if len(names) > 1 else names[0]
            said.append(f"{each} between {low:,} and {high:,} when it is {size:,} (square roots within {plain(beta)})")
        all_of_firm = f"What one firm reports in all its {self.unit}s, at most {self.at_most}"
        return f"{all_of_firm if self.firm else f'What any one {self.unit} reports'}: {'; '.join(said)}."

    def not_hidden(self) -> str:
        return (
            f"Which {self.unit}s there are, and what the register says of them, is public; that one has anything to "
            "report at all is hidden only where the square root of what it reports is within beta."
        )

    def alike(self) -> tuple[Alike, ...]:
        """The ends (√x ± beta)² at round sizes of each variable; where beta is large, as in dollars, so are they.

        >>> [(one.size, one.low, one.high) for one in SquareRootWithin("shop", {"jobs": "1"}).alike()][1]    # (10 ± 1)²
        (100, 81.0, 121.0)
        """
        listed = []
        for name, bound in self.beta.items():
            beta = float(bound)
            least = 10 ** max(1, math.ceil(math.log10(40 * beta**2) - 1e-9)) if beta > 1 else 10
            for size in (least * times for times in SIZES):
                root = math.sqrt(size)
                listed.append(Alike(name, size, max(0.0, root - beta) ** 2, (root + beta) ** 2))
        return tuple(listed)


def reach(size: int, beta: Fraction) -> tuple[int, int]:
    """The values that look alike with a value: those whose square root is within beta of its own.

    >>> reach(1000, Fraction(1))      # (sqrt(1000) ± 1)² = 937.75 … 1064.25
    (938, 1064)
    """
    root = math.sqrt(size)
    return math.ceil(max(0.0, root - float(beta)) ** 2 - 1e-9), math.floor((root + float(beta)) ** 2 + 1e-9)


def worst_sizes(beta: Fraction, step: Fraction, mu: float) -> tuple[int, int]:
    """Two sizes in steps whose roots are beta apart, or nearly, and far from 0 by the noise that mu gives roots.

    >>> worst_sizes(Fraction(1), Fraction(1), 1.0), worst_sizes(Fraction(1, 2), Fraction(1), 0.7)
    ((100, 121), (144, 156))
    """
    # Only squares of noisy roots are published, so near 0 an attacker sees less than the law says.
    root = max(10, math.ceil(8 / mu))
    while True:
        low = math.ceil((root * beta) ** 2 / step)
        high = math.floor(((root + 1) * beta) ** 2 / step)
        if high > low and math.sqrt(high * step) - math.sqrt(low * step) >= 0.97 * beta:
            return low, high
        root *= 2


def _example(beta: Fraction) -> int:
    """A round size at which the bound is a change of some percent."""
    return int(10 ** max(2, math.ceil(math.log10(float(400 * beta**2)) - 1e-9)))


EXAMPLE = SquareRootWithin("establishment", {"wage": "10"})

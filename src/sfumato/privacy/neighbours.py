"""Neighbours: which two datasets must look alike to whoever sees the release."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from sfumato.errors import PlanError, PromiseError, nearest
from sfumato.privacy.exact import Exact, plain, positive


@dataclass(frozen=True)
class Neighbours:
    """One unit with at most so many rows; without an id each row is a unit of its own."""

    unit: str
    id: str | None = None
    at_most: int = 1

    def __post_init__(self) -> None:
        self._refuse()
        if self.id is None and self.at_most != 1:
            raise PlanError(
                f"at_most = {self.at_most} rows of one {self.unit} cannot be enforced without knowing whose they are; "
                "give [hidden] id, the column that names the unit."
            )

    def _refuse(self) -> None:
        if not self.unit:
            raise PlanError('The plan does not say who is hidden: give [hidden] unit, for example "establishment".')
        if isinstance(self.at_most, bool) or not isinstance(self.at_most, int) or self.at_most < 1:
            raise PlanError(
                f"at_most is {self.at_most!r}; it is the number of rows one {self.unit} may have, 1 or more."
            )
        if self.id is not None and not (self.id and isinstance(self.id, str)):
            raise PlanError(f"id is {self.id!r}; it is the name of the column that says which {self.unit} a row is of.")

    @property
    def rows(self) -> str:
        one = self.at_most == 1
        return f"its {'one row' if one else f'rows, at most {self.at_most}'}"


@dataclass(frozen=True)
class AddRemove(Neighbours):
    """One unit is there or not."""

    kind = "add-remove"

    def touches(self, named: frozenset[str]) -> int:  # noqa: ARG002 - which attributes part the universes
        """How many disjoint universes neighbours can differ in."""
        return self.at_most

    def words(self) -> str:
        """The promise as one sentence.

        >>> AddRemove("establishment", "id", 8).words()
        'Whether any one establishment is in the data at all, with its rows, at most 8.'
        """
        return f"Whether any one {self.unit} is in the data at all, with {self.rows}."


@dataclass(frozen=True)
class ReplaceOne(Neighbours):
    """One unit has other values; how many units there are is public, and so is what is fixed."""

    fixed: tuple[str, ...] = ()
    kind = "replace-one"

    def touches(self, named: frozenset[str]) -> int:
        """A replaced unit leaves one universe and joins another, unless what parts them is public.

        With an id that does not help: which of a unit's rows are kept depends on all that they say, so the row that
        is kept may be of another universe although each row's own is public.
        """
        public = self.id is None and named and named <= frozenset(self.fixed)
        return 1 if public else 2 * self.at_most

    def words(self) -> str:
        known = f" (its {', '.join(self.fixed)} and the number of units are public)" if self.fixed else ""
        return f"What any one {self.unit} answered, in {self.rows}{known or '; the number of units is public'}."


@dataclass(frozen=True)
class SquareRootWithin(Neighbours):
    """One unit reports other values, each with its square root within beta of the old one; the frame is public.

    With a `firm`, a column of the frame, all units of one firm change at once, at most `at_most` of them.
    """

    beta: tuple[tuple[str, Fraction], ...] = ()
    firm: str | None = None
    kind = "square-root-within"

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
        object.__setattr__(self, "beta", tuple((name, positive(one, "beta")) for name, one in beta.items()))
        object.__setattr__(self, "firm", firm)
        object.__setattr__(self, "unit", unit)
        object.__setattr__(self, "id", id)
        object.__setattr__(self, "at_most", at_most)
        if firm is None and at_most != 1:
            raise PlanError(
                f"at_most = {at_most} is the number of {unit}s of one firm, and no firm is named; give [hidden] firm, "
                "the column of the frame that names it."
            )
        self._refuse()

    def of(self, column: str) -> Fraction:
        """The bound of a variable, for one unit; a firm's units may all move, each by that much."""
        known = dict(self.beta)
        if column not in known:
            raise PromiseError(
                f"[hidden] beta says nothing of '{column}', so nothing can be promised about it; "
                f"{nearest(column, known)}, or give its beta in its own unit."
            )
        return known[column]

    def touches(self, named: frozenset[str]) -> int:  # noqa: ARG002 - whatever parts them is public
        """A unit's universe is public, so it moves in one; the units of a firm may stand in several."""
        return self.at_most

    def words(self, called: Mapping[str, str] | None = None) -> str:
        """The promise as one sentence, with what it amounts to; variables may be called by their titles.

        >>> SquareRootWithin("establishment", {"jobs": "0.5"}).words()
        'What any one establishment reports: jobs between 91 and 110 when it is 100 (square roots within 0.5).'
        """
        alike: dict[Fraction, list[str]] = {}
        for name, beta in self.beta:
            alike.setdefault(beta, []).append((called or {}).get(name, name))
        said = []
        for beta, names in alike.items():
            size = _example(beta)
            low, high = reach(size, beta)
            each = f"{', '.join(names[:-1])} and {names[-1]}, each" if len(names) > 1 else names[0]
            said.append(f"{each} between {low:,} and {high:,} when it is {size:,} (square roots within {plain(beta)})")
        whose = (
            f"What any one {self.unit} reports" if not self.firm else f"What one firm reports in {self.rows_of_firm}"
        )
        return f"{whose}: {'; '.join(said)}."

    @property
    def rows_of_firm(self) -> str:
        return f"all its {self.unit}s, at most {self.at_most}"

    def not_hidden(self) -> str:
        """What lies outside, as one sentence."""
        return (
            f"Which {self.unit}s there are, and what the register says of them, is public; that one has anything to "
            "report at all is hidden only where the square root of what it reports is within beta."
        )


def reach(size: int, beta: Fraction) -> tuple[int, int]:
    """The values that look alike with a value: those whose square root is within beta of its own.

    >>> reach(1000, Fraction(1))      # (sqrt(1000) ± 1)² = 937.75 … 1064.25
    (938, 1064)
    """
    root = math.sqrt(size)
    return math.ceil(max(0.0, root - float(beta)) ** 2 - 1e-9), math.floor((root + float(beta)) ** 2 + 1e-9)


def change(size: float, beta: Fraction) -> float:
    """The relative growth p that looks alike: (1 + p) x has a square root beta above that of x.

    >>> [round(change(size, Fraction(1, 2)), 3) for size in (10, 1000, 10_000)]
    [0.341, 0.032, 0.01]
    """
    return (1 + float(beta) / math.sqrt(size)) ** 2 - 1


def _example(beta: Fraction) -> int:
    """A round size at which the bound is a change of some percent."""
    return int(10 ** max(2, math.ceil(math.log10(float(400 * beta**2)) - 1e-9)))


Hidden = AddRemove | ReplaceOne | SquareRootWithin

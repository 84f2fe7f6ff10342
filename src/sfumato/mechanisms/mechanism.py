"""Mechanism: the noise and its claim are one object, and the claim is a function of how far neighbours are apart."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.draws import Draws, Law, Quartic
from sfumato.mechanisms.cells import Cells
from sfumato.mechanisms.published_law import PublishedLaw
from sfumato.mechanisms.told_errors import ToldErrors
from sfumato.privacy import Loss, Move, plain
from sfumato.release import Noisy, Product, Uncertainty, Withheld
from sfumato.release.error_law import ErrorLaw, NoisyTotals, NormalError
from sfumato.release.manifest import NoiseLine
from sfumato.release.noisy import Integers
from sfumato.schema import Aggregate, Domain

STATE_SIZE, STATE_LARGEST = (
    f"state a typical {which}, which is public knowledge, as `sfumato budget` takes it with --{key} MEASURE=1500"
    for which, key in (("size", "size"), ("one", "largest"))
)
"""What is to be done where an error hangs on what a number is of."""
GROWS = f"its noise grows with the number it is on: {STATE_SIZE}"
AT_ONCE = 8_000_000
"""How many numbers are drawn at once where something is published again and again."""


@dataclass(frozen=True)
class Typical:
    """A number whose error is asked for before there are data: its size and so on, in its unit, as the public knows it.

    It sums so many cells and values up to the `largest`; `given` are the mechanisms of the measures that it is given.
    """

    step: Fraction = Fraction(1)
    size: float | None = None
    largest: float | None = None
    cells: int = 1
    given: tuple["Mechanism", ...] = ()


@dataclass(frozen=True)
class RowsApart:
    """Rows of one cell by which a mechanism that is given rows loses most: by columns, those that stand on either side.

    The row that moves is `one` on one side, and on the other gone or the `other`.
    """

    standing: tuple[Mapping[str, float], ...]
    one: Mapping[str, float]
    other: Mapping[str, float]


@dataclass(frozen=True)
class Furthest:
    """The two neighbours that are furthest apart: what a unit's rows add, in steps, and the leaves that they have.

    Where they add nothing on the other side they have none there.
    """

    left: Fraction
    come: Fraction
    leaves: Mapping[str, int]
    others: Mapping[str, int]


class Mechanism(ABC):
    """Makes published integers of true cells, the empty ones too, at a loss that it states.

    Its epsilon, mu or rho is what a measure costs: the noise is scaled to the move. One that must make something known
    names it in `exposes`.
    """

    name: ClassVar[str]
    source: ClassVar[str]
    exposes: ClassVar[tuple[str, ...]] = ()
    as_published: ClassVar[str] = ""
    """Where a paper's own step breaks its claim: why, and what to use instead; such a mechanism never runs soundly."""
    instead: ClassVar[str] = ""
    """Of one that claims nothing: which claim a loss for the same statistics."""
    suppresses: ClassVar[bool] = False
    """Whether true numbers are withheld in place of noise: nothing is claimed, and every margin stands by itself."""
    counted: ClassVar[bool] = False
    """Whether it has to be given a noisy count of the rows of its cells, which it scales noise by."""
    rests_on: ClassVar[tuple["Mechanism", ...]] = ()
    """The mechanisms, by an example each, of the measures of rows that it has to be given."""

    columns_beside: ClassVar[int] = 3
    """How many columns of 8 bytes may stand beside its published values, at most: of errors, of what is missing."""

    @property
    def note(self) -> str:
        """What is to be said beside numbers that it made, of what is not in them."""
        return ""

    @abstractmethod
    def loss(self, move: Move) -> Loss:
        """What is lost when cells can move so far; PromiseError if nothing can be claimed."""

    def argued(self, move: Move) -> Loss | None:  # noqa: ARG002 - most claim what they lose
        """What its authors hold that it loses, on grounds that are no bound; nothing where it claims a loss itself."""
        return None

    @abstractmethod
    def perturb(self, cells: Cells, draws: Draws, given: Mapping[str, Product] | None = None) -> Noisy:
        """The cells with noise: the only door from true values to published ones.

        What is `given` are products of earlier measures; a mechanism may read their public numbers, and its loss may
        not depend on them.
        """

    @abstractmethod
    def uncertainty(self, noisy: Noisy) -> Uncertainty:
        """The error of the published cells, from public numbers alone."""

    def unstated(self, move: Move) -> Withheld | None:  # noqa: ARG002 - most state one
        """Why no error of what it publishes can be stated, by the plan alone; nothing where one is."""
        return None

    def refuse_unstatable(self, move: Move) -> None:  # noqa: B027 - most noise has an error that can be stated
        """Say so where a release could not state the error of its noise, before there are data."""

    @abstractmethod
    def expected(self, move: Move, number: Typical) -> float | Withheld:
        """The standard error that noise gives a number, in its unit, or why none can be told before there are data.

        PlanError or ValueError if such noise cannot be drawn.
        """

    def error_law(self, move: Move, number: Typical) -> ErrorLaw:  # noqa: ARG002 - normal, for most
        """The law of the error that noise gives a number, in its unit."""
        return NormalError(float(number.step))

    def stated_variance(self, move: Move, number: Typical) -> float | Withheld:
        """The variance that a release states of a number that it publishes as it is."""
        error = self.expected(move, number)
        return error if isinstance(error, Withheld) else error**2

    def margin(self, move: Move, number: Typical, level: float = 0.90) -> float | Withheld:
        """The margin of error that noise gives a number, as a release will state it."""
        variance = self.stated_variance(move, number)
        if isinstance(variance, Withheld):
            return variance
        parts = np.array([[number.size or 0.0], [variance], [0.0], [number.cells]])
        return float(np.maximum(*self.error_law(move, number).reach(level, NoisyTotals(*parts)))[0])

    def published_law(self, move: Move, number: Typical) -> PublishedLaw | Withheld:
        """The law of one cell as it is published, or why none can be told; normal, where it sums very many draws."""
        error = self.expected(move, number)
        return error if isinstance(error, Withheld) else PublishedLaw.normal(error)

    def by_ways(self, move: Move, number: Typical) -> Mapping[int, float]:  # noqa: ARG002 - one table, for most
        """Of many tables the standard error of a cell by how many variables they have, of the noisiest such table."""
        return {}

    def bounds(self, move: Move) -> bool:  # noqa: ARG002 - none, for most
        """Whether these are bounds, as the noisiest cell of some table would take too long to find."""
        return False

    def wanted(self, move: Move, number: Typical) -> Mapping[str, tuple[float, float]]:  # noqa: ARG002
        """Of many tables the standard errors that cells have and that are wanted, by what was said to be wanted."""
        return {}

    def facts(self, move: Move, number: Typical) -> NoiseLine:
        """What is published of its noise beside the numbers, so that pages can draw it; the plan alone says it."""
        error = self.expected(move, number)
        return NoiseLine(why=error.in_full) if isinstance(error, Withheld) else NoiseLine(standard_error=error)

    def needs(self, of: tuple[Aggregate, ...]) -> tuple[Aggregate, ...]:  # noqa: ARG002 - none, for most
        """What it reads of the cells beside what their statistic is computed of."""
        return ()

    def refuse_cells(self, domain: Domain) -> None:  # noqa: B027 - most do with any
        """Say so where it cannot do with cells of such a domain, before there are data."""

    def refuse_unready(self, draws: Draws) -> None:  # noqa: B027 - most need nothing but draws
        """Stop where it will not have what it draws with, before anything is read or charged."""

    def unfit(self, cells: Cells) -> str:  # noqa: ARG002 - most carry whatever they are given
        """The rule that cells break which it cannot carry, in words that hold no value; nothing where it can."""
        return ""

    def stretch(self, move: Move) -> int:  # noqa: ARG002 - most add noise to the values as they are
        """How many times a value, at the most, are the numbers that noise is added to."""
        return 1

    def changes(self, move: Move) -> float:  # noqa: ARG002 - all, unless it is known to be fewer
        """The share of empty cells that it publishes as something else than 0."""
        return 1.0

    def clean(self, cells: Cells, given: Mapping[str, Product] | None = None) -> Integers:  # noqa: ARG002
        """The integers that noise is added to, as confidential as the cells."""
        return cells.totals

    def seen(self, noisy: Noisy) -> Integers:
        """The same integers with their noise, as far as the published values tell them."""
        return noisy.values

    def again(self, cells: Cells, places: Integers, copies: int, draws: Draws) -> Iterator[Integers]:
        """What is seen at some places of tables that are published so many times, a row each, some at a time."""
        at_once = max(1, AT_ONCE // cells.values.size)
        for start in range(0, copies, at_once):
            shape = (min(at_once, copies - start), cells.values.size)
            yield self.seen(self.perturb(replace(cells, values=np.broadcast_to(cells.values, shape)), draws))[:, places]

    def furthest(self, move: Move) -> Furthest | None:  # noqa: ARG002 - all cost the same, for most
        """Where the rows of a unit stand that cost most, where not all of them cost the same."""
        return None

    def bounded_cost(self, move: Move) -> bool:  # noqa: ARG002 - known exactly, for most
        """Whether what it costs is a bound, or made for other moves: less budget might do for the same noise."""
        return False

    def rows_apart(self, of: tuple[Aggregate, ...], move: Move) -> RowsApart | None:  # noqa: ARG002 - sums have none
        """Rows of a cell that an audit looks at; none where how far totals go is all that it loses."""
        return None

    def chances(self, of: tuple[Aggregate, ...], rows: Integers, move: Move) -> Mapping[int | None, float] | None:  # noqa: ARG002
        """How likely each value is that may be published of a cell of some rows, in steps, or None for no number.

        None at all where noise is added to sums, or where there are too many ways to list.
        """
        return None

    @property
    def all_told(self) -> "Mechanism":
        """The same at the same claim, with the cells told that are left out by arithmetic on what it drew."""
        return self

    def law_at(self, noisy: Noisy, place: int) -> Law | None:  # noqa: ARG002
        """The law of the noise in one cell; none where noise is not what is added to an integer."""
        return None

    def law_in(self, cells: Cells, place: int, noisy: Noisy) -> Law | Quartic | None:  # noqa: ARG002 - public, for most
        """The law of the noise in one true cell, as confidential as the cell; `noisy` is what copies of it gave."""
        return self.law_at(noisy, 0)

    def told_errors(self, cells: Cells) -> tuple[Integers, ToldErrors] | None:  # noqa: ARG002 - plans tell most errors
        """The logarithms of scales that errors are told of, as confidential as the cells, and the law of their noise.

        None where errors have no draws of their own.
        """
        return None

    def laws(self, noisy: Noisy) -> list[tuple[Integers, Law]]:
        """The integers that have noise of one law, by their places; those are left out whose noise has none."""
        found: dict[Law, list[int]] = {}
        for place in range(noisy.values.shape[-1]):
            if (law := self.law_at(noisy, place)) is not None:
                found.setdefault(law, []).append(place)
        return [(np.array(places, dtype=np.int64), law) for law, places in found.items()]

    def scales(self, noisy: Noisy) -> NDArray[np.float64]:
        """The scale of the noise of every integer that it is added to."""
        found = np.full(noisy.values.shape[-1], math.nan)
        for where, law in self.laws(noisy):
            found[where] = law.scale
        return found

    def words(self) -> str:
        """The mechanism and its parameters as a reader sees them."""
        return f"{self.name} ({self.parameters()})"

    def parameters(self) -> str:
        given = ((field.name, getattr(self, field.name)) for field in fields(self))  # type: ignore[arg-type]
        return ", ".join(f"{name} {plain(value)}" for name, value in given if value is not None)

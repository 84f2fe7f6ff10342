"""Neighbours: which two datasets must look alike to whoever sees the release."""

from dataclasses import dataclass

from sfumato.errors import PlanError


@dataclass(frozen=True)
class Neighbours:
    """One unit with at most so many rows; without an id each row is a unit of its own."""

    unit: str
    id: str | None = None
    at_most: int = 1

    def __post_init__(self) -> None:
        if not self.unit:
            raise PlanError('The plan does not say who is hidden: give [hidden] unit, for example "establishment".')
        if isinstance(self.at_most, bool) or not isinstance(self.at_most, int) or self.at_most < 1:
            raise PlanError(
                f"at_most is {self.at_most!r}; it is the number of rows one {self.unit} may have, 1 or more."
            )
        if self.id is not None and not (self.id and isinstance(self.id, str)):
            raise PlanError(f"id is {self.id!r}; it is the name of the column that says which {self.unit} a row is of.")
        if self.id is None and self.at_most != 1:
            raise PlanError(
                f"at_most = {self.at_most} rows of one {self.unit} cannot be enforced without knowing whose they are; "
                "give [hidden] id, the column that names the unit."
            )

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


Hidden = AddRemove | ReplaceOne

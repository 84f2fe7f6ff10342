"""CountedRows: relations in which a unit has rows of which at most so many count."""

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar

from sfumato.errors import PlanError
from sfumato.privacy.neighbours.neighbours import Alike, Neighbours, Truncate
from sfumato.schema import Domain


@dataclass(frozen=True)
class CountedRows(Neighbours, ABC):
    """One unit with at most so many rows; without an id each row is a unit of its own."""

    beside_id: ClassVar[str] = ", and at_most"
    at_most: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.at_most, bool) or not isinstance(self.at_most, int) or self.at_most < 1:
            raise PlanError(
                f"at_most is {self.at_most!r}; it is the number of rows one {self.unit} may have, 1 or more."
            )
        if self.id is None and self.at_most != 1:
            raise PlanError(
                f"at_most = {self.at_most} rows of one {self.unit} cannot be enforced without knowing whose they are; "
                "give [hidden] id, the column that names the unit."
            )

    @property
    def rows(self) -> str:
        return f"its {'one row' if self.at_most == 1 else f'rows, at most {self.at_most}'}"

    def _too_many(self, domain: Domain) -> int:
        """More rows than count, where a unit can have them, so that an audit sees whether they are kept out."""
        return self.at_most + 2 if self.id and not domain.register else 1

    @property
    def attained(self) -> tuple[str, ...]:
        return ("l1", "l2_squared", "largest")

    @property
    def truncation(self) -> Truncate | None:
        return Truncate(self.id, self.at_most) if self.id else None

    @property
    def together(self) -> None:
        return None

    def refuses(self, *, register: bool) -> str:
        if not register or self.at_most == 1:
            return ""
        return f"Over a frame every {self.unit} reports once, and [hidden] at_most is {self.at_most}; only 1 is meant."

    def not_hidden(self) -> str:
        return ""

    def alike(self) -> tuple[Alike, ...]:
        return ()

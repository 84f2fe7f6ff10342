"""Study: a published table or figure, computed again and printed beside the published numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.pictures import Picture


@dataclass(frozen=True)
class Line:
    """One number of a study: what it is, what was published, what we get, and a remark.

    `published` holds only what is printed in the study's source, or in `place`. A figure that follows from a formula
    instead is `derived`.
    """

    what: str
    published: str
    ours: str
    remark: str = ""
    place: str = ""
    derived: str = ""

    @property
    def beside(self) -> str:
        """The figure to print beside ours; a derived one says so.

        >>> Line("slope", "", "-0.98", derived="-1").beside
        '-1 (derived)'
        """
        return f"{self.derived} (derived)" if self.derived else self.published

    @property
    def remarks(self) -> str:
        """The remark, and the place of what is printed where it is not the study's source."""
        return "; ".join(filter(None, (self.remark, f"printed in {self.place}" if self.place else "")))


@dataclass(frozen=True)
class Study:
    """A published table: where it stands, how to compute it, and what is known to be wrong with it."""

    name: str
    title: str
    source: str
    lines: Callable[..., list[Line]]
    """Of so many runs; of a study that makes data also of so many rows, and of who is told how far it is."""
    runs: int = 1
    note: str = ""
    heads: tuple[str, str] = ("published", "ours")
    """What its two columns of numbers are."""
    picture: Callable[..., Picture] | None = None
    rows: int = 0
    """How many synthetic records it makes unless told otherwise; none where it makes none."""
    records: Callable[..., list[dict[str, Any]]] | None = None
    """All its numbers as rows, of a study that makes data."""
    example: Callable[[Path], list[Line]] | None = None
    """Further lines from the authors' own data file, where they published one."""

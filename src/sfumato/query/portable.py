"""Portable: figures that can be printed, drawn and taken along: as text, picture, data frame, dataset or file."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import QueryError
from sfumato.pictures import Picture
from sfumato.query.answer import Answer
from sfumato.query.figures import Figures
from sfumato.query.headline import TableFinding, headline_of
from sfumato.query.layout import as_text
from sfumato.query.notebook import as_html
from sfumato.query.notices import cited
from sfumato.query.ranks import RowStanding, standings


class Portable(Figures):
    """Whatever has figures can be taken along; the writers are loaded when they are asked for."""

    def records(self) -> list[dict[str, Any]]:
        """One record a cell: codes, labels, estimate and errors; None where one is withheld or missing."""
        from sfumato.query.downloads.tidy import records

        return records(Answer(self))

    def to_arrow(self) -> Any:
        """One line a cell as an Arrow table, null where a number or an error is withheld or missing."""
        from sfumato.query.downloads.parquet import plain

        return plain(Answer(self))

    def to_pandas(self) -> Any:
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        import polars as pl

        return pl.from_arrow(self.to_arrow())

    def to_jsonstat(self) -> dict[str, Any]:
        """The table as a JSON-stat 2.0 dataset, its errors on a metric dimension."""
        from sfumato.query.downloads.jsonstat import dataset

        return dataset(Answer(self))

    def save(self, path: Path | str) -> None:
        """Write the table to a file whose ending says the format: .csv, .json, .xlsx, .parquet or .sdmx.csv."""
        from sfumato.query.downloads.formats import by_ending

        Path(path).write_bytes(by_ending(str(path)).write(Answer(self)))

    def plot(self, kind: str = "dot", level: float = 0.90, width: float = 720) -> Picture:
        """The table as a picture, "dot", "bar" or "line": its rows are labels or periods, its columns are series."""
        from sfumato.query.plot import plotted

        return plotted(self, kind, level, width)

    def map(self, column: str = "", kind: str = "", level: float = 0.90, width: float = 720) -> Picture:
        """The rows as a map, where they have shapes: "areas" shaded by shares, "dots" in proportion to numbers.

        Of a table with columns one is named; what is rough is hatched, and what has no number says why.
        """
        from sfumato.query.map import mapped

        return mapped(self, column, kind, level, width)

    def shares(self, of: str | Sequence[str] = "whole") -> "Portable":
        """Each cell as a share of a whole."""
        raise QueryError(f"Shares of {of} are not made of {self.title}; ask one release for them.")

    def in_order(self, name: str, codes: Sequence[str]) -> "Portable":
        """The same table with the levels of a variable in another order."""
        raise QueryError(f"{self.title} is not laid out with {name} in the order {', '.join(codes[:3])} …")

    def ranks(self, column: str | int | None = None, level: float = 0.90) -> dict[str, tuple[int, int]]:
        """For each row the ranks, 1 the largest, that hold its true one with this probability."""
        raise QueryError(f"Ranks of {self.title} in column {column} at {level:.0%} are not stated; ask one release.")

    def sorted(
        self, column: str | int | None = None, level: float = 0.90, *, rising: bool = False
    ) -> tuple[RowStanding, ...]:
        """The rows in the order of a column, for display only, each with the ranks that it may truly have.

        Ties stand in the order of their codes, rows without a number last; ranks are None where they cannot be stated.
        """
        codes, values = self.axes[0].codes, self.in_column(column)
        try:
            ranks = self.ranks(column, level)
        except QueryError:
            return standings(codes, values, None, rising=rising)
        return standings(codes, values, ranks, rising=rising)

    def headline(self, column: str | None = None) -> TableFinding | None:
        """What the table found: its largest row by one column or by the totals, or that it cannot be told."""
        return headline_of(self, column)

    def in_column(self, column: str | int | None) -> list[float]:
        """The numbers of one column; not a number where there is none."""
        numbers = self.columns().estimate[self.rows_of(column)].tolist()
        return [math.nan if one is None else one for one in numbers]

    def rows_of(self, column: str | int | None) -> NDArray[np.intp]:
        """Where the rows of one column stand in the flattened table."""
        if not self.axes or len(self.axes) > 2 or (len(self.axes) == 2 and column is None):
            raise QueryError("Ranks are of the rows of one column: name the column of a table with rows and columns.")
        places = np.arange(self.size).reshape(self.shape)
        return places if len(self.axes) == 1 else places[:, self.axes[1].place(column or "")]

    def cite(self) -> str:
        """How to cite the table, with what its numbers leave out and each release that it is from."""
        return " ".join(
            filter(None, [f"{self.title}.", self.caveats.sentence(self.language), *map(cited, self.releases)])
        )

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)

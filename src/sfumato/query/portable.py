"""Portable: figures that can be printed, drawn and taken along: as text, picture, data frame, dataset or file."""

from pathlib import Path
from typing import Any

from sfumato.pictures import Picture
from sfumato.query.answer import Answer
from sfumato.query.figures import Figures
from sfumato.query.layout import as_html, as_text
from sfumato.query.notices import cited


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

    def cite(self) -> str:
        """How to cite the table, and each release that it is from."""
        return " ".join([f"{self.title}.", *map(cited, self.releases)])

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)

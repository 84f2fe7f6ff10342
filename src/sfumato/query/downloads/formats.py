"""Formats: every way in which an answer is given, in one list; a new one is a file here and a line in the list."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sfumato.errors import QueryError, nearest
from sfumato.query.answer import Answer
from sfumato.query.downloads import jsonstat, parquet, sdmx, tidy, xlsx
from sfumato.query.figures import LARGEST_PAGE

LARGEST_DOWNLOAD = 1_000_000
"""The most cells that a format written piece by piece takes."""


@dataclass(frozen=True)
class Format:
    """A format: its name in addresses and for people, its media type, its files' ending, and how it is written.

    `pieces` gives a long answer part by part; a format without it takes no more cells than a page.
    """

    name: str
    label: str
    media_type: str
    suffix: str
    write: Callable[[Answer], bytes]
    pieces: Callable[[Answer], Iterator[bytes]] | None = None

    @property
    def most(self) -> int:
        """The most cells that it takes."""
        return LARGEST_DOWNLOAD if self.pieces else LARGEST_PAGE

    def refuse(self, cells: int) -> None:
        """Say so before any work when a table has more cells than the format takes."""
        if cells <= self.most:
            return
        streamed = " or ".join(one.name for one in FORMATS if one.pieces)
        larger = cells <= LARGEST_DOWNLOAD and self.most < LARGEST_DOWNLOAD
        instead = f"or take it as a download: outputFormat={streamed}, up to {LARGEST_DOWNLOAD:,} cells"
        whole = (
            f"or take the file of the whole product from the release folder, as a download has at most {self.most:,}"
        )
        raise TooLargeError(
            f"The table has {cells:,} cells, more than {self.most:,}; show a higher level, fewer variables, or filter, "
            f"{instead if larger else whole}."
        )


class TooLargeError(QueryError):
    """A table with more cells than are given at once."""


def _joined(pieces: Callable[[Answer], Iterator[bytes]]) -> Callable[[Answer], bytes]:
    return lambda answer: b"".join(pieces(answer))


FORMATS: tuple[Format, ...] = (
    Format("json-stat2", "JSON-stat", "application/json", "json", jsonstat.write),
    Format("csv", "CSV", "text/csv; charset=utf-8", "csv", _joined(tidy.pieces), tidy.pieces),
    Format("xlsx", "Excel", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx", xlsx.write),
    Format("parquet", "Parquet", "application/vnd.apache.parquet", "parquet", _joined(parquet.pieces), parquet.pieces),
    Format(
        "sdmx-csv",
        "SDMX-CSV",
        "application/vnd.sdmx.data+csv; version=2.0.0; charset=utf-8",
        "sdmx.csv",
        _joined(sdmx.pieces),
        sdmx.pieces,
    ),
)
BY_NAME = {one.name: one for one in FORMATS}
DEFAULT = FORMATS[0]


def by_ending(path: str) -> Format:
    """The format that the ending of a file means; the longest that fits."""
    fitting = [one for one in FORMATS if path.endswith(f".{one.suffix}")]
    if not fitting:
        endings = [f".{one.suffix}" for one in FORMATS]
        raise QueryError(f"'{path}' has no ending that says its format; {nearest(path, endings)}")
    return max(fitting, key=lambda one: len(one.suffix))

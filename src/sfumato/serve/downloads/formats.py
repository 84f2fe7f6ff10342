"""Formats: every way in which an answer is given, in one list; a new one is a file here and a line in the list."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sfumato.query import LARGEST_PAGE
from sfumato.serve import jsonstat
from sfumato.serve.downloads import parquet, sdmx, tidy, xlsx
from sfumato.serve.downloads.answer import LARGEST_DOWNLOAD, Answer, refuse_if_too_large


@dataclass(frozen=True)
class Format:
    """A format: its name in addresses, its media type, the ending of its files, and how an answer is written in it.

    `pieces` gives a long answer part by part; a format without it takes no more cells than a page.
    """

    name: str
    media_type: str
    suffix: str
    write: Callable[[Answer], bytes]
    pieces: Callable[[Answer], Iterator[bytes]] | None = None

    @property
    def most(self) -> int:
        """The most cells that it takes."""
        return LARGEST_DOWNLOAD if self.pieces else LARGEST_PAGE


def _joined(pieces: Callable[[Answer], Iterator[bytes]]) -> Callable[[Answer], bytes]:
    return lambda answer: b"".join(pieces(answer))


FORMATS: tuple[Format, ...] = (
    Format("json-stat2", "application/json", "json", jsonstat.answer),
    Format("csv", "text/csv; charset=utf-8", "csv", _joined(tidy.pieces), tidy.pieces),
    Format("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx", xlsx.write),
    Format("parquet", "application/vnd.apache.parquet", "parquet", _joined(parquet.pieces), parquet.pieces),
    Format(
        "sdmx-csv",
        "application/vnd.sdmx.data+csv; version=2.0.0; charset=utf-8",
        "sdmx.csv",
        _joined(sdmx.pieces),
        sdmx.pieces,
    ),
)
BY_NAME = {one.name: one for one in FORMATS}
DEFAULT = FORMATS[0]


def refuse(answer: Answer, form: Format) -> None:
    """Say so before any work when the answer has more cells than the format takes."""
    refuse_if_too_large(answer.question, form.most, [one.name for one in FORMATS if one.pieces])

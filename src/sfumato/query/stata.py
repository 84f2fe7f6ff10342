"""Stata: rows as a .dta file of format 118, which Stata 14 and later, R (haven) and pandas read, with value labels.

Codes are stored as integers with labels: as themselves where all are whole numbers, else numbered from 1 in their
order. Everything but the rows is known before the first of them, so that they are written as they come.
"""

import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import QueryError

DOUBLE, LONG, LONGEST_TEXT = 65526, 65528, 2045
LARGEST_LONG = 2_147_483_620
"""The largest integer that a Stata long holds; those above are its kinds of missing values."""
NAME, FORMAT, LABEL, MOST_LETTERS, MOST_LABELS = 129, 57, 321, 80, 65_536
RESERVED = frozenset(
    {"_all", "_b", "byte", "_coef", "_cons", "double", "float", "if", "in", "int", "long", "_n", "_N", "_pi", "_pred"}
    | {"_rc", "_skip", "strL", "using", "with"}
)


@dataclass(frozen=True)
class StataVariable:
    """A column: a number, a code among labelled ones, or a text of at most so many bytes."""

    name: str
    label: str = ""
    codes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    width: int = 0

    @property
    def kind(self) -> int:
        return self.width or (LONG if self.codes else DOUBLE)

    @property
    def dtype(self) -> str:
        return f"S{self.width}" if self.width else "<i4" if self.codes else "<f8"

    @cached_property
    def values(self) -> NDArray[np.int32]:
        """What stands for each code: itself where all are whole numbers as these are written, else its number."""
        plain = all(re.fullmatch(r"0|-?[1-9]\d{0,9}", code) and abs(int(code)) <= LARGEST_LONG for code in self.codes)
        found = map(int, self.codes) if plain else range(1, len(self.codes) + 1)
        return np.array(list(found), dtype=np.int32)


class StataFile:
    """A file that is opened with its variables and the number of its rows, and then takes rows."""

    def __init__(self, path: Path, variables: Sequence[StataVariable], rows: int, title: str) -> None:
        if len({one.name for one in variables}) < len(variables):
            raise QueryError("Two variables would have the same name in Stata; write .parquet or .csv.")
        for one in variables:
            if len(one.codes) > MOST_LABELS:
                known = f"'{one.name}' has {len(one.codes):,} codes"
                raise QueryError(f"{known}, and Stata labels {MOST_LABELS:,} at most; write .parquet or .csv.")
        self.variables, self.rows = tuple(variables), rows
        self._dtype = np.dtype([(one.name, one.dtype) for one in variables])
        self._file: BinaryIO = path.open("wb")
        self._file.write(self._head(title))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if kind is None:
            self._file.write(self._foot)
        self._file.close()

    def write(self, columns: Mapping[str, NDArray[np.generic]]) -> None:
        """Some rows: numbers, texts, or the places of codes in their list."""
        count = len(next(iter(columns.values())))
        rows = np.empty(count, dtype=self._dtype)
        for one in self.variables:
            column = columns[one.name]
            rows[one.name] = one.values[column] if one.codes else column
        self._file.write(rows.tobytes())

    def _head(self, title: str) -> bytes:
        """All before the rows; of its sections a map says where they begin, and where those after the rows do."""
        label = title[:MOST_LETTERS].encode()
        header = (
            b"<stata_dta><header><release>118</release><byteorder>LSF</byteorder><K>"
            + struct.pack("<H", len(self.variables))
            + b"</K><N>"
            + struct.pack("<Q", self.rows)
            + b"</N><label>"
            + struct.pack("<H", len(label))
            + label
            + b"</label><timestamp>\0</timestamp></header>"
        )
        parts, at = [], len(header) + len(b"<map></map>") + 14 * 8
        places = [0, len(header)]
        for name, content in self._sections():
            places.append(at)
            parts.append(_tagged(name, content))
            at += len(parts[-1])
        places.append(at)
        at += len(b"<data></data>") + self.rows * self._dtype.itemsize
        for size in (len(b"<strls></strls>"), len(self._labels), len(b"</stata_dta>")):
            places.append(at)
            at += size
        return header + _tagged("map", struct.pack("<14Q", *places, at)) + b"".join(parts) + b"<data>"

    def _sections(self) -> Iterable[tuple[str, bytes]]:
        ours = self.variables
        yield "variable_types", b"".join(struct.pack("<H", one.kind) for one in ours)
        yield "varnames", _texts((one.name for one in ours), NAME)
        yield "sortlist", bytes(2 * len(ours) + 2)
        yield "formats", _texts((f"%{one.width}s" if one.width else "%12.0g" for one in ours), FORMAT)
        yield "value_label_names", _texts((one.name if one.codes else "" for one in ours), NAME)
        yield "variable_labels", _texts((one.label[:MOST_LETTERS] for one in ours), LABEL)
        yield "characteristics", b""

    @property
    def _foot(self) -> bytes:
        return b"</data><strls></strls>" + self._labels + b"</stata_dta>"

    @cached_property
    def _labels(self) -> bytes:
        return _tagged("value_labels", b"".join(_labelled(one) for one in self.variables if one.codes))


def stata_name(name: str, taken: Iterable[str] = ()) -> str:
    """A name as Stata has them: letters, digits and _, 32 at most, no digit first, none that is reserved or taken.

    >>> stata_name("area-code 2"), stata_name("2nd"), stata_name("in"), stata_name("age", ["age"])
    ('area_code_2', '_2nd', 'in_', 'age_')
    """
    made = re.sub(r"\W", "_", name)[:32]
    made = f"_{made}"[:32] if made[:1].isdigit() else made
    known = {*taken, *RESERVED}
    while made in known:
        made = f"{made[:31]}_" if not made.endswith("_" * 30) else f"x{made[:31]}"
    return made


def _tagged(name: str, content: bytes) -> bytes:
    return b"<" + name.encode() + b">" + content + b"</" + name.encode() + b">"


def _texts(texts: Iterable[str], size: int) -> bytes:
    """Texts of one length each, cut off between letters, with a zero at their end."""
    cut = (text.encode()[: size - 1].decode(errors="ignore").encode() for text in texts)
    return b"".join(text.ljust(size, b"\0") for text in cut)


def _labelled(one: StataVariable) -> bytes:
    """The labels of one variable: how many, where each begins, what it stands for, and the labels themselves."""
    order = np.argsort(one.values, kind="stable")
    texts = [one.labels[place].encode()[:31_999].decode(errors="ignore").encode() + b"\0" for place in order]
    starts = np.cumsum([0, *map(len, texts)]).astype("<i4")
    whole = b"".join(texts)
    table = struct.pack("<ii", len(texts), len(whole)) + starts[:-1].tobytes() + one.values[order].tobytes() + whole
    return _tagged("lbl", struct.pack("<i", len(table)) + _texts([one.name], NAME) + bytes(3) + table)

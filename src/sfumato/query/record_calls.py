"""Record calls: how Python, R and Stata read a file of records, and how each writes that a column has a code."""

import json
import re
from dataclasses import dataclass

RESERVED_IN_R = frozenset(
    {"if", "else", "repeat", "while", "function", "for", "next", "break", "in"}
    | {"TRUE", "FALSE", "NULL", "Inf", "NaN", "NA"}
)


@dataclass(frozen=True)
class RecordCalls:
    """A file by its name, and a column of it by its name and a code as the file has both."""

    file: str
    column: str
    code: str | int

    @property
    def written(self) -> str:
        r"""The code as all three languages write it: a number, or a text in quotation marks.

        >>> RecordCalls("m.dta", "sex", 1).written, RecordCalls("m.csv", "sex", 'the "other"').written
        ('1', '"the \\"other\\""')
        """
        return json.dumps(self.code, ensure_ascii=False)

    @property
    def python(self) -> str:
        """What of pandas reads it."""
        file = json.dumps(self.file, ensure_ascii=False)
        if self.file.endswith(".dta"):
            return f"read_stata({file}, convert_categoricals=False)"
        if self.file.endswith(".csv"):
            return f"read_csv({file}, dtype={{{json.dumps(self.column, ensure_ascii=False)}: str}})"
        return f"read_parquet({file})"

    @property
    def r(self) -> str:
        """What of R reads it, with names of columns as they are."""
        file = json.dumps(self.file, ensure_ascii=False)
        if self.file.endswith(".dta"):
            return f"haven::read_dta({file})"
        if self.file.endswith(".csv"):
            return f'read.csv({file}, check.names = FALSE, colClasses = c({self.r_column} = "character"))'
        return f"arrow::read_parquet({file})"

    @property
    def r_column(self) -> str:
        """The column as a formula of R names it.

        >>> RecordCalls("m.csv", "job type", "a").r_column, RecordCalls("m.csv", "sex", "a").r_column
        ('`job type`', 'sex')
        """
        plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9._]*", self.column) and self.column not in RESERVED_IN_R
        return self.column if plain else f"`{self.column}`"

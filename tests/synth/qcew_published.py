"""Published quarterly tables in the layout of the Bureau of Labor Statistics: read, checked for additivity, summed up.

The quarterly files by area, by industry and as one file share their columns; files by area and industry also have
titles, and older ones call the number of establishments `qtrly_estabs_count`. A cell with the disclosure code N is
suppressed: its establishments are counted, its jobs and wages stand as 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sfumato.errors import DataError, nearest

CODES = ("area_fips", "own_code", "industry_code", "agglvl_code", "size_code", "year", "qtr", "disclosure_code")
NUMBERS = ("qtrly_estabs", "month1_emplvl", "month2_emplvl", "month3_emplvl", "total_qtrly_wages")
OLD_NAMES = {"qtrly_estabs_count": "qtrly_estabs"}
COUNTY_LEVELS = {2: "74", 3: "75", 4: "76", 5: "77", 6: "78"}
"""The aggregation levels of counties by ownership, by the digits of the industry; 71 is all industries."""
ALL_INDUSTRIES, SUPPRESSED = "10", "N"
COUNTED = "qtrly_estabs"
"""What is published of every cell, the suppressed ones too."""
Integers = NDArray[np.int64]
Key = tuple[str, str, str]
Value = int | None


@dataclass(frozen=True, eq=False)
class Published:
    """The rows of a quarterly file."""

    table: pa.Table

    @classmethod
    def read(cls, path: Path) -> "Published":
        """The rows of a CSV file as it is downloaded, or of the same columns in Parquet."""
        if not path.is_file():
            raise DataError(f"There is no file {path}.")
        table = pq.read_table(path) if path.suffix == ".parquet" else _read_csv(path)
        table = table.rename_columns([OLD_NAMES.get(name, name) for name in table.column_names])
        for name in (*CODES, *NUMBERS):
            if name not in table.column_names:
                raise DataError(
                    f"{path.name} has no column '{name}'; {nearest(name, table.column_names)} "
                    "The layout is that of the quarterly CSV files of the QCEW."
                )
        codes = {name: pc.utf8_trim_whitespace(table[name].cast(pa.string())) for name in CODES}
        return cls(pa.table(codes | {name: table[name].cast(pa.int64()) for name in NUMBERS}))

    def counties(self, digits: int) -> "Published":
        """The cells of counties by ownership and industries of so many digits; 0 is all industries together."""
        level = COUNTY_LEVELS[digits] if digits else "71"
        return Published(self.table.filter(pc.equal(self.table["agglvl_code"], level)))

    @property
    def suppressed(self) -> float:
        """The share of cells that are suppressed."""
        return float(pc.mean(pc.equal(self.table["disclosure_code"], SUPPRESSED).cast(pa.float64())).as_py() or 0.0)

    def gaps(self, column: str, digits: int) -> Integers:
        """What industries of so many digits lack of those one digit above, a number a cell of the latter.

        Jobs and wages are compared where neither the cell above nor one below it is suppressed; establishments are
        counted in every cell.
        """
        above = self.counties(digits - 1 if digits > 2 else 0).cells(column)
        below: dict[Key, list[Value]] = {}
        for (area, owner, industry), value in self.counties(digits).cells(column).items():
            below.setdefault((area, owner, parent_of(industry)), []).append(value)
        found = [
            value - sum(part for part in below[key] if part is not None)
            for key, value in above.items()
            if key in below and value is not None and None not in below[key]
        ]
        return np.array(found, dtype=np.int64)

    def cells(self, column: str) -> dict[Key, Value]:
        """The numbers of a column by area, ownership and industry; none where they are suppressed."""
        names = ("area_fips", "own_code", "industry_code")
        keys = zip(*(self.table[name].to_pylist() for name in names), strict=True)
        closed = [code == SUPPRESSED and column != COUNTED for code in self.table["disclosure_code"].to_pylist()]
        numbers = zip(self.table[column].to_pylist(), closed, strict=True)
        return {key: None if shut else value for key, (value, shut) in zip(keys, numbers, strict=True)}

    def margins(self, by: str) -> Mapping[str, Mapping[str, float]]:
        """Establishments, jobs of the third month and wages by a code, over open cells, with jobs an establishment."""
        kept = self.table.filter(pc.not_equal(self.table["disclosure_code"], SUPPRESSED))
        names = ("qtrly_estabs", "month3_emplvl", "total_qtrly_wages")
        summed = kept.group_by(by).aggregate([(name, "sum") for name in names]).sort_by(by)
        return {row[by]: _margin(row) for row in summed.to_pylist()}


def parent_of(code: str) -> str:
    """The industry one digit above, as the files write it.

    >>> [parent_of(code) for code in ("311811", "311", "441", "23")]
    ['31181', '31-33', '44-45', '10']
    """
    if len(code) == 2 or "-" in code:
        return ALL_INDUSTRIES
    ranges = {"31": "31-33", "32": "31-33", "33": "31-33", "44": "44-45", "45": "44-45", "48": "48-49", "49": "48-49"}
    return ranges.get(code[:2], code[:2]) if len(code) == 3 else code[:-1]


def _margin(row: Mapping[str, Any]) -> Mapping[str, float]:
    establishments = row["qtrly_estabs_sum"]
    jobs, wages = row["month3_emplvl_sum"], row["total_qtrly_wages_sum"]
    return {
        "establishments": establishments,
        "jobs": jobs,
        "wages": wages,
        "mean_size": jobs / establishments if establishments else 0.0,
    }


def _read_csv(path: Path) -> pa.Table:
    types = dict.fromkeys(CODES, pa.string())
    try:
        return pyarrow.csv.read_csv(path, convert_options=pyarrow.csv.ConvertOptions(column_types=types))
    except (pa.ArrowException, OSError):
        raise DataError(f"{path.name} cannot be read; the layout is that of the quarterly CSV files.") from None

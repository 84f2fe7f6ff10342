"""QCEW: the census of employment and wages as it is published, with disclosure codes; any number of quarters."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from sfumato.suppression.formats.file_rows import column_of, number_of, read_rows
from sfumato.suppression.formats.table_file import TableFile
from sfumato.suppression.nesting import WHOLE, Nesting

ALL, EVERY_OWNER = "10", "0"
HIDDEN = "N"
SUPERSECTORS = {
    "1011": ("11", "21"), "1012": ("23",), "1013": ("31-33",), "1021": ("22", "42", "44-45", "48-49"), "1022": ("51",),
    "1023": ("52", "53"), "1024": ("54", "55", "56"), "1025": ("61", "62"), "1026": ("71", "72"), "1027": ("81",),
    "1028": ("92",), "1029": ("99",),
}  # fmt: skip
"""The sectors of each supersector."""
OWNER_SUMS = {"8": ("1", "2", "3", "4"), "9": ("2", "3", "4", "5")}
"""The ownerships that all governments are, and all that state insurance covers, which is all but the federal one."""
RANGES = {"31": "31-33", "32": "31-33", "33": "31-33", "44": "44-45", "45": "44-45", "48": "48-49", "49": "48-49"}


def parent(code: str) -> str:
    """The industry that an industry is a part of.

    >>> [parent(code) for code in ("101", "1011", "31-33", "311", "3111", "311111")]
    ['', '101', '1013', '31-33', '311', '31111']
    """
    if code in {"101", "102"}:
        return WHOLE
    if code in SUPERSECTORS:
        return code[:3]
    if len(code) == 2 or "-" in code:
        return next((supersector for supersector, sectors in SUPERSECTORS.items() if code in sectors), WHOLE)
    return RANGES.get(code[:2], code[:2]) if len(code) == 3 else code[:-1]


def ownerships(present: Iterable[str], *, whole: bool) -> Nesting:
    """The ownerships of a file; all governments, and all but the federal one, are sums of others where these are there.

    >>> ownerships("1235", whole=True).sums, ownerships("58", whole=True).sums
    ((('', ('1', '2', '3', '5')),), (('', ('5', '8')),))
    >>> ownerships("123589", whole=False).sums
    (('8', ('1', '2', '3')), ('9', ('2', '3', '5')))
    """
    there = set(present)
    apart = bool(there & {*OWNER_SUMS["8"]})
    sums = {code: parts for code, parts in OWNER_SUMS.items() if code in there and apart}
    single = sorted(code for code in there if code not in sums and (code != "9" or apart))
    some = Nesting.under("ownership", dict.fromkeys(single, WHOLE), whole=whole)
    told = tuple((code, tuple(one for one in parts if one in there)) for code, parts in sums.items())
    return some.also(Nesting("ownership", told, ("9",) if "9" in there else ()))


def lineage(codes: Iterable[str]) -> dict[str, str]:
    """The parent of each industry, and of every one above it: a file need not have all levels.

    >>> lineage(["311111"])
    {'311111': '31111', '31111': '3111', '3111': '311', '311': '31-33', '31-33': '1013', '1013': '101', '101': ''}
    """
    parents: dict[str, str] = {}
    for code in codes:
        below = code
        while below != WHOLE and below not in parents:
            parents[below] = parent(below)
            below = parents[below]
    return parents


def read_qcew(path: Path, value: str = "month3_emplvl") -> TableFile:
    """The cells of one statistic by area, ownership, industry and quarter; a value with code N is suppressed.

    Ownerships add up to the total of all industries alone, as no finer cell is published without its ownership. Areas
    are not added up: a file need not have all of them. Of a file that leaves out levels of industries, the parts of an
    industry are those of the next level that it has.
    """
    rows = [row for row in read_rows(path) if row.get("size_code", "0").strip() in {"", "0"}]
    industry = [WHOLE if code == ALL else code for code in column_of(rows, "industry_code", path)]
    owner = [WHOLE if code == EVERY_OWNER else code for code in column_of(rows, "own_code", path)]
    period = [
        f"{year}Q{quarter}"
        for year, quarter in zip(column_of(rows, "year", path), column_of(rows, "qtr", path), strict=True)
    ]
    area = column_of(rows, "area_fips", path)
    owners = set(owner) - {WHOLE}
    areas = Nesting.under("area", dict.fromkeys(sorted(set(area)), WHOLE), whole=False)
    periods = Nesting.under("quarter", dict.fromkeys(sorted(set(period)), WHOLE), whole=False)
    nested = Nesting.under("industry", lineage(sorted(set(industry) - {WHOLE}))).within(sorted(set(industry)))
    tables = [
        [areas, ownerships(owners, whole=True), periods],
        [areas, ownerships(owners, whole=False), nested, periods],
    ]
    values = number_of(column_of(rows, value, path), value)
    hidden = np.array([code.strip() == HIDDEN for code in column_of(rows, "disclosure_code", path)], dtype=bool)
    columns = {"area": area, "ownership": owner, "industry": industry, "quarter": period}
    return TableFile.of(tables, columns, np.where(hidden, np.nan, values), hidden)

"""Hierarchies in files: tau-ARGUS .hrc, where leading marks tell the depth, or a CSV list of codes and parents."""

import csv
from collections.abc import Sequence
from pathlib import Path

from sfumato.errors import DataError
from sfumato.suppression.nesting import WHOLE, Nesting


def read_hierarchy(name: str, path: Path, lead: str = "@") -> Nesting:
    """The hierarchy of an attribute."""
    if not path.is_file():
        raise DataError(f"There is no hierarchy {path} of '{name}'; give an .hrc file, or a CSV of code and parent.")
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix.lower() == ".hrc":
        return Nesting.under(name, hrc_parents(text.splitlines(), lead))
    rows = list(csv.DictReader(text.splitlines()))
    if not rows or not {"code", "parent"} <= set(rows[0]):
        raise DataError(f"{path} has no columns 'code' and 'parent'; a hierarchy is a list of both, or an .hrc file.")
    return Nesting.under(name, {row["code"]: row["parent"] or WHOLE for row in rows})


def hrc_parents(lines: Sequence[str], lead: str = "@") -> dict[str, str]:
    """The parent of each code; those without a mark stand under the total.

    >>> hrc_parents(["A", "@01", "@@011", "@02", "B"])
    {'A': '', '01': 'A', '011': '01', '02': 'A', 'B': ''}
    """
    parents: dict[str, str] = {}
    path: list[str] = []
    for line in lines:
        marked = line.strip()
        if not marked:
            continue
        code = marked.lstrip(lead)
        depth = (len(marked) - len(code)) // len(lead)
        if depth > len(path) or not code.strip():
            raise DataError(
                f"The .hrc line '{marked}' stands two levels below the one before it; levels follow each other."
            )
        parents[code.strip()] = path[depth - 1] if depth else WHOLE
        path = [*path[:depth], code.strip()]
    return parents


def write_hrc(nesting: Nesting, lead: str = "@") -> str:
    r"""The .hrc text of a hierarchy; codes under several totals have none.

    >>> write_hrc(Nesting.under("a", {"A": "", "01": "A", "B": ""}))
    'A\n@01\nB\n'
    """
    parts = dict(nesting.sums)
    codes = [code for _, some in nesting.sums for code in some]
    if len(parts) < len(nesting.sums) or len(set(codes)) < len(codes):
        raise DataError(f"The codes of '{nesting.name}' stand in several hierarchies; an .hrc file holds one.")
    lines: list[str] = []

    def write(code: str, depth: int) -> None:
        lines.append(f"{lead * depth}{code}\n")
        for part in parts.get(code, ()):
            write(part, depth + 1)

    for top in parts.get(WHOLE, ()):
        write(top, 0)
    return "".join(lines)

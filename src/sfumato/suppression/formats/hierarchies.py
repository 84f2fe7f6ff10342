"""Hierarchies in files: tau-ARGUS .hrc, where leading marks tell the depth, or a CSV list of codes and parents."""

from collections.abc import Sequence
from pathlib import Path

from sfumato.errors import DataError
from sfumato.suppression.formats.file_rows import read_rows, read_text
from sfumato.suppression.nesting import WHOLE, Nesting

Pairs = list[tuple[str, str]]
"""Codes, each with its parent, which is empty for the topmost."""


def read_hierarchy(name: str, path: Path, lead: str = "@", total: str = "Total") -> Nesting:
    """The hierarchy of an attribute; the code of its total may stand in it, and is its whole."""
    if not path.is_file():
        raise DataError(f"There is no hierarchy {path} of '{name}'; give an .hrc file, or a CSV of code and parent.")
    pairs = hrc_pairs(read_text(path).splitlines(), lead) if path.suffix.lower() == ".hrc" else _listed(path)
    return Nesting.under(name, parents_of(name, pairs, total))


def _listed(path: Path) -> Pairs:
    """The codes and parents of a CSV list."""
    rows = read_rows(path)
    if not {"code", "parent"} <= set(rows[0]):
        raise DataError(f"{path} has no columns 'code' and 'parent'; a hierarchy is a list of both, or an .hrc file.")
    return [(row["code"].strip(), row["parent"].strip()) for row in rows]


def parents_of(name: str, pairs: Pairs, total: str = "Total") -> dict[str, str]:
    """The parent of each code: a code has one, and every parent is a code of the list or the total.

    >>> parents_of("trade", [("Total", ""), ("food", "Total"), ("bread", "food")])
    {'food': '', 'bread': 'food'}
    """
    parents: dict[str, str] = {}
    for code, parent in ((_whole(one, total), _whole(other, total)) for one, other in pairs):
        if code == parent == WHOLE:
            continue
        if parents.setdefault(code, parent) != parent:
            raise DataError(
                f"The code '{code}' of '{name}' stands under two others in its hierarchy; a code has one parent."
            )
    orphan = next((code for code, parent in parents.items() if parent != WHOLE and parent not in parents), None)
    if orphan is not None:
        raise DataError(
            f"The parent '{parents[orphan]}' of '{orphan}' is no code of the hierarchy of '{name}', and its sums would "
            f"be lost; list it, with no parent, or '{total}', where it is a part of the total."
        )
    return parents


def _whole(code: str, total: str) -> str:
    return WHOLE if code == total else code


def hrc_pairs(lines: Sequence[str], lead: str = "@") -> Pairs:
    """The codes of an .hrc file with their parents; those without a mark stand under the total.

    >>> dict(hrc_pairs(["A", "@01", "@@011", "@02", "B"]))
    {'A': '', '01': 'A', '011': '01', '02': 'A', 'B': ''}
    """
    pairs: Pairs = []
    path: list[str] = []
    for line in lines:
        marked = line.strip()
        if not marked:
            continue
        depth = 0
        while marked.startswith(lead, depth * len(lead)):
            depth += 1
        code = marked[depth * len(lead) :].strip()
        if depth > len(path) or not code:
            raise DataError(
                f"The .hrc line '{marked}' stands two levels below the one before it; levels follow each other."
            )
        pairs.append((code, path[depth - 1] if depth else WHOLE))
        path = [*path[:depth], code]
    return pairs


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

"""tau-ARGUS tables: a .tab or .asc file of cells, and the .rda file that says what its columns are; in and out."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sfumato.errors import DataError
from sfumato.suppression.equations import Floats
from sfumato.suppression.formats.hierarchies import read_hierarchy, write_hrc
from sfumato.suppression.formats.table_file import TableFile, number_of, whole_of
from sfumato.suppression.nesting import WHOLE, Nesting

SAFE, UNSAFE = "s", "u"
STATUSES = {"published": "V", "waived": "V", "forced": "V", "empty": "V", "secondary": "D"}
"""The letters that tau-ARGUS users know; a primary cell is A where few contribute and B where some dominate."""
HIDDEN = ("A", "B", "C", "D", "F", "M", "u", "m")
TAG = re.compile(r"<(\w+)>\s*(?:\"([^\"]*)\"|([^<\s]+))?")


@dataclass
class Variable:
    """A column: where it stands in a file without separators, and the tags that say what it is."""

    name: str
    start: int = 0
    length: int = 0
    tags: dict[str, str] = field(default_factory=dict)


@dataclass
class Metadata:
    """What an .rda file says."""

    variables: list[Variable]
    settings: dict[str, str]

    @property
    def explanatory(self) -> list[Variable]:
        return [one for one in self.variables if "RECODEABLE" in one.tags or "RECODABLE" in one.tags]

    def tagged(self, tag: str) -> Variable | None:
        return next((one for one in self.variables if tag in one.tags), None)

    @property
    def response(self) -> Variable:
        others = {"FREQUENCY", "MAXSCORE", "LOWERPL", "UPPERPL", "STATUS", "COST"}
        found = [one for one in self.variables if "NUMERIC" in one.tags and others.isdisjoint(one.tags)]
        if not found:
            raise DataError("The .rda file names no response variable; one has <NUMERIC> and is no frequency or score.")
        return found[0]


def read_rda(text: str) -> Metadata:
    r"""The variables of an .rda file and its settings, which stand before them.

    >>> told = read_rda('<SEPARATOR> ";"\nSIZE <RECODEABLE> <TOTCODE> "Total"\nVAL <NUMERIC>')
    >>> [one.name for one in told.variables], told.settings, told.response.name
    (['SIZE', 'VAL'], {'SEPARATOR': ';'}, 'VAL')
    """
    variables: list[Variable] = []
    settings: dict[str, str] = {}
    for line in text.splitlines():
        named = re.match(r"\s*([^<\s]\S*)((?:\s+\d+)*)\s*(<|$)", line)
        if named:
            numbers = [int(word) for word in named[2].split()]
            variables.append(Variable(named[1], *(numbers[:2] if len(numbers) >= 2 else (0, 0))))
        for tag, quoted, plain in TAG.findall(line):
            (variables[-1].tags if variables else settings)[tag.upper()] = quoted or plain
    if not variables:
        raise DataError("The .rda file names no variable; each stands on a line of its own, followed by its tags.")
    return Metadata(variables, settings)


def read_argus(path: Path, rda: Path | None = None) -> TableFile:
    """A table of cells with its .rda file, which stands beside it unless it is named."""
    beside = rda or path.with_suffix(".rda")
    for one in (path, beside):
        if not one.is_file():
            raise DataError(f"There is no file {one}; a tau-ARGUS table is a .tab or .asc file and its .rda file.")
    told = read_rda(beside.read_text(encoding="utf-8-sig"))
    cells = _cells(path.read_text(encoding="utf-8-sig").splitlines(), told)
    column = {variable.name: [row[place] for row in cells] for place, variable in enumerate(told.variables)}
    nestings, columns = [], {}
    for variable in told.explanatory:
        codes = whole_of(column[variable.name], variable.tags.get("TOTCODE", "Total"))
        columns[variable.name] = codes
        nestings.append(_nesting(variable, codes, beside.parent))
    if not nestings:
        raise DataError(f"{beside} names no explanatory variable; one has <RECODEABLE>.")
    values = number_of(column[told.response.name], told.response.name)
    status = told.tagged("STATUS")
    hidden = (told.settings.get("UNSAFE", UNSAFE), *HIDDEN)
    flags = np.isin(column[status.name], hidden) if status else np.isnan(values)
    numbers = {
        tag.lower(): number_of(column[found.name], found.name)
        for tag in ("FREQUENCY", "MAXSCORE", "LOWERPL", "UPPERPL")
        if (found := told.tagged(tag))
    }
    return TableFile.of([nestings], columns, values, flags | np.isnan(values), numbers)


def _cells(lines: Sequence[str], told: Metadata) -> list[list[str]]:
    """The texts of every row, by separator or by position."""
    rows = [line for line in lines if line.strip()]
    if all(one.length for one in told.variables):
        spans = [(one.start - 1, one.start - 1 + one.length) for one in told.variables]
        return [[row[first:last].strip() for first, last in spans] for row in rows]
    separator = told.settings.get("SEPARATOR", ",")
    split = [[word.strip().strip('"') for word in row.split(separator)] for row in rows]
    if any(len(row) < len(told.variables) for row in split):
        raise DataError(f"A row has fewer than the {len(told.variables)} columns that the .rda file names.")
    return split


def _nesting(variable: Variable, codes: Sequence[str], folder: Path) -> Nesting:
    present = sorted(set(codes))
    if "HIERCODELIST" not in variable.tags:
        flat = {code: WHOLE for code in present if code != WHOLE}
        return Nesting.under(variable.name, flat, whole=WHOLE in present)
    path = folder / variable.tags["HIERCODELIST"]
    return read_hierarchy(variable.name, path, variable.tags.get("HIERLEADSTRING", "@")).within(present)


def write_argus(table: TableFile, values: Floats, letters: Sequence[str], folder: Path, name: str) -> Path:
    """The .tab file of a table, a value or none and a letter for every cell; its .rda file, and .hrc files."""
    folder.mkdir(parents=True, exist_ok=True)
    (nestings,) = table.linked.tables
    lines, described = [], ['<SEPARATOR> ";"', f'<SAFE> "{SAFE}"', f'<UNSAFE> "{UNSAFE}"']
    for nesting in nestings:
        described += [nesting.name, "  <RECODEABLE>", '  <TOTCODE> "Total"']
        if len(nesting.sums) > 1:
            (folder / f"{name}_{nesting.name}.hrc").write_text(write_hrc(nesting), encoding="utf-8")
            described += ["  <HIERARCHICAL>", f'  <HIERCODELIST> "{name}_{nesting.name}.hrc"', '  <HIERLEADSTRING> "@"']
    described += ["VALUE", "  <NUMERIC>", "STATUS", "  <STATUS>"]
    columns = [table.linked.column(nesting.name) for nesting in nestings]
    for cell in range(table.linked.size):
        codes = [column[cell] or "Total" for column in columns]
        value = "" if np.isnan(values[cell]) else f"{values[cell]:.15g}"
        lines.append(";".join([*codes, value, letters[cell]]))
    (folder / f"{name}.rda").write_text("\n".join(described) + "\n", encoding="utf-8")
    path = folder / f"{name}.tab"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path

"""tau-ARGUS tables: a .tab or .asc file of cells, and the .rda file that says what its columns are; in and out."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from sfumato.errors import DataError
from sfumato.suppression.equations import Floats
from sfumato.suppression.formats.file_rows import number_of, read_text
from sfumato.suppression.formats.hierarchies import read_hierarchy, write_hrc
from sfumato.suppression.formats.table_file import TOTAL, TableFile, whole_of
from sfumato.suppression.nesting import WHOLE, Nesting

SAFE, UNSAFE, PROTECTED = "s", "u", "p"
STATUSES = {"published": "V", "waived": "V", "forced": "V", "empty": "V", "secondary": "D"}
"""The letters that tau-ARGUS users know; a primary cell is A where few contribute and B where some dominate."""
HIDDEN = ("A", "B", "C", "D", "F", "M", "u", "m")
TAG = re.compile(r"<(\w+)>\s*(?:\"([^\"]*)\"|([^<]*[^<\s]))?")
NAMED = re.compile(r"\s*([^<\s]\S*)((?:\s+\d+)*)")
"""A variable, where it stands and how long it is; codes that stand for no answer may follow."""


@dataclass
class Variable:
    """A column: where it stands in a file without separators, and the tags that say what it is."""

    name: str
    start: int = 0
    length: int = 0
    tags: dict[str, str] = field(default_factory=dict)

    @property
    def total(self) -> str:
        return self.tags.get("TOTCODE", "Total")


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
    def numbers(self) -> dict[str, Variable]:
        """Further numbers of cells by what they are; the largest contributions as maxscore, maxscore2 and so on."""
        found = {tag.lower(): one for tag in ("FREQUENCY", "LOWERPL", "UPPERPL") if (one := self.tagged(tag))}
        largest = [one for one in self.variables if "MAXSCORE" in one.tags]
        return found | {f"maxscore{rank}" if rank > 1 else "maxscore": one for rank, one in enumerate(largest, 1)}

    @property
    def response(self) -> Variable:
        others = {"FREQUENCY", "MAXSCORE", "LOWERPL", "UPPERPL", "STATUS", "COST", "SHADOW"}
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
        named = NAMED.match(line)
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
    told = read_rda(read_text(beside))
    cells = list(_cells(read_text(path), told))
    column = {variable.name: [row[place] for row in cells] for place, variable in enumerate(told.variables)}
    nestings, columns = [], {}
    for variable in told.explanatory:
        codes = whole_of(column[variable.name], variable.total)
        columns[variable.name] = codes
        nestings.append(_nesting(variable, codes, beside.parent))
    if not nestings:
        raise DataError(f"{beside} names no explanatory variable; one has <RECODEABLE>.")
    values = number_of(column[told.response.name], told.response.name)
    status = told.tagged("STATUS")
    said = np.array(column[status.name] if status else [""] * len(cells))
    flags = np.isin(said, (told.settings.get("UNSAFE", UNSAFE), *HIDDEN)) if status else np.isnan(values)
    numbers = {name: number_of(column[found.name], found.name) for name, found in told.numbers.items()}
    held = said == told.settings.get("PROTECT", PROTECTED)
    table = TableFile.of([nestings], columns, values, flags | np.isnan(values), numbers, held)
    return replace(table, totals={variable.name: variable.total for variable in told.explanatory})


def _cells(text: str, told: Metadata) -> Iterator[list[str]]:
    """The texts of every row, by separator or, where none is said, by position."""
    if "SEPARATOR" not in told.settings and all(one.length for one in told.variables):
        spans = [(one.start - 1, one.start - 1 + one.length) for one in told.variables]
        for line in filter(str.strip, text.splitlines()):
            yield [line[first:last].strip() for first, last in spans]
        return
    separator = told.settings.get("SEPARATOR", ",")
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True):
        if any(map(str.strip, row)):
            if len(row) < len(told.variables):
                raise DataError(f"A row has fewer than the {len(told.variables)} columns that the .rda file names.")
            yield [word.strip() for word in row]


def _nesting(variable: Variable, codes: Sequence[str], folder: Path) -> Nesting:
    present = sorted(set(codes))
    if "HIERLEVELS" in variable.tags:
        return Nesting.under(variable.name, _by_digits(variable, present)).within(present)
    if "HIERCODELIST" not in variable.tags:
        flat = {code: WHOLE for code in present if code != WHOLE}
        return Nesting.under(variable.name, flat, whole=WHOLE in present)
    path = folder / variable.tags["HIERCODELIST"]
    lead = variable.tags.get("HIERLEADSTRING", "@")
    return read_hierarchy(variable.name, path, lead, variable.total).within(present)


def _by_digits(variable: Variable, codes: Sequence[str]) -> dict[str, str]:
    """The parent of each code, and of those above it, by how many of its letters each level adds: 3 1 1.

    >>> _by_digits(Variable("NACE", tags={"HIERLEVELS": "2 1 0"}), ["011", "02"])
    {'011': '01', '01': '', '02': ''}
    """
    try:
        widths = [int(word) for word in variable.tags["HIERLEVELS"].split()]
    except ValueError:
        raise DataError(f"<HIERLEVELS> of '{variable.name}' is not a list of whole numbers, as 3 1 1.") from None
    lengths = [sum(widths[: level + 1]) for level in range(len(widths)) if widths[level]]
    parents: dict[str, str] = {}
    for code in codes:
        if code == WHOLE:
            continue
        if len(code) not in lengths:
            raise DataError(f"The code '{code}' of '{variable.name}' is as long as no level of <HIERLEVELS>.")
        levels = [code[:length] for length in lengths if length <= len(code)]
        parents |= dict(zip(reversed(levels), [*reversed(levels[:-1]), WHOLE], strict=True))
    return parents


def write_argus(table: TableFile, values: Floats, letters: Sequence[str], folder: Path, name: str) -> Path:
    """The .tab file of a table, a value or none and a letter for every cell; its .rda file, and .hrc files."""
    folder.mkdir(parents=True, exist_ok=True)
    (nestings,) = table.linked.tables
    lines, described = io.StringIO(), ['<SEPARATOR> ";"', f'<SAFE> "{SAFE}"', f'<UNSAFE> "{UNSAFE}"']
    for nesting in nestings:
        total = table.totals.get(nesting.name, TOTAL)
        described += [nesting.name, "  <RECODEABLE>", f'  <TOTCODE> "{total}"']
        if len(nesting.sums) > 1:
            (folder / f"{name}_{nesting.name}.hrc").write_text(write_hrc(nesting), encoding="utf-8")
            described += ["  <HIERARCHICAL>", f'  <HIERCODELIST> "{name}_{nesting.name}.hrc"', '  <HIERLEADSTRING> "@"']
    described += ["VALUE", "  <NUMERIC>", "STATUS", "  <STATUS>"]
    columns = [table.codes(nesting.name) for nesting in nestings]
    writer = csv.writer(lines, delimiter=";", lineterminator="\n")
    for cell in range(table.linked.size):
        codes = [column[cell] for column in columns]
        value = "" if np.isnan(values[cell]) else f"{values[cell]:.15g}"
        writer.writerow([*codes, value, letters[cell]])
    (folder / f"{name}.rda").write_text("\n".join(described) + "\n", encoding="utf-8")
    path = folder / f"{name}.tab"
    path.write_text(lines.getvalue(), encoding="utf-8")
    return path

"""Groups in a file: areas and industries that readers define, any number of them, as a table of group and code.

    group,county            group,attribute,code
    Coast,48007             Coast,county,48007
    Coast,48057             Coast,county,48057
    Valley,48061            Food,naics,311

A column `group` and one of codes, named for its variable, or `code`, with a column `attribute` beside it where the file
is of several variables. A code may stand at any level of its hierarchy; everything under it is meant.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import QueryError, nearest
from sfumato.query.axis import Group
from sfumato.query.engine import QueryEngine
from sfumato.release import Release
from sfumato.schema import Attribute, Levels

MOST_LINES = 1_000_000
"""The most lines that a file of groups may have."""
Line = tuple[int, str, str, str]
"""Its number, the variable, the group, the code."""


def read_groups(
    path: Path | str, release: QueryEngine | Release, variable: str | None = None
) -> dict[str, tuple[Group, ...]]:
    """The groups of a CSV file by variable, checked against the levels of a release; `table(at=…)` takes them as given.

    A variable is named where the file has only `group` and `code`.
    """
    known = {one.name: one for one in (release.release if isinstance(release, QueryEngine) else release).attributes}
    if variable is not None and variable not in known:
        raise QueryError(f"'{variable}' is no variable of this release; {nearest(variable, known)}")
    try:
        found = _members(_lines(Path(path), known, variable), known)
        return {name: tuple(_group(known[name], *one) for one in groups.items()) for name, groups in found.items()}
    except QueryError as error:
        raise QueryError(f"{path}: {error}") from None


def _members(lines: Iterable[Line], known: Mapping[str, Attribute]) -> dict[str, dict[str, dict[str, int]]]:
    """For each variable and group its codes, each with the line that it stands in."""
    members_by_group: dict[str, dict[str, dict[str, int]]] = {}
    for number, name, group, code in lines:
        if name not in known:
            raise QueryError(f"line {number}: '{name}' is no variable of this release; {nearest(name, known)}")
        members = members_by_group.setdefault(name, {}).setdefault(group, {})
        meant = _found(known[name].levels, code, number)
        if meant in members:
            raise QueryError(
                f"line {number}: '{group}' has the code '{meant}' in line {members[meant]} too; a level counts once in "
                "a group, so leave one of the lines out."
            )
        members[meant] = number
    if not members_by_group:
        raise QueryError("it has no groups; below its head, each line names a group and a code.")
    return members_by_group


def _group(attribute: Attribute, name: str, members: Mapping[str, int]) -> Group:
    """A group none of whose codes lies under another of them."""
    for code, number in members.items():
        above = next((one for one in attribute.levels.path(code)[1:] if one in members), None)
        if above is not None:
            raise QueryError(
                f"line {number}: '{code}' lies under '{above}', which '{name}' has in line {members[above]}; "
                "everything under a code is meant, so leave one of the lines out."
            )
    return Group(name, tuple(members))


def _found(levels: Levels, code: str, line: int) -> str:
    try:
        return levels.find(code)
    except KeyError as error:
        # Spreadsheets drop leading zeros, so a code that only lacks them is the likeliest.
        full = next((one for one in levels.codes if code and one.lstrip("0") == code), None)
        said = f"'{code}' is not a level; did you mean '{full}', before a spreadsheet dropped its zeros?"
        raise QueryError(f"line {line}: {error.args[0] if full is None else said}") from None


@dataclass(frozen=True)
class RegionHeader:
    """Where in a line the group and the code stand, and the variable: in a column too, or the same for all lines."""

    columns: int
    group: int
    code: int
    attribute: int | None = None
    variable: str = ""

    @classmethod
    def of(cls, names: Sequence[str], known: Mapping[str, Attribute], variable: str | None) -> "RegionHeader":
        lower = [name.lower() for name in names]
        if "group" not in lower:
            raise QueryError(f"there is no column 'group', only {', '.join(names)}; a line names a group and a code.")
        size, group = len(names), lower.index("group")
        if "code" in lower and "attribute" in lower:
            return cls(size, group, lower.index("code"), lower.index("attribute"))
        if "code" in lower and variable:
            return cls(size, group, lower.index("code"), variable=variable)
        of = [place for place, name in enumerate(names) if name in known]
        if len(of) == 1:
            return cls(size, group, of[0], variable=names[of[0]])
        raise QueryError(
            f"it does not say which variable its codes are of; name the column of codes for it ({', '.join(known)}), "
            "or have columns group, attribute and code."
        )


def _lines(path: Path, known: Mapping[str, Attribute], variable: str | None) -> Iterator[Line]:
    """The lines below the head, each with its number, its variable, its group and its code."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            first = file.readline()
            parting = max(",;\t", key=first.count)
            names = [one.strip() for one in next(csv.reader([first], delimiter=parting), [])]
            head = RegionHeader.of(names, known, variable)
            for number, row in enumerate(csv.reader(file, delimiter=parting), 2):
                cells = [one.strip() for one in row]
                if any(cells):
                    yield _line(number, cells, head)
    except OSError:
        raise QueryError("there is no such file; give the path of a CSV file.") from None
    except (UnicodeDecodeError, csv.Error):
        raise QueryError("it cannot be read; groups are a CSV file in UTF-8 with columns group and code.") from None


def _line(number: int, cells: Sequence[str], head: RegionHeader) -> Line:
    if number > MOST_LINES:
        raise QueryError(f"it has more than {MOST_LINES:,} lines; give fewer groups at a time.")
    if len(cells) < head.columns:
        raise QueryError(f"line {number}: {len(cells)} columns where the head has {head.columns}.")
    variable = head.variable if head.attribute is None else cells[head.attribute]
    return number, variable, cells[head.group], cells[head.code]

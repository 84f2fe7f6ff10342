"""What options ask for: levels, filters and groups, as they are written after --where, --at, --group and --groups."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sfumato.cli.output import note
from sfumato.errors import QueryError

if TYPE_CHECKING:
    from sfumato.query import Axis, Group, QueryEngine


def chosen(
    answers: "QueryEngine", at: list[str] | None, group: list[str] | None, files: list[str] | None
) -> "dict[str, str | Sequence[str | Group]]":
    """What each variable shows: levels, groups written out, and groups in files."""
    from sfumato.query import read_groups

    shown = choices(pairs(at, "--at"))
    named = [_groups(group)]
    for file in files or []:
        variable, equals, path = file.partition("=")
        named.append(read_groups(path, answers, variable) if equals else read_groups(file, answers))
    for groups in named:
        for name, own in groups.items():
            levels = shown.get(name, [])
            shown[name] = [*([levels] if isinstance(levels, str) else levels), *own]
    return shown


def say_overlaps(axes: "Sequence[Axis]") -> None:
    """Say which groups share levels, as such numbers may not be added."""
    for axis in axes:
        pairs_ = [f"{axis.label(one)} and {axis.label(other)}" for one, other in axis.overlaps[:5]]
        more = len(axis.overlaps) - len(pairs_)
        if pairs_:
            rest = f", and {more:,} more pairs" if more else ""
            note(f"Of {axis.attribute.label}, {'; '.join(pairs_)}{rest} overlap: do not add them up.")


def _groups(given: list[str] | None) -> "Mapping[str, Sequence[Group]]":
    """Groups given as VARIABLE:NAME=LEVEL,LEVEL, by variable."""
    from sfumato.query import Group

    found: dict[str, list[Group]] = {}
    for one in given or []:
        variable, colon, named = one.partition(":")
        name, equals, levels = named.partition("=")
        if not colon or not equals or not levels:
            raise QueryError(f"--group {one} is not VARIABLE:NAME=LEVEL,…; for example state:Sunbelt=TX,FL,AZ.")
        own = Group(name, tuple(level.strip() for level in levels.split(",")))
        found.setdefault(variable.strip(), []).append(own)
    return found


def pairs(given: list[str] | None, option: str) -> dict[str, list[str]]:
    """What was given as NAME=LEVEL,LEVEL, by name."""
    found = {}
    for one in given or []:
        name, equals, levels = one.partition("=")
        if not equals or not levels:
            raise QueryError(f"{option} {one} is not NAME=LEVEL; for example {option} state=CA,TX.")
        found[name.strip()] = [level.strip() for level in levels.split(",")]
    return found


def choices(named: dict[str, list[str]]) -> "dict[str, str | Sequence[str | Group]]":
    """A single word is a choice such as @1 or leaves; several are levels."""
    return {name: levels[0] if len(levels) == 1 else levels for name, levels in named.items()}

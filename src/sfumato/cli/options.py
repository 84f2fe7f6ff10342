"""Options that several commands have, and what they ask for: levels, filters and groups."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.output import note
from sfumato.errors import QueryError

if TYPE_CHECKING:
    from sfumato.query import Axis, Group, QueryEngine

PlanFile = Annotated[Path, typer.Argument(metavar="PLAN", help="The plan, a TOML file.")]
Data = Annotated[
    list[str],
    typer.Option(
        "--data",
        help="The microdata: a file, a folder of Parquet files, a pattern in quotes as 'part-*.csv', file.duckdb#table "
        "or postgresql://…#table; of joined tables NAME=FILE; repeats.",
    ),
]
EngineName = Annotated[
    str,
    typer.Option("--engine", metavar="NAME", help="Which engine reads the data: arrays or duckdb; else it is chosen."),
]
SparkAddress = Annotated[
    str,
    typer.Option(
        "--spark",
        metavar="ADDRESS",
        help="The data stay in a cluster: sc://HOST:PORT of a Spark Connect server; --data is CATALOG.SCHEMA.TABLE, "
        "delta.`PATH` (VERSION AS OF NUMBER behind either is one of its versions) or a path of Parquet files that the "
        "cluster sees. A token is taken from SPARK_REMOTE.",
    ),
]
SparkToken = Annotated[
    Path | None, typer.Option("--spark-token", metavar="FILE", help="A file that holds the token for --spark.")
]
Spill = Annotated[
    Path | None,
    typer.Option(
        "--spill",
        metavar="DIR",
        help="A folder on a disk of this machine, for records that do not fit in memory: names of employers, people or "
        "records that must be told apart, and rows looked for in several files. They are kept there in parts while "
        "the command runs, encrypted by a key that is never written down, in a file without a name: nothing is left, "
        "however the command ends. The numbers are the same; `sfumato price` states memory and disk. Percentiles and "
        "regressions are not spilled.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a release.")]
Form = Annotated[str | None, typer.Option(help="text, json, csv, json-stat2, xlsx, parquet or sdmx-csv.")]
Out = Annotated[Path | None, typer.Option(help="A file to write; its ending says the format where none is given.")]
Language = Annotated[
    str, typer.Option("--language", help="The language of labels and words, as de; the release's own unless named.")
]
Within = Annotated[
    list[str] | None, typer.Option("--where", help="Only these levels: state=west or state=CA,TX; may be repeated.")
]
AtLevels = Annotated[
    list[str] | None,
    typer.Option(
        "--at", help="The level shown of a variable: occupation=@0 (top), @1, …, leaves, all, or codes; repeats."
    ),
]
OwnGroups = Annotated[
    list[str] | None,
    typer.Option("--group", help="A group of your own, summed with its error: state:Sunbelt=TX,FL,AZ; repeats."),
]
GroupFiles = Annotated[
    list[str] | None,
    typer.Option("--groups", help="A CSV file of groups, with columns group and county, or group, attribute, code."),
]


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


def say_notes(axes: "Sequence[Axis]") -> None:
    """Say what the list of levels notes of those that are shown, or of one that they lie in."""
    for axis in axes:
        levels = axis.attribute.levels
        noted = {code: told for code, told in zip(levels.codes, levels.notes, strict=True) if told}
        shown = (code for code in axis.codes if noted and axis.group(code) is None)
        found = list(dict.fromkeys(above for code in shown for above in levels.path(code) if above in noted))
        for code in found[:5]:
            note(f"{levels.label(code)}: {noted[code]}")
        if len(found) > 5:
            note(f"{len(found) - 5:,} more levels of {axis.attribute.label} have notes; the list of levels has them.")


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
    """What was given as NAME=LEVEL,LEVEL, by name; the same name again adds levels."""
    found: dict[str, list[str]] = {}
    for one in given or []:
        name, equals, levels = one.partition("=")
        if not equals or not levels:
            raise QueryError(f"{option} {one} is not NAME=LEVEL; for example {option} state=CA,TX.")
        found.setdefault(name.strip(), []).extend(level.strip() for level in levels.split(","))
    return found


def choices(named: dict[str, list[str]]) -> "dict[str, str | Sequence[str | Group]]":
    """A single word is a choice such as @1 or leaves; several are levels."""
    return {name: levels[0] if len(levels) == 1 else levels for name, levels in named.items()}

"""`sfumato reproduce`: a published table beside ours."""

import csv
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.options import Json
from sfumato.cli.output import columns, note, say, say_json
from sfumato.errors import PlanError, nearest

if TYPE_CHECKING:
    from sfumato.studies import Line, Study


def reproduce(  # noqa: PLR0913, PLR0917 - each is an option
    name: Annotated[str | None, typer.Argument(help="Which study; see --list.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the studies.")] = False,
    runs: Annotated[int | None, typer.Option(help="How many simulated runs, where it is a simulation.")] = None,
    rows: Annotated[
        int | None,
        typer.Option("--rows", "--scale", help="How many synthetic records, where it makes them: jobs of lodes."),
    ] = None,
    picture: Annotated[Path | None, typer.Option(help="Where its picture goes, .svg or .png, if it has one.")] = None,
    numbers: Annotated[Path | None, typer.Option(help="Where its points go as CSV, if it has some.")] = None,
    example: Annotated[
        Path | None, typer.Option(help="The authors' own data file: private_data_by_cells.dta for mose.", exists=True)
    ] = None,
    json: Json = False,
) -> None:
    """Compute a published table again and print it beside the published numbers."""
    from sfumato.studies import STUDIES

    if list_ or name is None:
        say(columns(["study", "what", "source"], [[one.name, one.title, one.source] for one in STUDIES.values()]))
        return
    if name not in STUDIES:
        raise PlanError(f"There is no study '{name}'; {nearest(name, STUDIES)}")
    study = STUDIES[name]
    count = runs or study.runs
    given = _given(study, count, rows)
    if count > 1:
        note(f"{count:,} runs")
    if picture is not None:
        if study.picture is None:
            drawn = ", ".join(one.name for one in STUDIES.values() if one.picture)
            raise PlanError(f"The study '{name}' has no picture; {drawn} has one.")
        note(f"The picture is {study.picture(*given if study.rows else ()).save(picture)}.")
    if numbers is not None:
        if study.records is None:
            kept = ", ".join(one.name for one in STUDIES.values() if one.records)
            raise PlanError(f"The study '{name}' has no points to keep; {kept} has some.")
        note(f"The points are in {_kept(study.records(*given), numbers)}.")
    lines = [*study.lines(*given), *(_example_lines(study, example) if example else [])]
    if json:
        say_json([asdict(line) for line in lines])
        return
    say(f"{study.title} ({study.source})\n")
    heads, shown = ["", *study.heads, ""], [[line.what, line.beside, line.ours, line.remarks] for line in lines]
    if not any(line.beside for line in lines):  # drawn without numbers, or never
        heads, shown = heads[:1] + heads[2:], [row[:1] + row[2:] for row in shown]
    say(columns(heads, shown))
    say(f"\n{study.note}")


def _given(study: "Study", runs: int, rows: int | None) -> tuple[Any, ...]:
    """What a study is asked with: runs, and where it makes data also how many rows and who is told how far it is."""
    if not study.rows and rows is not None:
        raise PlanError(f"The study '{study.name}' makes no data, so --rows says nothing of it; --runs does.")
    return (runs, rows or study.rows, note) if study.rows else (runs,)


def _example_lines(study: "Study", path: Path) -> "list[Line]":
    """What a study computes from its authors' own data."""
    if study.example is None:
        raise PlanError(f"The study '{study.name}' takes no --example; mose does: private_data_by_cells.dta.")
    return study.example(path)


def _kept(records: list[dict[str, Any]], path: Path) -> Path:
    """The path of a CSV file of records, freshly written."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
    return path

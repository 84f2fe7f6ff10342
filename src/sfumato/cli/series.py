"""The series command: one table in several releases, and what their periods are together."""

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.asked import chosen, pairs, say_overlaps
from sfumato.cli.say import note, say, say_json
from sfumato.errors import QueryError

if TYPE_CHECKING:
    from sfumato.query import SeriesTable


def series(  # noqa: PLR0913, PLR0917 - each is an option of the command
    folders: Annotated[list[Path], typer.Argument(metavar="DIR…", help="Folders of releases, one a period.")],
    rows: Annotated[
        str, typer.Option(help="The variables of the rows, for example county; the whole unless named.")
    ] = "",
    where: Annotated[list[str] | None, typer.Option(help="Only these levels: county=10,20; may be repeated.")] = None,
    at: Annotated[list[str] | None, typer.Option(help="The level shown: naics=@0 (top), @1, leaves, or codes.")] = None,
    group: Annotated[list[str] | None, typer.Option(help="A group of your own: county:Coast=10,20.")] = None,
    groups: Annotated[list[str] | None, typer.Option(help="A CSV file of groups, as for `table`.")] = None,
    of: Annotated[str | None, typer.Option(help="Which statistic, where the releases have several.")] = None,
    sum: Annotated[bool, typer.Option("--sum", help="Add the sum of each year, as for wages.")] = False,  # noqa: A002
    mean: Annotated[bool, typer.Option("--mean", help="Add the average of each year, as for jobs.")] = False,
    format: Annotated[str, typer.Option(help="text, csv or json.")] = "text",  # noqa: A002
) -> None:
    """Print a table over the periods of several releases, with the error of every number."""
    import sfumato

    if sum and mean:
        raise QueryError("--sum and --mean are asked for together; ask for one at a time.")
    opened = sfumato.series(folders)
    names = [name.strip() for name in rows.split(",") if name.strip()]
    shown = chosen(opened.engines[0], at, group, groups)
    asked = opened.table(names, pairs(where, "--where"), of, shown, "sum" if sum else "mean" if mean else None)
    say_overlaps(asked.axes)
    _say(asked, opened.warnings(), format)


def _say(asked: "SeriesTable", warnings: list[str], form: str) -> None:
    records = asked.records()
    if form == "json":
        about = {"title": asked.title, "where": asked.where, "note": asked.note, "warnings": warnings}
        say_json(about | {"citation": asked.cite(), "cells": records})
    elif form == "csv":
        writer = csv.DictWriter(sys.stdout, list(records[0]))
        writer.writeheader()
        writer.writerows(records)
    elif form == "text":
        for warning in warnings:
            say(warning)
        say(f"\n{asked}" if warnings else str(asked))
        note(f"\n± is the 90% margin of error. {asked.note}")
    else:
        raise QueryError(f"There is no format '{form}'; known: text, csv, json.")

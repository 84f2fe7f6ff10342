"""The series command: one table in several releases, and what their periods are together."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.formats import form_of, give
from sfumato.cli.options import AtLevels, Form, GroupFiles, Out, OwnGroups, Within, chosen, pairs, say_overlaps
from sfumato.errors import QueryError


def series(  # noqa: PLR0913, PLR0917 - each is an option of the command
    folders: Annotated[list[Path], typer.Argument(metavar="DIR…", help="Folders of releases, one a period.")],
    rows: Annotated[
        str, typer.Option(help="The variables of the rows, for example county; the whole unless named.")
    ] = "",
    where: Within = None,
    at: AtLevels = None,
    group: OwnGroups = None,
    groups: GroupFiles = None,
    of: Annotated[str | None, typer.Option(help="Which statistic, where the releases have several.")] = None,
    sum: Annotated[bool, typer.Option("--sum", help="Add the sum of each year, as for wages.")] = False,  # noqa: A002
    mean: Annotated[bool, typer.Option("--mean", help="Add the average of each year, as for jobs.")] = False,
    format: Form = None,  # noqa: A002
    out: Out = None,
) -> None:
    """Print a table over the periods of several releases, with the error of every number."""
    import sfumato

    if sum and mean:
        raise QueryError("--sum and --mean are asked for together; ask for one at a time.")
    opened, form = sfumato.series(folders), form_of(format, out)
    names = [name.strip() for name in rows.split(",") if name.strip()]
    shown = chosen(opened.engines[0], at, group, groups)
    asked = opened.table(names, pairs(where, "--where"), of, shown, "sum" if sum else "mean" if mean else None)
    say_overlaps(asked.axes)
    give(asked, form, out, asked.note)

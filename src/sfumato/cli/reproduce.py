"""`sfumato reproduce`: a published table beside ours."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import Json
from sfumato.cli.output import columns, note, say, say_json
from sfumato.errors import PlanError, nearest


def reproduce(
    name: Annotated[str | None, typer.Argument(help="Which study; see --list.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the studies.")] = False,
    runs: Annotated[int | None, typer.Option(help="How many simulated runs, where it is a simulation.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Where its picture goes, .svg or .png, if it has one.")] = None,
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
    if picture is not None:
        if study.picture is None:
            drawn = ", ".join(one.name for one in STUDIES.values() if one.picture)
            raise PlanError(f"The study '{name}' has no picture; {drawn} has one.")
        note(f"The picture is {study.picture().save(picture)}.")
    count = runs or study.runs
    if count > 1:
        note(f"{count:,} runs")
    lines = study.lines(count)
    if json:
        say_json([asdict(one) for one in lines])
        return
    say(f"{study.title} ({study.source})\n")
    heads, rows = ["", *study.heads, ""], [[one.what, one.published, one.ours, one.remark] for one in lines]
    if not any(one.published for one in lines):  # drawn without numbers, or never
        heads, rows = heads[:1] + heads[2:], [row[:1] + row[2:] for row in rows]
    say(columns(heads, rows))
    say(f"\n{study.note}")

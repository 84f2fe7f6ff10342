"""The microdata command: the protected rows of a release as one file."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import Folder
from sfumato.cli.output import note, say


def microdata(
    folder: Folder,
    out: Annotated[Path, typer.Option(help="The file to write, .parquet or .csv.")],
    replicates: Annotated[
        int, typer.Option(help="Replicates of each value, from which errors of any total are computed; 0 for none.")
    ] = 20,
) -> None:
    """Write protected microdata, one row a unit with all its values, and a page on how to use them."""
    import sfumato
    from sfumato.query.rows import write_rows

    answers = sfumato.open(folder)
    for warning in answers.warnings():
        note(warning)
    rows = write_rows(answers, out, replicates, _told)
    say(f"{out}: {rows:,} rows. How to use them: {out}.README.txt")


def _told(done: int, of: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{done:,} of {of:,} rows{'' if done < of else chr(10)}")

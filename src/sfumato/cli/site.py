"""The command that writes a site of files, for who may publish files and run no server."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.output import note, progress, say


def site(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR…", help="Folders of releases.")],
    out: Annotated[Path, typer.Option(help="The folder of the site; it must not be there yet.")],
    address: Annotated[
        str, typer.Option(help="Where it will lie, for citations: https://statistics.example/employment.")
    ],
    lang: Annotated[
        list[str] | None,
        typer.Option(help="A language of its pages: en or de; give it again for another. English unless said."),
    ] = None,
) -> None:
    """Write releases as a site of plain files: tables by one and two variables, charts, maps, downloads, privacy cards.

    Nothing in it needs a server or a script: it opens from a disk, and any server of files can publish it.
    """
    from sfumato.serve.still import write_site

    with progress(["pages", "written"]) as show:
        show("pages")
        made = write_site(folders, out, address, lang or ["en"], lambda done, of: show.within("pages", done, of))
        show("written")
    say(f"{made.pages:,} pages and {made.files:,} other files in {out}; open {out / 'index.html'}.")
    if made.left_out:
        note(f"Left out, as no page shows them (ask a server why; most are too large): {'; '.join(made.left_out)}.")

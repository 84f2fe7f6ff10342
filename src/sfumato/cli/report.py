"""`sfumato report`: one self-contained page for each level of a variable."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import Folder
from sfumato.cli.output import say
from sfumato.errors import QueryError, nearest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def report(
    folder: Folder,
    by: Annotated[str, typer.Option(help="The variable of which every lowest level gets a page, as university.")],
    out: Annotated[Path, typer.Option(help="The folder to write the pages to.")],
    only: Annotated[list[str] | None, typer.Option(help="Only this level; may be repeated.")] = None,
    pdf: Annotated[
        bool, typer.Option("--pdf", help="Each page as PDF as well, printed by this machine's Chromium.")
    ] = False,
) -> None:
    """Write a page with tables, means and pictures for each level of a variable, to send, print or keep."""
    import sfumato
    from sfumato.query.notices import plain_name
    from sfumato.query.report import report as page

    answers = sfumato.open(folder)
    known = {one.name: one for one in answers.release.attributes}
    if by not in known:
        raise QueryError(f"--by is '{by}', no variable of this release; {nearest(by, known)}")
    levels = known[by].levels
    wanted = [levels.find(one) for one in only] if only else levels.leaves
    out.mkdir(parents=True, exist_ok=True)
    for code in wanted:
        path = out / f"{plain_name(code)}.html"
        path.write_text(page(answers, by, code), encoding="utf-8")
        say(str(path))
        if pdf:
            say(str(_printed(path)))


def _printed(page: Path) -> Path:
    """The same page as PDF; refused where there is no browser that prints it."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise QueryError(
            f"--pdf is printed by a browser, and there is none of {', '.join(BROWSERS)} here; print {page}."
        )
    made = page.with_suffix(".pdf")
    alone = ["--no-sandbox"] * (os.geteuid() == 0)
    words = [
        found,
        "--headless",
        "--disable-gpu",
        *alone,
        "--no-pdf-header-footer",
        f"--print-to-pdf={made.absolute()}",
    ]
    done = subprocess.run([*words, page.absolute().as_uri()], capture_output=True, timeout=120, check=False)  # noqa: S603 - our own page
    if done.returncode or not made.exists():
        raise QueryError(f"{found} could not print {page}; open it in a browser and print it from there.")
    return made

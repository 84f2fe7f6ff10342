"""`sfumato suppress`: cells are kept back, and what an attacker works out of tables that keep cells back."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.cell_faults import refuse_below, refuse_unsummed
from sfumato.cli.cell_files import By, CellFiles, Files, Flag, Hidden, Known, Totals, Trees, Value
from sfumato.cli.command_list import CommandList
from sfumato.cli.options import Json
from sfumato.cli.output import columns, progress, say, say_json
from sfumato.cli.suppress_table import table

if TYPE_CHECKING:
    from sfumato.suppression import SuppressionAudit
    from sfumato.suppression.formats.table_file import TableFile


app = typer.Typer(
    cls=CommandList,
    no_args_is_help=True,
    help="Protect a table of cells, and audit tables with suppressed cells; of microdata `sfumato run` suppresses.",
)
app.command("table")(table)


@app.command("audit")
def audit(  # noqa: PLR0913, PLR0917 - each is an option of the command
    files: Files,
    by: By = "",
    value: Value = "",
    flag: Flag = "",
    hidden: Hidden = "",
    hierarchy: Trees = None,
    total: Totals = None,
    known: Known = "",
    within: Annotated[float, typer.Option(help="Flag cells known to within this share, whatever they are: 0.1.")] = 0.0,
    rounding: Annotated[float, typer.Option(help="How far published values are rounded: 0.5 for whole numbers.")] = 0.0,
    negative: Annotated[bool, typer.Option("--negative", help="Values may be negative.")] = False,
    show: Annotated[int, typer.Option("--show", help="How many cells are printed.")] = 20,
    json: Json = False,
) -> None:
    """Work out what anybody can of the suppressed cells of a published table; what is printed is confidential."""
    from sfumato.suppression import audit as attack

    refuse_below(within=within, rounding=rounding, show=show)
    asked = CellFiles(files, by, value, flag, hidden, hierarchy, total, known)
    read = asked.read()
    refuse_unsummed(read, rounding)
    published = read.published(negative=negative, rounding=rounding)
    if asked.ends:
        published = published.within(*read.known(asked.ends, rounding))
    with progress(("audit",)) as bar:
        bar("audit")
        found = attack(published, within=within, progress=bar.within)
    _say_audit(read, found, show, json)


def _say_audit(read: "TableFile", found: "SuppressionAudit", show: int, json: bool) -> None:
    from sfumato.suppression import CONFIDENTIAL

    wrong = {one.cell: one.kind for one in found.disclosures if read.suppressed[one.cell]}
    told = {
        "cells": read.linked.size,
        "suppressed": int(read.suppressed.sum()),
        "equations": read.linked.equations.count,
        "exactly known": list(wrong.values()).count("exact"),
        "narrowly known": list(wrong.values()).count("narrow"),
        "safe": not wrong,
    }
    rows = _intervals(read, found, wrong)[:show]
    if json:
        cells = [dict(zip(("cell", "low", "high", "kind"), row, strict=True)) for row in rows]
        say_json(told | {"intervals": cells, "confidential": CONFIDENTIAL})
    else:
        say("\n".join([CONFIDENTIAL, *(f"{name}: {_plainly(count)}" for name, count in told.items()), ""]))
        say(columns(["cell", "at least", "at most", ""], rows))
    if wrong:
        raise typer.Exit(1)


def _intervals(read: "TableFile", found: "SuppressionAudit", wrong: dict[int, str]) -> list[tuple[str, ...]]:
    """The cells that can be worked out with what is known of them; of all that are suppressed where none can."""
    cells = list(wrong) or [cell for cell, hidden in enumerate(read.suppressed.tolist()) if hidden]
    return [
        (read.linked.words(cell), *(f"{end:,.6g}" for end in found.interval(cell)), wrong.get(cell, ""))
        for cell in cells
    ]


def _plainly(count: Any) -> str:
    return "yes" if count is True else "no" if count is False else format(count, ",")

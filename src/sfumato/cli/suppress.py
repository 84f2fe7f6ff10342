"""`sfumato suppress`: cells are kept back, and what an attacker works out of tables that keep cells back."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.cell_faults import note_circle, public_least, refuse_below, refuse_unsummed
from sfumato.cli.cell_files import By, CellFiles, Files, Flag, Hidden, Known, Least, Totals, Trees, Value
from sfumato.cli.command_list import CommandList
from sfumato.cli.options import Json
from sfumato.cli.output import columns, progress, say, say_json
from sfumato.cli.suppress_records import (
    Fewest,
    Holding,
    Of,
    OfDominance,
    OfP,
    RecordFile,
    Records,
    Safe,
    Waived,
    Weight,
    refuse_without_records,
    rules_by,
)
from sfumato.cli.suppress_table import table
from sfumato.errors import DataError

if TYPE_CHECKING:
    from sfumato.confidential.suppress import Contributions, PrimaryRules, RecordsDecision
    from sfumato.suppression import Published, SuppressionAudit
    from sfumato.suppression.formats.table_file import TableFile


WORDS = {"short": "too certain", "published": "published"}
"""What is wrong with a cell that breaks a rule."""

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
    least: Least = None,
    within: Annotated[float, typer.Option(help="Flag cells known to within this share, whatever they are: 0.1.")] = 0.0,
    rounding: Annotated[float, typer.Option(help="How far published values are rounded: 0.5 for whole numbers.")] = 0.0,
    negative: Annotated[bool, typer.Option("--negative", help="Values may be negative.")] = False,
    data: Records = None,
    of: Of = "",
    holding: Holding = "",
    weight: Weight = "",
    minimum: Fewest = None,
    p: OfP = "",
    dominance: OfDominance = None,
    waived: Waived = "",
    safe: Safe = None,
    show: Annotated[int, typer.Option("--show", help="How many cells are printed.")] = 20,
    json: Json = False,
) -> None:
    """Work out what anybody can of the suppressed cells of a published table; what is printed is confidential.

    With --data, the records behind it, find the cells that break a rule and are less uncertain than they must be, to
    anybody, to whoever is alone in a cell, and to every holding that knows its own part.
    """
    refuse_below(within=within, rounding=rounding, show=show, least=least or 0)
    asked = CellFiles(files, by, value, flag, hidden, hierarchy, total, known)
    if data is None:
        refuse_without_records(
            of=of, holding=holding, weight=weight, minimum=minimum is not None, p=p, dominance=dominance, waived=waived,
            safe=safe,
        )  # fmt: skip
    elif within:
        raise DataError("--within is about cells whatever they are; with --data rules say how uncertain each must be.")
    read = asked.read()
    refuse_unsummed(read, rounding)
    note_circle(read)
    rules = cells = None
    if data is not None:
        rules = rules_by(read.linked, minimum, p, dominance, safe)
        cells = RecordFile(data, of or value, holding, weight, waived).contributions(read.linked)
    public = public_least(read, least, rounding, cells)
    published = read.published(negative=negative, rounding=rounding, least=public)
    if asked.ends:
        published = published.within(*read.known(asked.ends, rounding))
    if rules is None or cells is None:
        _say_audit(read, _attacked(published, within), public, show, json)
        return
    _say_decision(read, cells, _decided(published, cells, rules, public), show, json)


def _attacked(published: "Published", within: float) -> "SuppressionAudit":
    from sfumato.suppression import audit as attack

    with progress(("audit",)) as bar:
        bar("audit")
        return attack(published, within=within, progress=bar.within)


def _decided(published: "Published", cells: "Contributions", rules: "PrimaryRules", least: float) -> "RecordsDecision":
    from sfumato.confidential.suppress import decide_by_records

    with progress(("audit",)) as bar:
        bar("audit")
        return decide_by_records(published, cells, rules, least, bar.within)


def _say_decision(
    read: "TableFile", cells: "Contributions", decision: "RecordsDecision", show: int, json: bool
) -> None:
    from sfumato.suppression import CONFIDENTIAL

    found = decision.disclosures
    told = {
        "cells": read.linked.size,
        "suppressed": int(read.suppressed.sum()),
        "contributors": cells.contributors,
        "sensitive": decision.sensitive,
        "findings": len(found),
        "safe": not found,
    }
    rows = [(one.words(read.linked), WORDS[one.kind], one.attacker) for one in found[:show]]
    if json:
        wrong = [dict(zip(("cell", "kind", "attacker"), row, strict=True)) for row in rows]
        say_json(told | {"found": wrong, "confidential": CONFIDENTIAL})
    else:
        say("\n".join([CONFIDENTIAL, *(f"{name}: {_plainly(count)}" for name, count in told.items()), ""]))
        say(columns(["cell", "is", "to"], rows) if rows else "Nobody can work out more than the rules allow.")
    if found:
        raise typer.Exit(1)


def _say_audit(read: "TableFile", found: "SuppressionAudit", least: float, show: int, json: bool) -> None:
    from sfumato.suppression import CONFIDENTIAL

    wrong = {one.cell: one.kind for one in found.disclosures if read.suppressed[one.cell]}
    told = {
        "cells": read.linked.size,
        "suppressed": int(read.suppressed.sum()),
        "equations": read.linked.equations.count,
        "a suppressed cell has at least": least,
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

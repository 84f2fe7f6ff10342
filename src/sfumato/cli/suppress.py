"""`sfumato suppress`: cells are kept back, and what an attacker works out of tables that keep cells back."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.options import Json, pairs
from sfumato.cli.output import columns, note, progress, say, say_json
from sfumato.errors import DataError

if TYPE_CHECKING:
    from sfumato.confidential.suppress import Pattern, PrimaryRules
    from sfumato.suppression import SuppressionAudit
    from sfumato.suppression.formats.table_file import TableFile


app = typer.Typer(
    no_args_is_help=True,
    help="Protect a table of cells, and audit tables with suppressed cells; of microdata `sfumato run` suppresses.",
)
Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE…", help="The table: CSV or Parquet, QCEW, or a tau-ARGUS .tab with its .rda."),
]
By = Annotated[str, typer.Option("--by", help="The columns that classify cells: ACTIVITY,SIZE; of a tidy table.")]
Value = Annotated[str, typer.Option("--value", help="The column of values; of QCEW month3_emplvl unless named.")]
Flag = Annotated[
    str, typer.Option("--flag", help="The column that says which cells are suppressed; else empty values are.")
]
Hidden = Annotated[str, typer.Option("--hidden", help="The flags of suppressed cells: A,B,D.")]
Trees = Annotated[
    list[str] | None,
    typer.Option("--hierarchy", help="ACTIVITY=FILE: an .hrc file, or a CSV of code and parent; repeats."),
]
Totals = Annotated[
    list[str] | None, typer.Option("--total", help="ACTIVITY=CODE: the code of its total, else Total; repeats.")
]
Shown = Annotated[int, typer.Option("--show", help="How many cells are printed.")]


@app.command("audit")
def audit(  # noqa: PLR0913, PLR0917 - each is an option of the command
    files: Files,
    by: By = "",
    value: Value = "",
    flag: Flag = "",
    hidden: Hidden = "",
    hierarchy: Trees = None,
    total: Totals = None,
    within: Annotated[float, typer.Option(help="Flag cells known to within this share, whatever they are: 0.1.")] = 0.0,
    rounding: Annotated[float, typer.Option(help="How far published values are rounded: 0.5 for whole numbers.")] = 0.0,
    negative: Annotated[bool, typer.Option("--negative", help="Values may be negative.")] = False,
    show: Shown = 20,
    json: Json = False,
) -> None:
    """Work out what anybody can of the suppressed cells of a published table; what is printed is confidential."""
    from sfumato.suppression import audit as attack

    table = _read(files, by, value, flag, hidden, _named(hierarchy, total), ())
    faults = table.linked.faults(table.published().values, rounding)
    if len(faults):
        where = table.linked.words(int(table.linked.equations.parents[faults[0]]))
        raise DataError(
            f"{len(faults):,} totals are published with all their parts and are not their sum, the first {where}; "
            "check the hierarchy, or allow for --rounding."
        )
    with progress(("audit",)) as bar:
        bar("audit")
        found = attack(table.published(negative=negative, rounding=rounding), within=within, progress=bar.within)
    _say_audit(table, found, show, json)


def _say_audit(table: "TableFile", found: "SuppressionAudit", show: int, json: bool) -> None:
    import numpy as np

    from sfumato.suppression import CONFIDENTIAL

    wrong = [one for one in found.disclosures if table.suppressed[one.cell]]
    told = {
        "cells": table.linked.size,
        "suppressed": int(table.suppressed.sum()),
        "equations": table.linked.equations.count,
        "exactly known": sum(one.kind == "exact" for one in wrong),
        "narrowly known": sum(one.kind == "narrow" for one in wrong),
        "safe": not wrong,
    }
    first = [one.cell for one in wrong] or np.flatnonzero(table.suppressed).tolist()
    kinds = {one.cell: one.kind for one in wrong}
    rows = [
        (table.linked.words(cell), *(f"{end:,.6g}" for end in found.interval(cell)), kinds.get(cell, ""))
        for cell in first[:show]
    ]
    if json:
        cells = [dict(zip(("cell", "low", "high", "kind"), row, strict=True)) for row in rows]
        say_json(told | {"intervals": cells, "confidential": CONFIDENTIAL})
    else:
        say(CONFIDENTIAL)
        say(
            "\n".join(
                f"{name}: {'yes' if count is True else 'no' if count is False else format(count, ',')}"
                for name, count in told.items()
            )
        )
        say()
        say(columns(["cell", "at least", "at most", ""], rows))
    if wrong:
        raise typer.Exit(1)


@app.command("table")
def table(  # noqa: PLR0913, PLR0917 - each is an option of the command
    files: Files,
    out: Annotated[
        Path, typer.Option("--out", help="Where the table goes with the status of every cell; confidential.")
    ],
    by: By = "",
    value: Value = "",
    flag: Flag = "",
    hidden: Hidden = "",
    hierarchy: Trees = None,
    total: Totals = None,
    count: Annotated[str, typer.Option(help="The column of the number of contributors.")] = "",
    largest: Annotated[
        str, typer.Option(help="The columns of the largest contributions, largest first: MAX,SECOND.")
    ] = "",
    minimum: Annotated[int, typer.Option(help="The fewest contributors of a safe cell.")] = 3,
    p: Annotated[str, typer.Option("--p", help="The p% rule: 0.1 for 10%.")] = "",
    dominance: Annotated[
        list[str] | None, typer.Option(help="N,K: the N largest hold no more than K: 1,0.85; repeats.")
    ] = None,
    cost: Annotated[str, typer.Option(help="What a missing cell costs: value, log or count.")] = "value",
    clean: Annotated[int, typer.Option(help="The most programs of the clean-up.")] = 3_000,
    rounds: Annotated[int, typer.Option(help="How often the lower bound is sharpened; 0 for no bound.")] = 0,
    cuts: Annotated[int, typer.Option(help="The most programs of the lower bound.")] = 3_000,
    exact: Annotated[
        bool, typer.Option("--exact", help="Look for the best pattern there is; for small tables.")
    ] = False,
    json: Json = False,
) -> None:
    """Protect a table of cells: find the sensitive ones, and suppress others so that none can be worked out.

    Where --flag names a column of primary flags, those cells are sensitive; else rules look at --count and --largest.
    """
    from fractions import Fraction

    from sfumato.confidential.suppress import Best, PrimaryRules

    names = tuple(name for name in (count, *largest.split(",")) if name)
    read = _read(files, by, value, flag, hidden, _named(hierarchy, total), names)
    try:
        pairs_ = tuple((int(n), Fraction(k)) for n, _, k in (one.partition(",") for one in dominance or []))
        rules = PrimaryRules(minimum, Fraction(p) if p else None, pairs_)
    except ValueError:
        raise DataError("--p is a share, 0.1 for 10%, and --dominance N,K: 1,0.85 for the largest above 85%.") from None
    best = Best(clean, rounds, exact, cuts)
    found = _protected(read, rules, count, tuple(filter(None, largest.split(","))), cost, best)
    _write(read, found, out)
    _say_pattern(found, out, json)


def _protected(
    read: "TableFile", rules: "PrimaryRules", count: str, largest: tuple[str, ...], cost: str, best: Any
) -> "Pattern":
    import numpy as np

    from sfumato.confidential.suppress import Contributions, Needs, protect

    numbers = {"frequency": count, "maxscore": largest[0] if largest else ""}
    known = {name: read.numbers.get(named or name, read.numbers.get(name)) for name, named in numbers.items()}
    totals = read.values
    if np.isnan(totals).any():
        raise DataError(
            "A cell has no value; to protect a table every cell must have one, and a flag where it is sensitive."
        )
    counts = known["frequency"] if known["frequency"] is not None else np.full(len(totals), rules.minimum)
    tops = [read.numbers[name] for name in largest] or ([known["maxscore"]] if known["maxscore"] is not None else [])
    most = np.column_stack(tops) if tops else np.full((len(totals), 1), np.nan)
    _refuse_untrue(totals, counts, most)
    cells = Contributions.told(totals, np.nan_to_num(counts).astype(np.int64), most)
    asked = None
    if read.suppressed.any():
        upper = np.where(
            read.suppressed, np.maximum(read.numbers.get("upperpl", totals * float(rules.margin)), rules.least), 0
        )
        lower = np.where(read.suppressed, np.maximum(read.numbers.get("lowerpl", upper), rules.least), 0)
        asked = Needs(upper, lower, ["given" if flagged else "" for flagged in read.suppressed.tolist()])
    elif known["frequency"] is None:
        raise DataError(
            "Nothing says which cells are sensitive; name a column of flags, or of the number of contributors."
        )
    with progress(("suppression",)) as show:
        show("suppression")
        return protect(read.linked, cells, rules, cost=cost, best=best, asked=asked, progress=show.within)


def _refuse_untrue(totals: Any, counts: Any, largest: Any) -> None:
    """Stop at numbers of contributors that cannot be: such cells would be taken for safe."""
    import numpy as np

    if (np.isnan(counts) | (counts < 0) | ((counts == 0) & (totals != 0))).any():
        raise DataError("A cell has a value and no number of contributors, or one below 0; every cell needs its own.")
    if (np.nansum(largest, axis=1) > np.abs(totals) * (1 + 1e-9)).any():
        raise DataError("The largest contributions of a cell are more than its value; check --largest and --value.")


def _write(read: "TableFile", found: "Pattern", out: Path) -> None:
    """A tidy CSV of codes, value, status and reason; a .tab file for tau-ARGUS where it ends so."""
    import csv

    import numpy as np

    if out.suffix in {".tab", ".asc"}:
        from sfumato.suppression.formats.argus import STATUSES, write_argus

        few = "fewer than"
        letters = [
            STATUSES.get(status, "A" if few in reason else "B")
            for status, reason in zip(found.statuses, found.reasons, strict=True)
        ]
        write_argus(read, np.where(found.suppressed, np.nan, read.values), letters, out.parent, out.stem)
        return
    names = read.linked.attributes
    codes = [read.linked.column(name) for name in names]
    with out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*names, "value", "status", "reason"])
        for cell in np.flatnonzero(read.rows >= 0).tolist():
            value = "" if found.suppressed[cell] else f"{read.values[cell]:.15g}"
            writer.writerow(
                [*(column[cell] or "Total" for column in codes), value, found.statuses[cell], found.reasons[cell]]
            )


def _say_pattern(found: "Pattern", out: Path, json: bool) -> None:
    told: dict[str, Any] = {status: found.count(status) for status in ("published", "primary", "secondary")}
    told |= {"suppressed share": round(found.share, 4), "cost": found.cost, "lower bound": found.bound or None}
    told |= {"programs": found.work.programs + found.work.tried, "clean-up complete": found.work.complete}
    told |= {"bound complete": found.work.bounded} if found.bound else {}
    if json:
        say_json(told | {"out": str(out)})
        return
    say("\n".join(f"{name}: {count}" for name, count in told.items() if count is not None))
    if not found.work.complete:
        note("The clean-up was cut short by --clean; some secondary cells may not be needed.")
    if found.bound and not found.work.bounded:
        note("The lower bound was cut short by --cuts or --rounds; the pattern may be nearer to the best than it says.")
    say(f"{out} has the status of every cell; every cell was audited.")


def _named(hierarchy: list[str] | None, total: list[str] | None) -> tuple[dict[str, Path], dict[str, str]]:
    trees = {name: Path(found[0]) for name, found in pairs(hierarchy, "--hierarchy").items()}
    return trees, {name: found[0] for name, found in pairs(total, "--total").items()}


def _read(
    files: list[Path],
    by: str,
    value: str,
    flag: str,
    hidden: str,
    named: tuple[dict[str, Path], dict[str, str]],
    numbers: tuple[str, ...],
) -> "TableFile":
    """A table by what its file is: tau-ARGUS by its ending, QCEW where no columns are named, else tidy."""
    from sfumato.suppression.formats.argus import read_argus
    from sfumato.suppression.formats.qcew import read_qcew
    from sfumato.suppression.formats.tidy import Tidy

    if files[0].suffix.lower() in {".tab", ".asc"}:
        return read_argus(files[0])
    if not by:
        return read_qcew(files[0], value or "month3_emplvl")
    if not value:
        raise DataError("A tidy table needs --value, the column of its values, beside --by.")
    codes = tuple(code.strip() for code in hidden.split(",")) if hidden else ()
    trees, totals = named
    return Tidy(tuple(by.split(",")), value, flag, codes, trees, totals, numbers=numbers).read(files)

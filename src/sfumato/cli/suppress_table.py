"""`sfumato suppress table`: a table of cells that was made elsewhere is protected."""

import csv
import io
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.cell_faults import note_circle, refuse_below, refuse_unsummed
from sfumato.cli.cell_files import ARGUS, By, CellFiles, Files, Flag, Hidden, Known, Least, Totals, Trees, Value
from sfumato.cli.options import Json
from sfumato.cli.output import note, progress, say, say_json
from sfumato.cli.private_file import refuse_place, written_privately
from sfumato.cli.suppress_rules import FEWEST, Dominance, Minimum, P, rules_of
from sfumato.cli.time_left import TimeLeft
from sfumato.errors import DataError, how_many

if TYPE_CHECKING:
    from sfumato.confidential.suppress import Best, Contributions, Needs, Pattern, PrimaryRules, Prior
    from sfumato.suppression.formats.table_file import TableFile

WHOLE_NUMBERS = 0.5
"""How far a value of a table to be protected may be rounded: to whole numbers."""
MOST_CONTRIBUTORS = 2**53
OUTSIDERS = (
    "Contributors who know their own part of a cell were not looked at: it is not known which cells have one alone. "
    "Name the column of the number of contributors with --count."
)
SHORTER = "Quicker: --no-contributors, --clean 500, --exchanges 0."
UNASKED = "Contributors who know their own part of a cell were not looked at, as --no-contributors asks."
SINGLE = (
    "Cells are protected from anybody, and from whoever is alone in a cell and knows it; the largest contributors of "
    "other cells are not known by name, as they are to a plan with [suppress]."
)


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
    known: Known = "",
    least: Least = None,
    count: Annotated[str, typer.Option(help="The column of the number of contributors.")] = "",
    largest: Annotated[
        str, typer.Option(help="The columns of the largest contributions, largest first: MAX,SECOND.")
    ] = "",
    contributors: Annotated[
        bool,
        typer.Option(help="Protect cells from whoever is alone in another as well, where --count tells; far slower."),
    ] = True,
    minimum: Minimum = FEWEST,
    p: P = "",
    dominance: Dominance = None,
    cost: Annotated[str, typer.Option(help="What a missing cell costs: value, log or count.")] = "value",
    clean: Annotated[int, typer.Option(help="The most programs of a clean-up.")] = 3_000,
    rounds: Annotated[int, typer.Option(help="How often the lower bound is sharpened; 0 for no bound.")] = 0,
    cuts: Annotated[int, typer.Option(help="The most programs of the lower bound, and of patterns beside it.")] = 1_000,
    exchanges: Annotated[
        int, typer.Option(help="The most programs by which cells are exchanged for others that cost less; 0 for none.")
    ] = 1_000,
    exact: Annotated[
        bool, typer.Option("--exact", help="Look for the best pattern there is; for small tables.")
    ] = False,
    json: Json = False,
) -> None:
    """Protect a table of cells: find the sensitive ones, and suppress others so that none can be worked out.

    Where --flag names a column of primary flags, those cells are sensitive; else rules look at --count and --largest.
    """
    from sfumato.confidential.suppress import Best

    asked, rules = (
        CellFiles(files, by, value, flag, hidden, hierarchy, total, known),
        rules_of(minimum, p, dominance),
    )
    _refuse_out(asked, out)
    refuse_below(clean=clean, rounds=rounds, cuts=cuts, exchanges=exchanges, least=least or 0)
    tops = tuple(name.strip() for name in largest.split(",") if name.strip())
    read = asked.read(tuple(filter(None, (count, *tops))))
    note_circle(read)
    told = _Told.of(read, rules, count, tops, asked.ends, least)
    found = told.protected(cost, contributors, Best(clean, rounds, exact, cuts, exchanges))
    _write(read, found, out, asked.ends)
    _say_pattern(found, out, _against(told.counted, contributors), told.prior, json)


def _against(counted: bool, contributors: bool) -> str:
    """Against whom cells were protected."""
    return UNASKED if not contributors else SINGLE if counted else OUTSIDERS


def _refuse_out(asked: CellFiles, out: Path) -> None:
    """A pattern that could not be written, or would be written over what it is made of, is not looked for."""
    refuse_place(out)
    if out.suffix.lower() == ".asc":
        raise DataError(f"{out} would be a table without separators, which is read and not written; name it .tab.")
    argus = out.suffix.lower() in ARGUS
    if argus and len(asked.files) > 1:
        raise DataError(
            f"{out} would hold one table, and {len(asked.files)} files were given; write linked ones as CSV."
        )
    doubled = [name for name, trees in asked.trees.items() if len(trees) > 1]
    if argus and doubled:
        raise DataError(
            f"{out} would need one hierarchy of '{doubled[0]}', and {len(asked.trees[doubled[0]])} were given; write "
            "the pattern as CSV."
        )
    made = {out.resolve(), *([out.with_suffix(".rda").resolve()] if argus else [])}
    for path in asked.read_from:
        if path.resolve() in made or (argus and path.resolve().match(f"{out.resolve().with_suffix('')}_*.hrc")):
            raise DataError(f"{out} would be written over {path}, which it is made of; name another file.")


@dataclass(frozen=True, eq=False)
class _Told:
    """What a file tells of its cells: contributions, and needs where it says which cells are sensitive."""

    read: "TableFile"
    rules: "PrimaryRules"
    cells: "Contributions"
    needs: "Needs | None"
    counted: bool
    """Whether the number of contributors of each cell is known."""
    prior: "Prior"

    @classmethod
    def of(
        cls, read: "TableFile", rules: "PrimaryRules", count: str, largest: tuple[str, ...], ends: tuple[str, ...],
        least: float | None,
    ) -> "_Told":  # fmt: skip
        import numpy as np

        from sfumato.confidential.suppress import Contributions, Prior

        totals = read.values
        if np.isnan(totals).any():
            raise DataError(
                "A cell has no value; to protect a table every cell must have one, and a flag where it is sensitive."
            )
        refuse_unsummed(read, WHOLE_NUMBERS)
        known = read.numbers.get(count or "frequency")
        counts = np.full(len(totals), max(rules.minimum, 2)) if known is None else known
        tops = _largest(read, largest)
        _refuse_untrue(totals, counts, tops)
        cells = Contributions.told(totals, counts.astype(np.int64), tops)
        needs = _given(read, rules) if read.suppressed.any() else None
        if needs is None:
            _refuse_unlisted(rules, counts, tops)
        if needs is None and (known is None or not rules.any):
            raise DataError(
                "Nothing says which cells are sensitive; name a column of flags, or of the number of contributors and "
                "a rule: --minimum 3, --p 0.1 or --dominance 1,0.85."
            )
        _refuse_less(read, cells, least)
        record = 1.0 if least is None and known is not None and np.array_equal(totals, known) else least
        prior = Prior.of(totals, cells.counts > 0, record)
        if ends:
            prior = prior.within(*read.known(ends))
        return cls(read, replace(rules, record=prior.record), cells, needs, known is not None, prior)

    def protected(self, cost: str, contributors: bool, best: "Best") -> "Pattern":
        from sfumato.confidential.suppress import protect

        with progress(("suppression",)) as show:
            show("suppression")
            return protect(
                self.read.linked, self.cells, self.rules,
                cost=cost, best=best, asked=self.needs, prior=self.prior, progress=TimeLeft(show.within, SHORTER),
                contributors=self.counted and contributors, forced=self._forced,
            )  # fmt: skip

    @property
    def _forced(self) -> list[dict[str, str]]:
        """The cells that the file says must be published."""
        held = [] if self.read.held is None else self.read.held.nonzero()[0].tolist()
        return [self.read.linked.named(cell) for cell in held]


def _largest(read: "TableFile", names: tuple[str, ...]) -> Any:
    """The largest contributions of each cell, a column a rank: those that are named, or that a tau-ARGUS file has."""
    import numpy as np

    ranked = names or tuple(sorted(name for name in read.numbers if name.startswith("maxscore")))
    return np.column_stack([read.numbers[name] for name in ranked] or [np.full(len(read.values), np.nan)])


def _given(read: "TableFile", rules: "PrimaryRules") -> "Needs":
    """What the cells that a file flags must stay uncertain by, to those who are in other cells as well."""
    import numpy as np

    from sfumato.confidential.suppress import Needs

    def need(name: str, otherwise: Any) -> Any:
        told = read.numbers.get(name, otherwise)
        least = np.maximum(np.where(np.isnan(told), otherwise, told), rules.least)
        return np.where(read.suppressed, least, 0)

    upper = need("upperpl", np.abs(read.values) * float(rules.margin))
    flagged = ["given" if one else "" for one in read.suppressed.tolist()]
    return Needs(upper, need("lowerpl", upper), flagged, others=upper)


def _refuse_untrue(totals: Any, counts: Any, largest: Any) -> None:
    """Stop at numbers of contributors that cannot be: such cells would be taken for safe."""
    import numpy as np

    if (np.isnan(counts) | (counts < 0) | ((counts == 0) & (totals != 0))).any():
        raise DataError("A cell has a value and no number of contributors, or one below 0; every cell needs its own.")
    if ((counts != np.rint(counts)) | (counts > MOST_CONTRIBUTORS)).any():
        raise DataError(
            "A number of contributors is not whole, or beyond counting; --count names the column of how many there are."
        )
    if (np.nansum(largest, axis=1) > np.abs(totals) * (1 + 1e-9)).any():
        raise DataError("The largest contributions of a cell are more than its value; check --largest and --value.")


def _refuse_unlisted(rules: "PrimaryRules", counts: Any, largest: Any) -> None:
    """Stop at contributions that a rule looks at and that are not there: taken for 0, they make a cell safe."""
    import numpy as np

    asked = max([2 if rules.p is not None else 0, *(n for n, _ in rules.dominance)])
    ranks = np.arange(min(asked, largest.shape[1]))
    if (np.isnan(largest[:, ranks]) & (counts[:, None] > ranks)).any():
        raise DataError(
            f"A rule looks at the {asked} largest contributions of a cell, and one of a cell that has it is missing; "
            "give it in the columns that --largest names, or leave the rule out."
        )


def _refuse_less(read: "TableFile", cells: "Contributions", least: float | None) -> None:
    """Stop at a cell that has less than everybody is said to know that it has."""
    less = (cells.counts > 0) & (cells.totals < (least or 0)) if least else cells.counts < 0
    if less.any():
        raise DataError(
            f"{how_many(int(less.sum()), 'cell', 'has', 'have')} less than --least {least:g}, the first "
            f"{read.linked.words(int(less.nonzero()[0][0]))}; give what every contributor adds at least."
        )


def _write(read: "TableFile", found: "Pattern", out: Path, ends: tuple[str, ...]) -> None:
    """A tidy CSV of codes, value, what is known, status and reason; a .tab file for tau-ARGUS where it ends so."""
    import numpy as np

    if out.suffix.lower() in ARGUS:
        from sfumato.suppression.formats.argus import STATUSES, write_argus

        few = "fewer than"
        letters = [
            STATUSES.get(status, "A" if few in reason else "B")
            for status, reason in zip(found.statuses, found.reasons, strict=True)
        ]
        write_argus(read, np.where(found.suppressed, np.nan, read.values), letters, out.parent, out.stem)
        return
    names, text = read.linked.attributes, io.StringIO()
    codes = [read.codes(name) for name in names]
    writer = csv.writer(text)
    writer.writerow([*names, "value", *ends, "status", "reason"])
    for cell in np.flatnonzero(read.rows >= 0).tolist():
        value = np.nan if found.suppressed[cell] else read.values[cell]
        numbers = [
            "" if np.isnan(one) else f"{one:.15g}" for one in (value, *(read.numbers[end][cell] for end in ends))
        ]
        writer.writerow([*(column[cell] for column in codes), *numbers, found.statuses[cell], found.reasons[cell]])
    written_privately(out, text.getvalue())


def _finite(least: float) -> float | None:
    """A bound; none where cells may be negative."""
    return float(least) if least > -math.inf else None


def _say_pattern(found: "Pattern", out: Path, against: str, prior: "Prior", json: bool) -> None:
    told: dict[str, Any] = {status: found.count(status) for status in ("published", "primary", "secondary")}
    told |= {"suppressed share": round(found.share, 4), "cost": found.cost, "lower bound": found.bound or None}
    told |= {"above the bound": round(found.gap, 4)} if found.bound else {}
    told |= {"programs": found.work.programs + found.work.tried, "clean-up complete": found.work.complete}
    told |= {"bound complete": found.work.bounded} if found.bound else {}
    told |= {"a suppressed cell has at least": _finite(prior.ends.min()), "whole numbers": prior.whole}
    if json:
        say_json(told | {"single contributors": against == SINGLE, "out": str(out)})
        return
    say("\n".join(f"{name}: {count}" for name, count in told.items() if count is not None))
    if not found.work.complete:
        note("The clean-up was cut short by --clean; some secondary cells may not be needed.")
    if found.bound and not found.work.bounded:
        note("The lower bound was cut short by --cuts or --rounds; the pattern may be nearer to the best than it says.")
    say(f"{out} has the status of every cell; every cell was audited. {against}")

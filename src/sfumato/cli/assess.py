"""The command `assess`: risk and utility of a release against the true data, for the agency's own eyes."""

import os
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.agency import opened
from sfumato.cli.options import Data, EngineName, Json, PlanFile, pairs
from sfumato.cli.output import CONFIDENTIAL, columns, progress, say, say_json
from sfumato.errors import ReleaseError

if TYPE_CHECKING:
    from sfumato.confidential import Microdata
    from sfumato.plan import Plan

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
READ = """The 90% margins, about nine in ten of which should hold, are held against two numbers: what the noise was
added to, after clip and at_most, and the data as they are. Of few cells it is said how many: 3 of 5 says little."""


def assess(  # noqa: PLR0913, PLR0917 - one argument an option
    plan: PlanFile,
    data: Data,
    release: Annotated[
        list[Path], typer.Option(help="The folder of a release; several, of whatever plans, are laid side by side.")
    ],
    out: Annotated[Path, typer.Option(help="The report, an HTML file that only its owner may read.")],
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            help="Other budgets to rehearse: epsilon=0.5,1 (mu, rho: as the limit), cap=3,7, controls=0.2; may repeat."
        ),
    ] = None,
    draws: Annotated[int, typer.Option(help="Rehearsal draws of each budget of a sweep.")] = 5,
    table: Annotated[
        list[str] | None,
        typer.Option(help="Look at this table only: occupation,education, or naics@1,county; may be repeated."),
    ] = None,
    near_zero: Annotated[float, typer.Option(help="Nearer to 0 than this many records is zero.")] = 0.5,
    least: Annotated[int | None, typer.Option(help="The records that a publishable cell has; else the plan's.")] = None,
    largest_cv: Annotated[float | None, typer.Option(help="The CV of a publishable estimate; else the plan's.")] = None,
    least_weighted: Annotated[
        float | None, typer.Option(help="The weighted frequency of a publishable cell; else the plan's.")
    ] = None,
    engine: EngineName = "",
    json: Json = False,
) -> None:
    """Compare a release with the microdata: what it still gives away and what it is still good for; confidential."""
    from sfumato.confidential.assessment import STAGES, ReportRules, Sweep
    from sfumato.confidential.assessment import assess as compare
    from sfumato.confidential.assessment.honesty import broken, missed
    from sfumato.plan import Plan

    read = Plan.read(plan)
    for folder in release:
        _refuse_place(out, folder)
    if len(release) > 1 or not read.over.table_by_table(read.measures):
        _side_by_side(read, opened(data, read, engine), release, table or [], out, json, sweep)
        return
    own = {"near_zero": near_zero, "least": least, "largest_cv": largest_cv, "least_weighted": least_weighted}
    rules = ReportRules.read(read, table or (), **own)
    asked = Sweep.read(read, pairs(sweep, "--sweep"), draws) if sweep else None
    with progress(STAGES) as show:
        assessment = compare(read, opened(data, read, engine), release[0], rules, asked, show)
    written_privately(out, assessment.to_html())
    if json:
        say_json(assessment.numbers)
    else:
        say(f"{CONFIDENTIAL}\n")
        say(f"{_summary(assessment.numbers)}\n\n{READ}")
        for one in broken(assessment.numbers):
            say(f"\nTHE STATED MARGINS DO NOT HOLD. {one}; do not publish before you know why.")
        for one in missed(assessment.numbers):
            say(f"\nTHE STATED MARGINS DO NOT HOLD THE DATA AS THEY ARE. {one}.")
        for words in dict.fromkeys(
            one["bounds"]["fit"] for one in assessment.numbers["products"] if one["bounds"]["fit"]
        ):
            say(f"\n{words}")
        if assessment.numbers["sweep"]:
            say(f"\n{_swept(assessment.numbers['sweep'])}")
        say(f"\nThe report is {out}; only you may read it, and it must stay inside.")


def _side_by_side(
    plan: "Plan", microdata: "Microdata", releases: list[Path], tables: list[str], out: Path, json: bool, sweep: Any
) -> None:
    """Releases beside the truth and each other: cells lost, errors, and what an attacker gets."""
    from sfumato.confidential.assessment import side_by_side
    from sfumato.errors import PlanError

    if sweep:
        raise PlanError(
            "--sweep rehearses the plan of one release over tables; leave it out to lay releases side by side."
        )
    with progress(("read", "compared", "attacked")) as show:
        found = side_by_side(plan, microdata, releases, tables, show)
    written_privately(out, found.to_html())
    if json:
        say_json(found.numbers)
        return
    say(f"{CONFIDENTIAL}\n\n{_releases(found.numbers)}\n\n{_compared(found.numbers)}\n\n{_attacks(found.numbers)}")
    say(f"\nThe report is {out}; only you may read it, and it must stay inside.")


def _releases(numbers: dict[str, Any]) -> str:
    rows = [
        [letter, one["title"], "; ".join(one["mechanisms"])]
        for letter, one in zip(LETTERS, numbers["releases"], strict=False)
    ]
    return columns(["release", "title", "how it was protected"], rows)


def _compared(numbers: dict[str, Any]) -> str:
    """For each statistic and size of cells what every release loses, and how far it is off."""
    from sfumato.confidential.assessment.layout import count

    letters = LETTERS[: len(numbers["releases"])]
    heads = [f"{one}: {what}" for one in letters for what in ("lost", "within 10%", "median error")]
    rows = []
    for statistic in numbers["statistics"]:
        for row in statistic["sizes"]:
            cells = [share for one in row["releases"] for share in _shares(one)]
            rows.append([statistic["title"], row["size"], count(row["cells"]), *cells])
    return columns(["statistic", f"{numbers['unit']}s in a cell", "cells", *heads], rows, numbers=1 + len(heads))


def _shares(told: dict[str, Any] | None) -> list[str]:
    """What of some cells a release loses and has near the truth, and its median error; dashes where it answers none."""
    from sfumato.confidential.assessment.layout import percent

    found = (told["lost"] / told["cells"], told["near"] / told["cells"], told["median"]) if told else (None,) * 3
    return [percent(one) for one in found]


def _attacks(numbers: dict[str, Any]) -> str:
    """What an attacker gets out of each release."""
    from sfumato.confidential.assessment.layout import percent

    unit = numbers["unit"]
    said: list[tuple[str, Any]] = [
        ("power of the best test at 5%", lambda one: percent(one["power"]) if one["promise"] else "no bound"),
        (f"cells of one {unit} with a number", lambda one: _of(one["single"], "published")),
        ("  within 1% of what it has", lambda one: _of(one["single"], "known")),
        ("  within 10%", lambda one: _of(one["single"], "near")),
        ("  a ratio of two of its numbers within 1%", lambda one: _of(one["ratios"], "known")),
        ("withheld cells that can be worked out", lambda one: _of(one["withheld"], "exact")),
        ("  or to within 10%", lambda one: _of(one["withheld"], "near")),
    ]
    rows = [[words, *(told(one) for one in numbers["attacks"])] for words, told in said]
    return columns(
        ["what an attacker gets", *LETTERS[: len(numbers["releases"])]], rows, numbers=len(numbers["releases"])
    )


def _of(told: dict[str, int] | None, name: str) -> str:
    return f"{told[name]:,} of {told['cells']:,}" if told else "–"


def _refuse_place(out: Path, release: Path) -> None:
    """A report inside a release would be published with it."""
    if out.resolve().is_relative_to(release.resolve()):
        raise ReleaseError(f"{out} lies inside the release {release}; a confidential report stays outside of it.")
    if not out.parent.is_dir() or out.is_dir():
        raise ReleaseError(f"{out} cannot be written: its folder is not there, or it is a folder itself.")


def written_privately(out: Path, content: str) -> None:
    """Write a file whole or not at all, readable by its owner alone from its first byte on."""
    handle, part = mkstemp(prefix=f".{out.name}.", suffix=".partial", dir=out.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(content)
        Path(part).replace(out)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(part).unlink()
        raise


def _summary(numbers: dict[str, Any]) -> str:
    """A line for every product and dimension of table."""
    from sfumato.confidential.assessment.layout import count, hits, parts, percent

    heads = ["table", "cells", "median relative error", "grade A", "hold before noise", "hold the data", "zeros moved"]
    rows = []
    for name, _, part in parts(numbers):
        relative, one = percent(part["differences"]["relative"][1]), part["honesty"]
        held = [hits(one[key], one["cells"]) for key in ("held", "truth")]
        moved = f"{part['flips']['to_nonzero']:,} of {part['flips']['zeros']:,}"
        newly = f"{part['publishable']['newly']:,} of {part['publishable']['cells']:,}"
        rows.append([name, count(part["cells"]), relative, hits(part["grade_a"], part["stated"]), *held, moved, newly])
    return columns([*heads, "newly publishable"], rows, numbers=7)


def _swept(sweep: dict[str, Any]) -> str:
    """A line for every budget that was tried and every product, or why one was not."""
    from sfumato.confidential.assessment.layout import percent

    heads = ["rehearsed at", "table", "median relative error", "grade A", "hold before noise", "power at 5%"]
    rows = []
    for point in sweep["points"]:
        if point["refused"]:
            rows.append([point["words"], point["refused"], "", "", "", ""])
        for one in point["utilities"]:
            told = [percent(one[name]) for name in ("relative", "grade_a", "held")]
            rows.append([point["words"], one["product"], *told, percent(point["power"])])
    return columns(heads, rows, numbers=4)

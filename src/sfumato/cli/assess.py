"""The command `assess`: risk and utility of a release against the true data, for the agency's own eyes."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.agency import opened
from sfumato.cli.assess_words import assessed, beside
from sfumato.cli.options import Data, EngineName, Json, PlanFile, SparkAddress, SparkToken, Spill, pairs
from sfumato.cli.output import CONFIDENTIAL, progress, say, say_json
from sfumato.cli.private_file import refuse_place, written_privately
from sfumato.errors import ReleaseError

if TYPE_CHECKING:
    from sfumato.confidential import Microdata
    from sfumato.plan import Plan


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
    spark: SparkAddress = "",
    spark_token: SparkToken = None,
    spill: Spill = None,
    json: Json = False,
) -> None:
    """Compare a release with the microdata: what it still gives away and what it is still good for; confidential."""
    from sfumato.confidential.assessment import STAGES, ReportRules, Sweep
    from sfumato.confidential.assessment import assess as compare
    from sfumato.plan import Plan

    read = Plan.read(plan)
    for folder in release:
        _refuse_inside(out, folder)
    if len(release) > 1 or not read.over.table_by_table(read.measures):
        _side_by_side(
            read, opened(data, read, engine, spark, spark_token, spill), release, table or [], out, json, sweep
        )
        return
    own = {"near_zero": near_zero, "least": least, "largest_cv": largest_cv, "least_weighted": least_weighted}
    rules = ReportRules.read(read, table or (), **own)
    asked = Sweep.read(read, pairs(sweep, "--sweep"), draws) if sweep else None
    with progress(STAGES) as show:
        assessment = compare(
            read, opened(data, read, engine, spark, spark_token, spill), release[0], rules, asked, show
        )
    written_privately(out, assessment.to_html())
    _say(assessment.numbers, assessed, out, json)


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
    _say(found.numbers, beside, out, json)


def _say(numbers: dict[str, Any], words: Callable[[dict[str, Any]], list[str]], out: Path, json: bool) -> None:
    if json:
        say_json(numbers)
        return
    say("\n\n".join([CONFIDENTIAL, *words(numbers)]))
    say(f"\nThe report is {out}; only you may read it, and it must stay inside.")


def _refuse_inside(out: Path, release: Path) -> None:
    """A report inside a release would be published with it."""
    if out.resolve().is_relative_to(release.resolve()):
        raise ReleaseError(f"{out} lies inside the release {release}; a confidential report stays outside of it.")
    refuse_place(out)

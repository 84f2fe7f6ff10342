"""The command `tabulate`: the true table with design-based standard errors, for the agency's own eyes."""

import math
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.agency import opened
from sfumato.cli.options import (
    AtLevels,
    Data,
    EngineName,
    Json,
    PlanFile,
    SparkAddress,
    SparkToken,
    Spill,
    Within,
    choices,
    pairs,
)
from sfumato.cli.output import CONFIDENTIAL, columns, say, say_json
from sfumato.errors import QueryError

if TYPE_CHECKING:
    from sfumato.confidential.estimands import Estimand
    from sfumato.confidential.true_table import TrueTable
    from sfumato.plan import Plan
    from sfumato.query import Estimate

NOTHING = "–"


def tabulate(  # noqa: PLR0913, PLR0917 - one argument an option
    plan: PlanFile,
    data: Data,
    rows: Annotated[str, typer.Option(help="The variables of the rows, for example occupation,sex.")] = "",
    cols: Annotated[str | None, typer.Option(help="The variable of the columns.")] = None,
    where: Within = None,
    at: AtLevels = None,
    total: Annotated[str | None, typer.Option(metavar="COLUMN", help="The total of a column.")] = None,
    mean: Annotated[str | None, typer.Option(metavar="COLUMN", help="The mean of a column.")] = None,
    ratio: Annotated[
        str | None, typer.Option(metavar="OVER/UNDER", help="The total of a column over another's.")
    ] = None,
    share: Annotated[
        list[str] | None, typer.Option(help="A rate: the share of a cell that is in these levels; may be repeated.")
    ] = None,
    measure: Annotated[
        str | None, typer.Option(metavar="NAME", help="What a measure of the plan is of, such as a median.")
    ] = None,
    percent: Annotated[bool, typer.Option("--percent", help="The share of each cell in its row.")] = False,
    engine: EngineName = "",
    spark: SparkAddress = "",
    spark_token: SparkToken = None,
    spill: Spill = None,
    json: Json = False,
) -> None:
    """Print the true table with design-based standard errors; it is confidential and nothing is charged."""
    from sfumato.confidential.true_table import TableLayout, true_table
    from sfumato.plan import Plan

    read = Plan.read(plan)
    names = [name.strip() for name in rows.split(",") if name.strip()]
    layout = TableLayout(names, cols, pairs(where, "--where"), choices(pairs(at, "--at")))
    of = _estimand(read, measure, total, mean, ratio, share, percent)
    table = true_table(read, opened(data, read, engine, spark, spark_token, spill), layout, of)
    if json:
        head = {"confidential": True, "notice": CONFIDENTIAL, "title": table.title, "method": table.method}
        head |= {"where": layout.where}
        say_json(head | {"cells": table.records()})
    else:
        only = layout.only(read)
        said = [table.title, *([f"Only {only}."] if only else []), table.method]
        say("\n".join([CONFIDENTIAL, "", *said, ""]))
        say(_crossed(table) if table.has_columns else _listed(table))


def _estimand(
    plan: "Plan",
    measure: str | None,
    total: str | None,
    mean: str | None,
    ratio: str | None,
    share: list[str] | None,
    percent: bool,
) -> "Estimand":
    """What is asked for, the number of records if nothing is and the plan measures something that counts or sums."""
    from sfumato.confidential.estimands import MeanOf, MeasureOf, RatioOf, ShareOf, ShareOfRow, TotalOf

    if sum(map(bool, (total, mean, ratio, share, percent, measure))) > 1:
        raise QueryError(
            "A table shows one thing: choose one of --total, --mean, --ratio, --share, --percent and --measure."
        )
    if measure:
        return MeasureOf(plan.measure(measure))
    if mean:
        return MeanOf(mean)
    if share:
        return ShareOf(pairs(share, "--share"))
    if ratio:
        over, slash, under = ratio.partition("/")
        if not (slash and over.strip() and under.strip()):
            raise QueryError(f"--ratio {ratio} is not OVER/UNDER, two columns; for example --ratio wages/hours.")
        return RatioOf(over.strip(), under.strip())
    if not (percent or total or any(measure.of.additive for measure in plan.measures)):
        names = " or ".join(f"--measure {measure.name}" for measure in plan.measures)
        raise QueryError(f"The plan counts nothing; say what the table shows: {names}, or --total and a column.")
    return ShareOfRow() if percent else TotalOf(total)


def _listed(table: "TrueTable") -> str:
    """One line a cell, with everything about it."""
    heads = [*(axis.attribute.label for axis in table.axes), "estimate", "SE", "CV", "MOE 90%", "records"]
    lines = []
    for place, estimate in table.items():
        labels = [axis.labels[index] for axis, index in zip(table.axes, place, strict=True)]
        lines.append([*labels, *_errors(estimate), f"{table.sample[place]:,}"])
    return columns(heads, lines, numbers=5)


def _crossed(table: "TrueTable") -> str:
    """Rows by columns, each estimate with its standard error in brackets."""
    *row_axes, last = table.axes
    lines: dict[tuple[int, ...], list[str]] = {}
    for place, estimate in table.items():
        labels = [axis.labels[index] for axis, index in zip(row_axes, place, strict=False)]
        value, error, *_ = _errors(estimate)
        lines.setdefault(place[:-1], labels).append(value if error in {"", NOTHING} else f"{value} ({error})")
    heads = [*(axis.attribute.label for axis in row_axes), *last.labels]
    return columns(heads, list(lines.values()), numbers=len(last.codes)) + "\n\nIn brackets the standard error."


def _errors(estimate: "Estimate | None") -> tuple[str, str, str, str]:
    """The estimate and its errors as text, the errors to three digits; a census has none."""
    if estimate is None:
        return NOTHING, NOTHING, NOTHING, NOTHING
    error, margin, cv = estimate.se, estimate.moe(), estimate.cv
    if not (isinstance(error, float) and isinstance(margin, float) and isinstance(cv, float)):
        return _plain(estimate.value, 0.0), NOTHING, NOTHING, NOTHING
    share = f"{cv:.1%}" if math.isfinite(cv) else NOTHING
    return _plain(estimate.value, error), _plain(error, error), share, _plain(margin, error)


def _plain(value: float, error: float) -> str:
    """A number to the third digit of its error, whole numbers without decimals, a true minus sign.

    >>> _plain(397136, 640.1), _plain(43.7270848, 0.115979), _plain(-0.5, 0)
    ('397,136', '43.727', '−0.500000')
    """
    decimals = 6 if error == 0 else min(max(0, 2 - math.floor(math.log10(error))), 10)
    return f"{value:,.{0 if value == round(value) else decimals}f}".replace("-", "−")

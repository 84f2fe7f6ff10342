"""The price command: what a plan costs, what it hides at which size, and what a year of it comes to."""

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.implied import implied_table
from sfumato.cli.options import Json, PlanFile
from sfumato.cli.output import columns, say, say_json
from sfumato.errors import PlanError

if TYPE_CHECKING:
    from sfumato.plan import Measure, Plan, Price
    from sfumato.privacy import Loss
    from sfumato.release import Withheld

GAINS = (
    "A right guess is how often, at most, somebody who thought two neighbours as likely says rightly which it was;\n"
    "90% and 99% sure are how likely, at most, what is published makes them that sure of the true one."
)
PerYear = Annotated[int, typer.Option(help="Releases of the same units a year, 4 for quarters: prints what they cost.")]


def price(plan: PlanFile, per_year: PerYear = 1, json: Json = False) -> None:
    """Say what a plan costs and what an attacker gains by it; no data are needed."""
    from sfumato.plan import Plan

    if per_year < 1:
        raise PlanError(f"--per-year {per_year} is no number of releases; give 1 or more.")
    read = Plan.read(plan)
    bill = read.price()
    if json:
        say_json(_priced(read, bill, per_year))
        return
    if read.suppress:
        _say_suppressed(read, bill)
        return
    say(f"{read.title}: {read.hidden.words()}\n")
    say(_spends(read, bill, per_year))
    say(f"\n{GAINS}")
    if bill.total.kind != "unbounded" and (table := implied_table(read.hidden, bill.total, "loss")):
        say(f"\nThe same, read as other promises:\n\n{table}")
    _say_sizes(read)
    _say_tables(read)
    _say_rest(read, bill)


def _say_suppressed(plan: "Plan", bill: "Price") -> None:
    """That true totals are published, by which rules cells are withheld, and that nobody is promised anything."""
    from sfumato.schema import Family

    say(f"{plan.title}: no one {plan.hidden.unit} is promised anything.\n")
    rows = []
    for measure, spend in zip(plan.measures, bill.spends, strict=True):
        family = plan.over.domain(measure)
        tables = len(family.members) if isinstance(family, Family) else 1
        rows.append([measure.name, spend.mechanism, f"{tables} with margins", spend.loss.kind])
    say(columns(["measure", "mechanism", "tables", "loss"], rows))
    say(
        "\nNumbers have no noise. How many cells are withheld, and what an attacker can work out of them, only the data"
    )
    say("tell: `sfumato run` says the one, `sfumato assess` both, for the agency alone.")
    _say_rest(plan, bill)


def _spends(plan: "Plan", bill: "Price", per_year: int) -> str:
    """A line a measure, all together, and a year of it."""
    from sfumato.plan.budget import over_periods

    heads = ["measure", "mechanism", "loss", "test power at 5%", "right guess from 1/2", "90% sure", "99% sure"]
    errors = [_errors(plan, measure) for measure in plan.measures]
    shown = 2 if any(isinstance(error, float) for error, _ in errors) else 0
    rows = [
        [one.measure, one.mechanism, *_gains(one.loss), *[_margin(error) for error in found][:shown]]
        for one, found in zip(bill.spends, errors, strict=True)
    ]
    rows.append(["all together", "", *_gains(bill.total), *[""] * shown])
    if per_year > 1:
        rows.append([f"{per_year} releases a year", "", *_gains(over_periods(bill.total, per_year)), *[""] * shown])
    return columns([*heads, *["± of a cell", "± of all cells"][:shown]], rows)


def _errors(plan: "Plan", measure: "Measure") -> list["float | Withheld"]:
    """The margins of error that noise will give one cell and the sum of all cells, known before any data."""
    from sfumato.plan.margins import typical
    from sfumato.release import Withheld
    from sfumato.schema import UpTo

    cells = plan.over.possible(measure)
    mechanism, move = measure.with_, plan.move(measure)
    one, every = (mechanism.margin(move, typical(plan, measure, cells=count)) for count in (1, cells))
    summed = measure.of.additive and not isinstance(measure.by, UpTo)
    return [one, every if summed else Withheld("its cells may not be summed")]


def _margin(error: "float | Withheld") -> str:
    from sfumato.release.figures import number

    return number(error, math.ceil) if isinstance(error, float) else "–"


def _say_sizes(plan: "Plan") -> None:
    """What looks alike at which size, where sizes are hidden; what noise gives at these sizes, and else in a cell."""
    alike = plan.hidden.alike()
    if alike:
        _say_alike(plan)
    sized = [measure for measure in plan.measures if _sizes(plan, measure)]
    if sized:
        unit = plan.hidden.unit
        say("\nThe 90% margin of error by noise alone, before any calibration, by the size of a number, or by that")
        say(f"of the largest {unit} in it:\n\n{_margins(plan, sized)}")
    others = [(measure, _errors(plan, measure)[0]) for measure in plan.measures if measure not in sized]
    if any(isinstance(error, float) for _, error in others) or not alike:
        say("\n± is the 90% margin of error by noise alone, before any calibration: of normal noise 1.64 times its")
        say("standard deviation (SD), up to a whole step.")
    for measure, error in others:
        if not isinstance(error, float):
            say(f"No ± of a cell of {measure.name} can be told beforehand, as {error.reason}.")


def _say_tables(plan: "Plan") -> None:
    """How exact the cells of families of tables will be."""
    from sfumato.plan.tables_ahead import tables_ahead

    ahead = [tables_ahead(plan, measure) for measure in plan.measures]
    for line in (line for one in ahead if one for line in one.words()):
        say(line)


def _say_alike(plan: "Plan") -> None:
    from sfumato.release.figures import number

    rows: dict[tuple[str, ...], list[str]] = {}
    for one in plan.hidden.alike():
        ends = f"{number(one.low)} to {number(one.high)}"
        rows.setdefault((number(one.size), ends, _percent(one.up), _percent(one.down)), []).append(one.variable)
    say(f"\nWhat one {plan.hidden.unit} reports looks like anything within, told apart at most as above:\n")
    said = [[", ".join(variables), *line] for line, variables in rows.items()]
    say(columns(["variable", "size", "looks like", "a change of", "or of"], said))


def _sizes(plan: "Plan", measure: "Measure") -> list[float]:
    column = measure.of.contribution.column
    return [one.size for one in plan.hidden.alike() if one.of_rows or one.variable == column]


def _margins(plan: "Plan", sized: list["Measure"]) -> str:
    """What noise gives measures at four sizes; measures that have the same are told in one line."""
    from sfumato.plan.margins import Target, typical
    from sfumato.release.figures import number

    rows: dict[tuple[str, ...], list[str]] = {}
    for measure in sized:
        asked = [Target(measure.name, 1.0, size, size) for size in _sizes(plan, measure)]
        errors = [measure.with_.margin(plan.move(measure), typical(plan, measure, one)) for one in asked]
        told = [f"± {_margin(error)} at {number(one.size or 0)}" for one, error in zip(asked, errors, strict=True)]
        by_largest = measure.with_.facts(plan.move(measure), typical(plan, measure)).at == "largest"
        rows.setdefault(("its largest" if by_largest else "its size", *told), []).append(measure.name)
    widest = max(len(line) for line in rows)
    said = [[", ".join(names), *line, *[""] * (widest - len(line))] for line, names in rows.items()]
    return columns(["measure", "by", *[""] * (widest - 1)], said)


def _percent(change: float) -> str:
    percent = 100 * change
    return f"{percent:+,.0f}%" if percent >= 1_000 else f"{percent:+.3g}%".replace("-", "−")


def _say_rest(plan: "Plan", bill: "Price") -> None:
    from sfumato.plan.biases import biases

    if plan.hidden.id is None:
        unit = plan.hidden.unit
        say(f"Each row is taken to be a different {unit}; where one can have several, give [hidden] id and at_most.")
    if bill.total.kind == "unbounded":
        say(f"\nNOT FORMALLY PRIVATE, {bill.total.words()}.")
    possible = [plan.over.possible(measure) for measure in plan.measures]
    cells = [
        f"{some:,}" if some == count else f"{some:,} (of {count:,} combinations, the others impossible)"
        for some, count in zip(possible, bill.cells, strict=True)
    ]
    say(f"\nLimit: {bill.limit.words()}. Cells: {', '.join(cells)}.")
    if memory := plan.memory():
        say(f"To run: {memory.words()}.")
    for part, why in plan.as_published.items():
        say(f"Runs as published only, as in {part} {why}.")
    for bias in biases(plan):
        say(bias.sentence)
    for exposure in bill.exposures:
        say(f"Outside the guarantee ({exposure.kind}): {exposure.what}. {exposure.why}")


def _gains(loss: "Loss") -> list[str]:
    """The loss and what it may give an attacker: a test, a guess, and the chances of becoming sure."""
    from sfumato.privacy import posteriors

    words = "unbounded" if loss.kind == "unbounded" else loss.words()  # why is said below the table
    return [words, *(f"{one:.4f}" for one in (loss.power(0.05), loss.right_guess(), *posteriors(loss).values()))]


def _priced(plan: "Plan", bill: "Price", per_year: int) -> dict[str, Any]:
    from sfumato.plan.biases import biases
    from sfumato.plan.budget import over_periods
    from sfumato.plan.margins import typical
    from sfumato.plan.tables_ahead import tables_ahead
    from sfumato.privacy import posteriors
    from sfumato.privacy.groups import of_group
    from sfumato.privacy.notation import hidden_to_dict, loss_to_dict

    def gains(loss: "Loss") -> dict[str, Any]:
        gained = {"right_guess": loss.right_guess(), "posterior_above": posteriors(loss)}
        return {"loss": loss_to_dict(loss), "power_at_5_percent": loss.power(0.05)} | gained

    def expected(name: str) -> dict[str, Any]:
        measure = plan.measure(name)
        error, (margin, _) = measure.with_.expected(plan.move(measure), typical(plan, measure)), _errors(plan, measure)
        if not isinstance(error, float):
            return {"no_standard_error": error.reason}
        ahead = tables_ahead(plan, measure)
        return {"standard_error": error, "moe90": margin} | ({"tables": ahead.to_dict()} if ahead else {})

    return {
        "plan": plan.name,
        "hidden": hidden_to_dict(plan.hidden),
        "measures": [
            {"name": one.measure, "mechanism": one.mechanism, "cells": cells} | gains(one.loss) | expected(one.measure)
            for one, cells in zip(bill.spends, bill.cells, strict=True)
        ],
        "total": gains(bill.total),
        "implied": [
            {"whom": one.whom, "steps": float(one.steps), "loss": loss_to_dict(of_group(bill.total, one.steps))}
            for one in plan.hidden.implied()
        ],
        "per_year": {"releases": per_year} | gains(over_periods(bill.total, per_year)),
        "looks_alike": [asdict(one) | {"up": one.up, "down": one.down} for one in plan.hidden.alike()],
        "limit": loss_to_dict(bill.limit),
        "biases": [asdict(one) for one in biases(plan)],
        "exposures": [asdict(one) for one in bill.exposures],
    }

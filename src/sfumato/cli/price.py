"""The price command: what a plan costs, what it hides at which size, and what a year of it comes to."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.implied import implied_table
from sfumato.cli.options import Json, PlanFile
from sfumato.cli.output import columns, say, say_json
from sfumato.cli.sizes import margins, say_sizes, shown_margin, told_by_size
from sfumato.errors import PlanError, how_many

if TYPE_CHECKING:
    from sfumato.plan import Plan, Price
    from sfumato.privacy import Loss

GAINS = (
    "A right guess is how often, at most, somebody who thought two neighbours as likely says rightly which it was;\n"
    "90% and 99% sure are how likely, at most, what is published makes them that sure of the true one."
)
CENSUS = 'The data are taken as a census (sampling = "census"): no sampling error is stated.'
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
    if bill.total.kind != "unbounded" and (table := implied_table(read.hidden, bill.of_group, "loss")):
        say(f"\nThe same, read as other promises:\n\n{table}")
    say_sizes(read)
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
    errors = [margins(plan, measure) for measure in plan.measures]
    shown = 2 if any(isinstance(error, float) for error, _ in errors) else 0
    rows = [
        [one.measure, one.mechanism, *_gains(one.loss), *[shown_margin(error) for error in found][:shown]]
        for one, found in zip(bill.spends, errors, strict=True)
    ]
    rows.append(["all together", "", *_gains(bill.total), *[""] * shown])
    if per_year > 1:
        rows.append(
            [f"{how_many(per_year, 'release')} a year", "", *_gains(over_periods(bill.total, per_year)), *[""] * shown]
        )
    return columns([*heads, *["± of a cell", "± of all cells"][:shown]], rows)


def _say_tables(plan: "Plan") -> None:
    """How exact the cells of families of tables will be."""
    from sfumato.plan.tables_ahead import tables_ahead

    ahead = [tables_ahead(plan, measure) for measure in plan.measures]
    for line in (line for one in ahead if one for line in one.words()):
        say(line)


def _say_rest(plan: "Plan", bill: "Price") -> None:
    from sfumato.plan.biases import biases
    from sfumato.plan.weights import not_promised

    if plan.hidden.id is None:
        unit = plan.hidden.unit
        say(f"Each row is taken to be a different {unit}; where one can have several, give [hidden] id and at_most.")
    if bill.total.kind == "unbounded":
        say(f"\nNOT FORMALLY PRIVATE, {bill.total.words()}.")
    if bill.argued:
        *parts, total = bill.argued
        each = " and ".join(f"{one.measure} {one.loss.words()}" for one in parts)
        say(f"As published it would be priced at {total.loss.words()}, {each}: an argument, and no bound.")
    if plan.sampling == "census":
        say(f"{CENSUS} If they are a sample, give [data] weight, or sampling = and the reason.")
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
    if words := not_promised(plan.schema, plan.hidden.unit):
        say(f"NOT PROMISED: {words}")
    for exposure in bill.exposures:
        say(f"Outside the guarantee ({exposure.kind}): {exposure.sentences}")


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
    from sfumato.plan.weights import not_promised
    from sfumato.privacy import posteriors
    from sfumato.privacy.notation import hidden_to_dict, loss_to_dict

    def gains(loss: "Loss") -> dict[str, Any]:
        gained = {"right_guess": loss.right_guess(), "posterior_above": posteriors(loss)}
        return {"loss": loss_to_dict(loss), "power_at_5_percent": loss.power(0.05)} | gained

    def expected(name: str) -> dict[str, Any]:
        measure = plan.measure(name)
        error, (margin, _) = measure.with_.expected(plan.move(measure), typical(plan, measure)), margins(plan, measure)
        if not isinstance(error, float):
            return {"no_standard_error": error.in_full}
        ahead = tables_ahead(plan, measure)
        return {"standard_error": error, "moe90": margin} | ({"tables": ahead.to_dict()} if ahead else {})

    return {
        "plan": plan.name,
        "hidden": hidden_to_dict(plan.hidden),
        "measures": [
            {"name": one.measure, "mechanism": one.mechanism, "cells": cells}
            | gains(one.loss)
            | expected(one.measure)
            | told_by_size(plan, plan.measure(one.measure))
            for one, cells in zip(bill.spends, bill.cells, strict=True)
        ],
        "total": gains(bill.total),
        "argued": {one.measure: loss_to_dict(one.loss) for one in bill.argued},
        "implied": [
            {"whom": one.whom, "steps": float(one.steps), "loss": loss_to_dict(bill.of_group(one.steps))}
            for one in plan.hidden.implied()
        ],
        "per_year": {"releases": per_year} | gains(over_periods(bill.total, per_year)),
        "looks_alike": [asdict(one) | {"up": one.up, "down": one.down} for one in plan.hidden.alike()],
        "limit": loss_to_dict(bill.limit),
        "census": plan.sampling == "census",
        "biases": [asdict(one) for one in biases(plan)],
        "exposures": [asdict(one) for one in bill.exposures],
        "not_promised": not_promised(plan.schema, plan.hidden.unit),
    }

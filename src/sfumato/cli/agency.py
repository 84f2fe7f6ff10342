"""Commands of the agency: price a plan, check the data, run it, audit it, make synthetic data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.say import CONFIDENTIAL, columns, note, progress, say, say_json
from sfumato.errors import DataError

if TYPE_CHECKING:
    from sfumato.plan import Measure, Plan, Price
    from sfumato.privacy import Loss

PlanFile = Annotated[Path, typer.Argument(metavar="PLAN", help="The plan, a TOML file.")]
Data = Annotated[
    list[str],
    typer.Option("--data", help="The microdata: a file, file.duckdb#table or postgresql://…#table; may be repeated."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def price(plan: PlanFile, json: Json = False) -> None:
    """Say what a plan costs and what an attacker gains by it; no data are needed."""
    from sfumato.plan import Plan
    from sfumato.plan.memory import expected

    read = Plan.read(plan)
    bill = read.price()
    if json:
        say_json(_priced(read, bill))
        return
    noises = [_noise(read, measure) for measure in read.measures]
    rows = [
        [one.measure, one.mechanism, *_gains(one.loss), *noise] for one, noise in zip(bill.spends, noises, strict=True)
    ]
    rows.append(["all together", "", *_gains(bill.total), "", ""])
    say(f"{read.title}: {read.hidden.words()}\n")
    heads = ["measure", "mechanism", "loss", "test power at 5%", "posterior from 1/2", "± of a cell", "± of all cells"]
    say(columns(heads, rows))
    say("\n± is the 90% margin of error by noise alone, before any calibration.")
    if read.hidden.id is None:
        unit = read.hidden.unit
        say(f"Each row is taken to be a different {unit}; where one can have several, give [hidden] id and at_most.")
    say(f"\nLimit: {bill.limit.words()}. Cells: {', '.join(f'{count:,}' for count in bill.cells)}.")
    memory = expected(read)
    if memory:
        say(f"To run: {memory.words()}.")
    for exposure in bill.exposures:
        say(f"Outside the guarantee ({exposure.kind}): {exposure.what}. {exposure.why}")


def _noise(plan: "Plan", measure: "Measure") -> list[str]:
    """The margins that noise will give one cell and the sum of all cells, known before any data."""
    from sfumato.query import number
    from sfumato.schema import Box

    if plan.frame:  # noise on a square root grows with what it is the root of
        return ["", ""]
    spread = 1.645 * float(measure.of.step) * measure.with_.law(plan.move(measure)).variance ** 0.5
    cells = plan.table(measure)
    return [number(spread), number(spread * cells.count(Box()) ** 0.5)]


def _gains(loss: "Loss") -> list[str]:
    return [loss.words(), f"{loss.power(0.05):.4f}", f"{loss.posterior():.4f}"]


def _priced(plan: "Plan", bill: "Price") -> dict[str, Any]:
    from sfumato.privacy.written import hidden_to_dict, loss_to_dict

    def gains(loss: "Loss") -> dict[str, Any]:
        return {"loss": loss_to_dict(loss), "power_at_5_percent": loss.power(0.05), "posterior": loss.posterior()}

    return {
        "plan": plan.name,
        "hidden": hidden_to_dict(plan.hidden),
        "measures": [
            {"name": one.measure, "mechanism": one.mechanism, "cells": cells} | gains(one.loss)
            for one, cells in zip(bill.spends, bill.cells, strict=True)
        ],
        "total": gains(bill.total),
        "limit": loss_to_dict(bill.limit),
        "exposures": [{"kind": one.kind, "what": one.what, "why": one.why} for one in bill.exposures],
    }


def check(plan: PlanFile, data: Data, json: Json = False) -> None:
    """List what in the data does not fit the plan; the report is confidential and nothing is charged."""
    from sfumato.confidential import Microdata, Tabulation
    from sfumato.draws import SystemDraws
    from sfumato.plan import Plan

    read = Plan.read(plan)
    for measure in read.measures:
        read.table(measure).refuse_if_too_large()
    tabulation = Tabulation(read, Microdata.open(list(data), read.schema), SystemDraws())
    found = [(fault, tabulation.examples(fault)) for fault in tabulation.faults()]
    if json:
        listed = [{"column": one.column, "rule": one.rule, "values": values} for one, values in found]
        say_json({"confidential": True, "faults": listed})
    else:
        _say_faults(found)
    if found:
        broken = "1 rule of the plan is" if len(found) == 1 else f"{len(found)} rules of the plan are"
        raise DataError(f"{broken} broken; see the report above.")


def _say_faults(found: list[tuple[Any, list[tuple[str | None, int]]]]) -> None:
    say(CONFIDENTIAL)
    for fault, values in found:
        say(f"\n{fault}")
        for value, rows in values:
            say(f"  {'(missing)' if value is None else repr(value)}: {rows:,} row{'s' if rows > 1 else ''}")
    if not found:
        say("\nThe data fit the plan.")


def run(  # noqa: PLR0913, PLR0917 - one argument an option
    plan: PlanFile,
    data: Data,
    out: Annotated[Path, typer.Option(help="The folder of the release; it must not be there yet.")],
    ledger: Annotated[Path | None, typer.Option(help="The ledger that is charged; see `sfumato ledger open`.")] = None,
    rehearsal: Annotated[
        int | None,
        typer.Option(metavar="SEED", help="A trial run with this seed: no ledger, confidential, not releasable."),
    ] = None,
    supersedes: Annotated[
        str | None, typer.Option(metavar="ID", help="The id of the release that this one replaces.")
    ] = None,
    sign: Annotated[Path | None, typer.Option(metavar="KEY", help="An Ed25519 private key in PEM that signs.")] = None,
    json: Json = False,
) -> None:
    """Charge the ledger, read the data, add the noise and write a release; every run is charged, failed ones too."""
    from sfumato.confidential import STAGES, Microdata, Options
    from sfumato.confidential import run as gate
    from sfumato.plan import Plan

    read = Plan.read(plan)
    read.price()
    microdata = Microdata.open(list(data), read.schema)
    with progress(STAGES) as show:
        release = gate(read, microdata, ledger, out, Options(rehearsal, supersedes, sign, show))
    manifest = release.manifest
    if json:
        say_json(
            {"release": str(out), "id": release.id, "loss": manifest.promise.loss, "releasable": manifest.releasable}
        )
        return
    say(f"Release {release.id[:16]} in {out}: {manifest.promise.loss_words}.")
    say(f"{'Releasable' if manifest.releasable else 'NOT releasable'}: {manifest.why}.")
    note(f"Ask it with `sfumato table {out} --rows …`, show it with `sfumato serve {out}`.")


def audit(
    plan: PlanFile,
    samples: Annotated[int, typer.Option(help="Draws on each side.")] = 100_000,
    json: Json = False,
) -> None:
    """Try to tell two neighbours apart by what the plan would publish; a lower bound on its true loss."""
    from sfumato.confidential.audit import audit_plan
    from sfumato.plan import Plan

    read = Plan.read(plan)
    audits = audit_plan(read, samples=samples)
    if json:
        say_json([one.to_dict() for one in audits])
    else:
        say(columns(["measure", "view", "bound", "claim", "verdict"], [one.row() for one in audits]))
    if not all(one.holds for one in audits):
        from sfumato.errors import PromiseError

        raise PromiseError("The audit found more loss than the plan claims; do not publish, and report this as a bug.")


def synth(
    name: Annotated[str, typer.Argument(help="Which data: employment, ors, ors-paper, qcew.")],
    out: Annotated[Path, typer.Option(help="The folder to write to.")],
    rows: Annotated[int | None, typer.Option(help="How many rows; of qcew, establishments.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 1,
    quarters: Annotated[int | None, typer.Option(help="How many quarters, of qcew.")] = None,
) -> None:
    """Make realistic synthetic microdata; of qcew also the plan that reads them."""
    from sfumato.synth import write

    out.mkdir(parents=True, exist_ok=True)
    say(str(write(name, out, rows, seed, quarters)))

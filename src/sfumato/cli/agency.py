"""Commands of the agency: check the data, run a plan, audit it, make synthetic data."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.installs import refuse_core
from sfumato.cli.options import Data, EngineName, Json, PlanFile, SparkAddress, SparkToken, Spill
from sfumato.cli.output import CONFIDENTIAL, columns, note, progress, say, say_json
from sfumato.errors import DataError, how_many

if TYPE_CHECKING:
    from collections.abc import Callable

    from sfumato.confidential import Microdata
    from sfumato.plan import Plan
    from sfumato.release import Release


def opened(
    data: list[str],
    plan: "Plan",
    engine: str,
    spark: str = "",
    token: Path | None = None,
    spill: Path | None = None,
) -> "Microdata":
    """The microdata that options name; of a plan with joined tables, NAME=SOURCE for each; by --spark of a cluster."""
    from sfumato.confidential import Microdata

    told = _afar(spark, token) if spark or token else str
    if not plan.schema.joined:
        return Microdata.open([told(name) for name in data], plan.schema, engine, spill)
    tables: dict[str, list[Any]] = {}
    for written in data:
        name, equals, source = written.partition("=")
        if not equals:
            names = ", ".join(plan.schema.tables)
            raise DataError(f"--data {written} is not NAME=FILE; the plan joins the tables {names}.")
        tables.setdefault(name, []).append(told(source))
    return Microdata.open(tables, plan.schema, engine, spill)


def _afar(spark: str, token: Path | None) -> "Callable[[str], Any]":
    """What a name means of a table that stays in a cluster."""
    from sfumato.confidential.engines.sources.cluster import ClusterTable, told_address

    if not spark:
        raise DataError("--spark-token names the token of a server: give --spark, its address, too.")
    address = told_address(spark, token)
    return lambda name: ClusterTable(address, name)


def check(
    plan: PlanFile,
    data: Data,
    engine: EngineName = "",
    spark: SparkAddress = "",
    spark_token: SparkToken = None,
    spill: Spill = None,
    json: Json = False,
) -> None:
    """List what in the data does not fit the plan; the report is confidential and nothing is charged."""
    from sfumato.confidential import Tabulation
    from sfumato.confidential.calibration_signs import CalibrationSigns, find_calibration
    from sfumato.confidential.clips import clip_fits
    from sfumato.confidential.contradicted import contradicted
    from sfumato.confidential.left_out import left_out
    from sfumato.confidential.letter_case import cased_names
    from sfumato.confidential.repeated_records import repeated_records
    from sfumato.draws import SystemDraws
    from sfumato.plan import Plan

    read = Plan.read(plan)
    read.price()  # what it refuses could not be run on any data
    microdata = opened(data, read, engine, spark, spark_token, spill)
    with closing(Tabulation(read, microdata, SystemDraws())) as tabulation:
        broken = tabulation.faults() or contradicted(read, tabulation)
        faults = [(one, tabulation.broken(one), tabulation.examples(one)) for one in broken]
    clips, cased = ([], []) if faults else (clip_fits(read, microdata), cased_names(read, microdata))
    rows_left_out = None if faults else left_out(read, microdata)
    repeated = [] if faults else repeated_records(read, microdata)
    signs = CalibrationSigns((), "") if faults else find_calibration(read, microdata)
    if json:
        listed = [{"column": one.column, "rule": one.rule, "rows": rows, "values": told} for one, rows, told in faults]
        told: dict[str, Any] = {"cased": [one.to_dict() for one in cased]} if cased else {}
        told |= {"at_most": rows_left_out.to_dict()} if rows_left_out else {}
        told |= {"repeated_rows": [records.to_dict() for records in repeated]} if repeated else {}
        told |= {"calibration": signs.to_dict()} if signs.words else {}
        say_json({"confidential": True, "faults": listed, "clips": [one.to_dict() for one in clips]} | told)
    else:
        _say_faults(faults)
        bounds = [*(records.words for records in repeated), *([rows_left_out.words] if rows_left_out else [])]
        for words in filter(None, [*bounds, *(one.words for one in clips), *(one.words for one in cased), signs.words]):
            say(f"\n{words}")
    if faults:
        rules = "1 rule of the plan is" if len(faults) == 1 else f"{len(faults)} rules of the plan are"
        raise DataError(f"{rules} broken; see the report above.")


def _say_faults(faults: list[tuple[Any, int | None, list[tuple[str | None, int]]]]) -> None:
    say(CONFIDENTIAL)
    for fault, broken, values in faults:
        say(f"\n{fault}" if broken is None else f"\n{fault} {how_many(broken, 'row')}:")
        for value, rows in values:
            say(f"  {'(missing)' if value is None else repr(value)}: {how_many(rows, 'row')}")
    if not faults:
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
        str | None, typer.Option(metavar="ID", help="The release that this one replaces: its whole id, see `verify`.")
    ] = None,
    mode: Annotated[
        str,
        typer.Option(help="sound, or as_published: a paper to the letter; no ledger, confidential, not releasable."),
    ] = "sound",
    sign: Annotated[Path | None, typer.Option(metavar="KEY", help="An Ed25519 private key in PEM that signs.")] = None,
    year: Annotated[
        int | None, typer.Option(help="That of the clock, confirmed where a ledger per year was long not charged.")
    ] = None,
    beside: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR",
            help="An earlier release of the ledger, which must know it; withheld cells are protected jointly; repeats.",
        ),
    ] = None,
    engine: EngineName = "",
    spark: SparkAddress = "",
    spark_token: SparkToken = None,
    spill: Spill = None,
    json: Json = False,
) -> None:
    """Read the data, charge the ledger, add the noise, write a release; what fails after the charge stays charged."""
    from dataclasses import replace

    from sfumato.confidential import Options, stages
    from sfumato.confidential import run as gate
    from sfumato.plan import Plan

    read = Plan.read(plan)
    options = Options(rehearsal, supersedes, sign, mode=mode, year=year, beside=tuple(beside or ()))
    read.price()
    options.refuse(read, ledger)
    if ledger is not None:
        refuse_core()
    if memory := read.memory():
        note(f"To run: {memory.words()}.")
    with progress(stages(read)) as show:
        asked = replace(options, progress=show, within=show.within, note=note)
        release = gate(read, opened(data, read, engine, spark, spark_token, spill), ledger, out, asked)
    _say_release(release, out, json)


def _say_release(release: "Release", out: Path, json: bool) -> None:
    manifest = release.manifest
    if json:
        said = {"id": release.id, "loss": manifest.promise.loss, "releasable": manifest.releasable}
        say_json({"release": str(out), **said, "caveats": manifest.caveats})
        return
    say(f"Release {release.id[:16]} in {out}: {manifest.promise.loss_words}.")
    say(f"{'Releasable' if manifest.releasable else 'NOT releasable'}: {manifest.why}.")
    for caveat in manifest.caveats:
        say(caveat)
    note(f"Ask it with `sfumato table {out} --rows …`, show it with `sfumato serve {out}`.")
    note(f"`sfumato verify {out}` prints its whole id.")


def audit(
    plan: PlanFile,
    samples: Annotated[
        int | None,
        typer.Option(help="Draws on each side; unless given, 100,000, or as many as show what is lost."),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Check the noise of each measure too, and write all as JSON and as a page for a review board; DIR may "
            "be a release of this plan.",
        ),
    ] = None,
    sign: Annotated[Path | None, typer.Option(metavar="KEY", help="An Ed25519 private key that signs it.")] = None,
    json: Json = False,
) -> None:
    """Try to tell two neighbours apart by what the plan would publish; a lower bound on its true loss."""
    from sfumato.confidential.audit import audit_plan
    from sfumato.confidential.pairs import moved_words
    from sfumato.errors import PlanError, PromiseError
    from sfumato.plan import Plan

    read = Plan.read(plan)
    if sign and not certificate:
        raise PlanError("--sign signs a certificate; say where it goes with --certificate DIR.")
    if certificate:
        _certified(read, certificate, samples, sign, json)
        return
    audits = audit_plan(read, samples=samples)
    if json:
        say_json([one.to_dict() for one in audits])
    else:
        say(
            columns(
                ["measure", "what differs", "view", "bound", "law", "claim", "verdict"], [one.row() for one in audits]
            )
        )
        if moved := moved_words(read):
            say(f"\n{moved}")
    if not all(one.holds for one in audits):
        raise PromiseError("The audit found more loss than the plan claims; do not publish, and report this as a bug.")


def _certified(plan: "Plan", folder: Path, samples: int | None, sign: Path | None, json: bool) -> None:
    from sfumato.confidential.certificate import certify, refuse_unfit_folder, write_certificate
    from sfumato.errors import PromiseError
    from sfumato.release import private_key

    refuse_unfit_folder(folder, plan)
    if sign:
        private_key(sign)
    found = certify(plan, samples, told=note)
    write_certificate(found, folder, sign)
    if json:
        say_json(found.model_dump())
    else:
        say(f"{found.words()}\n{folder / 'certificate.html'} is the page; `sfumato verify {folder}` reads it.")
    if not found.holds:
        raise PromiseError("The plan does not keep its claim; do not publish, and report this as a bug.")


def synth(
    name: Annotated[
        str,
        typer.Argument(help="Which data: employment, ors, ors-paper, qcew, lodes, iab, atlas, pseo, veo, umetrics."),
    ],
    out: Annotated[Path, typer.Option(help="The folder to write to.")],
    rows: Annotated[
        int | None,
        typer.Option(
            "--rows", "--scale", help="How many rows; of qcew, establishments; of lodes, jobs; of iab, people."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 1,
    quarters: Annotated[int | None, typer.Option(help="How many quarters, of qcew.")] = None,
    wac: Annotated[
        Path | None,
        typer.Option(help="A real LODES file of workplace area characteristics, which lodes then has the counts of."),
    ] = None,
) -> None:
    """Make realistic synthetic microdata; of all but employment and ors also the plans that read them."""
    from sfumato.synth import write

    out.mkdir(parents=True, exist_ok=True)
    say(str(write(name, out, rows, seed, quarters, wac)))

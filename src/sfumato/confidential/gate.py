"""The gate: a plan, microdata and a ledger in, a release out; the only door.

Read, reserve, draw, write, commit: what is wrong with the data is found first and costs nothing, and so is that cells
cannot be protected where some are withheld; the charge is on disk before the first draw, and the folder gets its name
only after the ledger knows its hash. A crash leaves a charge without a release, which is listed, and never the reverse.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.calibrate import calibrated
from sfumato.confidential.account import Account
from sfumato.confidential.chain import refuse_leap
from sfumato.confidential.contradicted import refuse_contradicted
from sfumato.confidential.disk_space import DiskNeed, bytes_by_disk, needed_space, refuse_full
from sfumato.confidential.draft import write_draft
from sfumato.confidential.earlier_release import check_earlier
from sfumato.confidential.engines.choose import refuse_before_reading, refuse_unheld
from sfumato.confidential.excess import told_excess
from sfumato.confidential.fate import Reservation, Unnamed, adding, charged_words
from sfumato.confidential.labels import published
from sfumato.confidential.leftovers import refuse_unnamed
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.options import Options
from sfumato.confidential.plugin_files import load_plugins
from sfumato.confidential.publication import committed, named, refuse_taken, written
from sfumato.confidential.remembered import refuse_older, refuse_unwritable_memory, remember
from sfumato.confidential.sealed import scrubbed
from sfumato.confidential.statement import stated
from sfumato.confidential.tabulate import Tabulation, reading
from sfumato.draws import Draws
from sfumato.errors import how_many
from sfumato.mechanisms import Cells
from sfumato.plan import Measure, Plan, Price
from sfumato.plan.weights import weighting_of
from sfumato.release import Product, Release, Subject, digest, measured, open_release, private_key

if TYPE_CHECKING:
    from sfumato.confidential.withholding import Withholding

STAGES = ("priced", "read", "reserved", "perturbed", "calibrated", "written", "committed", "published")


def stages(plan: Plan) -> tuple[str, ...]:
    """What a run of a plan goes through, each of its measures by name."""
    place = STAGES.index("reserved" if plan.suppress else "perturbed")
    return (*STAGES[:place], *(measure.name for measure in plan.measures), *STAGES[place:])


def run(
    plan: Plan, microdata: Microdata, ledger: Path | str | None, out: Path | str, options: Options | None = None
) -> Release:
    """Read the data, charge the ledger, add the noise, write the release, and only then give it its name.

    A rehearsal has a seed of the user's choice, and whoever knows it can undo its noise; a run as published follows a
    paper where its own step breaks its claim. Neither is charged; both are as confidential as the data, and marked.
    """
    options, out = options or Options(), Path(out)
    price, draws = plan.price(), options.draws()
    options.refuse(plan, ledger)
    _refuse_unread(plan, microdata, out, options)
    for measure in plan.measures:
        measure.with_.refuse_unready(draws)
    plan = _named(plan, microdata, options)
    shapes = [one.shapes(plan.schema.attribute(one.attribute)) for one in plan.geographies]
    needs = needed_space(out, write_draft(plan, price, options, out, shapes), ledger)
    refuse_full(needs)
    _refuse_unheld(plan, microdata, needs)
    withholding = _withholding(plan, options)
    account = _account(ledger, plan, price, options, out, withholding)
    options.progress("priced")
    with closing(scrubbed(Tabulation, withholding.joint if withholding else plan, microdata, draws)) as records:
        scrubbed(records.refuse_faults)  # as `check` tells them
        scrubbed(refuse_contradicted, plan, records)
        options.note(f"The data were {records.read_by}.")
        options.progress("read")
        exact = scrubbed(_withheld, withholding, records, options) if withholding else {}
        scrubbed(records.fetch, () if withholding else plan.measures)
        refuse_full(needs)  # reading may have taken long
        part = Unnamed(out, _charged(account, plan, price, options))
        with adding(part.what, part.words):
            options.progress("reserved")
            noisy = exact or scrubbed(_measured, plan, records, draws, options)
    del records  # true values are held no longer than they are needed
    with adding(part.what, part.words), part:
        # From here on everything is public arithmetic.
        made, diverged = calibrated(plan.then, noisy | _published(plan, noisy))
        products = list(made.values())
        options.progress("calibrated")
        manifest = written(part.path, plan, products, stated(plan, price, options, products), diverged, shapes)
        committed(part, manifest, options, partial(_refuse_unlaid, withholding, account, price))
        options.progress("committed")
        named(part.path, out, options)
    with adding(lambda: "The release could not be read again", lambda: f"It is published in {out}."):
        options.progress("published")
        return open_release(out)


def _named(plan: Plan, microdata: Microdata, options: Options) -> Plan:
    """The plan as it is published; what is done with labels in the data files is said."""
    named, words = published(plan, microdata)
    if words:
        options.note(words)
    return named


def _refuse_unread(plan: Plan, microdata: Microdata, out: Path, options: Options) -> None:
    """Whatever can be told without reading a record is told before any is read."""
    refuse_taken(out)
    load_plugins()
    if plan.suppress:
        plan.suppress.refuse_absent()
    if options.sign_with:
        private_key(options.sign_with)
    design = [name for name in (plan.schema.weight, *plan.schema.replicates) if name]
    refuse_before_reading(microdata.sources, reading(plan), microdata.engine, design, spill=microdata.spill)
    _refuse_unheld(plan, microdata)


def _refuse_unheld(plan: Plan, microdata: Microdata, needs: Sequence[DiskNeed] = ()) -> None:
    """Refuse what fits neither memory nor, where records are spilled, the disk that other parts of the run share."""
    if memory := plan.memory():
        refuse_unheld(memory, microdata.sources, reading(plan), microdata.spill, bytes_by_disk(needs))


def _withholding(plan: Plan, options: Options) -> "Withholding | None":
    """What is withheld in place of noise, where that is what the plan asks for."""
    if plan.suppress is None:
        return None
    from sfumato.confidential.withholding import Withholding

    return Withholding.of(plan, options.beside)


def _account(
    ledger: Path | str | None, plan: Plan, price: Price, options: Options, out: Path, withholding: "Withholding | None"
) -> Account | None:
    """The account that pays, if it can and was not put back: reading may take long, so it is asked before."""
    account = None if options.confidential or ledger is None else Account(Path(ledger))
    check_earlier(options, account)
    if account is None:
        return None
    refuse_leap(account.entries, options.year)
    account.ledger.admit(plan.name, price.total, plan.hidden, datetime.now(UTC).year)
    _refuse_unlaid(withholding, account, price)
    if account.memory:
        refuse_unwritable_memory(account.ledger.id)
    for said in filter(None, (refuse_older(account, out.parent), *refuse_unnamed(account, out))):
        options.note(said)
    return account


def _refuse_unlaid(withholding: "Withholding | None", account: Account | None, price: Price) -> None:
    """Refuse a run beside which another release of the ledger withholds cells of the same time."""
    if withholding and account:
        withholding.refuse_unlaid(account, price.total)


def _charged(account: Account | None, plan: Plan, price: Price, options: Options) -> Reservation | None:
    """The charge, on disk before anything is drawn, and remembered; a rehearsal has none."""
    if account is None:
        return None
    refuse_older(account)  # reading may have taken long
    if account.memory:
        refuse_unwritable_memory(account.ledger.id)
    opening, plan_hash = account.ledger.id, digest(plan.to_toml().encode())
    with adding(lambda: "The ledger could not be charged", lambda: charged_words(account, price.total)):
        parts = [spend.loss for spend in price.spends]
        entry = account.reserve(
            plan.name, price.total, plan.hidden, plan_hash, period=plan.period, year=options.year, parts=parts
        )
        said = remember(opening, entry)
    if said:
        options.note(said)
    return Reservation(account, entry, price.total)


def _measured(plan: Plan, records: Tabulation, draws: Draws, options: Options) -> dict[str, Product]:
    """Every measure with its noise: nothing of this is drawn before the charge."""
    made: dict[str, Product] = {}
    for measure in plan.measures:
        given = {name: made[name] for name in measure.given}
        options.progress(measure.name)
        made[measure.name] = _perturbed(measure, plan, records.cells(measure), draws, given)
    options.progress("perturbed")
    return told_excess(plan, made)


def _published(plan: Plan, noisy: Mapping[str, Product]) -> dict[str, Product]:
    """The totals that were published before, each as a product that the release holds and that answers nothing."""
    return {one.name: one.product(plan.schema, noisy[one.of].subject) for one in plan.published}


def _withheld(withholding: "Withholding", records: Tabulation, options: Options) -> dict[str, Product]:
    """True totals of which some are withheld, so that nobody can work these out; nothing is drawn for them."""
    made: dict[str, Product] = {}
    for name, found in withholding.cells(records, options.within).items():
        options.progress(name)
        options.note(found.words())
        made[name] = found.product(_subject(found.measure, withholding.plan, found.measure.of.step))
    return made


def _perturbed(measure: Measure, plan: Plan, cells: Cells, draws: Draws, given: Mapping[str, Product]) -> Product:
    noisy = measure.with_.perturb(cells, draws, given)
    subject = _subject(measure, plan, noisy.step)
    told = replace(subject, note=" ".join(one for one in (subject.note, noisy.note) if one))
    return measured(told, noisy, measure.with_.uncertainty(noisy))


def _counted(plan: Plan) -> str:
    """How many rows of one unit are in the numbers, where further ones were left out."""
    if (kept := plan.over.truncation) is None or plan.suppress:
        return ""
    count = "counts" if kept.at_most == 1 else "count"
    return f"At most {how_many(kept.at_most, plan.schema.unit)} of one {plan.hidden.unit} {count}."


def _subject(measure: Measure, plan: Plan, step: Fraction) -> Subject:
    """What the numbers of a measure are about."""
    row = plan.schema.unit
    return Subject(
        name=measure.name,
        statistic=measure.of.name,
        title=measure.titled(row, plan.language),
        unit=f"{row}s" if measure.of.unit == "records" and measure.of.weighted is not False else measure.of.unit,
        step=step,
        additive=measure.of.additive,
        universe=dict(measure.where),
        mechanism=measure.with_.words(),
        note=" ".join(one for one in (measure.of.note, _counted(plan), measure.with_.note) if one),
        value_bounds=measure.of.value_bounds,
        weighting=weighting_of(plan.schema, measure.of, sampled=plan.sampling != "census"),
    )

"""The gate: a plan, microdata and a ledger in, a release out; the only door.

Reserve, draw, write, commit: the charge is on disk before the first record is read, and the folder gets its name only
after the ledger knows its hash. A crash leaves a charge without a release, which is listed, and never the reverse.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from sfumato.calibrate import Diverged
from sfumato.confidential.account import Account
from sfumato.confidential.chain import Entry
from sfumato.confidential.engines.sources import refuse_unreadable
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.sealed import scrubbed
from sfumato.confidential.stating import Facts, stated
from sfumato.confidential.tabulate import Tabulation, reading
from sfumato.draws import Draws, SeededDraws, SystemDraws
from sfumato.errors import ReleaseError, SfumatoError
from sfumato.mechanisms import Cells
from sfumato.plan import Measure, Plan
from sfumato.release import (
    Cube,
    Manifest,
    Product,
    Release,
    Subject,
    digest,
    open_release,
    private_key,
    seal,
    sign,
    write_levels,
    write_products,
)

STAGES = ("priced", "reserved", "read", "perturbed", "calibrated", "written", "committed", "published")
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """How a run differs from the plain one: a rehearsal's seed, what it supersedes, whose key signs."""

    rehearsal: int | None = None
    supersedes: str | None = None
    sign_with: Path | None = None
    progress: Progress = lambda stage: None  # noqa: ARG005 - silence

    def draws(self) -> Draws:
        return SystemDraws() if self.rehearsal is None else SeededDraws(self.rehearsal)

    def facts(self) -> Facts:
        return Facts(self.rehearsal is not None, self.supersedes)


def run(
    plan: Plan,
    microdata: Microdata,
    ledger: Path | str | None,
    out: Path | str,
    options: Options | None = None,
) -> Release:
    """Charge the ledger, read the data, add the noise, write the release, and only then give it its name.

    A rehearsal has a seed of the user's choice and no ledger: whoever knows the seed can undo its noise,
    so it is as confidential as the data and is marked as not releasable.
    """
    options, out = options or Options(), Path(out)
    price = plan.price()
    _refuse_before_charging(plan, microdata, out, options)
    account = _account(ledger, options)
    options.progress("priced")
    charge = account.reserve(plan.name, price.total, plan.hidden, digest(plan.to_toml().encode())) if account else None
    options.progress("reserved")
    cubes, diverged = _calibrated(plan, _measured_or_refused(plan, microdata, options, charge))
    options.progress("calibrated")
    manifest = stated(plan, price, options.facts(), account, charge, cubes)
    part = Path(mkdtemp(prefix=f".{out.name}.", suffix=".partial", dir=out.parent))
    try:
        release = _written(part, plan, cubes, manifest, diverged)
        if options.sign_with:
            sign(part, options.sign_with)
        options.progress("written")
        if account and charge:
            account.commit(charge, release)
        options.progress("committed")
        part.chmod(0o755)
        _refuse_taken(out)
        part.rename(out)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    options.progress("published")
    return open_release(out)


def _refuse_before_charging(plan: Plan, microdata: Microdata, out: Path, options: Options) -> None:
    """Whatever can be told without reading a record is told before anything is charged."""
    _refuse_taken(out)
    if options.sign_with:
        private_key(options.sign_with)
    columns = [*reading(plan).columns, *(name for name in (plan.schema.weight, *plan.schema.replicates) if name)]
    for source in microdata.sources:
        refuse_unreadable(source, columns)


def _measured_or_refused(plan: Plan, microdata: Microdata, options: Options, charge: Entry | None) -> list[Cube]:
    try:
        return scrubbed(_measured, plan, microdata, options)
    except SfumatoError as error:
        stays = " What this run costs stays charged." if charge else ""
        raise type(error)(f"{error}{stays}") from None


def _refuse_taken(out: Path) -> None:
    if out.exists():
        raise ReleaseError(f"{out} is there already; a release is written once. Choose another --out.")
    if not out.parent.is_dir():
        raise ReleaseError(f"The folder {out.parent} is not there; make it first.")


def _account(ledger: Path | str | None, options: Options) -> Account | None:
    if options.rehearsal is not None:
        return None
    if ledger is None:
        raise ReleaseError("A release must be charged to a ledger: give --ledger, or --rehearsal SEED for a trial run.")
    return Account(Path(ledger))


def _measured(plan: Plan, microdata: Microdata, options: Options) -> list[Cube]:
    draws = options.draws()
    tabulation = Tabulation(plan, microdata, draws)
    tabulation.refuse_faults()
    options.progress("read")
    cubes = [_perturbed(measure, plan, tabulation.cells(measure), draws) for measure in plan.measures]
    options.progress("perturbed")
    return cubes


def _calibrated(plan: Plan, cubes: list[Cube]) -> tuple[list[Cube], list[Diverged]]:
    """The measured products and those that steps make of them; from here on everything is public arithmetic."""
    products: dict[str, Product] = {cube.subject.name: cube for cube in cubes}
    made = [step.apply(products) for step in plan.then]
    return [*cubes, *(one for one in made if isinstance(one, Cube))], [one for one in made if isinstance(one, Diverged)]


def _perturbed(measure: Measure, plan: Plan, cells: Cells, draws: Draws) -> Cube:
    noisy = measure.with_.perturb(cells, draws)
    subject = Subject(
        name=measure.name,
        statistic=measure.of.name,
        title=_title(measure, plan),
        unit=_unit(measure, plan),
        step=noisy.step,
        additive=measure.of.additive,
        universe={name: tuple(codes) for name, codes in measure.where.items()},
        mechanism=measure.with_.words(),
        note=_note(measure, plan),
    )
    return Cube(subject, noisy.table, noisy.values, measure.with_.uncertainty(noisy))


def _note(measure: Measure, plan: Plan) -> str:
    hidden = plan.hidden
    rows = f"At most {hidden.at_most} {plan.schema.unit}s of one {hidden.unit} count." if hidden.id else ""
    return " ".join(one for one in (measure.of.note, rows) if one)


def _unit(measure: Measure, plan: Plan) -> str:
    return f"{plan.schema.unit}s" if measure.of.unit == "records" else measure.of.unit


def _title(measure: Measure, plan: Plan) -> str:
    return measure.title or measure.of.title.replace("records", f"{plan.schema.unit}s")


def _written(part: Path, plan: Plan, cubes: list[Cube], manifest: Manifest, diverged: list[Diverged]) -> str:
    """Write every file of the release; what a diverged step should have made is answered by the table that it read."""
    names = {name for measure in plan.measures for name in measure.by}
    used = [attribute for attribute in plan.schema.attributes if attribute.name in names]
    (part / "plan.toml").write_text(plan.to_toml(), encoding="utf-8")
    lost = {one.name: one.why for one in diverged}
    answering = set(plan.answering) | {step.table for step in plan.then if step.name in lost}
    products = [line.model_copy(update={"answers": line.name in answering}) for line in write_products(part, cubes)]
    levels = write_levels(part, used)
    return seal(part, manifest.model_copy(update={"attributes": levels, "products": products, "diverged": lost}))

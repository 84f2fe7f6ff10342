"""The gate: a plan, microdata and a ledger in, a release out; the only door.

Reserve, draw, write, commit: the charge is on disk before the first record is read, and the folder gets its name only
after the ledger knows its hash. A crash leaves a charge without a release, which is listed, and never the reverse.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from sfumato.calibrate import Diverged
from sfumato.confidential.account import Account
from sfumato.confidential.chain import Entry
from sfumato.confidential.engines.sources import refuse_unreadable
from sfumato.confidential.framed import FrameTabulation, framed_columns
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.sealed import scrubbed
from sfumato.confidential.stating import Facts, stated
from sfumato.confidential.tabulate import Tabulation, reading
from sfumato.draws import Draws, SeededDraws, SystemDraws
from sfumato.errors import ReleaseError, SfumatoError
from sfumato.geography import Shapes
from sfumato.mechanisms import Cells
from sfumato.plan import Measure, Plan
from sfumato.release import (
    Cube,
    Manifest,
    Product,
    Records,
    Release,
    Sparse,
    Subject,
    digest,
    open_release,
    private_key,
    seal,
    sign,
    write_levels,
    write_products,
    write_shapes,
)
from sfumato.schema import Table

STAGES = ("priced", "reserved", "read", "perturbed", "calibrated", "written", "committed", "published")
Progress = Callable[[str], None]


def stages(plan: Plan) -> tuple[str, ...]:
    """What a run of a plan goes through, each of its measures by name."""
    place = STAGES.index("perturbed")
    return (*STAGES[:place], *(measure.name for measure in plan.measures), *STAGES[place:])


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
    shapes = [one.shapes(plan.schema.attribute(one.attribute)) for one in plan.geographies]
    account = _account(ledger, options)
    options.progress("priced")
    charge = account.reserve(plan.name, price.total, plan.hidden, digest(plan.to_toml().encode())) if account else None
    options.progress("reserved")
    cubes, diverged = _calibrated(plan, _measured_or_refused(plan, microdata, options, charge))
    options.progress("calibrated")
    manifest = stated(plan, price, options.facts(), account, charge, cubes)
    part = Path(mkdtemp(prefix=f".{out.name}.", suffix=".partial", dir=out.parent))
    try:
        release = _written(part, plan, cubes, manifest, diverged, shapes)
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
    design = (plan.schema.weight, *plan.schema.replicates)
    columns = framed_columns(plan) if plan.frame else [*reading(plan).columns, *(name for name in design if name)]
    for source in microdata.sources:
        refuse_unreadable(source, columns)
    if plan.framed:
        _ = plan.framed.frame  # the register is public: what is wrong with it is told now


def _measured_or_refused(plan: Plan, microdata: Microdata, options: Options, charge: Entry | None) -> list[Product]:
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


def _measured(plan: Plan, microdata: Microdata, options: Options) -> list[Product]:
    draws = options.draws()
    tabulation = FrameTabulation(plan, microdata) if plan.framed else Tabulation(plan, microdata, draws)
    tabulation.refuse_faults()
    options.progress("read")
    made: dict[str, Product] = {}
    for measure in plan.measures:
        given = {name: made[name] for name in measure.given}
        options.progress(measure.name)
        made[measure.name] = _perturbed(measure, plan, tabulation.cells(measure), draws, given)
    options.progress("perturbed")
    return list(made.values())


def _calibrated(plan: Plan, cubes: list[Product]) -> tuple[list[Product], list[Diverged]]:
    """The measured products and those that steps make of them; from here on everything is public arithmetic."""
    products = {cube.subject.name: cube for cube in cubes}
    made = [step.apply(products) for step in plan.then]
    return [*cubes, *(one for one in made if isinstance(one, Product))], [
        one for one in made if isinstance(one, Diverged)
    ]


def _perturbed(measure: Measure, plan: Plan, cells: Cells, draws: Draws, given: Mapping[str, Product]) -> Product:
    noisy = measure.with_.perturb(cells, draws, given)
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
    uncertainty: Any = measure.with_.uncertainty(noisy)
    if noisy.places is not None and isinstance(noisy.table, Table):
        return Sparse(subject, noisy.table, noisy.places, noisy.values, uncertainty)
    if isinstance(noisy.table, Table):
        return Cube(subject, noisy.table, noisy.values, uncertainty)
    by = None if cells.grouping is None or plan.framed is None else plan.framed.by(measure)
    return Records(subject, noisy.table, noisy.values, uncertainty, by)


def _note(measure: Measure, plan: Plan) -> str:
    kept = plan.hidden.truncation
    rows = f"At most {kept.at_most} {plan.schema.unit}s of one {plan.hidden.unit} count." if kept else ""
    return " ".join(one for one in (measure.of.note, rows) if one)


def _unit(measure: Measure, plan: Plan) -> str:
    return f"{plan.schema.unit}s" if measure.of.unit == "records" else measure.of.unit


def _title(measure: Measure, plan: Plan) -> str:
    return measure.title or measure.of.title.replace("records", f"{plan.schema.unit}s")


def _written(
    part: Path,
    plan: Plan,
    cubes: list[Product],
    manifest: Manifest,
    diverged: list[Diverged],
    shapes: Sequence[Shapes] = (),
) -> str:
    """Write every file of the release; what a diverged step should have made is answered by the table that it read."""
    names = {name for measure in plan.measures for name in measure.by} if plan.frame is None else plan.schema.names
    used = [attribute for attribute in plan.schema.attributes if attribute.name in names]
    (part / "plan.toml").write_text(plan.to_toml(), encoding="utf-8")
    lost = {one.name: one.why for one in diverged}
    answering = set(plan.answering) | {step.table for step in plan.then if step.name in lost}
    products = [line.model_copy(update={"answers": line.name in answering}) for line in write_products(part, cubes)]
    lines = {"attributes": write_levels(part, used), "geographies": write_shapes(part, shapes)}
    return seal(part, manifest.model_copy(update={**lines, "products": products, "diverged": lost}))

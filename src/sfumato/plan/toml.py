"""Plans read from TOML, with errors that name the file, the key and the fix."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from sfumato.errors import PlanError, SfumatoError
from sfumato.plan.control import ControlTable, FamilyNoise, rows_at, totals_of
from sfumato.plan.decisions import Decisions
from sfumato.plan.geography import Geography
from sfumato.plan.made_areas import MadeAreas
from sfumato.plan.measure import Measure
from sfumato.plan.other_release import CountedRecords, OtherTotals
from sfumato.plan.parts import (
    AttributePart,
    ControlPart,
    DataPart,
    FamilyPart,
    MeasurePart,
    PlanPart,
    WrittenNumber,
    in_words,
)
from sfumato.plan.plugins import mechanism, statistic, step
from sfumato.plan.register import FrameFile
from sfumato.plan.sample_part import (
    built_replicates,
    replicate_columns,
    replication_of,
    sampling_of_plan,
    weight_clip_of,
)
from sfumato.plan.suppress import read_suppress
from sfumato.plan.translations import own_tag, refuse_own, translations_of, with_levels
from sfumato.privacy import exact
from sfumato.privacy.notation import plan_hidden_from_dict, plan_limit_from_dict
from sfumato.schema import (
    Attribute,
    Bands,
    Column,
    Levels,
    Missing,
    Partner,
    Recode,
    Rule,
    Schema,
    Synonyms,
    UpTo,
)

SHIPPED = Path(__file__).parents[1] / "plans"
"""Where the plans are that come with Sfumato."""


P = TypeVar("P", bound=Decisions)


def text_at(path: Path) -> str:
    """The text of the plan in a file."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        shipped = ", ".join(sorted(str(one) for one in SHIPPED.glob("*.toml")))
        raise PlanError(f"There is no plan at {path}; Sfumato comes with {shipped}.") from None
    except UnicodeDecodeError:
        raise PlanError(f"{path} is not UTF-8 text; save the plan as UTF-8.") from None


def parse(text: str, path: Path, kind: type[P], *, released: bool = False) -> P:
    """The plan in a text that came from a path; the paths in it are taken from the folder of that one.

    A plan that lies in a release made before need not say what its weight is.
    """
    try:
        return _plan(_part(text), path.parent, kind, released=released)
    except SfumatoError as error:
        raise type(error)(f"{path}: {error}") from None


def _part(text: str) -> PlanPart:
    try:
        return PlanPart.model_validate(tomllib.loads(text, parse_float=WrittenNumber))
    except ValidationError as error:
        raise PlanError(in_words(error)) from None
    except (ValueError, ArithmeticError, RecursionError) as error:
        said = str(error) if isinstance(error, ValueError) else "a number or a nesting of lists in it is too large"
        raise PlanError(f"not TOML, {said}.") from None


def _plan(part: PlanPart, folder: Path, kind: type[P], *, released: bool) -> P:
    schema = Schema(
        attributes=tuple(
            with_levels(_attribute(name, one, folder, part.data.encoding), part)
            for name, one in part.attributes.items()
        ),
        unit=_row(part),
        key=part.data.key_columns,
        repeated_rows=part.data.repeated_rows,
        base=_base(part.data),
        joined=tuple(Partner(name, table.on) for name, table in part.data.tables.items() if table.on is not None),
        impossible=tuple(Rule.of(where) for where in part.impossible),
        weight=part.data.weight,
        weight_kind=part.data.weight_kind,
        weight_clip=weight_clip_of(part.data),
        weight_step=exact(part.data.weight_step, "[data] weight_step"),
        replicates=replicate_columns(part.data.replicates),
        order=part.data.order,
        replicate_count=built_replicates(part.data),
        encoding=part.data.encoding,
        replication=replication_of(part.data.method),
    )
    hidden = plan_hidden_from_dict(part.hidden)
    made = MadeAreas.of(part.attributes, part.geography, folder)
    made.refuse_moving(schema, hidden)
    made.refuse_sizes(schema, hidden, part.control)
    refuse_own(part, schema)
    plan = kind(
        name=part.name,
        title=part.title,
        period=part.period,
        schema=schema,
        hidden=hidden,
        limit=plan_limit_from_dict(part.limit),
        measures=tuple(_measure(one) for one in part.measure),
        controls=tuple(_control(one, part, schema, folder) for one in part.control),
        then=tuple(step(one) for one in part.then),
        exposures=tuple(part.exposure),
        publish=part.publish,
        sampling=sampling_of_plan(part),
        geographies=tuple(Geography(name, **dict(one), folder=folder) for name, one in part.geography.items()),
        frame=FrameFile(**dict(part.frame), folder=folder) if part.frame else None,
        suppress=read_suppress(part.suppress, folder) if part.suppress else None,
        language=own_tag(part),
        synthetic=part.data.synthetic,
        released=released,
    )
    return replace(plan, translations=translations_of(part, plan.schema, plan.measures, plan.then))


def _control(part: ControlPart, plan: PlanPart, schema: Schema, folder: Path) -> ControlTable:
    if sum(one is not None for one in (part.source, part.file, part.totals, part.release)) != 1:
        raise PlanError(
            f'[[control]] \'{part.name}\' has one source: from = "data", file = "totals.csv", or release = "folder".'
        )
    if part.source is not None:
        return ControlTable(part.name, part.of, tuple(part.by), part.source, released=part.released)
    written = [(f"[[control]] '{part.name}', total {number}", row) for number, row in enumerate(part.totals or (), 1)]
    rows, source = (
        (rows_at(path := folder / part.file, schema.encoding), path)
        if part.file
        else (written, f"[[control]] '{part.name}'")
    )
    shared = None
    if part.shared is not None:
        step = exact(part.shared.step, "the step of shared")
        shared = FamilyNoise(step, tuple(part.shared.variances), part.shared.even)
    if part.release is not None:
        of = next((one for one in plan.measure if one.name == part.of), None)
        asked = OtherTotals(folder / part.release, part.product or "", schema, schema.table(part.by), _counted(plan))
        rows, shared = asked.read(of.of if of else "", of.where if of else {})
        source = folder / part.release
    totals = totals_of(rows, schema.table(part.by), str(source))
    released = part.released or part.release is not None
    return ControlTable(part.name, part.of, tuple(part.by), "published", totals, shared, released)


def _counted(plan: PlanPart) -> CountedRecords:
    hidden, register = plan_hidden_from_dict(plan.hidden), plan.frame is not None
    return CountedRecords.of(_row(plan), hidden, plan.period, plan.data.weight, register=register)


def _base(data: DataPart) -> str:
    """The table of the rows, where they are looked up in others: the one that is joined on nothing."""
    alone = [name for name, table in data.tables.items() if table.on is None]
    if data.tables and len(alone) != 1:
        raise PlanError(
            f"[data.tables] has {len(alone)} tables without `on`; the rows are in one, and all others are joined to it "
            'by a column that both have: for example jobs = {} and workers = { on = "worker_id" }.'
        )
    return alone[0] if alone else ""


def _row(part: PlanPart) -> str:
    """What a row is; without an id it must be said, as then every row is a unit of its own."""
    if part.data.unit is None and "id" not in part.hidden:
        raise PlanError(
            "The plan does not say what a row is: give [data] unit, the hidden unit itself if no unit has two rows, "
            "or [hidden] id, the column that names the unit."
        )
    return part.data.unit or "record"


def _attribute(name: str, part: AttributePart, folder: Path, encoding: str | None) -> Attribute:
    column = part.column or name
    if part.bands is not None and part.recode is not None:
        raise PlanError(f"[attributes.{name}] has both bands and recode; a column is read one way.")
    read: Column | Recode | Bands = Column(column)
    if part.bands is not None:
        read = Bands(column, tuple(part.bands))  # type: ignore[arg-type]
    elif part.recode is not None:
        read = Recode.of(column, part.recode)
    missing = Missing(part.missing) if isinstance(part.missing, str) else part.missing
    try:
        levels = _levels(name, part, read, missing, (folder, encoding))
        synonyms = _synonyms(part, folder, encoding)
        return Attribute(name, levels, part.of, read, missing, part.label, synonyms=synonyms)
    except PlanError as error:
        raise PlanError(f"[attributes.{name}] {error}") from None


def _levels(
    name: str, part: AttributePart, read: object, missing: Missing | None, beside: tuple[Path, str | None]
) -> Levels:
    if isinstance(part.levels, str):
        folder, encoding = beside
        return Levels.read(folder / part.levels, encoding)
    if part.levels is not None:
        return Levels.of(part.levels)
    if isinstance(read, Bands):
        bands = read.levels()
        return Levels.of([*bands.codes, missing.level]) if missing else bands
    raise PlanError(
        f"'{name}' has no levels; list them, or name a CSV or Parquet file: they are never read off the data."
    )


def _synonyms(part: AttributePart, folder: Path, encoding: str | None) -> Synonyms:
    if isinstance(part.synonyms, str):
        return Synonyms.read(folder / part.synonyms, encoding)
    return Synonyms.of(part.synonyms or ())


def _by(part: list[str] | FamilyPart) -> tuple[str, ...] | UpTo:
    """The attributes of a table, or the family of tables that are asked for together."""
    if isinstance(part, list):
        return tuple(part)
    up_to = len(part.of) if part.up_to == "all" else part.up_to
    return UpTo(up_to, tuple(part.of), tuple(map(tuple, part.also)))


def _measure(part: MeasurePart) -> Measure:
    try:
        what, how = statistic(part.of), mechanism(part.with_)
        return Measure(part.name, what, _by(part.by), how, part.where, part.title, tuple(part.given))  # type: ignore[arg-type]
    except PlanError as error:
        raise PlanError(f"[[measure]] '{part.name}': {error}") from None

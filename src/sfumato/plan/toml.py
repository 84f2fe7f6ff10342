"""Plans as TOML: read with errors that name the file, the key and the fix; written so that they read back equal."""

import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sfumato.errors import PlanError, SfumatoError, nearest
from sfumato.plan.plan import Measure, Plan, Publish, VarianceFunction
from sfumato.plan.plugins import mechanism, statistic, step, written
from sfumato.privacy import Exposure, plain
from sfumato.privacy.written import hidden_from_dict, hidden_to_dict, limit_from_dict, loss_to_dict
from sfumato.schema import Attribute, Bands, Column, Levels, Missing, Recode, Rule, Schema

Codes = str | list[str]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True, arbitrary_types_allowed=True)


class _Data(_Part):
    unit: str = "record"
    key: str | None = None
    repeated_rows: bool = False
    weight: str | None = None
    replicates: int | str | list[str] = []
    order: str | None = None


class _Missing(_Part):
    level: str
    codes: list[str] = []


class _Attribute(_Part):
    levels: str | list[str | int | dict[str, Any]] | None = None
    of: str = "unit"
    label: str = ""
    column: str | None = Field(None, alias="from")
    bands: list[int | Decimal | str] | None = None
    recode: dict[str, str] | None = None
    missing: str | _Missing | None = None


class _Measure(_Part):
    name: str
    of: str | dict[str, Any]
    by: list[str] = []
    with_: dict[str, Any] = Field(alias="with")
    where: dict[str, Codes] = {}
    title: str = ""


class _Publish(_Part):
    grades: dict[str, float] = {"A": 0.15, "B": 0.30}
    answers: list[str] = []


class _Exposure(_Part):
    kind: str
    what: str
    why: str


class _VarianceFunction(_Part):
    of: str
    a: int | Decimal | str
    b: int | Decimal | str
    source: str


class _Plan(_Part):
    name: str
    title: str = ""
    period: str = ""
    sampling: str | list[_VarianceFunction] = "census"
    data: _Data = _Data()
    attributes: dict[str, _Attribute]
    impossible: list[dict[str, Codes]] = []
    hidden: dict[str, Any]
    limit: dict[str, Any]
    measure: list[_Measure]
    then: list[dict[str, Any]] = []
    publish: _Publish = _Publish()
    exposure: list[_Exposure] = []


def read(path: Path) -> Plan:
    """The plan in a file; paths in it are taken from its folder."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        raise PlanError(
            f"There is no plan at {path}; plans that come with Sfumato are listed by `sfumato price --list`."
        ) from None
    except UnicodeDecodeError:
        raise PlanError(f"{path} is not UTF-8 text; save the plan as UTF-8.") from None
    return parse(text, path)


def parse(text: str, path: Path) -> Plan:
    """The plan in a text that came from a path."""
    try:
        part = _Plan.model_validate(tomllib.loads(text, parse_float=Decimal))
    except ValidationError as error:
        raise PlanError(f"{path}: {_in_words(error)}") from None
    except (ValueError, ArithmeticError, RecursionError) as error:
        said = str(error) if isinstance(error, ValueError) else "a number or a nesting of lists in it is too large"
        raise PlanError(f"{path}: not TOML, {said}.") from None
    try:
        return _plan(part, path.parent)
    except SfumatoError as error:
        raise type(error)(f"{path}: {error}") from None


def _in_words(error: ValidationError) -> str:
    """The first thing wrong: the key, and the nearest valid one."""
    one = min(error.errors(), key=lambda wrong: wrong["type"] != "extra_forbidden")
    place = [str(part) for part in one["loc"] if part not in {"str", "list", "_Missing"}]
    if one["type"] == "extra_forbidden":
        return f"{_section(place[:-1])} has no key '{place[-1]}'; {nearest(place[-1], _keys(place[:-1]))}"
    if one["type"] == "missing":
        return f"{_section(place[:-1])} lacks '{place[-1]}'; add it."
    return f"{_section(place)}: {one['msg']}."


def _section(place: list[str]) -> str:
    return f"[{'.'.join(place)}]" if place else "the plan"


def _keys(place: list[str]) -> list[str]:
    models: dict[str, type[_Part]] = {
        "data": _Data,
        "attributes": _Attribute,
        "measure": _Measure,
        "publish": _Publish,
        "exposure": _Exposure,
        "sampling": _VarianceFunction,
    }
    model = models.get(place[0], _Plan) if place else _Plan
    model = _Missing if place[:1] == ["attributes"] and place[2:] == ["missing"] else model
    return [field.alias or name for name, field in model.model_fields.items()]


def _plan(part: _Plan, folder: Path) -> Plan:
    schema = Schema(
        attributes=tuple(_attribute(name, one, folder) for name, one in part.attributes.items()),
        unit=part.data.unit,
        key=part.data.key,
        repeated_rows=part.data.repeated_rows,
        impossible=tuple(Rule.of(where) for where in part.impossible),
        weight=part.data.weight,
        replicates=_numbered(part.data.replicates),
        order=part.data.order,
        replicate_count=_built(part.data),
    )
    return Plan(
        name=part.name,
        title=part.title,
        period=part.period,
        schema=schema,
        hidden=hidden_from_dict(part.hidden),
        limit=limit_from_dict(part.limit),
        measures=tuple(_measure(one) for one in part.measure),
        then=tuple(step(one) for one in part.then),
        exposures=tuple(Exposure(one.kind, one.what, one.why) for one in part.exposure),
        publish=Publish(part.publish.grades, tuple(part.publish.answers)),
        sampling=part.sampling if isinstance(part.sampling, str) else tuple(_function(one) for one in part.sampling),
    )


def _built(data: _Data) -> int:
    """How many replicates are built from the order of selection."""
    if not isinstance(data.replicates, int):
        return 80
    if data.order is None:
        raise PlanError("[data] replicates is a number and there is no order to build them from; name their columns.")
    return data.replicates


def _function(part: _VarianceFunction) -> VarianceFunction:
    return VarianceFunction(part.of, part.a, part.b, part.source)


def _numbered(columns: int | str | list[str]) -> tuple[str, ...]:
    """The columns that a list or a pattern names.

    >>> _numbered("repwt{1..3}")
    ('repwt1', 'repwt2', 'repwt3')
    """
    if not isinstance(columns, str):
        return () if isinstance(columns, int) else tuple(columns)
    pattern = re.fullmatch(r"(.*)\{(\d+)\.\.(\d+)\}(.*)", columns)
    if pattern is None:
        raise PlanError(
            f"[data] replicates is '{columns}'; write a list of columns, or a pattern such as repwt{{1..80}}."
        )
    before, first, last, after = pattern.groups()
    if not 0 <= int(last) - int(first) < 10_000:
        raise PlanError(f"[data] replicates is '{columns}', which counts {first} to {last}; for example {{1..80}}.")
    return tuple(f"{before}{number}{after}" for number in range(int(first), int(last) + 1))


def _attribute(name: str, part: _Attribute, folder: Path) -> Attribute:
    column = part.column or name
    if part.bands is not None and part.recode is not None:
        raise PlanError(f"[attributes.{name}] has both bands and recode; a column is read one way.")
    read: Column | Recode | Bands = Column(column)
    if part.bands is not None:
        read = Bands(column, tuple(part.bands))  # type: ignore[arg-type]
    elif part.recode is not None:
        read = Recode.of(column, part.recode)
    missing = Missing(part.missing) if isinstance(part.missing, str) else None
    if isinstance(part.missing, _Missing):
        missing = Missing(part.missing.level, tuple(part.missing.codes))
    try:
        return Attribute(name, _levels(name, part, read, missing, folder), part.of, read, missing, part.label)
    except PlanError as error:
        raise PlanError(f"[attributes.{name}] {error}") from None


def _levels(name: str, part: _Attribute, read: object, missing: Missing | None, folder: Path) -> Levels:
    if isinstance(part.levels, str):
        return Levels.read(folder / part.levels)
    if part.levels is not None:
        return Levels.of(part.levels)
    if isinstance(read, Bands):
        bands = read.levels()
        return Levels.of([*bands.codes, missing.level]) if missing else bands
    raise PlanError(
        f"'{name}' has no levels; list them, or name a CSV or Parquet file: they are never read off the data."
    )


def _measure(part: _Measure) -> Measure:
    where = {name: (codes,) if isinstance(codes, str) else tuple(codes) for name, codes in part.where.items()}
    try:
        return Measure(part.name, statistic(part.of), tuple(part.by), mechanism(part.with_), where, part.title)
    except PlanError as error:
        raise PlanError(f"[[measure]] '{part.name}': {error}") from None


def write(plan: Plan) -> str:
    """The plan as TOML, every level written out so that it stands alone."""
    import tomli_w

    return tomli_w.dumps(to_dict(plan), multiline_strings=False)


def to_dict(plan: Plan) -> dict[str, Any]:
    """The plan as the tables of its TOML file."""
    schema = plan.schema
    data: dict[str, Any] = {"unit": schema.unit} | ({"key": schema.key} if schema.key else {})
    data |= {"weight": schema.weight} if schema.weight else {}
    data |= {"replicates": list(schema.replicates)} if schema.replicates else {}
    data |= {"order": schema.order, "replicates": schema.replicate_count} if schema.order else {}
    whole = {
        "name": plan.name,
        "title": plan.title,
        "period": plan.period,
        "sampling": _sampling_dict(plan),
        "data": data | ({"repeated_rows": True} if schema.repeated_rows else {}),
        "attributes": {one.name: _attribute_dict(one) for one in schema.attributes},
        "impossible": [{name: list(codes) for name, codes in rule.where} for rule in schema.impossible],
        "hidden": hidden_to_dict(plan.hidden),
        "limit": loss_to_dict(plan.limit),
        "measure": [_measure_dict(one) for one in plan.measures],
        "then": [written(one, "step") for one in plan.then],
        "publish": {"grades": dict(plan.publish.grades), "answers": list(plan.publish.answers)},
        "exposure": [{"kind": one.kind, "what": one.what, "why": one.why} for one in plan.exposures],
    }
    return {key: value for key, value in whole.items() if value not in ("", [])}


def _sampling_dict(plan: Plan) -> str | list[dict[str, str]]:
    if isinstance(plan.sampling, str):
        return plan.sampling
    return [{"of": one.of, "a": plain(one.a), "b": plain(one.b), "source": one.source} for one in plan.sampling]


def _attribute_dict(one: Attribute) -> dict[str, Any]:
    part: dict[str, Any] = {"of": one.of, "label": one.label, "from": one.column}
    part["levels"] = [record["code"] if record.keys() == {"code"} else record for record in one.levels.records()]
    if isinstance(one.read, Bands):
        part["bands"] = [str(edge) for edge in one.read.edges]
    if isinstance(one.read, Recode):
        part["recode"] = dict(one.read.codes)
    if one.missing:
        part["missing"] = {"level": one.missing.level, "codes": list(one.missing.codes)}
    return part


def _measure_dict(one: Measure) -> dict[str, Any]:
    of: Mapping[str, Any] = written(one.of, "statistic")
    rest = {"where": {name: list(codes) for name, codes in one.where.items()}, "title": one.title}
    whole = {"name": one.name, "of": of, "by": list(one.by), "with": written(one.with_, "mechanism")} | rest
    return {key: value for key, value in whole.items() if value not in ({}, "")}

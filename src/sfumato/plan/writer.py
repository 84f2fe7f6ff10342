"""Plans written as TOML that reads back equal."""

from dataclasses import fields
from fractions import Fraction
from typing import Any

from sfumato.plan.control import ControlTable
from sfumato.plan.decisions import Decisions
from sfumato.plan.measure import Measure
from sfumato.plan.plugins import written
from sfumato.plan.suppress import Suppress
from sfumato.privacy import plain
from sfumato.privacy.notation import hidden_to_dict, loss_to_dict, text
from sfumato.release import Translation
from sfumato.schema import Attribute, Bands, Level, Recode, Replication, Schema, UpTo


def write(plan: Decisions) -> str:
    """The plan as TOML, every level written out so that it stands alone."""
    import tomli_w

    return tomli_w.dumps(to_dict(plan), multiline_strings=False)


def to_dict(plan: Decisions) -> dict[str, Any]:
    """The plan as the tables of its TOML file."""
    schema, taken = plan.schema, {control.name for control in plan.controls if not control.totals}
    whole = {
        "name": plan.name,
        "title": plan.title,
        "period": plan.period,
        "language": plan.language,
        "sampling": plan.sampling if isinstance(plan.sampling, str) else [_said(one) for one in plan.sampling],
        "data": _data_dict(schema) | ({"synthetic": plan.synthetic} if plan.synthetic else {}),
        "attributes": {attribute.name: _attribute_dict(attribute) for attribute in schema.attributes},
        "impossible": [{name: list(codes) for name, codes in rule.where} for rule in schema.impossible],
        "hidden": {key: one for key, one in hidden_to_dict(plan.hidden).items() if key not in plan.hidden.resolved},
        "limit": loss_to_dict(plan.limit),
        "measure": [] if plan.suppress else [_measure_dict(one) for one in plan.measures if one.name not in taken],
        "suppress": _suppress_dict(plan.suppress) if plan.suppress else {},
        "control": [_control_dict(one) for one in plan.controls],
        "then": [written(step, "step") for step in plan.then],
        "publish": _said(plan.publish),
        "geography": {one.attribute: _said(one, without=("attribute",)) for one in plan.geographies},
        "frame": _said(plan.frame),
        "exposure": [_said(one) for one in plan.exposures],
        "languages": {tag: _language_dict(one) for tag, one in plan.translations.items()},
    }
    return {key: value for key, value in whole.items() if value not in ("", [], {})}


def _said(part: Any, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """A part of the plan by its own fields, less those that are empty; nothing where there is no such part."""
    own = {field.name: getattr(part, field.name) for field in (fields(part) if part else ()) if field.compare}
    told = {name: value for name, value in own.items() if name not in without and value is not False}
    return {name: text(value) for name, value in told.items() if value not in (None, "", (), {})}


def _control_dict(control: ControlTable) -> dict[str, Any]:
    """A control with its totals written out, so that the plan needs no file."""
    names = [Level.read(written).name for written in control.by]
    totals = [
        {**dict(zip(names, one.codes, strict=True)), "value": plain(one.value)}
        | ({"standard_error": plain(one.standard_error)} if one.standard_error else {})
        for one in control.totals
    ]
    source = {"totals": totals} if totals else {"from": control.from_}
    shared = control.shared
    noise = {"step": plain(shared.step), "variances": list(shared.variances), "even": shared.even} if shared else {}
    told = {"name": control.name, "of": control.of, "by": list(control.by), **source}
    return told | ({"shared": noise} if shared else {"released": True} if control.released else {})


def _data_dict(schema: Schema) -> dict[str, Any]:
    data: dict[str, Any] = {
        "unit": schema.unit,
        "key": _key_text(schema),
        "weight": schema.weight,
        "weight_kind": schema.weight_kind,
        **_weight_clip_dict(schema),
        "order": schema.order,
    }
    data["replicates"] = schema.replicate_count if schema.order else list(schema.replicates)
    data |= {"repeated_rows": schema.repeated_rows, "encoding": schema.encoding}
    data["method"] = None if schema.replication.assumed else _replication_dict(schema.replication)
    data["tables"] = {schema.base: {}, **{one.name: {"on": one.on} for one in schema.joined}} if schema.base else {}
    return {key: value for key, value in data.items() if value not in (None, "", [], {}, False)}


def _weight_clip_dict(schema: Schema) -> dict[str, Any]:
    """The bounds of the weight and its step, where the plan gives them."""
    if schema.weight_clip is None:
        return {}
    return {"weight_clip": [plain(bound) for bound in schema.weight_clip], "weight_step": plain(schema.weight_step)}


def _key_text(schema: Schema) -> str | list[str]:
    """A key as it is written: one column, or the list of those that together are one."""
    return schema.key[0] if len(schema.key) == 1 else list(schema.key)


def _replication_dict(replication: Replication) -> dict[str, Any]:
    """A method with what is its own."""
    said = {field.name: getattr(replication, field.name) for field in fields(replication) if field.compare}
    return {name: text(value) for name, value in said.items() if value not in (None, ())}


def _language_dict(translation: Translation) -> dict[str, Any]:
    """What the plan says in a further language; labels of levels stand beside these."""
    return {name: said for name, said in translation.model_dump().items() if said}


def _attribute_dict(attribute: Attribute) -> dict[str, Any]:
    part: dict[str, Any] = {"of": attribute.of, "label": attribute.label, "from": attribute.column}
    part["levels"] = [record["code"] if record.keys() == {"code"} else record for record in attribute.levels.records()]
    if isinstance(attribute.read, Bands):
        part["bands"] = [str(edge) for edge in attribute.read.edges]
    if isinstance(attribute.read, Recode):
        part["recode"] = dict(attribute.read.codes)
    if attribute.missing:
        part["missing"] = {"level": attribute.missing.level, "codes": list(attribute.missing.codes)}
    if len(attribute.synonyms):
        part["synonyms"] = attribute.synonyms.records()
    return part


def _suppress_dict(suppress: Suppress) -> dict[str, Any]:
    """What is withheld by which rules, less those that stay inside."""
    step = "" if suppress.weight_step == Fraction(1, 100) else plain(suppress.weight_step)
    said = {"holding": suppress.holding, "inside": suppress.inside, "weight_step": step}
    measures = [_said(one, without=("of",)) | {"of": written(one.of, "statistic")} for one in suppress.measures]
    by = [list(table) for table in suppress.by]
    return (
        {name: value for name, value in said.items() if value}
        | suppress.rules.to_dict()
        | {"by": by, "measure": measures}
    )


def _measure_dict(measure: Measure) -> dict[str, Any]:
    plugged = {"of": written(measure.of.as_written, "statistic"), "with": written(measure.with_, "mechanism")}
    by = _said(measure.by) if isinstance(measure.by, UpTo) else list(measure.by)
    return _said(measure, without=("of", "by", "with_")) | plugged | ({"by": by} if by else {})

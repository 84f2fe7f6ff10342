"""Plans written as TOML that reads back equal."""

from typing import Any

from sfumato.plan.control import ControlTable
from sfumato.plan.decisions import Decisions
from sfumato.plan.geography import Geography
from sfumato.plan.measure import BoughtVariance, Measure, Publish, VarianceFunction
from sfumato.plan.plugins import written
from sfumato.privacy import plain
from sfumato.privacy.notation import hidden_to_dict, loss_to_dict
from sfumato.schema import Attribute, Bands, Level, Recode, Schema


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
        "sampling": plan.sampling if isinstance(plan.sampling, str) else [_function_dict(one) for one in plan.sampling],
        "data": _data_dict(schema),
        "attributes": {attribute.name: _attribute_dict(attribute) for attribute in schema.attributes},
        "impossible": [{name: list(codes) for name, codes in rule.where} for rule in schema.impossible],
        "hidden": hidden_to_dict(plan.hidden),
        "limit": loss_to_dict(plan.limit),
        "measure": [_measure_dict(one) for one in plan.measures if one.name not in taken],
        "control": [_control_dict(one) for one in plan.controls],
        "then": [written(step, "step") for step in plan.then],
        "publish": _publish_dict(plan.publish),
        "geography": {geography.attribute: _geography_dict(geography) for geography in plan.geographies},
        "frame": {"file": plan.frame.file, "id": plan.frame.id} if plan.frame else {},
        "exposure": [{"kind": one.kind, "what": one.what, "why": one.why} for one in plan.exposures],
    }
    return {key: value for key, value in whole.items() if value not in ("", [], {})}


def _control_dict(control: ControlTable) -> dict[str, Any]:
    """A control with its totals written out, so that the plan needs no file."""
    names = [Level.read(written).name for written in control.by]
    totals = [
        {**dict(zip(names, one.codes, strict=True)), "value": plain(one.value)}
        | ({"standard_error": plain(one.standard_error)} if one.standard_error else {})
        for one in control.totals
    ]
    source = {"totals": totals} if totals else {"from": control.from_}
    return {"name": control.name, "of": control.of, "by": list(control.by), **source}


def _geography_dict(geography: Geography) -> dict[str, Any]:
    whole = {"file": geography.file, "id": geography.id, "projection": geography.projection, "detail": geography.detail}
    whole |= {"partial": geography.partial, "source": geography.source}
    return {key: value for key, value in whole.items() if value not in ("", False)}


def _publish_dict(publish: Publish) -> dict[str, Any]:
    rules = {"least": publish.least, "largest_cv": publish.largest_cv}
    return {"grades": dict(publish.grades), "answers": list(publish.answers)} | rules


def _data_dict(schema: Schema) -> dict[str, Any]:
    data: dict[str, Any] = {"unit": schema.unit, "key": schema.key, "weight": schema.weight, "order": schema.order}
    data["replicates"] = schema.replicate_count if schema.order else list(schema.replicates)
    data["repeated_rows"] = schema.repeated_rows
    data["tables"] = {schema.base: {}, **{one.name: {"on": one.on} for one in schema.joined}} if schema.base else {}
    return {key: value for key, value in data.items() if value not in (None, [], {}, False)}


def _function_dict(one: VarianceFunction | BoughtVariance) -> dict[str, Any]:
    if isinstance(one, BoughtVariance):
        return {"of": one.of, "squares": one.squares, "weights": one.weights, "deff": plain(one.deff)}
    outside = {"outside": True} if one.outside else {}
    return {"of": one.of, "a": plain(one.a), "b": plain(one.b), "source": one.source} | outside


def _attribute_dict(attribute: Attribute) -> dict[str, Any]:
    part: dict[str, Any] = {"of": attribute.of, "label": attribute.label, "from": attribute.column}
    part["levels"] = [record["code"] if record.keys() == {"code"} else record for record in attribute.levels.records()]
    if isinstance(attribute.read, Bands):
        part["bands"] = [str(edge) for edge in attribute.read.edges]
    if isinstance(attribute.read, Recode):
        part["recode"] = dict(attribute.read.codes)
    if attribute.missing:
        part["missing"] = {"level": attribute.missing.level, "codes": list(attribute.missing.codes)}
    return part


def _measure_dict(measure: Measure) -> dict[str, Any]:
    rest = {"where": {name: list(codes) for name, codes in measure.where.items()}, "title": measure.title}
    rest |= {"given": list(measure.given)} if measure.given else {}
    whole = {
        "name": measure.name,
        "of": written(measure.of, "statistic"),
        "by": list(measure.by),
        "with": written(measure.with_, "mechanism"),
    } | rest
    return {key: value for key, value in whole.items() if value not in ({}, "")}

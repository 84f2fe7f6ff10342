"""Labels: what Stata and SPSS files call their values, on the levels that the plan gives no label."""

from dataclasses import replace
from itertools import chain

from sfumato.confidential.engines.sources.files import value_labels
from sfumato.confidential.engines.sources.tables import by_table
from sfumato.confidential.microdata import Microdata
from sfumato.plan import Plan
from sfumato.schema import Attribute, Column, Levels


def labelled(plan: Plan, microdata: Microdata) -> Plan:
    """The plan with a label from the data files on every level that has none and is read by its own code."""
    said: dict[str, dict[str, set[str]]] = {}
    for source in chain(*by_table(microdata.sources, plan.schema).values()):
        for column, labels in value_labels(source, plan.schema.encoding).items():
            for code, label in labels.items():
                said.setdefault(column, {}).setdefault(code, set()).add(label)
    attributes = tuple(_labelled(one, said.get(one.column, {})) for one in plan.schema.attributes)
    if attributes == plan.schema.attributes:
        return plan
    return replace(plan, schema=replace(plan.schema, attributes=attributes))


def taken(plan: Plan, named: Plan) -> str:
    """What is said of the labels that a plan got from data files, as they are published; nothing where it got none."""
    pairs = zip(plan.schema.attributes, named.schema.attributes, strict=True)
    names = [before.name for before, after in pairs if before != after]
    return f"Published with the release are the value labels of the data files for {', '.join(names)}." if names else ""


def _labelled(attribute: Attribute, said: dict[str, set[str]]) -> Attribute:
    """The attribute, its levels labelled; a code that two files call by two names keeps none."""
    if not isinstance(attribute.read, Column):
        return attribute
    agreed = {code: next(iter(labels)) for code, labels in said.items() if len(labels) == 1}
    records = [{"label": agreed.get(one["code"], "")} | one for one in attribute.levels.records()]
    return replace(attribute, levels=Levels.of(records))

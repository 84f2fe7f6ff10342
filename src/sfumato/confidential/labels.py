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


EXPOSED = "value labels"
"""What an exposure names where the labels of data files are published."""


def published(plan: Plan, microdata: Microdata) -> tuple[Plan, str]:
    """The plan as it is published, and what is said of the labels in the data files, if they have any to give.

    Many programs label only the values that occur, so that labels tell which do: they are published only where the plan
    lists them as an exposure.
    """
    named = labelled(plan, microdata)
    pairs = zip(plan.schema.attributes, named.schema.attributes, strict=True)
    names = ", ".join(before.name for before, after in pairs if before != after)
    if not names:
        return plan, ""
    if any(EXPOSED in one.what for one in plan.exposures):
        return named, f"Published with the release are the value labels of the data files for {names}."
    return plan, (
        f"The value labels of the data files for {names} are not published, as they may tell which values occur; "
        f'give labels in the plan, or add an [[exposure]] with what = "{EXPOSED}".'
    )


def _labelled(attribute: Attribute, said: dict[str, set[str]]) -> Attribute:
    """The attribute, its levels labelled; a code that two files call by two names keeps none."""
    if not isinstance(attribute.read, Column):
        return attribute
    agreed = {code: next(iter(labels)) for code, labels in said.items() if len(labels) == 1}
    records = [{"label": agreed.get(one["code"], "")} | one for one in attribute.levels.records()]
    return replace(attribute, levels=Levels.of(records))

"""The contract of a plug-in as plans meet it: a frozen dataclass, made anew of the texts that a plan writes."""

from dataclasses import fields
from fractions import Fraction

from sfumato.errors import PlanError
from sfumato.plan.plugins import mechanism, written
from sfumato.privacy import exact


def frozen(example) -> list[str]:
    """A class without @dataclass of its own has the fields of its parent, and plans would lose its parameters."""
    settled = vars(type(example)).get("__dataclass_params__")
    return [] if settled and settled.frozen else [f"{type(example).__name__} is not @dataclass(frozen=True)"]


def takes_text(example) -> list[str]:
    """Parameters arrive as text; a number that stays one is compared, divided and printed wrongly."""
    said, plain = [], written(example, "mechanism")
    for field in fields(example):
        try:
            made = mechanism(plain | {field.name: str(getattr(example, field.name))})
        except PlanError:
            made = example  # it takes whole numbers alone, and says so
        if _is_text_of_a_number(getattr(made, field.name)):
            said.append(f"{field.name} stays the text of a number: read it with positive(...) or exact(...)")
    return said + ([] if mechanism(plain) == example else ["read back from a plan it is another"])


def _is_text_of_a_number(value) -> bool:
    try:
        return isinstance(value, str) and isinstance(exact(value, "it"), Fraction)
    except PlanError:
        return False


PLUGIN_CHECKS = {"frozen dataclass": frozen, "parameters are read from text": takes_text}

"""The form of the table builder: what may be chosen, and what is."""

from dataclasses import dataclass

from sfumato.schema import Attribute
from sfumato.serve.layout import ERRORS, Layout
from sfumato.serve.question import code_list, code_lists

_FEW = 40
"""The most codes that are offered as boxes to tick; longer lists are typed, with the codes suggested."""
_MANY = 2_000
"""The most codes that are suggested at all."""


@dataclass(frozen=True)
class Option:
    value: str
    label: str
    chosen: bool = False
    depth: int = 0


@dataclass(frozen=True)
class Choice:
    """One field: its name in the address, its label and its options."""

    name: str
    label: str
    options: tuple[Option, ...]
    typed: str | None = None

    @property
    def active(self) -> bool:
        return bool(self.typed) or any(option.chosen for option in self.options)


@dataclass(frozen=True)
class Form:
    rows: Choice
    then: Choice
    column: Choice
    levels: tuple[Choice, ...]
    universe: tuple[Choice, ...]
    errors: tuple[Option, ...]


def form(layout: Layout) -> Form:
    """The form as the layout fills it in."""
    first, second = layout.rows[0], layout.rows[1] if len(layout.rows) > 1 else ""
    attributes = layout.sheet.product.attributes
    none = Option("", "none")
    return Form(
        rows=Choice("rows", "Rows", _variables(attributes, first)),
        then=Choice("rows", "Rows, then by", (none, *_variables(attributes, second))),
        column=Choice("cols", "Columns", (none, *_variables(attributes, layout.column or ""))),
        levels=tuple(_level(one, layout) for one in attributes if one.levels.depth),
        universe=tuple(_universe(one, layout) for one in attributes),
        errors=tuple(Option(name, label, name == layout.error) for name, label in ERRORS.items()),
    )


def _variables(attributes: tuple[Attribute, ...], chosen: str) -> tuple[Option, ...]:
    return tuple(Option(one.name, one.label, one.name == chosen) for one in attributes)


def _level(attribute: Attribute, layout: Layout) -> Choice:
    chosen = layout.list_of(attribute.name)
    options = [
        Option(name, f"{label} ({len(code_list(attribute.levels, name)):,})", name == chosen)
        for name, label in code_lists(attribute.levels).items()
    ]
    return Choice(f"codelist[{attribute.name}]", attribute.label, tuple(options))


def _universe(attribute: Attribute, layout: Layout) -> Choice:
    levels, chosen = attribute.levels, layout.within.get(attribute.name, ())
    offered = zip(levels.codes, levels.labels, strict=True) if len(levels.codes) <= _MANY else ()
    few = len(levels.codes) <= _FEW
    options = tuple(Option(code, label, few and code in chosen, min(levels.depths[code], 5)) for code, label in offered)
    return Choice(f"sum[{attribute.name}]", attribute.label, options, None if few else ",".join(chosen))

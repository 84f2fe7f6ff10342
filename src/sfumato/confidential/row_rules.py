"""Row rules: what neighbours ask of the rows of data taken together, beyond what each row must be by itself."""

from collections.abc import Sequence

from sfumato.confidential.engines.engine import Engine
from sfumato.confidential.engines.request import Fault, TableRequest
from sfumato.privacy import DataRule, FewRows, OneLevel
from sfumato.schema import Aggregate, Box, Largest, Table, Units

WHOLE = Table(())


def aggregates_of(rules: Sequence[DataRule]) -> tuple[Aggregate, ...]:
    """What must be computed of data to see whether they keep some rules."""
    few = (Largest(per=rule.column) for rule in rules if isinstance(rule, FewRows))
    return (*((Units(),) if any(isinstance(rule, OneLevel) for rule in rules) else ()), *few)


def requests_of(rules: Sequence[DataRule]) -> tuple[TableRequest, ...]:
    """The tables that will be asked of data to see whether they keep some rules."""
    by = [Table((rule.attribute,)) for rule in rules if isinstance(rule, OneLevel)]
    units = [TableRequest(table, (Units(),), Box()) for table in (*by, *([WHOLE] if by else []))]
    few = [TableRequest(WHOLE, (Largest(per=rule.column),), Box()) for rule in rules if isinstance(rule, FewRows)]
    return (*units, *few)


def broken_rules(engine: Engine, rules: Sequence[DataRule], unit: str) -> dict[Fault, DataRule]:
    """The rules that data break, each by its column, without a value."""
    found: dict[Fault, DataRule] = {}
    for rule in rules:
        if isinstance(rule, FewRows):
            if _largest(engine, rule.column) > rule.at_most:
                said = f"some stand in more rows than [hidden] at_most = {rule.at_most}; raise it, which costs as many "
                found[Fault(rule.column, f"{said}times the budget, or take rows away before.")] = rule
        elif _levels(engine, rule) > _units(engine):
            said = f"some {unit}s have several levels of '{rule.attribute.name}', of which each has one; it is said to "
            said += f"be of the {unit}. Correct them, or say of whom it is."
            found[Fault(rule.attribute.column, said)] = rule
    return found


def crowds_of(engine: Engine, rule: DataRule | None) -> tuple[int, list[tuple[str, int]]]:
    """How many rows are of those who stand in too many, and who stands in most: confidential."""
    return engine.crowds(rule.column, rule.at_most) if isinstance(rule, FewRows) else (0, [])


def _largest(engine: Engine, column: str) -> int:
    asked = Largest(per=column)
    return int(engine.aggregate(WHOLE, [asked], Box())[asked].max())


def _levels(engine: Engine, rule: OneLevel) -> int:
    """How many pairs of a unit and a level there are."""
    return int(engine.aggregate(Table((rule.attribute,)), [Units()], Box())[Units()].sum())


def _units(engine: Engine) -> int:
    return int(engine.aggregate(WHOLE, [Units()], Box())[Units()].sum())

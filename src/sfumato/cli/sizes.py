"""What `sfumato price` says of sizes: which look alike, and what noise gives numbers of each, before there are data."""

import math
from typing import TYPE_CHECKING, Any

from sfumato.cli.output import columns, say

if TYPE_CHECKING:
    from sfumato.plan import Measure, Plan
    from sfumato.release import Withheld


def say_sizes(plan: "Plan") -> None:
    """What looks alike at which size, where sizes are hidden; what noise gives at these sizes, and else in a cell."""
    alike = plan.hidden.alike()
    if alike:
        _say_alike(plan)
    every = [(measure, by_size(plan, measure)) for measure in plan.measures]
    sized = [(measure, found) for measure, found in every if any(isinstance(one, float) for one in found.values())]
    if sized:
        unit = plan.hidden.unit
        say("\nThe 90% margin of error by noise alone, before any calibration, by the size of a number, or by that")
        say(f"of the largest {unit} in it:\n\n{_table(plan, sized)}")
    named = [measure.name for measure, _ in sized]
    unsized = [(measure, found) for measure, found in every if measure.name not in named]
    others = [(measure, next(iter(found.values()), margins(plan, measure)[0])) for measure, found in unsized]
    if any(isinstance(error, float) for _, error in others) or not alike:
        say("\n± is the 90% margin of error by noise alone, before any calibration: of normal noise 1.64 times its")
        say("standard deviation (SD), up to a whole step.")
    untold = [(measure, error) for measure, error in others if not isinstance(error, float)]
    if untold and alike:
        say("")
    for measure, error in untold:
        say(f"No ± of a cell of {measure.name} can be told beforehand, as {error.in_full}.")


def margins(plan: "Plan", measure: "Measure") -> list["float | Withheld"]:
    """The margins of error that noise will give one cell and the sum of all cells, known before any data."""
    from sfumato.plan.margins import typical
    from sfumato.release import Withheld
    from sfumato.schema import UpTo

    cells = plan.over.possible(measure)
    mechanism, move = measure.with_, plan.move(measure)
    one, every = (mechanism.margin(move, typical(plan, measure, cells=count)) for count in (1, cells))
    summed = measure.of.additive and not isinstance(measure.by, UpTo)
    return [one, every if summed else Withheld("its cells may not be summed")]


def shown_margin(error: "float | Withheld") -> str:
    """A margin as it is printed, rounded up."""
    from sfumato.release.figures import number

    return number(error, math.ceil) if isinstance(error, float) else "–"


def by_size(plan: "Plan", measure: "Measure") -> dict[float, "float | Withheld"]:
    """The margins of numbers of round sizes, or of numbers of which the largest in them has that size."""
    from sfumato.plan.margins import typical
    from sfumato.plan.targets import Target

    column = measure.of.contribution.column
    sizes = [one.size for one in plan.hidden.alike() if one.of_rows or one.variable == column]
    asked = [typical(plan, measure, Target(measure.name, 1.0, size, size)) for size in sizes]
    return {size: measure.with_.margin(plan.move(measure), one) for size, one in zip(sizes, asked, strict=True)}


def size_of(plan: "Plan", measure: "Measure") -> str:
    """What of a number its margin follows: its own size, or the largest unit in it."""
    from sfumato.plan.margins import typical

    return "largest" if measure.with_.facts(plan.move(measure), typical(plan, measure)).at == "largest" else "size"


def told_by_size(plan: "Plan", measure: "Measure") -> dict[str, Any]:
    """The same margins for machines; of a size that has none, why."""
    found = [
        {"size": size} | ({"moe90": error} if isinstance(error, float) else {"no_margin": error.in_full})
        for size, error in by_size(plan, measure).items()
    ]
    return {"margins_by_size": {"by": size_of(plan, measure), "margins": found}} if found else {}


def _say_alike(plan: "Plan") -> None:
    from sfumato.release.figures import number

    rows: dict[tuple[str, ...], list[str]] = {}
    for one in plan.hidden.alike():
        ends = f"{number(one.low)} to {number(one.high)}"
        rows.setdefault((number(one.size), ends, _percent(one.up), _percent(one.down)), []).append(one.variable)
    say(f"\nWhat one {plan.hidden.unit} reports looks like anything within, told apart at most as above:\n")
    said = [[", ".join(variables), *line] for line, variables in rows.items()]
    say(columns(["variable", "size", "looks like", "a change of", "or of"], said))


def _table(plan: "Plan", sized: list[tuple["Measure", dict[float, "float | Withheld"]]]) -> str:
    """What noise gives measures at four sizes; measures that have the same are told in one line."""
    from sfumato.release.figures import number

    rows: dict[tuple[str, ...], list[str]] = {}
    for measure, found in sized:
        told = [f"± {shown_margin(error)} at {number(size)}" for size, error in found.items()]
        rows.setdefault((f"its {size_of(plan, measure)}", *told), []).append(measure.name)
    widest = max(len(line) for line in rows)
    said = [[", ".join(names), *line, *[""] * (widest - len(line))] for line, names in rows.items()]
    return columns(["measure", "by", *[""] * (widest - 1)], said)


def _percent(change: float) -> str:
    percent = 100 * change
    return f"{percent:+,.0f}%" if percent >= 1_000 else f"{percent:+.3g}%".replace("-", "−")

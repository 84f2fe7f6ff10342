"""The budget command: the mu that accuracy targets need, and what it means for those who are hidden."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.options import Json, PlanFile
from sfumato.cli.output import columns, say, say_json
from sfumato.errors import PlanError, how_many

if TYPE_CHECKING:
    from sfumato.plan.budget import Allotment, Share


def budget(
    plan: PlanFile,
    target: Annotated[
        list[str],
        typer.Option(
            help="The 90% margin a measure may have: county=2% of its size, or state=500 in its unit, and so 0.5 "
            "without a % sign; * for any. "
            "An absolute percentage difference: county=apd:5%@95%, of a mean wages/jobs=apd:5%. How many of a tail are "
            "put into it: p25=tail:90%. tables=aim: what a measure of many tables aims at."
        ),
    ],
    size: Annotated[
        list[str] | None,
        typer.Option(help="The typical size of a measure's numbers, from public knowledge: county=15000."),
    ] = None,
    largest: Annotated[
        list[str] | None,
        typer.Option(help="The typical largest value in a group of a measure, from public knowledge: county=4000."),
    ] = None,
    spread: Annotated[
        list[str] | None,
        typer.Option(help="How far a measure's true numbers lie apart, a standard deviation, for tail: p25=0.05."),
    ] = None,
    per_year: Annotated[int, typer.Option(help="Releases of the same units a year, 4 for quarters.")] = 1,
    json: Json = False,
) -> None:
    """Allot the least budget that meets accuracy targets; no data are needed, and none are looked at."""
    from sfumato.plan import Plan

    if per_year < 1:
        raise PlanError(f"--per-year {per_year} is no number of releases; give 1 or more.")
    read = Plan.read(plan)
    numbers = [
        {name: _number(one, value) for name, value in _named(given)}
        for one, given in (("--size", size), ("--largest", largest), ("--spread", spread))
    ]
    allotment = read.budget(dict(_named(target)), *numbers)
    if json:
        say_json(_told(allotment, per_year))
        return
    heads = ["measure", "now", "needed", "wanted (±: 90% margin)", "then", ""]
    say(columns(heads, [_row(share) for share in allotment.shares]))
    for line in _verdict(allotment, per_year):
        say(f"\n{line}")


def _named(given: list[str] | None) -> list[tuple[str, str]]:
    pairs = [one.partition("=") for one in given or []]
    for name, equals, value in pairs:
        if not equals or not name or not value:
            raise PlanError(f"'{name}{equals}{value}' is not MEASURE=NUMBER; for example county=2%.")
    return [(name.strip(), value.strip()) for name, _, value in pairs]


def _number(option: str, written: str) -> float:
    try:
        return float(written)
    except ValueError:
        raise PlanError(f"{option}: '{written}' is not a number.") from None


def _row(share: "Share") -> list[str]:
    from sfumato.privacy import plain

    wanted, then = _words(share)
    now = f"{share.currency} {plain(share.before)}"
    return [share.measure, now, f"{share.currency} {plain(share.after)}", wanted, then, share.why]


def _words(share: "Share") -> tuple[str, str]:
    """What is wanted of a measure and what it has then."""
    from sfumato.plan.targets import Target

    target = share.target
    if target is None or share.reached is None:
        return "", ""
    met = isinstance(target, Target) and target.aim
    return target.words(target.wanted), "met" if met else target.words(share.reached)


def _verdict(allotment: "Allotment", per_year: int) -> list[str]:
    from sfumato.plan.budget import over_periods
    from sfumato.privacy.exact import digits_up

    total = allotment.total
    lines = [f"Together {total.words()}: a test at 5% has power {total.power(0.05):.4f} at most."]
    if per_year > 1:
        year = over_periods(total, per_year)
        lines.append(f"{how_many(per_year, 'release')} a year: {year.words()}, power {year.power(0.05):.4f} at most.")
    if allotment.fits:
        lines.append(f"It fits the plan's limit of {allotment.limit.words()}.")
    limit = allotment.limit.words()
    lines += [
        f"{name} alone is over the plan's limit of {limit}: its target cannot be met." for name in allotment.alone
    ]
    if allotment.wider == float("inf"):
        lines.append(_nothing_fits(allotment))
    elif allotment.wider is not None:
        lines.append(
            f"Over the plan's limit of {limit}; margins {digits_up(allotment.wider)} times as wide, all of them, would "
            "fit."
        )
    if allotment.enough:
        lines.append(
            f"What {', '.join(allotment.enough)} needs is enough, and need not be the least: pairs of records of so "
            "many variables are too many to try, so what it costs to put one for another is a bound."
        )
    lines.append(
        "Margins are by noise alone and before calibration, which narrows them, for the sizes that you stated."
    )
    return lines


def _nothing_fits(allotment: "Allotment") -> str:
    """Why no margins fit the limit, however wide."""
    keeping = [share.measure for share in allotment.shares if share.target is None]
    if keeping:
        return (
            f"No targets fit the limit beside what {', '.join(keeping)}, without a target, cost; give them targets "
            "too, measure less, or raise the limit."
        )
    return "No targets fit the limit, not even 10,000 times as wide: measure less, or raise the limit."


def _told(allotment: "Allotment", per_year: int) -> dict[str, Any]:
    from sfumato.plan.budget import over_periods
    from sfumato.privacy import plain
    from sfumato.privacy.notation import loss_to_dict

    def share(one: "Share") -> dict[str, Any]:
        named = {"measure": one.measure, "currency": one.currency}
        named |= {"now": plain(one.before), "needed": plain(one.after)}
        wanted, then = _words(one)
        margin = one.target.in_units if one.target else None
        told = {"margin_wanted": margin, "wanted": wanted or None, "then": then or None}
        return named | told | {"margin": one.reached if margin is not None else None, "why": one.why}

    year = over_periods(allotment.total, per_year)
    return {
        "measures": [share(one) for one in allotment.shares],
        "total": loss_to_dict(allotment.total),
        "total_words": allotment.total.words(),
        "power_at_5_percent": allotment.total.power(0.05),
        "per_year": {"releases": per_year, "loss": loss_to_dict(year), "power_at_5_percent": year.power(0.05)},
        "limit": loss_to_dict(allotment.limit),
        "fits": allotment.fits,
        "margins_would_fit_times": None if allotment.wider in {None, float("inf")} else allotment.wider,
        "cannot_be_met": list(allotment.alone),
        "need_not_be_least": list(allotment.enough),
    }

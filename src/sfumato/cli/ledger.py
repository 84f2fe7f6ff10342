"""`sfumato ledger`: open, show, verify and confirm the account of a population."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.command_list import CommandList
from sfumato.cli.implied import implied_table
from sfumato.cli.options import Json
from sfumato.cli.output import columns, note, say, say_json
from sfumato.errors import LedgerError, PlanError, how_many

if TYPE_CHECKING:
    from sfumato.privacy import Ledger

app = typer.Typer(
    cls=CommandList,
    help="The account of one population of units: whom it hides, how much may be lost, what was spent.",
    no_args_is_help=True,
)
BY_OPTIONS = ("add-remove", "replace-one")
"""The relations that an account can be opened for without a plan."""
WHOLE_CHARGES = (
    "{}, as older versions entered them, what a release lost in all and not what its measures did: of groups\n"
    "no bound follows from that alone. `sfumato price` of the plan may state one for that release."
)
"""Said where charges that tell too little leave a group without a bound."""
File = Annotated[Path, typer.Argument(metavar="LEDGER", help="The ledger's file.")]


@app.command("open")
def open_(  # noqa: PLR0913, PLR0917 - one argument an option
    ledger: File,
    population: Annotated[
        str, typer.Option(help="Whose account it is, for example 'private establishments in the UI files'.")
    ],
    plan: Annotated[
        Path | None, typer.Option(help="Take the neighbours from this plan's [hidden], whichever they are.")
    ] = None,
    neighbours: Annotated[
        str | None,
        typer.Option(help=f"{' or '.join(BY_OPTIONS)}; other relations need a --plan, which says what they hide."),
    ] = None,
    unit: Annotated[str | None, typer.Option(help="Who is hidden, for example establishment.")] = None,
    unit_id: Annotated[
        str | None, typer.Option("--id", help="The column that names the unit, if rows share one.")
    ] = None,
    at_most: Annotated[int, typer.Option(help="The most rows of one unit, with --id.")] = 1,
    epsilon: Annotated[str | None, typer.Option(help="The limit in epsilon.")] = None,
    delta: Annotated[str | None, typer.Option(help="The delta that goes with epsilon.")] = None,
    mu: Annotated[str | None, typer.Option(help="The limit in mu.")] = None,
    rho: Annotated[str | None, typer.Option(help="The limit in rho.")] = None,
    per_year: Annotated[
        bool, typer.Option("--per-year", help="The limit is for each calendar year, not for life.")
    ] = False,
    no_memory: Annotated[
        bool,
        typer.Option(
            "--no-memory", help="Charge it also where $SFUMATO_STATE cannot be written to remember the charge."
        ),
    ] = False,
) -> None:
    """Open the account of a population, once, by the disclosure officer."""
    from sfumato.confidential.opening import open_ledger
    from sfumato.privacy.notation import hidden_from_dict, limit_from_dict

    given = {"epsilon": epsilon, "delta": delta, "mu": mu, "rho": rho}
    limit = limit_from_dict({key: value for key, value in given.items() if value is not None})
    if plan is not None:
        from sfumato.plan import Plan

        hidden = Plan.read(plan).hidden
    elif neighbours and unit:
        _refuse_unstated(neighbours)
        rows = {"id": unit_id, "at_most": at_most} if unit_id else {}
        hidden = hidden_from_dict({"neighbours": neighbours, "unit": unit} | rows)
    else:
        raise PlanError("Who is hidden? Give --plan, or --neighbours and --unit.")
    account, rivals = open_ledger(ledger, population, hidden, limit, per_year, memory=not no_memory)
    span = "a year" if per_year else "for life"
    say(f"Opened {ledger} for {population}: limit {limit.words()} {span}; head {account.head[:16]}.")
    for rival in rivals:
        note(rival)
    if per_year:
        say("Its year is that of the clock of whichever machine runs: a clock set ahead opens the next year early.")
        say("More than a year after the last entry, `run` is refused until --year confirms the clock.")


def _refuse_unstated(neighbours: str) -> None:
    """Say so where a relation has more to say than options can."""
    from sfumato.plugins import found
    from sfumato.privacy import neighbours as relations

    if neighbours in found(relations, by="kind") and neighbours not in BY_OPTIONS:
        raise PlanError(
            f"--neighbours {neighbours} does not say what is hidden, and within which bounds; give --plan, a plan "
            "whose [hidden] says it."
        )


@app.command()
def show(ledger: File, json: Json = False) -> None:
    """What was spent, what is left to whom, and which charges have no release."""
    from datetime import UTC, datetime

    from sfumato.confidential import Account
    from sfumato.privacy import Unbounded
    from sfumato.privacy.ledger import not_counted
    from sfumato.privacy.notation import hidden_to_dict, loss_to_dict

    account = Account(ledger)
    ledger_now, year = account.ledger, datetime.now(UTC).year
    spent = ledger_now.spent(year)
    left = None if isinstance(spent, Unbounded) else ledger_now.left(year)
    if json:
        charges = [
            vars(charge) | {"loss": loss_to_dict(charge.loss), "parts": list(map(loss_to_dict, charge.parts))}
            for charge in ledger_now.charges
        ]
        limits = {"limit": loss_to_dict(ledger_now.limit), "per_year": ledger_now.per_year}
        limits |= {"spent": loss_to_dict(spent), "left": loss_to_dict(left) if left else None}
        about = {"population": ledger_now.population, "hidden": hidden_to_dict(ledger_now.hidden), "head": account.head}
        implied = [
            {"whom": one.whom, "steps": float(one.steps), "loss": loss_to_dict(ledger_now.of_group(one.steps, year))}
            for one in ledger_now.hidden.implied()
        ]
        say_json(about | limits | {"unbounded": len(ledger_now.unbounded), "implied": implied, "charges": charges})
        return
    say(f"{ledger_now.population}. {ledger_now.hidden.words()}")
    say(f"Spent {spent.words()} of {ledger_now.limit.words()} {f'in {year}' if ledger_now.per_year else 'for life'}.")
    say(f"Left to every {ledger_now.hidden.unit}: {left.words() if left else 'nothing, as the charges do not add up'}.")
    if ledger_now.unbounded:
        say(not_counted(len(ledger_now.unbounded)))
    say("")
    _say_implied(ledger_now, year)
    rows = [
        [one.release, one.period or "–", str(one.year), one.id[:16] if one.finished else "UNFINISHED", one.loss.words()]
        for one in ledger_now.charges
    ]
    say(columns(["release", "period", "charged in", "id", "loss"], rows) if rows else "No charges yet.")
    if account.unfinished():
        say("\nUnfinished charges stay charged: the run stopped after it was charged and before it was published.")


def _say_implied(ledger: "Ledger", year: int) -> None:
    """What the same charges cost whoever else is hidden by them."""
    from sfumato.privacy import Unbounded

    lost = partial(ledger.of_group, year=year)
    if not (table := implied_table(ledger.hidden, lost, "spent")):
        return
    say(f"The same charges, read as other promises:\n\n{table}\n")
    whole = sum(not charge.parts for charge in ledger.counted(year) if not isinstance(charge.loss, Unbounded))
    if whole and any(isinstance(lost(one.steps), Unbounded) for one in ledger.hidden.implied()):
        say(f"{WHOLE_CHARGES.format(f'{whole} charges tell' if whole > 1 else '1 charge tells')}\n")


@app.command()
def confirm(
    ledger: File,
    why: Annotated[str, typer.Option(help="Why an older copy stands in the ledger's place; it is written down in it.")],
    release: Annotated[
        list[Path] | None, typer.Option(help="A release that was charged and is lost in this copy; may be repeated.")
    ] = None,
) -> None:
    """Go on with an older copy where the newest is gone: enter again what was charged, as far as it is known.

    A ledger that only moved, or was put back whole, needs no word.
    """
    from sfumato.confidential import Account
    from sfumato.confidential.remembered import lost, remember
    from sfumato.release import open_release

    account, releases = Account(ledger), [open_release(folder) for folder in release or []]
    gone = lost(account)
    if not gone and not releases:
        say(f"{ledger} holds all that was written to it from here; there is nothing to confirm.")
        return
    entered = account.confirm(why, gone, releases)
    for entry in entered:
        remember(account.ledger.id, entry)
    charges = sum(entry.kind == "reserve" for entry in entered)
    say(f"Entered again: {how_many(charges, 'charge')}, as far as this user wrote them or releases tell them.")
    say("What others charged after this copy was made is not in it: give their releases with --release.")


@app.command()
def verify(
    ledger: File,
    release: Annotated[
        list[Path] | None, typer.Option(help="A release whose ledger head must be in this ledger; may be repeated.")
    ] = None,
) -> None:
    """Recompute the hash chain, and look for the charge of each release: its hash, its plan and its loss."""
    from sfumato.confidential.account import Account, uncharged
    from sfumato.confidential.account import problems as problems_of
    from sfumato.confidential.remembered import lost
    from sfumato.release import open_release

    releases = {folder: open_release(folder) for folder in release or []}
    anchors = [one.manifest.ledger.head for one in releases.values() if one.manifest.ledger]
    problems = problems_of(ledger, anchors)
    if not problems:
        problems = [
            f"Entry {one.sequence} of {one.time[:19]}, written from here, is gone: an older copy was put back."
            for one in lost(Account(ledger))
        ]
        problems += [
            f"{folder}: {said}" for folder, one in releases.items() for said in uncharged(Account(ledger), one)
        ]
    for problem in problems:
        say(problem)
    if problems:
        raise LedgerError(f"{ledger} cannot be trusted: {how_many(len(problems), 'problem')}.")
    held = f", and holds the charge{'s' * (len(anchors) != 1)} of {how_many(len(anchors), 'release')}"
    say(f"{ledger} is whole{held if anchors else ''}.")

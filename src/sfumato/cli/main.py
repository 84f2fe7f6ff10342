"""The commands and how they fail: an error is one sentence on stderr, and the exit code is 0 only if it worked."""

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from sfumato.cli import (
    agency,
    assess,
    budget,
    demo,
    find,
    ledger,
    partition,
    price,
    public,
    report,
    reproduce,
    site,
    suppress,
    table,
    tabulate,
    variance,
)
from sfumato.cli.command_list import AHEAD, INSIDE, OUTSIDE, TRY, CommandList
from sfumato.cli.installs import lacking
from sfumato.cli.output import harmless
from sfumato.errors import SfumatoError


class Commands(CommandList):
    """The commands; one that is stopped by hand says what that has cost, which Typer would keep to itself."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stopped:
            _say_stopped(stopped)
            raise typer.Exit(130) from None


def _say_stopped(stopped: KeyboardInterrupt) -> None:
    notes = getattr(stopped, "__notes__", ("Stopped; nothing was charged.",))
    print(*notes, file=sys.stderr)  # noqa: T201 - what a run stopped half-way has cost


app = typer.Typer(
    name="sfumato",
    cls=Commands,
    help="Publish employment and establishment statistics without publishing the people or the businesses behind them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.command("demo", rich_help_panel=TRY)(demo.demo)
app.command("synth", rich_help_panel=TRY)(agency.synth)
app.command("reproduce", rich_help_panel=TRY)(reproduce.reproduce)
app.command("price", rich_help_panel=AHEAD)(price.price)
app.command("budget", rich_help_panel=AHEAD)(budget.budget)
app.command("audit", rich_help_panel=AHEAD)(agency.audit)
app.command("partition", rich_help_panel=AHEAD)(partition.partition)
app.command("check", rich_help_panel=INSIDE)(agency.check)
app.command("tabulate", rich_help_panel=INSIDE)(tabulate.tabulate)
app.command("variance", rich_help_panel=INSIDE)(variance.variance)
app.command("assess", rich_help_panel=INSIDE)(assess.assess)
app.command("run", rich_help_panel=INSIDE)(agency.run)
app.add_typer(ledger.app, name="ledger", rich_help_panel=INSIDE)
app.add_typer(suppress.app, name="suppress", rich_help_panel=INSIDE)
app.command("verify", rich_help_panel=OUTSIDE)(public.verify)
app.command("table", rich_help_panel=OUTSIDE)(table.table)
app.command("series", rich_help_panel=OUTSIDE)(table.series)
app.command("find", rich_help_panel=OUTSIDE)(find.find)
app.command("within", rich_help_panel=OUTSIDE)(partition.within)
app.command("microdata", rich_help_panel=OUTSIDE)(public.microdata)
app.command("report", rich_help_panel=OUTSIDE)(report.report)
app.command("serve", rich_help_panel=OUTSIDE)(public.serve)
app.command("site", rich_help_panel=OUTSIDE)(site.site)
app.command("diff", rich_help_panel=OUTSIDE)(public.diff)
app.command("withdraw", rich_help_panel=OUTSIDE)(public.withdraw)


def _version(asked: bool) -> None:
    if asked:
        from sfumato import __version__

        typer.echo(f"sfumato {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - its callback has answered
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.obj:
        context.obj()


def main(begin: Callable[[], None] | None = None) -> None:
    """Run a command; a refusal is printed as its sentence, without a traceback.

    `begin` is called once the command is known, before it loads what it needs.
    """
    try:
        app(obj=begin)
    except SfumatoError as error:
        print(f"sfumato: {harmless(str(error))}", file=sys.stderr)  # noqa: T201 - the one place where errors are said
        sys.exit(1)
    except ModuleNotFoundError as error:
        if not (words := lacking(error)):
            raise
        print(f"sfumato: {words}", file=sys.stderr)  # noqa: T201
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(0)
    except KeyboardInterrupt as stopped:
        _say_stopped(stopped)
        sys.exit(130)

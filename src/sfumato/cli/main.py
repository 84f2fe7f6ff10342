"""The commands and how they fail: an error is one sentence on stderr, and the exit code is 0 only if it worked."""

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

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
from sfumato.cli.installs import lacking
from sfumato.cli.output import harmless
from sfumato.errors import SfumatoError


class Commands(TyperGroup):
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

app.command("demo")(demo.demo)
app.command("price")(price.price)
app.command("budget")(budget.budget)
app.command("partition")(partition.partition)
app.command("check")(agency.check)
app.command("run")(agency.run)
app.command("tabulate")(tabulate.tabulate)
app.command("variance")(variance.variance)
app.command("assess")(assess.assess)
app.command("audit")(agency.audit)
app.command("synth")(agency.synth)
app.command("reproduce")(reproduce.reproduce)
app.add_typer(ledger.app, name="ledger")
app.add_typer(suppress.app, name="suppress")
app.command("verify")(public.verify)
app.command("diff")(public.diff)
app.command("withdraw")(public.withdraw)
app.command("table")(table.table)
app.command("series")(table.series)
app.command("find")(find.find)
app.command("report")(report.report)
app.command("microdata")(public.microdata)
app.command("within")(partition.within)
app.command("serve")(public.serve)
app.command("site")(site.site)


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

"""How commands are listed: each with the first sentence of its help, whole, under who needs it."""

from typing import Any

from typer.core import TyperGroup

TRY, AHEAD, INSIDE, OUTSIDE = ("To try it", "Before there are data", "In the clean room", "With a release, by anybody")


class CommandList(TyperGroup):
    """Commands under the headings that they were given, in the order of these; under one where they have none."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - the base class gives it
        listed: dict[str, list[tuple[str, str]]] = {who: [] for who in (TRY, AHEAD, INSIDE, OUTSIDE)}
        for name, command in self.commands.items():
            panel = getattr(command, "rich_help_panel", None)
            who = panel if isinstance(panel, str) else "Commands"
            listed.setdefault(who, []).append((name, (command.help or "").partition("\n\n")[0]))
        for who, commands in listed.items():
            if commands:
                with formatter.section(who):
                    formatter.write_dl(commands)

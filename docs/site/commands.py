"""The directive `commands`: what `sfumato COMMAND --help` prints, of every command, under a heading each."""

from collections.abc import Iterator
from typing import Any

import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from sfumato.cli.main import app as sfumato

WIDTH = 100


def helps(command: Any, name: str, parent: Any = None) -> Iterator[tuple[str, str]]:
    """The name and the help of a command, then those of the commands below it."""
    context = command.context_class(command, info_name=name, parent=parent, max_content_width=WIDTH)
    yield context.command_path, command.get_help(context)
    for below in getattr(command, "commands", {}).values():
        yield from helps(below, below.name, context)


class Commands(SphinxDirective):
    """One section a command, with its help as it is printed."""

    def run(self) -> list[nodes.Node]:
        return [self.section(path, text) for path, text in helps(typer.main.get_command(sfumato), "sfumato")]

    def section(self, path: str, text: str) -> nodes.section:
        section = nodes.section(ids=[path.replace(" ", "-")], names=[path])
        section += nodes.title(text=path)
        section += nodes.literal_block(text, text, language="text")
        return section


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}

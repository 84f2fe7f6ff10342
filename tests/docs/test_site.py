"""The site of the pages: every page is reached from the first one, and every command has a section."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def test_every_page_is_reached_from_the_first_one():
    listed = "\n".join(re.findall(r"```\{toctree\}\n(.*?)```", (DOCS / "index.md").read_text("utf-8"), re.DOTALL))
    pages = {line for line in listed.splitlines() if re.fullmatch(r"[a-z-]+", line)}
    assert pages == {page.stem for page in DOCS.glob("*.md")} - {"index"}


@pytest.fixture
def commands(monkeypatch):
    pytest.importorskip("sphinx", reason="the packages of `make docs` are not here")
    monkeypatch.syspath_prepend(str(DOCS / "site"))
    import commands

    return commands


def test_every_command_and_those_below_it_have_their_help(commands):
    import typer

    from sfumato.cli.main import app

    helps = dict(commands.helps(typer.main.get_command(app), "sfumato"))
    assert {"sfumato run", "sfumato ledger show", "sfumato suppress audit"} <= helps.keys()
    assert all(text.startswith(f"Usage: {path}") for path, text in helps.items())

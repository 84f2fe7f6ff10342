"""What the page of employers and employees says is run: its commands, in order, in one folder."""

import re
import shlex
from pathlib import Path

from tests.commands import command

PAGE = (Path(__file__).parents[2] / "docs" / "lodes.md").read_text(encoding="utf-8")
LONG = re.compile("sfumato (serve|reproduce)")
"""It serves until it is stopped; studies have tests of their own."""


def test_the_commands_of_the_page_run_in_order(tmp_path):
    lines = [line.split("  #")[0].strip() for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]  # fmt: skip # noqa: E501
    asked, folder = [line for line in lines if line and not LONG.match(line)], tmp_path
    assert sum(line.startswith("sfumato ") for line in asked) >= 5
    for line in asked:
        if line.startswith("cd "):
            folder /= line.removeprefix("cd ")
            continue
        done = command(*shlex.split(line)[1:], cwd=folder)
        assert done.returncode == 0, f"{line}\n{done.stderr}"

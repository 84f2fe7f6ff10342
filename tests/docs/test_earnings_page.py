"""What the page of earnings says is run: its commands, in order, in one folder; its step is that of the plan."""

import re
import shlex
from pathlib import Path

from tests.commands import command

from sfumato.plan.toml import SHIPPED

PAGE = (Path(__file__).parents[2] / "docs" / "earnings.md").read_text(encoding="utf-8")
LONG = re.compile("sfumato (serve|reproduce)")
"""It serves until it is stopped; studies have tests of their own."""


def test_the_commands_of_the_page_run_in_order(tmp_path):
    lines = [line.split("  #")[0].strip() for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]  # fmt: skip # noqa: E501
    asked, folder = [line for line in lines if line and not LONG.match(line)], tmp_path
    assert sum(line.startswith("sfumato ") for line in asked) >= 8
    said = []
    for line in asked:
        if line.startswith("cd "):
            folder /= line.removeprefix("cd ")
            continue
        done = command(*shlex.split(line)[1:], cwd=folder)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        said.append(done.stdout)
    assert "n  Fewer than 30 graduates here, by the noisy count." in "".join(said)
    assert "THE CLAIM IS FALSE" not in "".join(said)


def test_the_step_on_the_page_is_that_of_the_plan():
    block = next(one for one in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL) if "percentile" in one)
    plain = "\n".join(line.split("  #")[0].rstrip() for line in block.strip().splitlines())
    assert plain in (SHIPPED / "pseo.toml").read_text(encoding="utf-8")

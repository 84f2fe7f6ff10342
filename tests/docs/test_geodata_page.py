"""What the page of geodata says is run: its commands, in order, in one folder."""

import re
import shlex
from pathlib import Path

from tests.commands import command

PAGE = (Path(__file__).parents[2] / "docs" / "geodata.md").read_text(encoding="utf-8")


def test_the_commands_of_the_page_run_in_order(tmp_path):
    blocks = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    asked, folder = [line.split("  #")[0].strip() for block in blocks for line in block.splitlines()], tmp_path
    assert sum(line.startswith("sfumato ") for line in asked) >= 9
    plans = dict(re.findall(r"```toml\n# (\S+\.toml)\n(.*?)```", PAGE, re.DOTALL))
    assert [*plans] == ["squares.toml"]
    for line in filter(None, asked):
        if line.startswith("cd "):
            folder /= line.removeprefix("cd ")
            for name, text in plans.items():
                (folder / name).write_text(text, encoding="utf-8")
            continue
        # The smallest city that has postal codes of a thousand people; what is shown is the same.
        small = line.replace("synth iab", "synth iab --rows 5000")
        done = command(*shlex.split(small)[1:], cwd=folder)
        assert done.returncode == 0, f"{line}\n{done.stderr}"

"""What the page of suppression says is run: its commands and its Python, on a small table."""

import re
import shlex
from pathlib import Path

from tests.commands import command

PAGE = (Path(__file__).parents[2] / "docs" / "suppression.md").read_text(encoding="utf-8")
CELLS = """trade,place,jobs,firms,largest
food,north,50,2,40
food,south,60,5,20
cloth,north,70,6,20
cloth,south,80,9,20
food,Total,110,7,40
cloth,Total,150,15,20
Total,north,120,8,40
Total,south,140,14,20
Total,Total,260,22,40
"""
FIRMS = {("food", "north"): [40, 10], ("food", "south"): [20, 15, 10, 10, 5]}
FIRMS |= {("cloth", "north"): [20, 10, 10, 10, 10, 10], ("cloth", "south"): [20, 10, 10, 10, 10, 5, 5, 5, 5]}
"""What the contributors of each cell have."""


def test_the_commands_of_the_page_run(tmp_path):
    (tmp_path / "cells.csv").write_text(CELLS, encoding="utf-8")
    holes = re.sub(r"^((?:food|cloth),(?:north|south)),\d+,", r"\1,,", CELLS, flags=re.MULTILINE)
    (tmp_path / "jobs.csv").write_text(holes, encoding="utf-8")
    rows = [
        f"{trade},{place},{trade}{place}{n},{one}" for (trade, place), own in FIRMS.items() for n, one in enumerate(own)
    ]
    (tmp_path / "records.csv").write_text("\n".join(["trade,place,firm,jobs", *rows]) + "\n", encoding="utf-8")
    lines = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines() if line]
    assert len(lines) == 4
    for line in lines:
        done = command(*shlex.split(line)[1:], cwd=tmp_path)
        assert done.returncode == 0, f"{line}\n{done.stderr}"


def test_the_python_of_the_page_runs(capsys):
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(block, "suppression.md", "exec"), {})
    assert "fewer than 3 contributors" in capsys.readouterr().out

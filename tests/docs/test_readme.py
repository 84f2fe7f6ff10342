"""What the README says is run: its plan, its commands and its Python, in order, on a small file."""

import re
import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import command

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", README, re.DOTALL)


def commands() -> list[str]:
    lines = [
        line.removeprefix("$ ").split("  #")[0].strip() for block in blocks("console") for line in block.splitlines()
    ]
    return [line for line in lines if line.startswith("sfumato ")]


def asked_of(line: str) -> str:
    """What a command of the page prints."""
    done = command(*shlex.split(line)[1:])
    assert done.returncode == 0, f"{line}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def place(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    columns = {
        "place": rng.choice(["north", "south", "east", "west"], 5000).tolist(),
        "wage": rng.integers(0, 50000, 5000),
    }
    pq.write_table(pa.table(columns), tmp_path / "jobs.parquet")
    (tmp_path / "places.toml").write_text(blocks("toml")[0])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_commands_and_the_python_of_the_readme_run_in_order(place):
    asked = commands()
    assert len(asked) >= 10
    for line in asked:
        if line.startswith("sfumato serve"):
            continue  # it serves until it is stopped; the demo and the server's own tests start it
        asked_of(line)
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), {})


WAY = ("--rehearsal", "assess ", "--sweep", "--ledger")
"""What tells the steps of choosing a budget apart: rehearse, assess, sweep, publish."""


@pytest.mark.parametrize("page", ["README.md", "docs/plans.md"])
def test_the_free_way_to_choose_a_budget_stands_in_its_order(page):
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    start = text.index("free of charge")
    places = [text.index(word, start) for word in WAY]
    assert places == sorted(places)
    assert places[-1] - start < 2500, "one after the other, not somewhere on the page"


def test_all_but_the_last_step_of_the_way_is_charged_to_nothing(place):
    asked = commands()
    last = next(number for number, line in enumerate(asked) if "run" in line and "--ledger" in line)
    before = [line for line in asked[:last] if not line.startswith("sfumato ledger")]
    opened = next(line for line in asked if line.startswith("sfumato ledger open"))
    for line in [opened, *before]:
        told = asked_of(line)
    assert "No charges yet." in asked_of("sfumato ledger show jobs.ledger")
    assert "--sweep" in line
    for budget in ("epsilon 0.5", "epsilon 1", "epsilon 2", "epsilon 4"):
        assert f"\n{budget}" in told


def test_every_file_that_the_readme_names_is_there():
    root = Path(__file__).parents[2]
    for link in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (root / link).exists(), link


def test_the_plan_in_the_guide_has_a_price_and_names_every_plug_in():
    from sfumato import calibrate, mechanisms
    from sfumato.plan import Plan
    from sfumato.plugins import found

    guide = (Path(__file__).parents[2] / "docs" / "plans.md").read_text(encoding="utf-8")
    plan = Plan.parse(re.findall(r"```toml\n(.*?)```", guide, re.DOTALL)[0], Path("plans.md"))
    assert plan.price().total.mu == 1.5
    assert plan.answering == ("jobs", "pay")
    for name in (*found(mechanisms), *found(calibrate, by="kind")):
        assert f"| `{name}` |" in guide


def test_the_families_in_the_guide_have_a_price_each():
    """The plan as it stands, and with each of the lines that stand beside it in its place."""
    from sfumato.plan import Plan
    from sfumato.plan.tables_ahead import tables_ahead

    guide = (Path(__file__).parents[2] / "docs" / "plans.md").read_text(encoding="utf-8")
    text = next(block for block in re.findall(r"```toml\n(.*?)```", guide, re.DOTALL) if "up_to" in block)
    others = re.findall(r"^# (with = .*)$", text, re.MULTILINE)
    assert len(others) == 2
    for line in (None, *others):
        plan = Plan.parse(re.sub(r"^with = .*$", line, text, flags=re.MULTILINE) if line else text, Path("plans.md"))
        assert plan.price().total.mu == 1
        assert sorted(tables_ahead(plan, plan.measure("tables")).by_ways) == [0, 1, 2, 3]


def test_every_plan_that_comes_with_sfumato_has_a_price():
    from sfumato.plan import Plan

    plans = sorted((Path(__file__).parents[2] / "src" / "sfumato" / "plans").glob("*.toml"))
    assert len(plans) >= 2
    for path in plans:
        assert Plan.read(path).price().cells


def test_the_employers_in_the_guide_have_a_price():
    """Each table costs its epsilon, shared out over three steps: as many jobs as a worker may hold."""
    from sfumato.plan import Plan

    guide = (Path(__file__).parents[2] / "docs" / "plans.md").read_text(encoding="utf-8")
    text = next(block for block in re.findall(r"```toml\n(.*?)```", guide, re.DOTALL) if '"size-within"' in block)
    plan = Plan.parse(text, Path("plans.md"))
    assert plan.price().total.words() == "epsilon 3"
    assert [plan.move(measure).cells for measure in plan.measures] == [3, 3]


def test_decisions_are_numbered_once_and_by_their_files():
    records = sorted((Path(__file__).parents[2] / "docs" / "decisions").glob("[0-9]*.md"))
    numbers = [int(one.name[:4]) for one in records]
    assert numbers == list(range(1, len(records) + 1))
    assert all(one.read_text("utf-8").startswith(f"# {number}. ") for one, number in zip(records, numbers, strict=True))

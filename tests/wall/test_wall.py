"""The wall, by type and by import; deletion and sandbox are tested with the server, habits with the data."""

import dataclasses
import importlib
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato

ROOT = Path(__file__).parents[2]
PUBLIC = ("sfumato.release", "sfumato.query", "sfumato.serve", "sfumato.schema", "sfumato.privacy")


def public_modules():
    for name in PUBLIC:
        package = importlib.import_module(name)
        yield package
        for one in pkgutil.walk_packages(package.__path__, f"{name}."):
            yield importlib.import_module(one.name)


def test_nothing_on_the_public_side_has_a_field_for_a_true_value():
    confidential = {"Cells", "Microdata", "Tabulation"}
    seen = 0
    for module in public_modules():
        for kind in vars(module).values():
            if isinstance(kind, type) and dataclasses.is_dataclass(kind):
                seen += 1
                types = " ".join(str(field.type) for field in dataclasses.fields(kind))
                assert not confidential & set(re.findall(r"\w+", types)), kind
    assert seen > 15


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    linter = Path(sys.executable).with_name("lint-imports")
    path = {"PYTHONPATH": str(folder / "src")}
    return subprocess.run([linter, "--no-cache"], cwd=folder, env=path, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_layers_hold_and_the_check_sees_every_package(copy):
    done = lint(copy)
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


@pytest.mark.parametrize(
    ("where", "planted"),
    [
        ("query/engine.py", "from sfumato.confidential import Microdata"),
        ("serve/app.py", "from sfumato.confidential.tabulate import Tabulation"),
        ("release/products/product.py", "from sfumato.mechanisms import Geometric"),
        ("serve/app.py", "import sfumato.draws"),
        ("mechanisms/geometric.py", "from sfumato.statistics import Count"),
        ("schema/levels.py", "from sfumato.privacy import exact"),
    ],
)
def test_a_planted_import_across_the_wall_fails_the_check(copy, where, planted):
    file = copy / "src" / "sfumato" / where
    file.write_text(f"{planted}  # noqa\n" + file.read_text())
    done = lint(copy)
    assert done.returncode != 0
    assert "BROKEN" in done.stdout


def test_the_public_names_import_without_the_confidential_folder(copy):
    shutil.rmtree(copy / "src" / "sfumato" / "confidential")
    names = " ".join(f"sf.{name};" for name in sfumato.__all__)
    done = subprocess.run(
        [sys.executable, "-c", f"import sfumato as sf; assert '{copy}' in sf.__file__; {names}"],
        env={"PYTHONPATH": str(copy / "src")}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr

"""The checks of names find what they are for, wherever in a module it stands."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES = runpy.run_path(str(ROOT / "checks" / "names.py"))


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "__init__.py").write_text("from house.door import Door\n")
    (tmp_path / "house" / "door.py").write_text("class Door:\n    class _Lock: ...\n")
    (tmp_path / "house" / "wall.py").write_text("from house import door\n\n\ndef wall():\n    return door.Door()\n")
    return tmp_path


def test_a_house_in_order_passes(tree, capsys):
    assert NAMES["main"](tree) == 0
    assert "stands once" in capsys.readouterr().out


def test_a_class_name_that_stands_twice_is_found_even_private_and_inside_a_function(tree):
    (tree / "house" / "gate.py").write_text("def gate():\n    class _Lock: ...\n")
    (said,) = NAMES["doubled"](tree)
    assert said.startswith("class _Lock stands 2 times, at house/door.py:2, house/gate.py:2;")


def test_an_import_of_the_own_package_is_found_even_deferred(tree):
    (tree / "house" / "gate.py").write_text("def gate():\n    from house import Door\n")
    (said,) = NAMES["circular"](tree)
    assert said.startswith("house/gate.py:2 imports its own package house;")

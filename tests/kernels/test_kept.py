"""Compiled loops are loaded from a folder that nobody else can write to, and from no other."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba")
from sfumato.kernels.choose import compiled
from sfumato.kernels.kept import own_folder


def test_the_folder_is_made_for_its_owner_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    before = os.umask(0)
    try:
        assert own_folder().stat().st_mode & 0o777 == 0o700
    finally:
        os.umask(before)


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o722, 0o755])
def test_a_folder_that_others_reach_is_refused(tmp_path, monkeypatch, mode):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    own_folder().chmod(mode)
    with pytest.raises(RuntimeError, match="not this user's alone"):
        own_folder()


def test_a_link_to_a_folder_elsewhere_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "sfumato").mkdir()
    (tmp_path / "sfumato" / "kernels").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RuntimeError, match="not this user's alone"):
        own_folder()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_somebody_else_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    os.chown(own_folder(), 12345, 12345)
    with pytest.raises(RuntimeError, match="not this user's alone"):
        own_folder()


def test_every_loop_is_kept_there_whatever_the_environment_says():
    loops = compiled("draws")
    kept = [one for one in vars(loops).values() if hasattr(one, "_cache")]
    assert kept
    assert {Path(one._cache.cache_path).parent for one in kept} == {own_folder()}


def test_where_the_folder_is_open_to_others_the_plain_loops_run_and_it_is_said(tmp_path):
    (tmp_path / "sfumato" / "kernels").mkdir(parents=True)
    (tmp_path / "sfumato" / "kernels").chmod(0o777)
    asked = "from sfumato.kernels.choose import compiled; print(compiled('scatter').__name__)"
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", asked], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "sfumato.kernels.scatter"
    assert "not this user's alone" in done.stderr

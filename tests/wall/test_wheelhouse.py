"""A wheel that is not the one that was looked at is not installed."""

import hashlib
import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAME = "trial_wheel-1.0-py3-none-any.whl"


@pytest.fixture(scope="module")
def checks():
    found = importlib.util.spec_from_file_location("wheelhouse", ROOT / "checks" / "wheelhouse.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def wheel(folder, content=b"right = True\n"):
    held = {
        "trial_wheel.py": content,
        "trial_wheel-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: trial-wheel\nVersion: 1.0\n",
        "trial_wheel-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "trial_wheel-1.0.dist-info/RECORD": b"",
    }
    with zipfile.ZipFile(folder / NAME, "w") as file:
        for name, text in held.items():
            file.writestr(zipfile.ZipInfo(name), text)
    return folder / NAME


def installed(folder, requirement, to):
    """Install what is required from a folder, with hashes and without a network."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--require-hashes", "--no-cache-dir"]
    words = ["--find-links", str(folder), "--target", str(to), "--requirement", str(requirement)]
    return subprocess.run([*pip, *words], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_an_exchanged_wheel_is_refused_by_our_list_and_by_pip(checks, tmp_path):
    requirement, right = tmp_path / "requirements.txt", wheel(tmp_path)
    hashes = {NAME: hashlib.sha256(right.read_bytes()).hexdigest()}
    requirement.write_text(checks.requirements([right]), encoding="utf-8")
    assert checks.refusals([right], hashes) == []
    assert installed(tmp_path, requirement, tmp_path / "right").returncode == 0
    wrong = wheel(tmp_path, b"right = False\n")
    assert "it was exchanged" in checks.refusals([wrong], hashes)[0]
    refused = installed(tmp_path, requirement, tmp_path / "wrong")
    assert (refused.returncode, (tmp_path / "wrong" / "trial_wheel.py").exists()) == (1, False)
    assert "HASH" in refused.stderr.upper()
    requirement.write_text(checks.requirements([wrong]), encoding="utf-8")
    assert installed(tmp_path, requirement, tmp_path / "trusted").returncode == 0, "the attack, without a list of ours"


def test_a_wheel_without_a_hash_is_refused_until_it_is_looked_at(checks, tmp_path):
    assert "has no hash in hashes.txt" in checks.refusals([wheel(tmp_path)], {})[0]


def test_every_version_that_is_listed_is_the_one_of_the_constraints(checks):
    pinned = {line.split("==")[0].lower().replace("-", "_"): line.split("==")[1].strip() for line in
              (ROOT / "constraints.txt").read_text("utf-8").splitlines() if "==" in line}  # fmt: skip
    listed = checks.known((ROOT / "hashes.txt").read_text("utf-8"))
    assert len(listed) > 40
    for name, digest in listed.items():
        package, version, *_ = name.split("-")
        assert (pinned[package.lower().replace(".", "_")], len(digest)) == (version, 64)

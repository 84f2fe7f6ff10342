"""What lacks in an install is not needed there, or named: pandas in sfumato[agency], DuckDB and others in the core.

`make installs` makes these environments; here the packages are hidden from a process.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest
from tests.conftest import SMALL, small_rows

from sfumato.cli.installs import AGENCY

HIDE = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
from sfumato.cli import main
main()
"""
MODULES = {"pyshp": "shapefile"}
WRITE = {".dta": pyreadstat.write_dta, ".sav": pyreadstat.write_sav, ".xpt": pyreadstat.write_xport}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    frame: pd.DataFrame = small_rows().to_pandas()
    for suffix, write in WRITE.items():
        write(frame, tmp_path / f"jobs{suffix}")
    frame.to_csv(tmp_path / "jobs.csv", index=False)
    return tmp_path


def sfumato(folder, hidden, *words):
    command = [sys.executable, "-c", HIDE.format(hidden=tuple(hidden)), *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("suffix", WRITE)
def test_stata_spss_and_sas_are_read_without_pandas(folder, suffix):
    done = sfumato(folder, ["pandas", "polars"], "check", "small.toml", "--data", f"jobs{suffix}")
    assert (done.returncode, done.stderr) == (0, "")
    assert "The data fit the plan." in done.stdout


@pytest.mark.parametrize("data", ["jobs.csv", "jobs.dta"])
def test_a_command_that_needs_the_agency_install_says_so_by_name(folder, data):
    for words in (["check"], ["tabulate", "--rows", "place"], ["run", "--rehearsal", "1", "--out", "r"]):
        done = sfumato(folder, AGENCY, words[0], "small.toml", "--data", data, *words[1:])
        assert done.returncode == 1
        assert re.fullmatch(
            r"(To run: .*\n)?sfumato: this command needs \w+, which is not installed; it comes with sfumato\[agency\]: "
            r"pip install 'sfumato\[agency\]'\n",
            done.stderr,
        ), done.stderr


def test_nothing_is_charged_where_a_package_lacks_that_is_needed_after_the_charge(folder):
    opened = ["--population", "jobs", "--plan", "small.toml", "--epsilon", "2"]
    assert sfumato(folder, [], "ledger", "open", "l", *opened).returncode == 0
    done = sfumato(folder, ["scipy"], "run", "small.toml", "--data", "jobs.csv", "--ledger", "l", "--out", "r")
    assert "needs scipy" in done.stderr
    assert "No charges yet." in sfumato(folder, [], "ledger", "show", "l").stdout


def test_what_the_agency_install_holds_is_what_pyproject_lists():
    extras = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    named = [re.match(r"[\w-]+", one)[0] for one in extras["agency"]]
    assert sorted(MODULES.get(name, name) for name in named) == sorted(AGENCY)

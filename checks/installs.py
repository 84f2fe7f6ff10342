"""The core and the agency install, each in an environment of its own and without the packages of the tests.

Run as `python checks/installs.py FOLDER` by an environment with pandas, which writes the files of Stata, SPSS and SAS.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FORBIDDEN = ("pandas", "polars", "pytest")
"""What only the tests have, and what hides that something lacks."""
PLAN = """
name = "jobs"
[data]
unit = "job"
[attributes.place]
levels = ["1", "2", "3"]
[hidden]
neighbours = "add-remove"
unit = "job"
[limit]
epsilon = "1"
[[measure]]
name = "jobs"
of = "count"
by = ["place"]
with = { mechanism = "geometric", epsilon = "1" }
"""
SERVE = "from sfumato.serve import app; app(['release']); import sfumato as sf; print(sf.open('release').total())"
DATA = ("jobs.dta", "jobs.sav", "jobs.xpt", "jobs.csv", "jobs.parquet")


Done = subprocess.CompletedProcess[str]


def claim(done: Done, holds: bool, expected: str) -> None:
    """Stop where a program did not do what it should."""
    if not holds:
        sys.exit(f"{' '.join(done.args)}\nexpected: {expected}\n{done.stdout}{done.stderr}")


class Install:
    """An environment with Sfumato and one of its extras, made by the project's own files."""

    def __init__(self, folder: Path, extra: str) -> None:
        self.folder, self.bin = folder, folder / (extra or "core") / "bin"
        self._call([sys.executable, "-m", "venv", str(self.bin.parent)])
        named = f"{ROOT}[{extra}]" if extra else str(ROOT)
        pip = [str(self.bin / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        self._call([*pip, "--constraint", str(ROOT / "constraints.txt"), named])
        for name in FORBIDDEN:
            lacks = self.python(f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{name}') is not None)")
            claim(lacks, lacks.returncode == 0, f"no {name}, which only the tests have")

    def sfumato(self, *words: str) -> Done:
        return self._run([str(self.bin / "sfumato"), *words])

    def python(self, program: str) -> Done:
        return self._run([str(self.bin / "python"), "-c", program])

    def _run(self, command: list[str]) -> Done:
        plain = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        return subprocess.run(  # noqa: S603 - our own words
            command, cwd=self.folder, env=plain, capture_output=True, text=True, check=False
        )

    def _call(self, command: list[str]) -> None:
        done = self._run(command)
        claim(done, done.returncode == 0, "success")


def write_data(folder: Path) -> None:
    """The same twelve jobs in every kind of file."""
    import pandas as pd
    import pyreadstat

    frame = pd.DataFrame({"place": [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3]})
    pyreadstat.write_dta(frame, folder / "jobs.dta")
    pyreadstat.write_sav(frame, folder / "jobs.sav")
    pyreadstat.write_xport(frame, folder / "jobs.xpt")
    frame.to_csv(folder / "jobs.csv", index=False)
    frame.to_parquet(folder / "jobs.parquet")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")


def works(done: Done, words: str) -> None:
    claim(done, done.returncode == 0 and words in done.stdout, words)


def check_agency(install: Install) -> None:
    """Every kind of file is read, and a release is made."""
    for name in DATA:
        works(install.sfumato("check", "plan.toml", "--data", name), "The data fit the plan.")
    opened = ["--population", "jobs", "--plan", "plan.toml", "--epsilon", "2"]
    works(install.sfumato("ledger", "open", "l", *opened), "Opened")
    works(install.sfumato("run", "plan.toml", "--data", "jobs.dta", "--ledger", "l", "--out", "release"), "Releasable")
    works(install.sfumato("tabulate", "plan.toml", "--data", "jobs.sav", "--rows", "place"), "CONFIDENTIAL")
    works(install.sfumato("audit", "plan.toml", "--samples", "2000"), "jobs")


def check_core(install: Install) -> None:
    """A release is verified, asked and served; what needs the agency install says so by name."""
    works(install.sfumato("verify", "release"), "Every file is as the manifest says.")
    works(install.sfumato("table", "release", "--rows", "place"), "±")
    works(install.sfumato("price", "plan.toml"), "epsilon 1")
    works(install.python(SERVE), "±")
    for name in ("jobs.dta", "jobs.csv"):
        refused = install.sfumato("check", "plan.toml", "--data", name)
        said = "it comes with sfumato[agency]: pip install 'sfumato[agency]'\n"
        claim(refused, refused.returncode == 1 and refused.stderr.endswith(said), said)


def main(folder: Path) -> None:
    folder.mkdir(parents=True)
    write_data(folder)
    check_agency(Install(folder, "agency"))
    check_core(Install(folder, ""))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())

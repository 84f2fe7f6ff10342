"""The page on microdata: its plan has a price, its commands and its Python run, and every step is in its table."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from tests.commands import sfumato

import sfumato as sf
from sfumato import calibrate
from sfumato.plugins import found

PAGE = (Path(__file__).parents[2] / "docs" / "microdata.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def towns(tmp_path_factory):
    """The folder in which the commands of the page were run, on 500 people."""
    folder, rng = tmp_path_factory.mktemp("page"), np.random.default_rng(1)
    towns = {"town": ["Furth", "Zirndorf"], "sex": ["female", "male"], "work": ["employed", "not employed"]}
    people = {name: rng.choice(levels, 500, p=[0.8, 0.2]).tolist() for name, levels in towns.items()}
    people["benefits"] = np.where(np.array(people["work"]) == "employed", "none", "some").tolist()
    pacsv.write_csv(pa.table(people), folder / "people.csv")
    (folder / "towns.toml").write_text(blocks("toml")[0])
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        for line in blocks("console")[0].splitlines():
            sfumato(*line.removeprefix("$ sfumato ").split())
    return folder


def test_the_commands_and_the_python_of_the_page_run(towns, monkeypatch, capsys):
    monkeypatch.chdir(towns)
    names: dict = {}
    exec(blocks("python")[0], names)
    engine = sf.open("towns")
    asked = {"town": "Furth", "work": "not employed"}
    assert names["total"] == engine.total(asked).value
    share = engine.share(asked, {"town": "Furth"})
    assert abs(names["se_share"] / share.se - 1) < 1e-9
    assert "±" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="there is no R here; `make test` installs it where it can")
def test_the_r_of_the_page_runs_on_the_file_for_stata_and_gives_the_engines_numbers(towns):
    """Intervals are about the totals of the release; those of work == 1 instead would lie elsewhere."""
    done = subprocess.run(["Rscript", "-e", blocks("r")[0]], cwd=towns, capture_output=True, text=True, check=False)
    if "no package called" in done.stderr:
        pytest.skip("R is here without its packages survey and haven; `make test` installs them where it can")
    assert done.returncode == 0, done.stderr
    ends = re.findall(r"^I\(work == 2\)TRUE +([\d.]+) +([\d.]+)$", done.stdout, re.MULTILINE)
    total, share = ((float(low) + float(high)) / 2 for low, high in ends)
    engine, asked = sf.open(towns / "towns"), {"work": "not employed"}
    assert total == pytest.approx(engine.total(asked).value, abs=1e-3)
    assert share == pytest.approx(engine.share(asked | {"town": "Furth"}, {"town": "Furth"}).value, abs=1e-6)


def test_every_step_that_treats_cells_below_0_is_in_the_table():
    for kind, step in found(calibrate, by="kind").items():
        if step.bias or kind == "calibration-weights":
            assert f"| `{kind}`" in PAGE


def test_the_biases_of_the_page_are_those_of_the_law_under_both_relations():
    """Noise k has chance (1 - a) / (1 + a) a^|k|: its mean above 0, and for a carrier its chance below 0 too."""
    told = {}
    for scale in (1.0, 0.5):  # one cell moves by 1, or two do
        k, a = np.arange(1, 200), np.exp(-scale)
        above = (1 - a) / (1 + a) * a**k
        told[scale] = (k * above).sum(), (k * above).sum() + above.sum()
    zero, carrier = (re.search(rf"\| `{name}` .*", PAGE)[0] for name in ("set-to-zero", "one-carrier"))
    for line, own in ((zero, 0), (carrier, 1)):
        stated = re.search(r"by ([\d.]+) .* under add-remove,? and by ([\d.]+) under replace-one", line)
        assert abs(float(stated[1]) - told[1.0][own]) < 0.005
        assert abs(float(stated[2]) / told[0.5][own] - 1) < 0.03

"""Programs that nobody here wrote read the answers: pyjstat, jsonstat-toolkit, pandas, R; snippets run as printed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pyjstat import pyjstat

from sfumato.serve.catalogue import Catalogue
from sfumato.serve.question import Question
from sfumato.serve.snippets import citation, snippets

JOBS = "/api/v2/tables/jobs-survey~jobs/data"
ASKED = "codelist[place]=level1&valueCodes[sex]=*&sum[trade]=a,b"
READ = """
const JSONstat = require("jsonstat-toolkit");
const set = JSONstat(JSON.parse(require("fs").readFileSync(0, "utf8")));
const cell = (metric) => set.Data({place: "N1", sex: "male", ContentsCode: metric});
const found = {
  class: set.class, id: set.id, size: set.size, label: set.label, metric: set.role.metric,
  labels: set.Dimension("place").Category().map((one) => one.label),
  estimate: cell("estimate").value, grade: cell("estimate").status, moe90: cell("moe90").value,
  unit: set.Dimension("ContentsCode").Category("estimate").unit.base, rows: set.toTable({type: "arrobj"}).length,
};
console.log(JSON.stringify(found));
"""


@pytest.fixture(scope="module")
def answer(page):
    return page.get(f"{JOBS}?{ASKED}").text


@pytest.fixture(scope="module")
def expected(engine):
    return engine.table("place", "sex", where={"trade": ["a", "b"]}, at={"place": 1})


@pytest.mark.filterwarnings("ignore:Shouldn't use this function:DeprecationWarning")
def test_pyjstat_reads_every_number(answer, expected):
    read = pyjstat.Dataset.read(answer)
    frame = read.write("dataframe", naming="id")
    assert list(frame.columns) == ["place", "sex", "period", "ContentsCode", "value"]
    assert set(frame.period) == {"2026-Q1"}
    found = {(*row[:2], row[3]): row[4] for row in frame.itertuples(index=False)}
    assert len(found) == 5 * len(list(expected.items()))
    for (place, sex), estimate in expected.items():
        assert found[place, sex, "estimate"] == estimate.value
        assert found[place, sex, "moe90"] == estimate.moe(0.90)
        assert found[place, sex, "se_noise"] == estimate.noise_se
    labelled = read.write("dataframe", naming="label")
    assert "Margin of error at 90%" in set(labelled["Estimate and error"])


def test_pyjstat_finds_a_single_value(answer, expected):
    named = [{"place": "N1"}, {"sex": "male"}, {"period": "2026-Q1"}, {"ContentsCode": "estimate"}]
    found = pyjstat.Dataset.read(answer).get_value(named)
    assert found == expected["N1", "male"].value


def toolkit():
    """Where npm put jsonstat-toolkit, if it did: `make test` has it put where the project builds."""
    places = [os.environ.get("SFUMATO_NODE_MODULES", ""), *os.environ.get("NODE_PATH", "").split(os.pathsep)]
    places.append(str(Path(__file__).parents[2] / "build" / "toolkit" / "node_modules"))
    return next((place for place in places if place and (Path(place) / "jsonstat-toolkit").is_dir()), None)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.skipif(
    toolkit() is None, reason="jsonstat-toolkit is not installed; `make toolkit` does, where there is npm"
)
def test_jsonstat_toolkit_reads_it(answer, expected):
    run = subprocess.run(
        ["node", "-e", READ],
        input=answer,
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
        env={**os.environ, "NODE_PATH": toolkit()},
    )
    found = json.loads(run.stdout)
    estimate = expected["N1", "male"]
    assert found["class"] == "dataset"
    assert found["metric"] == ["ContentsCode"]
    assert (found["estimate"], found["grade"], found["moe90"]) == (estimate.value, estimate.grade, estimate.moe(0.90))
    assert found["labels"] == ["North coast", "North <b>hills</b>", "South, with a comma", "a code with a comma"]
    assert found["unit"] == "jobs"
    assert found["rows"] == found["size"][0] * found["size"][1] * 5


@pytest.fixture(scope="module")
def question(release):
    sheet = Catalogue.open([release]).tables["jobs-survey~jobs"]
    shown = {"place": ("N1", "S1", "S,2"), "sex": ("female", "male")}
    return Question(sheet, shown, {"trade": ("a", "b")})


@pytest.fixture(scope="module")
def printed(question, server):
    return snippets(question, str(server.base_url).rstrip("/"), "")


def said(run):
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_the_python_snippet_runs_as_printed(printed, question):
    run = subprocess.run(
        [sys.executable, "-c", printed.python], capture_output=True, text=True, timeout=60, check=False
    )
    shown = said(run)
    for value in question.table().columns().estimate.tolist():
        assert str(value) in shown.split()


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_curl_snippet_runs_as_printed(printed, question, tmp_path):
    said(
        subprocess.run(printed.curl, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False)
    )
    lines = (tmp_path / "table.csv").read_text().splitlines()
    assert len(lines) == 1 + len(question.table().columns())


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed (Debian: r-base-core)")
def test_the_r_snippet_runs_as_printed(printed, question):
    run = subprocess.run(["Rscript", "-e", printed.r], capture_output=True, text=True, timeout=60, check=False)
    shown = said(run)
    for value in question.table().columns().estimate.tolist():
        assert str(value) in shown.split()


def test_the_address_asks_the_same_question(page, question):
    address = snippets(question, "", "").address
    values = page.get(address).json()["value"]
    assert values[::5] == question.table().columns().estimate.tolist()


def test_a_citation_names_the_release_by_id_and_hash(question, engine):
    cited = citation([question.sheet.edition], "Jobs & pay_50%", "https://stat.example", "/t?x=1")
    for text in (cited.text, cited.bibtex, cited.ris):
        assert engine.release.id in text
        assert question.sheet.edition.lasting.replace("_", r"\_" if text is cited.bibtex else "_") in text
        assert "https://stat.example/t?x=1" in text
    assert r"title = {Jobs \& pay\_50\%}" in cited.bibtex
    assert cited.bibtex.count("{") == cited.bibtex.count("}")
    lines = cited.ris.split("\r\n")
    assert (lines[0], lines[-2]) == ("TY  - DATA", "ER  - ")

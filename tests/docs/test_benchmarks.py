"""The page of benchmarks says what was measured: its tables add up, name every benchmark, and come from the record."""

import doctest
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bench import line, page, picture, size, words
from bench.line import Goal, Line
from bench.record import Record, Taken
from bench.release_path import LAPLACE, noise_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
BENCHMARKS = sorted(
    path.stem for path in (ROOT / "bench").glob("*.py") if "\ndef lines(" in path.read_text(encoding="utf-8")
)


def tables(text: str) -> list[list[list[str]]]:
    """The tables of a page, each a list of rows of cells."""
    blocks = re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    return [[re.split(r"(?<!\\)\|", row)[1:-1] for row in block.splitlines()] for block in blocks]


def as_number(cell: str) -> float:
    return float(cell.split(maxsplit=1)[0].replace(",", ""))


def wrong_ratios(text: str) -> list[str]:
    """The rows whose ratio is not that of the two numbers beside it, to the digits shown."""
    found = []
    for head, _, *rows in tables(text):
        if [cell.strip() for cell in head] != list(page.HEAD):
            continue
        for what, ours, _, theirs, ratio, *_ in rows:
            if ratio.strip() == "-":
                continue
            times = as_number(ours) / as_number(theirs)
            told = {"the same": "1.0x " + ("more" if times > 1 else "less")}.get(ratio.strip(), ratio)
            if abs(as_number(told.replace("x", "")) / max(times, 1 / times) - 1) > 0.08 or (times > 1) != (
                "more" in told
            ):
                found.append(what)
    return found


@pytest.fixture
def record():
    lines = (
        Line("job", "CPU s", 0.1, "peer 1.0", 4.0, cpu=0.1, cpu_theirs=4.0, agree=True, goal=Goal(30), note="a|b"),
        Line("slow job", "CPU s", 0.1, "peer 1.0", 2.0, agree=False, goal=Goal(30)),
        Line("answers", "req/s", 60.0, "limit", 100.0, goal=Goal(2, within=True)),
        Line("cost against size: write against cells", "slope", 1.0, "linear", 1.0, points=((1e5, 0.1), (1e6, 1.0))),
    )
    machine = {"processor": "P", "cores": 2, "memory": "24 GiB", "system": "Linux", "python": "3.11"}
    return Record(machine, {"numpy": "2.0"}, {"one": Taken(lines, "2026-01-01 00:00 UTC", (0.1, 0.2, 0.3))})


def test_every_benchmark_is_named_on_the_page():
    assert len(BENCHMARKS) >= 10
    missing = [name for name in BENCHMARKS if f"\n### {name}\n" not in PAGE]
    assert not missing, "run `python -m bench --page`"


def test_every_table_of_the_page_is_whole():
    found = tables(PAGE)
    assert len(found) >= 2
    for head, *rows in found:
        assert {len(row) for row in rows} == {len(head)}


def test_every_ratio_on_the_page_is_that_of_the_numbers_beside_it(record):
    assert not wrong_ratios(PAGE)
    made = page.filled(PAGE, record, {"one": "One."})
    assert not wrong_ratios(made)
    assert wrong_ratios(made.replace("40x less", "60x less")) == [" job "]


def test_a_page_is_made_from_its_record_and_its_sentences_stay(record):
    once = page.filled(PAGE, record, {"one": "One thing.\n\nHow it\nis done.", "two": "Two."})
    assert page.filled(once, record, {"one": "One thing.\n\nHow it\nis done.", "two": "Two."}) == once
    assert "| job | 0.1 CPU s | peer 1.0 | 4 CPU s | 40x less | 1 | 0.1 | 4 | yes | 30x: reached |" in once
    assert "| slow job | peer 1.0 | 20x less | 30x | missed | [one](#one) |" in once
    assert r"- *job, peer 1.0*: a\|b" in once
    assert "### two\n\n**Two.**\n\nNot measured yet." in once
    assert once.split("<!--")[0] == PAGE.split("<!--")[0]
    with pytest.raises(SystemExit, match="end: goals"):
        page.filled(PAGE.replace("<!-- end: goals -->", ""), record, {})


def test_a_benchmark_that_was_not_measured_stays_as_it_stood(record):
    told = {"one": "One.", "two": "Two."}
    both = page.filled(PAGE, replace(record, taken={**record.taken, "two": record.taken["one"]}), told)
    again = page.filled(both, record, told | {"two": "Two, in other words."})
    assert again == both
    assert again.count("[two](#two)") == again.count("[one](#one)") == 3
    assert "Two, in other words." in page.filled(PAGE, record, told | {"two": "Two, in other words."})


def test_a_goal_is_a_multiple_of_the_peer_or_a_distance_from_a_limit():
    cost, rate = Line("a", "CPU s", 1.0, "peer", 30.0), Line("a", "M/s", 30.0, "peer", 1.0)
    for one in (cost, rate):
        assert replace(one, goal=Goal(30)).reached
        assert replace(one, goal=Goal(30.1)).reached is False
    for worse in (Line("a", "CPU s", 2.0, "limit", 1.0), Line("a", "req/s", 1.0, "limit", 2.0)):
        assert replace(worse, goal=Goal(2, within=True)).reached
        assert replace(worse, goal=Goal(1.9, within=True)).reached is False
    assert replace(cost, goal=None).reached is None
    assert Line("a", "CPU s", 1.0, "peer that is not here", goal=Goal(30)).reached is None


def test_a_record_is_read_as_it_was_written(record, tmp_path):
    record.write(tmp_path / "bench.json")
    assert Record.read(tmp_path / "bench.json") == record
    told = json.loads((tmp_path / "bench.json").read_text())["taken"]["one"]["lines"]
    assert [one["reached"] for one in told] == [True, False, True, None]


def test_a_run_writes_lines_versions_machine_and_load(tmp_path):
    out = tmp_path / "bench.json"
    asked = [sys.executable, "-m", "bench", "start", "--quick", "--json", out]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(out.read_text())
    assert {"numpy", "duckdb", "opendp", "java"} <= told["versions"].keys()
    assert told["machine"]["cores"] >= 1
    assert len(told["taken"]["start"]["load"]) == 3
    assert len(told["taken"]["start"]["lines"]) == 2
    assert "start: sfumato price" in done.stdout


def test_the_clock_counts_what_a_job_starts_and_leaves_running(tmp_path):
    """A child burns CPU by its own clock and then waits: it is in the job's time, and not in the process's own."""
    burn = "import sys, time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\nsys.stdin.read()"
    (tmp_path / "script.py").write_text(
        "import subprocess, sys, time\nfrom clock import told\n"
        "def job(data, keys, out):\n"
        "    pipes = {'stdin': subprocess.PIPE, 'stdout': subprocess.PIPE}\n"
        f"    child = subprocess.Popen([sys.executable, '-c', {burn!r}], **pipes)\n"
        "    child.stdout.readline()\n"
        "told(job, ('numpy',))\n"
        "print(time.process_time())\n"
    )
    asked, clock = [sys.executable, "script.py", "data", "keys", "out"], {"PYTHONPATH": str(page.PEERS)}
    done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, env=clock, check=True)
    told, own = done.stdout.splitlines()
    assert json.loads(told)["cpu"][0] > 0.28
    assert float(own) < json.loads(told)["whole"] - 0.25


def test_the_plot_is_a_picture_of_the_curves_with_nothing_from_elsewhere(record, tmp_path):
    for place in (tmp_path / "plot.svg", page.PLOT):
        if place != page.PLOT:
            assert picture.write(record, place)
        drawn = place.read_text(encoding="utf-8")
        told = "".join(ET.fromstring(drawn).itertext())
        assert "write" in told
        assert "linear" in told
        assert "href" not in drawn
        assert re.findall(r"https?://[^\"]+", drawn) == ["http://www.w3.org/2000/svg"]
    assert not picture.write(replace(record, taken={}), tmp_path / "none.svg")


def test_noise_agrees_with_its_own_law_and_with_no_other(tmp_path):
    rng, truth = np.random.default_rng(1), np.full(20_000, 50)
    noise = {scale: rng.laplace(0, scale, 20_000) for scale in (1.0, 1.1)}
    for name, values in {"right": noise[1.0], "wide": noise[1.1], "low": np.floor(noise[1.0])}.items():
        pq.write_table(pa.table({"value": truth + values}), tmp_path / f"{name}.parquet")
    found = {name: noise_of(tmp_path / f"{name}.parquet", truth).follows(LAPLACE) for name in ("right", "wide", "low")}
    assert found == {"right": True, "wide": False, "low": False}


def test_a_peers_environment_is_pinned_to_the_last_digit():
    pinned = sorted((ROOT / "bench" / "peers").glob("*.txt"))
    assert len(pinned) == 6
    for path in pinned:
        rows = path.read_text().splitlines()
        assert all(re.fullmatch(r"[A-Za-z0-9_.\-]+==[0-9][A-Za-z0-9.+]*", row) for row in rows), path.name
        assert path.with_name(f"{path.stem}_path.py").exists()


@pytest.mark.parametrize("module", [line, words, page, size], ids=lambda module: module.__name__)
def test_examples_in_the_docstrings_hold(module):
    failed, tried = doctest.testmod(module)
    assert tried
    assert not failed

"""A product that holds only two-way tables is two new files: found, priced, run, audited, assessed, asked and shown."""

import asyncio
import importlib
import sys
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato import calibrate
from sfumato.cli.main import app
from sfumato.errors import PlanError, QueryError, ReleaseError
from sfumato.release import products
from sfumato.serve import app as served

DROPPED = Path(__file__).parent / "dropped"
FILES = {"pairs_product": products, "pairs_step": calibrate}
WHY = "Only tables of two variables were published"
PLAN = """
name = "dropped"
[attributes.place]
levels = ["north", "south"]
[attributes.sex]
levels = ["f", "m"]
[attributes.age]
levels = ["young", "old"]
[data]
unit = "job"
[hidden]
neighbours = "add-remove"
unit = "job"
[limit]
epsilon = "1"
[[measure]]
name = "cube"
of = "count"
by = ["place", "sex", "age"]
with = { mechanism = "geometric", epsilon = "1" }
[[then]]
step = "pairs"
name = "jobs"
table = "cube"
"""


@pytest.fixture
def dropped(tmp_path, monkeypatch):
    """Both files in folders that are searched, and forgotten afterwards."""
    for name, package in FILES.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / f"{name}_dropped.py").write_text((DROPPED / f"{name}.py").read_text("utf-8"), "utf-8")
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    importlib.invalidate_caches()
    yield tmp_path
    for name, package in FILES.items():
        sys.modules.pop(f"{package.__name__}.{name}_dropped", None)
        vars(package).pop(f"{name}_dropped", None)


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(1)
    levels = {"place": ["north", "south"], "sex": ["f", "m"], "age": ["young", "old"]}
    rows = {name: [codes[one] for one in rng.integers(0, 2, 4000)] for name, codes in levels.items()}
    pq.write_table(pa.table(rows), tmp_path / "jobs.parquet")
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path / "plan.toml", tmp_path / "jobs.parquet", tmp_path / "release"


def told(*words):
    """A command in this process, where the dropped files are."""
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def page(folder, address, status=200):
    async def asked():
        transport = httpx.ASGITransport(served([folder]))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            return await client.get(address)

    reply = asyncio.run(asked())
    assert reply.status_code == status, reply.text
    return reply.text


def test_it_goes_the_whole_way(dropped, files):
    plan, data, release = files
    assert "epsilon 1" in told("price", plan)
    told("run", plan, "--data", data, "--rehearsal", 1, "--out", release)
    assert "breaks" not in told("audit", plan, "--samples", 2000)
    told("assess", plan, "--data", data, "--release", release, "--out", dropped / "report.html")
    assert "north" in told("tabulate", plan, "--data", data, "--rows", "place")
    assert "south" in told("table", release, "--rows", "place", "--cols", "sex")
    with pytest.raises(QueryError, match=WHY):
        told("table", release, "--rows", "place,sex", "--cols", "age")
    assert WHY in page(release, "/dropped~jobs?rows=place&cols=sex")
    assert WHY in page(release, "/dropped~jobs?rows=place&rows=sex&cols=age", 400)
    assert WHY in page(release, "/api/v2/tables/dropped~jobs/data?valueCodes[place]=*&sum[sex]=f&sum[age]=old", 400)
    assert sf.open(release).total({"place": "north", "sex": "f"}).value > 800


def test_without_the_files_nothing_of_it_is_known(files, request):
    plan, data, release = files
    with pytest.raises(PlanError, match="no step 'pairs'"):
        sf.Plan.read(plan)
    request.getfixturevalue("dropped")
    told("run", plan, "--data", data, "--rehearsal", 1, "--out", release)
    manifest = (release / "manifest.json").read_text("utf-8")
    assert '"kind": "pairs"' in manifest


def test_a_release_of_an_unknown_kind_is_refused(dropped, files, monkeypatch):
    plan, data, release = files
    told("run", plan, "--data", data, "--rehearsal", 1, "--out", release)
    monkeypatch.setattr(products, "__path__", products.__path__[:1])
    with pytest.raises(ReleaseError, match="kind 'pairs', which this version does not know"):
        sf.open(release)

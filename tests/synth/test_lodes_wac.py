"""Real LODES files of workplaces: read, checked, and matched by the jobs drawn from them."""

import gzip
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from tests.commands import sfumato
from tests.synth.test_lodes import asked, given

from sfumato.confidential import Microdata, Options, run
from sfumato.errors import DataError, PlanError
from sfumato.plan import Plan
from sfumato.synth import write
from sfumato.synth.lodes_country import SECTORS
from sfumato.synth.lodes_wac import WacCountry, counts, read_wac

REAL = Path(__file__).parents[3] / "shared" / "data" / "lodes" / "ut_wac_S000_JT00_2019.csv.gz"
needs_real = pytest.mark.skipif(not REAL.is_file(), reason=f"the real file is not at {REAL}")
PARTS = {"CA": 3, "CE": 3, "CNS": 20, "CR": ("01", "02", "03", "04", "05", "07"), "CT": 2, "CD": 4, "CS": 2}


def wac(folder, change=None):
    """Forty blocks of two counties, by hand, with classes that add up."""
    rng = np.random.default_rng(3)
    names = {part: [f"{part}{one + 1:02d}" for one in range(many)] if isinstance(many, int) else
             [f"{part}{one}" for one in many] for part, many in PARTS.items()}  # fmt: skip
    lines = [",".join(["w_geocode", "C000", *(one for own in names.values() for one in own), "createdate"])]
    for place in range(40):
        jobs = int(rng.integers(1, 200))
        drawn = {part: rng.multinomial(jobs, np.full(len(own), 1 / len(own))) for part, own in names.items()}
        drawn["CD"] = rng.multinomial(drawn["CA"][1] + drawn["CA"][2], [0.25] * 4)
        code = f"49{'001' if place < 15 else '003'}{1000 + place // 5:06d}{1000 + place}"
        row = [code, jobs, *(one for part in names for one in drawn[part]), "20211018"]
        lines.append(",".join(map(str, change(place, row) if change else row)))
    path = folder / "wac.csv.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    return path


def test_jobs_have_the_counts_of_every_block_by_sector_and_the_plan_runs(tmp_path):
    path = wac(tmp_path)
    printed = sfumato("synth", "lodes", "--wac", path, "--out", tmp_path / "made")
    folder = Path(printed.strip()).parent
    real = read_wac(path)
    sectors, cells = list(SECTORS), np.zeros((40, 20), dtype=np.int64)
    blocks = real["w_geocode"].to_pylist()
    for block, sector, jobs in asked(folder, "SELECT location, sector, count(*) FROM LINKED GROUP BY ALL"):
        cells[blocks.index(block), sectors.index(sector)] = jobs
    assert (cells == counts(real, "sector")).all()
    plan = Plan.read(folder / "lodes.toml")
    assert not plan.geographies
    assert "outlines" not in (folder / "lodes.toml").read_text(encoding="utf-8")
    assert plan.schema.attribute("location").levels.at(1) == ("49001", "49003")
    release = run(plan, Microdata.open(given(folder), plan.schema), None, tmp_path / "r", Options(rehearsal=1))
    assert release.products["jobs"].values.shape[1:] == (20, 4)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (2, "jobs by age do not add up"),
        (34, "jobs by ethnicity do not add up"),
        (36, "jobs by education do not add up"),
    ],
)
def test_a_file_whose_classes_do_not_add_up_is_refused(tmp_path, place, said):
    def changed(number, row):
        return [one + 1 if number == 7 and at == place else one for at, one in enumerate(row)]

    with pytest.raises(DataError, match=said):
        read_wac(wac(tmp_path, changed))


def test_what_is_no_such_file_is_refused(tmp_path):
    (tmp_path / "od.csv").write_text("w_geocode,h_geocode,S000\n1,2,3\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"od\.csv is no LODES WAC file: it has no column 'C000'"):
        read_wac(tmp_path / "od.csv")
    with pytest.raises(DataError, match="could not be read as a LODES WAC file"):
        read_wac(tmp_path / "none.csv")
    with pytest.raises(PlanError, match="A WAC file says how many jobs there are"):
        write("lodes", tmp_path, rows=5_000, wac=wac(tmp_path))


@needs_real
def test_the_real_file_of_utah_is_read_and_its_workplaces_are_as_many_as_jobs_say():
    real = read_wac(REAL)
    ((jobs,),) = duckdb.sql(f"SELECT sum(C000) FROM '{REAL}'").fetchall()
    of = WacCountry(real).workplaces
    assert of.size.sum() == jobs == 1_493_603
    assert of.size.size == pytest.approx(0.0479 * jobs, rel=0.1)
    assert of.size.min() == 1
    cells = np.bincount(of.block * 20 + of.sector, of.size, 20 * len(real)).reshape(-1, 20)
    order = np.argsort(np.array(real["w_geocode"].to_pylist()))
    assert (cells == counts(real, "sector")[order]).all()
    assert isinstance(real, pa.Table)


OUTLINES = REAL.parents[1] / "geo" / "counties-10m.json"


@pytest.mark.skipif(not OUTLINES.is_file(), reason=f"the outlines are not at {OUTLINES}")
def test_real_outlines_of_counties_fit_the_codes_of_a_real_file(tmp_path):
    """Those of us-atlas hold islets that its grid has shrunk to a point, which are left out."""
    folder = Path(sfumato("synth", "lodes", "--wac", wac(tmp_path), "--out", tmp_path / "made").strip()).parent
    (folder / "shapes").mkdir()
    (folder / "shapes" / "counties.json").symlink_to(OUTLINES)
    map_ = '[geography.location]\nfile = "shapes/counties.json"\nid = "id"\nsource = "us-atlas"\npartial = true\n'
    text = (folder / "lodes.toml").read_text(encoding="utf-8")
    (folder / "lodes.toml").write_text(text.replace("[hidden]", f"{map_}\n[hidden]"), encoding="utf-8")
    plan = Plan.read(folder / "lodes.toml")
    run(plan, Microdata.open(given(folder), plan.schema), None, tmp_path / "r", Options(rehearsal=1))
    drawn = (tmp_path / "r" / "geography" / "location.json").read_text(encoding="utf-8")
    assert '"49001"' in drawn
    assert '"49003"' in drawn

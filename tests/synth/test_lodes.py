"""Synthetic linked data: reproducible in pieces, linked without a fault, with the shares and skew of a real state."""

import filecmp
import json
from pathlib import Path

import duckdb
import numpy as np
import pytest
import shapely
from tests.commands import page, sfumato

from sfumato.confidential import Microdata, Options, Tabulation, run
from sfumato.draws import SeededDraws
from sfumato.errors import DataError, PlanError
from sfumato.plan import Plan
from sfumato.plan.toml import SHIPPED
from sfumato.synth import lodes, write
from sfumato.synth.lodes_country import SECTORS, Country

MARGINS = Path(__file__).parents[3] / "shared" / "data" / "generator_margins.json"
needs_margins = pytest.mark.skipif(not MARGINS.is_file(), reason=f"the real margins are not at {MARGINS}")
TABLES = ("jobs", "workers", "workplaces")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The tables of the size that comes by default."""
    return write("lodes", tmp_path_factory.mktemp("lodes")).parent


def asked(folder, query):
    """A query over the three tables joined."""
    jobs, workers, workplaces = (f"'{folder}/{name}.parquet'" for name in TABLES)
    linked = f"(SELECT * FROM {jobs} JOIN {workers} USING (worker_id) JOIN {workplaces} USING (workplace_id))"
    return duckdb.sql(query.replace("LINKED", linked)).fetchall()


def given(folder):
    return {name: folder / f"{name}.parquet" for name in TABLES}


def test_the_same_seed_writes_the_same_bytes_in_pieces_and_another_seed_others(tmp_path, monkeypatch):
    monkeypatch.setattr(lodes, "PIECE", 1_000)
    for folder, seed in (("a", 7), ("b", 7), ("c", 8)):
        write("lodes", tmp_path / folder, rows=5_000, seed=seed)
    names = sorted(path.name for path in (tmp_path / "a").iterdir() if path.is_file())
    assert names == ["jobs.parquet", "lodes.toml", "workers.parquet", "workplaces.parquet"]
    assert filecmp.cmpfiles(tmp_path / "a", tmp_path / "b", names, shallow=False)[0] == names
    assert filecmp.cmpfiles(tmp_path / "a", tmp_path / "c", names, shallow=False)[0] == ["lodes.toml"]
    counted = "count(*), count(DISTINCT (worker_id, workplace_id)), max(worker_id), count(DISTINCT worker_id)"
    query = f"SELECT {counted} FROM LINKED"
    ((jobs, pairs, last, workers),) = asked(tmp_path / "a", query)
    assert (jobs, pairs) == (5_000, 5_000)
    assert last == workers < 5_000


def test_what_comes_with_sfumato_is_the_generators_own(small):
    for name in ("codes/lodes_locations.csv", "shapes/lodes_counties.geojson"):
        assert (small / name).read_bytes() == (SHIPPED / name).read_bytes()
    assert Plan.read(SHIPPED / "lodes.toml").to_toml() == Plan.read(small / "lodes.toml").to_toml()


def test_every_job_links_one_worker_and_one_workplace_and_nobody_works_twice_in_one(small):
    ((jobs, pairs, workplaces),) = asked(
        small,
        "SELECT count(*), count(DISTINCT (worker_id, workplace_id)), count(DISTINCT workplace_id) FROM LINKED",
    )
    assert (jobs, pairs) == (50_000, 50_000)
    assert workplaces == round(50_000 * 0.0479)  # 527 thousand for 11 million jobs: Haney et al. 2017
    held = dict(asked(small, "SELECT n, count(*) FROM (SELECT count(*) n FROM LINKED GROUP BY worker_id) GROUP BY n"))
    assert sorted(held) == [1, 2, 3]


def test_education_is_told_from_thirty_years_on_alone(small):
    # As in LODES, where education sums to the workers aged 30 and over.
    assert asked(small, "SELECT DISTINCT age < 30, education = 'E5' FROM LINKED ORDER BY ALL") == [
        (False, False),
        (True, True),
    ]


def test_blocks_lie_in_places_places_in_counties_and_counties_have_outlines(small):
    levels = Plan.read(small / "lodes.toml").schema.attribute("location").levels
    assert {levels.depths[code] for code in levels.leaves} == {3}
    (blocks,) = zip(*asked(small, "SELECT DISTINCT location FROM LINKED"), strict=True)
    assert set(blocks) <= set(levels.leaves)
    features = json.loads((small / "shapes" / "lodes_counties.geojson").read_text(encoding="utf-8"))["features"]
    areas = [shapely.geometry.shape(one["geometry"]) for one in features]
    assert [one["properties"]["code"] for one in features] == list(levels.at(1))
    assert shapely.coverage_is_valid(areas)
    assert shapely.union_all(areas).geom_type == "Polygon"


@needs_margins
def test_sectors_places_and_sizes_are_skewed_as_in_a_real_state():
    real = json.loads(MARGINS.read_text(encoding="utf-8"))["lodes_ut_2019"]
    of = Country(real["jobs"]).workplaces
    assert of.size.sum() == real["jobs"]
    shares = np.bincount(of.sector, of.size, len(SECTORS)) / real["jobs"]
    assert shares == pytest.approx(list(real["sector"].values()), abs=0.02)
    cells = np.bincount(of.block * len(SECTORS) + of.sector, of.size)
    cells = cells[cells > 0]
    assert len(cells) == pytest.approx(real["block_sector_cells"], rel=0.1)
    assert np.mean(cells == 1) == pytest.approx(real["share_cells_eq1"], abs=0.05)
    assert np.mean(cells <= 5) == pytest.approx(real["share_cells_le5"], abs=0.05)
    assert np.sort(cells)[::-1][: len(cells) // 100].sum() / real["jobs"] > 0.3
    assert 3 <= np.median(of.size) <= 4


@needs_margins
def test_who_works_has_the_shares_of_a_real_state(tmp_path):
    real = json.loads(MARGINS.read_text(encoding="utf-8"))["lodes_ut_2019"]
    folder = write("lodes", tmp_path, rows=200_000).parent
    for column, name in (("sex", "sex_M_F"), ("race", "race"), ("ethnicity", "ethnicity")):
        counted = asked(folder, f"SELECT count(*) / 200000 FROM LINKED GROUP BY {column} ORDER BY {column}")
        assert [share for (share,) in counted] == pytest.approx(list(real[name].values()), abs=0.02)
    counted = asked(
        folder, "SELECT count(*) / 200000 FROM LINKED GROUP BY (age >= 30)::INT + (age >= 55)::INT ORDER BY 1"
    )
    assert [share for (share,) in counted] == pytest.approx(sorted(real["age"].values()), abs=0.02)
    taught = "SELECT count(*) / sum(count(*)) OVER () FROM LINKED WHERE age >= 30 GROUP BY education ORDER BY education"
    assert [share for (share,) in asked(folder, taught)] == pytest.approx(
        list(real["education_age30plus"].values()), abs=0.03
    )
    # What shape protection protects: the share of women differs between employers of one sector, more than by chance.
    spread = "SELECT var_pop(w / n), avg(w / n * (1 - w / n) / n) FROM "
    shares = "(SELECT count(*) n, count(*) FILTER (sex = '2') w FROM LINKED WHERE sector = '62' GROUP BY workplace_id)"
    ((found, by_chance),) = asked(folder, f"{spread} {shares} WHERE n >= 20")
    assert found > 2 * by_chance


EDGE = """[hidden]
neighbours = "add-remove"
unit = "worker"
id = "worker_id"
at_most = {most}
[limit]
epsilon = "3"
[[measure]]
name = "sex_education"
of = "count"
by = ["location@1", "sector", "sex", "education"]
with = {{ mechanism = "geometric", epsilon = "3" }}
"""


def edge_plan(folder, most):
    """The same tables with one worker hidden, of whose jobs so many count."""
    text = (folder / "lodes.toml").read_text(encoding="utf-8")
    return Plan.parse(text[: text.index("[hidden]")] + EDGE.format(most=most), folder / "lodes.toml")


def test_tables_of_joined_data_are_those_of_a_query_and_the_bound_on_jobs_is_enforced(small):
    found = [
        Tabulation(one, Microdata.open(given(small), one.schema), SeededDraws(1)).cells(one.measures[0]).values
        for one in (edge_plan(small, 3), edge_plan(small, 1))
    ]
    levels = Plan.read(small / "lodes.toml").schema.attribute("location").levels
    place = {code: number for number, code in enumerate(levels.at(1))}
    sector = {code: number for number, code in enumerate(SECTORS)}
    expected = np.zeros_like(found[0])
    query = "SELECT location[:5], sector, sex, education, count(*) FROM LINKED GROUP BY ALL"
    for county, industry, sex, education, jobs in asked(small, query):
        expected[place[county], sector[industry], int(sex) - 1, int(education[1]) - 1] = jobs
    assert (found[0] == expected).all()
    assert int(found[1].sum()) == asked(small, "SELECT count(DISTINCT worker_id) FROM LINKED")[0][0]


def test_a_worker_with_more_jobs_than_the_plan_says_is_named_before_the_charge(small, tmp_path):
    text = (small / "lodes.toml").read_text(encoding="utf-8")
    plan = Plan.parse(text.replace("at_most = 3", "at_most = 2"), small / "lodes.toml")
    with pytest.raises(DataError, match="'worker_id': some stand in more rows than"):
        run(plan, Microdata.open(given(small), plan.schema), None, tmp_path / "r", Options(rehearsal=1))


def test_the_plan_runs_and_answers_by_county_with_a_map(small, tmp_path):
    plan = Plan.read(small / "lodes.toml")
    release = run(plan, Microdata.open(given(small), plan.schema), None, tmp_path / "r", Options(rehearsal=1))
    assert (tmp_path / "r" / "geography" / "location.json").is_file()
    assert {product.name for product in release.manifest.products} == {measure.name for measure in plan.measures}
    printed = sfumato("table", tmp_path / "r", "--rows", "location", "--at", "location=@1")
    assert printed.count("County") == 6
    shown = page(tmp_path / "r", "/lodes~jobs?rows=location&at=location:@1&view=map")
    assert sum(tag == "path" for tag, _ in shown.elements) >= 6
    assert "made-up outlines" in shown.text


def test_sizes_that_are_none_and_quarters_are_refused(tmp_path):
    with pytest.raises(PlanError, match="1,000 to 200,000,000"):
        write("lodes", tmp_path, rows=10)
    with pytest.raises(PlanError, match="lodes has no quarters; only qcew has"):
        write("lodes", tmp_path, quarters=2)

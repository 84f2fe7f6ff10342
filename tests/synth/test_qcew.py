"""The synthetic quarterly census: reproducible, inside its code lists, shaped like an economy; and real files read."""

import filecmp
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.synth.qcew_published import CODES, NUMBERS, Published

import sfumato as sf
from sfumato.confidential import Microdata, Options, run
from sfumato.errors import DataError, PlanError
from sfumato.plan import Plan
from sfumato.plan.toml import SHIPPED
from sfumato.query import QueryEngine
from sfumato.schema import Levels
from sfumato.synth import qcew, write
from sfumato.synth.qcew_codes import SECTORS, industries

REAL = Path(__file__).parents[3] / "shared" / "data" / "qcew" / "dev_qcew_nj_2016q1_16counties.parquet"
needs_real = pytest.mark.skipif(not REAL.is_file(), reason=f"the real tables are not at {REAL}")
MONTHS = ("m1emp", "m2emp", "m3emp")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Four quarters of a small state."""
    folder = tmp_path_factory.mktemp("qcew")
    write("qcew", folder, quarters=4)
    return folder


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A quarter of a state of the size of the real tables."""
    folder = tmp_path_factory.mktemp("large")
    write("qcew", folder, rows=184_000)
    return folder


def asked(folder, query, quarter=1):
    """A query over the frame joined to a quarter's reports."""
    reports = f"qcew-2026q{quarter}.parquet"
    joined = f"(SELECT * FROM '{folder}/frame.parquet' JOIN '{folder}/{reports}' USING (establishment_id))"
    return duckdb.sql(query.replace("JOINED", joined)).fetchall()


def test_the_plan_beside_the_data_withholds_cells_of_them(tmp_path):
    """The shipped plan of suppressed tables, on a small register: cells of one firm have no number anywhere."""
    folder = write("qcew", tmp_path, rows=600).parent
    plan = Plan.read(folder / "qcew-suppressed-2026q1.toml")
    jobs = replace(plan, measures=(), suppress=replace(plan.suppress, measures=plan.suppress.measures[:1]))
    data = Microdata.open(folder / "qcew-2026q1.parquet", jobs.schema)
    release = run(jobs, data, None, tmp_path / "out", Options(rehearsal=1))
    alone = (
        "SELECT any_value(county), naics[:4] AS trade FROM JOINED GROUP BY trade HAVING count(*) = 1 ORDER BY 2 LIMIT 1"
    )
    ((county, naics),) = asked(folder, alone)
    shown = QueryEngine(release).table("naics", at={"naics": [naics]}, where={"county": county[:2]})
    assert shown.missing[0].code == "D"
    assert QueryEngine(release).total().value == asked(folder, "SELECT sum(m3emp) FROM JOINED")[0][0]


def test_the_same_seed_writes_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(qcew, "PIECE", 1_000)
    for folder, seed in (("a", 7), ("b", 7), ("c", 8)):
        write("qcew", tmp_path / folder, rows=2_500, seed=seed, quarters=2)
    names = sorted(path.name for path in (tmp_path / "a").iterdir() if path.is_file())
    assert names == [
        "frame.parquet",
        *(f"qcew-2026q{one}.{kind}" for one in (1, 2) for kind in ("parquet", "toml")),
        *(f"qcew-suppressed-2026q{one}.toml" for one in (1, 2)),
    ]
    assert filecmp.cmpfiles(tmp_path / "a", tmp_path / "b", names, shallow=False)[0] == names
    assert "frame.parquet" in filecmp.cmpfiles(tmp_path / "a", tmp_path / "c", names, shallow=False)[1]


def test_the_lists_that_come_with_sfumato_are_the_generators_own(small):
    for name in ("naics.csv", "counties.csv"):
        assert (small / "codes" / name).read_bytes() == (SHIPPED / "codes" / name).read_bytes()


def test_the_tree_of_industries_has_five_levels_and_about_the_size_of_the_real_one():
    levels = Levels.of(industries())
    counted = np.bincount([levels.depths[code] for code in levels.codes])
    assert len(counted) == 5
    assert counted[0] == 21  # the twenty sectors, and what is not classified
    # NAICS 2022: 96 subsectors, 308 groups, 689 and 1,012 industries
    assert counted[1:].tolist() == pytest.approx([96, 308, 689, 1_012], rel=0.1)
    assert all(len(code) == 6 for code in levels.leaves)


def test_the_frame_is_whole_and_its_firms_are_within_their_bound(small):
    frame = pq.read_table(small / "frame.parquet")
    assert frame.num_rows == 25_000
    assert not any(frame[name].null_count for name in frame.column_names)
    assert len(frame["establishment_id"].unique()) == 25_000
    firms = frame["firm_id"].value_counts().field("counts").to_numpy()
    assert 5 < firms.max() <= qcew.LARGEST_FIRM
    assert 0.05 < (firms > 1).mean() < 0.15
    assert frame["state"].to_pylist() == [code[:2] for code in frame["county"].to_pylist()]


def test_sizes_are_skewed_as_in_a_small_state(small):
    jobs = pq.read_table(small / "qcew-2026q1.parquet")["m1emp"].to_numpy()
    # README of the data: median 3 to 4; the Rhode Island file has 14.8 jobs an establishment and at most 4,050
    assert 3 <= np.median(jobs) <= 7
    assert 12 < jobs.mean() < 18
    assert 1_000 < jobs.max() <= 4_500
    assert np.sort(jobs)[-len(jobs) // 100 :].sum() > 0.2 * jobs.sum()
    assert 0.03 < (jobs == 0).mean() < 0.15


def test_births_and_deaths_are_rows_of_the_frame_without_a_report(small):
    known = set(pq.read_table(small / "frame.parquet")["establishment_id"].to_pylist())
    quarters = [
        set(pq.read_table(small / f"qcew-2026q{one}.parquet")["establishment_id"].to_pylist()) for one in range(1, 5)
    ]
    for before, after in pairwise(quarters):
        assert before < known
        assert 0.01 < len(after - before) / len(before) < 0.06
        assert 0.01 < len(before - after) / len(before) < 0.06


def test_months_follow_the_season_of_the_sector(small):
    def jobs(prefix, quarter):
        found = asked(small, f"SELECT sum(m2emp) FROM JOINED WHERE naics LIKE '{prefix}%'", quarter)
        return found[0][0]

    assert jobs("23", 3) > 1.08 * jobs("23", 1)  # construction is low in February and high in August
    assert jobs("44", 4) > 1.02 * jobs("44", 2)
    reports = pq.read_table(small / "qcew-2026q1.parquet")
    assert len({reports[name].to_numpy().sum() for name in MONTHS}) == 3


def test_wages_are_dollars_a_quarter_by_industry(large):
    found = dict(asked(large, "SELECT naics[:2], sum(wages) / sum((m1emp + m2emp + m3emp) / 3) FROM JOINED GROUP BY 1"))
    for code in ("23", "52", "54", "62", "72"):
        assert found[code] == pytest.approx(13 * SECTORS[code].weekly, rel=0.1)
    none = asked(large, "SELECT max(wages) FROM JOINED WHERE m1emp + m2emp + m3emp = 0")
    assert none == [(0,)]


def test_government_is_few_and_large(large):
    found = {
        code: (count, size)
        for code, count, size in asked(large, "SELECT ownership, count(*), avg(m3emp) FROM JOINED GROUP BY 1")
    }
    # the real margins of New Jersey: 809, 660, 2,745 and 180,095 establishments of 45, 131, 117 and 13.8 jobs
    for code, count, size in (("1", 809, 45), ("2", 660, 131), ("3", 2_745, 117), ("5", 180_095, 13.8)):
        assert found[code][0] == pytest.approx(count, rel=0.25)
        assert found[code][1] == pytest.approx(size, rel=0.35)


def test_the_usual_rules_would_suppress_about_half_of_the_six_digit_cells(large):
    ((share,),) = asked(
        large,
        """WITH cells AS (SELECT count(*) AS n, sum(m3emp) AS whole, list_sort(list(m3emp), 'DESC') AS sorted
           FROM JOINED GROUP BY naics, county, ownership)
           SELECT avg(CAST(n < 3 OR whole - sorted[1] - sorted[2] < 0.1 * sorted[1] AS INT)) FROM cells""",
    )
    assert 0.45 < share < 0.60


def test_the_plan_costs_what_the_paper_teams_budget_costs(small):
    for path in (SHIPPED / "qcew.toml", small / "qcew-2026q1.toml"):
        assert Plan.read(path).price().total.mu == pytest.approx(2.3065, abs=5e-5)
    assert Plan.read(small / "qcew-2026q3.toml").period == "2026-Q3"
    assert len(Plan.read(small / "qcew-2026q1.toml").measures) == 20


def test_the_plan_runs_on_its_data_and_answers_within_its_errors(tmp_path):
    path = write("qcew", tmp_path, rows=3_000)
    plan = Plan.read(path)
    run(plan, Microdata.open(path.with_suffix(".parquet"), plan.schema), None, tmp_path / "out", Options(rehearsal=1))
    answers = sf.open(tmp_path / "out")
    assert answers.statistics == ("jobs_1", "jobs_2", "jobs_3", "wages")
    true = dict(asked(tmp_path, "SELECT county, sum(wages) FROM JOINED GROUP BY 1"))
    for code, wages in true.items():
        found = answers.total({"county": code}, of="wages")
        assert abs(found.value - float(wages)) < 6 * found.noise_variance**0.5
        assert found.noise_variance > 0
    by_county = answers.table("county", of="jobs_1", at={"county": "leaves"})
    assert sum(one["estimate"] for one in by_county.records()) == answers.total(of="jobs_1").value


@pytest.mark.parametrize(("rows", "quarters"), [(0, 1), (100_000_000, 1), (10, 0), (10, 41)])
def test_sizes_that_cannot_be_made_are_refused(tmp_path, rows, quarters):
    with pytest.raises(PlanError, match="qcew was asked for"):
        write("qcew", tmp_path, rows=rows, quarters=quarters)


def test_only_the_census_has_quarters(tmp_path):
    with pytest.raises(PlanError, match="employment has no quarters"):
        write("employment", tmp_path, rows=10, quarters=2)


@needs_real
def test_real_tables_add_up_exactly_at_every_digit():
    real = Published.read(REAL)
    for digits in (2, 3, 4, 5, 6):
        for column in NUMBERS:
            gaps = real.gaps(column, digits)
            assert len(gaps) > 20
            assert not gaps.any()


@needs_real
def test_real_margins_and_the_share_suppressed_are_those_on_record():
    real = Published.read(REAL)
    assert real.counties(6).table.num_rows == 11_211
    assert real.counties(6).suppressed == pytest.approx(0.5176, abs=5e-5)
    owners = real.counties(0).margins("own_code")
    assert owners["5"]["establishments"] == 180_095
    assert owners["5"]["jobs"] == 2_481_554
    assert owners["1"]["wages"] == 688_781_609


@needs_real
def test_a_table_that_does_not_add_up_is_seen():
    real = Published.read(REAL)
    column = real.table["qtrly_estabs"].to_pylist()
    place = real.table["agglvl_code"].to_pylist().index("78")
    column[place] += 1
    spoilt = real.table.set_column(real.table.column_names.index("qtrly_estabs"), "qtrly_estabs", pa.array(column))
    assert np.count_nonzero(Published(spoilt).gaps("qtrly_estabs", 6)) == 1


def layout(**change):
    """Two counties' worth of one industry in the layout of the one-file CSV."""
    codes = {"area_fips": ["01001"] * 3, "own_code": ["5"] * 3, "industry_code": ["10", "23", "31-33"]}
    codes |= {"agglvl_code": ["71", "74", "74"], "size_code": ["0"] * 3, "year": ["2026"] * 3, "qtr": ["1"] * 3}
    codes |= {"disclosure_code": ["", "", "N"]}
    numbers = {name: [9, 4, 5] for name in NUMBERS} | {"lq_qtrly_estabs": [1.0, 0.9, 1.2]}
    return pa.table(codes | numbers | change)


def test_the_one_file_layout_is_read_with_codes_as_text(tmp_path):
    pyarrow.csv.write_csv(layout(), tmp_path / "2026.q1.singlefile.csv")
    read = Published.read(tmp_path / "2026.q1.singlefile.csv")
    assert read.table["area_fips"].to_pylist()[0] == "01001"
    assert read.table.column_names == [*CODES, *NUMBERS]
    assert read.gaps("qtrly_estabs", 2).tolist() == [0]
    assert read.gaps("month1_emplvl", 2).tolist() == []  # manufacturing is suppressed there
    assert read.suppressed == pytest.approx(1 / 3)


def test_a_file_of_another_layout_is_refused_with_the_column(tmp_path):
    pyarrow.csv.write_csv(layout().drop_columns(["own_code"]), tmp_path / "other.csv")
    with pytest.raises(DataError, match=r"other\.csv has no column 'own_code'"):
        Published.read(tmp_path / "other.csv")
    with pytest.raises(DataError, match="There is no file"):
        Published.read(tmp_path / "nowhere.csv")

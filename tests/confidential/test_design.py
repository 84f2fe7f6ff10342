"""Design-based estimates equal the Census Bureau's own and the R survey package's."""

import csv
import json
import math
from pathlib import Path

import pytest
from tests.confidential.weighted_sample import REST, asked

import sfumato as sf
from sfumato.confidential.estimands import MeanOf, ShareOf, TotalOf
from sfumato.plan import Plan

SHARED = Path(__file__).parents[3] / "shared" / "data"
needs_pums = pytest.mark.skipif(not (SHARED / "pums").is_dir(), reason=f"the public PUMS files are not in {SHARED}")
needs_survey = pytest.mark.skipif(not (SHARED / "survey").is_dir(), reason=f"the survey files are not in {SHARED}")

STATES = {"VT": "50", "WY": "56", "ND": "38", "UT": "49"}
PUMS = (
    """
name = "pums"
sampling = "successive difference replication"
[data]
unit = "person"
repeated_rows = true
weight = "PWGTP"
weight_kind = "base"
replicates = "PWGTP{1..80}"
[attributes.state]
from = "ST"
levels = ["38", "49", "50", "56"]
[attributes.sex]
from = "SEX"
levels = ["1", "2"]
[attributes.age]
from = "AGEP"
bands = [0, 5, 10, 15, 20, 25, 35, 45, 55, 60, 65, 75, 85]
[attributes.adult]
from = "AGEP"
bands = [0, 16]
[attributes.work]
from = "ESR"
levels = ["1", "2", "3", "4", "5", "6", "none"]
missing = { level = "none", codes = ["b"] }
[attributes.hispanic]
from = "HISP"
levels = ["no", "yes"]
recode = { 01 = "no", """
    + ", ".join(f'{code:02} = "yes"' for code in range(2, 25))
    + """ }
[attributes.puma]
from = "PUMA"
levels = ["100", "200", "300", "400", "500", "3001", "5001", "11001", "11002", "13001", "21001", "35001", "35002",
  "35003", "35004", "35005", "35006", "35007", "35008", "35009", "49001", "49002", "49003", "49004", "53001", "57001",
  "57002"]
"""
    + REST
)


def pums_files() -> list[str]:
    return [str(SHARED / "pums" / f"PUMS_{state}.parquet") for state in STATES]


@pytest.fixture(scope="module")
def pums(tmp_path_factory) -> sf.Plan:
    path = tmp_path_factory.mktemp("plans") / "pums.toml"
    path.write_text(PUMS)
    return sf.Plan.read(path)


def published() -> dict[tuple[str, str], tuple[int, int]]:
    with (SHARED / "pums" / "pums_estimates_17_21_dev.csv").open(encoding="utf-8-sig") as file:
        return {
            (row["ST"], row["CHARACTERISTIC"]): (int(row["PUMS_EST_17_TO_21"]), int(row["PUMS_SE_17_TO_21"]))
            for row in csv.DictReader(file)
        }


def bureau_name(cell: dict) -> str:
    if "sex" in cell:
        return {"1": "Total males (SEX=1)", "2": "Total females (SEX=2)"}[cell["sex"]]
    if "age" in cell:
        return f"Age {cell['age']}" if cell["age"] != "85+" else "Age 85 and over"
    return "Total population"


@needs_pums
def test_estimates_and_standard_errors_equal_the_census_bureaus_to_the_integer(pums):
    known, matched = published(), 0
    for rows in (("state",), ("state", "sex"), ("state", "age")):
        for cell in asked(pums, pums_files(), rows=rows).records():
            ours = cell["estimate"], math.floor(cell["se"] + 0.5)
            assert ours == known[cell["state"], bureau_name(cell)], cell
            assert isinstance(cell["estimate"], int)
            matched += 1
    assert matched == 64


RATE = "unemployment rate = ESR3/(ESR1,2,3)"
ORACLE = {
    "total civilian employed (ESR 1,2)": (TotalOf(), {"work": ["1", "2"]}),
    "total unemployed (ESR 3)": (TotalOf(), {"work": "3"}),
    RATE: (ShareOf({"work": "3"}), {"work": ["1", "2", "3"]}),
    "civ. employment-population ratio 16+": (ShareOf({"work": ["1", "2"]}), {"adult": "16+"}),
    "female share of civilian employed": (ShareOf({"sex": "2"}), {"work": ["1", "2"]}),
    "mean age of civilian employed": (MeanOf("AGEP"), {"work": ["1", "2"]}),
    "unemployment rate, Hispanic (HISP!=01)": (ShareOf({"work": "3"}), {"work": ["1", "2", "3"], "hispanic": "yes"}),
}


@needs_pums
def test_totals_rates_and_domain_means_are_those_of_the_r_survey_package(pums):
    with (SHARED / "pums" / "r_survey_sdr_oracle_dev.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 36
    found = {}
    for statistic, (of, where) in ORACLE.items():
        for cell in asked(pums, pums_files(), of, ("state",), where=where).records():
            found[cell["state"], statistic] = cell
    of, where = ORACLE[RATE]
    for cell in asked(pums, pums_files(), of, ("state", "puma"), where=where).records():
        found[cell["state"], f"unemployment rate, PUMA {cell['puma']}"] = cell
    for line in lines:
        cell = found[STATES[line["state"]], line["statistic"]]
        assert cell["estimate"] == pytest.approx(float(line["estimate"]), rel=1e-9), line
        assert cell["se"] == pytest.approx(float(line["se"]), rel=1e-9), line


LOU = (
    """
name = "lou"
sampling = "successive difference replication"
[data]
unit = "person"
key = "UNIQUE_ID"
weight = "PWGTP"
weight_kind = "base"
replicates = "PWGTP{1..80}"
[attributes.sex]
from = "SEX"
levels = ["Male", "Female"]
[attributes.age]
from = "AGE"
bands = [0, 18, 65]
[attributes.education]
from = "EDUC_ATTAINMENT"
levels = ["High school or beyond", "Less than high school"]
"""
    + REST
)


@needs_survey
def test_fractional_weights_in_a_csv_file_give_the_r_survey_packages_numbers():
    plan, file = Plan.parse(LOU, Path("lou.toml")), str(SHARED / "survey" / "lou_pums_microdata.csv")
    known = json.loads((SHARED / "survey" / "r_survey_sdr_lou_pums.json").read_text())

    def check(cells, estimates, errors, digits=5):
        for cell, estimate, error in zip(cells.records(), estimates, errors, strict=True):
            assert cell["estimate"] == pytest.approx(estimate, rel=0.51 * 10.0 ** (1 - digits))
            assert cell["se"] == pytest.approx(error, rel=0.51 * 10.0 ** (1 - digits))

    sexes = [known["total_Male"], known["total_Female"]]
    check(asked(plan, file, rows=("sex",)), [one["est"] for one in sexes], [one["se"] for one in sexes])
    education = known["EDUC_ATTAINMENT_totals"]
    check(asked(plan, file, rows=("education",)), education["est"], education["se"], digits=10)
    mean = known["mean_AGE"]
    check(asked(plan, file, MeanOf("AGE")), [mean["est"]], [mean["se"]])
    by_sex = known["mean_AGE_by_SEX"]
    check(
        asked(plan, file, MeanOf("AGE"), rows=("sex",)), *zip(by_sex["Male"], by_sex["Female"], strict=True), digits=7
    )
    ratio = known["ratio_65plus_over_18plus"]
    older = asked(plan, file, ShareOf({"age": "65+"}), where={"age": ["18-64", "65+"]})
    check(older, [ratio["est"]], [ratio["se"]], digits=6)

"""Design-based estimates: the Census Bureau's own, the R survey package's, and the identities behind them."""

import csv
import json
import math
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.confidential import Microdata
from sfumato.confidential.design import Survey
from sfumato.confidential.estimands import MeanOf, RatioOf, ShareOf, ShareOfRow, TotalOf
from sfumato.confidential.true_table import Layout, true_table
from sfumato.errors import DataError, PlanError, QueryError
from sfumato.plan.toml import parse
from sfumato.schema import Grid
from sfumato.statistics.replication import sdr_factors

SHARED = Path(__file__).parents[3] / "shared" / "data"
needs_pums = pytest.mark.skipif(not (SHARED / "pums").is_dir(), reason=f"the public PUMS files are not in {SHARED}")
needs_survey = pytest.mark.skipif(not (SHARED / "survey").is_dir(), reason=f"the survey files are not in {SHARED}")

REST = """
[hidden]
neighbours = "add-remove"
unit = "person"
[limit]
epsilon = "1"
[[measure]]
name = "persons"
of = "count"
by = ["sex"]
with = { mechanism = "geometric", epsilon = "1" }
"""
STATES = {"VT": "50", "WY": "56", "ND": "38", "UT": "49"}
PUMS = (
    """
name = "pums"
sampling = "successive difference replication"
[data]
unit = "person"
repeated_rows = true
weight = "PWGTP"
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


def asked(plan, data, of=None, rows=(), cols=None, where=None, at=None):
    layout = Layout(rows, cols, where or {}, at or {})
    return true_table(plan, Microdata.open(data, plan.schema), layout, of or TotalOf())


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


ORACLE = {
    "total civilian employed (ESR 1,2)": (TotalOf(), {"work": ["1", "2"]}),
    "total unemployed (ESR 3)": (TotalOf(), {"work": "3"}),
    "unemployment rate = ESR3/(ESR1,2,3)": (ShareOf({"work": "3"}), {"work": ["1", "2", "3"]}),
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
    for line in lines:
        puma = line["statistic"].partition("PUMA ")[2]
        of, where = ORACLE[
            line["statistic"].partition(", PUMA")[0] if not puma else "unemployment rate = ESR3/(ESR1,2,3)"
        ]
        where = {**where, "state": STATES[line["state"]]} | ({"puma": puma} if puma else {})
        (cell,) = asked(pums, pums_files(), of, where=where).records()
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
    plan, file = parse(LOU, Path("lou.toml")), str(SHARED / "survey" / "lou_pums_microdata.csv")
    known = json.loads((SHARED / "survey" / "r_survey_sdr_lou_pums.json").read_text())

    def check(cells, estimates, errors, digits=5):
        for cell, estimate, error in zip(cells.records(), estimates, errors, strict=True):
            assert cell["estimate"] == pytest.approx(estimate, rel=0.51 * 10.0 ** (1 - digits))
            assert cell["se"] == pytest.approx(error, rel=0.51 * 10.0 ** (1 - digits))

    sexes = [known["total_Male"], known["total_Female"]]
    check(asked(plan, file, rows=("sex",)), [one["est"] for one in sexes], [one["se"] for one in sexes])
    education = known["EDUC_ATTAINMENT_totals"]
    check(asked(plan, file, rows=("education",)), sorted(education["est"], reverse=True), sorted(education["se"])[::-1])
    mean = known["mean_AGE"]
    check(asked(plan, file, MeanOf("AGE")), [mean["est"]], [mean["se"]])
    by_sex = known["mean_AGE_by_SEX"]
    check(
        asked(plan, file, MeanOf("AGE"), rows=("sex",)), *zip(by_sex["Male"], by_sex["Female"], strict=True), digits=7
    )
    ratio = known["ratio_65plus_over_18plus"]
    older = asked(plan, file, ShareOf({"age": "65+"}), where={"age": ["18-64", "65+"]})
    check(older, [ratio["est"]], [ratio["se"]], digits=6)


SAMPLE = (
    """
name = "sample"
sampling = "a sample"
[data]
unit = "person"
repeated_rows = true
weight = "w"
replicates = "w{1..4}"
[attributes.sex]
levels = ["f", "m"]
[attributes.region]
levels = [{ code = "N" }, { code = "n1", parent = "N" }, { code = "n2", parent = "N" }, "S"]
[[impossible]]
sex = "m"
region = "S"
"""
    + REST
)


def sample_rows(count: int = 3000, seed: int = 3) -> pa.Table:
    """Weights that are no whole numbers and spread over many orders of magnitude, some replicates negative."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], count)
    weight = rng.lognormal(3, 3, count)
    replicates = {f"w{place}": weight * rng.normal(1, 1, count) for place in range(1, 5)}
    region = np.where(sex == "m", rng.choice(["n1", "n2"], count), rng.choice(["n1", "n2", "S"], count))
    rows = {"sex": sex, "region": region, "w": weight, **replicates, "pay": rng.lognormal(7, 2, count)}
    return pa.table({**rows, "hours": rng.integers(1, 60, count), "turn": rng.permutation(count)})


@pytest.fixture(scope="module")
def sample() -> sf.Plan:
    return parse(SAMPLE, Path("sample.toml"))


def built(count: int | None = None) -> sf.Plan:
    """The sample plan with replicates built from an order of selection."""
    order = 'order = "turn"' + (f"\nreplicates = {count}" if count else "")
    return parse(SAMPLE.replace('replicates = "w{1..4}"', order), Path("sample.toml"))


@pytest.mark.parametrize("of", [TotalOf(), TotalOf("pay"), MeanOf("pay"), RatioOf("pay", "hours"), ShareOfRow()])
def test_the_order_of_rows_and_files_changes_no_digit(sample, of, tmp_path):
    rows = sample_rows(20_000)
    shuffled = rows.take(np.random.default_rng(5).permutation(len(rows)))
    parts = [shuffled.slice(12_000), shuffled.slice(0, 12_000)]
    for place, part in enumerate(parts):
        pq.write_table(part, tmp_path / f"{place}.parquet")
    files = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
    for plan in (sample, built()):
        tables = [asked(plan, data, of, ("sex", "region")).records() for data in (rows, shuffled, files, files[::-1])]
        assert tables[0] == tables[1] == tables[2] == tables[3]


def test_sums_of_fractional_weights_are_correct_to_the_last_digits_where_plain_sums_are_not(sample):
    rows = sample_rows(20_000)
    weights = rows["w1"].to_numpy()
    exact = math.fsum(weights)
    total = Survey(sample, Microdata.open(rows, sample.schema), ("sex",)).total(Grid(()))
    assert total.values[1] == pytest.approx(exact, rel=1e-15)
    running = [float(np.cumsum(weights[::way])[-1]) for way in (1, -1)]
    assert running[0] != running[1], "a plain sum depends on the order, so the test has something to find"


def test_whole_weights_are_summed_exactly_beyond_what_a_double_holds(sample):
    big = 2**52 + 1
    rows = pa.table({"sex": ["f"] * 5, "region": ["n1"] * 5, **{f"w{place}": [big] * 5 for place in ("", 1, 2, 3, 4)}})
    (cell,) = asked(sample, rows).records()
    assert cell["estimate"] == 5 * big
    assert cell["se"] == 0


def test_the_variance_is_four_over_r_times_the_squared_departures_negative_replicates_included(sample):
    rows = sample_rows()
    replicates = np.array([rows[f"w{place}"].to_numpy() for place in range(1, 5)])
    assert (replicates < 0).any()
    for code in ("f", "m"):
        kept = np.array(rows["sex"].to_pylist()) == code
        for of, value in ((TotalOf(), np.ones(len(rows))), (TotalOf("pay"), rows["pay"].to_numpy())):
            full = math.fsum((rows["w"].to_numpy() * value)[kept])
            departures = [math.fsum((one * value)[kept]) - full for one in replicates]
            (cell,) = asked(sample, rows, of, where={"sex": code}).records()
            assert cell["estimate"] == pytest.approx(full, rel=1e-14)
            assert cell["se"] ** 2 == pytest.approx(math.fsum(one**2 for one in departures), rel=1e-12)


def test_built_from_the_order_a_total_has_half_the_circular_sum_of_squared_successive_differences():
    rows = sample_rows(79)
    in_turn = rows.take(np.argsort(rows["turn"].to_numpy()))
    weighted = in_turn["w"].to_numpy() * in_turn["pay"].to_numpy()
    identity = math.fsum((weighted - np.roll(weighted, -1)) ** 2) / 2
    (cell,) = asked(built(), rows, TotalOf("pay")).records()
    assert cell["se"] ** 2 == pytest.approx(identity, rel=1e-12)


@pytest.mark.parametrize(("rows", "count"), [(1000, None), (1000, 20), (7, 20), (1, 20)])
def test_replicates_built_from_the_order_are_those_of_the_factors(rows, count):
    data = sample_rows(rows)
    weights, turn = data["w"].to_numpy(), data["turn"].to_numpy()
    factors = sdr_factors(rows, count or 80)[turn]
    kept = np.array(data["sex"].to_pylist()) == "f"
    full = weights[kept].sum()
    variance = 4 / factors.shape[1] * (((weights[:, None] * factors)[kept].sum(axis=0) - full) ** 2).sum()
    (cell,) = asked(built(count), data, where={"sex": "f"}).records()
    assert cell["estimate"] == pytest.approx(full, rel=1e-12)
    assert cell["se"] == pytest.approx(math.sqrt(variance), rel=1e-9, abs=1e-9 * full)


def test_levels_above_the_leaves_add_up_and_shares_of_a_row_to_one(sample):
    rows = sample_rows()
    top = asked(sample, rows, rows=("region",)).records()
    leaves = asked(sample, rows, rows=("region",), at={"region": "@1"}).records()
    assert [cell["region"] for cell in top] == ["N", "S"]
    assert top[0]["estimate"] == pytest.approx(leaves[0]["estimate"] + leaves[1]["estimate"], rel=1e-15)
    shares = asked(sample, rows, ShareOfRow(), ("sex",), "region", at={"region": "all"})
    by_place = dict(shares.items())
    assert by_place[0, 0].value + by_place[0, 3].value == pytest.approx(1)
    assert by_place[0, 0].value == pytest.approx(by_place[0, 1].value + by_place[0, 2].value)


def test_a_census_has_counts_and_no_error():
    plan = parse(
        SAMPLE.replace('weight = "w"\nreplicates = "w{1..4}"', "").replace('"a sample"', '"census"'), Path("c")
    )
    rows = sample_rows()
    cells = asked(plan, rows, rows=("sex",)).records()
    assert [cell["estimate"] for cell in cells] == [rows["sex"].to_pylist().count(code) for code in "fm"]
    assert all(cell["se"] == 0 and cell["records"] == cell["estimate"] for cell in cells)


def test_a_weight_without_replicates_or_order_gives_estimates_and_no_error():
    plan = parse(SAMPLE.replace('replicates = "w{1..4}"', ""), Path("c"))
    (cell,) = asked(plan, sample_rows()).records()
    assert cell["estimate"] > 0
    assert cell["se"] is None
    assert cell["cv"] is None


def test_an_empty_domain_has_a_total_of_0_and_no_mean(sample):
    rows = sample_rows().filter(pa.compute.equal(sample_rows()["sex"], "f"))
    (_, empty) = asked(sample, rows, rows=("sex",)).records()
    assert (empty["estimate"], empty["se"], empty["cv"], empty["records"]) == (0, 0, 0, 0)
    (_, empty) = asked(sample, rows, MeanOf("pay"), ("sex",)).records()
    assert (empty["estimate"], empty["se"], empty["moe90"]) == (None, None, None)


def test_a_replicate_with_nothing_to_divide_by_leaves_the_error_unstated(sample):
    rows = pa.table(
        {"sex": ["f"], "region": ["S"], "w": [2.0], "w1": [0.0], "w2": [1.0], "w3": [2.0], "w4": [1.0], "pay": [9.0]}
    )
    (cell,) = asked(sample, rows, MeanOf("pay")).records()
    assert cell["estimate"] == 9
    assert cell["se"] is None


def changed(column: str, value, place: int = 4) -> pa.Table:
    rows = sample_rows(50).to_pydict()
    rows[column][place] = value
    return pa.table(rows)


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("w", None, "Column 'w'"), ("w3", float("inf"), "Column 'w3'"), ("w2", float("nan"), "Column 'w2'"),
        ("sex", "MARKER", "Column 'sex'"), ("pay", None, "Column 'pay'"), ("pay", float("-inf"), "Column 'pay'"),
    ],
)  # fmt: skip
def test_data_that_do_not_fit_are_refused_by_column_and_rule_without_a_value(sample, column, value, said):
    with pytest.raises(DataError, match=said) as refused:
        asked(sample, changed(column, value), MeanOf("pay"), ("sex",))
    assert "MARKER" not in str(refused.value)


def test_an_impossible_combination_is_refused(sample):
    rows = pa.table(
        {name: values[:1] for name, values in sample_rows().to_pydict().items()} | {"sex": ["m"], "region": ["S"]}
    )
    with pytest.raises(DataError, match="the plan says none can be"):
        asked(sample, rows, rows=("sex",), cols="region")


def test_a_missing_value_counts_only_against_the_records_in_question(sample):
    rows = changed("pay", None)
    sex = rows["sex"][4].as_py()
    (cell,) = asked(sample, rows, MeanOf("pay"), where={"sex": "f" if sex == "m" else "m"}).records()
    assert cell["estimate"] > 0
    with pytest.raises(DataError, match="leave them out with `where`"):
        asked(sample, rows, MeanOf("pay"), where={"sex": sex})


@pytest.mark.parametrize("place", [None, 7.0, float("nan")])
def test_an_order_with_a_gap_or_a_tie_is_refused(place):
    rows = sample_rows(50).to_pydict()
    rows["turn"] = [float(one) for one in range(50)]
    rows["turn"][4] = place
    with pytest.raises(DataError, match="Column 'turn': some places in the order"):
        asked(built(), pa.table(rows))


def test_a_column_may_bear_any_name_that_the_engine_uses_itself():
    names = {"sex": "turn", "region": "coded", "w": "value", "w1": "sign0"}
    text = SAMPLE.replace("[attributes.sex]", '[attributes.sex]\nfrom = "turn"').replace(
        "[attributes.region]", '[attributes.region]\nfrom = "coded"'
    )
    plan = parse(text.replace('weight = "w"\nreplicates = "w{1..4}"', 'weight = "value"\norder = "sign0"'), Path("n"))
    rows = sample_rows(100)
    renamed = (
        rows.drop_columns(["w1"])
        .rename_columns({"turn": "sign0"})
        .rename_columns({old: new for old, new in names.items() if old != "w1"})
    )
    assert (
        asked(plan, renamed, rows=("sex", "region")).records() == asked(built(), rows, rows=("sex", "region")).records()
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('weight = "w"\n', "", "no weight"),
        ('replicates = "w{1..4}"', 'replicates = "w{1..4}"\norder = "turn"', "given or built, not both"),
        ('replicates = "w{1..4}"', "replicates = 80", "no order to build them from"),
        ('replicates = "w{1..4}"', 'replicates = "w{4..1}"', "counts 4 to 1"),
        ('replicates = "w{1..4}"', 'replicates = ["w1", "w1"]', "twice"),
    ],
)
def test_a_design_that_cannot_be_meant_is_refused(old, new, said):
    with pytest.raises(PlanError, match=said):
        parse(SAMPLE.replace(old, new), Path("sample.toml"))


@pytest.mark.parametrize("count", [None, 40])
def test_a_plan_with_an_order_reads_back_equal(count):
    plan = built(count)
    assert parse(plan.to_toml(), Path("again.toml")) == plan
    assert plan.schema.replicate_count == (count or 80)


def test_what_the_plan_does_not_know_is_refused_with_the_nearest_before_data_are_opened(sample):
    nowhere = "nowhere.parquet"
    for of, layout, said in [
        (TotalOf(), {"rows": ("sexx",)}, "did you mean 'sex'"),
        (TotalOf(), {"where": {"sex": "q"}}, "'q' is not a level"),
        (ShareOf({"sex": "q"}), {}, "'q' is not a level"),
        (TotalOf(), {"rows": ("sex",), "at": {"region": "@1"}}, "neither in the rows nor in the columns"),
    ]:
        with pytest.raises((QueryError, PlanError), match=said):
            asked(sample, nowhere, of, **layout)


def test_true_tables_print_no_value_and_cannot_be_pickled(sample):
    rows = sample_rows(100)
    table = asked(sample, rows)
    survey = Survey(sample, Microdata.open(rows, sample.schema), ("sex",))
    for sealed in (table, table.estimates, survey):
        assert repr(sealed) == f"<{type(sealed).__name__}: confidential>"
        with pytest.raises(TypeError, match="confidential"):
            pickle.dumps(sealed)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("tabulate")
    (folder / "sample.toml").write_text(SAMPLE)
    pq.write_table(sample_rows(), folder / "sample.parquet")
    return folder


def tabulate(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sfumato", "tabulate", "sample.toml", "--data", "sample.parquet", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "words",
    [["--rows", "sex"], ["--rows", "sex", "--cols", "region"], ["--rows", "sex,region", "--mean", "pay"], ["--total", "pay"],
     ["--ratio", "pay/hours"], ["--rows", "region", "--share", "sex=f", "--where", "region=n1,n2"], ["--rows", "sex", "--percent"]],
)  # fmt: skip
def test_every_output_of_tabulate_says_that_it_is_confidential(folder, words):
    text = tabulate(folder, *words)
    assert text.returncode == 0, text.stderr
    assert text.stdout.startswith("CONFIDENTIAL")
    told = json.loads(tabulate(folder, *words, "--json").stdout)
    assert told["confidential"] is True
    assert told["notice"].startswith("CONFIDENTIAL")
    assert set(told["cells"][0]) >= {"estimate", "se", "cv", "moe90", "records"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--mean", "pay", "--total", "pay"], "one thing"),
        (["--ratio", "pay"], "OVER/UNDER"),
        (["--rows", "sez"], "did you mean 'sex'"),
        (["--mean", "pays"], "pays"),
        (["--percent"], "need a variable"),
    ],
)
def test_tabulate_refuses_in_a_sentence(folder, words, said):
    refused = tabulate(folder, *words)
    assert refused.returncode == 1
    assert said in refused.stderr
    assert "Traceback" not in refused.stderr

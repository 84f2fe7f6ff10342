"""What `tabulate` refuses, hides and says."""

import json
import pickle
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import Done, command
from tests.confidential.weighted_sample import SAMPLE, asked, built, sample_rows
from tests.conftest import small_rows

import sfumato as sf
from sfumato.confidential import Microdata
from sfumato.confidential.design import Survey
from sfumato.confidential.estimands import MeanOf, MeasureOf, RatioOf, ShareOf, TotalOf
from sfumato.confidential.true_table import TableLayout, true_table
from sfumato.errors import DataError, PlanError, QueryError
from sfumato.plan import Plan


@pytest.fixture(scope="module")
def sample() -> sf.Plan:
    return Plan.parse(SAMPLE, Path("sample.toml"))


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


def test_what_a_measure_is_of_is_shown_over_its_universe_and_over_any_groups(small_plan):
    """Counts and clipped totals, by hand; the levels of a group are taken together, not summed."""
    rows = small_rows(600)
    jobs, pay = (MeasureOf(small_plan.measure(name)) for name in ("jobs", "pay"))
    by_place = Counter(rows["place"].to_pylist())
    assert [one["estimate"] for one in asked(small_plan, rows, jobs, ("place",)).records()] == [
        by_place[place] for place in ("north", "south", "east")
    ]
    making = [pay for trade, pay in zip(*(rows[name].to_pylist() for name in ("trade", "pay")), strict=True) if trade in {"11", "12"}]  # fmt: skip  # noqa: E501
    (cell,) = asked(small_plan, rows, pay, where={"trade": "1"}).records()
    assert cell["estimate"] == sum(10 * ((min(one, 1000) + 5) // 10) for one in making)
    (alone,) = asked(small_plan, rows, MeasureOf(replace(jobs.measure, where={"place": ("north",)}))).records()
    assert alone["estimate"] == by_place["north"]


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
    plan = Plan.parse(
        text.replace(
            'weight = "w"\nweight_kind = "base"\nreplicates = "w{1..4}"',
            'weight = "value"\nweight_kind = "base"\norder = "sign0"',
        ),
        Path("n"),
    )
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
        ('weight = "w"\nweight_kind = "base"\n', "", "no weight"),
        ('replicates = "w{1..4}"', 'replicates = "w{1..4}"\norder = "turn"', "given or built, not both"),
        ('replicates = "w{1..4}"', "replicates = 80", "no order to build them from"),
        ('replicates = "w{1..4}"', 'replicates = "w{4..1}"', "counts 4 to 1"),
        ('replicates = "w{1..4}"', 'replicates = ["w1", "w1"]', "twice"),
    ],
)
def test_a_design_that_cannot_be_meant_is_refused(old, new, said):
    with pytest.raises(PlanError, match=said):
        Plan.parse(SAMPLE.replace(old, new), Path("sample.toml"))


@pytest.mark.parametrize("count", [None, 40])
def test_a_plan_with_an_order_reads_back_equal(count):
    plan = built(count)
    assert Plan.parse(plan.to_toml(), Path("again.toml")) == plan
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


def tabulate(folder: Path, *words: str) -> Done:
    return command("tabulate", "sample.toml", "--data", "sample.parquet", *words, cwd=folder)


@pytest.mark.parametrize(
    "words",
    [
        ["--rows", "sex"],
        ["--rows", "sex", "--cols", "region"],
        ["--rows", "sex,region", "--mean", "pay"],
        ["--total", "pay"],
        ["--ratio", "pay/hours"],
        ["--rows", "region", "--share", "sex=f", "--where", "region=n1,n2"],
        ["--rows", "sex", "--percent"],
    ],
)
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


WEIGHED = SAMPLE.replace(
    'of = { statistic = "count", weighted = false }',
    'of = { statistic = "total", column = "w", clip = ["0", "CLIP"], step = "1" }',
)


@pytest.mark.parametrize("engine", ["", "duckdb"])
def test_the_weight_is_not_weighted_by_itself(sample, engine):
    """Σw² stood under "Total w", where a measure of the same words is Σw."""
    rows = sample_rows(300)
    (total,) = true_table(sample, Microdata.open(rows, sample.schema, engine), TableLayout(()), TotalOf("w")).records()
    (number,) = asked(sample, rows).records()
    assert total == number
    assert total["estimate"] == pytest.approx(sum(rows["w"].to_pylist()))
    assert asked(sample, rows, TotalOf("w")).title == "Total w: weighted number of persons"
    for meaningless in (MeanOf("w"), RatioOf("w", "hours"), RatioOf("pay", "w")):
        with pytest.raises(QueryError, match="is the weight, which says how many persons a record stands for"):
            asked(sample, rows, meaningless)


@pytest.mark.parametrize(("clip", "cut"), [("10000000", False), ("5", True)])
def test_a_measure_of_the_weight_has_the_error_of_the_weights(clip, cut):
    plan, rows = Plan.parse(WEIGHED.replace("CLIP", clip), Path("sample.toml")), sample_rows(300)
    measure = asked(plan, rows, MeasureOf(plan.measure("persons")), ("sex",))
    number = asked(plan, rows, rows=("sex",))
    for one, other in zip(measure.records(), number.records(), strict=True):
        assert one["se"] == pytest.approx(other["se"], rel=1e-9)
        assert (one["estimate"] == pytest.approx(other["estimate"], rel=0.01)) == (not cut)
    assert "counted once" not in measure.title
    assert measure.method == number.method


def test_a_measure_of_the_sample_says_why_it_has_no_error(sample):
    table = asked(sample, sample_rows(300), MeasureOf(sample.measure("persons")), ("sex",))
    assert "every person counted once" in table.title
    assert "No standard errors: every person of the sample counts once" in table.method
    assert [one["se"] for one in table.records()] == [None, None]

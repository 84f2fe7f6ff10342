"""`sfumato check` lists what does not fit, marked confidential; a table too large is refused before all else."""

import json
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import command
from tests.confidential.writers import write_csv, write_duckdb, write_parquet

from sfumato.cli.main import main

PLAN = """
name = "trial"
[data]
unit = "job"
key = "k"
[attributes.sex]
levels = ["f", "m"]
[attributes.age]
bands = [0, 16]
[[impossible]]
sex = "m"
age = "16+"
[hidden]
neighbours = "add-remove"
unit = "firm"
id = "id"
at_most = 2
[limit]
epsilon = "2"
[[measure]]
name = "wages"
of = { statistic = "total", column = "w", clip = ["0", "10"] }
by = ["sex", "age"]
with = { mechanism = "geometric", epsilon = "1" }
"""
CLEAN = [{"sex": "f", "age": 3, "w": 1, "id": "a", "k": 1}, {"sex": "m", "age": 4, "w": 2, "id": "b", "k": 2}]
BAD = [
    {"sex": "f", "age": 3, "w": "1", "id": "a", "k": 1},
    {"sex": "unheard", "age": 3, "w": "1", "id": "a", "k": 2},
    {"sex": "unheard", "age": -7, "w": "n.a.", "id": "a", "k": 3},
    {"sex": None, "age": 3, "w": "1", "id": None, "k": 4},
    {"sex": "m", "age": 40, "w": "1", "id": "b", "k": 5},
    {"sex": "f\x1b[2J", "age": 3, "w": "1", "id": "b", "k": 5},
]


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(PLAN, encoding="utf-8")
    return path


@pytest.fixture
def sfumato(capsys, monkeypatch):
    """The exit code, stdout and stderr of a command, run in this process."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["sfumato", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as left:
            code = left.code or 0
        return (code, *capsys.readouterr())

    return run


def test_clean_data_fit(plan, sfumato, tmp_path):
    for source in (
        write_csv(tmp_path / "a.csv", CLEAN), write_parquet(tmp_path / "a.parquet", CLEAN),
        write_duckdb(tmp_path / "a.duckdb", CLEAN),
    ):  # fmt: skip
        code, out, err = sfumato("check", plan, "--data", source)
        assert (code, err) == (0, "")
        assert out.startswith("CONFIDENTIAL")
        assert "The data fit the plan." in out


def test_the_values_that_do_not_fit_are_listed_with_their_columns_and_rules(plan, sfumato, tmp_path):
    code, out, err = sfumato("check", plan, "--data", write_csv(tmp_path / "a.csv", BAD))
    assert code == 1
    assert out.startswith("CONFIDENTIAL")
    for line in (
        "Column 'sex': some values are not among the declared levels of 'sex', or are missing",
        "  'unheard': 2 rows", "  (missing): 1 row\n", r"  'f\x1b[2J': 1 row",
        "Column 'age': some values are not among", "  '-7': 1 row",
        "Column 'w': some values are missing or no numbers", "  'n.a.': 1 row",
        "Column 'id': some records name no unit",
        "Column 'sex, age': some records are where the plan says none can be", "  'm, 40': 1 row",
        "Column 'k': some keys stand twice or are missing", "  '5': 2 rows",
    ):  # fmt: skip
        assert line in out, line
    assert "\x1b" not in out, "a value cannot drive the terminal"
    assert err == "sfumato: 6 rules of the plan are broken; see the report above.\n"


def test_the_report_for_machines(plan, sfumato, tmp_path):
    code, out, _ = sfumato("check", plan, "--data", write_csv(tmp_path / "a.csv", BAD), "--json")
    report = json.loads(out)
    assert (code, report["confidential"]) == (1, True)
    assert [fault["column"] for fault in report["faults"]] == ["sex", "age", "w", "id", "sex, age", "k"]
    assert ["unheard", 2] in report["faults"][0]["values"]
    assert [None, 1] in report["faults"][0]["values"]
    clean = sfumato("check", plan, "--data", write_csv(tmp_path / "b.csv", CLEAN), "--json")
    told = json.loads(clean[1])
    assert (clean[0], told["confidential"], told["faults"]) == (0, True, [])
    assert [(one["measure"], one["rows_cut"]) for one in told["clips"]] == [("wages", 0)]


def test_no_more_than_ten_values_of_a_rule_are_listed_the_commonest_first(plan, sfumato, tmp_path):
    rows = [CLEAN[0] | {"k": 100 * kind + copy, "sex": f"bad{kind}"} for kind in range(30) for copy in range(kind + 1)]
    _, out, _ = sfumato("check", plan, "--data", write_csv(tmp_path / "a.csv", rows), "--json")
    (fault,) = json.loads(out)["faults"]
    assert fault["values"] == [[f"bad{kind}", kind + 1] for kind in range(29, 19, -1)]


def test_rows_in_two_files_are_listed(plan, sfumato, tmp_path):
    plan.write_text(PLAN.replace('key = "k"\n', ""), encoding="utf-8")
    sources = [write_csv(tmp_path / name, rows) for name, rows in {"a.csv": CLEAN, "b.csv": CLEAN[:1]}.items()]
    code, out, err = sfumato("check", plan, "--data", sources[0], "--data", sources[1])
    assert code == 1
    assert "the same row stands in more than one source" in out
    assert "  'f, 3, 1, a': 2 rows" in out
    assert err == "sfumato: 1 rule of the plan is broken; see the report above.\n"


def test_what_cannot_be_read_says_so_without_a_value(plan, sfumato, tmp_path):
    (tmp_path / "a.csv").write_text("sex,age,w,id,k\nsecret\n", encoding="utf-8")
    code, out, err = sfumato("check", plan, "--data", tmp_path / "a.csv")
    assert (code, out) == (1, "")
    assert "could not be read" in err
    assert "secret" not in err


TORN = {
    "a field too few": ("f,3,1,a,1\nsecret\nf,3,1,a,2\n", "look at line 3: a field too few or too many"),
    "a field too many": ("f,3,1,a,1\nf,3,1,a,2,secret\n", "look at line 3: a field too few or too many"),
    "a quote left open": ('f,3,1,a,1\n"secret,3,1,a,2\n', "look at line 3: a field too few or too many, a quote"),
    "another file in a value": ('f,3,1,a,1\n"secret\n  file = secret\n",3\n', "look at line 3:"),
    "line ends of two kinds": ("f,3,1,a,1\r\nf,3,1,secret,2\nf,3,1,a,3\r\n", "look at line ends of two kinds"),
}


@pytest.mark.parametrize(("rows", "said"), TORN.values(), ids=list(TORN))
def test_a_text_file_that_cannot_be_taken_apart_is_named_with_its_line(plan, sfumato, tmp_path, rows, said):
    whole = write_csv(tmp_path / "whole.csv", CLEAN)
    (tmp_path / "torn.csv").write_bytes(f"sex,age,w,id,k\n{rows}".encode())
    code, out, err = sfumato("check", plan, "--data", whole, "--data", tmp_path / "torn.csv")
    assert (code, out) == (1, "")
    assert f"torn.csv could not be read; {said}" in err
    assert "secret" not in err


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("verb", ["check", "run"])
def test_a_file_without_a_row_is_refused_before_anything_is_charged(plan, sfumato, tmp_path, verb, kind):
    source = tmp_path / f"a.{kind}"
    if kind == "csv":
        source.write_text("sex,age,w,id,k\n", encoding="utf-8")
    else:
        pq.write_table(pa.Table.from_pylist(CLEAN).slice(0, 0), source)
    sfumato("ledger", "open", tmp_path / "l", "--population", "firms", "--plan", plan, "--epsilon", "2")
    charged = ["--ledger", tmp_path / "l", "--out", tmp_path / "release"] if verb == "run" else []
    code, out, err = sfumato(verb, plan, "--data", source, *charged)
    assert code == 1
    assert "The data hold no rows" in out + err
    assert "No charges yet." in sfumato("ledger", "show", tmp_path / "l")[1]
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("verb", ["check", "tabulate"])
def test_one_of_several_files_without_a_row_is_named(plan, sfumato, tmp_path, verb, kind):
    write = write_csv if kind == "csv" else write_parquet
    whole = write(tmp_path / f"whole.{kind}", CLEAN)
    empty = tmp_path / f"empty.{kind}"
    empty.write_text("sex,age,w,id,k\n", encoding="utf-8")
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(CLEAN).slice(0, 0), empty)
    rows = ["--rows", "sex"] if verb == "tabulate" else []
    code, out, err = sfumato(verb, plan, "--data", whole, "--data", empty, *rows)
    assert code == 1
    assert f"Source 2, empty.{kind}, holds no rows" in out + err
    assert "fit the plan" not in out


def test_a_file_without_a_row_has_no_true_table(plan, sfumato, tmp_path):
    (tmp_path / "a.csv").write_text("sex,age,w,id,k\n", encoding="utf-8")
    code, out, err = sfumato("tabulate", plan, "--data", tmp_path / "a.csv", "--rows", "sex")
    assert (code, out) == (1, "")
    assert "The data hold no rows" in err


def test_a_check_charges_nothing_and_writes_nothing(plan, sfumato, tmp_path):
    source = write_csv(tmp_path / "a.csv", CLEAN)
    before = sorted(tmp_path.iterdir())
    sfumato("check", plan, "--data", source)
    assert sorted(tmp_path.iterdir()) == before


def test_a_plan_that_hides_another_unit_than_a_row_must_name_it(plan, sfumato):
    plan.write_text(PLAN.replace('id = "id"\nat_most = 2\n', ""), encoding="utf-8")
    code, _, err = sfumato("price", plan)
    assert code == 1
    assert "one firm may have many rows; give [hidden] id" in err


HUGE = """
name = "huge"
[attributes]
{attributes}
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
by = ["a", "b", "c", "d"]
with = {{ mechanism = "geometric", epsilon = "1" }}
"""


@pytest.mark.parametrize("verb", ["price", "run", "check"])
def test_a_trillion_cells_are_refused_before_anything_is_opened(verb, tmp_path):
    codes = json.dumps([str(code) for code in range(1000)])
    attributes = "\n".join(f"{name} = {{ levels = {codes} }}" for name in "abcd")
    (tmp_path / "plan.toml").write_text(HUGE.format(attributes=attributes), encoding="utf-8")
    words = ["--data", "/nowhere/data.parquet"] if verb != "price" else []
    words += ["--ledger", "/nowhere/ledger", "--out", "/nowhere/out"] if verb == "run" else []
    done = command(verb, tmp_path / "plan.toml", *words)
    assert done.returncode == 1
    assert "1,000,000,000,000 cells" in done.stderr
    assert "a (1,000) × b (1,000) × c (1,000) × d (1,000)" in done.stderr


def test_names_that_differ_in_case_alone_are_listed_and_are_no_fault(plan, sfumato, tmp_path):
    rows = [CLEAN[0] | {"id": name, "k": place} for place, name in enumerate(["acme", "ACME", "acme", "other"])]
    code, out, _ = sfumato("check", plan, "--data", write_csv(tmp_path / "a.csv", rows))
    assert (code, out.startswith("CONFIDENTIAL")) == (0, True)
    assert "In 'id' some names differ in upper and lower case alone: 'ACME', 'acme'." in out
    told = json.loads(sfumato("check", plan, "--data", write_csv(tmp_path / "b.csv", rows), "--json")[1])
    assert [(one["column"], one["names"]) for one in told["cased"]] == [("id", ["ACME", "acme"])]
    assert "upper and lower" not in sfumato("check", plan, "--data", write_csv(tmp_path / "c.csv", CLEAN))[1]

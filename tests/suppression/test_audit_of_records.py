"""`sfumato suppress audit --data`: the records behind a table are attackers too, and rules are looked at by holding."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from sfumato.cli.main import app
from sfumato.errors import SfumatoError

FIRMS = {"1": {"f": 30}, "2": {"g": 28}, "3": {"h": 9, "i": 9, "j": 9}, "4": {"k": 20, "l": 20, "m": 20}}
"""Two sectors of one firm each, and two of three alike: these need no protection of their own."""


def records(path, firms=FIRMS, weight=1):
    rows = [f"{code},{firm},{jobs},{weight}" for code, some in firms.items() for firm, jobs in some.items()]
    path.write_text("\n".join(["A,FIRM,JOBS,WEIGHT", *rows]) + "\n", encoding="utf-8")
    return path


def published(path, missing, firms=FIRMS):
    totals = {code: sum(some.values()) for code, some in firms.items()}
    totals["Total"] = sum(totals.values())
    rows = [f"{code},{'' if code in missing else total}" for code, total in totals.items()]
    path.write_text("\n".join(["A,JOBS", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def audited(tmp_path):
    def ask(missing, *words, firms=FIRMS, rows=None, weight=1):
        table = published(tmp_path / "table.csv", missing, firms)
        data = records(tmp_path / "records.csv", rows or firms, weight)
        told = ("--by", "A", "--value", "JOBS", "--data", data, "--holding", "FIRM", "--json", *words)
        return CliRunner().invoke(app, ["suppress", "audit", str(table), *map(str, told)])

    return ask


def found(done):
    assert done.stdout, done.exception
    return [(one["cell"], one["kind"], one["attacker"]) for one in json.loads(done.stdout)["found"]]


def test_whoever_is_alone_in_one_of_two_missing_cells_knows_the_other(audited, tmp_path):
    """Of 1 and 2 the sum, 58, is known, so that f, who knows its 30, knows the 28 of g; with 3 missing nobody does."""
    two = audited({"1", "2"})
    assert two.exit_code == 1
    assert {cell for cell, _, _ in found(two)} == {"A 1", "A 2", "A 1 with A 2"}
    assert all(kind == "too certain" and attacker != "anybody" for _, kind, attacker in found(two))
    outsider = CliRunner().invoke(
        app, ["suppress", "audit", str(tmp_path / "table.csv"), "--by", "A", "--value", "JOBS"]
    )
    assert outsider.exit_code == 0  # the table alone does not tell
    three = audited({"1", "2", "3"})
    assert (three.exit_code, found(three)) == (0, [])
    told = json.loads(three.stdout)
    assert (told["contributors"], told["suppressed"], told["sensitive"]) == (8, 3, 2)


def test_a_published_cell_that_breaks_a_rule_is_found_and_one_that_anybody_works_out_too(audited):
    assert ("A 2", "published", "anybody") in found(audited({"1", "3", "4"}))
    one_missing = found(audited({"2"}, firms=FIRMS | {"1": {"f": 10, "o": 10, "p": 10}}))
    assert one_missing == [("A 2", "too certain", "anybody")]


def test_three_establishments_of_one_holding_are_one(audited):
    """As establishments sector 3 has three contributors; as holdings it has two, and is published."""
    one_owner = FIRMS | {"3": {"h": 9, "i": 18}}
    apart = FIRMS | {"3": {"h": 9, "i": 9, "j": 9}}
    assert found(audited({"1", "2", "4"}, firms=apart)) == []
    assert found(audited({"1", "2", "4"}, firms=apart, rows=one_owner)) == [("A 3", "published", "anybody")]


def test_the_p_percent_rule_is_asked_of_the_records(audited):
    """X1 = 100, X2 = 50 and R = 9 is less than 10% of X1, and R = 11 is not (the slides of seed 001)."""
    firms = {"1": {"a": 100, "b": 50, "c": 6, "d": 3}, "2": {"e": 100, "f": 50, "g": 6, "h": 5}}
    assert found(audited(set(), "--p", "0.1", firms=firms)) == [("A 1", "published", "anybody")]
    assert found(audited(set(), "--dominance", "1,0.62", firms=firms)) == [
        ("A 1", "published", "anybody"),
        ("A 2", "published", "anybody"),
    ]


def test_who_has_agreed_and_codes_of_no_answer_are_not_findings(audited):
    assert found(audited({"2", "3", "4"}, "--waived", "f")) == []
    assert found(audited({"2", "3", "4"}, "--safe", "A=1")) == []
    assert found(audited({"2", "3", "4"})) == [("A 1", "published", "anybody")]


def test_weights_make_a_total_and_not_what_a_holding_knows(audited):
    """Each record stands for two, so that 1 is 60, of which f knows 30: the rest is uncertain to it, and so is 2."""
    doubled = {code: {firm: 2 * jobs for firm, jobs in some.items()} for code, some in FIRMS.items()}
    refused = audited({"1", "2", "3"}, firms=doubled, rows=FIRMS)
    assert "are not what the records add up to" in str(refused.exception)
    weighted = audited({"1", "2", "3"}, "--weight", "WEIGHT", firms=doubled, rows=FIRMS, weight=2)
    assert (weighted.exit_code, found(weighted)) == (0, [])


@pytest.mark.parametrize(
    ("words", "rows", "said"),
    [
        (
            (),
            FIRMS | {"2": {"g": 27}, "4": {"k": 61}},
            "1 published value is not what the records add up to, the first of A 4",
        ),
        (
            (),
            FIRMS | {"9": {"n": 5}},
            "1 code of 'A' that a table does not have among its finest, the first '9'",
        ),
        ((), FIRMS | {"1": {"": 30}}, "A record has no 'FIRM'"),
        (("--waived", "ff"), FIRMS, "--waived names 'ff', to whom no record belongs"),
        (("--safe", "B=1"), FIRMS, "--safe is of 'B', by which no cell is classified"),
        (("--of", "JOB"), FIRMS, "has no column 'JOB'"),
        (("--within", "0.1"), FIRMS, "with --data rules say"),
        (("--p", "x"), FIRMS, "--p is a share"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(audited, words, rows, said):
    done = audited({"1", "2", "3"}, *words, rows=rows)
    assert isinstance(done.exception, SfumatoError)
    assert said in str(done.exception)


@pytest.mark.parametrize("option", [("--holding", "FIRM"), ("--minimum", "3"), ("--p", "0.1"), ("--of", "JOBS")])
def test_options_of_records_are_not_passed_over_without_them(tmp_path, option):
    table = published(tmp_path / "table.csv", {"1", "2"})
    done = CliRunner().invoke(app, ["suppress", "audit", str(table), "--by", "A", "--value", "JOBS", *option])
    assert f"{option[0]} is about the records behind a table" in str(done.exception)


def test_a_record_in_a_cell_that_the_table_leaves_out_is_refused(tmp_path):
    table = tmp_path / "table.csv"
    cells = ["a,x,9", "b,y,9", "a,Total,9", "b,Total,9", "Total,x,9", "Total,y,9", "Total,Total,18"]
    table.write_text("\n".join(["A,B,JOBS", *cells]) + "\n", encoding="utf-8")
    data = tmp_path / "records.csv"
    data.write_text("A,B,JOBS\na,x,9\nb,y,9\na,y,1\n", encoding="utf-8")
    done = CliRunner().invoke(
        app, ["suppress", "audit", str(table), "--by", "A,B", "--value", "JOBS", "--data", str(data)]
    )
    assert "1 record is in a cell that the table does not have, the first in A a, B y" in str(done.exception)


def test_who_knows_a_small_part_of_a_dominated_cell_is_asked_no_less_than_others(audited):
    """c, alone in 2, knows 1 to be 100, and so that a and b are 95: 5.6 short of what makes these 90% of it."""
    firms = {"1": {"a": 50, "b": 45, "c": 5}, "2": {"c": 20}}
    rules = ("--minimum", "1", "--dominance", "2,0.9")
    assert found(audited({"1", "2"}, *rules, firms=firms)) == [("A 1", "too certain", "who is alone in another cell")]
    unsure = firms | {"2": {"c": 20, "d": 20}}
    assert found(audited({"1", "2"}, *rules, firms=unsure)) == []


def test_a_part_of_a_cell_says_nothing_of_the_cell_where_others_may_have_losses(audited):
    """Of 1 and 2 the sum, 10, is known. b, with 1 in 1, and c, with 7 in 2, know no end of either cell."""
    firms = {"1": {"a": -5, "b": 1}, "2": {"c": 7, "d": 7}}
    assert found(audited({"1", "2"}, "--negative", firms=firms)) == []


def test_downwards_a_cell_need_be_no_more_uncertain_to_a_holding_than_its_part_leaves(tmp_path):
    """a knows that b, who adds 1 to x, n, adds from 0 to 31: 30 and more of the 62 in s are its own."""
    cells = "Total,Total,133|Total,n,71|Total,s,62|x,Total,71|x,n,|x,s,|y,Total,62|y,n,|y,s,"
    (tmp_path / "table.csv").write_text("\n".join(["A,B,JOBS", *cells.split("|")]) + "\n", encoding="utf-8")
    rows = "x,n,a,40|x,n,b,1|x,s,e,10|x,s,f,10|x,s,g,10|y,n,h,10|y,n,i,10|y,n,j,10|y,s,a,30|y,s,c,1|y,s,d,1"
    (tmp_path / "records.csv").write_text("\n".join(["A,B,FIRM,JOBS", *rows.split("|")]) + "\n", encoding="utf-8")
    words = ["--by", "A,B", "--value", "JOBS", "--data", str(tmp_path / "records.csv"), "--holding", "FIRM", "--json"]
    asked = ["suppress", "audit", str(tmp_path / "table.csv"), *words]
    assert found(CliRunner().invoke(app, asked)) == []
    assert found(CliRunner().invoke(app, [*asked, "--waived", "a"])) == []


def test_what_one_holding_gains_and_loses_in_a_cell_hides_nobody_in_it(audited):
    """b adds 50 and takes 50 back, so that the published 100 of 1 is what a adds."""
    firms = {"1": {"a": 100, "b": 0, "c": 0}, "2": {"e": 100, "f": 100, "g": 100}}
    assert found(audited(set(), "--p", "0.1", firms=firms)) == [("A 1", "published", "anybody")]
    back = firms | {"1": {"a": 100, "b": 50, "b,-50,1\n1,c": 0}}  # two records of b
    assert found(audited(set(), "--p", "0.1", firms=firms, rows=back)) == [("A 1", "published", "anybody")]


def test_a_largest_that_has_agreed_must_not_know_the_next(tmp_path):
    """f knows that of 203 in 2, 3 at least 200 are its own: g, 50 in 1, 1, is known to it to within 3, and needs 5."""
    own = {("1", "1"): {"f": 100, "g": 50}, ("2", "3"): {"f": 200, "h": 1, "i": 1, "j": 1}}
    cells = {(a, b): own.get((a, b), {f"{a}{b}{n}": 50 for n in range(4)}) for a in "123" for b in "123"}
    missing = {("1", "1"), ("1", "2"), ("2", "2"), ("2", "3"), ("3", "3"), ("3", "1")}
    lines = ["A,B,JOBS"]
    for a, b in ((a, b) for a in ("1", "2", "3", "Total") for b in ("1", "2", "3", "Total")):
        parts = [some for (one, other), some in cells.items() if a in {one, "Total"} and b in {other, "Total"}]
        lines.append(f"{a},{b},{'' if (a, b) in missing else sum(sum(some.values()) for some in parts)}")
    table, data = tmp_path / "table.csv", tmp_path / "records.csv"
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = [f"{a},{b},{firm},{jobs}" for (a, b), some in cells.items() for firm, jobs in some.items()]
    data.write_text("\n".join(["A,B,FIRM,JOBS", *rows]) + "\n", encoding="utf-8")
    words = ("--by", "A,B", "--value", "JOBS", "--data", data, "--holding", "FIRM", "--minimum", "1", "--p", "0.1")
    asked = ["suppress", "audit", str(table), *map(str, words), "--waived", "f", "--json"]
    assert found(CliRunner().invoke(app, asked)) == [("A 1, B 1", "too certain", "a contributor")]


def test_a_share_that_is_met_to_the_last_unit_is_met(audited):
    """R = 7 is 7% of X1 = 100, and 63 are 70% of 90, although 0.07 * 100 is above 7 and 0.7 * 90 below 63 in floats."""
    assert found(audited(set(), "--p", "0.07", firms={"1": {"a": 100, "b": 80, "c": 7}})) == []
    assert found(audited(set(), "--dominance", "1,0.7", firms={"1": {"a": 63, "b": 20, "c": 7}})) == []


@pytest.mark.parametrize(
    ("words", "rows", "said"),
    [
        (("--safe", "A=9"), FIRMS, "--safe names '9' of 'A', a code of no cell"),
        (("--minimum", "1"), FIRMS, "No cell could break a rule"),
        (
            (),
            FIRMS | {"1": {"f": -30}, "2": {"g": 88}},
            "1 suppressed cell is not within what everybody is said to know",
        ),
    ],
)
def test_what_would_pass_for_safe_or_be_told_of_other_cells_is_refused(audited, words, rows, said):
    done = audited({"1", "2", "3"}, *words, rows=rows)
    assert isinstance(done.exception, SfumatoError)
    assert said in str(done.exception)


def test_records_of_the_finest_table_are_in_a_coarser_one_too(tmp_path):
    """Trades a1, a2, b by themselves, and a and b by place; records have the codes of the first."""
    cells = {("a1", "x"): [4, 4, 4], ("a2", "y"): [5, 5, 5], ("b", "x"): [6, 6, 6], ("b", "y"): [7, 7]}
    rows = [f"{a},{b},{a}{b}{n},{one}" for (a, b), some in cells.items() for n, one in enumerate(some)]
    (tmp_path / "records.csv").write_text("\n".join(["A,B,FIRM,JOBS", *rows]) + "\n", encoding="utf-8")
    (tmp_path / "tree.csv").write_text("code,parent\na,\nb,\na1,a\na2,a\n", encoding="utf-8")
    fine = "A,JOBS\na1,12\na2,15\na,27\nb,32\nTotal,59\n"
    coarse = (
        "A,B,JOBS\na,x,{}\na,y,{}\nb,x,{}\nb,y,{}\na,Total,27\nb,Total,32\nTotal,x,30\nTotal,y,29\nTotal,Total,59\n"
    )
    (tmp_path / "fine.csv").write_text(fine, encoding="utf-8")
    words = (
        "--by",
        "A,B",
        "--value",
        "JOBS",
        "--hierarchy",
        f"A={tmp_path / 'tree.csv'}",
        "--holding",
        "FIRM",
        "--json",
    )
    told = {}
    for named, values in (("open", (12, 15, 18, 14)), ("hidden", ("", "", "", ""))):
        (tmp_path / "coarse.csv").write_text(coarse.format(*values), encoding="utf-8")
        files = [str(tmp_path / name) for name in ("fine.csv", "coarse.csv")]
        done = ["suppress", "audit", *files, *words, "--data", str(tmp_path / "records.csv")]
        told[named] = found(CliRunner().invoke(app, done))
    assert told == {"open": [("A b, B y", "published", "anybody")], "hidden": []}


def test_several_codes_may_stand_for_no_answer(audited):
    assert found(audited({"3", "4"}, "--safe", "A=1", "--safe", "A=2")) == []


def test_a_holding_that_is_no_number_in_parquet_is_nobody(tmp_path):
    table, data = published(tmp_path / "table.csv", {"1", "2", "3"}), tmp_path / "records.parquet"
    rows = [(code, jobs) for code, some in FIRMS.items() for jobs in some.values()]
    named = [float("nan"), *map(float, range(1, len(rows)))]
    columns = {"A": [code for code, _ in rows], "JOBS": [jobs for _, jobs in rows], "FIRM": named}
    pq.write_table(pa.table(columns), data)
    words = ("--by", "A", "--value", "JOBS", "--data", data, "--holding", "FIRM")
    done = CliRunner().invoke(app, ["suppress", "audit", str(table), *map(str, words)])
    assert "A record has no 'FIRM'" in str(done.exception)


def test_what_is_known_beforehand_must_hold_of_the_records(tmp_path):
    """It is said that 2 is between 40 and 50, and the records of it add up to 28."""
    lines = ["A,JOBS,LOW,HIGH", "1,,0,99", "2,,40,50", "3,,0,99", "4,60,,", "Total,145,,"]
    table, data = tmp_path / "table.csv", records(tmp_path / "records.csv")
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    words = ("--by", "A", "--value", "JOBS", "--known", "LOW,HIGH", "--data", data)
    done = CliRunner().invoke(app, ["suppress", "audit", str(table), *map(str, words)])
    assert "1 suppressed cell is not within what everybody is said to know of it, the first A 2" in str(done.exception)

"""`sfumato suppress audit` and `sfumato suppress table` as they are typed."""

import csv
import io
import json
import re
import sys

import pytest
from typer.testing import CliRunner

from sfumato.cli.main import app
from sfumato.cli.output import Silence, progress
from sfumato.errors import DataError, SfumatoError

TABLE = "TRADE,PLACE,JOBS,FIRMS,MAX\n"
CELLS = {("a", "x"): (50, 2, 40), ("a", "y"): (60, 5, 20), ("b", "x"): (70, 6, 20), ("b", "y"): (80, 9, 20)}


@pytest.fixture
def table(tmp_path):
    rows = {cell: list(numbers) for cell, numbers in CELLS.items()}
    for (trade, place), (jobs, firms, largest) in CELLS.items():
        for cell in ((trade, "Total"), ("Total", place), ("Total", "Total")):
            sums = rows.setdefault(cell, [0, 0, 0])
            sums[0], sums[1], sums[2] = sums[0] + jobs, sums[1] + firms, max(sums[2], largest)
    lines = [f"{trade},{place},{jobs},{firms},{largest}\n" for (trade, place), (jobs, firms, largest) in rows.items()]
    path = tmp_path / "jobs.csv"
    path.write_text(TABLE + "".join(lines), encoding="utf-8")
    return path


def asked(*words):
    return CliRunner().invoke(app, ["suppress", *map(str, words)])


def test_a_table_is_protected_and_its_audit_passes(table, tmp_path):
    out = tmp_path / "out.csv"
    by = ("--by", "TRADE,PLACE", "--value", "JOBS")
    done = asked("table", table, *by, "--count", "FIRMS", "--largest", "MAX", "--rounds", "5", "--out", out, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["primary"], told["secondary"], told["cost"]) == (1, 3, 210)
    assert told["lower bound"] <= 210
    with out.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["status"]: row["value"] for row in rows}["primary"] == ""
    found = asked(
        "audit", out, "--by", "TRADE,PLACE", "--value", "value", "--flag", "status", "--hidden", "primary,secondary"
    )
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith("CONFIDENTIAL")


def test_a_cell_that_is_known_exactly_is_an_error_of_the_command(table):
    text = table.read_text(encoding="utf-8").replace("a,x,50,", "a,x,,")
    table.write_text(text, encoding="utf-8")
    found = asked("audit", table, "--by", "TRADE,PLACE", "--value", "JOBS", "--json")
    assert found.exit_code == 1
    told = json.loads(found.stdout)
    assert (told["exactly known"], told["safe"], told["intervals"][0]["low"]) == (1, False, "50")


def test_totals_that_are_no_sums_are_refused(table):
    text = table.read_text(encoding="utf-8").replace("a,x,50,", "a,x,51,")
    table.write_text(text, encoding="utf-8")
    found = asked("audit", table, "--by", "TRADE,PLACE", "--value", "JOBS")
    assert isinstance(found.exception, DataError)
    assert "not their sum" in str(found.exception)


def test_a_table_without_the_total_is_asked_for_it_and_not_called_safe(table):
    text = table.read_text(encoding="utf-8").replace("a,x,50,", "a,x,,").replace("Total", "All")
    table.write_text(text, encoding="utf-8")
    by = ("--by", "TRADE,PLACE", "--value", "JOBS")
    found = asked("audit", table, *by)
    assert "No cell has the total of 'TRADE'" in str(found.exception)
    assert asked("audit", table, *by, "--total", "TRADE=All", "--total", "PLACE=All").exit_code == 1


def _with_known(table, known):
    """The table with what is known beforehand of some cells in two further columns."""
    lines = table.read_text(encoding="utf-8").splitlines()
    told = [f"{line},{known.get(tuple(line.split(',')[:2]), ',')}" for line in lines[1:]]
    table.write_text("\n".join([f"{lines[0]},LOW,HIGH", *told]) + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("known", "ends"),
    [(",", ("46", "54")), ("78,83", ("48", "53")), ("80,80", ("50", "50"))],
)
def test_an_audit_counts_what_is_known_beforehand(table, known, ends):
    """Three cells move with the fourth: (a, x) is 50 + d where (b, y) is 80 + d, and (a, y) is known to be 56 to 64."""
    _with_known(table, {("a", "y"): "56,64", ("b", "y"): known})
    by = ("--by", "TRADE,PLACE", "--value", "JOBS", "--flag", "TRADE", "--hidden", "a,b")
    text = table.read_text(encoding="utf-8").replace("a,Total", "c,Total").replace("b,Total", "d,Total")
    table.write_text(text, encoding="utf-8")
    tree = table.with_name("trades.csv")
    tree.write_text("code,parent\nc,\nd,\na,c\nb,d\n", encoding="utf-8")
    found = asked("audit", table, *by, "--hierarchy", f"TRADE={tree}", "--known", "LOW,HIGH", "--json")
    told = json.loads(found.stdout)
    assert ends in {(one["low"], one["high"]) for one in told["intervals"] if "TRADE a, PLACE x" in one["cell"]}
    assert found.exit_code == (1 if ends[0] == ends[1] else 0)


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ("50,,40", "no number of contributors"),
        ("50,0,40", "no number of contributors"),
        ("50,-2,40", "no number of contributors"),
        ("50,2,500", "more than its value"),
    ],
)
def test_contributors_that_cannot_be_are_refused_and_not_taken_for_safe(table, tmp_path, numbers, said):
    table.write_text(table.read_text(encoding="utf-8").replace("a,x,50,2,40", f"a,x,{numbers}"), encoding="utf-8")
    by = ("--by", "TRADE,PLACE", "--value", "JOBS", "--count", "FIRMS", "--largest", "MAX")
    assert said in str(asked("table", table, *by, "--out", tmp_path / "out.csv").exception)


BY = ("--by", "TRADE,PLACE", "--value", "JOBS")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("audit", "FILE"), "to be read without --by, as QCEW files are, and has no column 'area_fips'; name"),
        (("audit", "FILE", *BY, "--within", "-1"), "--within is -1; it is a number from 0 on"),
        (("audit", "FILE", *BY, "--rounding", "nan"), "--rounding is nan"),
        (("audit", "FILE", *BY, "--hierarchy", "TRAD=FILE"), "is of 'TRAD', by which .* did you mean 'TRADE'"),
        (("audit", "FILE", *BY, "--total", "SIZE=all"), "--total is of 'SIZE', by which no cell is classified"),
        (("audit", "FILE", *BY, "--hidden", "A"), "--flag names no column"),
        (("audit", "FILE", "FILE", "--by", "TRADE,PLCE", "--value", "JOBS"), "No file has a column 'PLCE'"),
        (("table", "FILE", *BY, "--count", "FIRMS", "--out", "FILE"), "would be written over .* name another file"),
        (("table", "FILE", *BY, "--count", "FIRMS", "--out", "GONE/x.csv"), "make the folder first"),
        (("table", "FILE", *BY, "--count", "FIRMS", "--out", "OUT.asc"), "name it .tab"),
        (("table", "FILE", *BY, "--count", "FIRMS", "--minimum", "1", "--out", "OUT"), "Nothing says which cells"),
        (("table", "FILE", *BY, "--out", "OUT"), "Nothing says which cells are sensitive"),
    ],
)
def test_what_is_asked_in_vain_is_said_with_what_would_work(table, tmp_path, words, said):
    before = table.read_bytes()
    places = {"FILE": table, "TRAD=FILE": f"TRAD={table}", "OUT": tmp_path / "o.csv", "OUT.asc": tmp_path / "o.asc"}
    found = asked(*(places.get(word, str(tmp_path / word) if "GONE" in word else word) for word in words))
    assert isinstance(found.exception, SfumatoError), found.output
    assert re.search(said, str(found.exception)), found.exception
    assert table.read_bytes() == before


def test_a_cell_in_two_rows_is_refused_by_name(table):
    table.write_text(table.read_text(encoding="utf-8") + "a,x,51,2,40\n", encoding="utf-8")
    found = asked("audit", table, *BY)
    assert "several rows of a cell: TRADE a, PLACE x. A cell stands in one row" in str(found.exception)


def test_linked_files_that_contradict_each_other_are_refused(table, tmp_path):
    """What one file suppresses and the other publishes is published."""
    other = tmp_path / "places.csv"
    other.write_text("PLACE,JOBS\nx,\ny,140\nTotal,260\n", encoding="utf-8")
    found = asked("audit", table, other, *BY)
    assert "Two files do not say the same of PLACE x" in str(found.exception)


def test_who_is_alone_in_a_cell_is_an_attacker_where_the_numbers_of_contributors_are_known(tmp_path):
    """Of a row of two missing cells of one firm each, each firm knows the other's; a third cell goes with --count."""
    cells = {"1": (30, 1), "2": (28, 1), "3": (27, 3), "4": (60, 3), "5": (90, 3), "Total": (235, 11)}
    rows = [f"{code},{jobs},{firms},{'P' if firms == 1 else ''}" for code, (jobs, firms) in cells.items()]
    path, out = tmp_path / "row.csv", tmp_path / "out.csv"
    path.write_text("\n".join(["A,JOBS,FIRMS,FLAG", *rows]) + "\n", encoding="utf-8")
    flagged = ("table", path, "--by", "A", "--value", "JOBS", "--flag", "FLAG", "--hidden", "P", "--out", out)
    outside = asked(*flagged)
    assert "were not looked at" in outside.stdout
    assert "secondary: 0" in outside.stdout
    inside = asked(*flagged, "--count", "FIRMS")
    assert "from whoever is alone in a cell" in inside.stdout
    assert "secondary: 1" in inside.stdout
    by_rule = asked("table", path, "--by", "A", "--value", "JOBS", "--count", "FIRMS", "--out", out)
    assert "secondary: 1" in by_rule.stdout
    assert out.stat().st_mode & 0o077 == 0


class Terminal(io.StringIO):
    """A stderr that somebody looks at."""

    def isatty(self):
        return True


@pytest.mark.parametrize("seen", [True, False])
def test_progress_is_shown_on_a_terminal_and_nowhere_else(seen, monkeypatch):
    err = Terminal() if seen else io.StringIO()
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setenv("TERM", "xterm")
    with progress(("suppression",)) as show:
        show("suppression")
        show.within("protecting", 1, 2)
    assert ("suppression" in err.getvalue()) is seen
    assert ("protecting" in err.getvalue()) is seen


def test_the_command_tells_how_far_it_is(table, tmp_path, monkeypatch):
    heard = []
    monkeypatch.setattr(Silence, "within", lambda _, *said: heard.append(said))
    by = ("--by", "TRADE,PLACE", "--value", "JOBS")
    done = asked("table", table, *by, "--count", "FIRMS", "--largest", "MAX", "--out", tmp_path / "out.csv")
    assert done.exit_code == 0, done.output
    assert not done.stderr  # no terminal
    steps = list(dict.fromkeys(doing for doing, _, _ in heard))
    assert steps == ["protecting", "cleaning up", "exchanging", "auditing"]
    assert all(0 <= so_far <= of for _, so_far, of in heard)
    assert all(max(so_far for one, so_far, _ in heard if one == doing) == of for doing, _, of in heard)
    heard.clear()
    asked("audit", tmp_path / "out.csv", "--by", "TRADE,PLACE", "--value", "value")
    assert {doing for doing, _, _ in heard} == {"auditing"}


def test_who_is_alone_in_a_cell_is_left_out_of_account_where_asked(tmp_path):
    """Of two cells of one firm each, whoever is the one knows the other from their sum, unless a third is missing."""
    path, by = tmp_path / "jobs.csv", ("--by", "TRADE", "--value", "JOBS", "--count", "FIRMS")
    path.write_text("TRADE,JOBS,FIRMS\na,50,1\nb,50,1\nc,60,5\nd,70,6\nTotal,230,13\n", encoding="utf-8")
    told = {}
    for how in ("--contributors", "--no-contributors"):
        done = asked("table", path, *by, how, "--out", tmp_path / f"{how}.csv", "--json")
        told[how] = json.loads(done.stdout)
    assert [(one["secondary"], one["single contributors"]) for one in told.values()] == [(1, True), (0, False)]
    said = asked("table", path, *by, "--no-contributors", "--out", tmp_path / "said.csv").stdout
    assert "were not looked at, as --no-contributors asks" in said


COUNTS = "a,b,persons\n"
"""Persons by two attributes, a minimum of 3: the row of b = x is 1, 1 and 1, which its total gives away."""


def counted(path, rows):
    """A file of counts with all totals, every cell of which is not empty."""
    sums = {}
    for (a, b), persons in rows.items():
        for cell in ((a, b), (a, "Total"), ("Total", b), ("Total", "Total")):
            sums[cell] = sums.get(cell, 0) + persons
    path.write_text(COUNTS + "".join(f"{a},{b},{n}\n" for (a, b), n in sums.items()), encoding="utf-8")
    return path


ONES = {("1", "x"): 1, ("2", "x"): 1, ("3", "x"): 1, ("1", "y"): 9, ("2", "y"): 8, ("3", "y"): 7}


def test_counts_that_their_total_gives_away_are_found_and_protected(tmp_path):
    """Three cells that are not empty and add up to 3 are 1, 1 and 1; taken for 0 or more they were called safe."""
    table, out = counted(tmp_path / "counts.csv", ONES), tmp_path / "out.csv"
    by = ("--by", "a,b", "--value")
    hidden = table.read_text(encoding="utf-8")
    for cell in ("1,x,", "2,x,", "3,x,", "1,y,", "2,y,", "3,y,"):
        hidden = re.sub(rf"^{cell}\d+$", cell, hidden, flags=re.MULTILINE)
    naive = tmp_path / "naive.csv"
    naive.write_text(hidden, encoding="utf-8")
    assert asked("audit", naive, *by, "persons", "--least", 0).exit_code == 0
    found = asked("audit", naive, *by, "persons", "--json")
    assert found.exit_code == 1
    assert json.loads(found.stdout)["exactly known"] == 6
    done = asked("table", table, *by, "persons", "--count", "persons", "--out", out, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["a suppressed cell has at least"], told["whole numbers"]) == (1, True)
    after = asked("audit", out, *by, "value", "--json")
    assert after.exit_code == 0, after.output
    ends = {one["cell"]: (float(one["low"]), float(one["high"])) for one in json.loads(after.stdout)["intervals"]}
    for a in "123":  # each of them may be as many as are enough
        assert ends[f"a {a}, b x"][1] >= 3


def test_what_contributors_add_at_least_is_taken_of_the_option(tmp_path):
    table, by = counted(tmp_path / "counts.csv", ONES), ("--by", "a,b", "--value", "persons")
    done = asked("table", table, *by, "--count", "persons", "--least", 2, "--out", tmp_path / "out.csv")
    assert "have less than --least 2, the first a 1, b x" in str(done.exception)
    hidden = tmp_path / "hidden.csv"
    hidden.write_text("a,b\n".replace("b", "n") + "Total,3\n1,\n2,\n3,\n4,\n", encoding="utf-8")
    found = asked("audit", hidden, "--by", "a", "--value", "n")
    assert "contradict each other" in str(found.exception)  # four that are not empty are 4 together
    assert "--least 0" in str(found.exception)


TREES = {"one.csv": "code,parent\na,\nb,\na1,a\na2,a\nb1,b\nb2,b\n",
         "two.csv": "code,parent\nodd,\neven,\na1,odd\nb1,odd\na2,even\nb2,even\n"}  # fmt: skip
LEAVES = {"a1": 4, "a2": 6, "b1": 7, "b2": 9}
SUMS = {"a": 10, "b": 16, "All": 26}
OTHERS = {"odd": 11, "even": 15}


def twice_grouped(folder, cells, name):
    for file, text in TREES.items():
        (folder / file).write_text(text, encoding="utf-8")
    path = folder / name
    path.write_text("code,n\n" + "".join(f"{code},{n}\n" for code, n in cells.items()), encoding="utf-8")
    return path


def test_an_attribute_may_have_several_hierarchies(tmp_path):
    """a1 and a2 protect each other in one hierarchy, and in the other each is the one missing part of its sum."""
    hidden = {**LEAVES, "a1": "", "a2": ""}
    words = ("--by", "code", "--value", "n", "--total", "code=All")
    one, two = (f"code={tmp_path / file}" for file in TREES)
    first = asked("audit", twice_grouped(tmp_path, hidden | SUMS, "first.csv"), *words, "--hierarchy", one)
    assert first.exit_code == 0, first.output
    both = twice_grouped(tmp_path, hidden | SUMS | OTHERS, "both.csv")
    found = asked("audit", both, *words, "--hierarchy", one, "--hierarchy", two, "--json")
    assert json.loads(found.stdout)["exactly known"] == 2
    assert "of 'code'" in str(asked("audit", both, *words, "--hierarchy", one).exception)  # odd and even are not in it


def test_a_pattern_of_several_hierarchies_has_the_codes_of_its_table(tmp_path):
    table, out = twice_grouped(tmp_path, LEAVES | SUMS | OTHERS, "both.csv"), tmp_path / "out.csv"
    words = ("--by", "code", "--total", "code=All")
    trees = [word for file in TREES for word in ("--hierarchy", f"code={tmp_path / file}")]
    flags = table.read_text(encoding="utf-8").replace("code,n", "code,n,flag").replace("a1,4", "a1,4,A")
    table.write_text(re.sub(r"(\d)$", r"\1,", flags, flags=re.MULTILINE), encoding="utf-8")
    primary = ("--value", "n", "--flag", "flag", "--hidden", "A")
    done = asked("table", table, *words, *trees, *primary, "--out", out)
    assert done.exit_code == 0, done.output
    with out.open(encoding="utf-8") as file:
        rows = {row["code"]: row["status"] for row in csv.DictReader(file)}
    assert rows.keys() == (LEAVES | SUMS | OTHERS).keys()
    assert rows["a1"] == "primary"
    assert asked("audit", out, *words, *trees, "--value", "value").exit_code == 0
    tab = asked("table", table, *words, *trees, *primary, "--out", tmp_path / "out.tab")
    assert "would need one hierarchy of 'code', and 2 were given" in str(tab.exception)


def test_linked_tables_in_a_circle_are_said_to_tell_more(tmp_path):
    pairs = {"ab": "a,b", "bc": "b,c", "ac": "a,c"}
    for name, heads in pairs.items():
        codes = [f"{one},{two}" for one in ("1", "Total") for two in ("1", "Total")]
        lines = "".join(f"{code},5\n" for code in codes)
        (tmp_path / f"{name}.csv").write_text(f"{heads},n\n{lines}", encoding="utf-8")
    words = ("--by", "a,b,c", "--value", "n")
    three = asked("audit", *(tmp_path / f"{name}.csv" for name in pairs), *words)
    assert "a × b, b × c, a × c are in a circle" in three.stderr
    assert "circle" not in asked("audit", *(tmp_path / f"{name}.csv" for name in ("ab", "bc")), *words).stderr

"""Files that do not say what they seem to are refused in words, and never taken for safe."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from sfumato.cli.main import app
from sfumato.errors import DataError, SfumatoError
from sfumato.suppression.formats.file_rows import read_rows

CELLS = """trade,place,jobs
Total,Total,100
Total,n,60
Total,s,40
a,Total,50
a,n,
a,s,
b,Total,50
b,n,
b,s,
"""
"""Of a in n anybody knows that it is 10 to 50: n has 60, of which b has at most 50, and a has 50."""
COUNTED = """trade,place,jobs,firms,largest,second
Total,Total,120,24,30,12
Total,n,70,13,30,8
Total,s,50,11,12,9
a,Total,40,6,30,4
a,n,33,2,30,3
a,s,7,4,4,1
b,Total,50,10,8,8
b,n,22,6,8,4
b,s,28,4,8,8
c,Total,30,8,12,6
c,n,15,5,6,3
c,s,15,3,12,2
"""
BY = ("--by", "trade,place", "--value", "jobs")
RULES = ("--count", "firms", "--largest", "largest,second", "--p", "0.1")


def written(folder, text, name="cells.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def asked(*words):
    return CliRunner().invoke(app, ["suppress", *map(str, words)])


def refused(*words):
    found = asked(*words)
    assert isinstance(found.exception, SfumatoError), (found.output, found.exception)
    return str(found.exception)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CELLS.replace("Total,n,60", "Total,n,inf"), "'jobs' holds an infinite number"),
        (CELLS.replace("Total,n,60", "Total,nürn,60").encode("latin-1"), "not text in UTF-8; save it as that"),
        (CELLS.replace("Total,n,60", "Total,n,1,060"), "Line 3 of .* has 4 fields, and 3 columns have a name; quote"),
        (CELLS.replace("a,n,", "a,n"), "Line 6 of .* has 2 fields, and 3 columns"),
        (CELLS.replace("place,jobs", "place,jobs,jobs").replace("\n", ",7\n"), "has the column 'jobs' twice"),
        ("", "has no rows; a table has one for each cell"),
        (CELLS.splitlines()[0], "has no rows"),
        (CELLS.replace("Total,n,60", "Total,n,-60").replace("s,40", "s,160"), "contradict .* or for values below 0"),
    ],
)
def test_a_file_that_cannot_be_read_as_it_is_meant_is_refused_in_words(tmp_path, text, said):
    with pytest.raises(SfumatoError, match=said):
        raise DataError(refused("audit", written(tmp_path, text), *BY))


def test_fields_beyond_the_last_column_that_are_empty_are_nothing(tmp_path):
    assert len(read_rows(written(tmp_path, CELLS.replace("Total,n,60", "Total,n,60,,")))) == 9


def test_what_is_no_parquet_file_is_refused_in_words(tmp_path):
    assert "cannot be read as Parquet" in refused("audit", written(tmp_path, "text", "cells.parquet"), *BY)


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        ("a,b\nb,a\n", "is a part of itself"),
        ("a,\nb,\nc,d\nd,c\n", "is a part of itself"),
        ("a,a\nb,\n", "is a part of itself"),
        ("a,q\nb,q\n", "The parent 'q' of 'a' is no code .* and its sums would be lost; list it"),
        ("a,\nb,\na,b\n", "The code 'a' of 'trade' stands under two others"),
        ("a,\n", r"The code 'b' of 'trade' is not in its hierarchy; complete"),
    ],
)
def test_a_hierarchy_whose_sums_would_be_lost_is_refused(tmp_path, tree, said):
    """Every sum that is lost makes cells look more uncertain than they are."""
    path = written(tmp_path, f"code,parent\n{tree}", "tree.csv")
    with pytest.raises(SfumatoError, match=said):
        raise DataError(refused("audit", written(tmp_path, CELLS), *BY, "--hierarchy", f"trade={path}"))


@pytest.mark.parametrize(
    ("name", "tree"),
    [
        ("tree.csv", "code,parent\na,Total\nb,Total\n"),
        ("tree.csv", "code,parent\nTotal,\na,Total\nb,Total\n"),
        ("tree.csv", "code,parent\n a ,\n b ,Total \n"),
        ("tree.hrc", "Total\n@a\n@b\n"),
        ("tree.hrc", "a\nb\n"),
    ],
)
def test_the_total_may_be_named_in_a_hierarchy_and_keeps_its_sums(tmp_path, name, tree):
    path = written(tmp_path, tree, name)
    for least, ends in ((0, ("10", "50")), (1, ("11", "49"))):  # a cell that is not empty takes one of the others' room
        words = ("--hierarchy", f"trade={path}", "--json", *(("--least", 0) if least == 0 else ()))
        found = asked("audit", written(tmp_path, CELLS), *BY, *words)
        told = {one["cell"]: (one["low"], one["high"]) for one in json.loads(found.stdout)["intervals"]}
        assert told["trade a, place n"] == ends


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("a,n,33,2", "a,n,inf,2", "'jobs' holds an infinite number"),
        ("a,n,33,2", "a,n,33,1e30", "not whole, or beyond counting"),
        ("a,n,33,2", "a,n,43,2", "2 totals published with all parts are not their sum"),
        ("c,s,15,3,12,2", "c,s,15,3,,2", "looks at the 2 largest contributions of a cell, and one .* is missing"),
        ("c,s,15,3,12,2", "c,s,15,3,12,", "looks at the 2 largest contributions"),
    ],
)
def test_numbers_by_which_a_sensitive_cell_would_be_published_are_refused(tmp_path, old, new, said):
    """c in s is sensitive by the 10% rule alone: of 15 all but the two largest have 1, and 10% of 12 are 1.2."""
    path, out = written(tmp_path, COUNTED.replace(old, new)), tmp_path / "out.csv"
    with pytest.raises(SfumatoError, match=said):
        raise DataError(refused("table", path, *BY, *RULES, "--out", out))
    assert not out.exists()


def test_a_contribution_that_no_contributor_makes_is_not_asked_for(tmp_path):
    path = written(tmp_path, COUNTED.replace("a,n,33,2,30,3", "a,n,33,1,33,"))
    assert asked("table", path, *BY, *RULES, "--out", tmp_path / "out.csv").exit_code == 0


def test_totals_of_rounded_parts_may_be_protected(tmp_path):
    path = written(tmp_path, COUNTED.replace("a,n,33,2", "a,n,34,2"))  # 34 and 7 are 40 where each is off by half
    assert asked("table", path, *BY, *RULES, "--out", tmp_path / "out.csv").exit_code == 0


@pytest.mark.parametrize("option", ["--clean", "--rounds", "--cuts", "--exchanges"])
def test_no_number_of_programs_is_below_0(tmp_path, option):
    said = refused("table", written(tmp_path, COUNTED), *BY, *RULES, option, "-1", "--out", tmp_path / "out.csv")
    assert f"{option} is -1; it is a number from 0 on" in said


@pytest.mark.parametrize("hidden", [(), ("--hidden", "n")])
def test_flags_that_no_cell_has_are_asked_for_and_no_table_is_called_safe(tmp_path, hidden):
    """All numbers are there, and N marks a cell that is suppressed; read by no flag nothing would be missing."""
    text = "trade,jobs,flag\nTotal,9,\na,4,N\nb,5,\n"
    by = ("--by", "trade", "--value", "jobs", "--flag", "flag")
    said = refused("audit", written(tmp_path, text), *by, *hidden)
    assert "in the column 'flag', which holds '', 'N'; name the flags" in said
    assert asked("audit", tmp_path / "cells.csv", *by, "--hidden", "N").exit_code == 1


def test_linked_files_may_write_the_same_number_differently(tmp_path):
    places = written(tmp_path, "place,jobs\nTotal,100.0\nn,60.00\ns,4e1\n", "places.csv")
    assert asked("audit", written(tmp_path, CELLS), places, *BY).exit_code == 0
    other = written(tmp_path, "place,jobs\nTotal,100\nn,61\ns,39\n", "other.csv")
    assert "do not say the same of place n" in refused("audit", tmp_path / "cells.csv", other, *BY)


def test_a_program_that_the_solver_gives_up_is_not_taken_for_an_uncertain_cell(slide, monkeypatch):
    """Who took it for one without a bound would call [22, 22] uncertain."""
    from sfumato.suppression import Program, Published, Solution, audit

    solve = Program.solve

    def gives_up(program):
        answer = solve(program)
        return Solution(False, np.inf, np.zeros(0)) if program.solves > 1 else answer

    monkeypatch.setattr(Program, "solve", gives_up)
    with pytest.raises(DataError, match="gave up on a cell"):
        audit(Published.of(slide.linked, slide.without(("1", "Q2"), ("1", "Q3"))))

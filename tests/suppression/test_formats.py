"""Tables of others are read as they are: tidy files, QCEW with disclosure codes, tau-ARGUS; and written for them."""

import csv

import numpy as np
import pytest
from tests.suppression.conftest import SHARED
from typer.testing import CliRunner

from sfumato.cli.main import app
from sfumato.errors import DataError, PlanError
from sfumato.suppression import Nesting, audit
from sfumato.suppression.formats.argus import read_argus, read_rda, write_argus
from sfumato.suppression.formats.hierarchies import hrc_pairs, read_hierarchy, write_hrc
from sfumato.suppression.formats.qcew import read_qcew
from sfumato.suppression.formats.tidy import Tidy

QCEW = SHARED / "qcew" / "dev_qcew_nj_2016q1_16counties.parquet"
SMALL = """ACTIVITY,SIZE,VAL,FLAG
A,Total,30,
A,tr1,,s
A,tr2,20,
B,Total,9,
B,tr1,,s
B,tr2,5,
Total,Total,39,
Total,tr1,14,
Total,tr2,25,
"""
HEADS = "area_fips,own_code,industry_code,size_code,year,qtr,disclosure_code,month3_emplvl"


def qcew(quarters):
    rows = []
    for quarter in quarters:
        for own, industry, code, jobs in (
            ("0", "10", "", 30), ("5", "10", "", 30), ("5", "101", "", 10), ("5", "102", "", 20), ("5", "1011", "", 10),
            ("5", "11", "N", 0), ("5", "21", "N", 0), ("5", "1022", "", 20), ("5", "51", "", 20),
        ):  # fmt: skip
            rows.append(f"34001,{own},{industry},0,2016,{quarter},{code},{jobs}")
    return "\n".join([HEADS, *rows]) + "\n"


def test_a_tidy_table_with_flags(tmp_path):
    (tmp_path / "small.csv").write_text(SMALL, encoding="utf-8")
    read = Tidy(("ACTIVITY", "SIZE"), "VAL", "FLAG", ("s",)).read([tmp_path / "small.csv"])
    assert (read.linked.size, int(read.suppressed.sum())) == (9, 2)
    assert {one.kind for one in audit(read.published()).disclosures} == {"exact"}  # each row has one alone


def test_the_same_table_as_parquet(tmp_path):
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    (tmp_path / "small.csv").write_text(SMALL, encoding="utf-8")
    pq.write_table(pc.read_csv(tmp_path / "small.csv"), tmp_path / "small.parquet")
    one, other = (Tidy(("ACTIVITY", "SIZE"), "VAL").read([tmp_path / f"small.{form}"]) for form in ("csv", "parquet"))
    np.testing.assert_array_equal(one.values, other.values)


def test_a_code_outside_its_hierarchy_and_a_column_that_is_not_there_are_refused(tmp_path):
    (tmp_path / "act.hrc").write_text("A\n", encoding="utf-8")
    (tmp_path / "small.csv").write_text(SMALL, encoding="utf-8")
    with pytest.raises(PlanError, match="'B' of 'ACTIVITY' is not in its hierarchy"):
        Tidy(("ACTIVITY", "SIZE"), "VAL", hierarchies={"ACTIVITY": tmp_path / "act.hrc"}).read([tmp_path / "small.csv"])
    with pytest.raises(DataError, match="did you mean 'VAL'"):
        Tidy(("ACTIVITY", "SIZE"), "VALL").read([tmp_path / "small.csv"])
    (tmp_path / "none.csv").write_text(SMALL.splitlines()[0], encoding="utf-8")
    with pytest.raises(DataError, match=r"none\.csv has no rows"):
        Tidy(("ACTIVITY", "SIZE"), "VAL").read([tmp_path / "none.csv"])
    with pytest.raises(DataError, match="names no variable"):
        read_rda('<SEPARATOR> ";"')


def test_hierarchies_of_tau_argus_are_read_and_written_back(tmp_path):
    text = "A\n@01\n@@011\n@@012\n@02\nB\n"
    (tmp_path / "a.hrc").write_text(text, encoding="utf-8")
    nesting = read_hierarchy("a", tmp_path / "a.hrc")
    assert write_hrc(nesting) == text
    with pytest.raises(DataError, match="two levels below"):
        hrc_pairs(["A", "@@011"])
    with pytest.raises(DataError, match="several hierarchies"):
        write_hrc(nesting.also(Nesting.under("a", {"north": "", "01": "north", "B": "north"})))


def test_tables_of_tau_argus_are_read_and_written_back(tmp_path):
    (tmp_path / "act.hrc").write_text("A\n@01\n@02\nB\n", encoding="utf-8")
    (tmp_path / "t.rda").write_text(
        '<SEPARATOR> ","\n<SAFE> "s"\n<UNSAFE> "u"\nACT\n <RECODEABLE>\n <TOTCODE> "Total"\n <HIERARCHICAL>\n'
        ' <HIERCODELIST> "act.hrc"\n <HIERLEADSTRING> "@"\nVAL\n <NUMERIC>\n <DECIMALS> 1\nN\n <NUMERIC> <FREQUENCY>\n'
        "STATUS\n <STATUS>\n",
        encoding="utf-8",
    )
    (tmp_path / "t.tab").write_text("Total,30,9,s\nA,20,6,s\n01,12,2,u\n02,8,4,s\nB,10,3,s\n", encoding="utf-8")
    read = read_argus(tmp_path / "t.tab")
    cell = read.linked.find({"ACT": "01"})
    assert (read.linked.equations.count, read.values[cell], bool(read.suppressed[cell])) == (2, 12, True)
    assert read.numbers["frequency"][cell] == 2
    letters = ["D" if flag else "V" for flag in read.suppressed]
    back = read_argus(write_argus(read, np.where(read.suppressed, np.nan, read.values), letters, tmp_path / "out", "t"))
    assert back.linked.equations.count == 2
    assert np.isnan(back.values[back.linked.find({"ACT": "01"})])  # what is suppressed is not in the file


def test_a_table_of_tau_argus_by_positions(tmp_path):
    (tmp_path / "t.rda").write_text('ACT 1 5 <RECODEABLE> <TOTCODE> "Total"\nVAL 6 4 <NUMERIC>\n', encoding="utf-8")
    (tmp_path / "t.asc").write_text("Total  30\nA      20\nB      10\n", encoding="utf-8")
    read = read_argus(tmp_path / "t.asc")
    assert read.values[read.linked.find({"ACT": "A"})] == 20


def test_qcew_of_four_quarters_keeps_all_four(tmp_path):
    (tmp_path / "q.csv").write_text(qcew([1, 2, 3, 4]), encoding="utf-8")
    read = read_qcew(tmp_path / "q.csv")
    assert read.linked.size == 4 * 9
    assert int(read.suppressed.sum()) == 8
    assert not len(read.linked.faults(read.published().values))
    assert audit(read.published()).safe


@pytest.mark.skipif(not QCEW.exists(), reason=f"{QCEW} is not here")
@pytest.mark.slow
def test_real_qcew_adds_up_and_a_complementary_cell_taken_back_is_flagged():
    read = read_qcew(QCEW)
    told, entries = read.published(), read.linked.equations
    assert (read.linked.size, round(float(read.suppressed.mean()), 2)) == (27_803, 0.44)
    assert not len(read.linked.faults(told.values))
    missing = np.bincount(entries.rows, told.missing[entries.cells], entries.count)
    assert not np.any(missing == 1)
    found = audit(told)
    assert found.safe
    # Of a sum with two missing parts, one is told again: the other is then known exactly.
    row = int(np.flatnonzero((missing == 2) & ~told.missing[entries.parents])[0])
    first, second = entries.cells[(entries.rows == row) & told.missing[entries.cells]]
    values = told.values.copy()
    values[first] = max(5, audit(told).interval(int(first))[0])
    again = type(told).of(read.linked, values)
    assert int(second) in {one.cell for one in audit(again).disclosures}


def test_the_small_published_example_is_safe():
    path = SHARED / "sdc" / "tauargus_small_example.csv"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    read = Tidy(("ACTIVITY", "SIZE"), "VAL", "Status", ("A", "B", "D")).read([path])
    assert audit(read.published()).safe
    with path.open(encoding="utf-8") as file:
        primary = [row["Status"] in {"A", "B"} for row in csv.DictReader(file)]
    alone = Tidy(("ACTIVITY", "SIZE"), "VAL", "Status", ("A", "B")).read([path])
    assert int(alone.suppressed.sum()) == sum(primary)
    assert len(audit(alone.published()).disclosures) == sum(primary)


LEVELS = (HEADS, "34001,0,10,0,2016,1,,30",
          "34001,5,10,0,2016,1,,30", "34001,5,11,0,2016,1,N,0", "34001,5,31-33,0,2016,1,,20",
          "34001,5,311111,0,2016,1,N,0", "34001,5,332111,0,2016,1,,15")  # fmt: skip


def test_qcew_without_some_levels_keeps_the_sums_between_those_it_has(tmp_path):
    """Sector 11 is 30 less 20, and 311111 is 20 less 15, although supersectors and the levels between are not there."""
    (tmp_path / "q.csv").write_text("\n".join(LEVELS), encoding="utf-8")
    read = read_qcew(tmp_path / "q.csv")
    found = audit(read.published())
    told = {read.linked.named(one.cell)["industry"]: found.interval(one.cell) for one in found.disclosures}
    assert told == {"11": (10, 10), "311111": (5, 5)}


def test_qcew_of_all_governments_and_of_all_but_the_federal_one_adds_up(tmp_path):
    """A state has 6 federal, 5 and 4 other public and 20 private jobs: 15 public ones, 29 without the federal."""
    jobs = {"0": 35, "1": 6, "2": 5, "3": 4, "5": 20, "8": 15, "9": 29}
    rows = [f"34000,{own},10,0,2016,1,,{number}" for own, number in jobs.items()]
    (tmp_path / "q.csv").write_text("\n".join([HEADS, *rows]), encoding="utf-8")
    read = read_qcew(tmp_path / "q.csv")
    assert not len(read.linked.faults(read.published().values))
    # State and local jobs are 15 less 6 together, so that private ones are 29 less 9, although all three are missing.
    hidden = [row.replace(",,", ",N,") if row[6] in "235" else row for row in rows]
    (tmp_path / "q.csv").write_text("\n".join([HEADS, *hidden]), encoding="utf-8")
    found = audit(read_qcew(tmp_path / "q.csv").published())
    known = [found.linked.named(one.cell)["ownership"] for one in found.disclosures]
    assert (known, found.interval(found.disclosures[0].cell)) == (["5"], (20, 20))


ARGUS = """<SEPARATOR> ";"
<SAFE> s
<UNSAFE> u
<PROTECT> p
NACE 1 3 "999" ?
  <RECODEABLE> <TOTCODE> "All of it"
  <HIERARCHICAL> <HIERLEVELS> 2 1 0
SHADE 4 4
  <NUMERIC> <SHADOW>
VAL 8 4 9999
  <NUMERIC> <DECIMALS> 0
N
  <FREQUENCY>
M1
  <MAXSCORE>
M2
  <MAXSCORE>
STATUS
  <STATUS>
"""
LINES = """All of it; 0; 60; 12; 20; 9; s
"01"; 0; 40; 8; 20; 9; s
011; 0; 22; 2; 20; 2; u
012; 0; 8; 3; 4; 2; p
013; 0; 10; 3; 4; 3; s
02; 0; 20; 4; 6; 5; s
021; 0; 9; 2; 6; 3; s
022; 0; 11; 2; 6; 5; s
"""


def test_a_legal_rda_file_with_levels_by_digits_missing_codes_and_two_scores(tmp_path):
    (tmp_path / "t.rda").write_text(ARGUS, encoding="utf-8")
    (tmp_path / "t.tab").write_text(LINES, encoding="utf-8")
    read = read_argus(tmp_path / "t.tab")
    assert sorted(read.linked.tables[0][0].sums) == [("", ("01", "02")), ("01", ("011", "012", "013")),
                                                     ("02", ("021", "022"))]  # fmt: skip
    cell = read.linked.find({"NACE": "012"})
    assert (read.values[cell], read.numbers["maxscore"][cell], read.numbers["maxscore2"][cell]) == (8, 4, 2)
    assert [read.linked.named(one)["NACE"] for one in np.flatnonzero(read.suppressed)] == ["011"]
    assert [read.linked.named(one)["NACE"] for one in np.flatnonzero(read.held)] == ["012"]
    (tmp_path / "t.tab").write_text(LINES.replace("022;", "0221;"), encoding="utf-8")
    with pytest.raises(DataError, match="as long as no level"):
        read_argus(tmp_path / "t.tab")


def test_a_cell_that_tau_argus_protects_from_suppression_is_published(tmp_path):
    """011 needs another part of 01: 012 costs the least and must be published, so that it is 013."""
    (tmp_path / "t.rda").write_text(ARGUS, encoding="utf-8")
    (tmp_path / "t.tab").write_text(LINES, encoding="utf-8")
    done = CliRunner().invoke(app, ["suppress", "table", f"{tmp_path / 't.tab'}", "--out", f"{tmp_path / 'o.tab'}"])
    assert done.exit_code == 0, done.output
    back = read_argus(tmp_path / "o.tab")
    assert [back.linked.named(one)["NACE"] for one in np.flatnonzero(back.suppressed)] == ["011", "013"]


def test_codes_that_hold_the_separator_are_written_and_read_back(tmp_path):
    (tmp_path / "t.rda").write_text('<SEPARATOR> ","\nACT\n <RECODEABLE>\nVAL\n <NUMERIC>\n', encoding="utf-8")
    (tmp_path / "t.tab").write_text('Total,30\n"a;b, c",20\nd,10\n', encoding="utf-8")
    read = read_argus(tmp_path / "t.tab")
    back = read_argus(write_argus(read, read.values, ["V"] * 3, tmp_path / "out", "t"))
    assert back.values[back.linked.find({"ACT": "a;b, c"})] == 20

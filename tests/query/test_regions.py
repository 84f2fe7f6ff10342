"""Areas and industries that readers define in a file: sums like any other, with their errors."""

import json

import pytest
from tests.cli.test_cli import sfumato
from tests.quarters import released

import sfumato as sf
from sfumato.errors import QueryError
from sfumato.query import regions


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return released(tmp_path_factory.mktemp("regions"))


@pytest.fixture
def write(tmp_path):
    def put(text: str, encoding: str = "utf-8"):
        (tmp_path / "areas.csv").write_text(text, encoding=encoding)
        return tmp_path / "areas.csv"

    return put


def test_groups_are_the_sums_and_errors_of_the_same_levels_asked_by_hand(release, write):
    engine = sf.open(release)
    file = write("group,county\nCoast,01001\nCoast,01005\nInland,01003\nInland,01007\n")
    found = sf.read_groups(file, engine)
    table = engine.table("county", of="jobs", at=found)
    by_hand = engine.total({"county": ["01001", "01005"]}, of="jobs")
    assert table["Coast"].value == by_hand.value
    assert table["Coast"].noise_variance == pytest.approx(by_hand.noise_variance)
    assert table["Coast"].value + table["Inland"].value == engine.total(of="jobs").value


def test_a_group_may_hold_codes_of_any_level_and_a_file_several_variables(release, write):
    engine = sf.open(release)
    file = write("attribute,group,code\nnaics,Goods,31\nnaics,Goods,445\ncounty,South,01007\n")
    found = sf.read_groups(file, engine)
    assert list(found) == ["naics", "county"]
    value = engine.table("naics", "county", at=found)["Goods", "South"].value
    assert value == engine.total({"naics": ["311", "315", "445"], "county": "01007"}).value


@pytest.mark.parametrize("parting", [",", ";", "\t"])
def test_what_spreadsheets_write_is_read(release, write, parting):
    lines = [["group", "county"], ["Coast", "01001"], ["", ""], ["Coast", "01005"]]
    file = write("\n".join(parting.join(line) for line in lines) + "\n", "utf-8-sig")
    assert sf.read_groups(file, sf.open(release))["county"][0].codes == ("01001", "01005")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("group,county\nCoast,1001\n", "line 2: '1001' is not a level; did you mean '01001', before a spreadsheet"),
        ("group,county\nCoast,01009\n", "line 2: '01009' is not a level; did you mean"),
        ("group,county\nA,01001\nA,01001\n", "line 3: 'A' has the code '01001' in line 2 too"),
        ("group,naics\nA,31\nA,311\n", "line 3: '311' lies under '31'"),
        ("group,code\nA,31\n", "does not say which variable"),
        ("county,name\n01001,A\n", "no column 'group'"),
        ("group,attribute,code\nA,naisc,31\n", "did you mean 'naics'?"),
        ("group,county\nA\n", "line 2: 1 columns where the head has 2"),
        ("group,county\n", "no groups"),
        ("", "no column 'group'"),
        ("group,county\n,01001\n", "named by 1 to 100"),
        ("group,naics\nMaking,31\n", "already a level"),
    ],
)
def test_a_wrong_line_is_named_with_what_would_work(release, write, text, said):
    engine = sf.open(release)
    with pytest.raises(QueryError) as refused:
        engine.table("naics", at=sf.read_groups(write(text), engine))
    assert said in str(refused.value)


def test_a_file_that_is_not_there_not_text_or_too_long_is_refused(release, write, tmp_path, monkeypatch):
    engine = sf.open(release)
    with pytest.raises(QueryError, match="no such file"):
        sf.read_groups(tmp_path / "none.csv", engine)
    (tmp_path / "b.csv").write_bytes(b"group,county\nA,\xff\xfe\n")
    with pytest.raises(QueryError, match="UTF-8"):
        sf.read_groups(tmp_path / "b.csv", engine)
    monkeypatch.setattr(regions, "MOST_LINES", 2)
    with pytest.raises(QueryError, match="more than 2 lines"):
        sf.read_groups(write("group,county\nA,01001\nA,01003\n"), engine)


def test_the_command_line_reads_the_same_files_and_notes_what_overlaps(release, write):
    file = write("group,code\nCoast,01001\nCoast,01005\nNorth,01001\n")
    said = sfumato("table", release, "--rows", "county", "--groups", f"county={file}", "--format", "json")
    cells = json.loads(said.stdout)["cells"]
    assert cells[0]["estimate"] == sf.open(release).total({"county": ["01001", "01005"]}).value
    assert cells[0]["moe90"] > 0
    assert "Coast and North overlap: do not add them up" in said.stderr

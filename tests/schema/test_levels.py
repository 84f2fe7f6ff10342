"""Levels: one list whatever its file, a hierarchy of any depth, and refusals that name the code."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import PlanError
from sfumato.schema import Attribute, Levels, Schema

# Five steps of the Standard Occupational Classification under one top: all, major, minor, broad, detailed.
SOC = [
    {"code": "00", "label": "All occupations"},
    {"code": "29", "label": "Health", "parent": "00"},
    {"code": "29-1", "label": "Diagnosing", "parent": "29"},
    {"code": "29-11", "label": "Doctors and nurses", "parent": "29-1", "note": "since 2018"},
    {"code": "29-1141", "label": "Nurses", "parent": "29-11"},
    {"code": "29-1171", "label": "Nurse practitioners", "parent": "29-11"},
    {"code": "29-2", "label": "Technicians", "parent": "29"},
    {"code": "35", "label": "Food", "parent": "00"},
    {"code": "35-1", "label": "Cooks", "parent": "35"},
]


@pytest.fixture
def occupations():
    return Levels.of(SOC)


def as_csv(folder, records):
    path = folder / "codes.csv"
    lines = [",".join(record.get(key, "") for key in ("code", "label", "parent", "note")) for record in records]
    path.write_text("\n".join(["code,label,parent,note", *lines]), encoding="utf-8")
    return path


def as_parquet(folder, records):
    path = folder / "codes.parquet"
    columns = {key: [record.get(key) for record in records] for key in ("code", "label", "parent", "note")}
    pq.write_table(pa.table(columns), path)
    return path


def test_levels_inline_in_csv_and_in_parquet_are_equal(tmp_path, occupations):
    assert Levels.read(as_csv(tmp_path, SOC)) == occupations
    assert Levels.read(as_parquet(tmp_path, SOC)) == occupations
    assert Levels.read(as_csv(tmp_path, SOC[:-1])) != occupations


def test_a_csv_with_a_byte_order_mark_and_other_columns_reads_the_same(tmp_path):
    path = tmp_path / "codes.csv"
    path.write_text("code,since\n01,1990\n02,2000\n", encoding="utf-8-sig")
    assert Levels.read(path) == Levels.of(["01", "02"])


def test_integers_in_parquet_are_the_codes_that_text_would_be(tmp_path):
    path = tmp_path / "codes.parquet"
    pq.write_table(pa.table({"code": [1, 2], "parent": [None, 1]}), path)
    assert (
        Levels.read(path)
        == Levels.of([{"code": "1"}, {"code": "2", "parent": "1"}])
        == Levels.of([1, {"code": 2, "parent": 1}])
    )


def test_leading_zeros_and_words_like_no_stay_codes(tmp_path):
    path = tmp_path / "codes.csv"
    path.write_text("code\n01\nNO\n1e3\n", encoding="utf-8")
    assert Levels.read(path).codes == ("01", "NO", "1e3")


def test_the_records_of_a_list_make_an_equal_list(occupations):
    assert Levels.of(occupations.records()) == occupations


def test_a_hierarchy_five_deep_knows_its_depths_leaves_and_inner_masks(occupations):
    assert occupations.depth == 4
    assert occupations.leaves == ("29-1141", "29-1171", "29-2", "35-1")
    assert occupations.depths["29-11"] == 3
    assert occupations.parent("29-11") == "29-1"
    assert occupations.parent("00") is None
    assert occupations.label("35") == "Food"
    for code, under in {
        "00": [1, 1, 1, 1],
        "29": [1, 1, 1, 0],
        "29-1": [1, 1, 0, 0],
        "29-11": [1, 1, 0, 0],
        "29-1171": [0, 1, 0, 0],
        "35": [0, 0, 0, 1],
    }.items():
        assert occupations.mask(code).astype(int).tolist() == under
    assert occupations.mask(["29-1141", "Food"]).astype(int).tolist() == [1, 0, 0, 1]
    assert not occupations.mask([]).any()


def test_at_a_depth_stand_its_codes_and_the_leaves_that_end_above(occupations):
    assert occupations.at(0) == ("00",)
    assert occupations.at(2) == ("29-1", "29-2", "35-1")
    assert occupations.at(4) == ("29-1141", "29-1171", "29-2", "35-1")


@st.composite
def trees(draw):
    """A forest of up to 30 codes, each with an earlier one as parent or with none, listed in any order."""
    size = draw(st.integers(1, 30))
    parents = [draw(st.one_of(st.none(), st.integers(0, place - 1))) if place else None for place in range(size)]
    records = [{"code": f"c{place}", "parent": None if up is None else f"c{up}"} for place, up in enumerate(parents)]
    return draw(st.permutations(records))


def ancestors(records, code):
    parent = {record["code"]: record["parent"] for record in records}
    line = [code]
    while parent[line[-1]] is not None:
        line.append(parent[line[-1]])
    return line


@settings(deadline=None)
@given(trees())
def test_every_depth_of_every_tree_parts_the_leaves(records):
    levels = Levels.of(records)
    for depth in range(levels.depth + 2):
        shares = np.sum([levels.mask(code) for code in levels.at(depth)], axis=0)
        assert (shares == 1).all()


@settings(deadline=None)
@given(trees())
def test_a_mask_holds_just_the_leaves_below_its_code_in_every_tree(records):
    levels = Levels.of(records)
    parents = {record["parent"] for record in records}
    assert levels.leaves == tuple(record["code"] for record in records if record["code"] not in parents)
    for record in records:
        code = record["code"]
        assert levels.mask(code).tolist() == [code in ancestors(records, leaf) for leaf in levels.leaves]
        assert levels.depths[code] == len(ancestors(records, code)) - 1


def test_a_level_is_found_by_code_and_by_label_in_any_case(occupations):
    assert occupations.find("nurses") == "29-1141"
    assert occupations.find("29") == "29"
    with pytest.raises(KeyError, match="did you mean 'Nurses'"):
        occupations.find("Nursess")


def test_a_label_of_several_levels_asks_for_the_code():
    levels = Levels.of([{"code": "a", "label": "Other"}, {"code": "b", "label": "Other"}])
    with pytest.raises(KeyError, match=r"several levels \(a, b\)"):
        levels.find("other")


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ([{"code": "a", "parent": "b"}, {"code": "b", "parent": "a"}], r"'[ab]' is its own ancestor"),
        ([{"code": "a", "parent": "a"}], "'a' is its own ancestor"),
        (["x", "twice", "y", "twice"], "'twice' stands twice"),
        ([{"code": "leaf", "parent": "rood"}, "root"], "'leaf' has parent 'rood'.*did you mean 'root'"),
        ([{"code": "a", "lable": "A"}], "no 'lable'; did you mean 'label'"),
        ([{"label": "A"}], "no code"),
        ([""], "no code"),
        ([{"code": ["a"]}], "got a list"),
        ([], "empty"),
    ],
)
def test_a_list_that_cannot_be_meant_is_refused_by_code(listed, said):
    with pytest.raises(PlanError, match=said):
        Levels.of(listed)


def test_a_code_that_stands_twice_among_many_is_found():
    """Code by code with all others these would be 10^9 comparisons, minutes of them."""
    with pytest.raises(PlanError, match="'7' stands twice"):
        Levels.of([*range(50_000), 7])


def test_a_file_that_is_no_list_of_levels_is_refused_by_name(tmp_path):
    with pytest.raises(PlanError, match=r"nowhere\.csv is not there"):
        Levels.read(tmp_path / "nowhere.csv")
    latin = tmp_path / "latin.csv"
    latin.write_bytes("code,label\n1,Größe\n".encode("latin-1"))
    with pytest.raises(PlanError, match=r"latin\.csv cannot be read.*UTF-8"):
        Levels.read(latin)
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 no")
    with pytest.raises(PlanError, match=r"broken\.parquet cannot be read"):
        Levels.read(broken)
    other = tmp_path / "other.csv"
    other.write_text("kode\n1\n", encoding="utf-8")
    with pytest.raises(PlanError, match=r"other\.csv has no column 'code'"):
        Levels.read(other)


def test_a_code_with_space_around_it_is_asked_for_without():
    levels = Levels.of([" a", "b"])
    assert (levels.find("a"), levels.find(" a"), levels.find("b ")) == (" a", " a", "b")


def test_codes_that_differ_by_the_space_around_them_are_refused_in_a_plan_and_exact_in_a_release():
    twins = Levels.of(["a", "a "])
    assert (twins.find("a"), twins.find("a ")) == ("a", "a ")
    with pytest.raises(PlanError, match="by the space around it alone"):
        Schema((Attribute("x", twins),))

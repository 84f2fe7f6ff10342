"""A frame: read and refused as its levels say, grouped and summed as a count by hand would."""

from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from sfumato.errors import PlanError
from sfumato.schema import Attribute, Bands, Frame, Grid, Grouping, Level, Levels, Missing, Recode
from sfumato.schema.frame import crossed, distinct

TREE = Levels.of(
    [
        {"code": "23", "label": "Construction"},
        {"code": "236", "parent": "23"},
        {"code": "237", "parent": "23"},
        {"code": "2361", "parent": "236"},
        {"code": "2362", "parent": "236"},
        {"code": "2371", "parent": "237"},
        {"code": "31-33", "label": "Manufacturing"},
        {"code": "311", "parent": "31-33"},
        {"code": "3111", "parent": "311"},
    ]
)
INDUSTRY = Attribute("industry", TREE)
COUNTY = Attribute("county", Levels.of(["01001", "01003", "01005"]))
ROWS = [
    ("e1", "2361", "01001"),
    ("e2", "2362", "01001"),
    ("e3", "2361", "01003"),
    ("e4", "3111", "01005"),
    ("e5", "2371", "01001"),
]


def columns(rows=ROWS):
    ids, industry, county = zip(*rows, strict=True)
    return {"id": list(ids), "industry": list(industry), "county": list(county)}


def written(folder, rows=ROWS, **other):
    path = folder / "frame.parquet"
    pq.write_table(pa.table(columns(rows) | other), path)
    return path


def read(path, attributes=(INDUSTRY, COUNTY)):
    return Frame.read(path, "establishment", "id", attributes)


def refusal(path, attributes=(INDUSTRY, COUNTY)):
    with pytest.raises(PlanError) as refused:
        read(path, attributes)
    return str(refused.value)


def test_the_rows_stand_in_the_order_of_their_ids_whatever_that_of_the_file(tmp_path):
    """A file that holds reports too may be sorted by them, and the order of its rows would publish their ranks."""
    rows = [(name, *codes) for name, (_, *codes) in zip(("e10", "e9", "b3", "e1", "100"), ROWS, strict=True)]
    frame = read(written(tmp_path, rows))
    assert frame.ids.to_pylist() == ["b3", "e1", "e9", "100", "e10"]
    industries = {name: industry for name, industry, _ in rows}
    held = [INDUSTRY.levels.leaves[place] for place in frame.places["industry"]]
    assert held == [industries[name] for name in frame.ids.to_pylist()]
    again = read(written(tmp_path, rows[::-1]))
    assert again.ids.equals(frame.ids)
    assert all((again.places[name] == frame.places[name]).all() for name in frame.names)


def test_a_csv_file_and_a_parquet_file_are_the_same_frame(tmp_path):
    pyarrow.csv.write_csv(pa.table(columns()), tmp_path / "frame.csv")
    first, second = read(written(tmp_path)), read(tmp_path / "frame.csv")
    assert first.size == second.size == 5
    assert first.ids.to_pylist() == second.ids.to_pylist()  # 01001 keeps its leading zero
    for name in first.names:
        assert first.places[name].tolist() == second.places[name].tolist()


def test_a_column_that_is_a_dictionary_in_the_file_is_read_by_its_codes(tmp_path):
    path = written(tmp_path, industry=pa.array(columns()["industry"]).dictionary_encode())
    assert read(path).places["industry"].tolist() == [0, 1, 0, 3, 2]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([*ROWS, ("e1", "2361", "01001")], "the same 'id' in two rows or more: 'e1' in 2 rows."),
        ([*ROWS, (None, "2361", "01001")], "1 row without 'id'"),
        ([*ROWS, ("e6", None, "01001"), ("e7", None, "01001")], "2 rows without 'industry'"),
        ([*ROWS, ("e6", "9999", "01001")], "no lowest level of 'industry': '9999' in 1 row, id e6"),
        ([*ROWS, ("e6", "236", "01001")], "no lowest level of 'industry': '236' in 1 row, id e6"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_with_the_rule(tmp_path, rows, said):
    assert said in refusal(written(tmp_path, rows))


def test_all_faults_of_a_frame_are_counted_and_named_at_once(tmp_path):
    """Only the first unknown code was named, and of a name that stands twice not even that."""
    odd = [("e1", "2361", "01001"), ("e1", "9999", "01001"), ("e6", "9999", "77777"), ("e7", "8888", "01001")]
    said = refusal(written(tmp_path, [*ROWS, *odd]))
    assert "'e1' in 3 rows" in said
    assert "'9999' in 2 rows, id e1; '8888' in 1 row, id e7" in said
    assert "no lowest level of 'county': '77777' in 1 row, id e6" in said
    many = [(f"x{place}", f"99{place:02d}", "01001") for place in range(25)]
    assert "and 15 more" in refusal(written(tmp_path, [*ROWS, *many]))


def test_an_absent_file_a_lacking_column_and_a_broken_file_are_told_apart(tmp_path):
    assert "is not there" in refusal(tmp_path / "nowhere.parquet")
    lacking = tmp_path / "lacking.parquet"
    pq.write_table(pa.table({"id": ["e1"], "industri": ["2361"], "county": ["01001"]}), lacking)
    assert "has no column 'industry'" in refusal(lacking)
    assert "industri" in refusal(lacking)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 this is none")
    assert "cannot be read" in refusal(tmp_path / "broken.parquet")


def test_a_frame_holds_codes_and_no_bands(tmp_path):
    banded = Attribute("size", Bands("size", (0, 5)).levels(), read=Bands("size", (0, 5)))
    assert "a frame holds the codes themselves" in refusal(written(tmp_path), (banded,))


def test_groups_at_every_depth_are_those_that_prefixes_make(tmp_path):
    frame = read(written(tmp_path))
    for depth, prefix in ((0, {"2": "23", "3": "31-33"}), (1, 3), (2, 4), (None, 4)):
        grouping = frame.grouped((Level("industry", depth), Level("county")))
        shown = [prefix[code[0]] if isinstance(prefix, dict) else code[:prefix] for _, code, _ in ROWS]
        by_hand = list(zip(shown, (county for _, _, county in ROWS), strict=True))
        first, second = grouping.groups.attributes
        named = [
            (first.levels.leaves[one], second.levels.leaves[other])
            for one, other in zip(grouping.groups.places[first.name], grouping.groups.places["county"], strict=True)
        ]
        assert [named[place] for place in grouping.of] == by_hand
        assert len(named) == len(set(by_hand))


def test_no_attribute_makes_one_group_of_all_rows(tmp_path):
    whole = read(written(tmp_path)).grouped(())
    assert whole.size == 1
    assert whole.of.tolist() == [0] * 5


def test_an_attribute_that_the_frame_lacks_is_answered_with_the_nearest(tmp_path):
    with pytest.raises(KeyError, match="did you mean 'county'"):
        read(written(tmp_path)).grouped((Level("countie"),))


@pytest.mark.parametrize("width", [50, 10**12], ids=["marked", "sorted"])
def test_different_keys_are_found_the_same_by_marking_and_by_sorting(width):
    keys = np.random.default_rng(1).integers(0, 50, 500)
    found, place = distinct(keys, width)
    assert found.tolist() == sorted(set(keys.tolist()))
    assert found[place].tolist() == keys.tolist()


def test_two_groupings_cross_into_the_pairs_that_occur():
    rng = np.random.default_rng(2)
    one, other = rng.integers(0, 6, 300).astype(np.int32), rng.integers(0, 4, 300).astype(np.int32)
    place, size = crossed(one, 6, other, 4)
    pairs = list(zip(one.tolist(), other.tolist(), strict=True))
    assert size == len(set(pairs))
    assert len({(here, pair) for here, pair in zip(place.tolist(), pairs, strict=True)}) == size
    finer, same = crossed(one, 6, (one // 2).astype(np.int32), 3)
    assert finer is one
    assert same == 6


def test_sums_are_exact_where_doubles_are_not(tmp_path):
    grouping = read(written(tmp_path)).grouped((Level("county"),))
    values = np.array([2**60 + 1, 2**60 + 2, -(2**53) - 1, 7, 2**58 + 3])
    by_hand = defaultdict(int)
    for (_, _, county), value in zip(ROWS, values.tolist(), strict=True):
        by_hand[county] += value
    assert grouping.sums(values).tolist() == [by_hand[code] for code in COUNTY.levels.leaves]
    assert float(2**61 + 3 + 2**58 + 3) != by_hand["01001"]  # what a sum of doubles would have said


def test_the_cells_of_a_grid_hold_each_row_once_and_leave_out_what_no_group_names(tmp_path):
    frame = read(written(tmp_path))
    groups = np.array([TREE.mask("236"), TREE.mask("31-33")])
    flat, size = frame.cells(Grid((("industry", groups),), frame_box()))
    assert size == 2
    assert Counter(flat.tolist()) == {0: 3, 1: 1, 2: 1}  # e5 stands in 2371, which neither group names


def frame_box():
    from sfumato.schema import Box

    return Box({})


def test_the_largest_of_each_group():
    grouping = Grouping(Frame("group", (), {}, range(2)), np.array([0, 1, 0], dtype=np.int32))
    assert grouping.largest(np.array([-5, 3, -9])).tolist() == [-5, 3]


@pytest.mark.parametrize("other", ["e1 ", "e1\t", "e1\r", "\u200be1", "\uff451"])
def test_a_unit_in_two_spellings_is_refused(tmp_path, other):
    names = ["e1", other, *(name for name, *_ in ROWS[2:])]
    ids = [(name, *codes) for name, (_, *codes) in zip(names, ROWS, strict=True)]
    assert "differ only in spaces" in refusal(written(tmp_path, ids))


@pytest.mark.parametrize(("other", "one"), [("ACME ", True), ("ACME\n", True), ("ACM\uff25", True), ("acme", False)])
def test_a_firm_in_two_spellings_is_refused_and_one_in_another_case_is_another(tmp_path, other, one):
    path = written(tmp_path, firm=pa.array(["ACME", other, "b", "c", "d"]))
    if one:
        with pytest.raises(PlanError, match="differ only in spaces"):
            Frame.read(path, "establishment", "id", (INDUSTRY, COUNTY), "firm")
    else:
        assert len(set(Frame.read(path, "establishment", "id", (INDUSTRY, COUNTY), "firm").firms)) == 5


UNKNOWN = Attribute("county", Levels.of(["01001", "01003", "01005", "unknown"]), missing=Missing("unknown", ("-9",)))


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_missing_code_of_a_frame_stands_for_its_level(tmp_path, kind):
    """A row without a code, and one with a code that the plan calls missing, were refused as no level."""
    rows = [*ROWS, ("e6", "2361", "-9"), ("e7", "2361", None)]
    path = written(tmp_path, rows)
    if kind == "csv":
        pyarrow.csv.write_csv(pa.table(columns(rows)), path.with_suffix(".csv"))
        path = path.with_suffix(".csv")
    frame = read(path, (INDUSTRY, UNKNOWN))
    assert frame.ids.to_pylist() == ["e1", "e2", "e3", "e4", "e5", "e6", "e7"]
    assert frame.places["county"].tolist() == [0, 0, 1, 2, 0, 3, 3]


def test_without_a_missing_level_the_refusal_says_what_to_write(tmp_path):
    assert 'Name the level of these rows: missing = "…"' in refusal(written(tmp_path, [*ROWS, ("e6", None, "01001")]))


def test_a_recoded_column_of_a_frame_is_read_by_its_recode(tmp_path):
    """A frame that held other codes was refused, whatever the plan recoded."""
    north = Attribute("side", Levels.of(["north", "south"]), read=Recode.of("county", dict(SIDES)))
    frame = read(written(tmp_path), (INDUSTRY, north))
    assert frame.places["side"].tolist() == [0, 0, 1, 1, 0]
    assert "no lowest level of 'side': '01005' in 1 row, id e4" in refusal(
        written(tmp_path), (INDUSTRY, Attribute("side", north.levels, read=Recode.of("county", dict(SIDES[:2]))))
    )


SIDES = [("01001", "north"), ("01003", "south"), ("01005", "south")]

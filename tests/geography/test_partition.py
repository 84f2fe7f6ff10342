"""Partitions: clusters of k to 2k - 1 within postal codes, near to MDAV's, from public locations alone."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.commands import command

from sfumato.errors import DataError, PlanError
from sfumato.geography.cluster_outlines import outlines
from sfumato.geography.locations import Located, Locations, read_locations
from sfumato.geography.microaggregation import clusters, spread
from sfumato.geography.partition import microaggregated
from sfumato.geography.squares import Squares, gridded, merged

COLUMNS = Located("id", ("x", "y"), ("post", "city"))


def mdav(points, k):
    """Maximum distance to average vector, as in Domingo-Ferrer and Torra 2005, written from the paper."""
    left, found, number = np.arange(len(points)), np.empty(len(points), dtype=int), 0

    def take(middle):
        nonlocal left, number
        near = np.argsort(((points[left] - middle) ** 2).sum(axis=1), kind="stable")[:k]
        found[left[near]], number = number, number + 1
        left = np.delete(left, near)

    def farthest(middle):
        return points[left[np.argmax(((points[left] - middle) ** 2).sum(axis=1))]]

    while len(left) >= 3 * k:
        far = farthest(points[left].mean(axis=0))
        opposite = farthest(far)
        take(far)
        take(opposite)
    if len(left) >= 2 * k:
        take(farthest(points[left].mean(axis=0)))
    found[left] = number
    return found


def sum_of_squares(points, found):
    """Squared distances to the mean of each cluster, cluster by cluster."""
    return sum(((own - own.mean(axis=0)) ** 2).sum() for own in (points[found == one] for one in np.unique(found)))


def spread_out(kind, count=10_000, seed=5):
    """Whole metres: anywhere in a square, around one middle, or in houses of some neighbourhoods."""
    rng = np.random.default_rng(seed)
    if kind == "even":
        return rng.integers(0, 6_000, (count, 2))
    if kind == "around one middle":
        return np.rint(rng.normal(0, 1_500, (count, 2))).astype(int)
    middles = rng.normal(0, 1_500, (25, 2))
    houses = middles[rng.integers(0, 25, count // 4)] + rng.normal(0, 140, (count // 4, 2))
    return np.rint(houses[rng.integers(0, count // 4, count)]).astype(int)


@pytest.mark.parametrize("k", [50, 200])
@pytest.mark.parametrize("kind", ["even", "around one middle", "houses"])
def test_clusters_spread_at_most_a_quarter_more_than_those_of_mdav(kind, k):
    points = spread_out(kind)
    found = clusters(points, k)
    assert spread(points, found) == pytest.approx(sum_of_squares(points, found))
    assert spread(points, found) <= 1.25 * sum_of_squares(points, mdav(points, k))
    shuffled = np.random.default_rng(1).permutation(found)
    assert spread(points, shuffled) > 1.25 * sum_of_squares(points, mdav(points, k))  # what the bound does not admit


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.integers(1, 200), st.integers(1, 30), st.integers(0, 99))
def test_no_cluster_has_fewer_than_k_or_more_than_twice_less_one(k, count, wide, seed):
    points = np.random.default_rng(seed).integers(0, wide, (count, 2))
    if count < k:
        with pytest.raises(PlanError, match="smaller k"):
            clusters(points, k)
        return
    sizes = np.bincount(clusters(points, k))
    assert len(sizes) == count // k
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1


def located(points, post, city=None, ids=None):
    """Locations in postal codes, and these in cities."""
    coded = [np.unique(np.asarray(names), return_inverse=True) for names in (post, city) if names is not None]
    ids = pa.array(np.arange(len(points)) if ids is None else ids)
    areas = tuple((tuple(codes.tolist()), place) for codes, place in coded)
    return Locations("id", ids, np.asarray(points, dtype=np.int32), areas)


def test_no_cluster_crosses_a_postal_code_and_areas_lie_in_each_other():
    points, rng = spread_out("houses", 3_000), np.random.default_rng(2)
    post = rng.choice(["p1", "p2", "p3"], 3_000)
    city = np.where(post == "p3", "b", "a")
    found = microaggregated(located(points, post, city), 20)
    codes = np.array(found.codes)[found.area]
    assert all(code.startswith(one) for code, one in zip(codes, post, strict=True))
    assert found.sizes.min() >= 20
    assert found.sizes.max() <= 39
    assert len(found.codes) == sum(int((post == one).sum()) // 20 for one in ("p1", "p2", "p3"))
    above = {level.code: level.parent for level in found.levels}
    assert {above[code] for code in found.codes} == {"p1", "p2", "p3"}
    assert (above["p1"], above["p2"], above["p3"], above["a"]) == ("a", "a", "b", "")
    assert found.notes == ()


def test_the_order_of_rows_says_nothing():
    # Many live at one place, so that ties are broken: by the id, and not by how the file is sorted.
    points, rng = spread_out("houses", 2_000) // 400, np.random.default_rng(3)
    post = rng.choice(["p1", "p2"], 2_000)
    for ids in (np.arange(2_000), np.array([f"n{one:04d}" for one in range(2_000)])):
        here = microaggregated(located(points, post, ids=ids), 10)
        order = rng.permutation(2_000)
        there = microaggregated(located(points[order], post[order], ids=ids[order]), 10)
        assert (np.array(here.codes)[here.area][order] == np.array(there.codes)[there.area]).all()


def test_a_small_postal_code_is_joined_to_its_nearest_neighbour_in_the_same_city_and_it_is_said():
    middles = {"far": (0, 0), "near": (5_000, 0), "small": (5_300, 0), "other": (5_310, 0), "tiny": (5_200, 0)}
    counts = {"far": 40, "near": 40, "small": 9, "other": 40, "tiny": 3}
    post = np.repeat(list(middles), list(counts.values()))
    points = np.array([middles[one] for one in post])
    city = np.where(post == "other", "b", "a")
    found = microaggregated(located(points, post, city), 20)
    told = {level.code: level.note for level in found.levels}
    assert found.notes == (
        "small has fewer than 20 people and is joined to near.",
        "tiny has fewer than 20 people and is joined to near.",
    )
    assert told["near"] == " ".join(found.notes)
    assert "small" not in told
    assert (found.sizes >= 20).all()
    joined = np.array(found.codes)[found.area]
    assert {code.split("-")[0] for code in joined[np.isin(post, ["near", "small", "tiny"])]} == {"near"}


def test_a_city_or_region_of_too_few_is_joined_as_near_by_as_can_be_and_that_is_said_at_its_level():
    # c1 is all of city C, whose region has city B too, farther away than a1 of another; d1 is all of region S.
    where = {"a1": (0, "A", "R"), "b1": (9_000, "B", "Q"), "c1": (2_000, "C", "Q"), "d1": (8_000, "D", "S")}
    post = np.repeat(list(where), [40, 40, 9, 8])
    points = np.array([(where[one][0], 0) for one in post])
    chains = [
        np.unique(np.asarray(names), return_inverse=True)
        for names in (post, [where[one][1] for one in post], [where[one][2] for one in post])
    ]
    areas = tuple((tuple(codes.tolist()), place) for codes, place in chains)
    found = microaggregated(Locations("id", pa.array(np.arange(97)), points.astype(np.int32), areas), 20)
    told = {level.code: level.note for level in found.levels if level.note}
    ended = "has fewer than 20 people and is in no list, as its people are joined to"
    assert told == {
        "b1": "c1 has fewer than 20 people and is joined to b1. d1 has fewer than 20 people and is joined to b1.",
        "B": f"C {ended} B. D {ended} B.",
        "Q": f"S {ended} Q.",
    }
    assert sorted(found.notes) == sorted(one + "." for note in told.values() for one in note.rstrip(".").split(". "))
    codes = np.array(found.codes)[found.area]
    assert {code.split("-")[0] for code in codes[np.isin(post, ["c1", "d1"])]} == {"b1"}


def test_outlines_share_their_borders_hold_their_middles_and_follow_from_locations_alone():
    points = spread_out("houses", 3_000)
    points[:200] = points[0]  # a house of several clusters
    found = microaggregated(located(points, np.repeat(["p", "q"], 1_500)), 25)
    drawn = outlines(found)
    areas = [area for _, area in drawn]
    assert [code for code, _ in drawn] == list(found.codes)
    assert shapely.coverage_is_valid(areas)
    middles = np.rint(found.middles)
    apart = [area.distance(shapely.Point(middle)) for area, middle in zip(areas, middles, strict=True)]
    assert max(apart) <= len(points[:200]) / 25  # those of one house stand side by side
    again = outlines(microaggregated(located(points, np.repeat(["p", "q"], 1_500)), 25))
    assert [area.wkt for _, area in again] == [area.wkt for area in areas]


def test_areas_are_told_by_those_that_they_lie_in_where_they_are_too_many_for_a_map():
    points = spread_out("houses", 900)
    found = microaggregated(located(points, np.repeat(["p", "q", "r"], 300), np.repeat(["a", "b"], [600, 300])), 25)
    coarse = found.coarser()
    assert coarse.codes == ("p", "q", "r")
    assert coarse.sizes.tolist() == [300, 300, 300]
    assert coarse.coarser().sizes.tolist() == [600, 300]
    with pytest.raises(DataError, match="give --within"):
        coarse.coarser().coarser()


def write(path, points, **more):
    table = pa.table({"id": np.arange(len(points)), "x": points[:, 0], "y": points[:, 1], **more})
    (pq.write_table if path.suffix == ".parquet" else pyarrow.csv.write_csv)(table, path)
    return path


def test_a_file_is_read_in_metres_or_degrees_and_codes_keep_their_noughts(tmp_path):
    points, post = spread_out("even", 400), np.repeat(["01067", "01069"], 200)
    same = [
        read_locations(write(tmp_path / name, points, post=post, city=np.repeat("c", 400)), COLUMNS)
        for name in ("l.parquet", "l.csv")
    ]
    assert (same[0].points == same[1].points).all()
    assert same[1].areas[0][0] == ("01067", "01069")
    # A degree of latitude is 111.2 to 111.3 km around 52° north (WGS 84: 111,267 m at 51.5°), one of longitude 68.7 km.
    degrees = np.array([(52.0, 10.0), (51.0, 10.0), (52.0, 11.0)])
    write(tmp_path / "d.csv", degrees)
    metres = read_locations(tmp_path / "d.csv", Located("id", ("x", "y")), (52.0, 10.0)).points
    assert metres[0].tolist() == [0, 0]
    assert metres[1] == pytest.approx([0, -111_267], abs=30)
    assert metres[2] == pytest.approx([68_678, 472], abs=60)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": np.zeros(100, dtype=int)}, "stand twice"),
        ({"x": np.append(np.zeros(99), np.nan)}, "missing or nowhere"),
        ({"x": np.full(100, 9e9)}, "missing or nowhere"),
        ({"x": ["a"] * 100}, "no numbers"),
        ({"post": [None] + ["p"] * 99}, "'post': some are missing"),
        ({"city": ["a"] * 50 + ["b"] * 50}, "'p' lies in two areas"),
        ({"city": ["p"] * 100}, "'p' stands at two levels"),
    ],
)
def test_locations_that_are_none_are_refused_by_column_and_rule(tmp_path, change, said):
    columns = {"id": np.arange(100), "x": np.arange(100), "y": np.arange(100), "post": ["p"] * 100, "city": ["c"] * 100}
    pq.write_table(pa.table(columns | change), tmp_path / "l.parquet")
    with pytest.raises(DataError, match=said):
        microaggregated(read_locations(tmp_path / "l.parquet", COLUMNS), 10)
    with pytest.raises(DataError, match="did you mean 'post'"):
        read_locations(tmp_path / "l.parquet", Located("id", ("x", "y"), ("pots",)))


def test_squares_are_those_of_the_box_whoever_lives_there():
    squares, points = Squares(500, (-1_000, 0, 3_000, 3_900)), np.array([(-1_000, 0), (-501, 499), (2_999, 3_899)])
    found = gridded(located(points, ["p"] * 3), squares)
    assert found.levels == gridded(located(points[:1], ["p"]), squares).levels
    assert [found.codes[place] for place in found.area] == ["s0.000", "s0.000", "s0.333"]
    assert len(found.codes) == 64  # 8 by 8, in 4 by 4, in 2 by 2, in one
    with pytest.raises(DataError, match="outside the box"):
        gridded(located(np.array([(3_000, 0)]), ["p"]), squares)
    with pytest.raises(PlanError, match="longer side"):
        Squares(1, (0, 0, 10_000, 10_000))


def test_squares_are_those_that_meet_the_box_and_each_unit_is_in_its_own():
    """Of 16 squares of the largest, 4 by 2 meet the box: noise on the others would be for nobody."""
    squares, points = (
        Squares(250, (100, -50, 1_000, 350)),
        np.random.default_rng(8).integers((100, -50), (1_000, 350), (500, 2)),
    )
    found = gridded(located(points, ["p"] * 500), squares)
    assert len(found.codes) == 8 == len(found.ground.area)
    corners = found.ground.corners[found.area]
    assert ((points >= corners) & (points < corners + 250)).all()
    assert {tuple(corner) for corner in found.ground.corners.tolist()} == {
        (100 + 250 * x, -50 + 250 * y) for x in range(4) for y in range(2)
    }


def test_squares_are_joined_until_published_numbers_are_enough():
    squares = Squares(500, (0, 0, 2_000, 2_000))
    rng, points = np.random.default_rng(4), spread_out("houses", 3_000) % 2_000
    whose = located(points, ["p"] * 3_000)
    codes, true = gridded(whose, squares).codes, gridded(whose, squares).sizes
    published = dict(zip(codes, (true + rng.integers(-30, 30, len(true))).astype(float), strict=True))
    for k in (1, 150, 400, 10**6):
        found = merged(whose, squares, published, k)
        held = {area: set() for area in range(len(found.codes))}
        for unit, area in zip(gridded(whose, squares).area, found.area, strict=True):
            held[int(area)].add(codes[int(unit)])
        assert sum(len(own) for own in held.values()) == len(set().union(*held.values()))  # no square in two areas
        if k <= 400:
            assert all(sum(published[one] for one in own) >= k for own in held.values() if len(own) == 1)
        else:
            assert len(found.codes) == 1
    with pytest.raises(DataError, match="of other squares"):
        merged(whose, squares, {}, 10)


def test_the_command_writes_what_a_plan_reads_and_says_what_it_assumes(tmp_path, monkeypatch):
    points = spread_out("houses", 600)
    write(tmp_path / "l.parquet", points, post=np.repeat(["1", "2", "3"], [295, 295, 10]))
    asked = ["--id", "id", "--at", "x,y", "--within", "post", "--k", 30]
    done = command("partition", tmp_path / "l.parquet", *asked, "--out", tmp_path / "areas")
    assert "19 areas of 30 to" in done.stdout
    assert "3 has fewer than 30 people and is joined to" in done.stdout
    assert 'fixed = ["area"]' in done.stderr
    report = json.loads((tmp_path / "areas" / "partition.json").read_text())
    assert (report["method"], report["k"], report["units"], report["areas"]) == ("microaggregation", 30, 600, 19)
    members = pq.read_table(tmp_path / "areas" / "members.parquet")
    assert members["id"].to_pylist() == list(range(600))
    assert (tmp_path / "areas" / "members.parquet").stat().st_mode & 0o777 == 0o600, "its owner's alone"
    sizes = pyarrow.csv.read_csv(tmp_path / "areas" / "sizes.csv")
    counted = members.group_by("area").aggregate([("id", "count")])
    assert dict(zip(*counted.to_pydict().values(), strict=True)) == dict(zip(*sizes.to_pydict().values(), strict=True))
    again = command("partition", tmp_path / "l.parquet", *asked, "--out", tmp_path / "areas")
    assert "holds something already" in again.stderr
    assert "600 locations: about 0.2 GB of memory" in done.stderr
    monkeypatch.setattr("sfumato.schema.memory.available", lambda: 1_000_000)
    small = command("partition", tmp_path / "l.parquet", *asked, "--out", tmp_path / "c")
    assert "this machine has 0.0 GB; partition one region after the other" in small.stderr
    monkeypatch.undo()
    for k in (0, -5):
        none = command("partition", tmp_path / "l.parquet", *asked[:-1], k, "--out", tmp_path / "b")
        assert f"--k {k} is no number of people that an area has at least" in none.stderr
    wrong = command("partition", tmp_path / "l.parquet", *asked, "--out", tmp_path / "b", "--box", "1,2")
    assert "--squares 250" in wrong.stderr

"""Areas from published numbers of squares: locations stay hidden, and all that was spent is in one ledger."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely
from tests.commands import command

import sfumato as sf
from sfumato.geography.cluster_outlines import outlines
from sfumato.geography.locations import Locations
from sfumato.geography.partition import microaggregated
from sfumato.geography.partition_files import write_partition
from sfumato.geography.squares import Squares, gridded, merged

TOLD = """name = "{name}"
title = "{name}"
[data]
unit = "person"
[data.tables]
people = {{}}
members = {{ on = "person_id" }}
[attributes.area]
levels = "{areas}/areas.csv"
[attributes.employed]
levels = ["no", "yes"]
[hidden]
neighbours = "add-remove"
unit = "person"
[limit]
epsilon = "1"
"""
COUNTED = """[[measure]]
name = "{name}"
of = "count"
by = {by}
with = {{ mechanism = "geometric", epsilon = "{epsilon}" }}
"""
JOINED = """[[then]]
step = "least-squares"
name = "people"
table = "smallest"
to = ["larger", "largest"]
"""
SIZES = """[[exposure]]
kind = "published"
what = "sizes"
why = "none"
[[measure]]
name = "people"
of = "count"
by = ["area", "employed"]
with = { mechanism = "geometric", epsilon = "1" }
[[control]]
name = "sizes"
of = "people"
by = ["area"]
file = "sizes.csv"
[[then]]
step = "least-squares"
name = "moved"
table = "people"
to = ["sizes"]
"""
SQUARES = ["--squares", 500, "--box", "0,0,4000,4000"]


def run(folder, name, areas, out, *more):
    data = ["--data", f"people={folder}/people.parquet", "--data", f"members={folder}/{areas}/members.parquet"]
    return command("run", folder / f"{name}.toml", *data, "--out", folder / out, *more)


def test_a_private_partition_is_charged_and_its_areas_are_of_published_numbers_alone(tmp_path):
    rng = np.random.default_rng(1)
    points = np.clip(np.rint(rng.normal(1_500, 700, (2_000, 2))), 0, 3_999).astype(int)
    ids = np.arange(2_000)
    pq.write_table(
        pa.table({"person_id": ids, "employed": rng.choice(["no", "yes"], 2_000)}), tmp_path / "people.parquet"
    )
    pq.write_table(pa.table({"person_id": ids, "east": points[:, 0], "north": points[:, 1]}), tmp_path / "l.parquet")
    made = command("partition", tmp_path / "l.parquet", *SQUARES, "--out", tmp_path / "squares")
    assert made.returncode == 0, made.stderr
    assert "locations stay hidden" in made.stderr
    levels = [("smallest", ["area"], "0.3"), ("larger", ["area@2"], "0.1"), ("largest", ["area@1"], "0.1")]
    squares = "".join(COUNTED.format(name=name, by=by, epsilon=epsilon) for name, by, epsilon in levels)
    (tmp_path / "where.toml").write_text(TOLD.format(name="where", areas="squares") + squares + JOINED)
    opened = ["--population", "people", "--plan", tmp_path / "where.toml", "--epsilon", "1"]
    assert command("ledger", "open", tmp_path / "l", *opened).returncode == 0

    refused = run(tmp_path, "where", "squares", "rehearsal", "--rehearsal", 1)
    assert refused.returncode == 0, refused.stderr
    asked = ["partition", tmp_path / "l.parquet", *SQUARES, "--k", 100, "--out", tmp_path / "areas", "--from"]
    assert "is not releasable" in command(*asked, tmp_path / "rehearsal").stderr

    assert run(tmp_path, "where", "squares", "release", "--ledger", tmp_path / "l").returncode == 0
    joined = command(*asked, tmp_path / "release")
    assert joined.returncode == 0, joined.stderr
    other = ["partition", tmp_path / "l.parquet", "--squares", 250, "--box", "0,0,4000,4000", "--k", 100]
    assert "of other squares" in command(*other, "--out", tmp_path / "b", "--from", tmp_path / "release").stderr

    (tmp_path / "sizes.toml").write_text(TOLD.format(name="sizes", areas="areas") + SIZES)
    (tmp_path / "sizes.csv").write_text("area,value\n" + "".join(f"a{one},1\n" for one in range(1, 99)))
    refused = command("price", tmp_path / "sizes.toml").stderr
    assert "true totals by squares, which tell where every person is" in refused

    by_area = COUNTED.format(name="work", by=["area", "employed"], epsilon="0.5")
    (tmp_path / "work.toml").write_text(TOLD.format(name="work", areas="areas") + by_area)
    assert run(tmp_path, "work", "areas", "work", "--ledger", tmp_path / "l").returncode == 0
    assert "epsilon 1" in command("ledger", "show", tmp_path / "l").stdout
    spent = run(tmp_path, "work", "areas", "again", "--ledger", tmp_path / "l")
    assert spent.returncode == 1  # 0.5 for where people live and 0.5 for their work are all that there was
    areas = sf.open(tmp_path / "work").table("area").axes[0].codes
    assert 1 < len(areas) <= sf.open(tmp_path / "release").total(of="people").value // 100  # each has 100 published


def written(folder):
    """What is published of a partition: all of its files but the one that stays inside."""
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.name != "members.parquet"}


def lived_in(points):
    ids = pa.array(np.arange(len(points)))
    return Locations("person_id", ids, np.asarray(points, dtype=np.int32), ())


def test_one_more_person_in_an_empty_square_changes_no_published_byte(tmp_path):
    """The attack: which squares have somebody, how many, or where in them, by any file that is published."""
    points = np.random.default_rng(2).integers(0, 2_000, (400, 2))  # nobody lives north or east of there
    more = np.vstack([points, (3_777, 3_512)])
    squares, published = Squares(500, (0, 0, 4_000, 4_000)), {}
    for code in gridded(lived_in(points), squares).codes:
        published[code] = float(code.startswith("s0.0")) * 30
    ways = {
        "squares": lambda whose: gridded(whose, squares),
        "joined": lambda whose: merged(whose, squares, published, 50),
        "clusters": lambda whose: microaggregated(whose, 50),
    }
    for way, made in ways.items():
        for name, people in (("without", points), ("with", more)):
            write_partition(made(lived_in(people)), tmp_path / way / name, {"method": way})
        told = written(tmp_path / way / "without"), written(tmp_path / way / "with")
        if way == "clusters":  # where addresses are taken as known: the attack finds the person
            assert all(told[0][name] != told[1][name] for name in ("areas.geojson", "sizes.csv", "partition.json"))
        else:
            assert told[0] == told[1]
            assert set(told[0]) == {"areas.csv", "areas.geojson", "partition.json"}


def test_outlines_of_squares_are_the_squares_joined_or_not():
    squares = Squares(500, (-1_000, 0, 1_000, 1_900))
    nobody = lived_in([(0, 0)])
    drawn = dict(outlines(gridded(nobody, squares)))
    assert drawn["s0.00"].bounds == (-1_000, 0, -500, 500)
    assert drawn["s0.01"].bounds == (-500, 0, 0, 500)  # east first
    assert drawn["s0.32"].bounds == (0, 1_500, 500, 2_000)
    coarse = dict(outlines(gridded(nobody, squares).coarser()))
    assert coarse["s0.3"].equals(shapely.box(0, 1_000, 1_000, 2_000))
    published = {code: 10.0 if code.startswith("s0.1") else 100.0 for code in drawn}
    joined = merged(nobody, squares, published, 40)
    areas = [area for _, area in outlines(joined)]
    assert len(areas) == len(joined.codes) == 13  # the four of 10 are one area
    assert any(area.equals(shapely.box(0, 0, 1_000, 1_000)) for area in areas)
    assert shapely.coverage_is_valid(areas)
    assert sum(area.area for area in areas) == 2_000**2

"""Areas from published numbers of squares: locations stay hidden, and all that was spent is in one ledger."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.commands import command

import sfumato as sf

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

    by_area = COUNTED.format(name="work", by=["area", "employed"], epsilon="0.5")
    (tmp_path / "work.toml").write_text(TOLD.format(name="work", areas="areas") + by_area)
    assert run(tmp_path, "work", "areas", "work", "--ledger", tmp_path / "l").returncode == 0
    assert "epsilon 1" in command("ledger", "show", tmp_path / "l").stdout
    spent = run(tmp_path, "work", "areas", "again", "--ledger", tmp_path / "l")
    assert spent.returncode == 1  # 0.5 for where people live and 0.5 for their work are all that there was
    areas = sf.open(tmp_path / "work").table("area").axes[0].codes
    assert 1 < len(areas) <= sf.open(tmp_path / "release").total(of="people").value // 100  # each has 100 published

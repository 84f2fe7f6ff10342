"""The gate writes the shapes of a plan into the release; they come from the plan alone and are charged nothing."""

import json
from pathlib import Path

import pytest
from tests.conftest import SMALL, small_rows
from tests.synth.country import write

import sfumato as sf
from sfumato.confidential import Account, Microdata, Options, run
from sfumato.plan import Plan
from sfumato.release import Manifest, digest, open_release, seal, verify
from sfumato.schema import Levels

PLACES = Levels.of(["north", "south", "east"])


@pytest.fixture
def mapped(tmp_path):
    """The small plan with shapes for its places."""
    write(tmp_path / "shapes" / "places.geojson", PLACES)
    geography = '[geography.place]\nfile = "shapes/places.geojson"\nid = "code"\nsource = "made up"\n'
    return Plan.parse(SMALL + geography, tmp_path / "small.toml")


def test_the_release_carries_the_shapes_hashed_and_opens_with_them(make_release, mapped):
    folder = make_release(plan=mapped)
    release = open_release(folder)
    assert set(release.shapes["place"].outlines) == {"north", "south", "east"}
    assert release.shapes["place"].source == "made up"
    line = release.manifest.files["geography/place.json"]
    assert line.sha256 == digest((folder / "geography" / "place.json").read_bytes())
    assert sf.Plan.read(folder / "plan.toml") == mapped


def test_a_changed_byte_a_lost_file_and_another_file_in_its_place_are_found(make_release, mapped):
    folder = make_release(plan=mapped)
    path = folder / "geography" / "place.json"
    written = path.read_bytes()
    for place in range(0, len(written), 199):
        path.write_bytes(written[:place] + bytes([written[place] ^ 1]) + written[place + 1 :])
        assert "was altered" in verify(folder).problems[0]
    path.unlink()
    assert "missing" in verify(folder).problems[0]
    path.write_bytes(written)
    assert verify(folder).intact


def test_the_shapes_do_not_depend_on_the_microdata(mapped, tmp_path):
    kept = []
    for seed in (1, 2):
        rows = Microdata.open(small_rows(500 * seed, seed), mapped.schema)
        run(mapped, rows, None, tmp_path / f"r{seed}", Options(rehearsal=seed))
        kept.append((tmp_path / f"r{seed}" / "geography" / "place.json").read_bytes())
    assert kept[0] == kept[1]


def test_shapes_that_do_not_fit_are_refused_before_anything_is_charged(mapped, tmp_path):
    path = tmp_path / "shapes" / "places.geojson"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["features"].pop()
    path.write_text(json.dumps(content), encoding="utf-8")
    account = Account.create(tmp_path / "jobs.ledger", "jobs", mapped.hidden, sf.Approximate(20))
    before = account.ledger
    with pytest.raises(sf.PlanError, match="east has no shape"):
        run(mapped, Microdata.open(small_rows(), mapped.schema), tmp_path / "jobs.ledger", tmp_path / "out")
    assert Account(tmp_path / "jobs.ledger").ledger == before
    assert not (tmp_path / "out").exists()


def resealed(folder: Path, **update):
    """The release with another manifest that hashes what now lies in the folder: a liar's release."""
    manifest = Manifest.from_bytes((folder / "manifest.json").read_bytes())
    (folder / "manifest.json").unlink()
    seal(folder, manifest.model_copy(update=update))


def test_a_release_whose_shapes_are_of_other_levels_or_hold_markup_is_refused_though_its_hashes_hold(
    make_release, mapped
):
    folder = make_release(plan=mapped)
    path = folder / "geography" / "place.json"
    written = path.read_text(encoding="utf-8")
    for false, said in (
        ('"<b>":'.join(written.rsplit('"north":', 1)), "none of its levels"),
        (written.replace('"attribute":"place"', '"attribute":"trade"'), "it is of 'trade'"),
        (written.replace('Z"', 'Z\\" onload=\\"x"'), "closed rings"),
    ):
        path.write_text(false, encoding="utf-8")
        resealed(folder)
        assert verify(folder).intact
        with pytest.raises(sf.ReleaseError, match=said):
            open_release(folder)
    path.write_text(written, encoding="utf-8")
    resealed(folder)
    assert open_release(folder).shapes

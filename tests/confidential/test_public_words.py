"""Beside the noisy cells a release says the same whatever the data are: no count of rows, no level that was met."""

import json

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.conftest import small_rows

from sfumato.confidential import Microdata, Options, gate, run
from sfumato.release import open_release


def beside_the_cells(folder, of):
    """All that is public of a release but its noisy cells, what follows from them alone, and the time."""
    said = json.loads((folder / of / "manifest.json").read_text("utf-8"))
    files = {name: one for name, one in said.pop("files").items() if not name.startswith("products/")}
    return {key: one for key, one in said.items() if key != "created"}, files


def only_north(rows):
    return rows.filter(pc.equal(rows["place"], "north"))


DATA = {"a row less": small_rows().slice(1), "one row": small_rows(1), "north alone": only_north(small_rows())}


@pytest.fixture
def release(small_plan, tmp_path):
    def made(name: str, rows: pa.Table):
        return run(small_plan, Microdata.open(rows, small_plan.schema), None, tmp_path / name, Options(rehearsal=1))

    made("whole", small_rows())
    return made


@pytest.mark.parametrize("name", DATA)
def test_whatever_the_data_are_the_same_is_said_beside_the_cells(release, tmp_path, name):
    cells = release(name, DATA[name]).products["jobs"].values
    assert beside_the_cells(tmp_path, name) == beside_the_cells(tmp_path, "whole")
    whole = open_release(tmp_path / "whole").products["jobs"].values
    assert cells.shape == whole.shape
    assert (cells != whole).any()


def test_a_count_of_rows_in_the_manifest_would_be_seen(release, tmp_path, monkeypatch):
    sound = gate.stated
    for name, rows in (("counted", small_rows()), ("fewer", DATA["a row less"])):
        words = {"title": f"Jobs of {len(rows):,} rows"}
        monkeypatch.setattr(gate, "stated", lambda *given, said=words: sound(*given).model_copy(update=said))
        release(name, rows)
    assert beside_the_cells(tmp_path, "counted") != beside_the_cells(tmp_path, "fewer")


def test_levels_that_nobody_has_are_published_with_noise_as_others_are(release):
    """The seed is fixed; at epsilon 1 one cell stays 0 with a chance of 0.46."""
    north = release("north alone", DATA["north alone"]).products["jobs"]
    assert list(north.domain.attribute("place").levels.leaves) == ["north", "south", "east"]
    assert (north.values[:, 1:, :] != 0).any()

"""Shapes in a release go into a page, so nothing but numbers in closed rings is ever read."""

import json

import pytest

import sfumato as sf
from sfumato.geography import Shapes
from sfumato.release import Manifest, open_release, verify

SQUARE = "M0 0 20 0 20 10 0 10Z"


def shapes(outline=SQUARE, **more):
    return Shapes("place", 20, 10, {"north": outline}, {"north": (10, 5)}, **more)


def test_shapes_read_back_equal_from_their_bytes():
    whole = shapes(SQUARE + "M2 2 4 2 4 4Z", source="Été <maps>", projection="Albers", notes=("one",))
    assert Shapes.from_bytes(whole.to_bytes()) == whole


@pytest.mark.parametrize(
    "outline",
    [
        "",
        "M0 0 20 0Z",
        "M0 0 20 0 20 10",
        "M0 0 20 0 20 10Z\n",
        "M0 0 20 0 20 10z",
        "M0 0 20 0 20 1e9Z",
        "M0 0 20 0 20 999999Z",
        "M0 0 20 0 20 ١Z",
        'M0 0 20 0 20 10Z" onload="alert(1)',
        "M0 0 20 0 20 10Z<script>alert(1)</script>",
        "M0 0A5 5 0 0 1 3 3 20 10Z",
    ],
)
def test_an_outline_of_anything_but_closed_rings_of_numbers_is_refused(outline):
    with pytest.raises(sf.ReleaseError, match="closed rings"):
        shapes(outline)
    content = json.loads(shapes().to_bytes())
    content["shapes"]["north"]["outline"] = outline
    with pytest.raises(sf.ReleaseError, match="closed rings"):
        Shapes.from_bytes(json.dumps(content).encode())


@pytest.mark.parametrize(
    "change",
    [
        {"width": 0},
        {"width": "20"},
        {"height": 10**9},
        {"format": "sfumato-shapes/2"},
        {"extra": 1},
        {"shapes": {"north": {"outline": SQUARE}}},
        {"shapes": {"north": {"outline": SQUARE, "place": [1, -2]}}},
        {"shapes": {"north": {"outline": SQUARE, "place": [1, 2, 3]}}},
        {"notes": "one"},
    ],
)
def test_a_file_of_another_form_is_refused(change):
    content = json.loads(shapes().to_bytes()) | change
    with pytest.raises(sf.ReleaseError, match="cannot be read"):
        Shapes.from_bytes(json.dumps(content).encode())


@pytest.mark.parametrize("written", [b"", b"[]", b"{", b"[" * 100_000, b"\xff"])
def test_bytes_that_are_no_such_file_are_refused(written):
    with pytest.raises(sf.ReleaseError, match="cannot be read"):
        Shapes.from_bytes(written)


def test_a_release_without_shapes_says_nothing_of_them_and_older_manifests_still_verify(make_release):
    folder = make_release()
    written = (folder / "manifest.json").read_bytes()
    assert b"geographies" not in written
    assert verify(folder).intact
    assert open_release(folder).shapes == {}
    assert Manifest.from_bytes(written).to_bytes() == written

"""The same marks as Vega-Lite, checked by its own schema, and in pixels, checked by a decoder."""

import json
import re
import struct
import sys
import zlib
from pathlib import Path

import pytest
from tests.pictures.conftest import mark

from sfumato.errors import QueryError
from sfumato.pictures import KINDS, Caption, budget
from sfumato.pictures import png as png_module
from sfumato.pictures.rows import dots
from sfumato.pictures.vega import vega_lite


@pytest.fixture(scope="module")
def valid():
    """The validator of the Vega-Lite schema that altair ships."""
    altair = pytest.importorskip("altair")
    from jsonschema import Draft7Validator

    schema = Path(altair.__file__).parent / "vegalite" / "v6" / "schema" / "vega-lite-schema.json"
    return Draft7Validator(json.loads(schema.read_text(encoding="utf-8"))).is_valid


def marks(series: int = 1):
    names = [f"s{place}" if series > 1 else "" for place in range(series)]
    found = [
        mark(f"row {row}", 10.0 * row, 5.0, "B", noise_share=0.4, series=name, code=f"{row}", carried={"moe90": 5.0})
        for row in range(4)
        for name in names
    ]
    return [*found, mark("row 4", 3, None, "-", series=names[0], withheld="why", carried={"cv": float("inf")})]


@pytest.mark.parametrize("series", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_the_specification_is_vega_lite_and_fetches_nothing(kind, series, valid):
    picture = KINDS[kind](marks(series), Caption("Jobs", "jobs", banner="NO: not yet", source="here"))
    spec = json.loads(picture.to_vega())
    assert valid(spec)
    assert "url" not in json.dumps(spec["data"])
    assert not re.search(r"https?:", json.dumps({key: value for key, value in spec.items() if key != "$schema"}))
    assert spec["title"]["subtitle"] == ["NO: not yet", "here"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_schema_would_notice_a_specification_that_is_not_one(kind, valid):
    spec = vega_lite(marks(), Caption("Jobs"), kind)
    assert not valid(spec | {"layer": [{"mark": "no such mark"}]})


def test_every_mark_is_in_the_data_with_its_errors():
    values = vega_lite(marks(), Caption("Jobs"), "dot")["data"]["values"]
    assert len(values) == 5
    first = values[1]
    assert (first["value"], first["low"], first["high"], first["moe90"], first["grade"]) == (10, 5, 15, 5, "B")
    assert (first["noise_low"], first["noise_high"]) == (8, 12)
    last = values[-1]
    assert (last["low"], last["high"], last["cv"], last["withheld"]) == (None, None, None, "why")


@pytest.mark.parametrize(("kind", "axis"), [("dot", "y"), ("bar", "y"), ("line", "x")])
def test_rows_keep_their_order_though_layers_leave_marks_out(kind, axis):
    some = [mark("b", 1, None, "-"), mark("a", 2, 1), mark("c", 3, None, "-")]
    assert vega_lite(some, Caption("Jobs"), kind)["encoding"][axis]["sort"] == ["b", "a", "c"]


def test_what_a_mark_carries_never_replaces_what_is_drawn():
    (value,) = vega_lite([mark("a", 5, 1, carried={"value": 6, "label": "b"})], Caption("Jobs"), "dot")["data"][
        "values"
    ]
    assert (value["value"], value["value_"], value["label"], value["label_"]) == (5, 6, "a", "b")


def test_a_picture_without_marks_has_no_specification():
    with pytest.raises(QueryError, match="no Vega-Lite form"):
        budget([], 1.0, Caption("Spent")).to_vega()


def pixels(content: bytes) -> tuple[int, int, bytes]:
    """Width, height and the raw scan lines of a PNG."""
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, size = 8, b"", (0, 0)
    while at < len(content):
        (length,) = struct.unpack(">I", content[at : at + 4])
        kind, body = content[at + 4 : at + 8], content[at + 8 : at + 8 + length]
        size = struct.unpack(">II", body[:8]) if kind == b"IHDR" else size
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    return *size, zlib.decompress(packed)


def test_a_png_has_the_size_of_the_drawing_and_letters_in_it(caption):
    with_words, without = (dots([mark(label, 5, 1)], caption) for label in ("Nurses", " "))
    width, height, lines = pixels(with_words.to_png(zoom=1))
    assert (width, height) == (720, round(float(re.search(r'height="([\d.]+)"', with_words.svg)[1])))
    assert lines != pixels(without.to_png(zoom=1))[2]
    assert pixels(with_words.to_png())[0] == 1440


def test_letters_are_drawn_without_a_font_of_the_machine():
    blank = '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="30">{}</svg>'
    nothing = pixels(png_module.png(blank.format("")))[2]
    for letters in ("A", "±", "−", "é", "Ω", "Ж", "…", "–", "“"):
        word = f'<text x="5" y="20" font-family="system-ui, sans-serif">{letters}</text>'
        assert pixels(png_module.png(blank.format(word)))[2] != nothing, letters


@pytest.mark.parametrize("missing", ["resvg_py", "font_source_sans_pro"])
def test_without_its_packages_a_png_is_refused_in_words(missing, monkeypatch):
    png_module._fonts.cache_clear()
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(QueryError, match=f"{missing.replace('_', '-')}.*SVG instead"):
        png_module.png('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>')
    png_module._fonts.cache_clear()

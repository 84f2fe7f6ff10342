"""The map as Vega-Lite: outlines and numbers inside the specification, every error with its number, nothing fetched."""

from dataclasses import replace

from sfumato.pictures.classes import SHADES as PLACES
from sfumato.pictures.ground import rings_of
from sfumato.pictures.look import MUTE
from sfumato.pictures.map_look import SHADES
from sfumato.pictures.map_sheet import MapSheet
from sfumato.pictures.vega import Spec, sheet_of, values_of

_BROKEN = {"condition": {"test": "datum.properties.grade === 'C'", "value": [3, 2]}, "value": [1, 0]}
_TOOLTIP = [{"field": f"properties.{name}", "title": name} for name in ("label", "value", "low", "high", "grade")]
_PLACES = {
    axis: {"field": f"properties.{name}", "type": "quantitative"}
    for axis, name in (("longitude", "x"), ("latitude", "y"))
}


def map_vega(sheet: MapSheet, source: str) -> Spec:
    """The same areas, classes and dots; grade C has a broken line round it."""
    shapes = sheet.ground.shapes
    ground: Spec = {"mark": {"type": "geoshape", "fill": "#f3ede3", "stroke": MUTE}}
    return sheet_of(replace(sheet.caption, source=source)) | {
        "width": 640,
        "height": round(640 * shapes.height / shapes.width),
        "projection": {"type": "identity"},
        "data": {"values": _features(sheet)},
        "layer": [ground, _circles(sheet) if sheet.style.kind == "dots" else _shades(sheet)],
    }


def _features(sheet: MapSheet) -> list[Spec]:
    values = {str(value["code"]): value for value in values_of(sheet.marks)}
    values |= {code: {"code": code, "label": said, "value": None} for code, said in sheet.missing.items()}
    values |= {code: {"code": code, "label": label, "value": None} for code, label in sheet.blank.items()}
    return [_feature(sheet, code, value) for code, value in values.items()]


def _feature(sheet: MapSheet, code: str, value: Spec) -> Spec:
    shapes = sheet.ground.shapes
    rings = [[[x, y] for x, y in (*ring, ring[0])] for ring in rings_of(shapes.outlines[code])]
    x, y = shapes.places[code]
    geometry = {"type": "Polygon", "coordinates": rings}
    return {"type": "Feature", "geometry": geometry, "properties": {**value, "x": x, "y": y}}


def _shades(sheet: MapSheet) -> Spec:
    ends = sheet.classes.ends
    colours = [SHADES[shade - 1] for shade in PLACES[len(ends)]]
    scale = {"type": "threshold", "domain": [low for low, _ in ends[1:]], "range": colours}
    return _by_value(sheet, {"type": "geoshape", "stroke": MUTE}, "color", scale)


def _circles(sheet: MapSheet) -> Spec:
    mark = {"type": "circle", "fill": SHADES[3], "stroke": SHADES[4], "opacity": 0.85}
    drawn = _by_value(sheet, mark, "size", {"rangeMin": 0, "rangeMax": 1200})
    return drawn | {"encoding": _PLACES | drawn["encoding"]}


def _by_value(sheet: MapSheet, mark: Spec, channel: str, scale: Spec) -> Spec:
    """A layer of the areas that have a number, told by its colour or its size; grade C has a broken line."""
    value = {"field": "properties.value", "type": "quantitative", "title": sheet.caption.axis or None, "scale": scale}
    return {
        "transform": [{"filter": "isValid(datum.properties.value)"}],
        "mark": mark,
        "encoding": {channel: value, "strokeDash": _BROKEN, "tooltip": _TOOLTIP},
    }

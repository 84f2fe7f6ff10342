"""The map as Vega-Lite: outlines and numbers inside the specification, every error with its number, nothing fetched."""

from typing import Any

from sfumato.pictures.classes import SHADES as PLACES
from sfumato.pictures.classes import classes_of
from sfumato.pictures.ground import rings_of
from sfumato.pictures.look import CARD, MUTE
from sfumato.pictures.map_look import SHADES
from sfumato.pictures.map_sheet import MapSheet
from sfumato.pictures.vega import SCHEMA, values_of

Spec = dict[str, Any]


def map_vega(sheet: MapSheet, source: str) -> Spec:
    """The same areas, classes and dots; grade C has a broken line round it."""
    shapes, caption = sheet.ground.shapes, sheet.caption
    notes = [note for note in (caption.banner, source) if note]
    high = round(640 * shapes.height / shapes.width)
    ground: Spec = {"mark": {"type": "geoshape", "fill": "#f3ede3", "stroke": MUTE}}
    return {
        "$schema": SCHEMA,
        "title": {"text": caption.title, "anchor": "start", **({"subtitle": notes} if notes else {})},
        "usermeta": {"banner": caption.banner, "source": source},
        "background": CARD,
        "width": 640,
        "height": high,
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
    classes = classes_of(sheet.numbers, sheet.style.classes)
    colours = [SHADES[shade - 1] for shade in PLACES[len(classes.ends)]]
    scale = {"type": "threshold", "domain": [low for low, _ in classes.ends[1:]], "range": colours}
    broken = {"condition": {"test": "datum.properties.grade === 'C'", "value": [3, 2]}, "value": [1, 0]}
    return {
        "transform": [{"filter": "isValid(datum.properties.value)"}],
        "mark": {"type": "geoshape", "stroke": MUTE},
        "encoding": {"color": _by_value(sheet, scale=scale), "strokeDash": broken, "tooltip": _tooltip()},
    }


def _circles(sheet: MapSheet) -> Spec:
    places = {axis: {"field": f"properties.{name}", "type": "quantitative"} for axis, name in _AXES.items()}
    broken = {"condition": {"test": "datum.properties.grade === 'C'", "value": [3, 2]}, "value": [1, 0]}
    sized = _by_value(sheet, scale={"rangeMin": 0, "rangeMax": 1200})
    return {
        "transform": [{"filter": "isValid(datum.properties.value)"}],
        "mark": {"type": "circle", "fill": SHADES[3], "stroke": SHADES[4], "opacity": 0.85},
        "encoding": {**places, "size": sized, "strokeDash": broken, "tooltip": _tooltip()},
    }


_AXES = {"longitude": "x", "latitude": "y"}


def _by_value(sheet: MapSheet, **more: Any) -> Spec:
    return {"field": "properties.value", "type": "quantitative", "title": sheet.caption.axis or None, **more}


def _tooltip() -> list[Spec]:
    return [{"field": f"properties.{name}", "title": name} for name in ("label", "value", "low", "high", "grade")]

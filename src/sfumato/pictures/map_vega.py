"""The map as Vega-Lite: outlines and numbers inside the specification, every error with its number, nothing fetched."""

from dataclasses import replace

from sfumato.pictures.classes import SHADES as PLACES
from sfumato.pictures.ground import rings_of
from sfumato.pictures.look import SHADES
from sfumato.pictures.map_sheet import MapSheet
from sfumato.pictures.vega import Spec, spec_of, values_of


def map_vega(sheet: MapSheet, source: str) -> Spec:
    """The same areas, classes and dots; grade C has a broken line round it."""
    shapes, ends = sheet.ground.shapes, sheet.classes.ends
    colours = [SHADES[shade - 1] for shade in PLACES[len(ends)]]
    shaded = {"type": "threshold", "domain": [low for low, _ in ends[1:]], "range": colours}
    told = {
        "$height": round(640 * shapes.height / shapes.width),
        "$values": _features(sheet),
        "$axis": sheet.caption.axis or None,
        "$scale": {"rangeMin": 0, "rangeMax": 1200} if sheet.style.kind == "dots" else shaded,
    }
    return spec_of(sheet.style.kind, replace(sheet.caption, source=source), told)


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

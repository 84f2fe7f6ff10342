"""The map as Vega-Lite: outlines and numbers inside the specification, every error with its number, nothing fetched."""

from dataclasses import replace

from sfumato.pictures.classes import SHADES as PLACES
from sfumato.pictures.ground import rings_of
from sfumato.pictures.look import SHADES
from sfumato.pictures.map_sheet import MapSheet
from sfumato.pictures.vega import Spec, spec_of, values_of


def map_vega(sheet: MapSheet, source: str) -> Spec:
    """The same areas, classes and dots; grade C has a broken line round it, what is in no class has no shade."""
    shapes, classes = sheet.ground.shapes, sheet.classes
    colours = [SHADES[shade - 1] for shade in PLACES[len(classes)]]
    shaded = {"type": "threshold", "domain": list(classes.borders), "range": colours}
    told = {
        "$height": round(640 * shapes.height / shapes.width),
        "$values": _features(sheet),
        "$axis": sheet.caption.axis or None,
        "$scale": {"rangeMin": 0, "rangeMax": 1200} if sheet.style.kind == "dots" else shaded,
    }
    return spec_of(sheet.style.kind, replace(sheet.caption, source=source), told)


def _features(sheet: MapSheet) -> list[Spec]:
    placed = [sheet.style.kind == "dots" or sheet.shade(mark) is not None for mark in sheet.marks]
    pairs = zip(values_of(sheet.marks), placed, strict=True)
    values = {str(value["code"]): value | {"shaded": one} for value, one in pairs}
    values |= {
        code: {"code": code, "label": said, "value": None, "shaded": False} for code, said in sheet.missing.items()
    }
    values |= {
        code: {"code": code, "label": label, "value": None, "shaded": False} for code, label in sheet.blank.items()
    }
    return [_feature(sheet, code, value) for code, value in values.items()]


def _feature(sheet: MapSheet, code: str, value: Spec) -> Spec:
    shapes = sheet.ground.shapes
    rings = [[[x, y] for x, y in (*ring, ring[0])] for ring in rings_of(shapes.outlines[code])]
    x, y = shapes.places[code]
    geometry = {"type": "Polygon", "coordinates": rings}
    return {"type": "Feature", "geometry": geometry, "properties": {**value, "x": x, "y": y}}

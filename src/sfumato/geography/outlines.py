"""Outlines: the areas in a GeoJSON file, a TopoJSON file or a shapefile, with their properties."""

import json
import struct
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from shapely.geometry import shape

from sfumato.errors import PlanError

MOST_BYTES = 64_000_000
MOST_SHAPES = 20_000
MOST_POINTS = 3_000_000
"""More than the counties of the United States at 1:500,000, which are 17 MB, 3,233 shapes and 1 million points."""


@dataclass(frozen=True)
class Outline:
    """One shape: its properties, its own id among them, and its area, none where the file has none."""

    properties: Mapping[str, Any]
    area: Any


@dataclass(frozen=True)
class Outlines:
    """The shapes of a file, and whether their coordinates lie in a plane already; None where the file is silent."""

    name: str
    shapes: tuple[Outline, ...]
    planar: bool | None
    crs: str = ""
    """The plane that their coordinates lie in, where the file names one."""


def read(path: Path) -> Outlines:
    """The outlines in a file, checked: areas only, finite, and no more of them than can be drawn."""
    if not path.is_file():
        raise PlanError(f"{path} is not there; give the path of a file, in a plan from the plan's own folder.")
    beside = [one for one in (path, path.with_suffix(".dbf")) if one.is_file()]
    if sum(one.stat().st_size for one in beside) > MOST_BYTES:
        raise PlanError(f"{path.name} is over {MOST_BYTES // 10**6} MB; take a generalised (cartographic) edition.")
    if path.suffix.lower() in {".json", ".geojson", ".topojson"}:
        features, crs = _json_features(path)
    elif path.suffix.lower() == ".shp":
        features, crs = _shapefile_features(path)
    else:
        raise PlanError(f"{path.name} is of no kind that is read; give a .geojson, .topojson, .json or .shp file.")
    planar = _planar(crs) if crs else None
    return Outlines(path.name, tuple(_checked(features, path.name)), planar, crs if planar else "")


def joined(areas: Sequence[Any]) -> Any:
    """Several areas as one."""
    return areas[0] if len(areas) == 1 else shapely.union_all(list(areas))


class NoAreaError(ValueError):
    """Why a shape is no area, in our own words."""


_WANTED = (
    "its coordinates are not as in GeoJSON, where a Polygon is a list of rings, a ring a list of four or more points, "
    "the first of them again at its end, and a point two numbers, the longitude first"
)
_UNREADABLE = (
    *(ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError),
    shapely.errors.ShapelyError,
)
RING = 4
"""The fewest points of a ring, the first of them again at its end."""
Feature = tuple[dict[str, Any], Mapping[str, Any] | None]
"""The properties of a shape and its geometry as GeoJSON writes it."""


def _checked(features: Iterator[Feature], name: str) -> Iterator[Outline]:
    points, number = 0, 0
    try:
        for properties, geometry in features:
            area = _area(geometry) if geometry else None
            number += 1
            points += 0 if area is None else shapely.get_num_coordinates(area)
            if number > MOST_SHAPES or points > MOST_POINTS:
                most = f"{MOST_SHAPES:,} shapes or {MOST_POINTS:,} points"
                raise PlanError(f"{name} has more than {most}; take a generalised (cartographic) edition.")
            yield Outline(properties, area)
    except _UNREADABLE as error:
        why = str(error) if isinstance(error, NoAreaError) else _WANTED
        raise PlanError(f"{name}: shape {number + 1} cannot be read as an area: {why}.") from None
    if not number:
        raise PlanError(f"{name} holds no shapes; give a file of areas.")


def _said(error: Exception) -> str:
    return " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__


def _area(geometry: Mapping[str, Any]) -> Any:
    """The polygons of a geometry, in two dimensions, mended where they cross themselves."""
    kind = geometry["type"]
    if kind == "GeometryCollection":
        return joined([_area(one) for one in geometry["geometries"]])
    if kind not in {"Polygon", "MultiPolygon"}:
        raise NoAreaError(f"it is a {kind}, and a map needs Polygon or MultiPolygon")
    area = shapely.force_2d(shape(geometry))
    if area.is_empty or not np.isfinite(shapely.get_coordinates(area)).all():
        raise NoAreaError("its coordinates are empty or no finite numbers")
    return area if area.is_valid else polygons(shapely.make_valid(area))


def polygons(geometry: Any) -> Any:
    """What of a geometry has an area."""
    parts = [part for part in shapely.get_parts(geometry, return_index=False) if part.area > 0]
    flat = [part for one in parts for part in shapely.get_parts(one)]
    return shapely.MultiPolygon([one for one in flat if one.geom_type == "Polygon"])


def _json_features(path: Path) -> tuple[Iterator[Feature], str]:
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise PlanError(f"{path.name} is not JSON; a map needs GeoJSON or TopoJSON.") from None
    kind = content.get("type") if isinstance(content, dict) else None
    if kind == "Topology":
        return _topology_features(content), ""
    if kind == "FeatureCollection" and not _are_objects(content.get("features")):
        raise PlanError(f"{path.name} is a FeatureCollection without a list of features, which are objects; give one.")
    if kind in {"FeatureCollection", "Feature"}:
        return _geojson_features(content), _stated_crs(content)
    if kind in {"Polygon", "MultiPolygon", "GeometryCollection"}:  # an area alone, as programs that draw give it
        return iter([({}, content)]), _stated_crs(content)
    named = f"of type '{kind}'" if kind else "without a type"
    raise PlanError(
        f"{path.name} is JSON {named}; areas are a FeatureCollection, a Feature, a Polygon or a MultiPolygon "
        "of GeoJSON, or a Topology."
    )


def _are_objects(features: object) -> bool:
    return isinstance(features, list) and all(isinstance(one, dict) for one in features)


def _geojson_features(content: Mapping[str, Any]) -> Iterator[Feature]:
    for feature in content["features"] if content["type"] == "FeatureCollection" else [content]:
        own = {"id": feature["id"]} if "id" in feature else {}
        yield own | dict(feature.get("properties") or {}), feature.get("geometry")


def _stated_crs(content: Mapping[str, Any]) -> str:
    """What the member `crs` says, which older GeoJSON files have, and those of `sfumato partition`."""
    try:
        return str(content["crs"]["properties"]["name"])
    except (KeyError, TypeError):
        return ""


def _planar(words: str) -> bool | None:
    """Whether coordinates lie in a plane by what a file says of them; None where that means nothing."""
    import pyproj

    try:
        return bool(pyproj.CRS.from_user_input(words).is_projected)
    except pyproj.exceptions.CRSError:
        return None


def _topology_features(content: Mapping[str, Any]) -> Iterator[Feature]:
    """The shapes of every object of a topology: https://github.com/topojson/topojson-specification."""
    arcs = [_arc(arc, content.get("transform")) for arc in content["arcs"]]
    for one in content["objects"].values():
        for geometry in one["geometries"] if one["type"] == "GeometryCollection" else [one]:
            own = {"id": geometry["id"]} if "id" in geometry else {}
            yield own | dict(geometry.get("properties") or {}), _untied(geometry, arcs)


def _arc(arc: Sequence[Sequence[float]], transform: Mapping[str, Any] | None) -> list[list[float]]:
    """The points of an arc; a quantised one holds steps from point to point on a grid."""
    points = np.asarray([point[:2] for point in arc], dtype=float)
    if transform:
        points = points.cumsum(axis=0) * np.asarray(transform["scale"]) + np.asarray(transform["translate"])
    listed: list[list[float]] = points.tolist()
    return listed


def _untied(geometry: Mapping[str, Any], arcs: Sequence[list[list[float]]]) -> dict[str, Any] | None:
    """A geometry with its arcs written out as coordinates."""
    kind = geometry["type"]
    if kind is None:
        return None
    if kind == "GeometryCollection":
        return {"type": kind, "geometries": [_untied(one, arcs) for one in geometry["geometries"]]}
    if kind == "Polygon":
        return {"type": kind, "coordinates": _wide([_ring(ring, arcs) for ring in geometry["arcs"]])}
    if kind == "MultiPolygon":
        parts = [[_ring(ring, arcs) for ring in polygon] for polygon in geometry["arcs"]]
        return {"type": kind, "coordinates": [_wide(part) for part in parts if len(part[0]) >= RING] or parts}
    return {"type": kind}


def _wide(polygon: list[list[list[float]]]) -> list[list[list[float]]]:
    """The rings of a polygon, without holes that a coarse grid has shrunk to less than a ring; so do such islets go."""
    return [*polygon[:1], *(ring for ring in polygon[1:] if len(ring) >= RING)]


def _ring(numbers: Sequence[int], arcs: Sequence[list[list[float]]]) -> list[list[float]]:
    """Arcs end to end, each beginning where the last one ended; the number ~i is arc i backwards."""
    points: list[list[float]] = []
    for number in numbers:
        arc = arcs[number] if number >= 0 else arcs[~number][::-1]
        points += arc[1:] if points else arc
    return points


def _shapefile_features(path: Path) -> tuple[Iterator[Feature], str]:
    import shapefile

    if not path.with_suffix(".dbf").is_file():
        raise PlanError(f"{path.name} has no {path.with_suffix('.dbf').name} beside it, which holds its properties.")
    projected = path.with_suffix(".prj")
    crs = projected.read_text(encoding="utf-8", errors="replace") if projected.is_file() else ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # rings wound the wrong way are mended, not reported
            with shapefile.Reader(str(path), encodingErrors="replace") as file:
                read = [(one.record.as_dict(), one.shape) for one in file.iterShapeRecords()]
                records = [(told, drawn.__geo_interface__ if drawn.shapeType else None) for told, drawn in read]
    except (shapefile.ShapefileException, OSError, ValueError, LookupError, TypeError, struct.error) as error:
        raise PlanError(f"{path.name} cannot be read as a shapefile: {_said(error)}.") from None
    return iter(records), crs

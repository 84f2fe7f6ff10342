"""The files of a partition: who is in which area, the list of areas, their sizes and outlines, and what was done.

Of areas that follow from a ground, where units are is hidden: all files but that of members are the same whoever is
where, and there is none of sizes.
"""

import csv
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import PlanError
from sfumato.geography.locations import from_origin
from sfumato.geography.made import MADE, REPORT
from sfumato.geography.partition import Partition

MOST_OUTLINES = 20_000
"""More shapes than that are no map."""
MEMBERS, AREAS, SIZES, OUTLINES = "members.parquet", "areas.csv", "sizes.csv", "areas.geojson"


def write_partition(
    partition: Partition, folder: Path, done: dict[str, Any], origin: tuple[float, float] | None = None
) -> dict[str, Any]:
    """What was done, by which method and with figures, as `partition.json` has it; other files stand beside it.

    Outlines are in metres; with the origin of these, in degrees, they say where on earth they lie.
    """
    if folder.exists() and any(folder.iterdir()):
        raise PlanError(f"{folder} holds something already; give a new folder.")
    folder.mkdir(parents=True, exist_ok=True)
    area = pa.DictionaryArray.from_arrays(pa.array(partition.area), pa.array(partition.codes, pa.string()))
    _write_members(pa.table({partition.locations.id: partition.locations.ids, "area": area}), folder / MEMBERS)
    write_areas(partition, folder / AREAS, done["method"])
    if partition.ground is None:
        _rows(folder / SIZES, ("area", "value"), zip(partition.codes, partition.sizes.tolist(), strict=True))
    told = done | figures(partition)
    drawn = partition
    while len(drawn.codes) > MOST_OUTLINES:
        drawn = drawn.coarser()
    if drawn is not partition:
        told["notes"] += [f"{len(partition.codes):,} areas are more than a map shows; those above them have outlines."]
    write_outlines(drawn, folder / OUTLINES, done["method"], origin)
    (folder / REPORT).write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return told


def _write_members(members: pa.Table, path: Path) -> None:
    """Who is in which area, readable by the owner alone from its first byte on: it stays inside."""
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        pq.write_table(members, file)


def figures(partition: Partition) -> dict[str, Any]:
    """What may be known of a partition: all that locations tell where they are public, and else nothing of them."""
    areas, notes = len(partition.codes), list(partition.notes)
    if partition.ground is not None:
        return {"areas": areas, "notes": notes}
    sizes = partition.sizes
    return {
        "units": len(partition.locations),
        "areas": areas,
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "metres_from_the_middle": round(float(np.sqrt(partition.spread / len(partition.locations))), 1),
        "notes": notes,
    }


def write_areas(partition: Partition, path: Path, made: str) -> None:
    """The list of areas as attributes read it, each with how it was made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = ((*asdict(level).values(), made) for level in partition.levels)
    _rows(path, ("code", "label", "parent", "note", MADE), rows)


def write_outlines(partition: Partition, path: Path, made: str, origin: tuple[float, float] | None = None) -> None:
    """The outlines as GeoJSON, in metres from the origin, which the member `crs` states where it is known."""
    from sfumato.geography.cluster_outlines import features, outlines

    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in features(outlines(partition), made))
    crs = {"type": "name", "properties": {"name": from_origin(origin)}} if origin else None
    stated = f'"crs":{json.dumps(crs)},' if crs else ""
    path.write_text(f'{{"type":"FeatureCollection",{stated}"features":[\n{lines}\n]}}\n', encoding="utf-8")


def _rows(path: Path, names: tuple[str, ...], rows: Any) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)

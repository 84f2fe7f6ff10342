"""The command `partition`: areas made from public locations, or from published numbers of squares."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.options import Json
from sfumato.cli.output import note, say, say_json
from sfumato.errors import PlanError, QueryError, how_many

BASE, A_LOCATION = 180_000_000, 245
"""Bytes of the program and what it loads, and of every location at the most: 9.8 GB for 40 million."""

if TYPE_CHECKING:
    from sfumato.geography.locations import Locations
    from sfumato.geography.partition import Partition
    from sfumato.schema.memory import Memory

CLUSTERS = """
The areas follow from locations, so these must be public, and with them the size of every area. In a plan:

[data.tables]
people = {{}}
members = {{ on = "{id}" }}               # --data members={out}/members.parquet

[attributes.area]
levels = "{out}/areas.csv"

[geography.area]
file = "{out}/areas.geojson"
id = "code"
projection = "planar"
partial = true

[hidden]
neighbours = "replace-one"
unit = "person"
fixed = ["area"]

[[exposure]]
kind = "assumed known"
what = "area: where everybody lives, and so how many people each area has"
why = "say here why addresses are no secret"
"""
HIDDEN = """
The areas follow from a declared box{published}, so that locations stay hidden. A plan is by "area" of
members.parquet, with neighbours = "add-remove"; it is charged to the ledger{same}.
"""


def partition(  # noqa: PLR0913, PLR0917 - one argument an option
    locations: Annotated[Path, typer.Argument(metavar="LOCATIONS", help="One row a unit: Parquet or CSV.")],
    out: Annotated[Path, typer.Option(help="The folder of the areas; it must be empty or not be there yet.")],
    k: Annotated[int, typer.Option(help="The fewest units of an area; of clusters 2k - 1 are the most.")] = 50,
    unit: Annotated[str, typer.Option("--id", metavar="COLUMN", help="The column that names the unit.")] = "person_id",
    at: Annotated[str, typer.Option(metavar="X,Y", help="The columns of metres, or of latitude and longitude.")] = (
        "east,north"
    ),
    origin: Annotated[
        str, typer.Option(metavar="LAT,LON", help="Coordinates are degrees; metres are taken from here: 52,10.")
    ] = "",
    within: Annotated[
        str, typer.Option(metavar="COLUMNS", help="Areas that no cluster crosses, the finest first: postal_code,city.")
    ] = "",
    squares: Annotated[int | None, typer.Option(metavar="METRES", help="Squares of this side instead.")] = None,
    box: Annotated[str, typer.Option(metavar="W,S,E,N", help="The box of the squares, in metres.")] = "",
    published: Annotated[
        Path | None,
        typer.Option("--from", metavar="DIR", help="A release of the squares: they are joined to k by its numbers."),
    ] = None,
    json: Json = False,
) -> None:
    """Make areas of at least k people from where they live, with their list, sizes and outlines for a plan."""
    from sfumato.geography.locations import Located, read_locations
    from sfumato.geography.partition_files import write_partition

    columns = Located(unit, _pair(at), tuple(one.strip() for one in within.split(",") if one.strip()))
    asked = {"method": _method(squares, published), "k": k, "origin": origin or "that of the file", "within": within}
    if k < 1:
        raise PlanError(f"--k {k} is no number of people that an area has at least; for example --k 50.")
    if squares is None and (box or published):
        raise PlanError("--box and --from are of squares; say how long their side is, --squares 250.")
    if (memory := _memory(locations)) is not None:
        memory.refuse_over()
        note(f"To partition: {memory.words()}.")
    read = read_locations(locations, columns, _degrees(origin))
    made = _made(read, k, squares, box, published)
    done = asked | ({"squares": squares, "box": box} if squares else {})
    told = write_partition(made, out, done, _degrees(origin))
    if json:
        say_json(told)
        return
    say(_told(told, out))
    for words in told["notes"]:
        say(words)
    note((CLUSTERS if squares is None else HIDDEN).format(id=unit, out=out, **_words(published)))


def within(
    areas: Annotated[Path, typer.Argument(metavar="AREAS", help="The outlines of a release's areas: areas.geojson.")],
    own: Annotated[Path, typer.Argument(metavar="OWN", help="Your own area: GeoJSON, TopoJSON or a shapefile.")],
    out: Annotated[Path, typer.Option(help="The CSV file of groups that `sfumato table --groups` reads.")],
    attribute: Annotated[str, typer.Option(help="The attribute whose levels the areas are.")] = "area",
    code: Annotated[str, typer.Option(help="The property of an outline that holds its code.")] = "code",
    origin: Annotated[
        str, typer.Option(metavar="LAT,LON", help="Your area is in degrees, and the areas in metres from here: 52,10.")
    ] = "",
) -> None:
    """Find the areas inside one that you have drawn, and those that its border cuts, as groups for a table."""
    import csv

    from sfumato.geography.own_area import drawn_area
    from sfumato.geography.parting import CUT, INSIDE

    found = drawn_area(areas, own, code, _degrees(origin))
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("group", "attribute", "code"))
        writer.writerows((INSIDE, attribute, one) for one in found.inside)
        writer.writerows((CUT, attribute, one) for one in found.cut)
    inside, cut = how_many(len(found.inside), "area", "lies", "lie"), f"{len(found.cut):,}" if found.cut else "none"
    say(f"{inside} inside, and the border cuts {cut}; the groups are in {out}.")
    note(f"`sfumato table RELEASE --rows {attribute} --groups {out}` has the number of each with its error.")


def _memory(locations: Path) -> "Memory | None":
    """What it will take, where the file says how many rows it has."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from sfumato.schema.memory import Memory

    try:
        rows = pq.read_metadata(locations).num_rows
    except (OSError, pa.ArrowInvalid):
        return None  # a text file, or none: reading it says which
    held = how_many(rows, "location")
    return Memory(held, BASE + rows * A_LOCATION, instead="partition one region after the other, or use a larger one.")


def _words(published: Path | None) -> dict[str, str]:
    return {
        "published": " and from published numbers" if published else "",
        "same": " that the release of the squares was charged to" if published else "",
    }


def _method(squares: int | None, published: Path | None) -> str:
    from sfumato.geography.made import FROM_LOCATIONS, JOINED_SQUARES, SQUARES

    if squares is None:
        return FROM_LOCATIONS
    return JOINED_SQUARES if published else SQUARES


def _told(told: dict[str, Any], out: Path) -> str:
    if "units" not in told:
        return (
            f"{how_many(told['areas'], 'area')} in {out}; how many people each has is hidden, and in no file of areas."
        )
    return (
        f"{how_many(told['areas'], 'area')} of {told['smallest']:,} to {told['largest']:,} people in {out}, "
        f"{told['metres_from_the_middle']:g} metres from the middle of their area on the average (root of the squares)."
    )


def _made(read: "Locations", k: int, squares: int | None, box: str, published: Path | None) -> "Partition":
    from sfumato.geography.partition import microaggregated
    from sfumato.geography.squares import Squares, gridded, merged

    if squares is None:
        return microaggregated(read, k)
    grid = Squares(squares, _box(box))
    return merged(read, grid, _numbers(published, grid), k) if published else gridded(read, grid)


def _numbers(release: Path, grid: Any) -> dict[str, float]:
    """What a release says of the smallest squares."""
    import sfumato
    from sfumato.schema.table import LARGEST

    engine, first = sfumato.open(release), grid.levels()[0].code
    if not engine.release.manifest.releasable:
        raise QueryError(f"{release} is not releasable, and areas that follow from it would tell what it may not.")
    by = [one.name for one in engine.release.attributes if first in one.levels.codes]
    if not by:
        raise QueryError(f"{release} has no attribute of squares; run a plan by the squares of the same side and box.")
    table = engine.table(by[0], at={by[0]: "leaves"}, at_most=LARGEST)
    return dict(zip(table.axes[0].codes, map(float, table.columns().estimate), strict=True))


def _pair(written: str) -> tuple[str, str]:
    first, comma, second = (one.strip() for one in written.partition(","))
    if not (first and comma and second):
        raise PlanError(f"--at {written} is not two columns; for example --at east,north.")
    return first, second


def _degrees(written: str) -> tuple[float, float] | None:
    if not written:
        return None
    try:
        north, east = (float(one) for one in written.split(","))
    except ValueError:
        raise PlanError(f"--origin {written} is no latitude and longitude; for example --origin 52,10.") from None
    return north, east


def _box(written: str) -> tuple[int, int, int, int]:
    try:
        west, south, east, north = (int(one) for one in written.split(","))
    except ValueError:
        raise PlanError(f"--box {written or 'is missing'}; give west,south,east,north in whole metres.") from None
    return west, south, east, north

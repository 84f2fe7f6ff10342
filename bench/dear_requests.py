"""Dear requests: of every endpoint those that ask for most work, and those that once took a server down.

The first are answered; they keep to what addresses and bodies may hold. The second are refused, or cost little now.
"""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlencode

JSON, FORM = "application/json", "text/plain"
DATA = "/api/v2/tables/{}/data"


@dataclass(frozen=True)
class DearRequest:
    """One request: its endpoint, what is dear in it, and the status that it should have.

    The cost of one that is `large` is in proportion to its cells or bytes: a download, or a table above 1,000 cells.
    """

    endpoint: str
    what: str
    path: str
    body: bytes = b""
    status: int = 200
    kind: str = JSON
    large: bool = False

    @property
    def method(self) -> str:
        return "POST" if self.body else "GET"


@dataclass(frozen=True)
class Target:
    """The tables that are asked: one with a long list of codes and one with a map, and where that lies on earth."""

    table: str
    codes: Sequence[str]
    map_table: str
    degrees: tuple[float, float, float, float]
    grid: tuple[int, int]
    served_at: str = ""

    @property
    def leaves(self) -> list[str]:
        return [code for code in self.codes if not code.endswith("0")]

    def some(self, count: int) -> str:
        """Some codes that are no level together, as an address has them."""
        return ",".join(random.Random(1).sample(self.leaves, count))


def groups(count: int, codes: str, variable: str = "occupation") -> str:
    return "&".join(f"group[{variable}]={place}:{codes}" for place in range(count))


def zigzag(target: Target, points: int) -> bytes:
    """GeoJSON of an area whose border runs up and down the whole map."""
    west, south, east, north = target.degrees
    ring = [[round(west + (east - west) * at / points, 6), (south, north)[at % 2]] for at in range(points)]
    return json.dumps({"type": "Polygon", "coordinates": [[*ring, ring[0]]]}, separators=(",", ":")).encode()


def rough_circle(target: Target, points: int) -> bytes:
    """GeoJSON of an area whose border has many small turns."""
    west, south, east, north = target.degrees
    from math import cos, pi, sin

    chosen, ring = random.Random(1), []
    for at in range(points):
        reach = 0.4 + 0.0004 * chosen.random()
        x, y = 0.5 + reach * cos(2 * pi * at / points), 0.5 + reach * sin(2 * pi * at / points)
        ring.append([round(west + (east - west) * x, 6), round(south + (north - south) * y, 6)])
    return json.dumps({"type": "Polygon", "coordinates": [[*ring, ring[0]]]}, separators=(",", ":")).encode()


def drawn(target: Target, corners: int) -> str:
    """A drawing whose border runs up and down the whole map, as an address has it."""
    width, height = target.grid
    points = [f"{width * at // corners} {0 if at % 2 else height}" for at in range(corners)]
    return quote(f"M{' '.join(points)}Z")


def body(**content: object) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()


def selection(**shown: object) -> bytes:
    return body(selection=[{"variableCode": "occupation", **shown}])


def dearest(target: Target) -> Iterator[DearRequest]:
    """The dearest requests of every endpoint that are answered."""
    yield from _pages(target)
    yield from _pictures(target)
    yield from _areas(target)
    yield from _answers(target)
    yield from _rest(target)


def _pages(target: Target) -> Iterator[DearRequest]:
    page, broad = f"/{target.table}", "rows=occupation&codelist[occupation]=level2&cols=sex"
    place = "/{table}"
    yield DearRequest(place, "918 numbers", f"{page}?{broad}")
    yield DearRequest(place, "918 percentages, sorted, ranked", f"{page}?{broad}&share=row&sort=total")
    yield DearRequest(place, "459 changes", f"{page}?rows=occupation&codelist[occupation]=level2&change=last")
    yield DearRequest(
        place,
        "an address of 7 kB",
        f"{page}?rows=state&codelist[state]=all&cols=sex&sum[occupation]={target.some(800)}",
    )
    many = groups(900, "11-0000")
    only = "rows=occupation&codelist[occupation]=groups"
    yield DearRequest(place, "900 groups that overlap", f"{page}?{only}&{many}")
    yield DearRequest(place, "900 groups, percentages, sorted", f"{page}?{only}&share=column&sort=total&{many}")
    yield DearRequest(place, "8,520 numbers", f"{page}?rows=occupation&codelist[occupation]=all&cols=age", large=True)
    ticked = "&".join(f"c={code}" for code in target.leaves)
    chosen = "rows=occupation&pick=valueCodes[occupation]&ticked=1"
    yield DearRequest("/{table}/pick", "840 codes ticked", f"{page}/pick?{chosen}&{ticked}")
    words = "+".join(random.Random(2).choices("abcdefghijklmnopr", k=100))
    yield DearRequest("/{table}/pick", "a search of 100 words", f"{page}/pick?{chosen}&find={words}")
    yield DearRequest("/{table}/picked", "840 codes ticked", f"{page}/picked?{chosen}&{ticked}", status=303)
    yield DearRequest(
        "/{table}/shake", "363 numbers drawn", f"{page}/shake?rows=occupation&codelist[occupation]=level1&cols=sex"
    )


def _pictures(target: Target) -> Iterator[DearRequest]:
    page, tall = f"/{target.table}", "rows=occupation&view=chart&codelist[occupation]="
    yield DearRequest("/{table}", "a chart of 840 numbers", f"{page}?{tall}leaves")
    yield DearRequest("/{table}", "a chart of 459 percentages", f"{page}?{tall}level2&share=column&sort=total")
    yield DearRequest(
        "/{table}", "lines among 98 rows", f"{page}?rows=occupation&codelist[occupation]=level1&view=chart&chart=line"
    )
    embedded = f"{page}/embed?{tall}level2&share=column"
    yield DearRequest("/{table}/embed", "459 percentages drawn", embedded)
    asked = urlencode({"url": target.served_at + embedded})
    yield DearRequest("/oembed", "the same", f"/oembed?{asked}")
    for form in ("svg", "png", "json"):
        yield DearRequest(
            f"/{{table}}/picture.{form}", "840 numbers", f"{page}/picture.{form}?{tall}leaves", large=True
        )


def _areas(target: Target) -> Iterator[DearRequest]:
    page = f"/{target.map_table}?rows=area&codelist[area]=leaves&cols=employed&view=map"
    yield DearRequest("/{table}", "a map of all areas", page)
    yield DearRequest("/{table}", "a drawing of 499 corners", f"{page}&drawn[area]={drawn(target, 499)}")
    own = quote("\n".join(f"nowhere{at},{at}" for at in range(1_200)))[:19_000]
    yield DearRequest("/{table}", "a reader's own numbers, 19 kB", f"{page}&own={own}")
    within = f"/api/v2/tables/{target.map_table}/within/area"
    yield DearRequest("/api/…/within/{variable}", "GeoJSON of 6,000 points", within, rough_circle(target, 6_000))


def _answers(target: Target) -> Iterator[DearRequest]:
    data = DATA.format(target.table)
    place = "/api/…/data"
    yield DearRequest(
        place, "918 percentages", f"{data}?codelist[occupation]=level2&valueCodes[sex]=*&share=occupation"
    )
    yield DearRequest(place, "840 numbers, sorted", f"{data}?codelist[occupation]=leaves&sort=total")
    yield DearRequest(place, "all levels, 15,900 times", f"{data}?valueCodes[occupation]={'*,' * 15_900}*", large=True)
    yield DearRequest(place, "a filter of 840 codes", f"{data}?sum[occupation]={','.join(target.leaves)}")
    named = [f"{at}:{target.some(20)}" for at in range(990)]
    yield DearRequest("/api/…/data (POST)", "990 groups of 20 levels", data, selection(groups=named))
    yield DearRequest("/api/…/data (POST)", "50,000 stars", data, selection(valueCodes=["*"] * 50_000), large=True)
    saved = body(tableId=target.table, selection=json.loads(selection(groups=[f"{at}:11-0000" for at in range(990)])))
    yield DearRequest("/api/v2/savedqueries (POST)", "990 groups", "/api/v2/savedqueries", saved, status=201)


def _rest(target: Target) -> Iterator[DearRequest]:
    words = "+".join(random.Random(2).choices(["jobs", "state", "by", "female", "ocupation", "r1", "employed"], k=25))
    yield DearRequest("/find", "25 words", f"/find?q={words[:190]}")
    yield DearRequest("/api/v2/search", "25 words", f"/api/v2/search?size=20&q={words[:190]}")
    strange = "&".join(f"{chr(97 + at % 26)}{at}" for at in range(5_000))[:30_000]
    yield DearRequest("/", "5,000 parameters that mean nothing", f"/?{strange}")
    yield DearRequest("/api/…/metadata", "all of it", f"/api/v2/tables/{target.table}/metadata", large=True)
    for path in (
        "/api/v2/tables",
        "/api/v2/config",
        "/api/v2/budget",
        "/budget",
        "/help",
        "/api",
        "/openapi.json",
        "/health",
    ):
        yield DearRequest(path, "as it is", path)


def bombs(target: Target) -> Iterator[DearRequest]:
    """Requests that took seconds, or gigabytes; they are refused before any number is computed."""
    page, data = f"/{target.table}", DATA.format(target.table)
    only = "rows=occupation&codelist[occupation]=groups"
    yield DearRequest("/{table}", "1,500 groups of all", f"{page}?{only}&{groups(1_250, '*')}", status=400)
    yield DearRequest("/api/…/data", "1,200 groups of all", f"{data}?{groups(1_200, '*')}", status=400)
    everything = [f"{at}:*" for at in range(8_000)]
    yield DearRequest("/api/…/data (POST)", "8,000 groups of all", data, selection(groups=everything), status=400)
    saved = body(tableId=target.table, selection=json.loads(selection(groups=everything[:5_000])))
    yield DearRequest("/api/v2/savedqueries (POST)", "5,000 groups", "/api/v2/savedqueries", saved, status=400)
    patterns = [f"*{at:x}*?" for at in range(20_000)]
    yield DearRequest("/api/…/data (POST)", "20,000 patterns", data, selection(valueCodes=patterns), status=400)
    yield DearRequest("/api/…/data (POST)", "125,000 faults", data, body(selection=[1] * 125_000), status=400)
    within = f"/api/v2/tables/{target.map_table}/within/area"
    yield DearRequest("/api/…/within/{variable}", "a zigzag of 7,000", within, zigzag(target, 7_000), status=400)
    form = f"/{target.map_table}/within?rows=area&codelist[area]=leaves&view=map"
    sent = b"geojson=" + zigzag(target, 7_000)
    yield DearRequest("/{table}/within", "a zigzag of 7,000", form, sent, status=400, kind=FORM)
    tall = "rows=occupation&codelist[occupation]=all&cols=age&view=chart"
    yield DearRequest("/{table}/picture.png", "8,520 numbers", f"{page}/picture.png?{tall}", status=400)
    yield DearRequest("/{table}/embed", "8,520 numbers", f"{page}/embed?{tall}", status=400)

"""A reader's own area in the query tool: by address, by GeoJSON in a form without a script, and by program."""

import json
import re
from urllib.parse import parse_qsl, quote, urlsplit

import pytest
from pyproj import Proj

import sfumato as sf
from sfumato.confidential import Microdata, Options, run
from sfumato.geography.own_area import drawn_area
from sfumato.plan import Plan
from sfumato.synth import write

MAP = "rows=area&codelist[area]=leaves&cols=employed&view=map"
BESIDE = (65_300, -276_580, 65_480, -276_400)
"""A corner of the map where nobody lives."""
BOX = (70_000, -281_500, 73_500, -277_500)
FORM = {"Content-Type": "text/plain"}


@pytest.fixture(scope="module")
def city(tmp_path_factory):
    """The folder of a small city, and its release."""
    folder = tmp_path_factory.mktemp("city")
    made = write("iab", folder / "iab", rows=4_000).parent
    plan = Plan.read(made / "iab.toml")
    data = {"people": made / "people.parquet", "members": made / "areas" / "members.parquet"}
    release = run(plan, Microdata.open(data, plan.schema), None, folder / "r", Options(rehearsal=1))
    return made, release


@pytest.fixture(scope="module")
def ask(city, browse):
    return browse([city[1].folder]).ask


def ring(west, south, east, north, *, degrees=True):
    corners = [(west, south), (east, south), (east, north), (west, north), (west, south)]
    turn = Proj(proj="aeqd", lat_0=52, lon_0=10)
    return [list(turn(x, y, inverse=True)) if degrees else [x, y] for x, y in corners]


def geojson(*box, **how):
    geometry = {"type": "Polygon", "coordinates": [ring(*box, **how)]}
    return {"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {}, "geometry": geometry}]}


def table_id(ask):
    return ask("GET", "/api/v2/tables").json()["tables"][0]["id"]


@pytest.fixture(scope="module")
def found(ask):
    reply = ask("POST", f"/api/v2/tables/{table_id(ask)}/within/area", json=geojson(*BOX))
    assert reply.status_code == 200, reply.text
    return reply.json()


def test_the_api_parts_areas_as_the_command_line_does_on_the_outlines_themselves(city, found, tmp_path):
    own = tmp_path / "own.geojson"
    own.write_text(json.dumps(geojson(*BOX)))
    exact = drawn_area(city[0] / "areas" / "areas.geojson", own)
    assert len(exact.inside) > 5
    assert len(exact.cut) > 3
    # The map is known to a unit and a half of its grid, a few metres: no area lies that near to the border.
    assert (set(found["inside"]), set(found["cut"])) == (set(exact.inside), set(exact.cut))


def test_degrees_and_metres_are_the_same_area(ask, found):
    there = ask("POST", f"/api/v2/tables/{table_id(ask)}/within/area", json=geojson(*BOX, degrees=False)).json()
    assert (there["inside"], there["cut"]) == (found["inside"], found["cut"])


def test_the_numbers_are_the_sums_of_the_areas_with_the_errors_of_these_sums(city, ask, found):
    (link,) = found["links"]
    data = ask("GET", link["href"]).json()
    index = data["dimension"]["area"]["category"]["index"]
    assert list(index) == ["group:Inside", "group:Cut by the border", "group:Inside or cut"]
    metrics = data["dimension"]["ContentsCode"]["category"]["index"]
    engine = sf.QueryEngine(city[1])
    for row, codes in enumerate((found["inside"], found["cut"], found["inside"] + found["cut"])):
        truth = engine.total({"area": codes})
        values = data["value"][row * len(metrics) : (row + 1) * len(metrics)]
        assert values[metrics["estimate"]] == truth.value
        assert values[metrics["se_noise"]] == pytest.approx(truth.se)
        # The full table has 188 cells an area, each with noise of variance 2a/(1 - a)² = 7.835, a = exp(-1/2).
        assert values[metrics["se_noise"]] ** 2 == pytest.approx(188 * len(codes) * 7.8354, rel=1e-4)


def test_without_a_script_a_form_of_geojson_leads_to_the_number_and_its_error(city, ask, found):
    here = table_id(ask)
    page = ask("GET", f"/{here}?{MAP}")
    assert 'enctype="text/plain"' in page.text
    sent = ask(
        "POST",
        f"/{here}/within?{MAP}",
        content=b"geojson=" + json.dumps(geojson(*BOX)).encode() + b"\r\n",
        headers=FORM,
    )
    assert sent.status_code == 303
    address = sent.headers["Location"]
    assert dict(parse_qsl(urlsplit(address).query))["drawn[area]"] == found["drawn"]
    reply = ask("GET", address)
    assert reply.status_code == 200
    area = reply.text.partition('<section class="area"')[2].partition("</section>")[0]
    whole = sf.QueryEngine(city[1]).total({"area": found["inside"]})
    digits = re.sub(r"\D", "", re.search(r'class="n">([^<]*)<', area)[1])
    assert abs(int(digits) - whole.value) < whole.moe(0.9)
    assert f"{len(found['inside'])} areas of the map lie inside, and the border cuts {len(found['cut'])}" in area
    assert area.count("<tr>") == 4
    assert "pic-map-drawn" in reply.text
    assert "Without this area" in area


def test_in_german_the_parts_have_other_names_and_the_same_address(ask, found):
    address = f"/{table_id(ask)}?{MAP}&drawn[area]={quote(found['drawn'])}&cell={quote('group:Inside|no')}"
    english, german = ask("GET", address), ask("GET", f"{address}&lang=de")
    assert english.status_code == german.status_code == 200
    assert "Von der Grenze durchschnitten" in german.text
    assert "Cut by the border" in english.text


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"geojson=", "not JSON"),
        (b"geojson=<script>alert(1)</script>", "not JSON"),
        (b'geojson={"type":"<script>"}', "&#39;&lt;script&gt;&#39;, which is no area"),
        (b"geojson=" + b"[" * 60_000, "not JSON"),
        (json.dumps(geojson(0, 0, 1000, 1000)).encode(), "lies elsewhere, at longitudes from"),
        (json.dumps(geojson(*BESIDE)).encode(), "lies beside the areas of the map and meets none"),
    ],
)
def test_what_cannot_be_read_is_said_on_the_page_beside_what_was_brought(ask, body, words):
    reply = ask("POST", f"/{table_id(ask)}/within?{MAP}", content=body, headers=FORM)
    assert reply.status_code == 400
    assert words in reply.text
    assert 'aria-invalid="true"' in reply.text
    assert "<script>alert" not in reply.text


@pytest.mark.parametrize("drawn", ["x", "M0 0 1 1Z", "M1 2 " + "3 4 " * 600 + "5 6Z"])
def test_an_address_that_draws_nothing_is_refused_in_words(ask, drawn):
    here = table_id(ask)
    for path in (f"/{here}?{MAP}&", f"/api/v2/tables/{here}/data?"):
        reply = ask("GET", f"{path}drawn[area]={drawn}")
        assert reply.status_code == 400
        assert "corners" in reply.text


def test_a_drawing_that_meets_no_area_is_told_so_beside_the_map_and_by_the_api(ask):
    here, plain = table_id(ask), ask("GET", f"/{table_id(ask)}?{MAP}").text
    page = ask("GET", f"/{here}?{MAP}&drawn[area]=M0 0 9 0 9 9Z")
    assert page.status_code == 200
    assert "What you drew meets no area of the map" in page.text
    assert "meets no area" not in plain
    # The drawing is on the map once more, in both widths, and in no address of the page.
    assert (page.text.count("pic-map-drawn-under"), plain.count("pic-map-drawn-under")) == (2, 0)
    assert "drawn[area]=M" not in page.text
    assert page.text.count("<tr") == plain.count("<tr"), "the table is as it was"
    assert "trifft kein Kartengebiet" in ask("GET", f"/{here}?{MAP}&lang=de&drawn[area]=M0 0 9 0 9 9Z").text
    for path in (f"/{here}?rows=area&", f"/api/v2/tables/{here}/data?"):
        reply = ask("GET", f"{path}drawn[area]=M0 0 9 0 9 9Z")
        assert (reply.status_code, "meets none" in reply.text) == (400, True)


def test_what_is_too_large_is_refused_by_a_page_to_people_and_in_json_to_programs(ask):
    body = b"geojson=" + b"[" * 300_000
    page = ask("POST", f"/{table_id(ask)}/within?{MAP}", content=body, headers=FORM)
    assert (page.status_code, page.headers["content-type"]) == (413, "text/html; charset=utf-8")
    assert "leave out corners of areas" in page.text
    told = ask("POST", f"/api/v2/tables/{table_id(ask)}/within/area", content=body)
    assert (told.status_code, told.headers["content-type"]) == (413, "application/problem+json")


def test_only_what_has_a_map_can_be_drawn_on(ask):
    reply = ask("POST", f"/api/v2/tables/{table_id(ask)}/within/sex", json=geojson(*BOX))
    assert (reply.status_code, "has no map here" in reply.text) == (400, True)
    back = ask("GET", f"/{table_id(ask)}/within?{MAP}")
    assert (back.status_code, back.headers["Location"]) == (303, f"/{table_id(ask)}?{MAP}#area")
    body = b"[" * 300_000
    assert ask("POST", f"/api/v2/tables/{table_id(ask)}/within/area", content=body).status_code == 413


def test_downloads_hold_the_parts_of_the_area(ask, found):
    reply = ask("GET", found["links"][0]["href"] + "&outputFormat=csv")
    assert [one in reply.text for one in ("Inside", "Cut by the border", "Inside or cut")] == [True] * 3


def test_a_drawing_within_one_area_has_no_area_inside_and_says_so(city, ask):
    x, y = city[1].shapes["area"].places[city[1].attributes[0].levels.leaves[0]]
    drawn = f"M{x - 4} {y - 4} {x + 4} {y - 4} {x} {y + 4}Z"
    reply = ask("GET", f"/{table_id(ask)}?{MAP}&drawn[area]={quote(drawn)}")
    assert reply.status_code == 200
    assert "No area of the map lies wholly inside; the border cuts 1." in reply.text
    assert '<p class="big' not in reply.text  # the number of its border is no number of the area
    assert reply.text.partition('<section class="area"')[2].partition("</section>")[0].count("<tr>") == 2

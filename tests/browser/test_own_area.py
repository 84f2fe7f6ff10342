"""A reader draws an area on the map, by pointer, by keyboard or without a script, and gets its number and error."""

import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.browser.pages import JOBS
from tests.browser.tab import PHONE, WIDE

MAP = f"{JOBS}?rows=state&codelist[state]=leaves&view=map&cols=sex"
BOARD = ".board"


def drawn(page):
    return parse_qs(urlsplit(page.url).query)["drawn[state]"][0]


def in_view(page, selector):
    box = page.locator(selector).bounding_box()
    return box["y"] >= 0 and box["y"] + box["height"] <= page.viewport_size["height"]


def begun(tab, address=MAP):
    page = tab.open(address)
    page.wait_for_selector("sf-area:defined")
    page.click("[data-do=draw]")
    page.wait_for_selector(f"{BOARD}:focus")
    return page


@pytest.mark.parametrize(
    ("scheme", "viewport"),
    [("light", WIDE), pytest.param("dark", PHONE, marks=pytest.mark.slow)],
    ids=["wide", "phone"],
)
def test_corners_set_by_pointer_make_an_area_with_a_number(open_tab, scheme, viewport):
    tab = open_tab(color_scheme=scheme, viewport=viewport)
    page = begun(tab)
    assert tab.violations() == []
    box = page.locator(".pic-grid:visible").bounding_box()
    places = [(0.05, 0.05), (0.9, 0.05), (0.9, 0.9), (0.05, 0.9)]
    corners = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in places]
    for x, y in corners:
        page.mouse.click(x, y)
    assert page.locator("[data-do=close]:visible").count() == 1
    said = tab.after(lambda: page.mouse.click(*corners[0]))
    page.wait_for_selector("#area .big .n")
    assert said
    assert len(drawn(page)[1:-1].split(" ")) == 8, "the first corner closes the area and is no fifth"
    assert "areas of the map lie inside, and the border cuts" in page.inner_text("#area .answer")
    assert page.locator("#area tbody tr").count() == 3
    assert in_view(page, "#area .big")
    assert page.locator(".pic-map-drawn:visible").count() >= 1
    assert tab.overflow == 0
    assert tab.violations() == []
    before = page.url
    page.reload()
    assert page.url == before
    assert page.inner_text("#area .big .n")
    page.click("#area [data-done]")
    page.wait_for_selector("#area .answer", state="detached")
    assert "drawn" not in page.url


def test_by_keyboard_alone_corners_are_set_said_taken_back_and_closed(open_tab):
    tab = open_tab()
    page = tab.open(MAP)
    page.wait_for_selector("sf-area:defined")
    tab.tab_to("[data-do=draw]", most=200)
    tab.press("Enter")
    page.wait_for_selector(f"{BOARD}:focus")

    def walk(key, times=4):
        for _ in range(times):
            page.keyboard.press(f"Shift+{key}")

    def heard(key, words):
        tab.press(key)
        page.locator("#said", has_text=words).wait_for(state="attached")
        return page.inner_text("#said")

    states = page.locator("svg.pic:visible .pic-mark[data-name]").evaluate_all(
        "all => all.map((one) => one.dataset.name)"
    )
    assert heard("Enter", "Corner 1: ") in {f"Corner 1: {name}" for name in states}, "the name, and not the number"
    tab.press("Backspace")
    walk("ArrowLeft")
    walk("ArrowUp")
    heard("Enter", "Corner 1: ")
    walk("ArrowRight", 8)
    heard("Enter", "Corner 2: ")
    walk("ArrowDown", 8)
    heard("Enter", "Corner 3: ")
    tab.press("Backspace")
    assert page.locator("[data-do=close]:visible").count() == 0
    heard("Enter", "Corner 3: ")
    walk("ArrowLeft", 8)
    heard("Enter", "Corner 4: ")
    tab.press("Enter")
    page.wait_for_selector("#area .big .n")
    told = re.compile(f"Inside your area: .*{re.escape(page.inner_text('#area .big .n'))}")
    page.locator("#said", has_text=told).wait_for(state="attached")
    assert tab.focused("id") == "area", "the focus is on the answer"


def corners_beside_the_areas(page):
    """The upper left of the map, where no state lies: three places, and the first once more."""
    box = page.locator(".pic-grid:visible").bounding_box()
    return [(box["x"] + x, box["y"] + y) for x, y in ((1, 1), (20, 1), (20, 20), (1, 1))]


@pytest.mark.parametrize("viewport", [WIDE, pytest.param(PHONE, marks=pytest.mark.slow)], ids=["wide", "phone"])
def test_a_drawing_beside_the_areas_is_told_so_in_place_and_every_answer_is_said_once(open_tab, viewport):
    tab = open_tab(viewport=viewport)
    page = begun(tab)
    page.evaluate(
        "window.heard = []; const said = document.getElementById('said');"
        "new MutationObserver(() => said.textContent && heard.push(said.textContent)).observe(said, {childList: true})"
    )
    for place in corners_beside_the_areas(page):
        page.mouse.click(*place)
    page.wait_for_selector("#area .notice")
    assert "meets no area of the map" in page.inner_text("#area .notice")
    assert page.locator(".pic-map-drawn:visible").count() >= 1, "the drawing is seen where it lies"
    assert in_view(page, "#area .notice")
    assert "drawn" not in page.url, "nothing is kept of it"
    assert tab.focused("id") == "area"
    assert tab.violations() == []
    page.wait_for_timeout(400)
    assert [words for words in page.evaluate("heard") if "meets no area" in words] == [page.inner_text("#area .notice")]


def test_escape_leaves_everything_as_it_was(open_tab):
    tab = open_tab()
    page = begun(tab)
    address = page.url
    tab.press("Enter")
    tab.press("Escape")
    assert page.locator(f"{BOARD}, .draft").count() == 0
    assert tab.focused("dataset.do") == "draw"
    assert page.url == address


def geojson(west, south, east, north):
    ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    return json.dumps({"type": "Polygon", "coordinates": [ring]})


@pytest.mark.parametrize("viewport", [WIDE, pytest.param(PHONE, marks=pytest.mark.slow)], ids=["wide", "phone"])
def test_without_a_script_pasted_geojson_has_its_number(open_tab, viewport):
    tab = open_tab(java_script_enabled=False, viewport=viewport)
    page = tab.open(MAP)
    assert page.locator("#area button:visible").count() == 0, "what needs a script is not offered"
    page.click("#area summary")
    page.fill("#f-area", "{}")
    page.click("#area form button")
    assert "which is no area" in page.inner_text("#area-problem")
    assert page.input_value("#f-area") == "{}"
    page.fill("#f-area", geojson(-180, -85, 180, 85))
    page.click("#area form button")
    page.wait_for_selector("#area .big .n")
    assert "the border cuts none" in page.inner_text("#area .answer")
    assert drawn(page).startswith("M")


def test_a_file_of_geojson_is_taken_as_it_is(open_tab, tmp_path):
    tab = open_tab()
    page = tab.open(MAP)
    page.wait_for_selector("sf-area:defined")
    page.click("#area details summary")
    (tmp_path / "mine.geojson").write_text(geojson(-180, -85, 180, 85))
    page.set_input_files("#area input[type=file]", tmp_path / "mine.geojson")
    page.wait_for_selector("#area .big .n")
    assert "areas of the map lie inside" in page.inner_text("#area .answer")

"""A reader's whole way, from the first page to a citation: by keyboard alone, and without a script."""

import csv
import io
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.browser.pages import JOBS
from tests.browser.tab import PHONE
from tests.browser.test_downloads import agrees, seen

CELL = "td > button.v"


def state(page):
    return parse_qs(urlsplit(page.url).query)


@pytest.fixture
def tab(open_tab):
    tab = open_tab(permissions=["clipboard-read", "clipboard-write"])
    tab.open("/")
    return tab


def enter_table(tab):
    tab.tab_to("a.skip")
    tab.tab_to(f"a[href='{JOBS}']")
    tab.press("Enter")
    tab.page.wait_for_selector("sf-builder:defined")
    assert "Number of jobs by occupation" in tab.page.inner_text("h1")


def pick_by_word(tab):
    """Two occupations found by a word are shown instead of the list."""
    tab.tab_to("button[name=pick][value='valueCodes[occupation]']")
    tab.press("Enter")
    tab.page.wait_for_selector("dialog[open] #pick-find:focus")
    tab.page.keyboard.type("analyst")
    tab.page.wait_for_selector("li.hit:visible, mark:visible")
    tab.tab_to("dialog .tree input[name=c]")
    ticked = []
    while len(ticked) < 2:
        if tab.page.evaluate("document.activeElement.closest('li').matches('.hit')"):
            tab.press("Space")
            ticked.append(tab.focused("value"))
        else:
            tab.tab_to("dialog .tree input[name=c]")
            continue
        tab.tab_to("dialog .tree input[name=c], dialog button.go")
    if not tab.page.evaluate("document.activeElement.matches('button.go')"):
        tab.tab_to("dialog button.go")
    said = tab.after(lambda: tab.press("Enter"))
    assert said == "Number of jobs by occupation and education. 12 cells."
    assert state(tab.page)["valueCodes[occupation]"] == [",".join(ticked)]
    assert tab.focused("value") == "valueCodes[occupation]", "the focus is where the reader left"
    return ticked


def filter_by(tab):
    tab.tab_to("fieldset > details:has(input[name='sum[sex]']) > summary")
    tab.press("Enter")
    tab.tab_to("input[name='sum[sex]'][value=female]")
    tab.after(lambda: tab.press("Space"))
    assert "Sex: female" in tab.page.inner_text("p.sub")


def sort_and_open(tab):
    tab.tab_to("a.sort")
    tab.after(lambda: tab.press("Enter"))
    assert tab.page.locator("th[aria-sort=descending]").count() == 1
    tab.tab_to(CELL)
    tab.press("ArrowDown")
    said = tab.after(lambda: tab.press("Enter"))
    number = tab.page.inner_text("#detail .big .n")
    assert number in said, "what was opened is read aloud"
    shown, margin, _ = seen(tab.page.inner_text("td.sel"))
    assert agrees(shown, number.replace(",", "").replace("−", "-"), margin)
    for one in ("privacy noise", "Standard error", "95% interval"):
        assert one in tab.page.inner_text("#detail")


def compare(tab):
    tab.tab_to("#detail .act a")
    tab.after(lambda: tab.press("Enter"))
    assert "choose another cell" in tab.page.inner_text("#detail")
    assert tab.page.evaluate(f"document.activeElement.matches('{CELL}')"), "the focus is back in the table"
    tab.press("ArrowUp")
    said = tab.after(lambda: tab.press("Enter"))
    answer = tab.page.inner_text("#detail .compared > p")
    assert answer in said
    assert "differ" in answer or "may well be the same" in answer


def see_chart_and_map(tab):
    tab.page.keyboard.press("Control+Home")
    tab.tab_to("nav.views a[href*='view=chart']", back=True)
    tab.after(lambda: tab.press("Enter"))
    assert tab.page.locator("figure.picture svg:visible [class*=pic-whisker]").count()
    tab.tab_to("#f-axis-1", back=True)
    tab.after(lambda: tab.page.keyboard.type("St"))
    assert state(tab.page)["rows"] == ["state"]
    tab.tab_to("nav.views a[href*='view=map']")
    tab.after(lambda: tab.press("Enter"))
    assert tab.page.inner_text("nav.views a[aria-current]") == "Map"
    assert tab.page.locator("figure.picture svg:visible").count() == 1
    assert tab.page.locator(CELL).count() > 4, "the table stands beside the map"


def take_along(tab):
    tab.tab_to("a[href*='outputFormat=csv']")
    with tab.page.expect_download() as awaited:
        tab.press("Enter")
    lines = list(csv.DictReader(io.StringIO(Path(awaited.value.path()).read_text())))
    shown = {one.get_attribute("value"): one.inner_text() for one in tab.page.query_selector_all(f"tbody {CELL}")}
    for line in lines:
        number, margin, _ = seen(shown[f"{line['state']}|{line['education']}"])
        assert agrees(number, line["estimate"], margin)
    tab.tab_to(".cite sf-copy > button")
    tab.after(lambda: tab.press("Enter"))
    copied = tab.page.evaluate("navigator.clipboard.readText()")
    assert copied == tab.page.inner_text(".cited")
    assert tab.page.url.partition("?")[0].rpartition("/")[0] in copied
    assert "2026-Q2" in copied
    return copied


def test_the_whole_way_by_keyboard_alone(tab):
    enter_table(tab)
    loaded = tab.loads
    pick_by_word(tab)
    filter_by(tab)
    sort_and_open(tab)
    compare(tab)
    see_chart_and_map(tab)
    cited = take_along(tab)
    assert tab.loads == loaded, "the table changed in place"
    address = next(word.strip(".,;()") for word in cited.split() if word.startswith("http"))
    numbers = [one.inner_text() for one in tab.page.query_selector_all(f"{CELL} .n")]
    tab.open(address)
    assert [one.inner_text() for one in tab.page.query_selector_all(f"{CELL} .n")] == numbers


@pytest.mark.parametrize("viewport", [None, pytest.param(PHONE, marks=pytest.mark.slow)], ids=["wide", "phone"])
def test_the_same_way_without_a_script_by_links_and_buttons(open_tab, viewport):
    tab = open_tab(java_script_enabled=False, **({"viewport": viewport} if viewport else {}))
    page = tab.open("/")
    page.click(f"a[href='{JOBS}']")
    page.click("button[name=pick][value='valueCodes[occupation]']")
    page.fill("#pick-find", "analyst")
    page.click("button[name=search]")
    page.click("button.all-found")
    page.click("button.go")
    chosen = state(page)["valueCodes[occupation]"][0].split(",")
    assert len(chosen) > 1
    page.click("fieldset > details:has(input[name='sum[sex]']) > summary")
    page.check("input[name='sum[sex]'][value=female]")
    page.click(".build .go")
    assert "Sex: female" in page.inner_text("p.sub")
    page.click("a.sort >> nth=0")
    assert page.get_attribute("th[aria-sort]", "aria-sort") == "descending"
    first, second = (page.get_attribute(f"tbody tr:nth-child({row}) {CELL}", "value") for row in (1, 2))
    page.click(f"button.v[value='{first}']")
    page.click("#detail .act a >> nth=0")
    page.click(f"button.v[value='{second}']")
    assert page.locator("#detail .compared").count() == 1
    page.click("nav.views a >> text=Chart")
    assert page.locator("figure.picture svg:visible").count() == 1
    page.select_option("#f-axis-1", "state")
    page.click(".build .go")
    page.click("nav.views a >> text=Map")
    assert page.locator("figure.picture svg:visible").count() == 1
    with page.expect_download() as awaited:
        page.click("a[href*='outputFormat=xlsx']")
    assert awaited.value.suggested_filename.endswith(".xlsx")
    assert "Release" in page.inner_text(".cited") or "release" in page.inner_text(".cited")
    assert page.locator("sf-copy > button").count() == 0, "a button that needs a script is not there without one"


def test_a_cell_that_was_held_in_another_table_is_no_obstacle(open_tab):
    """Held among occupations, then the rows became states: the next cell opens, with nothing to compare it to."""
    page = open_tab().open(f"{JOBS}?rows=state&cols=sex&cell=west|female&hold=11-0000|female")
    assert page.locator("#detail .big").count() == 1
    assert page.locator("#detail .compared, #detail .held").count() == 0

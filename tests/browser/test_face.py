"""The face of a table: its letters, how much of it is seen at once, and the card of a cell over it."""

import pytest
from tests.browser.pages import JOBS, SURVEY
from tests.browser.tab import PHONE

STATES = "CA,TX,FL,NY,PA,IL,OH"
WHOLE = f"{JOBS}?rows=occupation&cols=state&valueCodes[state]={STATES}"
CELL = "button.v[value='11-0000|CA']"

# Rows and columns of numbers that are seen whole, under the heads and over the totals.
SEEN = """() => {
    const scroll = document.querySelector(".scroll"), box = scroll.getBoundingClientRect();
    const top = scroll.querySelector("thead th").getBoundingClientRect().bottom;
    const foot = scroll.querySelector("tfoot th").getBoundingClientRect().top, end = Math.min(foot, innerHeight);
    const inside = (one) => one.top >= top - 1 && one.bottom <= end + 1;
    const rows = [...scroll.querySelectorAll("tbody tr")].map((one) => one.getBoundingClientRect()).filter(inside);
    const across = [...scroll.querySelectorAll("tbody tr:first-child td:not(.rank)")];
    const columns = across.filter((one) => one.getBoundingClientRect().right <= box.right + 1);
    return [columns.length, rows.length, scroll.querySelectorAll("tbody tr").length];
}"""


@pytest.mark.parametrize("asked", ["", "&sort=TX", "&share=column"], ids=["numbers", "sorted", "percentages"])
def test_eight_columns_and_eighteen_of_twenty_two_rows_are_seen_at_once(open_tab, asked):
    page = open_tab().open(WHOLE + asked)
    page.evaluate("document.fonts.ready")
    columns, rows, all_rows = page.evaluate(SEEN)
    assert columns == 8 or asked == "&share=column"
    assert all_rows == 22
    assert rows >= 18
    page.evaluate("document.querySelector('.scroll').scrollTop = 200")
    assert page.evaluate(SEEN)[1] >= 18, "heads and totals stay while the rows go by"


def test_the_letters_are_our_own_and_figures_are_of_one_width(open_tab):
    page = open_tab().open(WHOLE)
    loaded = page.evaluate(
        "document.fonts.ready.then((all) => [...all].map((one) => [one.family, one.weight, one.status]))"
    )
    assert sorted(loaded) == [
        ["Sfumato Sans", "400", "loaded"],
        ["Sfumato Sans", "600", "loaded"],
        ["Sfumato Serif", "600", "loaded"],
    ]
    widths = """() => ["Sans", "Serif"].flatMap((name) => [..."0123456789"].map((digit) => {
        const pen = document.createElement("canvas").getContext("2d");
        pen.font = `600 100px "Sfumato ${name}"`;
        return [name, Math.round(pen.measureText(digit).width)].join(" ");
    }))"""
    # The advance of a figure in the fonts' own tables: 513 and 520 of 1,000.
    assert set(page.evaluate(widths)) == {"Sans 51", "Serif 52"}
    for element in ("td .n", "td .moe", "tbody th"):
        assert page.eval_on_selector(element, "one => getComputedStyle(one).fontFamily").startswith('"Sfumato Sans"')


def test_a_cell_opens_as_a_card_over_the_table_and_escape_closes_it_with_the_focus_on_the_cell(open_tab):
    tab = open_tab()
    page = tab.open(WHOLE)
    page.wait_for_selector("sf-builder:defined")
    page.evaluate("document.fonts.ready")
    before = page.locator(".scroll").bounding_box()
    page.locator(CELL).focus()
    tab.after(lambda: tab.press("Enter"))
    card, cell = page.locator("#detail").bounding_box(), page.locator("td.sel").bounding_box()
    assert page.locator(".scroll").bounding_box() == before, "the table stays as it was"
    apart = card["x"] >= cell["x"] + cell["width"] or card["x"] + card["width"] <= cell["x"]
    assert apart, "the card does not hide its cell"
    assert page.evaluate("document.activeElement.value") == "11-0000|CA"
    tab.tab_to("#detail .act a")
    tab.after(lambda: tab.press("Escape"))
    assert page.locator("#detail").count() == 0
    assert page.evaluate("document.activeElement.value") == "11-0000|CA"
    tab.press("Escape")
    assert "cell=" not in page.url


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_the_card_leaves_its_cell_in_sight(open_tab, scheme):
    tab = open_tab(viewport=PHONE, color_scheme=scheme)
    page = tab.open(f"{SURVEY}?rows=occupation&cols=strength&cell=27-0000|heavy")
    clear = """() => {
        const [cell, card] = ["td.sel", "#detail"].map((one) => document.querySelector(one).getBoundingClientRect());
        return cell.bottom <= card.top && cell.right <= innerWidth && cell.top >= 0;
    }"""
    page.wait_for_function(clear)
    assert tab.overflow == 0


def test_the_name_of_a_filter_stands_in_one_line(open_tab):
    page = open_tab(viewport={"width": 1280, "height": 800}).open(f"{SURVEY}?rows=strength&sum[occupation]=11-0000")
    high = "document.querySelector('.chip b').getBoundingClientRect().height"
    assert 0 < page.evaluate(high) < 30, "one line is 15 to 25 high"


def test_a_first_table_is_light(open_tab):
    """What a reader fetches for a first table once the letters are here: under 60 kB as it travels, with its heads."""
    tab = open_tab()
    sizes = {}
    whole = ("responseBodySize", "responseHeadersSize")
    tab.page.on("requestfinished", lambda one: sizes.update({one.url: sum(one.sizes()[part] for part in whole)}))
    tab.page.goto(f"{SURVEY}?rows=occupation&cols=strength", wait_until="networkidle")
    tab.page.evaluate("document.fonts.ready")
    letters = sum(size for url, size in sizes.items() if ".woff2" in url)
    assert 20_000 < letters < 60_000
    assert sum(sizes.values()) - letters < 60_000

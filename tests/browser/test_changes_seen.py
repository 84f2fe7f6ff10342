"""What changed since the last quarter, in a few steps from the first page, by pointer and by keyboard."""

import pytest
from tests.browser.pages import JOBS
from tests.browser.tab import PHONE

VERDICT = ("a real change.", "No sign of a change since 2026-Q1")


def test_the_change_of_a_row_is_two_steps_from_the_first_page(open_tab):
    tab = open_tab()
    page = tab.open("/")
    page.click(f"a[href^='{JOBS}?change=last']")
    page.wait_for_selector("sf-builder:defined")
    assert "change from 2026-Q1 to 2026-Q2" in page.inner_text("h1")
    assert "would be if nothing had changed at all" in page.inner_text(".answer")
    tab.after(page.locator("tbody td > button.v").first.click)
    assert any(said in page.inner_text("#detail") for said in VERDICT)


def test_periods_and_changes_are_chosen_by_keyboard(open_tab):
    tab = open_tab()
    page = tab.open(f"{JOBS}?rows=state&cols=sex")
    page.wait_for_selector("sf-builder:defined")
    tab.tab_to("#f-axis-3")
    tab.after(lambda: page.select_option("#f-axis-3", "period"))
    heads = page.locator("thead th").all_inner_texts()
    assert [one.split()[0] for one in heads[-2:]] == ["2026-Q1", "2026-Q2"]
    tab.tab_to("#f-change")
    tab.after(lambda: page.select_option("#f-change", "last"))
    assert "2026-Q1 → 2026-Q2" in page.locator("thead").inner_text()
    assert page.locator(".v-real, .v-none").count() > 3


def test_another_period_is_one_press_away_and_keeps_the_table(open_tab):
    tab = open_tab()
    page = tab.open(f"{JOBS}?rows=state&cols=sex")
    page.click(".strip a:text('2026-Q1')")
    page.wait_for_url("**/employment.2026-Q1~jobs?rows=state&cols=sex*")
    assert page.inner_text(".strip [aria-current]") == "2026-Q1"


ROWS = """() => {
    const scroll = document.querySelector(".scroll");
    const inside = (cell) => {
        const box = cell.getBoundingClientRect();
        return [...cell.querySelectorAll(".n, .moe, .pc, .sign")].every((one) => {
            const own = one.getBoundingClientRect();
            const across = own.left >= box.left && own.right <= box.right;
            return across && own.top >= box.top - 1 && own.bottom <= box.bottom + 1;
        });
    };
    return {
        heights: [...scroll.querySelectorAll("tbody tr")].map((one) => one.getBoundingClientRect().height),
        hidden: scroll.scrollWidth - scroll.clientWidth,
        whole: [...scroll.querySelectorAll("td > .v")].every(inside),
        columns: scroll.querySelectorAll("thead th").length - 1,
    };
}"""


@pytest.mark.parametrize(("columns", "placed"), [(5, "cols=age"), (3, "cols=sex"), (1, "cols=")])
def test_changes_stand_in_rows_of_one_line_however_many_columns_there_are(open_tab, columns, placed):
    """With four columns or more a cell took three lines, and a table of 22 rows two screens."""
    page = open_tab().open(f"{JOBS}?rows=occupation&change=last&{placed}")
    page.evaluate("document.fonts.ready")
    seen = page.evaluate(ROWS)
    assert seen["columns"] == columns
    assert seen["whole"], "each number stands within its cell"
    assert max(seen["heights"]) <= 34
    assert seen["hidden"] <= 1, "all columns are seen at once"


def test_a_phone_shows_changes_without_scrolling_the_page_sideways(open_tab):
    tab = open_tab(viewport=PHONE)
    for address in ("/", f"{JOBS}?rows=state&cols=sex&change=last&cell=west|female", f"{JOBS}?rows=state&cols=period"):
        tab.open(address)
        assert tab.overflow <= 0, address

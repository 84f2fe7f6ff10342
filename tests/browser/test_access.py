"""Accessibility by axe-core's rules for WCAG 2.0, 2.1 and 2.2, levels A and AA, in light and dark, wide and narrow."""

import pytest
from tests.browser.pages import FURTHER, JOBS, PAGES, REFUSED, WAGES
from tests.browser.tab import PHONE, WIDE

SETTINGS = [("light", WIDE), ("dark", PHONE), ("dark", WIDE), ("light", PHONE)]
FEW = ["home", "table", "detail", "map", "changes", "withdrawn"]
"""Pages on which every part of a table's page stands; the slow tests look at all, in every setting."""
MORE = [*FEW, "dots", "pick", "privacy card", "budget", "found"]
"""Those and the other kinds of pages."""


def found(open_tab, names, scheme, viewport):
    tab = open_tab(color_scheme=scheme, viewport=viewport)
    return {name: tab.open(PAGES[name]) and tab.violations() for name in names}


@pytest.mark.parametrize(
    ("scheme", "viewport", "names"),
    [("light", WIDE, MORE), ("dark", PHONE, FEW)],
    ids=["light wide", "dark narrow"],
)
def test_axe_finds_nothing_to_mend(open_tab, scheme, viewport, names):
    assert found(open_tab, names, scheme, viewport) == {key: [] for key in names}


every_setting = pytest.mark.parametrize(
    ("scheme", "viewport"), SETTINGS, ids=["light wide", "dark narrow", "dark wide", "light narrow"]
)


@pytest.mark.slow
@every_setting
def test_axe_finds_nothing_to_mend_on_any_page_in_any_setting(open_tab, scheme, viewport):
    assert found(open_tab, PAGES, scheme, viewport) == {key: [] for key in PAGES}


@pytest.mark.slow
@every_setting
def test_nor_on_pages_that_are_seldom_seen_or_refuse(open_tab, scheme, viewport):
    tab = open_tab(color_scheme=scheme, viewport=viewport)
    told = {}
    for name, (address, status) in ({key: (one, 200) for key, one in FURTHER.items()} | REFUSED).items():
        tab.open(address, status)
        # The policy of an embed lets nothing be fetched, so the style is not fetched once more.
        told[name] = [tab.violations(preload="/embed" not in address), tab.overflow]
    assert told == {key: [[], 0] for key in told}


def searched(page):
    page.fill("#find, #find-head, input[type=search] >> nth=0", "nurs")
    page.wait_for_selector("[role=listbox]:not([hidden]) li")


def picked(page):
    page.evaluate("document.querySelector('details.fold')?.setAttribute('open', '')")
    page.click("button[name=pick][value='valueCodes[state]']")
    page.wait_for_selector("dialog[open]")


def unfolded(page):
    page.evaluate("document.querySelectorAll('details').forEach((one) => one.setAttribute('open', ''))")


def pressed(page):
    page.locator("button.v").first.click()
    page.wait_for_selector("#detail")
    page.get_by_text("Compare with another cell").first.click()
    page.wait_for_load_state("networkidle")


def drawing(page):
    page.get_by_role("button", name="Draw on the map").click()


def pointed(page):
    page.locator("svg.pic:visible a.pic-mark").first.focus()


STATES = {
    "words are typed on the first page": ("/", searched),
    "words are typed in the head of a table": (f"{JOBS}?rows=state", searched),
    "codes are chosen": (f"{JOBS}?rows=state&cols=sex", picked),
    "all that folds is open": (f"{JOBS}?rows=state&cols=sex", unfolded),
    "a cell is compared": (f"{JOBS}?rows=state&cols=sex", pressed),
    "an area is drawn": (f"{JOBS}?rows=state&codelist[state]=leaves&view=map", drawing),
    "a mark has the focus": (f"{JOBS}?rows=age&view=chart", pointed),
    "all of a map of means is open": (f"{WAGES}?rows=state&codelist[state]=leaves&per=jobs&view=map", unfolded),
}


@pytest.mark.slow
@every_setting
def test_nor_in_any_state_that_a_reader_brings_about(open_tab, scheme, viewport):
    tab = open_tab(color_scheme=scheme, viewport=viewport)
    told = {}
    for name, (address, act) in STATES.items():
        page = tab.open(address)
        page.wait_for_selector("sf-find:defined")
        act(page)
        told[name] = [tab.violations(), tab.overflow]
    assert told == {key: [[], 0] for key in STATES}


def test_axe_finds_what_is_broken(open_tab):
    """Faults made on purpose: grey on grey, a field without a label, a picture without words, two equal ids."""
    tab = open_tab()
    page = tab.open(PAGES["table"])
    page.evaluate("""() => {
        document.querySelector("h1").style.color = "#ddd";
        document.querySelector("label[for=f-axis-1]").remove();
        document.querySelector("main").append(document.createElement("img"));
        document.documentElement.removeAttribute("lang");
    }""")
    rules = {rule for rule, _ in tab.violations()}
    assert {"color-contrast", "select-name", "image-alt", "html-has-lang"} <= rules


def test_the_dialog_to_choose_codes_is_as_accessible_as_the_page(open_tab):
    tab = open_tab(color_scheme="dark")
    page = tab.open(f"{PAGES['table']}")
    page.wait_for_selector("sf-builder:defined")
    page.click("button[name=pick][value='valueCodes[state]']")
    page.wait_for_selector("dialog[open]")
    assert tab.violations() == []

"""Accessibility by axe-core's rules for WCAG 2.0, 2.1 and 2.2, levels A and AA, in light and dark, wide and narrow."""

import pytest
from tests.browser.pages import PAGES
from tests.browser.tab import PHONE, WIDE

SETTINGS = [("light", WIDE), ("dark", PHONE), ("dark", WIDE), ("light", PHONE)]
MUCH = ["survey", "two rows", "wrapped", "pick a universe", "bars", "shaded map", "german", "sorted"]
"""Pages whose parts stand on others too; the slow tests look at them all, in every setting."""

ALIKE = ["compared", "lines", "help", "api", "series"]
"""Pages that have nothing in the dark that the others have not."""


def found(open_tab, names, scheme, viewport):
    tab = open_tab(color_scheme=scheme, viewport=viewport)
    return {name: tab.open(PAGES[name]) and tab.violations() for name in names}


@pytest.mark.parametrize(("scheme", "viewport"), SETTINGS[:2], ids=["light wide", "dark narrow"])
def test_axe_finds_nothing_to_mend(open_tab, scheme, viewport):
    names = [name for name in PAGES if name not in (MUCH if scheme == "light" else [*MUCH, *ALIKE])]
    assert found(open_tab, names, scheme, viewport) == {key: [] for key in names}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "viewport"), SETTINGS, ids=["light wide", "dark narrow", "dark wide", "light narrow"]
)
def test_axe_finds_nothing_to_mend_on_any_page_in_any_setting(open_tab, scheme, viewport):
    assert found(open_tab, PAGES, scheme, viewport) == {key: [] for key in PAGES}


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

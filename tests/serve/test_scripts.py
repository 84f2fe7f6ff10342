"""The scripts of the table builder in a real browser: no page is loaded again, and the keyboard is enough."""

import shutil

import pytest
from playwright.sync_api import sync_playwright
from tests.serve.test_page import TABLE

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")


@pytest.fixture(scope="module")
def chromium():
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Tab:
    """A page in the browser, the documents it loaded, and whatever went wrong in it."""

    def __init__(self, browser, server, **options):
        context = browser.new_context(base_url=str(server.base_url), **options)
        self.page, self.loads, self.wrong = context.new_page(), 0, []
        self.page.set_default_timeout(10_000)
        self.page.on("load", self._loaded)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", lambda one: self.wrong.append(one.text) if one.type == "error" else None)

    def _loaded(self, _):
        self.loads += 1

    def open(self, address):
        self.page.goto(address)
        self.page.wait_for_selector("sf-builder:defined, sf-picker:defined")
        return self.page

    def after(self, act):
        """Do something, and wait until another table is shown and said."""
        self.page.evaluate("document.getElementById('said').textContent = ''")
        act()
        self.page.wait_for_selector("#said:not(:empty)", state="attached")
        return self.page

    def focused(self, what):
        return self.page.evaluate(f"document.activeElement.{what}")


@pytest.fixture
def tab(chromium, server):
    one = Tab(chromium, server, viewport={"width": 1280, "height": 900})
    yield one
    one.page.context.close()
    assert one.wrong == []


def test_a_choice_shows_at_once_and_the_way_back_leads_back(tab):
    page = tab.open(f"{TABLE}?rows=trade&cols=sex")
    page.focus("#f-axis-3")
    tab.after(lambda: page.select_option("#f-axis-3", "age"))
    assert page.evaluate("location.search") == "?rows=trade&cols=age"
    assert tab.focused("id") == "f-axis-3"
    assert page.inner_text("#said") == "Number of jobs by trade <i> and age. 24 cells."
    tab.after(lambda: page.check("input[name=error][value=cv]"))
    assert page.evaluate("location.search") == "?rows=trade&cols=age&error=cv"
    assert "CV" in page.inner_text("tbody td >> nth=0")
    tab.after(page.go_back)
    assert page.evaluate("location.search") == "?rows=trade&cols=age"
    assert "±" in page.inner_text("tbody td >> nth=0")
    assert tab.loads == 1


def test_a_variable_that_is_moved_changes_places(tab):
    page = tab.open(f"{TABLE}?rows=trade&cols=sex&sort=male")
    tab.after(lambda: page.select_option("#f-axis-1", "sex"))
    assert page.evaluate("location.search") == "?rows=sex&cols=trade"


def test_what_cannot_be_shown_is_said_and_the_form_keeps_the_choice(tab):
    page = tab.open(f"{TABLE}?rows=trade&cols=sex")
    page.eval_on_selector(
        "#build",
        """one => {
            const field = document.createElement("input");
            Object.assign(field, { type: "hidden", name: "sum[place]", value: "gone" });
            one.append(field);
        }""",
    )
    page.select_option("#f-axis-4", "age")
    page.wait_for_selector("[role=alert]")
    assert "Place: 'gone' is not a level" in page.inner_text("[role=alert]")
    assert page.input_value("#f-axis-4") == "age"
    assert tab.loads == 1
    assert len(tab.wrong) == 1
    assert "400" in tab.wrong.pop()


def test_arrows_go_through_the_table_and_enter_opens_a_cell(tab):
    page = tab.open(f"{TABLE}?rows=trade&cols=sex")
    assert page.locator("td > button[tabindex='0']").count() == 1
    page.focus("td > button[tabindex='0']")
    walked = []
    for key in ("ArrowRight", "ArrowDown", "End", "Home", "Control+End", "ArrowRight", "Control+Home", "ArrowUp"):
        page.keyboard.press(key)
        walked.append(tab.focused("value"))
    assert walked == ["a|female", "b|female", "b|male", "b|", "|male", "|male", "a|", "a|"]
    page.keyboard.press("ArrowDown")
    tab.after(lambda: page.keyboard.press("Enter"))
    assert page.evaluate("new URLSearchParams(location.search).get('cell')") == "b|"
    assert tab.focused("value") == "b|"
    assert page.inner_text("#said").startswith("b")
    assert tab.loads == 1


def test_codes_are_chosen_without_leaving_the_table(tab):
    page = tab.open(f"{TABLE}?rows=place&cols=sex")
    page.click("button[name=pick][value='valueCodes[place]']")
    page.wait_for_selector("dialog[open]")
    assert tab.focused("id") == "pick-find"
    page.keyboard.type("comma a", delay=5)
    page.wait_for_selector("#pick-found >> text=Found for “comma a”: 2")
    assert page.locator(".tree li:visible").count() == 3
    page.click(".all-found")
    assert page.inner_text("#pick-chosen") == "Ticked: 2 of 15"
    page.click("dialog .own > summary")
    page.fill("#pick-name", "Commas & more")
    tab.after(lambda: page.keyboard.press("Enter"))
    assert page.locator("dialog").count() == 0
    assert "Commas & more" in page.inner_text("tbody")
    assert tab.focused("value") == "valueCodes[place]"
    assert tab.loads == 1


def test_a_dialog_says_what_is_wrong_and_escape_leaves_all_as_it_was(tab):
    page = tab.open(f"{TABLE}?rows=place&cols=sex")
    page.click("button[name=pick][value='valueCodes[place]']")
    page.click("dialog button.go")
    page.wait_for_selector("#pick-problem:focus")
    assert "nothing is ticked" in page.inner_text("#pick-problem")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    assert page.evaluate("location.search") == "?rows=place&cols=sex"
    assert "400" in tab.wrong.pop()


def test_a_lost_connection_falls_back_to_the_browser(tab):
    page = tab.open(f"{TABLE}?rows=trade&cols=sex")
    page.route("**/*", lambda route: route.abort() if route.request.resource_type == "fetch" else route.continue_())
    with page.expect_navigation():
        page.select_option("#f-axis-3", "age")
    assert tab.loads == 2
    assert "cols=age" in page.url
    tab.wrong.clear()


def test_on_a_phone_the_table_comes_first_and_nothing_scrolls_the_page_sideways(chromium, server):
    tab = Tab(chromium, server, viewport={"width": 390, "height": 844})
    wide = f"{TABLE}?rows=place&cols=trade&codelist[place]=all"
    for address in (wide, f"{wide}&cell=N10|a", f"{TABLE}/pick?rows=place&pick=valueCodes[place]"):
        page = tab.open(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page = tab.open(wide)
    assert not page.is_visible("#build")
    assert page.is_visible(".sideways")
    page.click("#fold > summary")
    assert page.is_visible("#build")
    assert tab.wrong == []
    page.context.close()


def test_without_a_script_the_form_the_cells_and_the_picker_work(chromium, server):
    page = Tab(chromium, server, java_script_enabled=False, viewport={"width": 1280, "height": 900}).page
    page.goto(f"{TABLE}?rows=place&cols=sex")
    page.select_option("#f-axis-3", "age")
    page.click(".build .go")
    assert "cols=age" in page.url
    page.click("tbody td > button >> nth=1")
    assert "cell=" in page.url
    page.click("button[name=pick][value='valueCodes[place]']")
    page.fill("#pick-find", "hills")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert "Found for “hills”: 1" in page.inner_text("main")
    page.check("input[name=c][value=N2]")
    page.click("button.go")
    assert page.inner_text("tbody th") == "N2 North <b>hills</b>"
    page.context.close()

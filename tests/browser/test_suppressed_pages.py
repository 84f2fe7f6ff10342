"""A suppressed release in a real browser: quiet, accessible, no wider than a phone, and the banner where eyes begin."""

import pytest
from tests.browser.tab import PHONE, WIDE, Tab
from tests.serve.conftest import _serving
from tests.suppressed import release

TABLE = "/pay~pay?rows=trade&cols=size&codelist[trade]=all"
PAGES = (f"{TABLE}&cell=1a|s", f"{TABLE}&view=chart", "/privacy/pay", "/help?table=pay~pay")


@pytest.fixture(scope="module")
def suppressed(tmp_path_factory):
    with _serving([release(tmp_path_factory.mktemp("suppressed") / "pay")]) as client:
        yield str(client.base_url)


@pytest.mark.parametrize(
    ("scheme", "viewport"),
    [("light", WIDE), pytest.param("dark", PHONE, marks=pytest.mark.slow)],
    ids=["light wide", "dark narrow"],
)
def test_every_page_is_accessible_quiet_and_says_what_it_is(chromium, suppressed, scheme, viewport):
    tab = Tab(chromium, suppressed, color_scheme=scheme, viewport=viewport)
    for address in PAGES:
        page = tab.open(address)
        assert tab.violations() == []
        wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        assert not page.evaluate(wide)
        banner = page.get_by_text("Not formally private:").first
        assert banner.is_visible()
        assert banner.bounding_box()["y"] < 300
    tab.page.context.close()
    assert tab.wrong == []

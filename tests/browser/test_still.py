"""A site of files, opened from the disk without a server: accessible, no wider than the window, its links followed."""

import subprocess
import sys

import pytest
from tests.browser.tab import PHONE, WIDE

PAGES = ("index", "help", "budget", "employment/jobs/occupation-by-education", "employment/jobs/state-map")
PAGES += ("employment/jobs/sex-chart", "privacy/employment", "series/employment")
pytestmark = (
    pytest.mark.slow
)  # hundreds of pages are made before one is opened; `tests/serve/test_still.py` reads theirs


@pytest.fixture(scope="module")
def files(releases, tmp_path_factory):
    out, quarters = tmp_path_factory.mktemp("still") / "site", [one for one in releases if "-Q" in one.name]
    command = [sys.executable, "-m", "sfumato", "site", str(quarters[-1]), "--out", str(out)]
    subprocess.run([*command, "--address", "https://statistics.example"], check=True, capture_output=True)
    return out


@pytest.mark.parametrize(
    ("scheme", "viewport"),
    [("light", WIDE), ("dark", PHONE)],
    ids=["light wide", "dark narrow"],
)
def test_axe_finds_nothing_to_mend_in_files(open_tab, files, scheme, viewport):
    tab = open_tab(color_scheme=scheme, viewport=viewport)
    for name in PAGES:
        tab.page.goto((files / f"{name}.html").as_uri())
        assert tab.violations(preload=False) == [], name
        assert tab.overflow <= 0, name


def test_a_reader_follows_links_to_a_table_its_chart_and_its_card_without_a_script(open_tab, files):
    tab = open_tab(java_script_enabled=False)
    tab.page.goto((files / "index.html").as_uri())
    tab.page.click("text=Number of jobs by occupation")
    tab.page.click("nav.others >> text=Number of jobs by state >> nth=0")
    tab.page.click("nav.views >> text=Chart")
    assert tab.page.locator("figure svg").count() >= 1
    tab.page.click("header >> text=Releases")
    tab.page.click("text=How it was protected >> nth=0")
    assert "privacy" in tab.page.url

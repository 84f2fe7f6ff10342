"""Real Chromium, and one real server a session over releases like those of the demo; a tab tells what went wrong."""

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright
from tests.browser.tab import CHROMIUM, Tab
from tests.serve.conftest import _serving

import sfumato as sf
from sfumato.confidential import Account, Microdata, run
from sfumato.plan import Plan
from sfumato.privacy import Approximate
from sfumato.release import withdraw
from sfumato.synth import write

HERE = Path(__file__).parent
PLANS = Path(sf.__file__).parent / "plans"
JOBS, QUOTES = 40_000, 4_000


def pytest_collection_modifyitems(items):
    """Without a browser these tests are skipped and say so, whatever else runs."""
    absent = pytest.mark.skip(reason="there is no Chromium on this machine; `make test` installs it where it can")
    for item in items:
        if CHROMIUM is None and HERE in item.path.parents:
            item.add_marker(absent)


# Playwright holds an event loop while it runs, and tests elsewhere start loops of their own: a browser a module.
@pytest.fixture(scope="module")
def chromium():
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def releases(tmp_path_factory):
    """As in the demo, only smaller: quarters of jobs with a map, one of them withdrawn, and a survey."""
    folder = tmp_path_factory.mktemp("demo")
    jobs, survey = (Plan.read(PLANS / f"{name}.toml") for name in ("employment", "ors"))
    Account.create(folder / "jobs.ledger", "synthetic jobs", jobs.hidden, Approximate(6))
    Account.create(folder / "firms.ledger", "synthetic establishments", survey.hidden, survey.limit)
    for seed, quarter in enumerate(("2025-Q4", "2026-Q1", "2026-Q2")):
        made = write("employment", folder / quarter, JOBS, seed)
        of = replace(jobs, period=quarter)
        run(of, Microdata.open(made, of.schema), folder / "jobs.ledger", folder / f"release-{quarter}")
    withdraw(folder / "release-2025-Q4", "A file was read twice.")
    made = write("ors", folder, QUOTES)
    run(survey, Microdata.open(made, survey.schema), folder / "firms.ledger", folder / "release")
    return sorted(folder.glob("release*"))


@pytest.fixture(scope="session")
def site(releases):
    """A real server over the releases."""
    with _serving(releases) as client:
        yield client


@pytest.fixture
def open_tab(chromium, site):
    """Open a tab; when the test ends it must have been quiet: no error, no dialog, no request to another origin."""
    opened = []

    def one(**options):
        tab = Tab(chromium, str(site.base_url), **options)
        opened.append(tab)
        return tab

    yield one
    for tab in opened:
        tab.page.context.close()
    assert [tab.wrong for tab in opened if tab.wrong] == []

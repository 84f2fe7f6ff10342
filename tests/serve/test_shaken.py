"""Other draws: of the law that margins are from, about published numbers alone, the same for everybody."""

import re
import shutil
from html import unescape

import numpy as np
import pytest
from scipy import stats

from sfumato.query import open_folder
from sfumato.query.shaken import shaken
from sfumato.release import open_release

COUNT = 8_000
Z = 6.2
"""Of a check with a normal law: false alarms below 1e-9. Draws 8% too narrow or wide are found."""


@pytest.fixture(scope="module")
def table(release):
    return open_folder(release).table("sex", of="jobs")


@pytest.fixture(scope="module")
def many(release):
    """One row, drawn many times."""
    (row,) = shaken(open_folder(release).table("sex", of="jobs", where={"sex": "female"}), count=COUNT)
    return row


def test_draws_have_the_variance_and_the_middle_of_the_published_law(many):
    errors, variance = np.array(many.draws) - many.published.value, many.published.noise_variance
    assert abs(errors.mean()) < Z * np.sqrt(variance / COUNT)
    assert stats.kstest(errors / np.sqrt(variance), "norm").pvalue > 1e-9
    for factor, held in ((1.0, True), (0.92, False), (1.08, False)):
        off = abs((factor * errors).var() / variance - 1)
        assert (off < Z * np.sqrt(2.2 / COUNT)) == held


def test_one_draw_in_ten_lies_beyond_the_margin(many):
    beyond = np.mean(np.abs(np.array(many.draws) - many.published.value) > many.published.moe(0.90))
    assert abs(beyond - 0.1) < Z * np.sqrt(0.1 * 0.9 / COUNT)


def test_draws_are_whole_steps_the_same_every_time_and_other_than_those_of_another_row(table, release):
    again = shaken(open_folder(release).table("sex", of="jobs"))
    assert again == shaken(table)
    first, second = (np.array(row.draws) - row.published.value for row in again)
    assert not np.array_equal(first, second)
    assert all(one == round(one) for row in again for one in row.draws)


def test_draws_follow_from_the_published_files_alone(release, tmp_path):
    """The release copied to a place where nothing else is gives the same draws."""
    shutil.copytree(release, tmp_path / "alone")
    assert open_release(tmp_path / "alone").id
    alone = shaken(open_folder(tmp_path / "alone").table("sex", of="jobs"))
    assert alone == shaken(open_folder(release).table("sex", of="jobs"))


def test_the_page_leads_to_ten_draws_and_says_what_they_are_not(page):
    first = unescape(page.get("/jobs-survey~jobs?rows=place&cols=sex&codelist[place]=leaves").text)
    link = re.search(r'href="(/jobs-survey~jobs/shake[^"]*)"', first)[1]
    shown = unescape(page.get(link).text)
    assert "never published" in shown
    assert "They are no releases, no estimates and no data" in shown
    rows = re.findall(r'<tr><th scope="row".*?</tr>', shown, re.DOTALL)
    assert rows
    for row in rows:
        assert len(re.findall(r'<td class="drawn', row)) == 10
        assert "±" in row
    # Each draw has one largest row, or several that are equal.
    assert len(re.findall(r'class="drawn first', shown)) >= 10


@pytest.mark.parametrize("address", ["rows=place&rows=sex", "rows=hours&rows=period"])
def test_what_has_no_draws_is_refused_and_not_offered(page, address):
    assert page.get(f"/jobs-survey~jobs/shake?{address}").status_code == 400
    assert "/shake" not in page.get(f"/jobs-survey~jobs?{address}").text

"""What displays left unsaid: withheld cells in charts, rivals of a total, what a border cuts, whose grades they are."""

import html
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import SMALL
from tests.serve.conftest import Browser
from tests.suppressed import release as suppressed

from sfumato.plan import Plan
from sfumato.serve import app


def seen(reply):
    assert reply.status_code == 200, reply.text[:300]
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", reply.text)))


@pytest.fixture(scope="module")
def withheld(tmp_path_factory):
    return suppressed(tmp_path_factory.mktemp("withheld") / "pay")


def test_a_chart_says_which_cells_are_withheld_and_why(withheld):
    """Masons and tilers are withheld, in small and in large firms: a row for each, in words, and not nothing."""
    site = Browser(app([withheld]))
    for kind in ("dot", "bar"):
        page = site.get(f"/pay~pay?rows=trade&cols=size&codelist[trade]=all&view=chart&chart={kind}").text
        svg = re.search(r'<svg class="pic".*?</svg>', page, re.DOTALL)[0]
        for name in ("Masons", "Tilers"):
            assert name in svg
        told = seen(site.get(f"/pay~pay?rows=trade&cols=size&codelist[trade]=all&view=chart&chart={kind}"))
        assert told.count("Masons, Small: ") + told.count("Masons, Large: ") >= 2
        assert ">D<" in svg  # the mark of what is withheld, where a number would stand


def test_help_does_not_say_of_all_releases_what_holds_of_one(withheld, release):
    site = Browser(app([release, withheld]))
    assert "has no noise: some of its numbers are withheld" in seen(site.get("/help"))
    assert "has noise in every number" in seen(site.get("/help?table=pay~pay"))
    assert "its answers are others" not in seen(Browser(app([withheld])).get("/help"))


def test_a_release_is_not_called_verified_where_nobody_checked_a_signature(page):
    for address in ("/", "/jobs-survey~jobs", "/privacy/jobs-survey"):
        said = seen(page.get(address))
        assert "verified" not in said
        assert "match its manifest" in said or address != "/"


def test_rivals_of_one_total_are_named_as_measured_again(browse, tmp_path, make_release):
    """Jobs by trade and jobs by place are two measurements of one total: the first page prints one of them."""
    text = SMALL.partition("[[measure]]")[0]
    for name in ("trade", "place"):
        text += f'[[measure]]\nname = "by_{name}"\ntitle = "Jobs by {name}"\nof = "count"\nby = ["{name}"]\n'
        text += 'with = { mechanism = "geometric", epsilon = "1" }\n'
    text += '[publish]\nanswers = ["by_trade", "by_place"]\n'
    site = browse([make_release(plan=Plan.parse(text, Path("small.toml")))])
    page = site.get("/").text
    items = re.findall(r"<li><a href=\"/small~by_(\w+)\".*?</li>", page, re.DOTALL)
    assert items == ["trade", "place"]
    (again,) = re.findall(r"<li><a href=\"/small~by_place\".*?</li>", page, re.DOTALL)
    (first,) = re.findall(r"<li><a href=\"/small~by_trade\".*?</li>", page, re.DOTALL)
    assert "measured again" in again
    assert "±" not in again
    assert "±" in first


def test_a_search_over_releases_with_other_grades_says_what_they_mean(browse, make_release, small_plan):
    """A is 15% in one and 5% in the other; where all grade alike nothing is said."""
    publish = replace(small_plan.publish, grades={"A": 0.05, "B": 0.10})
    other = make_release("other", plan=replace(small_plan, name="other", title="Other jobs", publish=publish))
    own = make_release("own")
    both = seen(browse([own, other]).get("/find?q=jobs"))
    assert "grades here: A under 15%, B under 30%" in both
    assert "grades here: A under 5%, B under 10%" in both
    assert "grades here" not in seen(browse([own]).get("/find?q=jobs"))

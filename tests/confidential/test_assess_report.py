"""The report of an assessment: sampling errors beside noise, a page that stands alone, a file that stays private."""

import json
import re
import stat
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.test_cli import sfumato
from tests.conftest import SMALL, small_rows

import sfumato as sf
from sfumato.confidential import Microdata, Options, run
from sfumato.confidential.assessment import Assessment, Sweep, assess
from sfumato.confidential.estimands import TotalOf
from sfumato.confidential.true_table import TableLayout, true_table
from sfumato.errors import DataError
from sfumato.plan import Plan
from sfumato.release import Manifest


def rehearsed(plan: sf.Plan, rows: pa.Table, folder: Path, sweep: Sweep | None = None) -> Assessment:
    """A rehearsal of a plan, assessed."""
    microdata = Microdata.open(rows, plan.schema)
    run(plan, microdata, None, folder, Options(rehearsal=7))
    return assess(plan, microdata, folder, sweep=sweep)


def one_way(numbers: dict, product: str) -> dict:
    return next(one for one in numbers["products"] if one["name"] == product)["by_dimension"][0]


WEIGHT = 'weight = "weight"\nweight_kind = "base"'
DESIGN = f'unit = "job"\nkey = "id"\n{WEIGHT}\norder = "id"\nreplicates = 20\n[attributes.trade]'
SURVEY = (
    SMALL.replace('unit = "job"\n[attributes.trade]', DESIGN)
    .replace('column = "pay", clip = ["0", "1000"], step = "10"', 'column = "weight", clip = ["0", "100"], step = "1"')
    .replace('period = "2026-Q1"', 'sampling = "not bought"')
    .replace('of = "count"', 'of = { statistic = "count", weighted = false }')
)


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    plan, rows = Plan.parse(SURVEY, Path("survey.toml")), small_rows(600)
    rows = rows.append_column("id", pa.array(range(600)))
    rows = rows.append_column("weight", pa.array([10 + place % 7 for place in range(600)]))
    folder = tmp_path_factory.mktemp("survey") / "release"
    return plan, rows, rehearsed(plan, rows, folder, Sweep.read(plan, {"epsilon": ["1", "2"]}, draws=1)).numbers


def test_sampling_errors_are_those_of_tabulate(survey):
    plan, rows, numbers = survey
    spread = []
    for name in ("trade", "place", "age"):
        layout = TableLayout([name], at={name: "leaves"})
        spread += np.sqrt(true_table(plan, Microdata.open(rows, plan.schema), layout, TotalOf()).variances).tolist()
    assert one_way(numbers, "pay")["errors"]["sampling"] == pytest.approx(np.median(spread), rel=1e-9)
    assert 0 < one_way(numbers, "pay")["errors"]["noise_share"] < 1
    assert one_way(numbers, "pay")["overlap"]["cells"] == 10


def test_a_count_of_the_sample_has_no_sampling_error_and_says_why(survey):
    _, _, numbers = survey
    assert one_way(numbers, "jobs")["errors"]["sampling"] is None
    assert one_way(numbers, "jobs")["overlap"] is None
    assert "does not sum the weight" in numbers["products"][0]["no_sampling_error"]


class Page(HTMLParser):
    """The ids, links and elements of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids, self.links, self.tags = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.tags.append(tag)
        self.ids += [named["id"]] if "id" in named else []
        self.links += [named[key] for key in ("href", "src") if key in named]


SECTIONS = {
    "flips", "uniques", "slivers", "differences", "size", "means", "publishable", "association", "overlap",
    "honesty", "errors", "bounds", "sweep", "tables",
}  # fmt: skip


def test_the_page_stands_alone_and_its_contents_lead_somewhere(survey):
    from sfumato.confidential.assessment.page import page

    _, _, numbers = survey
    text = page(numbers)
    found = Page(text)
    assert not re.search(r"https?://|url\(|@import|<script|<link|<img|<iframe", text)
    assert "default-src 'none'" in text
    assert text.count("CONFIDENTIAL") >= 3
    sections = SECTIONS - {"means"}  # a total of the weight over the interviews is no mean that a reader is offered
    assert {link.removeprefix("#") for link in found.links} == sections
    assert set(found.ids) >= sections
    assert len(found.ids) == len(set(found.ids))
    assert found.tags.count("svg") >= 8
    assert not re.search(r"\b(nan|inf|None)\b", re.sub(r"<style.*?</style>|<[^>]*>", "", text, flags=re.DOTALL))


def test_every_picture_stays_within_its_frame(survey):
    from sfumato.confidential.assessment.page import page

    _, _, numbers = survey
    for drawing in re.findall(r"<svg.*?</svg>", page(numbers), flags=re.DOTALL):
        height = float(re.search(r'viewBox="0 0 720 ([\d.]+)"', drawing)[1])
        across = [float(x) for x in re.findall(r' (?:x|cx|x1|x2)="(-?[\d.]+)"', drawing)]
        down = [float(y) for y in re.findall(r' (?:y|cy|y1|y2)="(-?[\d.]+)"', drawing)]
        assert min(across) >= 0
        assert max(across) <= 720
        assert min(down) >= 0
        assert max(down) <= height


def test_one_record_has_a_report_all_the_same_and_none_have_no_release(tmp_path):
    plan = Plan.parse(SMALL, Path("small.toml"))
    found = rehearsed(plan, small_rows(1), tmp_path / "r")
    flips = one_way(found.numbers, "jobs")["flips"]
    assert (flips["zeros"], flips["nonzeros"]) == (7, 3), "ten levels in three one-way tables, one of each filled"
    assert "Zeros that moved" in found.to_html()
    with pytest.raises(DataError, match="no rows"):
        rehearsed(plan, small_rows(0), tmp_path / "none")


def test_a_release_that_withholds_its_errors_is_compared_without_them(tmp_path):
    plan = Plan.parse(SMALL, Path("small.toml"))
    rehearsed(plan, small_rows(), tmp_path / "r")
    manifest = Manifest.from_bytes((tmp_path / "r" / "manifest.json").read_bytes())
    silent = {"kind": "withheld", "reason": "the scale is the largest employer of the cell"}
    lines = [line.model_copy(update={"uncertainty": silent}) for line in manifest.products]
    (tmp_path / "r" / "manifest.json").write_bytes(manifest.model_copy(update={"products": lines}).to_bytes())
    found = assess(plan, Microdata.open(small_rows(), plan.schema), tmp_path / "r")
    part = one_way(found.numbers, "jobs")
    assert (part["stated"], part["grade_a"], part["errors"], part["honesty"]["held"]) == (0, None, None, None)
    assert part["differences"]["mean_absolute"] > 0
    assert "withholds the error of its noise" in found.to_html()


HOSTILE = '<script>alert("x")</script>&<img src=x onerror=1>{{7*7}}'


def test_hostile_labels_are_escaped_everywhere(tmp_path):
    text = SMALL
    for old in ('label = "Place"', 'title = "Jobs by trade and place"', 'unit = "euros"', 'label = "Food"'):
        text = text.replace(old, f"{old.split(' = ')[0]} = '{HOSTILE}'")
    page = rehearsed(Plan.parse(text, Path("hostile.toml")), small_rows(), tmp_path / "r").to_html()
    assert {"script", "img"}.isdisjoint(Page(page).tags)
    assert "{{7*7}}" in page
    assert page.count("&lt;script&gt;") > 5


@pytest.fixture
def agency(tmp_path):
    """A plan, its data and a release in a folder, and the words that assess it."""
    (tmp_path / "small.toml").write_text(SMALL)
    pq.write_table(small_rows(), tmp_path / "jobs.parquet")
    plan = sf.Plan.read(tmp_path / "small.toml")
    run(plan, Microdata.open(small_rows(), plan.schema), None, tmp_path / "release", Options(rehearsal=7))
    return ["assess", tmp_path / "small.toml", "--data", tmp_path / "jobs.parquet", "--release", tmp_path / "release"]


def test_the_command_says_confidential_and_its_report_is_the_owners_alone(agency, tmp_path):
    report = tmp_path / "report.html"
    report.write_text("an older one that everybody may read")
    report.chmod(0o644)
    done = sfumato(*agency, "--out", report, "--sweep", "epsilon=1,2", "--draws", "2")
    assert done.stdout.startswith("CONFIDENTIAL")
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    assert "Choosing the budget" in report.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["jobs.parquet", "release", "report.html", "small.toml"]


def test_the_command_gives_the_same_numbers_to_machines(agency, tmp_path):
    said = sfumato(*agency, "--out", tmp_path / "report.html", "--json").stdout
    numbers = json.loads(said, parse_constant=pytest.fail)
    assert numbers["confidential"] is True
    assert numbers["notice"].startswith("CONFIDENTIAL")
    assert [one["name"] for one in numbers["products"]] == ["jobs", "pay"]
    assert numbers["products"][0]["name"] in (tmp_path / "report.html").read_text()


def test_a_report_inside_the_release_is_refused_before_anything_is_read(agency, tmp_path):
    (tmp_path / "jobs.parquet").unlink()
    refused = sfumato(*agency, "--out", tmp_path / "release" / "report.html", good=False)
    assert "inside the release" in refused.stderr

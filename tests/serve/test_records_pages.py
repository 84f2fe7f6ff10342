"""The pages of a release over a public frame: what is hidden in its own words, what is not, and dashes for no cell."""

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from scipy.stats import norm
from tests.serve.small import seen

from sfumato.confidential import Microdata, Options, run
from sfumato.confidential.gate import stages
from sfumato.plan import Plan
from sfumato.release import open_release
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.pages.promise import Promised
from sfumato.synth import write

ROWS = 400


@pytest.fixture(scope="module")
def agency(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("records")
    write("qcew", folder, ROWS, 1, None)
    return folder


def released(agency, name, plan=None):
    read, passed = Plan.read(plan or agency / "qcew-2026q1.toml"), []
    data = Microdata.open(agency / "qcew-2026q1.parquet", read.schema)
    run(read, data, None, agency / name, Options(rehearsal=3, progress=passed.append))
    assert tuple(passed) == stages(read)
    return agency / name


@pytest.fixture(scope="module")
def release(agency):
    return released(agency, "release")


@pytest.fixture(scope="module")
def shelf(release, browse):
    return browse([release])


def test_the_card_says_what_is_hidden_and_what_is_not(shelf):
    text = seen(shelf, "/privacy/qcew").text
    for words in (
        "employment in the third month, each between 91 and 110 when it is 100 (square roots within 0.5)",
        "Two data sets that differ in this and in nothing else are neighbours.",
        "Values further apart are told apart more often.",
        "Each establishment has one row in a public register, and every row counts.",
        "Which establishments there are, and what the register says of them, is public",
        "jobs_1_rows each establishment",
        "jobs_1_all the whole",
        "jobs_1_county_naics5 by County × Industry (5 digits)",
        "if its largest establishment has 100",
        "100 or 110?",
    ):
        assert words in text, words
    for words in ("of its rows count", "is in it as they think", "also the empty ones", "m1emp", "naics@3", "by ,"):
        assert words not in text, words


def test_the_card_is_german_for_who_reads_german(shelf):
    text = seen(shelf, "/privacy/qcew?lang=de").text
    for words in ("jede Einheit (Betrieb)", "das Ganze", "nach County × Wirtschaftszweig (5 Stellen)", "100 oder 110?"):
        assert words in text, words
    assert "told apart" not in text


def test_a_table_says_its_unit_and_shows_no_zero_where_nothing_stands(shelf):
    shown = shelf.get("/qcew~jobs_1?rows=naics&cols=ownership&codelist[naics]=@0").text
    text = seen(shelf, "/qcew~jobs_1?rows=naics&cols=ownership").text
    assert "Employment in the first month by industry and ownership" in text
    assert "Jobs, 2026-Q1." in text
    assert not re.search(r">0<[^±]{0,80}±\s*0<", shown)
    assert "–" in text
    assert "who has two values in mind" in text


def test_the_example_is_as_told_apart_as_normal_noise_on_roots(release):
    """The test between 100 and 110 sees roots 10 and 10.488 through noise with sd beta / mu = 0.5 / 0.7."""
    example = Promised(Catalogue.open([release]).editions[0]).example
    assert example.pair == ("100", "110")
    power = norm.sf(norm.isf(0.05) - (110**0.5 - 10) * 0.7 / 0.5)
    assert example.example.told_apart == pytest.approx(power, abs=2e-4)
    assert example.se == pytest.approx((4 * 100 * (5 / 7) ** 2 + 2 * (5 / 7) ** 4) ** 0.5, rel=1e-5)


def test_firms_that_are_hidden_whole_are_spoken_of_as_firms(agency, browse):
    frame = Plan.read(agency / "qcew-2026q1.toml").frame.path
    most = max(one["counts"].as_py() for one in pq.read_table(frame).column("firm_id").value_counts())
    text = (agency / "qcew-2026q1.toml").read_text("utf-8")
    (agency / "firm.toml").write_text(text.replace("beta = {", f'firm = "firm_id"\nat_most = {most}\nbeta = {{'))
    text = seen(browse([released(agency, "firms", agency / "firm.toml")]), "/privacy/qcew").text
    assert f"All establishments of one firm are hidden together, at most {most} of them" in text
    assert "tells which of two values one firm reports" in text
    assert "jobs_1_rows each establishment" in text


def test_an_older_promise_is_written_as_it_was(release):
    """What older releases do not say stays unsaid, so their manifests keep their bytes."""
    manifest = open_release(release).manifest
    older = manifest.model_copy(update={"promise": manifest.promise.model_copy(update={"not_hidden": ""})})
    assert b"not_hidden" in manifest.to_bytes()
    assert b"not_hidden" not in older.to_bytes()


def test_pages_of_rows_fitted_to_clipped_totals_say_that_what_lies_above_a_topcode_is_not_in_them(shelf):
    said = "what lies above it is not in them. It cuts the largest value of a group with a chance of 0.01."
    for name in ("jobs_1", "wages"):
        assert seen(shelf, f"/qcew~{name}").text.count(said) == 1
    assert said in shelf.get("/api/v2/tables/qcew~jobs_1/data?outputFormat=csv").text

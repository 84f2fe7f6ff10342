"""Time: the periods of a series are a variable of one table, in the API, files and pages, and changes have verdicts.

Three quarters of six cells, of 20 to 25 in the first; each cell has 1 more in the second and 30 more in the third,
which was issued twice.
"""

import csv
import html
import io
import json
import os
import re
import subprocess

import pytest
from pyjstat import pyjstat
from tests.serve.small import seen, small
from tests.serve.test_clients import toolkit

import sfumato as sf
from sfumato.release import open_release, withdraw

TABLE = "/api/v2/tables/firms~number"
DATA = f"{TABLE}/data"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("time")
    first = small(folder / "first", period="2026-Q1", more=29, created="2026-04-01T00:00:00Z")
    return {
        "2025-Q1": small(folder / "a", period="2025-Q1", created="2025-04-01T00:00:00Z"),
        "2025-Q4": small(folder / "b", period="2025-Q4", more=1, created="2026-01-01T00:00:00Z"),
        "first": first,
        "2026-Q1": small(
            folder / "c", period="2026-Q1", more=30, created="2026-05-01T00:00:00Z", supersedes=open_release(first).id
        ),
    }


@pytest.fixture(scope="module")
def pages(made, browse):
    return browse(list(made.values()))


def digits(made, name):
    return open_release(made[name]).id[:12]


def values(pages, query, metric="estimate", path=DATA):
    """The numbers of one metric, in their order."""
    dataset = pages.get(f"{path}?{query}").json()
    place = dataset["dimension"]["ContentsCode"]["category"]["index"][metric]
    return dataset["value"][place :: dataset["size"][-1]]


def test_the_list_has_one_table_a_statistic_with_its_first_and_last_period(pages, made):
    (entry,) = pages.get("/api/v2/tables").json()["tables"]
    assert entry["id"] == "firms~number"
    assert (entry["firstPeriod"], entry["lastPeriod"]) == ("2025-Q1", "2026-Q1")
    assert entry["variableNames"] == ["Size", "Sex", "Period"]
    every = pages.get("/api/v2/tables?includeDiscontinued=true").json()["tables"]
    assert [one["id"] for one in every] == ["firms~number", f"firms.{digits(made, 'first')}~number"]


def test_metadata_has_the_periods_as_the_variable_of_time(pages, made):
    metadata = pages.get(f"{TABLE}/metadata").json()
    assert metadata["role"] == {"metric": ["ContentsCode"], "time": ["period"]}
    assert metadata["size"] == [3, 2, 3, 5]
    period = metadata["dimension"]["period"]
    assert list(period["category"]["index"]) == ["2025-Q1", "2025-Q4", "2026-Q1"]
    assert period["extension"]["elimination"] is False
    (note,) = period["category"]["note"]["2026-Q1"]
    assert f"{digits(made, 'first')} (superseded)" in note
    assert "2025-Q4" not in period["category"]["note"]
    assert (metadata["extension"]["firstPeriod"], metadata["extension"]["lastPeriod"]) == ("2025-Q1", "2026-Q1")


def test_without_a_selection_the_newest_period_is_given_and_says_which_it_is(pages):
    dataset = pages.get(DATA).json()
    assert (dataset["id"], dataset["size"]) == (["period", "ContentsCode"], [1, 5])
    assert dataset["role"]["time"] == ["period"]
    assert dataset["dimension"]["period"]["category"]["label"] == {"2026-Q1": "2026-Q1"}
    assert dataset["value"][0] == sum(range(50, 56))


@pytest.mark.parametrize(
    ("asked", "periods"),
    [
        ("*", ["2025-Q1", "2025-Q4", "2026-Q1"]),
        ("top(2)", ["2025-Q4", "2026-Q1"]),
        ("2026-Q1,2025-Q1", ["2025-Q1", "2026-Q1"]),
        ("from(2025-Q4)", ["2025-Q4", "2026-Q1"]),
        ("2025*", ["2025-Q1", "2025-Q4"]),
    ],
)
def test_each_period_is_what_its_release_says(pages, made, asked, periods):
    found = values(pages, f"valueCodes[period]={asked}&valueCodes[size]=s,l")
    each = [sf.open(made[period]).table("size") for period in periods]
    assert found == [table[size].value for size in ("s", "l") for table in each]


def test_what_was_saved_or_cited_before_still_answers(pages, made):
    for address in ("firms.2025-Q4", f"firms.{digits(made, '2025-Q4')}"):
        assert values(pages, "", path=f"/api/v2/tables/{address}~number/data") == [sum(range(21, 27))]
    asked = {"tableId": "firms~number", "selection": {"selection": [{"variableCode": "sex", "valueCodes": ["f"]}]}}
    saved = pages.ask("POST", "/api/v2/savedqueries", json=asked).json()
    assert pages.get(f"/api/v2/savedqueries/{saved['id']}/data").json()["value"][0] == 50 + 52 + 54


def test_a_query_over_periods_is_saved_and_runs(pages):
    chosen = [{"variableCode": "period", "valueCodes": ["top(2)"]}]
    asked = {"tableId": "firms~number", "selection": {"selection": chosen, "change": "year"}}
    saved = pages.ask("POST", "/api/v2/savedqueries", json=asked).json()
    assert saved["problems"] == []
    dataset = pages.get(f"/api/v2/savedqueries/{saved['id']}/data").json()
    assert dataset["value"][0] == 6 * 30
    gone = {**asked, "selection": {"selection": [{"variableCode": "period", "valueCodes": ["2019"]}]}}
    assert "there is no '2019' here" in pages.ask("POST", "/api/v2/savedqueries", json=gone).json()["detail"]


def test_a_release_that_was_replaced_stands_beside_the_one_that_replaced_it(pages, made):
    code = digits(made, "first")
    dataset = pages.get(f"{DATA}?valueCodes[period]=2026-Q1,{code}").json()
    labels = dataset["dimension"]["period"]["category"]["label"]
    assert labels == {code: f"2026-Q1, superseded ({code})", "2026-Q1": "2026-Q1"}
    assert dataset["value"][::5] == [sum(range(49, 55)), sum(range(50, 56))]
    assert any(note.startswith("2026-Q1: Superseded") for note in dataset["note"])
    revised = pages.get(f"{DATA}?change={code}").json()
    assert (revised["value"][0], revised["status"]["0"]) == (6, "none")
    assert f"change since 2026-Q1, superseded ({code})" in pages.get(f"/firms~number?rows=size&change={code}").text


def test_titles_of_changes_say_which_release_was_replaced_as_columns_do(pages, made):
    first, newer = digits(made, "first"), digits(made, "2026-Q1")
    since = f"2026-Q1, superseded ({first})"
    title = "Number of firms by size: change from"
    assert f"{title} {since} to 2026-Q1" in seen(pages, f"/firms~number?rows=size&change={first}").text
    page = seen(pages, f"/firms.{first}~number?rows=size&change={newer}").text
    assert f"{title} 2026-Q1, another version ({newer}) to {since}" in page
    assert f"{title} 2025-Q4 to {since}" in seen(pages, f"/firms.{first}~number?rows=size&change=last").text


def test_periods_that_stand_nowhere_are_said_to_change_nothing_unless_one_is_meant(pages):
    plain, nothing = "/firms~number?rows=size", "changed nothing: valueCodes[period]"
    several = pages.get(f"{plain}&valueCodes[period]=2025-Q1,2025-Q4").text
    assert nothing in several
    assert "2026-Q1" in several.partition("</title>")[0]
    one = pages.get(f"{plain}&valueCodes[period]=2025-Q4").text
    assert nothing not in one
    assert "2025-Q4" in one.partition("</title>")[0]


def test_the_address_of_an_answer_over_periods_lasts(pages, made, browse, tmp_path):
    dataset = pages.get(f"{DATA}?valueCodes[period]=*&valueCodes[size]=s").json()
    assert digits(made, "2025-Q1") in dataset["href"]
    again = small(
        tmp_path / "again", period="2025-Q1", more=7, created="2026-06-01T00:00:00Z",
        supersedes=open_release(made["2025-Q1"]).id,
    )  # fmt: skip
    later = browse([*made.values(), again])
    assert later.get(dataset["href"].removeprefix("http://127.0.0.1:8000")).json()["value"] == dataset["value"]
    assert later.get(f"{DATA}?valueCodes[period]=*&valueCodes[size]=s").json()["value"] != dataset["value"]


@pytest.mark.parametrize("query", ["valueCodes[period]=*&change=last", "valueCodes[period]=top(2)&change=2025-Q1"])
def test_the_address_of_changes_lasts_when_what_they_are_counted_from_is_replaced(pages, made, browse, tmp_path, query):
    """Each cell of the first quarter has 7 more in the release that replaces it, so that changes from it are 7 less."""
    dataset = pages.get(f"{DATA}?{query}&valueCodes[size]=s").json()
    page = html.unescape(pages.get(f"/firms~number?rows=size&cols=period&{query}").text)
    cited = re.search(r"/firms\.[0-9a-f]{12}~number\?[^\"<> ]*change=[^\"<> ]*", page)[0]
    again = small(
        tmp_path / "again", period="2025-Q1", more=7, created="2026-06-01T00:00:00Z",
        supersedes=open_release(made["2025-Q1"]).id,
    )  # fmt: skip
    later = browse([*made.values(), again])
    assert later.get(dataset["href"].removeprefix("http://127.0.0.1:8000")).json()["value"] == dataset["value"]
    assert later.get(f"{DATA}?{query}&valueCodes[size]=s").json()["value"] != dataset["value"]
    numbers = re.findall(r'class="n">([^<]*)', page)
    assert re.findall(r'class="n">([^<]*)', later.get(cited).text) == numbers
    assert re.findall(r'class="n">([^<]*)', later.get(f"/firms~number?rows=size&cols=period&{query}").text) != numbers


def test_a_release_that_is_compared_with_is_named_or_refused(pages):
    said = pages.get(f"{DATA}?valueCodes[period]=*&change=last,000000000000")
    assert said.status_code == 400
    assert "there is no '000000000000' here" in said.json()["detail"]


def test_an_embed_of_changes_keeps_its_numbers_and_turns_red_when_the_earlier_release_is_withdrawn(
    browse, tmp_path, monkeypatch
):
    """Of the first quarter there are two releases: with the later one withdrawn, the earlier stands for it again."""
    monkeypatch.setattr("sfumato.serve.watching.LOOKS_AFTER", 0)
    early = small(tmp_path / "early", period="2026-Q1", created="2026-04-01T00:00:00Z")
    late = small(tmp_path / "late", period="2026-Q1", more=7, supersedes=open_release(early).id)
    site = browse([early, late, small(tmp_path / "next", period="2026-Q2", more=30)])
    page = html.unescape(html.unescape(site.get("/firms~number?rows=size&cols=period&change=last").text))
    frame = re.search(r'<iframe src="https?://[^/]*([^"]*)"', page)[1]
    before = site.get(frame).text
    assert "+46" in before  # two cells of a size have 23 more each
    withdraw(late, "counted twice")
    after = site.get(frame).text
    assert re.findall(r'class="n">([^<]*)', after) == re.findall(r'class="n">([^<]*)', before)
    assert 'class="embedded withdrawn"' in after
    assert "counted twice" in after


def test_periods_are_the_same_in_every_language_whichever_releases_have_units_in_it(browse, tmp_path):
    told = {"languages": {"de": {"title": "Firmen", "units": {"firms": "Firmen"}}}}
    folders = [small(tmp_path / "a", period="2025"), small(tmp_path / "b", period="2026", more=9, **told)]
    site = browse(folders)
    for language in ("en", "de"):
        metadata = site.get(f"{TABLE}/metadata?lang={language}").json()
        assert list(metadata["dimension"]["period"]["category"]["index"]) == ["2025", "2026"]
        assert site.get(f"/firms~number?rows=size&cols=period&change=last&lang={language}").status_code == 200


def test_a_new_release_in_the_series_makes_old_answers_stale(pages, made, browse):
    fewer = browse([made["2025-Q1"], made["2025-Q4"]])
    address = "/api/v2/tables/firms.2025-Q4~number/metadata"
    assert fewer.get(address).headers["etag"] != pages.get(address).headers["etag"]


def test_changes_have_their_error_percentage_and_verdict(pages):
    query = "valueCodes[size]=s&valueCodes[sex]=f&valueCodes[period]=*&change=last"
    assert values(pages, query) == [1, 29]
    assert values(pages, query, "before") == [20, 21]
    assert values(pages, query, "percent") == pytest.approx([100 / 20, 2900 / 21])
    dataset = pages.get(f"{DATA}?{query}").json()
    assert [dataset["status"][str(place)] for place in (0, dataset["size"][-1])] == ["none", "real"]
    assert dataset["dimension"]["period"]["category"]["label"]["2026-Q1"] == "2025-Q4 → 2026-Q1"
    assert any("Verdicts are at 90%" in note for note in dataset["note"])


def test_a_year_before_and_any_two_periods_are_compared(pages):
    assert values(pages, "change=year") == [6 * 30]
    assert values(pages, "change=2025-Q4") == [6 * 29]
    assert values(pages, "valueCodes[period]=2025-Q1&change=2026-Q1") == [-6 * 30]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("valueCodes[period]=2025-Q3", "there is no '2025-Q3' here; did you mean '2025-Q4'"),
        ("sum[period]=2025-Q4", "Periods are not added up"),
        ("group[period]=Mine:2025-Q4", "no groups"),
        ("valueCodes[period]=2025-Q1&change=last", "no earlier period is here"),
        ("change=lats", "There is no period 'lats' here"),
        ("change=last&share=whole", "not of percentages"),
        ("change=2026-Q1", "not compared with itself"),
    ],
)
def test_what_cannot_be_said_of_periods_is_refused_with_what_can(pages, query, said):
    reply = pages.get(f"{DATA}?{query}")
    assert reply.status_code == 400
    assert said in reply.json()["detail"]


@pytest.mark.parametrize("share", ["row", "column", "whole"])
def test_a_page_says_that_changes_are_not_of_percentages_and_leads_to_these(pages, share):
    """The API refuses both together; a form carries both along, so that the page gives changes and says so."""
    said, plain = "the percentages that were asked for are left out", "rows=size&cols=sex"
    page = pages.get(f"/firms~number?{plain}&change=last&share={share}").text
    assert said in page
    (link,) = re.findall(r'<a href="([^"]*)">Percentages, without changes</a>', page)
    alone = pages.get(html.unescape(link)).text
    assert f"share={share}" in link
    assert "change=" not in link
    assert "100%" in alone
    assert said not in alone + pages.get(f"/firms~number?{plain}&change=last").text


def test_withdrawn_and_private_releases_are_no_periods_of_public_tables(browse, made, tmp_path):
    pulled = small(tmp_path / "pulled", period="2025-Q2")
    withdraw(pulled, "counted twice")
    rehearsed = small(tmp_path / "next", period="2026-Q2", rehearsal=True, releasable=False, why="rehearsal")
    pages = browse([*made.values(), pulled, rehearsed])
    periods = pages.get(f"{TABLE}/metadata").json()["dimension"]["period"]["category"]["index"]
    assert list(periods) == ["2025-Q1", "2025-Q4", "2026-Q1"]
    own = pages.get("/api/v2/tables/firms.2025-Q2~number/metadata").json()
    assert "2025-Q2" in own["dimension"]["period"]["category"]["index"]


def test_files_have_the_periods_and_the_verdicts(pages):
    query = "valueCodes[size]=*&valueCodes[period]=*"
    rows = list(csv.DictReader(io.StringIO(pages.get(f"{DATA}?{query}&outputFormat=csv").text)))
    assert [(one["size"], one["period"]) for one in rows[:3]] == [("s", "2025-Q1"), ("s", "2025-Q4"), ("s", "2026-Q1")]
    sdmx = list(csv.DictReader(io.StringIO(pages.get(f"{DATA}?{query}&outputFormat=sdmx-csv").text)))
    assert [one["TIME_PERIOD"] for one in sdmx] == [one["period"] for one in rows]
    assert "PERIOD" not in sdmx[0]
    changed = list(csv.DictReader(io.StringIO(pages.get(f"{DATA}?{query}&change=last&outputFormat=csv").text)))
    assert {one["verdict"] for one in changed} == {"none", "real"}
    assert changed[1]["words"] == ("58 more than in 2025-Q4; noise would give ± 4 at 90%: a real change.")
    assert changed[1]["since"] == "2025-Q4"
    german = pages.get(f"{DATA}?{query}&change=last&lang=de&outputFormat=csv").text
    assert "eine echte Veränderung" in german
    for form in ("xlsx", "parquet"):
        assert pages.get(f"{DATA}?{query}&change=last&outputFormat={form}").status_code == 200


@pytest.mark.filterwarnings("ignore:Shouldn't use this function:DeprecationWarning")
def test_pyjstat_reads_periods_and_changes(pages):
    read = pyjstat.Dataset.read(pages.get(f"{DATA}?valueCodes[period]=*&valueCodes[sex]=f").text)
    frame = read.write("dataframe", naming="id")
    assert list(frame.columns) == ["sex", "period", "ContentsCode", "value"]
    found = read.get_value([{"sex": "f"}, {"period": "2025-Q4"}, {"ContentsCode": "estimate"}])
    assert found == 21 + 23 + 25
    changed = pyjstat.Dataset.read(pages.get(f"{DATA}?valueCodes[period]=*&change=year").text)
    assert changed.get_value([{"period": "2026-Q1"}, {"ContentsCode": "percent"}]) == pytest.approx(100 * 30 / 22.5)


READ = """
const set = require("jsonstat-toolkit")(JSON.parse(require("fs").readFileSync(0, "utf8")));
const cell = (period) => set.Data({period: period, ContentsCode: "estimate"});
console.log(JSON.stringify({
  time: set.role.time, periods: set.Dimension({role: "time"})[0].id,
  found: ["2025-Q1", "2026-Q1"].map((one) => cell(one).value),
}));
"""


@pytest.mark.skipif(
    toolkit() is None, reason="jsonstat-toolkit is not installed; `make toolkit` does, where there is npm"
)
def test_jsonstat_toolkit_finds_the_time(pages):
    run = subprocess.run(
        ["node", "-e", READ],
        input=pages.get(f"{DATA}?valueCodes[period]=*").text,
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
        env={**os.environ, "NODE_PATH": toolkit()},
    )
    periods = ["2025-Q1", "2025-Q4", "2026-Q1"]
    assert json.loads(run.stdout) == {"time": ["period"], "periods": periods, "found": [135, 315]}


@pytest.fixture(scope="module")
def served(made, serving):
    with serving(list(made.values())) as client:
        yield f"{str(client.base_url).rstrip('/')}/api/v2"


def test_pxwebpy_reads_the_periods(served):
    api = pytest.importorskip("pxweb", reason="pip install pxwebpy").PxApi(served)
    assert list(api.get_table_variables("firms~number")["period"]["category"]["label"]) == [
        "2025-Q1", "2025-Q4", "2026-Q1",
    ]  # fmt: skip
    lines = api.get_table_data("firms~number", {"period": ["TOP(2)"]}, show="code")
    found = {one["Period"]: one["value"] for one in lines if one["Estimate and error"] == "estimate"}
    assert found == {"2025-Q4": 141, "2026-Q1": 315}
    assert len(api.get_table_data_all("firms~number")) == 3 * 2 * 3 * 5


def test_pxstatspy_reads_the_periods(served):
    px = pytest.importorskip("pxstatspy", reason="pip install pxstatspy")
    api = px.PxAPI(px.PxAPIConfig(base_url=served))
    assert api.get_table_by_id("firms~number")["lastPeriod"] == "2026-Q1"
    read = api.get_data_as_dataframe("firms~number", {"period": ["*"]}, px.OutputFormatParam.USE_CODES)
    assert {one.Period: one.estimate for one in read.itertuples()} == {"2025-Q1": 135, "2025-Q4": 141, "2026-Q1": 315}


@pytest.mark.parametrize(
    "query",
    ["rows=size&cols=period", "rows=period&cols=size", "rows=period", "rows=size&wrap=period", "rows=size&rows=period"],
)
def test_periods_stand_on_rows_on_columns_and_apart(pages, query):
    page = seen(pages, f"/firms~number?{query}")
    for period in ("2025-Q1", "2025-Q4", "2026-Q1"):
        assert period in page.text
    for number in ("41 ±", "43 ±", "101 ±") if "size" in query else ("135 ±", "141 ±", "315 ±"):
        assert number in page.text.replace("\u2009", " ")


def test_periods_have_no_total_and_rows_keep_theirs(pages):
    across = seen(pages, "/firms~number?rows=size&cols=period").text.replace("\u2009", " ")
    assert "Total 135 ± 5 141 ± 5 315 ± 5" in across
    down = seen(pages, "/firms~number?rows=period&cols=sex")
    assert not [one for tag, one in down.elements if tag == "tfoot"]


def test_the_last_periods_are_chosen_and_stay_in_the_address(pages):
    page = seen(pages, "/firms~number?rows=size&cols=period&codelist[period]=last2")
    assert " 41 ±" not in page.text.replace("\u2009", " ")
    canonical = next(one["href"] for tag, one in page.elements if tag == "link" and one.get("rel") == "canonical")
    assert "codelist[period]=last2" in canonical
    picked = seen(pages, "/firms~number?rows=size&cols=period&valueCodes[period]=2025-Q4")
    assert "43 ±" in picked.text.replace("\u2009", " ")
    assert " 101 ±" not in picked.text.replace("\u2009", " ")


def test_every_period_is_one_step_away(pages):
    page = seen(pages, "/firms~number?rows=sex")
    (link,) = [
        one["href"] for tag, one in page.elements if tag == "a" and one.get("href", "").startswith("/firms.2025-Q4~")
    ]
    other = seen(pages, link)
    assert str(21 + 23 + 25) in other.text
    assert "2025-Q4" in other.text


@pytest.mark.parametrize("query", ["rows=size&cols=sex", "rows=size", "rows=size&cols=period", "rows=size&wrap=period"])
def test_changes_are_shown_with_their_verdicts(pages, query):
    page = seen(pages, f"/firms~number?{query}&change=last")
    assert page.all("v-real")
    assert "a real change" in page.text
    assert "would be if nothing had changed at all" in page.text
    assert not page.all("gA")


def test_a_cell_says_how_it_changed(pages):
    page = seen(pages, "/firms~number?rows=size&cols=sex&cell=s|f").text
    assert "29 more than in 2025-Q4; noise would give ± 3 at 90%: a real change." in page
    assert "30 more than in 2025-Q1; noise would give ± 3 at 90%: a real change." in page
    changed = seen(pages, "/firms~number?rows=size&cols=sex&change=last&cell=s|f").text.replace("\u2009", " ")
    assert "2025-Q4 21 ± 2" in changed
    assert "2026-Q1 50 ± 2" in changed
    first = seen(pages, "/firms.2025-Q1~number?rows=size&cols=sex&cell=s|f").text
    assert "more than in" not in first


def test_cells_of_two_periods_are_compared(pages):
    page = seen(pages, "/firms~number?rows=size&cols=period&cell=s|2025-Q1&hold=s|2026-Q1").text
    assert "They differ: at 90% the difference lies between 56 and 64." in page


def test_the_first_page_has_a_statistic_once_and_says_how_it_changed(pages):
    page = seen(pages, "/")
    assert "2025-Q1 to 2026-Q1" in page.text
    assert page.text.count("174 more than in 2025-Q4") == 2, "in the list, and where it is asked"
    assert [one for one in page.links if one.startswith("/firms~number?change=last")]


def test_a_page_over_periods_cites_every_release_and_its_snippets_name_them(pages, made):
    page = seen(pages, "/firms~number?rows=size&cols=period").text
    for name in ("2025-Q1", "2025-Q4", "2026-Q1"):
        assert f"SHA-256 {open_release(made[name]).id}" in page
        assert digits(made, name) in page


def test_german_pages_say_verdicts_in_german(pages):
    page = seen(pages, "/firms~number?rows=size&change=last&lang=de").text
    assert "eine echte Veränderung" in page
    assert "Veränderung von 2025-Q4 bis 2026-Q1" in page


@pytest.mark.parametrize("placed", ["rows=size&cols=period&share=row", "rows=period&cols=size&share=column"])
def test_percentages_of_what_stands_alone_in_its_period_are_of_the_whole(pages, placed):
    """Of its own total every number would be 100%; the file that the page gives says of what they are, too."""
    page = pages.get(f"/firms~number?{placed}").text
    told = re.sub(r"<[^>]*>", "", page)
    assert "30.4%" in told, "(20 + 21) of the 135 in the first period"
    assert "of the whole" in told
    file = html.unescape(re.search(r'href="([^"]*outputFormat=csv[^"]*)"', page)[1])
    rows = list(csv.DictReader(io.StringIO(pages.get(file).text)))
    assert {row["share_of"] for row in rows} == {"the whole"}
    for period in ("2025-Q1", "2025-Q4", "2026-Q1"):
        shares = [float(row["estimate"]) for row in rows if row["period"] == period and row["size"] != "total"]
        assert sum(shares) == pytest.approx(1)

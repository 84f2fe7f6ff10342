"""The API answers in the shapes of PxWebApi 2 and JSON-stat 2.0, and refuses in words."""

import csv
import html
import io
import math
import re

import pytest

from sfumato.release.products.cube import Cube

JOBS = "/api/v2/tables/jobs-survey~jobs"
METRICS = ["estimate", "moe90", "se_noise", "se_sampling", "cv"]


def data(client, query="", table=JOBS):
    reply = client.get(f"{table}/data?{query}")
    assert reply.status_code == 200, reply.text
    return reply.json()


def detail(client, address, status):
    reply = client.get(address)
    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["status"] == status
    return reply.json()["detail"]


def test_lists_its_tables_as_pxwebapi_does(page):
    config = page.get("/api/v2/config").json()
    assert config["maxDataCells"] == 10_000
    assert config["dataFormats"] == ["json-stat2", "csv", "xlsx", "parquet", "sdmx-csv"]
    assert [one["id"] for one in config["languages"]] == ["en", "de"]
    assert {"key": "maxDownloadCells", "value": "1000000"} in config["features"][0]["params"]
    listed = page.get("/api/v2/tables").json()
    assert [one["id"] for one in listed["tables"]] == ["jobs-survey~jobs", "jobs-survey~pay"]
    assert listed["page"] == {"pageNumber": 1, "pageSize": 100, "totalElements": 2, "totalPages": 1}
    for one in listed["tables"]:
        assert {"type", "updated", "firstPeriod", "lastPeriod", "variableNames", "links", "category"} <= one.keys()
        assert page.get(f"/api/v2/tables/{one['id']}").json() == {**one, "language": "en"}
        for link in one["links"]:
            assert page.get(link["href"]).status_code == 200
    assert len(page.get("/api/v2/tables?query=number").json()["tables"]) == 1
    assert page.get("/api/v2/tables?pageSize=1&pageNumber=2").json()["tables"][0]["id"] == "jobs-survey~pay"


def test_metadata_lists_every_code_with_its_hierarchy(page, places):
    metadata = page.get(f"{JOBS}/metadata").json()
    assert metadata["id"] == ["place", "sex", "age", "trade", "hours", "period", "ContentsCode"]
    assert metadata["role"] == {"metric": ["ContentsCode"], "time": ["period"]}
    place = metadata["dimension"]["place"]
    assert list(place["category"]["index"]) == [one["code"] for one in places]
    assert place["category"]["child"]["N1"] == [f"N1{one}" for one in range(5)]
    assert place["category"]["note"] == {"N2": ["Merged & renamed in 2020"]}
    lists = place["extension"]["codelists"]
    assert [one["id"].rpartition("~")[2] for one in lists] == ["level0", "level1", "leaves", "all"]
    assert [one["type"] for one in lists] == ["Aggregation", "Aggregation", "Valueset", "Valueset"]
    assert place["extension"]["elimination"] is True
    assert metadata["value"] is None


@pytest.mark.parametrize(
    "query",
    [
        "",
        "valueCodes[sex]=*",
        "valueCodes[sex]=male&valueCodes[age]=16-29,50%2B&sum[place]=N1",
        "codelist[place]=level1&valueCodes[trade]=a,b,c",
        "codelist[place]=all&valueCodes[sex]=*&valueCodes[age]=*&valueCodes[trade]=*",
    ],
)
def test_dataset_is_consistent_json_stat(page, query):
    dataset = data(page, query)
    assert (dataset["version"], dataset["class"]) == ("2.0", "dataset")
    assert dataset["id"][-1] == "ContentsCode"
    assert list(dataset["dimension"]) == dataset["id"]
    assert math.prod(dataset["size"]) == len(dataset["value"])
    for name, size in zip(dataset["id"], dataset["size"], strict=True):
        category = dataset["dimension"][name]["category"]
        assert sorted(category["index"].values()) == list(range(size))
        assert category["index"].keys() == category["label"].keys()
        for parent, children in category.get("child", {}).items():
            assert {parent, *children} <= category["index"].keys()
    assert list(dataset["dimension"]["ContentsCode"]["category"]["index"]) == METRICS
    assert set(dataset["status"]) >= {str(place) for place in range(0, len(dataset["value"]), 5)}
    assert set(dataset["status"].values()) <= set(dataset["extension"]["status"]["label"])


def test_values_are_the_engines_own(page, engine):
    dataset = data(page, "codelist[place]=leaves&valueCodes[sex]=*")
    table = engine.table("place", "sex", at={"place": "leaves"})
    expected = [
        one
        for _, estimate in table.items()
        for one in (estimate.value, estimate.moe(), estimate.noise_se, 0, estimate.cv)
    ]
    assert dataset["value"] == expected
    grades = [estimate.grade for _, estimate in table.items()]
    assert [dataset["status"][str(5 * place)] for place in range(len(grades))] == grades


def test_totals_are_integers_on_the_wire(page):
    reply = page.get(f"{JOBS.replace('jobs-survey~jobs', 'jobs-survey~pay')}/data?valueCodes[trade]=*")
    assert all(isinstance(value, int) and value % 100 == 0 for value in reply.json()["value"][::5])
    assert ".0," not in reply.text.split('"value":[')[1].split(",")[0]


def test_csv_keeps_errors_and_marks_formulas(page, hostile):
    reply = page.get(f"{JOBS}/data?codelist[place]=leaves&outputFormat=csv")
    assert reply.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(reply.text)))
    assert {"estimate", "moe90", "se_noise", "se_sampling", "cv", "grade", "release"} <= rows[0].keys()
    labels = [row["place_label"] for row in rows]
    for label in hostile:
        assert (f"'{label}" if label[0] in "=+-@" else label) in labels
    assert all(not row["place_label"].startswith(("=", "+", "-", "@")) for row in rows)
    assert all(float(row["estimate"]) == int(row["estimate"]) for row in rows)


def test_privacy_says_what_the_manifest_says(page, engine):
    said = page.get("/api/v2/privacy/jobs-survey").json()
    manifest = engine.release.manifest
    assert said["promise"] == manifest.promise.model_dump(exclude_none=True)
    assert said["spends"] == [one.model_dump(mode="json", exclude_none=True) for one in manifest.spends]
    assert said["exposures"] == [{"kind": "assumed known", "what": "Where places are", "why": "a map shows it"}]
    assert said["release"] == engine.release.id
    assert "did you mean 'jobs-survey'" in detail(page, "/api/v2/privacy/jobs-surve", 404)


def test_same_question_however_written_has_the_same_bytes(page):
    written = [
        "valueCodes[sex]=*&codelist[place]=level1&sum[trade]=a,b",
        "sum[trade]=b,a&valueCodes[place]=*&codelist[place]=level1&valueCodes[sex]=male,female",
        "SUM[trade]=b&sum[trade]=a&ValueCodes[sex]=male&valuecodes[sex]=female&codelist[place]=level1&lang=en",
    ]
    assert len({page.get(f"{JOBS}/data?{one}").content for one in written}) == 1


def test_codes_with_a_comma_stand_alone(page):
    dataset = data(page, "valueCodes[place]=S,2&valueCodes[place]=S1,N")
    assert list(dataset["dimension"]["place"]["category"]["index"]) == ["N", "S1", "S,2"]


def test_metric_dimension_is_always_whole(page):
    assert data(page, "valueCodes[metric]=estimate")["size"] == [1, 5]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("valueCodes[trad]=a", "'trad' is not a variable of number of jobs; did you mean 'trade'?"),
        ("sum[trad]=a", "did you mean 'trade'?"),
        ("valueCodes[sex]=femal", "Sex: 'femal' is not a level; did you mean 'female'?"),
        ("valueCodes[place]=North", "Place: 'North' is a label; its code is 'N'"),
        ("valueCodes[sex]=", "Sex: no code is given; name codes, or * for all."),
        ("codelist[place]=level7", "There is no code list 'level7'; did you mean 'level1'?"),
        ("codelist[place]=level0&valueCodes[place]=N1", "Place: 'N1' is not in the code list 'level0'"),
        ("outputFormat=xls", "outputFormat is 'xls'"),
        ("lang=sv", "lang is 'sv'; known: en, de"),
        ("valueCodes[place]=Z*", "Place: 'Z*' fits no code"),
        ("valueCodes[age]=top(0)", "Age: top() takes a number from 1"),
        ("valueCodes[age]=from(young)", "Age: 'young' is not a code of this list"),
        ("valueCodes[sex]=*&heading=age", "'age' is placed but not shown"),
        ("valueCodes[sex]=*&heading=sex&stub=sex", "'sex' is placed twice"),
        ("valueCode[sex]=*", "There is no parameter 'valueCode[sex]' here; did you mean 'valueCodes'?"),
        ("cell=sex", "There is no parameter 'cell' here"),
        ("a]b[=1", "There is no parameter 'a]b[' here"),
    ],
)
def test_refuses_in_words(page, query, said):
    assert said in detail(page, f"{JOBS}/data?{query}", 400)


def test_refuses_too_many_cells_before_it_works(page, monkeypatch):
    totals = Cube.totals

    def only_one(cube, grid):
        assert not grid.axes, "the table was worked out before it was refused"
        return totals(cube, grid)

    monkeypatch.setattr(Cube, "totals", only_one)
    whole = "&".join(f"valueCodes[{name}]=*" for name in ("place", "sex", "age", "trade", "hours"))
    said = detail(page, f"{JOBS}/data?{whole}", 403)
    assert "The table has 14,400 cells, more than 10,000; show a higher level" in said
    assert "or take it as a download: outputFormat=csv or parquet or sdmx-csv, up to 1,000,000 cells" in said
    shown = page.get("/jobs-survey~jobs?rows=place&rows=sex&rows=age&rows=trade&cols=hours&codelist[place]=all")
    assert shown.status_code == 400
    assert "14,400 cells" in shown.text


def test_refuses_unknown_tables_and_paths(page):
    assert "did you mean 'jobs-survey~jobs'?" in detail(page, "/api/v2/tables/jobs-survey~job/data", 404)
    assert detail(page, "/api/v2/nothing", 404)
    assert "pageSize" in detail(page, "/api/v2/tables?pageSize=none", 400)
    assert page.ask("POST", f"{JOBS}/metadata").status_code == 405
    assert page.ask("DELETE", f"{JOBS}/data").status_code == 405
    assert page.get(f"{JOBS}/data?valueCodes[sex]={'a' * 40_000}").status_code == 414


def test_a_reader_who_has_it_is_told_so(page):
    for address in (
        f"{JOBS}/data",
        "/",
        "/jobs-survey~jobs",
        "/api/v2/tables",
        f"{JOBS}/metadata",
        "/static/sfumato.css",
    ):
        first = page.get(address)
        tag = first.headers["etag"]
        assert "max-age" in first.headers["cache-control"]
        again = page.get(address, headers={"If-None-Match": f'"other", W/{tag}'})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert page.get(address, headers={"If-None-Match": '"other"'}).status_code == 200
    assert page.get(f"{JOBS}/data?valueCodes[x]=1", headers={"If-None-Match": "*"}).status_code == 400


def test_describes_itself(page):
    described = page.get("/openapi.json").json()
    asked = described["paths"]["/api/v2/tables/{table_id}/data"]
    given = {one["name"] for one in asked["get"]["parameters"]}
    own = {"table_id", "group", "drawn", "sum", "share", "sort", "order", "error", "change", "per"}
    assert given - own == {"valueCodes", "codelist", "stub", "heading", "outputFormat", "outputFormatParams", "lang"}
    assert all("422" not in one["responses"] for path in described["paths"].values() for one in path.values())
    assert page.get("/docs").status_code == page.get("/redoc").status_code == 404
    assert page.get("/health").json() == {"status": "ok"}
    assert page.get("/version").json()["api"] == "2.0"


def test_where_there_is_get_there_is_head(page):
    described = page.get("/openapi.json").json()
    for path in described["paths"]:
        named = {"codelist_id": "jobs-survey~place~all", "variable": "place", "query_id": "none"}
        address = path.format(table_id="jobs-survey~jobs", release="jobs-survey", **named)
        if "get" in described["paths"][path] and "savedqueries" not in path:
            plain = {"Accept-Encoding": "identity"}
            whole, bare = page.get(address, headers=plain), page.ask("HEAD", address, headers=plain)
            assert (bare.status_code, bare.content) == (200, b"")
            assert bare.headers["content-length"] == whole.headers["content-length"] == str(len(whole.content))
            assert bare.headers.get("etag") == whole.headers.get("etag")


def test_code_lists_say_what_each_code_stands_for(page, places):
    for one in page.get(f"{JOBS}/metadata").json()["dimension"]["place"]["extension"]["codelists"]:
        listed = page.get(one["links"][0]["href"]).json()
        assert listed["id"] == one["id"]
        assert listed["type"] == one["type"]
    level = page.get("/api/v2/codelists/jobs-survey~place~level0").json()
    assert [value["code"] for value in level["values"]] == ["N", "S"]
    parents = {one["code"]: one.get("parent") for one in places}
    under = [code for code in parents if code not in parents.values() and parents.get(parents[code]) == "N"]
    assert level["values"][0]["valueMap"] == under
    assert "did you mean" in detail(page, "/api/v2/codelists/jobs-survey~place~level9", 404)


def test_speaks_german(page):
    dataset = data(page, "valueCodes[sex]=*&lang=de")
    assert dataset["dimension"]["ContentsCode"]["category"]["label"]["moe90"] == "Fehlerspanne zu 90 %"
    assert dataset["extension"]["px"]["language"] == "de"
    assert dataset["value"] == data(page, "valueCodes[sex]=*")["value"]
    assert page.get("/api/v2/tables?lang=de").json()["language"] == "de"


def test_the_budget_is_what_the_ledger_said(page, engine):
    told = page.get("/api/v2/budget").json()
    anchor = engine.release.manifest.ledger
    (account,) = told["populations"]
    assert (account["population"], account["limit"], account["spent"]) == ("jobs", anchor.limit, anchor.spent)
    assert account["releases"][0]["release"] == engine.release.id
    assert told["costOfAsking"] == "0"


@pytest.mark.parametrize("lang", ["en", "de"])
def test_the_page_of_the_api_is_our_own_and_its_links_work(page, lang):
    shown = page.get(f"/api?lang={lang}")
    assert shown.status_code == 200
    assert not re.search(r"<style|style=|<script>|\son\w+=|src=\"http", shown.text)
    described = page.get("/openapi.json").json()
    assert all(html.escape(path) in shown.text for path in described["paths"])
    links = [html.unescape(one) for one in re.findall(r'href="(/api/v2/[^"]+)"', shown.text)]
    assert len(links) == 2 * 6
    for link in links:
        assert page.get(link).status_code == 200, link

"""What PxWebApi 2 has beside data: default and saved selections, metadata of a part, days, wishes, addresses."""

from datetime import UTC, date, datetime, timedelta

import pytest
from tests.serve.small import small

TABLE = "/api/v2/tables/jobs-survey~jobs"
SAVED = "/api/v2/savedqueries"


def test_the_default_selection_asked_for_is_what_is_given_without_one(page):
    default = page.get(f"{TABLE}/defaultselection").json()
    assert default["selection"][0] == {
        "variableCode": "ContentsCode",
        "valueCodes": ["estimate", "moe90", "se_noise", "se_sampling", "cv"],
        "groups": [],
    }
    assert {tuple(one["valueCodes"]) for one in default["selection"][1:]} == {(), ("2026-Q1",)}
    asked = page.ask("POST", f"{TABLE}/data", json={"selection": default["selection"]})
    assert asked.content == page.get(f"{TABLE}/data").content == page.ask("POST", f"{TABLE}/data").content


def test_what_may_not_be_summed_over_is_given_whole_without_a_selection(browse, tmp_path):
    page = browse([small(tmp_path / "one", additive=False)])
    table = page.get("/api/v2/tables").json()["tables"][0]["id"]
    default = page.get(f"/api/v2/tables/{table}/defaultselection").json()["selection"]
    assert all(one["valueCodes"] for one in default)
    given = page.get(f"/api/v2/tables/{table}/data").json()
    assert given["size"][:-1] == [len(one["valueCodes"]) for one in default[1:]]


def test_a_saved_query_tells_every_code_that_it_selects(page):
    chosen = [{"variableCode": "place", "valueCodes": ["N1*"]}, {"variableCode": "trade", "codelist": "leaves"}]
    query = {"tableId": "jobs-survey~jobs", "language": "en", "selection": {"selection": chosen}}
    query["selection"]["placement"] = {"heading": ["trade"], "stub": ["place"]}
    saved = page.ask("POST", SAVED, json=query)
    assert saved.status_code == 201
    assert saved.headers["location"].startswith("http://")
    told = page.get(f"{SAVED}/{saved.json()['id']}/selection").json()
    codes = {one["variableCode"]: one["valueCodes"] for one in told["selection"]}
    assert codes["place"] == ["N1", "N10", "N11", "N12", "N13", "N14"]
    assert codes["trade"] == list("abcdefgh")
    assert codes["sex"] == []
    assert told["placement"] == {"heading": ["trade"], "stub": ["place"]}
    whole = {"selection": told["selection"], "placement": told["placement"]}
    ours = page.ask("POST", f"{TABLE}/data", json=whole).json()
    assert ours["value"] == page.get(f"{SAVED}/{saved.json()['id']}/data").json()["value"]
    part = page.get(f"{TABLE}/metadata?savedQuery={saved.json()['id']}").json()
    assert part["id"] == ["place", "trade", "period", "ContentsCode"]
    assert list(part["dimension"]["place"]["category"]["index"]) == codes["place"]


def _posted_back(page, table, presented):
    """The data of a saved query, those of the selection that it tells, and the contents that this names."""
    selection = {"selection": [{"variableCode": one, "valueCodes": ["*"]} for one in ("size", "sex")], **presented}
    selection["placement"] = {"stub": ["size"], "heading": ["sex"]}
    saved = page.ask("POST", SAVED, json={"tableId": table, "language": "en", "selection": selection})
    assert saved.status_code == 201, saved.text
    address = f"{SAVED}/{saved.json()['id']}"
    asked, told = page.get(f"{address}/data").json(), page.get(f"{address}/selection").json()
    body = {name: one for name, one in told.items() if name not in {"language", "links"}}
    given = page.ask("POST", f"/api/v2/tables/{table}/data", json=body)
    assert given.status_code == 200, given.text
    contents = next(one["valueCodes"] for one in told["selection"] if one["variableCode"] == "ContentsCode")
    assert contents == list(asked["dimension"]["ContentsCode"]["category"]["index"])
    return asked, given.json(), contents


@pytest.fixture(scope="module")
def two_quarters(browse, tmp_path_factory):
    folder = tmp_path_factory.mktemp("quarters")
    quarters = {"2025-Q4": 0, "2026-Q1": 40}
    return browse([small(folder / period, period=period, more=more) for period, more in quarters.items()])


@pytest.mark.parametrize(
    ("presented", "contents"),
    [
        ({"change": "last"}, 11),
        ({"share": "row"}, 5),
        ({"sort": "total"}, 5),
        ({"error": "se"}, 6),
        ({"error": "interval95"}, 7),
        ({"change": "last", "error": "se", "sort": "f"}, 12),
    ],
)
def test_the_selection_of_a_saved_query_posted_again_gives_its_data(two_quarters, presented, contents):
    asked, given, named = _posted_back(two_quarters, "firms~number", presented)
    assert given == asked
    assert len(named) == contents
    assert asked["value"] != _posted_back(two_quarters, "firms~number", {})[0]["value"]


def test_the_selection_of_saved_means_posted_again_gives_means(page):
    presented = {"selection": [{"variableCode": "sex", "valueCodes": ["*"]}], "per": "jobs"}
    saved = page.ask("POST", SAVED, json={"tableId": "jobs-survey~pay", "selection": presented}).json()["id"]
    told = page.get(f"{SAVED}/{saved}/selection").json()
    body = {name: one for name, one in told.items() if name not in {"language", "links"}}
    given = page.ask("POST", "/api/v2/tables/jobs-survey~pay/data", json=body).json()
    assert given["value"] == page.get(f"{SAVED}/{saved}/data").json()["value"]
    assert given["value"][0] < 5000, "a mean, and not the pay of all"


def test_metadata_of_a_part(page):
    whole = page.get(f"{TABLE}/metadata").json()
    part = page.get(f"{TABLE}/metadata?codelist[place]=jobs-survey~place~level0").json()
    assert whole["value"] is part["value"] is None
    assert list(part["dimension"]["place"]["category"]["index"]) == ["N", "S"]
    assert part["id"] == whole["id"]
    assert page.get(f"{TABLE}/metadata?defaultSelection=True").json()["id"] == ["period", "ContentsCode"]
    for wrong in ("codelist[place]=none", "savedQuery=none", "defaultSelection=perhaps", "outputFormat=json-px", "x=1"):
        assert page.get(f"{TABLE}/metadata?{wrong}").status_code in {400, 404}, wrong
    assert page.get(f"{TABLE}/metadata?defaultSelection=true&codelist[place]=level0").status_code == 400


def test_tables_of_the_last_days(browse, tmp_path):
    now = datetime.now(UTC)
    for name, days in {"new": 1, "old": 10}.items():
        small(tmp_path / name, name=name, created=f"{now - timedelta(days=days):%Y-%m-%dT%H:%M:%SZ}")
    page = browse([tmp_path / "new", tmp_path / "old"])

    def listed(days):
        reply = page.get(f"/api/v2/tables?pastDays={days}")
        assert "etag" not in reply.headers, "another day it is another answer"
        return [one["id"].partition("~")[0] for one in reply.json()["tables"]]

    assert listed(5) == ["new"]
    assert sorted(listed(11)) == sorted(listed(10**30)) == ["new", "old"]
    for wrong in ("0", "-1", "1.5", "", "x"):
        assert page.get(f"/api/v2/tables?pastDays={wrong}").status_code == 400, wrong


WISHES = {
    "UseCodes": "sex,estimate,moe90",
    "UseTexts": "sex_label,estimate,moe90",
    "UseCodesAndTexts": "sex,sex_label,estimate",
    "SeparatorTab": "sex\tsex_label\testimate",
    "UseCodes,SeparatorSemicolon": "sex;estimate;moe90",
}


@pytest.mark.parametrize("wish", WISHES)
def test_a_csv_file_is_written_as_is_wished(page, wish):
    asked = f"{TABLE}/data?valueCodes[sex]=*&outputFormat=csv"
    plain = page.get(asked).text.splitlines()
    lines = page.get(f"{asked}&outputFormatParams={wish}").text.splitlines()
    assert lines[0].startswith(WISHES[wish])
    assert len(lines) == len(plain)


def test_wishes_that_cannot_be_had_are_refused_in_words(page):
    for form, wish, said in (
        ("csv", "UseCodes,UseTexts", "cannot be combined"),
        ("csv", "SeparatorTab,SeparatorSpace", "cannot be combined"),
        ("csv", "useCodes", "did you mean 'UseCodes'?"),
        ("json-stat2", "UseCodes", "cannot be had of json-stat2"),
        ("xlsx", "UseCodes", "cannot be had of xlsx"),
        ("parquet", "IncludeTitle", "cannot be had of parquet"),
        ("csv", "", "has no value"),
    ):
        reply = page.get(f"{TABLE}/data?valueCodes[sex]=*&outputFormat={form}&outputFormatParams={wish}")
        assert reply.status_code == 400
        assert said in reply.json()["detail"]


def test_addresses_are_whole_and_dates_are_days(page):
    dataset, entry = page.get(f"{TABLE}/data").json(), page.get(TABLE).json()
    assert dataset["href"].startswith("http://")
    assert page.get(dataset["href"]).json()["value"] == dataset["value"]
    assert dataset["updated"] == entry["updated"] == str(date.fromisoformat(dataset["updated"]))
    described = page.get(f"{TABLE}/metadata").json()["link"]["describes"][0]["href"]
    assert page.get(described).status_code == 200


def test_a_method_that_is_not_there_is_answered_with_those_that_are(page):
    assert page.ask("DELETE", f"{TABLE}/data").headers["allow"] == "GET, HEAD, POST"
    assert page.ask("POST", f"{TABLE}/metadata").headers["allow"] == "GET, HEAD"


def test_the_name_that_the_metric_dimension_had_is_still_understood(page):
    asked = f"{TABLE}/data?valueCodes[sex]=*"
    assert page.get(f"{asked}&valueCodes[metric]=estimate&stub=metric").status_code == 200
    assert page.get(f"{asked}&valueCodes[metrics]=estimate").status_code == 400

"""What is seen can be taken: shares, their order, the error and the codes are in every file, call and citation."""

import csv
import io
import re
from html import unescape
from urllib.parse import urlsplit

import openpyxl
import pyarrow.parquet as pq
import pytest

from sfumato.errors import QueryError

TABLE = "/jobs-survey~jobs"
LOOKS = [
    "share=row&sort=female&error=se",
    "share=column&sort=male&order=rising&error=interval95",
    "share=whole&sort=total&error=cv",
    "sort=female&order=rising&error=interval95",
    "valueCodes[trade]=c,a,f&sort=male&share=row",
    "",
]


def state(look):
    return f"{TABLE}?rows=trade&cols=sex{'&' if look else ''}{look}"


def seen(page, address):
    reply = page.get(address)
    assert reply.status_code == 200, reply.text[:400]
    return unescape(reply.text)


def files(shown):
    links = re.findall(r'<a href="(/api/v2/tables/[^"]*outputFormat=([a-z0-9-]+))"', shown)
    return {form: link for link, form in links}


def lines(page, link):
    return list(csv.DictReader(io.StringIO(page.get(link).text)))


def labels(shown):
    body = shown.partition("<tbody>")[2].partition("</tbody>")[0]
    return [re.sub(r"<[^>]*>", "", one).strip() for one in re.findall(r'<th scope="row"[^>]*>(.*?)</th>', body)]


@pytest.mark.parametrize("look", LOOKS)
def test_every_file_has_the_rows_numbers_and_errors_that_the_page_shows(page, engine, look):
    shown = seen(page, state(look))
    links, chosen = files(shown), dict(pair.split("=") for pair in look.split("&") if pair)
    share, error = chosen.get("share", ""), chosen.get("error", "moe90")
    table = engine.table("trade", "sex")
    numbers = table.shares(share) if share else table
    found = lines(page, links["csv"])
    assert list(dict.fromkeys(one["trade"] for one in found)) == labels(shown)
    for one in found:
        figure = numbers[one["trade"], one["sex"]]
        assert float(one["estimate"]) == pytest.approx(figure.value, rel=1e-12)
        assert float(one["moe90"]) == pytest.approx(figure.moe(0.90), rel=1e-9)
        assert (one["statistic"], one["period"]) == ("Number of jobs", "2026-Q1")
        assert one["unit"] == ("share" if share else "jobs")
        of = {"row": "the total of the same Trade <i>", "column": "the total of the same Sex", "whole": "the whole"}
        assert one.get("share_of") == of.get(share)
        if share:
            assert (float(one["low90"]), float(one["high90"])) == pytest.approx(figure.interval(0.90))
        else:
            assert "low90" not in one
        if error == "se":
            assert float(one["se"]) == pytest.approx(figure.se)
        if error == "interval95":
            assert (float(one["low95"]), float(one["high95"])) == pytest.approx(figure.interval(0.95))
    records = pq.read_table(io.BytesIO(page.get(links["parquet"]).content)).to_pylist()
    assert [one["estimate"] for one in records] == [pytest.approx(float(one["estimate"])) for one in found]
    observed = lines(page, links["sdmx-csv"])
    assert [float(one["OBS_VALUE"]) for one in observed] == [float(one["estimate"]) for one in found]
    assert {one["STATISTIC"] for one in observed} == {"Number of jobs"}
    assert ("SHARE_OF" in observed[0]) == ("HIGH90" in observed[0]) == bool(share)
    assert {"se": "SE", "interval95": "LOW95"}.get(error, "CV") in observed[0]


@pytest.mark.parametrize("look", LOOKS)
def test_the_dataset_names_the_address_that_gives_it_again(page, look):
    dataset = page.get(files(seen(page, state(look)))["json-stat2"]).json()
    assert page.get(dataset["href"]).json() == dataset
    kinds = list(dataset["dimension"][dataset["role"]["metric"][0]]["category"]["index"])
    assert kinds[:5] == ["estimate", "moe90", "se_noise", "se_sampling", "cv"]
    assert len(dataset["value"]) == len(kinds) * dataset["size"][0] * dataset["size"][1]


def test_the_sheet_as_shown_has_percentages_totals_and_the_error_that_was_chosen(page, engine):
    link = files(seen(page, state("share=row&error=se&valueCodes[trade]=a,b")))["xlsx"]
    sheet = openpyxl.load_workbook(io.BytesIO(page.get(link).content))["Table"]
    rows = list(sheet.iter_rows())
    start = next(place for place, row in enumerate(rows) if row[0].value == "Trade <i>")
    assert [one.value for one in rows[start - 1][1::3]] == ["Total", "female", "male"]
    assert [one.value for one in rows[start][1:4]] == ["Estimate", "SE", "Grade"]
    share = engine.table("trade", "sex").shares("row")["a", "female"]
    first = rows[start + 1]
    assert (first[1].value, first[1].number_format) == (1, "0.0%")
    assert first[4].value == pytest.approx(share.value, abs=0.005)
    assert first[4].number_format in {"0%", "0.0%"}
    assert first[5].value == pytest.approx(share.se, rel=0.05)
    foot = rows[start + 3]
    assert foot[0].value == "Total, also of what is not shown"
    whole = engine.total({"sex": "female"}).value / engine.total().value
    assert foot[4].value == pytest.approx(whole, abs=0.005)


def test_calls_and_citations_are_of_what_is_seen(page):
    look = "share=row&sort=female&order=rising&error=se&valueCodes[trade]=a,b,c&sum[place]=N"
    shown = seen(page, f"{state(look)}&cell=a|female")
    calls = re.findall(r'<pre tabindex="0">(.*?)</pre>', shown, re.DOTALL)
    for call in calls[:4]:
        assert all(part in call for part in ("share=row", "sort=female", "order=rising", "error=se", "[trade]=a,b,c"))
    assert 'print(table[["estimate", "se", "grade"]])' in calls[2]
    assert 'c("estimate", "se", "grade")' in calls[3]
    cited = re.search(r'<p class="cited">(.*?)</p>', shown)[1]
    assert "percentages of the row, only Place: North." in cited
    address = urlsplit(cited.rpartition(" ")[2])
    again = seen(page, f"{address.path}?{address.query}")
    assert "cell=" not in address.query
    assert labels(again) == labels(shown)
    assert again.partition("<tbody>")[2].partition("</tbody>")[0].replace(" sel", "").count("%") == shown.partition(
        "<tbody>"
    )[2].partition("</tbody>")[0].count("%")


@pytest.mark.parametrize("share", ["row", "column", "whole"])
def test_shares_of_several_tables_are_of_the_tables_own_wholes(page, engine, share):
    link = files(seen(page, f"{TABLE}?rows=trade&cols=sex&wrap=age&share={share}&sort=female"))["csv"]
    for one in lines(page, link):
        within = engine.table("trade", "sex", where={"age": one["age"]}).shares(share)
        if not one["estimate"]:
            with pytest.raises(QueryError, match=r"within its own noise of 0|came out below 0"):
                within[one["trade"], one["sex"]]
            continue
        assert float(one["estimate"]) == pytest.approx(within[one["trade"], one["sex"]].value, rel=1e-12)


def test_a_posted_and_a_saved_query_present_their_numbers_too(page):
    chosen = [{"variableCode": "trade"}, {"variableCode": "sex"}]
    body = {"selection": chosen, "placement": {"stub": ["trade"], "heading": ["sex"]}}
    body |= {"share": "row", "sort": "female", "order": "rising", "error": "se"}
    path = "/api/v2/tables/jobs-survey~jobs/data"
    asked = "?valueCodes[trade]=*&valueCodes[sex]=*&stub=trade&heading=sex&share=row&sort=female&order=rising&error=se"
    wanted = page.get(path + asked).json()
    assert page.ask("POST", path, json=body).json() == wanted
    saved = page.ask("POST", "/api/v2/savedqueries", json={"tableId": "jobs-survey~jobs", "selection": body}).json()
    assert page.get(f"/api/v2/savedqueries/{saved['id']}/data").json() == wanted


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("valueCodes[sex]=*&share=rwo", "did you mean 'row'"),
        ("valueCodes[sex]=*&error=sd", "error is 'sd'"),
        ("valueCodes[sex]=*&sort=total&order=up", "order is 'up'"),
        ("valueCodes[sex]=*&valueCodes[trade]=*&sort=total", "one variable stands at the side"),
        ("valueCodes[sex]=*&valueCodes[trade]=*&heading=sex&sort=nobody", "nobody"),
    ],
)
def test_a_presentation_that_cannot_be_is_refused_in_words(page, query, said):
    reply = page.get(f"/api/v2/tables/jobs-survey~jobs/data?{query}")
    assert reply.status_code == 400
    assert said in reply.json()["detail"]

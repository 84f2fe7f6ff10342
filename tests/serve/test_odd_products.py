"""A product that refuses some questions and one with empty cells, in the API and on the pages."""

import json
from dataclasses import replace
from itertools import product as combinations

import numpy as np
import pytest
from tests.query.odd_products import FEW, UNFIT, Holey, TwoWay
from tests.serve.small import Seen, seen, small

import sfumato as sf
from sfumato.geography import Shapes
from sfumato.release import Independent, open_release
from sfumato.serve.app import over
from sfumato.serve.catalogue import Catalogue

PLACE, SEX = sf.Attribute("place", sf.Levels.of("NSE"), label="Place"), sf.Attribute("sex", sf.Levels.of("fm"))
AGE = sf.Attribute("age", sf.Levels.of(["young", "old"]), label="Age")
CUBE = sf.Table((PLACE, SEX, AGE))
WHY = "Only tables of two variables were published"
SHAPES = Shapes(
    "place",
    30,
    10,
    {code: f"M{x} 0 {x + 10} 0 {x + 10} 10 {x} 10Z" for code, x in zip("NSE", (0, 10, 20), strict=True)},
    {code: (x + 5, 5) for code, x in zip("NSE", (0, 10, 20), strict=True)},
    source="a sketch",
    projection="none",
)


@pytest.fixture(scope="module")
def client(tmp_path_factory, browse):
    """A release by hand whose two products are odd, over the application."""
    release = open_release(small(tmp_path_factory.mktemp("odd") / "release", name="odd"))
    subject = release.products["number"].subject
    holes = np.array([[0, 0], [1, 0], [0, 2]])
    values = np.array([[900, 500], [777, 400], [600, 300]])
    made = {
        "pairs": TwoWay(replace(subject, name="pairs"), CUBE, np.arange(12).reshape(CUBE.shape), Independent(4.0)),
        "holey": Holey(replace(subject, name="holey"), sf.Table((PLACE, SEX)), values, Independent(4.0), holes),
    }
    lines = [release.manifest.products[0].model_copy(update={"name": name}) for name in made]
    manifest = release.manifest.model_copy(update={"products": lines})
    odd = replace(release, manifest=manifest, products=made, shapes={"place": SHAPES})
    return type(browse([release.folder]))(over(Catalogue.of([odd])))


def table(client, name, query, **more):
    return client.get(f"/api/v2/tables/odd~{name}/data?{query}", **more)


def test_the_api_refuses_three_variables_with_the_reason(client):
    assert table(client, "pairs", "valueCodes[place]=*&valueCodes[sex]=*").status_code == 200
    for query in (
        "valueCodes[place]=*&valueCodes[sex]=*&valueCodes[age]=*",
        "valueCodes[place]=*&sum[sex]=f&sum[age]=old",
    ):
        refused = table(client, "pairs", query)
        assert refused.status_code == 400
        assert WHY in refused.json()["detail"]


def test_metadata_says_that_not_all_variables_go_together(client):
    assert any(WHY in note for note in client.get("/api/v2/tables/odd~pairs/metadata").json()["note"])
    assert not any(WHY in note for note in client.get("/api/v2/tables/odd~holey/metadata").json()["note"])


def test_the_form_offers_only_what_the_product_answers(client):
    page = seen(client, "/odd~pairs?rows=place&cols=sex")
    assert WHY in page.text
    # The rows and the columns may become age; a second row variable, tables apart and filters may not.
    assert [one["value"] for tag, one in page.elements if tag == "option" and one["value"] == "age"] == ["age", "age"]
    assert not any(one.get("name") == "sum[age]" for _, one in page.elements)
    alone = seen(client, "/odd~pairs?rows=place")
    assert WHY not in alone.text
    assert any(one.get("name") == "sum[age]" for _, one in alone.elements)


def test_what_the_form_cannot_tell_is_refused_in_place_of_the_table(client):
    page = seen(client, "/odd~pairs?rows=place&rows=sex&cols=age", 400)
    assert WHY in page.text
    assert not page.all("grade")


def test_the_pages_of_a_refusing_product_stand(client):
    for address in ("/", "/odd~pairs", "/help?table=odd~pairs", "/api", "/privacy/odd", "/odd~pairs?lang=de"):
        assert client.get(address).status_code == 200, address


def test_the_api_gives_null_with_a_status(client):
    said = table(client, "holey", "valueCodes[place]=*&valueCodes[sex]=*").json()
    assert said["value"][10:15] == [None] * 5
    assert said["status"]["10"] == "s"
    assert said["extension"]["status"]["label"]["s"] == FEW.reason


def test_a_page_shows_the_mark_with_its_reason_below_and_aloud(client):
    page = seen(client, "/odd~holey?rows=place&cols=sex")
    assert f"s No number: {FEW.reason}" in page.text
    assert f"⊥ No number: {UNFIT.reason}" in page.text
    spoken = [one["aria-label"] for tag, one in page.elements if tag == "button" and one.get("name") == "cell"]
    # Of the cells, of the row of totals and of the column of totals.
    assert spoken.count(f"cannot be stated: {FEW.reason}") == 3
    assert spoken.count(f"cannot be stated: {UNFIT.reason}") == 4
    assert "777" not in page.text


def test_a_german_page_says_it_in_german(client):
    assert f"Keine Zahl: {FEW.reason}" in seen(client, "/odd~holey?rows=place&cols=sex&lang=de").text


def test_the_detail_of_an_empty_cell_is_its_reason_and_a_comparison_is_refused(client):
    page = seen(client, "/odd~holey?rows=place&cols=sex&cell=S|f")
    assert f"There is no number here: {FEW.reason}." in page.text
    held = seen(client, "/odd~holey?rows=place&cols=sex&cell=N|f&hold=S|f")
    assert f"Whether they differ cannot be said: {FEW.reason}." in held.text


@pytest.mark.parametrize(
    "look", [*(f"share={share}&error={error}" for share, error in combinations(("row", "whole"), ("cv", "se")))]
)
def test_every_look_of_a_table_with_holes_stands(client, look):
    assert "777" not in seen(client, f"/odd~holey?rows=place&cols=sex&{look}&sort=f&noise=on").text


def test_a_chart_leaves_it_out_and_a_map_crosses_it_out(client):
    chart = seen(client, "/odd~holey?rows=place&cols=sex&view=chart")
    assert "2 not drawn. S, f: fewer than 3 firms" in chart.text
    drawn = client.get("/odd~holey/picture.svg?rows=place&cols=sex&view=map&of=f")
    assert drawn.status_code == 200
    assert f"<title>S, f: {FEW.reason}</title>" in drawn.text
    assert "no number" in Seen(drawn.text).text


def test_a_saved_query_that_is_refused_says_why(client):
    asked = {
        "tableId": "odd~pairs",
        "selection": {"selection": [{"variableCode": one} for one in ("place", "sex", "age")]},
    }
    refused = client.ask("POST", "/api/v2/savedqueries", content=json.dumps(asked))
    assert refused.status_code == 400
    assert WHY in refused.json()["detail"]

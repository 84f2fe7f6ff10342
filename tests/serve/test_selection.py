"""What PxWebApi writes as a choice of codes, in an address or in a body, is understood as it means it."""

import pytest

from sfumato.schema import Levels
from sfumato.serve.code_list import CodeList
from sfumato.serve.expressions import chosen, fits

JOBS = "/api/v2/tables/jobs-survey~jobs"


@pytest.mark.parametrize(
    ("query", "codes"),
    [
        ("valueCodes[place]=N1*", ["N1", "N10", "N11", "N12", "N13", "N14"]),
        ("valueCodes[place]=N1*&codelist[place]=leaves", ["N10", "N11", "N12", "N13", "N14"]),
        ("valueCodes[place]=??", ["N1", "N2", "S1"]),
        ("valueCodes[place]=*2,S1", ["N12", "N2", "N22", "S1", "S,2"]),
        ("valueCodes[age]=top(2)", ["30-49", "50+"]),
        ("valueCodes[age]=TOP(1,1)", ["30-49"]),
        ("valueCodes[age]=bottom(1)", ["16-29"]),
        ("valueCodes[age]=from(30-49)", ["30-49", "50+"]),
        ("valueCodes[age]=to(30-49)", ["16-29", "30-49"]),
        ("valueCodes[trade]=[range(c,e)],h", ["c", "d", "e", "h"]),
        ("group[trade]=Mine:a,b&valueCodes[trade]=h", ["h", "group:Mine"]),
        ("valueCodes[place]=*&codelist[place]=jobs-survey~place~level0", ["N", "S"]),
    ],
)
def test_codes_are_chosen_as_pxwebapi_writes_it(page, query, codes):
    dataset = page.get(f"{JOBS}/data?{query}").json()
    assert list(dataset["dimension"][dataset["id"][0]]["category"]["index"]) == codes


def test_a_body_asks_the_same_as_an_address(page):
    body = {
        "selection": [
            {"variableCode": "place", "codelist": "level1", "valueCodes": ["*"]},
            {"variableCode": "sex", "valueCodes": ["female", "male"]},
            {"variableCode": "metric", "valueCodes": ["estimate"]},
        ],
        "placement": {"heading": ["sex"], "stub": ["place"]},
        "sum": {"trade": ["a", "b"]},
    }
    posted = page.ask("POST", f"{JOBS}/data", json=body)
    asked = page.get(f"{JOBS}/data?codelist[place]=level1&valueCodes[sex]=*&sum[trade]=a,b&heading=sex&stub=place")
    assert posted.content == asked.content
    assert "etag" not in posted.headers
    for wrong, said in (
        ({"selection": [{"valueCodes": ["*"]}]}, "selection.0.variableCode: Field required."),
        ({"selektion": []}, "selektion: Extra inputs are not permitted."),
        ([], "the body: "),
    ):
        refused = page.ask("POST", f"{JOBS}/data", json=wrong)
        assert refused.status_code == 400
        assert said in refused.json()["detail"]


def test_a_pattern_of_many_stars_takes_no_time():
    assert not fits("a" * 2_000, "*a" * 90 + "b")
    assert fits("a" * 2_000, "*a" * 90)


def test_a_code_that_looks_like_an_expression_is_a_code():
    known = ["top(1)", "a*", "ab", "x,y"]
    assert chosen(known, ["top(1)"]) == ("top(1)",)
    assert chosen(known, ["a*"]) == ("a*",)
    assert chosen(known, ["x,y", "a?"]) == ("x,y", "a*", "ab")


def test_codes_that_are_named_are_looked_up_without_going_through_the_list(monkeypatch):
    towns = CodeList(Levels.of(["b", "a", {"code": "b1", "parent": "b"}, {"code": "a1", "parent": "a"}]), "leaves")
    assert (chosen(towns, ["*"]), chosen(towns, ["from(a1)"]), len(towns)) == (towns.codes, ("a1",), 2)
    monkeypatch.setattr(CodeList, "codes", property(lambda _: pytest.fail("the whole list was asked for")))
    assert chosen(towns, ["b1,a1", "c"]) == ("b1", "a1", "c")
    with pytest.raises(pytest.fail.Exception):
        chosen(towns, ["*"])

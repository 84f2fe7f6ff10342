"""The page to choose codes from: every code is there or one step away, and what was chosen reaches the table."""

from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from tests.serve.test_page import TABLE, Parsed, parsed

from sfumato.schema import Levels
from sfumato.serve.code_list import code_list
from sfumato.serve.code_pairs import code_pairs
from sfumato.serve.guard import LONGEST_QUERY
from sfumato.serve.pages.tree import MOST, WHOLE, LevelTree

STATE = [("rows", "place"), ("cols", "sex"), ("sum[trade]", "a"), ("error", "se"), ("zero", "on")]
SHOWN, UNIVERSE = "valueCodes[place]", "sum[place]"


def pick(what=SHOWN, **more):
    return f"{TABLE}/pick?{urlencode([*STATE, ('pick', what), *more.items()])}"


def picked(*codes, what=SHOWN, state=(), **more):
    ticks = [("ticked", "1"), *(("c", code) for code in codes)]
    return f"{TABLE}/picked?{urlencode([*STATE, *state, ('pick', what), *ticks, *more.items()])}"


def boxes(shown):
    return [one for one in shown.all("input") if one.get("name") == "c" and one["type"] == "checkbox"]


def landed(page, address):
    """Where a choice leads."""
    reply = page.get(address)
    assert reply.status_code == 303, reply.text[:300]
    path, query = urlsplit(reply.headers["location"])[2:4]
    assert path == TABLE
    assert page.get(reply.headers["location"]).status_code == 200
    return parse_qsl(query)


def refused(page, address):
    shown = parsed(page, address, 400)
    assert any(one.get("role") == "alert" for one in shown.all("div"))
    return shown


def test_every_code_is_there_with_its_label_and_what_the_table_has_is_ticked(page, places):
    shown = parsed(page, pick(**{SHOWN: "N1,S"}))
    assert {one["value"] for one in boxes(shown)} == {one["code"] for one in places}
    assert [one["value"] for one in boxes(shown) if "checked" in one] == ["N1", "S"]
    assert "Ticked: 2 of 15" in shown.text
    for one in places:
        assert f"{one['code']} {' '.join(one['label'].split())}" in shown.text


@pytest.mark.parametrize(
    ("find", "found", "around"),
    [
        ("hills", {"N2"}, {"N", "N2", "N20", "N21", "N22", "N23"}),
        ("NORTH coast", {"N1"}, {"N", "N1", "N10", "N11", "N12", "N13", "N14"}),
        ("s comma", {"S1", "S,2"}, {"S", "S1", "S,2"}),
        ("n14", {"N14"}, {"N", "N1", "N14"}),
        ("coast hills", set(), set()),
    ],
)
def test_search_finds_codes_that_hold_every_word_and_shows_where_they_stand(page, find, found, around):
    reply = page.get(pick(find=find))
    shown = Parsed(reply.text)
    assert {one["value"] for one in boxes(shown)} == around
    assert f"Found for “{find}”: {len(found)}" in shown.text or (not found and "Try fewer letters" in shown.text)
    assert len(shown.all("mark")) >= len(found)
    assert bool(shown.all("mark")) == bool(found)
    assert len([one for one in shown.all("li") if one.get("class") == "hit"]) == len(found)


def test_ticks_that_a_search_hides_are_carried_along(page):
    address = pick(find="hills") + "&ticked=1&c=S1&c=N2"
    shown = parsed(page, address)
    assert [one["value"] for one in boxes(shown) if "checked" in one] == ["N2"]
    assert [one["value"] for one in shown.all("input") if one.get("name") == "c" and one["type"] == "hidden"] == ["S1"]


def test_what_is_ticked_is_what_the_table_shows_and_the_state_is_kept(page):
    assert landed(page, picked("S,2", "N", state=[("cell", "N|female")])) == [
        ("rows", "place"),
        ("cols", "sex"),
        (SHOWN, "N"),
        (SHOWN, "S,2"),
        *STATE[2:],
    ]


def test_exactly_a_level_is_written_as_that_level(page):
    assert ("codelist[place]", "level1") in landed(page, picked("N1", "N2", "S1", "S,2"))
    assert ("codelist[place]", "leaves") in landed(page, picked(level="leaves"))
    assert (SHOWN, "N1,N2,S1") in landed(page, picked("N1", "N2", "S1"))


def test_a_whole_level_a_branch_or_all_that_was_found_can_be_ticked(page):
    def ticked(address):
        return [one["value"] for one in boxes(parsed(page, address)) if "checked" in one]

    assert ticked(pick(ticked="1", c="S1", add="level:level0")) == ["N", "S", "S1"]
    assert ticked(pick(ticked="1", c="S1", add="under:N")) == ["N1", "N2", "S1"]
    assert ticked(pick(ticked="1", add="found:", find="comma")) == ["S1", "S,2"]
    assert ticked(pick(ticked="1", c="S1", clear="1")) == []


def test_nothing_ticked_is_refused_for_a_table_and_means_everything_for_its_universe(page):
    assert "nothing is ticked; tick a code, or take a whole level" in refused(page, picked()).text
    assert UNIVERSE not in dict(landed(page, picked(what=UNIVERSE, state=[(UNIVERSE, "N1")])))
    assert (UNIVERSE, "N1") in landed(page, picked("N1", what=UNIVERSE))


def test_a_group_is_the_sum_of_what_was_ticked(page, engine):
    landing = landed(page, picked("N10", "S,2", name="Mine", make="1"))
    assert [pair for pair in landing if pair[0] == "group[place]"] == [
        ("group[place]", "Mine:N10"),
        ("group[place]", "Mine:S,2"),
    ]
    assert ("codelist[place]", "level0") in landing
    plain = [pair for pair in landing if pair[0] not in {"error", "zero"}]
    shown = parsed(page, f"{TABLE}?{urlencode(plain)}").text
    for sex in ("female", "male"):
        assert repr(engine.total({"place": ["N10", "S,2"], "sex": sex, "trade": "a"})) in shown


@pytest.mark.parametrize(
    ("name", "codes", "why"),
    [
        ("", ["N1"], "a group needs a name and at least one ticked code"),
        ("Mine", [], "a group needs a name and at least one ticked code"),
        ("a:b", ["N1"], "the name of a group has no colon"),
        ("north", ["N1"], "is already a level"),
        ("MINE", ["N1"], "there is a group 'MINE' already"),
    ],
)
def test_a_group_that_cannot_be_is_refused_where_it_is_made(page, name, codes, why):
    shown = refused(page, picked(*codes, state=[("group[place]", "Mine:S1,N2")], name=name, make="1"))
    assert why in shown.text
    assert [one["value"] for one in boxes(shown) if "checked" in one] == codes
    assert next(one for one in shown.all("input") if one.get("name") == "name")["value"] == name


def test_a_branch_of_the_rows_opens_and_closes(page):
    twist = f"{TABLE}/picked?{urlencode([*STATE, ('twist', 'place|N')])}"
    opened = landed(page, twist)
    assert (SHOWN, "N,N1,N2,S") in opened
    again = f"{TABLE}/picked?{urlencode([*opened, ('twist', 'place|N')])}"
    assert ("codelist[place]", "level0") in landed(page, again)
    shown = parsed(page, f"{TABLE}?{urlencode(opened)}")
    twists = {one["value"]: one["aria-expanded"] for one in shown.all("button") if one.get("name") == "twist"}
    assert twists == {"place|N": "true", "place|N1": "false", "place|N2": "false", "place|S": "false"}


def test_codes_that_are_listed_level_by_level_stand_under_their_parents():
    """As lists of states, counties and blocks often are; a row that is opened has its own below it, not at the end."""
    listed = ["1", "2", *({"code": f"{up}{place}", "parent": up} for place in "ab" for up in "12")]
    assert code_list(Levels.of(listed), "all") == ("1", "1a", "1b", "2", "2a", "2b")


def test_what_cannot_be_chosen_from_is_said(page):
    for address, why in {
        f"{TABLE}/pick": "Say which codes to choose, as in pick=valueCodes[place]",
        f"{TABLE}/pick?rows=sex&pick=valueCodes[place]": "Place is not in this table",
        f"{TABLE}/pick?pick=sum[plase]": "did you mean 'place'",
        f"{TABLE}/picked?rows=place&twist=place|X": "is not a row of this table",
        f"{TABLE}/pick?rows=place&cols=place&pick=sum[sex]": "stands in the rows and in the columns",
    }.items():
        assert why in parsed(page, address, 400).text
    assert "This page is not here" in parsed(page, "/nothing~here/pick", 404).text


TEN_THOUSAND = Levels.of(
    [{"code": f"{top:02}", "label": f"Sector {top}"} for top in range(20)]
    + [
        {"code": f"{top:02}-{place:03}", "label": f"Trade {place} of {top}", "parent": f"{top:02}"}
        for top in range(20)
        for place in range(600)
    ]
)


def codes(nodes):
    return [code for node in nodes for code in (node.code, *codes(node.children))]


def test_of_a_long_list_only_the_opened_branches_are_on_the_page():
    closed = LevelTree(TEN_THOUSAND, ("03-001",))
    assert len(TEN_THOUSAND.codes) > WHOLE
    assert codes(closed.nodes) == [f"{top:02}" for top in range(20)]
    assert closed.unseen == ("03-001",)
    opened = LevelTree(TEN_THOUSAND, ("03-001",), opened=("03",))
    assert len(codes(opened.nodes)) == 20 + MOST
    assert (opened.left_out, opened.unseen) == (600 - MOST, ())
    assert opened.nodes[3].ticked_below == 1


def test_search_finds_every_code_of_a_long_list():
    found = LevelTree(TEN_THOUSAND, (), "trade 599")
    assert codes(found.nodes) == [code for top in range(20) for code in (f"{top:02}", f"{top:02}-599")]
    many = LevelTree(TEN_THOUSAND, (), "trade")
    assert (many.found, many.left_out) == (12_000, 12_000 - MOST)
    assert sum("-" in code for code in codes(many.nodes)) == MOST


def test_nine_hundred_picked_codes_fit_into_an_address():
    soc = Levels.of([f"{place // 50 + 11}-{place:04}" for place in range(900)])
    picked = soc.codes[1:]
    written = urlencode(code_pairs("valueCodes[occupation]", picked, soc), safe="[],")
    assert parse_qsl(written)[0][1].split(",") == list(picked)
    assert len(written) < LONGEST_QUERY / 3

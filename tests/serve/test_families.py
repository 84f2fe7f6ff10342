"""A family of tables over HTTP: what it holds agrees to the last digit, and what it does not hold is not offered."""

import io
import json
import random
from itertools import combinations

import pytest
from openpyxl import load_workbook
from tests.families import CONTROLLED, LEAVES, PLAN, family_release
from tests.serve.conftest import _serving
from tests.serve.small import seen

REACH = "This release has tables of up to 2 variables together"
NONE = "measured together at coarser levels only"
PLACES = {"n": ["n1", "n2"], "s": ["s1", "s2", "s3"]}
LEVELS = {"place": [["n1", "n2", "s1", "s2", "s3"], ["n", "s"]]} | {
    name: [leaves.split()] for name, leaves in LEAVES.items() if name != "place"
}


@pytest.fixture(scope="module")
def client(tmp_path_factory, browse):
    return browse([family_release(tmp_path_factory.mktemp("family") / "release")])


def data(client, query, table="jobs", status=200):
    reply = client.get(f"/api/v2/tables/family~{table}/data?{query}")
    assert reply.status_code == status, reply.text[:500]
    return reply


def numbers(client, pairs, table="jobs"):
    """The numbers of a table by the codes of its cells, as the interface gives them."""
    said = data(client, "&".join(pairs), table).json()
    names = [name for name in said["id"][:-1] if name not in said["role"].get("time", ())]
    codes = [list(said["dimension"][name]["category"]["index"]) for name in names]
    values = said["value"][:: said["size"][-1]]
    keys = [()]
    for one in codes:
        keys = [(*key, code) for key in keys for code in one]
    return dict(zip(keys, values, strict=True))


def shown(name, codes):
    return f"valueCodes[{name}]={','.join(codes)}"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server of its own, over a socket, of a family that was moved to controls and one that was not."""
    with _serving([family_release(tmp_path_factory.mktemp("moved") / "release", CONTROLLED)]) as client:
        yield client


@pytest.mark.parametrize("table", ["jobs", "pay"])
def test_all_margins_of_all_tables_agree_to_the_last_digit(client, table):
    agree(client, table)


@pytest.mark.parametrize("table", ["moved", "pay"])
def test_over_a_real_socket_they_agree_as_well_and_asking_again_gives_the_same_bytes(served, table):
    agree(served, table)
    query = "codelist[place]=all&valueCodes[sex]=*"
    assert data(served, query, table).content == data(served, query, table).content
    other = data(served, "valueCodes[sex]=*&codelist[place]=all", table)
    assert other.content == data(served, query, table).content


EXCHANGED = (
    PLAN.replace('neighbours = "add-remove"', 'neighbours = "replace-one"')
    .replace('[limit]\nmu = "2"', '[limit]\nrho = "3"')
    .replace('even-gaussian", mu = "1"', 'even-gaussian", rho = "1.5"')
    .replace('clip = ["0", "60"], step = "1"', 'clip = ["-5", "60"], step = "0.5"')
)


def test_counts_and_totals_in_rho_of_jobs_that_are_replaced_agree_as_well(tmp_path, browse):
    """Counts in quarters, and totals in halves of which some may be below 0: sums of them are exact in JSON."""
    client = browse([family_release(tmp_path / "release", EXCHANGED)])
    for table in ("jobs", "pay"):
        agree(client, table)
    values = numbers(client, ["valueCodes[sex]=*", "valueCodes[age]=*"], "jobs").values()
    assert any(value % 1 for value in values)
    assert all(value % 0.25 == 0 for value in values)


def test_published_totals_are_met_over_a_socket(served):
    """The register's numbers by age, in every table that has an age."""
    known = {"young": 1000, "middle": 1010, "old": 990}
    assert numbers(served, ["valueCodes[age]=*"], "moved") == {(age,): number for age, number in known.items()}
    for other in ("sex", "school", "place"):
        cells = numbers(served, ["valueCodes[age]=*", shown(other, LEVELS[other][0])], "moved")
        for age, number in known.items():
            assert sum(value for key, value in cells.items() if age in key) == number


def agree(client, table):
    """Every table of two variables, at every level, adds up to every table of one and to the whole."""
    (whole,) = numbers(client, [], table).values()
    alone = {name: numbers(client, [f"codelist[{name}]=all"], table) for name in LEVELS}
    for name, levels in LEVELS.items():
        for codes in levels:
            assert sum(alone[name][code,] for code in codes) == whole
    for part, below in PLACES.items():
        assert sum(alone["place"][code,] for code in below) == alone["place"][part,]
    for one, other in combinations(LEVELS, 2):
        cells = numbers(client, [f"codelist[{one}]=all", f"codelist[{other}]=all"], table)
        for (code,), margin in alone[one].items():
            assert all(sum(cells[code, second] for second in codes) == margin for codes in LEVELS[other])
        for (code,), margin in alone[other].items():
            assert all(sum(cells[first, code] for first in codes) == margin for codes in LEVELS[one])


def test_the_table_of_three_agrees_with_those_of_two(client):
    cells = numbers(client, [shown("place", "ns"), "valueCodes[sex]=*", "valueCodes[age]=*"])
    for sex in "fm":
        for place in "ns":
            two = numbers(client, [shown("place", place), shown("sex", sex)])[place, sex]
            assert sum(cells[place, sex, age] for age in LEVELS["age"][0]) == two
        for age in LEVELS["age"][0]:
            assert (
                sum(cells[place, sex, age] for place in "ns")
                == numbers(client, [shown("sex", sex), shown("age", [age])])[sex, age]
            )


def test_groups_filters_and_cells_of_one_question_are_one_number(client):
    """However a part is asked for, as a filter, a group or the sum of its cells, it is the same number."""
    chosen = random.Random(3)
    for _ in range(40):
        name, other = chosen.sample(list(LEVELS), 2)
        codes, held = (chosen.sample(LEVELS[one][0], chosen.randint(1, 2)) for one in (name, other))
        within = [f"sum[{other}]={code}" for code in held]
        (filtered,) = numbers(client, [*within, *(f"sum[{name}]={code}" for code in codes)]).values()
        cells = numbers(client, [*within, shown(name, codes)]).values()
        (grouped,) = numbers(client, [*within, f"group[{name}]=mine:{','.join(codes)}"]).values()
        assert filtered == sum(cells) == grouped


def test_what_is_held_above_only_has_a_reason_in_every_format(client):
    query = "codelist[place]=all&valueCodes[sex]=*&valueCodes[age]=old"
    said = data(client, query).json()
    width, values = said["size"][-1], said["value"]
    places = list(said["dimension"]["place"]["category"]["index"])
    for at, place in enumerate(code for code in places for _ in "fm"):
        assert (values[at * width] is None) == (place not in PLACES)
        assert (said["status"][str(at * width)] == "…") == (place not in PLACES)
    assert NONE in json.dumps(said)
    lines = data(client, f"{query}&outputFormat=csv").text.splitlines()
    assert sum(NONE in line for line in lines) == 10
    assert all(NONE not in line for line in lines if line.startswith(("n,", "s,")))
    book = load_workbook(io.BytesIO(data(client, f"{query}&outputFormat=xlsx").content))
    words = [str(cell.value) for sheet in book for row in sheet.iter_rows() for cell in row if cell.value is not None]
    assert any(NONE in word for word in words)
    page = seen(client, "/family~jobs?rows=place&cols=sex&wrap=age&codelist[place]=all")
    assert NONE in page.text


def test_too_many_variables_are_refused_in_words_on_every_way(client):
    three = "valueCodes[sex]=*&valueCodes[age]=*&valueCodes[school]=*"
    for query in (
        three,
        "valueCodes[sex]=*&sum[age]=old&sum[school]=1",
        "valueCodes[sex]=*&group[age]=x:old&sum[school]=1",
    ):
        told = data(client, query, status=400).json()["detail"]
        assert told.startswith(REACH)
        assert told.endswith("Sex × Age × School are 3. Leave one out.")
    for query in ("rows=sex&cols=age&wrap=school", "rows=sex&rows=age&cols=school", "rows=sex&cols=age&sum[school]=1"):
        assert "Leave one out" in seen(client, f"/family~jobs?{query}", 400).text
    two = seen(client, "/family~jobs?rows=sex&cols=school")
    assert "Leave one out" not in two.text


def test_metadata_and_the_form_say_how_many_variables_go_together(client):
    note = f"{REACH}, and of Place (coarser) × Sex × Age."
    assert note in client.get("/api/v2/tables/family~jobs/metadata").json()["note"]
    assert f"{REACH}." in client.get("/api/v2/tables/family~pay/metadata").json()["note"]
    page = seen(client, "/family~pay?rows=place&cols=sex")
    assert f"{REACH}." in page.text
    offered = [one["value"] for tag, one in page.elements if tag == "option"]
    # In place of the rows or of the columns, and nowhere besides.
    assert offered.count("age") == offered.count("school") == 2
    assert not any(one.get("name") in {"sum[age]", "sum[school]"} for _, one in page.elements)
    assert f"{REACH}." not in seen(client, "/family~pay?rows=place").text


def test_the_form_offers_a_third_variable_that_is_held_above(client):
    page = seen(client, "/family~jobs?rows=place&cols=sex")
    assert any(one.get("name") == "sum[age]" for _, one in page.elements)
    assert not any(one.get("name") == "sum[school]" for _, one in page.elements)


def lists_offered(page):
    """The levels of a place that the form offers."""
    return {one["value"] for tag, one in page.elements if tag == "option"} & {"level0", "leaves", "all"}


def test_the_form_offers_levels_that_are_held_and_no_others(client):
    assert lists_offered(seen(client, "/family~jobs?rows=place&cols=sex")) == {"level0", "leaves", "all"}
    three = seen(client, "/family~jobs?rows=place&cols=sex&wrap=age&codelist[place]=level0")
    assert lists_offered(three) <= {"level0"}
    refused = seen(client, "/family~jobs?rows=place&cols=sex&wrap=age&codelist[place]=leaves", 400)
    words = "together at coarser levels only; ask for the top level of Place (codelist[place]=level0)."
    assert words in refused.text
    asked = "codelist[place]=leaves&valueCodes[sex]=*&valueCodes[age]=*"
    told = data(client, asked, status=400).json()["detail"]
    assert words in told
    assert "@" not in told, "that is how the command line has it"
    assert data(client, asked.replace("leaves", "level0")).status_code == 200
    filtered = data(client, "sum[place]=n1&valueCodes[sex]=*&valueCodes[age]=*", status=400).json()["detail"]
    assert filtered.endswith("at coarser levels only; ask for the top level of Place.")


def test_a_filter_that_cannot_be_is_refused_where_it_is_picked(client):
    asked = "rows=place&cols=sex&ticked=1&c=1"
    refused = client.get(f"/family~jobs/picked?pick=sum[school]&{asked}", follow_redirects=False)
    assert refused.status_code == 400
    assert "Leave one out" in refused.text
    allowed = client.get("/family~jobs/picked?pick=sum[school]&rows=place&ticked=1&c=1", follow_redirects=False)
    assert allowed.status_code == 303


@pytest.mark.parametrize(
    "query",
    [
        "rows=place&cols=sex&share=row&codelist[place]=all",
        "rows=place&cols=sex&sum[age]=old&share=column&codelist[place]=all",
        "rows=place&sort=total&codelist[place]=leaves",
        "rows=place&cols=sex&wrap=age&codelist[place]=all&cell=n1|f|old&hold=n|f|old",
        "rows=place&cols=sex&cell=n|f&hold=s|m&share=row",
        "rows=place&cols=sex&sum[age]=old&codelist[place]=all&view=chart",
        "rows=place&cols=sex&sum[age]=old&codelist[place]=all&sort=f",
    ],
)
def test_every_way_to_look_at_a_table_is_answered(client, query):
    assert seen(client, f"/family~jobs?{query}").text


def test_pages_do_not_say_that_every_cell_has_noise_of_its_own(client):
    card = seen(client, "/privacy/family").text
    assert "by up to 2 of Place, Sex, Age, School together" in card
    assert "for everything that was measured" in card
    assert "added to every one of its cells" not in card
    detail = seen(client, "/family~jobs?rows=place&cols=sex&cell=n|f").text
    assert "for all of its tables together" in detail
    assert "to each of the" not in detail
    told = seen(client, "/help?table=family~jobs").text
    assert "Here one published cell carries privacy noise" in told
    assert "together in none of these tables" in told


def test_negative_numbers_are_shown_as_0_and_nothing_else_is_touched(client):
    """Nobody in n1 has school 2, 3 or 4, so that noise around 0 is all that is there; the view states its bias."""
    asked, negative = "rows=place&cols=school&codelist[place]=all", []
    for seed in ("jobs", "pay"):
        cells = numbers(client, ["codelist[place]=all", "valueCodes[school]=*"], seed)
        negative += [(seed, key) for key, value in cells.items() if value < 0]
    assert negative
    table = negative[0][0]
    plain, zeroed = (seen(client, f"/family~{table}?{asked}{more}") for more in ("", "&zero=on"))
    assert "about 0.4 standard errors" in zeroed.text
    assert "about 0.4 standard errors" not in plain.text
    totals = [page.text.split("Total", 2)[-1][:200] for page in (plain, zeroed)]
    assert totals[0] == totals[1]
    links = [[link for link in page.links if "outputFormat" in link] for page in (plain, zeroed)]
    assert links[0] == links[1] != []
    assert "zero" not in json.dumps(links)

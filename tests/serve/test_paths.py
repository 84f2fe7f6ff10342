"""One number by many paths, over HTTP: groups, wraps, percentages, posted selections and addresses in any order."""

import html
import math
import random
import re

import pytest
from tests.serve.test_consistency import VARIABLES, asked, cut, numbers, universe

GROUPS, ORDERS = 150, 40
CELL = re.compile(
    r'name="cell" value="([^"]*)"[^>]*><span class="n">([^<]*)</span>(?: <span class="moe">([^<]*)</span>)?', re.ASCII
)


def shown(client, pairs, table="jobs"):
    """Every cell of a page by its codes: the number and its margin, as they are printed."""
    reply = client.get(f"/jobs-survey~{table}", params=pairs)
    assert reply.status_code == 200, reply.text[:600]
    return {html.unescape(code): (number, margin) for code, number, margin in CELL.findall(reply.text)}


def whole(text):
    return int(text.replace(",", "").replace("−", "-"))


@pytest.mark.parametrize("seed", range(3))
def test_a_group_is_the_sum_of_its_codes_and_the_total_over_them(server, engine, seed):
    chosen = random.Random(seed)
    for _ in range(GROUPS // 3):
        table, name = chosen.choice(("jobs", "pay")), chosen.choice(VARIABLES)
        levels = next(one.levels for one in engine.product().attributes if one.name == name)
        within, codes = universe(engine, chosen, besides=name), cut(levels, chosen)
        members = chosen.sample(codes, chosen.randint(1, len(codes)))
        grouped = [(f"group[{name}]", f"Mine:{code}") for code in members]
        group = numbers(server, table, asked(within) + grouped).json()["value"]
        parts = numbers(server, table, asked(within) + [(f"valueCodes[{name}]", code) for code in members]).json()
        total = numbers(server, table, asked({**within, name: members})).json()["value"]
        assert group[0] == sum(parts["value"][::5]) == total[0]
        assert group == total, "the errors agree too"


@pytest.mark.parametrize("name", ["age", "sex", "trade"])
def test_tables_wrapped_by_a_variable_are_the_tables_within_its_levels_and_add_up(server, engine, name):
    rows, columns = [one for one in VARIABLES if one not in {name, "place"}][:2]
    laid_out = [("rows", rows), ("cols", columns)]
    together, wrapped = shown(server, laid_out), shown(server, [*laid_out, ("wrap", name)])
    levels = next(one.levels for one in engine.product().attributes if one.name == name)
    for code in levels.codes:
        inside = shown(server, [*laid_out, (f"sum[{name}]", code)])
        assert inside == {key.rpartition("|")[0]: one for key, one in wrapped.items() if key.endswith(f"|{code}")}
    for cell, seen in together.items():
        parts = [one for key, one in wrapped.items() if key.rpartition("|")[0] == cell]
        assert abs(sum(whole(number) for number, _ in parts) - whole(seen[0])) <= sum(map(half_step, [*parts, seen]))


def half_step(seen):
    """Half of the last digit that a number is shown with: the second one of its margin, or 1/2."""
    margin = float(seen[1].removeprefix("±").replace(",", "").strip())
    return 0.5 * 10 ** max(math.floor(math.log10(float(f"{margin:.1e}"))) - 1, 0)


@pytest.mark.parametrize(("share", "under"), [("row", "{row}|"), ("column", "|{column}"), ("whole", "|")])
def test_a_percentage_is_of_the_numbers_that_stand_beside_it(server, engine, share, under):
    """Totals too: each is 100% of its own row or column, or its part of the whole."""
    laid_out = [("rows", "trade"), ("cols", "age"), ("sum[place]", "N")]
    plain, shares = shown(server, laid_out), shown(server, [*laid_out, ("share", share)])
    assert plain.keys() == shares.keys()
    assert len(shares) == (8 + 1) * (3 + 1)
    for cell, (percent, _) in shares.items():
        row, column = cell.split("|")
        part, base = (exactly(engine, one) for one in (cell, under.format(row=row, column=column)))
        decimals = len(percent.partition(".")[2].removesuffix("%"))
        assert float(percent.removesuffix("%").replace("−", "-")) == pytest.approx(
            100 * part / base, abs=0.5001 * 10.0**-decimals if decimals else 5.001
        )


def exactly(engine, cell):
    """The number of a cell with all its digits; of what is left out, everything counts."""
    named = zip(("trade", "age"), cell.split("|"), strict=True)
    return engine.total({"place": "N"} | {name: code for name, code in named if code}).value


def test_a_posted_selection_has_the_answer_of_the_address(server):
    """POST takes the same codes in its body; only what says how it was asked may differ."""
    chosen = random.Random(5)
    for _ in range(30):
        codes = chosen.sample(["N", "N1", "N2", "S", "S1", "S,2"], chosen.randint(1, 4))
        sexes = chosen.sample(["male", "female"], chosen.randint(1, 2))
        pairs = [("valueCodes[place]", code) for code in codes] + [("valueCodes[sex]", code) for code in sexes]
        selection = [{"variableCode": "sex", "valueCodes": sexes}, {"variableCode": "place", "valueCodes": codes}]
        path = "/api/v2/tables/jobs-survey~jobs/data"
        posted = server.post(path, json={"selection": chosen.sample(selection, 2)})
        assert posted.status_code == 200, posted.text
        assert posted.content == numbers(server, "jobs", chosen.sample(pairs, len(pairs))).content


def test_a_page_shows_the_same_numbers_however_its_address_is_written(server):
    pairs = [
        ("rows", "place"),
        ("cols", "sex"),
        ("codelist[place]", "level1"),
        ("sum[trade]", "a"),
        ("sum[trade]", "c,b"),
        ("sum[age]", "30-49"),
        ("sum[hours]", "*"),
        ("group[place]", "Odd ones:S1,N10"),
        ("error", "se"),
    ]
    chosen, first = random.Random(9), shown(server, pairs)
    assert len(first) > 10
    for _ in range(ORDERS):
        assert shown(server, chosen.sample(pairs, len(pairs))) == first
    data = numbers(
        server, "jobs", [one for one in pairs if one[0] not in {"rows", "cols", "error"}] + [("valueCodes[sex]", "*")]
    )
    values = {number for number, _ in first.values()}
    assert {f"{one:,}".replace("-", "−") for one in data.json()["value"][::5]} <= values

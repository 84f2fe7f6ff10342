"""Percentiles and lines in the query tool: ranked tables, maps of one column, what is missing and what is promised."""

import asyncio
import re
from collections import Counter

import httpx
import pytest

import sfumato as sf
from sfumato.confidential import Microdata, Options, run
from sfumato.plan import Plan
from sfumato.query import Estimate
from sfumato.serve import app
from sfumato.synth import write


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    folder, made = tmp_path_factory.mktemp("earnings"), []
    for name, rows in (("pseo", 6_000), ("atlas", 60_000)):
        plan = Plan.read(write(name, folder / name, rows))
        data = Microdata.open(folder / name / f"{name}.parquet", plan.schema)
        run(plan, data, None, folder / f"{name}-release", Options(rehearsal=1))
        made.append(folder / f"{name}-release")
    return made


def text(releases, address):
    async def asked():
        transport = httpx.ASGITransport(app(releases))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            return await client.get(address)

    reply = asyncio.run(asked())
    assert reply.status_code == 200, reply.text
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", reply.text))


def test_colleges_are_ranked_and_those_of_few_stand_anywhere(releases):
    shown = text(releases, "/pseo~p50?rows=college&cols=degree&sort=bachelor&sum[field]=business")
    assert "Fewer than 30 graduates here, by the noisy count." in shown
    assert re.search(r"Rank associate .* 1–\d\d", shown)
    assert "Where noisy counts by 20 public bands of Earnings reach 50%" in shown


def test_a_map_of_what_may_not_be_summed_shows_one_column(releases):
    shown = text(releases, "/atlas~p25?rows=tract&cols=race&view=map")
    assert "Of asian black hispanic native white" in shown
    assert "Of Total asian" in text(releases, "/atlas~children?rows=tract&cols=race&view=map")


def test_a_map_opens_on_the_column_of_which_most_areas_have_a_number(releases):
    """White children are most of every tract (`synth atlas`); a reader who names another column sees that one."""
    told = sf.open(releases[1]).table(["tract", "gender"], "race", of="p25", at={"tract": "leaves"})
    numbers = Counter(codes[-1] for codes, one in told.items() if isinstance(one, Estimate))
    assert numbers.most_common(1)[0][0] == "white"
    assert numbers["asian"] < numbers["white"]
    assert "Race white NOT FOR" in text(releases, "/atlas~p25?rows=tract&cols=race&view=map")
    assert "Race black NOT FOR" in text(releases, "/atlas~p25?rows=tract&cols=race&view=map&of=black")
    assert "Race: white" in text(releases, "/atlas~p25?rows=tract&view=map"), "as is what stands nowhere"


def test_lines_say_everywhere_that_they_are_not_formally_private(releases):
    for address in ("/atlas~p25?rows=tract&cols=race", "/privacy/atlas"):
        shown = text(releases, address)
        assert "not formally private" in shown.lower()
        assert "the authors&#39; argument, that given chi the loss is epsilon, leaves both out" in shown


def test_a_percentile_and_the_difference_of_two_say_their_intervals(releases):
    """An interval longer to one side is said by its ends; the ± of a difference says that it adds up longer sides."""
    lowest = {"college": "leaves", "degree": "leaves"}
    table = sf.open(releases[0]).table("college", "degree", where={"field": "business"}, of="p50", at=lowest)
    lopsided = [
        codes for codes, one in table.items()
        if isinstance(one, Estimate) and abs(one.reach(0.9)[0] - one.reach(0.9)[1]) > 0.1 * one.moe()
    ]  # fmt: skip
    first, second = lopsided[:2]
    address = "/pseo~p50?rows=college&cols=degree&sum[field]=business&cell=" + "%7C".join(first)
    said = text(releases, address)
    assert "stays within ±" not in said
    assert re.search(r"In 90 of 100 such cells the .*? lies from [\d,]+ to [\d,]+", said)
    compared = text(releases, f"{address}&hold=" + "%7C".join(second))
    assert "adds up the longer sides of both intervals" in compared

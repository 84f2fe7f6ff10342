"""A saved query is its own name: nothing is stored, it outlives its release, and it says which code is gone."""

import base64
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.confidential import Account, Microdata, Options, run
from sfumato.release import open_release

SAVED = "/api/v2/savedqueries"


def small(folder, codes, name, supersedes=None):
    """A release of one variable, whose codes change between editions."""
    levels = sf.Levels.of(codes)
    schema = sf.Schema((sf.Attribute("trade", levels, label="Trade"),), unit="job", repeated_rows=True)
    measure = sf.Measure("jobs", sf.Count(), ("trade",), sf.Geometric(1))
    plan = sf.Plan("trades", schema, hidden=sf.AddRemove("job"), limit=sf.Approximate(2), measures=(measure,))
    pq.write_table(pa.table({"trade": np.resize(codes, 60).tolist()}), folder / f"{name}.parquet")
    ledger = folder / "trades.ledger"
    if not ledger.exists():
        Account.create(ledger, "trades", plan.hidden, sf.Approximate(100))
    data = Microdata.open(folder / f"{name}.parquet", plan.schema)
    run(plan, data, ledger, folder / name, Options(supersedes=open_release(supersedes).id) if supersedes else None)
    return folder / name


def save(client, codes, table="trades~jobs", **more):
    selection = {"selection": [{"variableCode": "trade", "valueCodes": codes}]}
    return client.ask("POST", SAVED, json={"tableId": table, "selection": selection, **more})


@pytest.fixture(scope="module")
def editions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("editions")
    first = small(folder, ["smith", "baker", "weaver"], "first")
    second = small(folder, ["smith", "baker"], "second", first)
    return first, second


def test_a_saved_query_runs_by_its_name_on_any_server(browse, editions):
    first = browse([editions[0]])
    made = save(first, ["weaver", "smith"], outputFormat="csv")
    assert made.status_code == 201
    address = made.headers["location"]
    kept = first.get(address).json()
    assert kept["savedQuery"]["selection"]["selection"][0]["valueCodes"] == ["weaver", "smith"]
    assert kept["problems"] == []
    again = browse([editions[0]])
    asked = again.get("/api/v2/tables/trades~jobs/data?valueCodes[trade]=weaver,smith&outputFormat=csv")
    assert again.get(f"{address}/data").content == asked.content
    assert again.get(f"{address}/data?outputFormat=json-stat2").json()["size"] == [2, 5]


def test_it_stays_readable_and_says_which_code_is_gone(browse, editions):
    address = save(browse([editions[0]]), ["weaver", "smith"]).headers["location"]
    both = browse(editions)
    kept = both.get(address).json()
    assert kept["savedQuery"]["selection"]["selection"][0]["valueCodes"] == ["weaver", "smith"]
    assert kept["problems"][0] == "Trade: the code weaver is gone."
    lasting = kept["savedQuery"]["savedFrom"]
    assert lasting in kept["problems"][1]
    refused = both.get(f"{address}/data")
    assert refused.status_code == 400
    assert "the code weaver is gone" in refused.json()["detail"]
    assert both.get(f"/api/v2/tables/{lasting}/data?valueCodes[trade]=weaver").status_code == 200


def test_a_query_of_what_is_still_there_gives_the_newer_numbers(browse, editions):
    address = save(browse([editions[0]]), ["smith"]).headers["location"]
    both = browse(editions)
    newest = both.get("/api/v2/tables/trades~jobs/data?valueCodes[trade]=smith")
    assert both.get(f"{address}/data").content == newest.content


def test_a_table_that_is_gone_is_said_to_be(browse, editions, release):
    address = save(browse([editions[0]]), ["smith"]).headers["location"]
    other = browse([release])
    assert other.get(address).json()["problems"] == ["The table 'trades~jobs' is no longer served here."]
    assert other.get(f"{address}/data").status_code == 404


def test_no_name_breaks_it(browse, editions):
    client = browse([editions[0]])
    bomb = base64.urlsafe_b64encode(zlib.compress(b" " * 5_000_000, 9)).decode().rstrip("=")
    notes = base64.urlsafe_b64encode(zlib.compress(b"[1]")).decode().rstrip("=")
    for name in ("none", "q1", "q1abc", "q1" + "A" * 20, f"q1{bomb}", f"q1{notes}", "q1%00", "q2" + notes):
        for end in ("", "/data"):
            assert client.get(f"{SAVED}/{name}{end}").status_code == 404, name[:20]


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        ({"codes": ["potter"]}, 400, "Trade: 'potter' is not a level"),
        ({"codes": ["*"], "table": "trade~jobs"}, 400, "did you mean 'trades~jobs'"),
        ({"codes": ["*"], "language": "xx"}, 400, "language is 'xx'"),
        ({"codes": ["*"], "outputFormat": "px"}, 400, "outputFormat is 'px'"),
        ({"codes": [f"{one:032x}"[::-1] for one in range(3, 3000)]}, 400, "is not a level"),
    ],
)
def test_what_cannot_be_answered_is_not_saved(browse, editions, asked, status, said):
    refused = save(browse([editions[0]]), **asked)
    assert refused.status_code == status
    assert said in refused.json()["detail"]

"""Records in a cluster of Spark: the cells, faults and words of the other engines, and nothing of them in between."""

import math
import re
import subprocess
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import sfumato
from tests.confidential.test_engines_agree import A, B, C, V, cells, same, table

from sfumato.confidential import Microdata
from sfumato.confidential.engines import choose
from sfumato.confidential.engines.cluster import dialect
from sfumato.confidential.engines.cluster.client import import_client
from sfumato.confidential.engines.cluster.settings import EXACT, refuse_unset, stated
from sfumato.confidential.engines.duckdb import DuckDB
from sfumato.confidential.engines.request import Reading
from sfumato.confidential.engines.sources.cluster import Address, ClusterTable, in_cluster, told_address
from sfumato.confidential.engines.spark import Spark
from sfumato.errors import DataError
from sfumato.plan import Plan
from sfumato.schema import (
    Bands,
    Box,
    Clipped,
    Extremes,
    Influence,
    Reported,
    Rows,
    Rule,
    Schema,
    Sorted,
    Sum,
    SumOfProducts,
    Table,
    Weighted,
)

SALT = bytes(range(32))
PLAN = """
name = "jobs"
[data]
unit = "job"
repeated_rows = true
[attributes.place]
levels = ["north", "south", "east"]
[attributes.age]
from = "years"
bands = [0, 16, 65]
[hidden]
neighbours = "add-remove"
unit = "job"
[limit]
epsilon = "2"
[[measure]]
name = "jobs"
of = "count"
by = ["place", "age"]
with = { mechanism = "geometric", epsilon = "1" }
[[measure]]
name = "wages"
of = { statistic = "total", column = "wage", clip = ["0", "60000"], step = "0.1", unit = "dollars" }
by = ["place"]
with = { mechanism = "geometric", epsilon = "1" }
"""


@pytest.fixture
def jobs(tmp_path):
    rng = np.random.default_rng(3)
    rows = {"place": rng.choice(["north", "south", "east"], 3000), "years": rng.integers(0, 99, 3000)}
    rows["wage"] = np.where(rng.random(3000) < 0.5, rng.integers(0, 900_000, 3000) / 20, rng.normal(3e4, 3e4, 3000))
    (tmp_path / "parts").mkdir()
    for part in range(3):
        pq.write_table(pa.table(rows).slice(part * 1000, 1000), tmp_path / "parts" / f"{part}.parquet")
    (tmp_path / "jobs.toml").write_text(PLAN, encoding="utf-8")
    return tmp_path


def engine(spark, places, reading, salt=SALT):
    return Spark([ClusterTable(Address.parse(spark), str(one)) for one in places], reading, salt)


def agree(spark, places, reading, *boxes):
    """The same faults in the same words with the same examples, or the same cells."""
    near, far = DuckDB(places, reading, SALT), engine(spark, places, reading)
    try:
        assert [str(one) for one in far.faults()] == [str(one) for one in near.faults()]
        assert far.rows == near.rows
        for one, other in zip(far.faults(), near.faults(), strict=True):
            assert far.examples(one) == near.examples(other)
            assert far.broken(one) == near.broken(other)
        for box in () if near.faults() else (None, *boxes):
            same(cells(far, reading, box), cells(near, reading, box))
    finally:
        near.close()
        far.close()
    return not near.faults()


def contract(spark, folder):
    """Data of every type that break rules, and data that break none: how many of each were compared."""
    odd = [0.45, math.inf, -math.inf, 0.35, 2.5, -0.0, 1e300, 0.05, 0.15, 1 / 3]
    sound = table(a=["1", "2", None, "7"], v=[0.35, 1e12, -7.0, math.inf], c=[20, 400, 0, 65])
    broken = {
        "codes": table(a=["1", "8", "8", ""]),
        "bands": table(c=[-1.5, 3.0, math.nan, 1e20]),
        "lacking": table(v=[1.0, None, math.nan, 2.0]),
        "texts": table(v=["1", "x", "1e3", "0x10"]),
        "together": table(a=["7"] * 4, b=["w"] * 4),
        "short": table(v=pa.array([0.1, 0.2, 1.5, 9e9], pa.float32()), a=pa.array([1.0, 2.0, 7.0, 1.5])),
        "exact": table(v=[Decimal("1.05"), Decimal("2.15"), Decimal("-3.00"), None], a=[1, 2, 7, 8]),
        "odd": pa.table({"a": ["1"] * 10, "b": ["u"] * 10, "c": [5] * 10, "v": odd}),
    }
    rules = (Rule.of({"a": "7", "b": "y"}),)
    summed = (*V, Extremes(V[0].of), Sum(Clipped("v", Fraction(0), Fraction(10), Fraction(1, 10))))
    reading = Reading(Schema((A, B, C), impossible=rules), (A, B, C), summed)
    box = Box({"a": np.array([True, False, True, True]), "c": np.array([True, True, False, True])})
    found = []
    written = table(v=["1", "2.5", "1e3", "-0.35"], c=["3", "20", "400", None])
    for name, rows in {"sound": sound, "written": written, **broken}.items():
        pq.write_table(rows, folder / f"{name}.parquet")
        found.append(agree(spark, [folder / f"{name}.parquet"], reading, box))
    return sum(found), len(found)


def same_release(here, there):
    """Two releases of the same files, but for the time at which they were made."""
    files, made = (
        sorted(one.relative_to(here) for one in here.rglob("*") if one.is_file()),
        re.compile(r'"created": ?"[^"]*"'),
    )
    assert files
    for one in files:
        near, far = ((place / one).read_text("latin-1") for place in (here, there))
        assert made.sub("", near) == made.sub("", far), f"{one}, but for the time at which it was made"


def test_a_small_contract_and_a_rehearsal_that_is_the_same_here_and_in_a_cluster(spark, jobs):
    """One test, so that one server is started: where Spark is here, see `spark_server.home`."""
    assert contract(spark, jobs) == (3, 10)
    plan, parts = jobs / "jobs.toml", jobs / "parts"
    told = ["--spark", spark, "--data", parts]
    said = sfumato("run", plan, *told, "--rehearsal", 7, "--out", jobs / "there")
    assert "read by the engine spark. Of the cluster:" in said
    sfumato("run", plan, "--data", parts, "--rehearsal", 7, "--out", jobs / "here")
    same_release(jobs / "here", jobs / "there")
    assert "fit the plan" in sfumato("check", plan, *told)
    near, far = (sfumato("tabulate", plan, *words, "--rows", "place", "--json") for words in (["--data", parts], told))
    assert near == far
    sfumato("assess", plan, *told, "--release", jobs / "there", "--out", jobs / "report.html")


@pytest.mark.slow
def test_weights_and_replicates_are_summed_to_the_last_bit(spark, tmp_path):
    rng = np.random.default_rng(9)
    rows = {"a": rng.choice(["1", "2", "7"], 500), "b": rng.choice(["u", "w"], 500), "c": rng.integers(0, 99, 500)}
    rows |= {"v": rng.normal(10, 1e4, 500)} | {f"w{i}": rng.gamma(2, 3, 500) for i in range(5)}
    pq.write_table(pa.table(rows), tmp_path / "fine.parquet")
    whole = {name: np.rint(column) if name[0] in "wv" else column for name, column in rows.items()}
    pq.write_table(pa.table(whole), tmp_path / "whole.parquet")
    schema = Schema((A, B, C), weight="w0", replicates=("w1", "w2", "w3", "w4"), repeated_rows=True)
    weighed = (Weighted(), Weighted("v"), Weighted("v", Fraction(1), 2))
    for name, kind in (("fine", np.float64), ("whole", np.int64)):
        reading, place = Reading(schema, (A, B, C), weighed), tmp_path / f"{name}.parquet"
        near, far = DuckDB([place], reading, SALT), engine(spark, [place], reading)
        for box in (Box(), Box({"a": np.array([True, False, True, True])})):
            one, other = (each.aggregate(Table((C, A)), weighed, box) for each in (near, far))
            assert all((one[own] == other[own]).all() for own in weighed)
            assert {one[Weighted()].dtype, other[Weighted()].dtype} == {np.dtype(kind)}
        near.close()
        far.close()
    broken = whole | {"w2": np.where(np.arange(500) < 3, np.inf, whole["w2"])}
    pq.write_table(pa.table(broken), tmp_path / "broken.parquet")
    reading = Reading(schema, (A, B, C), (Weighted(),))
    near, far = (
        DuckDB([tmp_path / "broken.parquet"], reading, SALT),
        engine(spark, [tmp_path / "broken.parquet"], reading),
    )
    assert [str(one) for one in far.faults()] == [str(one) for one in near.faults()] != []
    assert far.examples(far.faults()[0]) == near.examples(near.faults()[0]) == [("inf", 3)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning")  # it warns of the version of pandas
def test_a_frame_of_spark_is_never_collected(spark, jobs, monkeypatch):
    import_client()
    from pyspark.sql.connect.client import SparkConnectClient
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession.builder.remote(spark).create()
    frame = session.read.parquet(str(jobs / "parts"))
    plan = Plan.read(jobs / "jobs.toml")
    with pytest.raises(DataError, match=r"set so before its frame is made: .*caseSensitive=true"):
        choose.opened(Microdata.open(frame, plan.schema).sources, Reading(plan.schema, plan.schema.attributes), SALT)
    for name, value in EXACT.items():
        session.conf.set(name, value)
    came = []
    fetched = SparkConnectClient.to_table_as_iterator
    monkeypatch.setattr(
        SparkConnectClient,
        "to_table_as_iterator",
        lambda *asked: (came.append(len(one)) or one if isinstance(one, pa.Table) else one for one in fetched(*asked)),
    )
    sources = Microdata.open(session.read.parquet(str(jobs / "parts")), plan.schema).sources
    read, _ = choose.opened(sources, Reading(plan.schema, plan.schema.attributes, (Rows(),)), SALT)
    assert read.rows == 3000
    assert sum(came) == 9, "three places by three bands of age: of the records themselves none"
    session.stop()


def test_addresses_are_of_this_machine_or_by_tls_and_hold_no_secret(monkeypatch, tmp_path):
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    assert told_address("sc://127.0.0.1:1").remote == "sc://127.0.0.1:1/"
    assert told_address("sc://[::1]:1").remote == "sc://[::1]:1/"
    assert told_address("sc://gate:443").remote == "sc://gate:443/;use_ssl=true"
    with pytest.raises(DataError, match="in the clear; give it TLS"):
        _ = told_address("sc://gate:443/;use_ssl=false").remote
    for secret in ("sc://gate:443/;token=abc", "sc://gate:443/;user_id=abc"):
        with pytest.raises(DataError, match="whoever lists processes") as told:
            told_address(secret)
        assert "abc" not in str(told.value)
    for wrong in ("gate:443", "http://gate", "sc://", "sc://me:pass@gate:1", "sc://gate:x"):
        with pytest.raises(DataError, match="sc://HOST:PORT"):
            told_address(wrong)
    monkeypatch.setenv("SPARK_REMOTE", "sc://gate:443/;token=abc;x-team=stats")
    known = told_address("sc://gate:443")
    assert "token=abc" in known.remote
    assert "x-team=stats" in known.remote
    assert "abc" not in repr(known)
    assert "token" not in told_address("sc://other:443").remote, "a token is for its own server"
    (tmp_path / "token").write_text("xyz\n")
    (tmp_path / "token").chmod(0o644)
    with pytest.raises(DataError, match="chmod 600"):
        told_address("sc://gate:443", tmp_path / "token")
    (tmp_path / "token").chmod(0o600)
    assert "token=xyz" in told_address("sc://gate:443", tmp_path / "token").remote


def test_settings_that_change_sums_are_refused_and_what_others_see_is_said():
    refuse_unset(EXACT.get)
    for name in EXACT:
        with pytest.raises(DataError, match=name):
            refuse_unset((EXACT | {name: "otherwise"}).get)
    safe = {"spark.eventLog.enabled": "false", "spark.ui.enabled": "false", "spark.io.encryption.enabled": "true"}
    safe |= {"spark.network.crypto.enabled": "true", "spark.authenticate": "true"}
    assert stated(safe.get) == ()
    assert "history server" in stated((safe | {"spark.eventLog.enabled": "true"}).get)[0]
    assert len(stated({}.get)) == 4, "unset, there is a page of jobs, no encryption and no secret, and no event log"


def test_what_is_not_done_in_a_cluster_is_refused_before_it_is_asked():
    away = [ClusterTable(Address.parse("sc://127.0.0.1:1"), "jobs")]
    assert in_cluster(away[0])
    with pytest.raises(DataError, match="gave no session"):
        Spark(away, Reading(Schema((A,)), (A,)), SALT)
    for kind in ("date", "boolean"):
        with pytest.raises(DataError, match="names units or records: store names as texts"):
            dialect.unit("id", kind)
    with pytest.raises(DataError, match="no engine 'arrays'"):
        choose.candidates(away, Reading(Schema((A,)), (A,)), "arrays")
    wage = Clipped("wage", 0, 9, 1)
    for one, words in {
        Sorted(wage): "values in their order (quantiles)",
        Influence(wage, wage): "pairs of values (regressions)",
    }.items():
        with pytest.raises(DataError, match=re.escape(f"{words} over cells, which is not done in a cluster; where")):
            choose.candidates(away, Reading(Schema((A,)), (A,), (Rows(), one)))
    product = SumOfProducts(wage, Reported("w", Fraction(1)))
    with pytest.raises(DataError, match=r"without a clip \(weighted suppression\), which is not done in a cluster"):
        Spark(away, Reading(Schema((A,)), (A,), (product,)), SALT)
    with pytest.raises(DataError, match="the same, and records would be counted twice"):
        Microdata.open([away[0], replace(away[0])], Schema((A,)))
    for kind, words in (
        ("char(5)", "pads its texts"),
        ("timestamp", "casts it"),
        ("string collate UTF8_LCASE", "casts it"),
    ):
        with pytest.raises(DataError, match=words):
            dialect.refuse_foreign("a", kind)


def test_bands_are_grouped_by_the_edge_below_unless_an_edge_is_a_code_of_its_own():
    assert "(16.0D)" in dialect.code(C if isinstance(C.read, Bands) else A, "`c`", "int").replace("(18.0D)", "(16.0D)")
    assert dialect.code(C, "`c`", "string") == "`c`"
    assert dialect.code(A, "`a`", "int") == "`a`"


def test_only_one_file_knows_the_client_of_spark():
    source = Path(__file__).parents[2] / "src"
    found = subprocess.run(
        ["grep", "-rlE", r"^\s*(from|import) pyspark", source], capture_output=True, text=True, check=False
    )
    assert [Path(one).name for one in found.stdout.split()] == ["session.py"]
    assert "cluster" in found.stdout

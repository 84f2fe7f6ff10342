"""What is seen of a run in a cluster: nothing of the records in its event log, and no release without its charge."""

import base64
import json
import os
import secrets
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.confidential import spark_server, spark_watch
from tests.confidential.crash_rounds import prepared
from tests.confidential.spark_killed import ANSWERED, AT_WORK
from tests.confidential.test_spark_cluster import session
from tests.faults.trial import KILLED

from sfumato.confidential import STAGES
from sfumato.confidential.engines.cluster.session import ClusterSession
from sfumato.confidential.engines.request import Reading
from sfumato.confidential.engines.sources.cluster import Address, ClusterTable
from sfumato.confidential.engines.spark import Spark
from sfumato.errors import DataError
from sfumato.privacy import Truncate
from sfumato.schema import Attribute, Bands, Box, Clipped, Extremes, Levels, Rows, Schema, Sum, Table, Weighted

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::FutureWarning")]  # of the version of pandas

CODES = [f"qz{place}code" for place in range(5)]
PLACE = Attribute("place", Levels.of(CODES))
YEARS = Attribute("years", Levels.of(Bands("years", (0, 16, 65)).levels().codes), read=Bands("years", (0, 16, 65)))
WAGE = Clipped("wage", 0, 60_000, 1)
UNITS = [f"qz{place}unit" for place in range(40)]
PLANTED = "planted-literal"
PLACES = """
name = "places"
[attributes.place]
levels = ["1"]
[data]
unit = "job"
[hidden]
neighbours = "add-remove"
unit = "job"
[limit]
epsilon = "1"
[[measure]]
name = "jobs"
of = "count"
by = ["place"]
with = { mechanism = "geometric", epsilon = "1" }
"""


def values(rng, rows):
    """Numbers that stand in no text by chance, as they have eleven digits."""
    return np.round(rng.uniform(10_000, 60_000, rows), 6)


def written_forms(salt):
    """A salt as a text may hold it."""
    numbers = ", ".join(map(str, salt))
    signed = ", ".join(str(one - 256 * (one > 127)) for one in salt)
    return {salt.hex(), salt.hex().upper(), base64.b64encode(salt).decode(), numbers, signed, salt.decode("latin-1")}


def read_by_spark(address, place, salt):
    """All that the engine asks of a cluster: sums, extremes, weights, crowded units; and of codes that break a rule."""
    table, summed = [ClusterTable(Address.parse(address), str(place))], (Rows(), Sum(WAGE), Extremes(WAGE))
    schema = Schema((PLACE, YEARS), weight="weight", repeated_rows=True)
    weighed = Reading(schema, (PLACE, YEARS), (*summed, Weighted(), Weighted("wage")))
    with closing(Spark(table, weighed, salt)) as engine:
        assert engine.faults() == []
        cells = engine.aggregate(Table((PLACE, YEARS)), weighed.aggregates, Box())
        assert cells[Rows()].sum() == engine.rows > 0
    crowded = Reading(replace(schema, weight=None), (PLACE, YEARS), summed, "unit", Truncate("unit", 3))
    with closing(Spark(table, crowded, salt)) as engine:
        assert engine.faults() == []
        cells = engine.aggregate(Table((PLACE, YEARS)), crowded.aggregates, Box())
        assert 0 < cells[Rows()].sum() < 300, "rows of crowded units are left out, so the salt was asked for"
    crowded = replace(crowded, aggregates=(Rows(), Sum(WAGE)))  # without extremes, what is dropped is asked for
    with closing(Spark(table, crowded, salt)) as engine:
        assert 0 < engine.aggregate(Table((PLACE, YEARS)), crowded.aggregates, Box())[Rows()].sum() < 300
    few = Reading(schema, (Attribute("place", Levels.of(CODES[:2])),), (Rows(), Weighted()))
    with closing(Spark(table, few, salt)) as engine:
        (fault,) = engine.faults()
        assert [value for value, _ in engine.examples(fault)], "such codes are listed here, and looked for there"


def logged(folder):
    """What stands in the event log and in the server's own log of all that the engine asks: codes, values and salt."""
    rng, rows, log = np.random.default_rng(5), 300, folder / "events"
    log.mkdir()
    wages, weights, salt = values(rng, rows), values(rng, rows), secrets.token_bytes(32)
    jobs = {"place": rng.choice(CODES, rows), "years": rng.integers(0, 99, rows), "wage": wages, "weight": weights}
    jobs["unit"] = rng.choice(UNITS, rows)
    pq.write_table(pa.table(jobs), folder / "jobs.parquet")
    told = {"spark.eventLog.enabled": "true", "spark.eventLog.dir": f"file:{log}", "spark.log.level": "INFO"}
    with spark_server.served(folder, told=told) as address:
        read_by_spark(address, folder / "jobs.parquet", salt)
        own = session(address)
        own.sql(f"SELECT count(*) FROM parquet.`{folder}/jobs.parquet` WHERE place = '{PLANTED}'").collect()
        own.stop()
    numbers = {repr(float(one)) for one in (*wages, *weights)}
    events, server = spark_watch.event_log(log), (folder / "connect.log").read_text(errors="replace")
    assert PLANTED in events, "a literal is found"
    assert len(spark_watch.events(events, "SparkListenerSQLExecutionStart")) > 5, "the jobs of the engine are in it"
    looked_for = {"code": {*CODES, *UNITS}, "value": numbers, "salt": written_forms(salt)}
    return {kind for kind, words in looked_for.items() if any(one in events + server for one in words)}


def test_an_event_log_holds_no_salt_code_or_value(spark_home, tmp_path):
    assert logged(tmp_path) == set()


def test_a_salt_that_stands_in_a_query_would_be_found_in_the_event_log(spark_home, tmp_path, monkeypatch):
    """The mutant that writes the salt as a literal."""
    lent = ClusterSession.lent

    def literal(self, table):
        if "salt" not in table.column_names:
            return lent(self, table)
        salt = self._spark.sql(f"SELECT '{table['salt'][0].as_py()}' AS salt")
        return salt.crossJoin(lent(self, table.drop_columns(["salt"])))

    monkeypatch.setattr(ClusterSession, "lent", literal)
    assert logged(tmp_path) == {"salt"}


@pytest.mark.parametrize("name", ["jobs.parquet", "of [New] York, 100%20 {a}.parquet"])
def test_a_file_written_anew_under_its_name_while_it_is_read_is_refused(spark, tmp_path, name):
    folder, place = tmp_path / "jobs", Attribute("place", Levels.of(["north", "south"]))
    reading = Reading(Schema((place,), weight="w", repeated_rows=True), (place,), (Rows(), Weighted()))
    folder.mkdir()

    def write(code):
        pq.write_table(pa.table({"place": [code] * 9, "w": [1.5] * 9}), folder / name)

    write("north")
    with closing(Spark([ClusterTable(Address.parse(spark), str(folder))], reading, bytes(32))) as engine:
        assert engine.aggregate(Table((place,)), reading.aggregates, Box())[Rows()].tolist() == [9, 0]
        write("south")
        with pytest.raises(DataError, match="changed while they were read") as refused:
            engine.aggregate(Table((place,)), reading.aggregates, Box())
        assert "charged" not in str(refused.value), "whether it was is known to the run alone"


def test_an_error_of_spark_that_quotes_a_value_is_not_written_by_its_client(spark, tmp_path):
    pq.write_table(pa.table({"place": [CODES[0]]}), tmp_path / "jobs.parquet")
    own, view = session(spark), f"fails_{secrets.token_hex(4)}"
    cast = "CAST(CAST(place AS INT) AS STRING) AS place"
    own.sql(f"CREATE VIEW {view} AS SELECT {cast} FROM parquet.`{tmp_path}/jobs.parquet`").collect()
    with pytest.raises(Exception, match=CODES[0]):  # so there is a value to be written
        own.table(view).collect()
    own.stop()
    main = Path(sys.executable).with_name("sfumato")
    words = [main, "check", tmp_path / "places.toml", "--spark", spark, "--data", view]
    (tmp_path / "places.toml").write_text(PLACES, encoding="utf-8")
    for told in ({}, {"SPARK_CONNECT_LOG_LEVEL": "debug"}):
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=os.environ | told)
        assert "gave no answer (NumberFormatException)" in done.stderr
        assert CODES[0] not in done.stdout + done.stderr, told


def test_a_client_killed_before_the_charge_has_charged_nothing_and_after_it_a_charge_is_listed(spark, tmp_path):
    prepared(tmp_path)
    own = session(spark)
    pause = "coalesce(reflect('java.lang.Thread', 'sleep', 20L), '') <> 'never'"
    view = f"slow_{secrets.token_hex(4)}"
    own.sql(f"CREATE VIEW {view} AS SELECT * FROM parquet.`{tmp_path}/jobs.parquet` WHERE {pause}").collect()
    own.stop()
    words = [sys.executable, "-m", "tests.confidential.spark_killed", spark, view, str(tmp_path)]
    told = json.loads(subprocess.run(words, check=True, capture_output=True, text=True, timeout=900).stdout)
    assert list(told) == [AT_WORK, ANSWERED, *STAGES]
    for seam, one in told.items():
        assert one["how"] == KILLED, seam
        assert one["wrong"] == [], seam
    for seam in (AT_WORK, ANSWERED, "priced", "read"):
        assert told[seam]["entries"] == [], f"nothing is charged: {seam}"
    for seam in ("reserved", "perturbed", "calibrated", "written"):
        assert told[seam]["entries"] == ["reserve"], f"a charge without a release, which the ledger shows: {seam}"
    assert told[AT_WORK]["stages"] == told[ANSWERED]["stages"] == ["priced"]
    assert told["committed"]["entries"] == told["published"]["entries"] == ["reserve", "commit"]

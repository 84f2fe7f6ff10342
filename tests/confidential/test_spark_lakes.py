"""Tables of Delta and Iceberg and files in a store of objects, read through a Connect server that knows them.

The jars by which Spark knows them are in no package of Python, so that the server here is Sail, which speaks the
protocol of Spark Connect and reads these by code of its own; it is no engine that Sfumato supports. What Spark itself
says of them, without the jars, is asked of Spark.
"""

import json
import os
import subprocess
import time
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.confidential import spark_server
from tests.confidential.test_spark_cluster import session

from sfumato.confidential.engines.request import Reading
from sfumato.confidential.engines.sources.cluster import Address, ClusterTable
from sfumato.confidential.engines.spark import Spark
from sfumato.errors import DataError
from sfumato.schema import Attribute, Box, Levels, Rows, Schema, Table, Weighted

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::FutureWarning")]  # of the version of pandas
LAKE = Path(os.environ.get("SFUMATO_LAKE", Path(__file__).parents[2] / "build" / "lake"))
PLACE = Attribute("place", Levels.of(["north", "south", "east"]))
ONCE, ALL, LEFT = [2, 1, 1], [4, 2, 2], [4, 2, 0]
"""The jobs of the first version, of two, and of what is left of two after a place was deleted."""
DERBY = {
    "spark.sql.catalog.lake": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
    "spark.sql.catalog.lake.driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver",
}


@contextmanager
def running(log, *words, port, **environment):
    """A program that listens, ended in the end."""
    with log.open("wb") as said:
        program = subprocess.Popen(words, stdout=said, stderr=said, env=os.environ | environment)
    try:
        spark_server._wait(program, ("127.0.0.1", port), log)
        yield
    finally:
        program.terminate()
        program.wait(30)


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """The address of a server that knows Delta and Iceberg, and where tables of both are."""
    if not (LAKE / "ready").exists():
        pytest.skip("there is no Sail in build/lake: `make lake` fetches it; Delta and Iceberg are not tested")
    folder, port, store = tmp_path_factory.mktemp("lake"), spark_server.free_port(), spark_server.free_port()
    endpoint, known = f"http://127.0.0.1:{store}", {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
    known |= {"AWS_ENDPOINT_URL": endpoint, "AWS_REGION": "us-east-1", "AWS_ALLOW_HTTP": "true"}
    moto = [LAKE / "bin" / "moto_server", "-H", "127.0.0.1", "-p", str(store)]
    sail = [LAKE / "bin" / "sail", "spark", "server", "--ip", "127.0.0.1", "--port", str(port)]
    with ExitStack() as servers:
        servers.enter_context(running(folder / "moto.log", *moto, port=store))
        words = [LAKE / "bin" / "python", Path(__file__).with_name("lake_writer.py"), folder, endpoint]
        told = json.loads(subprocess.run(words, check=True, capture_output=True, text=True, timeout=120).stdout)
        servers.enter_context(running(folder / "sail.log", *sail, port=port, **known))
        time.sleep(0.5)
        yield f"sc://127.0.0.1:{port}", told


def jobs(address, name, *weighed):
    """How many jobs each place has in a table, or their weights."""
    schema = Schema((PLACE,), weight="w" if weighed else None, repeated_rows=True)
    reading = Reading(schema, (PLACE,), weighed or (Rows(),))
    with closing(Spark([ClusterTable(Address.parse(address), name)], reading, bytes(32))) as engine:
        assert engine.faults() == []
        (found,) = engine.aggregate(Table((PLACE,)), reading.aggregates, Box()).values()
        return np.ravel(found).tolist()


def test_tables_of_delta_and_iceberg_are_read_as_they_are_now_or_were_in_a_version(lake):
    address, told = lake
    delta, iceberg = f"delta.`{told['delta']}`", f"iceberg.`{told['iceberg']}`"
    assert jobs(address, delta) == jobs(address, iceberg) == LEFT, "what was deleted is not there"
    assert jobs(address, f"{delta} VERSION AS OF 0") == ONCE
    assert jobs(address, f"{delta} version as of 1") == ALL
    assert jobs(address, f"{iceberg} VERSION AS OF {told['snapshot']}") == ONCE


def test_records_that_are_needed_several_times_are_read_of_one_version(lake):
    address, told = lake
    delta = f"delta.`{told['delta']}`"
    with pytest.raises(DataError, match=r"does not tell its files.* TABLE VERSION AS OF NUMBER"):
        jobs(address, delta, Weighted())
    assert jobs(address, f"{delta} VERSION AS OF 0", Weighted()) == [2.0, 2.0, 1.0]


def test_the_files_of_a_table_with_versions_are_not_read_as_if_each_were_of_it(lake):
    address, told = lake
    parts = {told["delta"]: "Delta", f"{told['delta']}/*.parquet": "Delta", "s3a://lake/delta": "Delta"}
    parts |= {told["iceberg"]: "Iceberg", f"{told['iceberg']}/data": "Iceberg"}
    for path, kind in parts.items():
        with pytest.raises(DataError, match=f"is in a table of {kind}: some of its files may be of versions that were"):
            jobs(address, path)


def test_a_store_of_objects_is_read_by_its_addresses(lake):
    address, _ = lake
    for name in ("s3a://lake/jobs", "s3a://lake/jobs/*.parquet", "delta.`s3a://lake/delta`"):
        assert jobs(address, name) == ALL, name
    assert jobs(address, "delta.`s3a://lake/delta` VERSION AS OF 0") == ONCE


def test_spark_without_the_jars_refuses_in_words_and_reads_its_catalogs(spark_home, tmp_path):
    (tmp_path / "jobs" / "_delta_log").mkdir(parents=True)
    (tmp_path / "jobs" / "_delta_log" / "0.json").write_text("{}", encoding="utf-8")
    (tmp_path / "plain").mkdir()
    rows = pa.table({"place": ["north", "south", "north", "east"], "w": [1.5, 2.0, 0.5, 1.0]})
    for folder in ("jobs", "plain"):
        pq.write_table(rows, tmp_path / folder / "0.parquet")
    told = DERBY | {"spark.sql.catalog.lake.url": f"jdbc:derby:{tmp_path}/derby;create=true"}
    told |= {"spark.sql.warehouse.dir": str(tmp_path / "warehouse")}
    with spark_server.served(tmp_path, told=told) as address:
        own = session(address)
        values = "SELECT * FROM VALUES ('north', 1.5D), ('south', 2D), ('north', 0.5D), ('east', 1D)"
        for words in (
            "CREATE SCHEMA lake.labour",
            "CREATE TABLE lake.labour.jobs (place VARCHAR(9), w DOUBLE)",
            f"INSERT INTO lake.labour.jobs {values}",
            f"CREATE TABLE jobs USING parquet AS SELECT col1 AS place, col2 AS w FROM ({values})",
        ):
            own.sql(words).collect()
        own.stop()
        for name in ("lake.labour.jobs", "spark_catalog.default.jobs", f"parquet.`{tmp_path}/plain`"):
            assert jobs(address, name) == ONCE, name
        assert jobs(address, "spark_catalog.default.jobs", Weighted()) == [2.0, 2.0, 1.0]
        refused = {
            f"delta.`{tmp_path}/jobs`": "knows no such table, catalog or format",
            f"delta.`{tmp_path}/jobs` VERSION AS OF 3": "knows no such table, catalog or format",
            f"iceberg.`{tmp_path}/jobs`": "knows no such table, catalog or format",
            "nowhere.labour.jobs": "knows no such table, catalog or format",
            "spark_catalog.default.jobs VERSION AS OF 3": "keeps no versions; name it without VERSION AS OF",
            f"parquet.`{tmp_path}/plain` VERSION AS OF 3": "keeps no versions",
            f"{tmp_path}/plain VERSION AS OF 3": "Versions are of tables; write CATALOG.SCHEMA.TABLE",
            "(SELECT 1) VERSION AS OF 3": "Versions are of tables",
            f"{tmp_path}/jobs": "is in a table of Delta",
            f"{tmp_path}/nothing": "sees no such path",
            "s3a://lake/jobs": "s3a:// needs the jar hadoop-aws",
        }
        for name, words in refused.items():
            with pytest.raises(DataError, match=words):
                jobs(address, name)
        with pytest.raises(DataError, match="does not tell its files"):
            jobs(address, "lake.labour.jobs", Weighted())

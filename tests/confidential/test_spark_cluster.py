"""A rehearsal in a cluster is byte by byte the one made here, also where an executor is killed in its shuffle."""

import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import sfumato
from tests.confidential import spark_server, spark_watch
from tests.confidential.test_spark import PLAN

from sfumato.confidential.engines.cluster.client import import_client

PARTS = 12
ROWS = (*[250] * (PARTS - 1), 200)
"""Spark reads the smallest file last."""
EACH_FILE = {"spark.sql.files.openCostInBytes": "134217728", "spark.sql.files.maxPartitionBytes": "134217728"}
"""So that a task reads one file, however small."""
EAGER = {
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.quantile": "0.1",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.minTaskRuntime": "10ms",
}
"""A task that takes somewhat longer than others is begun a second time."""
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::FutureWarning")]  # of the version of pandas
SECRET = {
    "spark.authenticate": "true",
    "spark.authenticate.secret": "of the test alone",
    "spark.network.crypto.enabled": "true",
    "spark.io.encryption.enabled": "true",
}


@pytest.fixture
def parts(tmp_path):
    """Jobs in several files and the plan for them."""
    rng = np.random.default_rng(3)
    (tmp_path / "parts").mkdir()
    for part, length in enumerate(ROWS):
        rows = {"place": rng.choice(["north", "south", "east"], length), "years": rng.integers(0, 99, length)}
        fine, coarse = rng.normal(3e4, 3e4, length), rng.integers(0, 900_000, length) / 20
        rows["wage"] = np.where(rng.random(length) < 0.5, coarse, fine)
        pq.write_table(pa.table(rows), tmp_path / "parts" / f"{part:02}.parquet")
    (tmp_path / "jobs.toml").write_text(PLAN, encoding="utf-8")
    return tmp_path


def session(address):
    import_client()
    from pyspark.sql.connect.session import SparkSession

    return SparkSession.builder.remote(address).create()


def slow_view(address, folder):
    """A view of the files that takes a second or so for each, and longer for the last than an idle executor waits."""
    own = session(address)
    pause = "CASE WHEN input_file_name() LIKE '%11.parquet' THEN 60L ELSE 4L END"
    own.sql(
        f"CREATE VIEW slow_jobs AS SELECT place, years, wage FROM parquet.`{folder}` "
        f"WHERE coalesce(reflect('java.lang.Thread', 'sleep', {pause}), '') <> 'never'"
    ).collect()
    own.stop()


def same_release(here, there):
    """Whether two releases have the same files, byte by byte but for the time at which each was made."""
    made = re.compile(rb'"created": ?"[^"]*"')
    near, far = (
        {one.relative_to(place): made.sub(b"", one.read_bytes()) for one in place.rglob("*") if one.is_file()}
        for place in (here, there)
    )
    assert near == far
    assert len(near) > 3


def rehearsed(address, folder, meanwhile=lambda _: None):
    """What a rehearsal of the slow view says, and what came of something done meanwhile; its files are as made here."""
    slow_view(address, folder / "parts")
    # The client of Spark takes a process without a file of its own, as of `python -c`, for a doctest.
    main = Path(sys.executable).with_name("sfumato")
    words = [main, "run", folder / "jobs.toml", "--spark", address, "--data", "slow_jobs", "--rehearsal", "7"]
    run = subprocess.Popen([*words, "--out", folder / "there"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        came = meanwhile(lambda: run.poll() is None)
        said = run.communicate(timeout=600)[0].decode()
    finally:
        run.kill()
    assert run.returncode == 0, said
    sfumato("run", folder / "jobs.toml", "--data", folder / "parts", "--rehearsal", 7, "--out", folder / "here")
    same_release(folder / "here", folder / "there")
    return said, came


def lost_tasks(log, executor):
    """How many tasks an executor took with it, and how many that it had done were done again."""
    ends = spark_watch.events(log, "SparkListenerTaskEnd")
    reasons = [one["Task End Reason"]["Reason"] for one in ends if one["Task Info"]["Executor ID"] == executor]
    return reasons.count("ExecutorLostFailure"), reasons.count("Resubmitted")


@pytest.fixture
def kept_log(parts):
    """The settings of a server that keeps an event log."""
    (parts / "events").mkdir()
    return {"spark.eventLog.enabled": "true", "spark.eventLog.dir": f"file:{parts / 'events'}"}


def test_an_executor_killed_in_the_shuffle_changes_no_byte(spark_home, parts, kept_log):
    page, driver = spark_server.free_port(), spark_server.free_port()
    told = EACH_FILE | kept_log | {"spark.executor.memory": "1g", "spark.driver.port": str(driver)}
    told |= {"spark.ui.enabled": "true", "spark.ui.port": str(page)}
    with spark_server.served(parts, "local-cluster[2,1,1024]", told) as address:
        said, killed = rehearsed(address, parts, partial(spark_watch.kill_one_in_the_shuffle, page, driver))
    assert killed is not None, "no executor was at work in a shuffle, so that none was killed"
    assert "event log" in said
    log = spark_watch.event_log(parts / "events")
    gone = {
        one["Executor ID"]: one["Removed Reason"] for one in spark_watch.events(log, "SparkListenerExecutorRemoved")
    }
    assert "137" in gone[killed], "SIGKILL was its end"
    running, done = lost_tasks(log, killed)
    assert running > 0, "it was killed at a task"
    assert done > 0, "what it had written for the shuffle was lost, and made again"


def test_two_workers_that_encrypt_all_and_do_tasks_twice_give_the_same_bytes(spark_home, parts, kept_log):
    told = EACH_FILE | EAGER | SECRET | kept_log | {"spark.executor.memory": "768m", "spark.executor.cores": "1"}
    with spark_server.standalone(parts, SECRET) as master, spark_server.served(parts, master, told) as address:
        said, _ = rehearsed(address, parts)
    assert "event log" in said
    assert not any(words in said for words in ("not encrypted", "for a secret", "web page")), said
    log = spark_watch.event_log(parts / "events")
    started = spark_watch.events(log, "SparkListenerTaskStart")
    assert len({one["Task Info"]["Host"] for one in started}) == 2, "both workers had tasks"
    assert any(one["Task Info"]["Speculative"] for one in started), "some task was done twice"

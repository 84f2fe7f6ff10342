"""A cluster that is lost in the middle of a run: what it says, what the ledger has of it, and what is published."""

import os
import signal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.confidential import spark_server
from tests.confidential.test_spark_units import EMPLOYERS, jobs_of_workers

import sfumato as sf
from sfumato.confidential import Account, Microdata, Options, run
from sfumato.confidential.engines.cluster import session
from sfumato.confidential.engines.cluster.session import ClusterSession
from sfumato.confidential.engines.sources.cluster import Address, ClusterTable
from sfumato.errors import DataError
from sfumato.plan import Plan
from sfumato.release import verify

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::FutureWarning")]  # of the version of pandas


@pytest.fixture
def lost(spark_home, tmp_path, monkeypatch):
    """A run of a plan whose measures each need a job, on a server of its own, and the way to kill that server."""
    monkeypatch.setattr(session, "TRIES", 2)  # else it is asked for a minute
    monkeypatch.setenv("SFUMATO_STATE", str(tmp_path / "state"))
    pq.write_table(pa.table(jobs_of_workers()), tmp_path / "jobs.parquet")
    plan = Plan.parse(EMPLOYERS, Path("employers.toml"))
    account = Account.create(tmp_path / "ledger", "jobs", plan.hidden, sf.Approximate(20, "1e-5"))
    with spark_server.served(tmp_path) as address:
        data = Microdata.open(ClusterTable(Address.parse(address), str(tmp_path / "jobs.parquet")), plan.schema)

        def ran(out, at):
            stages = []
            options = Options(progress=lambda stage: (stages.append(stage), at(stage)))
            try:
                run(plan, data, tmp_path / "ledger", tmp_path / out, options)
            finally:
                told.append(stages)
            return tmp_path / out

        told = []
        yield ran, told, lambda: _kill(tmp_path / "connect.conf"), account


def _kill(conf):
    """End the server that was told these settings, at once."""
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if str(conf) in words and words[0].endswith("java"):
            os.kill(int(place.parent.name), signal.SIGKILL)


def kinds(account):
    return [one.kind for one in Account(account.path).entries[1:]]


def test_a_server_killed_while_it_works_costs_nothing_and_publishes_nothing(lost, monkeypatch, tmp_path):
    ran, told, kill, account = lost
    assert verify(ran("before", lambda stage: None)), "the same run goes through where nobody is in its way"
    charged = kinds(account)
    parts = ClusterSession._parts

    def doomed(*words):
        kill()
        return parts(*words)

    monkeypatch.setattr(ClusterSession, "_parts", doomed)
    with pytest.raises(DataError, match="The cluster gave no answer") as refused:
        ran("after", lambda stage: None)
    assert "employer" not in str(refused.value)
    assert told[-1] == ["priced"]
    assert kinds(account) == charged == ["reserve", "commit"]
    assert not (tmp_path / "after").exists()
    assert not list(tmp_path.glob(".after*")), "and nothing that is unnamed"


def test_after_the_charge_a_run_needs_no_cluster(lost):
    ran, told, kill, account = lost
    out = ran("release", lambda stage: kill() if stage == "reserved" else None)
    assert verify(out)
    assert told[-1][-1] == "published"
    assert kinds(account) == ["reserve", "commit"]


def test_a_run_that_asked_a_cluster_after_its_charge_would_lose_it(lost, monkeypatch):
    """The arm that fails: cells that are fetched one by one as they are drawn for."""
    ran, _, kill, account = lost
    monkeypatch.setattr("sfumato.confidential.tabulate.Tabulation.fetch", lambda *_: None)
    with pytest.raises(DataError, match="gave no answer"):
        ran("release", lambda stage: kill() if stage == "reserved" else None)
    assert kinds(account) == ["reserve"]

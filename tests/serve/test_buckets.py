"""What one client may ask of a server does not grow with its workers, and no worker that dies locks the others out."""

import os
import signal
import time

import pytest

from sfumato.serve.buckets import MOST_CALLERS, OwnBuckets, SharedBuckets, shared_buckets
from sfumato.serve.callers import Callers
from sfumato.serve.limits import Limits

BOTH = pytest.mark.parametrize("buckets", [OwnBuckets, SharedBuckets])


def of(address):
    return {"client": (address, 1), "headers": []}


@BOTH
def test_a_client_has_as_many_calls_as_are_stated_and_they_come_back_evenly(buckets):
    now = 100.0
    callers = Callers(Limits(calls=6, window=3), lambda: now, buckets())
    assert [callers.wait(of("192.0.2.1")) for _ in range(8)] == [0] * 6 + [1, 1]
    assert callers.wait(of("192.0.2.2")) == 0, "another client is another one"
    now += 0.5
    assert [callers.wait(of("192.0.2.1")) for _ in range(2)] == [0, 1]
    callers.charge("192.0.2.1", 10.0)
    assert callers.wait(of("192.0.2.1")) == 4, "work counts, up to a window"


@BOTH
def test_of_many_clients_those_that_asked_last_are_known(buckets):
    now, kept = 1.0, buckets()
    callers = Callers(Limits(calls=1, window=10_000), lambda: now, kept)
    names = [f"10.{place // 65_536}.{place // 256 % 256}.{place % 256}" for place in range(3 * MOST_CALLERS)]
    for name in names:
        now += 0.001
        callers.wait(of(name))
    known = sum(kept.find(name) is not None for name in names[-MOST_CALLERS // 10 :])
    assert known == MOST_CALLERS // 10
    assert kept.find(names[0]) is None


def child(work):
    """Run something in a process that was forked from here, and give its exit code."""
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(work())
        except BaseException:  # noqa: BLE001 - nothing of the tests may go on in the child
            os._exit(99)
    return pid


def test_processes_that_were_forked_count_the_same_calls():
    callers = Callers(Limits(calls=100, window=3_600), buckets=SharedBuckets())

    def asks():
        return sum(callers.wait(of("192.0.2.1")) == 0 for _ in range(60))

    allowed = [os.waitstatus_to_exitcode(os.waitpid(one, 0)[1]) for one in [child(asks) for _ in range(3)]]
    assert sum(allowed) == 100
    assert callers.wait(of("192.0.2.1")) > 0


def test_a_worker_that_dies_within_the_lock_locks_nobody_out():
    buckets = SharedBuckets()

    def dies():
        with buckets.held():
            os.kill(os.getpid(), signal.SIGKILL)

    os.waitpid(child(dies), 0)
    with buckets.held():
        buckets.keep("192.0.2.1", (1.0, 2.0))
    assert buckets.find("192.0.2.1") == (1.0, 2.0)


def test_one_worker_needs_no_shared_memory():
    assert isinstance(shared_buckets(1), OwnBuckets)


def answered(client, count):
    """How many of some requests of one client, each on a connection of its own, were answered; and the seconds."""
    start, headers = time.monotonic(), {"X-Forwarded-For": "192.0.2.7", "Connection": "close"}
    statuses = [client.get("/version", headers=headers).status_code for _ in range(count)]
    assert set(statuses) <= {200, 429}
    return statuses.count(200), time.monotonic() - start


OWN = "import sfumato.serve.run as run, sfumato.serve.buckets as b; run.shared_buckets = lambda _: b.OwnBuckets()"


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "each its own, as it was"])
def test_what_a_client_may_ask_does_not_grow_with_the_workers(serving, release, shared):
    limits = {"calls": 30, "window": 60, "proxies": ("127.0.0.1",)}
    with serving([release], "" if shared else OWN, workers=2, limits=limits) as server:
        count, seconds = answered(server, 120)
    most = 30 + seconds / 2 + 1
    # A connection goes to either worker: that one of two has fewer than 30 of 120 happens once in 10^8 times.
    assert (count <= most) == shared
    assert count >= 30

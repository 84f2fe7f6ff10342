"""What a cluster of Spark does, as its page of jobs and its event log tell it; and the end of one of its executors."""

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pyarrow as pa

DEADLINE = 240
"""The seconds within which an executor must have been at work: a busy machine takes minutes to start them."""


def executors(driver: int) -> dict[str, int]:
    """The processes of the executors that answer to a driver at this port, by their names."""
    found = {}
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        # A worker of local-cluster is a thread of the driver; its executors are processes.
        if "org.apache.spark.executor.CoarseGrainedExecutorBackend" in words and any(
            f":{driver}" in one for one in words
        ):
            found[words[words.index("--executor-id") + 1]] = int(place.parent.name)
    return found


def kill_one_in_the_shuffle(page: int, driver: int, goes_on: Callable[[], bool]) -> str | None:
    """Kill an executor that has written for the shuffle and is at a task, and say which; none if all went by."""
    started = time.monotonic()
    while goes_on() and time.monotonic() < started + DEADLINE:
        for one in _told(page):
            if one["totalShuffleWrite"] and one["activeTasks"] and one["isActive"]:
                os.kill(executors(driver)[one["id"]], signal.SIGKILL)
                return str(one["id"])
        time.sleep(0.05)
    return None


def _told(page: int) -> list[dict]:
    """The executors as the page of jobs shows them."""
    address = f"http://127.0.0.1:{page}/api/v1/applications"
    try:
        (own, *_) = httpx.get(address, timeout=20).json()
        return [
            one for one in httpx.get(f"{address}/{own['id']}/executors", timeout=20).json() if one["id"] != "driver"
        ]
    except (httpx.HTTPError, ValueError):
        return []


def event_log(folder: Path) -> str:
    """All that the event logs of a folder say, uncompressed; the server that wrote them has ended."""
    files = [one for one in folder.rglob("*") if one.is_file() and "events_" in one.name]
    assert files, "there is an event log"
    assert any(".zstd" in one.name for one in files), "it is compressed, as it is wherever nobody says otherwise"
    texts = []
    for one in files:
        with pa.OSFile(str(one)) as raw, pa.CompressedInputStream(raw, "zstd") as stream:
            texts.append(stream.read().decode())
    return "\n".join(texts)


def events(text: str, name: str) -> list[dict]:
    """The events of a kind."""
    lines = (json.loads(one) for one in text.splitlines() if one.startswith("{"))
    return [one for one in lines if one["Event"].rpartition(".")[2] == name]

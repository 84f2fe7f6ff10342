"""Runs on records in a cluster, each killed at a seam: `python -m tests.confidential.spark_killed ADDRESS VIEW FOLDER`.

A process of its own, as it forks and must not have spoken to Spark before. It prints as JSON, for every seam, how the
run ended, what the ledger has of it, and what must never be; `tests/faults` does the same with files.
"""

import json
import os
import signal
import sys
import threading
from pathlib import Path

from tests.faults.trial import Place, wrong

from sfumato.confidential import STAGES
from sfumato.confidential.engines.cluster.session import ClusterSession
from sfumato.confidential.engines.sources.cluster import Address, ClusterTable

AT_WORK, ANSWERED = "while the cluster works", "as the first groups come"


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def at_work() -> None:
    """Killed a second after the job was asked for, which takes some seconds."""
    asked = ClusterSession.table

    def doomed(*words):
        threading.Timer(1, killed).start()
        return asked(*words)

    ClusterSession.table = doomed


def answered() -> None:
    """Killed as soon as something of the answer is here."""
    parts = ClusterSession._parts

    def doomed(*words):
        for part in parts(*words):
            killed()
            yield part

    ClusterSession._parts = doomed


def main() -> None:
    address, view, folder = sys.argv[1:]
    place, told = Place(Path(folder)), {}
    plain = ClusterTable(Address.parse(address), str(place.data))
    slow = ClusterTable(Address.parse(address), view)
    seams = {AT_WORK: (slow, at_work, None), ANSWERED: (plain, answered, None)}
    seams |= {
        stage: (plain, None, lambda reached, stage=stage: killed() if reached == stage else None) for stage in STAGES
    }
    for seam, (data, arm, at) in seams.items():
        place.anew()
        place.data = data
        ended = place.done("one", arm, at)
        kinds = [one.kind for one in place.account.entries[len(place.before) :]]
        place.data = plain
        told[seam] = {"how": ended.how, "stages": ended.stages, "entries": kinds, "wrong": wrong(place, {"one": ended})}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()

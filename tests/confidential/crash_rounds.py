"""Runs the gate in forked children, one of them killed at a stage, and reports what is left on disk.

`python crash_rounds.py FOLDER stages|late ROUNDS` prints violations as JSON; the fork is taken before any thread or
database exists, so each child is a fresh run with all imports done. `tests/faults` kills at every call and time.
"""

import json
import os
import shutil
import signal
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato as sf
from sfumato.confidential import STAGES, Account, Microdata, Options, gate, run
from sfumato.confidential.engines.choose import engines
from sfumato.confidential.publication import written
from sfumato.confidential.statement import stated
from sfumato.plan import Plan
from sfumato.query.accounts import accounts
from sfumato.query.histories import Stated, histories
from sfumato.release import Manifest, read_manifest, seal, verify

PLAN = """
name = "crash"
[attributes.place]
levels = ["a", "b", "c"]
[attributes.size]
levels = ["s", "l"]
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
by = ["place", "size"]
with = { mechanism = "geometric", epsilon = "1" }
"""


def prepared(folder: Path) -> tuple[sf.Plan, Path]:
    engines()  # loaded before the fork, as all else is
    plan = Plan.parse(PLAN, Path("crash.toml"))
    rng = np.random.default_rng(1)
    rows = {"place": rng.choice(list("abc"), 500), "size": rng.choice(list("sl"), 500)}
    pq.write_table(pa.table({name: pa.array(list(values)) for name, values in rows.items()}), folder / "jobs.parquet")
    return plan, folder / "jobs.parquet"


def late(plan: sf.Plan, data: Path, ledger: Path, out: Path, options: Options) -> None:
    """The control: a gate that publishes first and charges afterwards."""
    price, account = plan.price(), Account(ledger)
    draws = options.draws()
    records = gate.Tabulation(plan, Microdata.open(data, plan.schema), draws)
    products = list(gate._measured(plan, records, draws, options).values())
    part = out.with_name(f".{out.name}.partial")
    part.mkdir()
    release = seal(part, written(part, plan, products, stated(plan, price, options), []))
    part.rename(out)
    options.progress("published")
    charge = account.reserve(plan.name, price.total, plan.hidden, "plan")
    options.progress("reserved")
    account.commit(charge, release)


def child(build, plan: sf.Plan, data: Path, ledger: Path, out: Path, stage: str | None, said: Path) -> int:
    """Fork; the child runs the gate, says what it was told, and kills itself at the stage."""
    pid = os.fork()
    if pid:
        return pid

    def progress(reached: str) -> None:
        with said.open("a") as file:
            file.write(reached + "\n")
            file.flush()
            os.fsync(file.fileno())
        if reached == stage:
            os.kill(os.getpid(), signal.SIGKILL)

    try:
        build(plan, data, ledger, out, Options(progress=progress))
    except BaseException as error:  # noqa: BLE001 - a child must not return into the parent's loop
        with said.open("a") as file:
            file.write(f"error {error!r}\n")
        os._exit(3)
    os._exit(0)


def real(plan: sf.Plan, data: Path, ledger: Path, out: Path, options: Options) -> None:
    run(plan, Microdata.open(data, plan.schema), ledger, out, options)


def violations(ledger: Path, out: Path, said: Path) -> list[str]:
    """What must never be: a release without its charge, a reported step that the ledger lost, a broken chain."""
    account = Account(ledger)
    found = account.verify()
    commits = {entry.body["manifest_hash"] for entry in account.entries if entry.kind == "commit"}
    stages = said.read_text().split("\n") if said.exists() else []
    hashes = {entry.hash for entry in account.entries}
    if out.exists():
        verdict = verify(out)
        found += list(verdict.problems)
        anchor = Manifest.from_bytes((out / "manifest.json").read_bytes()).ledger
        if anchor is None or anchor.head not in hashes:
            found.append("uncharged release")
        if verdict.id not in commits:
            found.append("release without a commit")
    if "committed" in stages and not commits:
        found.append("lost commit")
    if "reserved" in stages and len(account.ledger.charges) == 0:
        found.append("lost charge")
    told = [line for line in stages if line.startswith("error")]
    return found + [line for line in told if "LedgerError" not in line or "put back" in line]


def contradictions(outs: list[Path]) -> list[str]:
    """What the public files of one ledger say against each other; a release that was killed unnamed is only missing."""
    stated = (Stated.read(*read_manifest(out)) for out in outs if out.exists())
    found = accounts(histories(one for one in stated if one))
    return [said.english() for account in found for said in account.problems]


def one_round(build, folder: Path, plan: sf.Plan, data: Path, stages: list) -> list[str]:
    """Children in parallel on one ledger, each killed at its stage."""
    work = folder / "round"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    ledger = work / "ledger"
    Account.create(ledger, "jobs", plan.hidden, sf.Approximate(5))
    outs = [work / f"release{place}" for place in range(len(stages))]
    saids = [work / f"said{place}" for place in range(len(stages))]
    asked = zip(outs, stages, saids, strict=True)
    pids = [child(build, plan, data, ledger, out, stage, said) for out, stage, said in asked]
    for pid in pids:
        os.waitpid(pid, 0)
    found = [one for out, said in zip(outs, saids, strict=True) for one in violations(ledger, out, said)]
    return found + contradictions(outs)


def main() -> None:
    folder, kind, rounds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    plan, data = prepared(folder)
    found: list[str] = []
    reached: Counter[str] = Counter()
    for number in range(rounds):
        if kind == "stages":
            found += one_round(real, folder, plan, data, [STAGES[number % len(STAGES)], None])
        else:
            found += one_round(late, folder, plan, data, ["published", None])
        for said in (folder / "round").glob("said*"):
            reached[(said.read_text().split() or ["nothing"])[-1]] += 1
    sys.stdout.write(json.dumps({"violations": found, "last_stage": reached}))


if __name__ == "__main__":
    main()

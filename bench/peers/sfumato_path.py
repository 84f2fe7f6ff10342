"""Ours in a running session: plan read and priced, ledger charged and committed, release written, verified, opened."""

from pathlib import Path

from clock import told

from sfumato.confidential import Microdata, run
from sfumato.plan import Plan


def job(data: str, keys: str, out: str) -> None:  # noqa: ARG001 - the plan lists the levels
    folder = Path(data).parent
    plan = Plan.read(folder / "people.toml")
    run(plan, Microdata.open([data], plan.schema), folder / "ledger", out)


told(job, ("sfumato", "numpy", "pyarrow"))

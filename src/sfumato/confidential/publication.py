"""Publication: the folder of a release, from its first file to the hash that its ledger commits."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from sfumato.calibrate import Diverged
from sfumato.confidential.fate import Unnamed
from sfumato.confidential.options import Options
from sfumato.confidential.remembered import remember
from sfumato.confidential.statement import anchored
from sfumato.errors import ReleaseError
from sfumato.geography import Shapes
from sfumato.plan import Plan
from sfumato.release import Manifest, Product, seal, sign, write_levels, write_products, write_shapes


def refuse_taken(out: Path) -> None:
    if out.exists():
        raise ReleaseError(f"{out} is there already; a release is written once. Choose another --out.")
    if not out.parent.is_dir():
        raise ReleaseError(f"The folder {out.parent} is not there; make it first.")
    if not os.access(out.parent, os.W_OK | os.X_OK):
        raise ReleaseError(f"The folder {out.parent} is read-only, or closed to this user; choose another --out.")


def written(
    part: Path,
    plan: Plan,
    products: list[Product],
    manifest: Manifest,
    diverged: list[Diverged],
    shapes: Sequence[Shapes] = (),
) -> Manifest:
    """Every file of the release, and the manifest that lists them; a diverged step is answered by the table it read."""
    (part / "plan.toml").write_text(plan.to_toml(), encoding="utf-8")
    instead = _instead(plan, {one.name for one in diverged})
    lost = {one.name: f"{one.why}; '{instead[one.name]}' answers instead" for one in diverged}
    answering = {*plan.answering, *(instead[name] for name in lost if name in plan.answering)}
    read = {step.name: list(step.reads) for step in plan.then}
    listed = [
        line.model_copy(update={"answers": line.name in answering, "made_of": read.get(line.name, [])})
        for line in write_products(part, products)
    ]
    lines = {
        "attributes": write_levels(part, plan.over.attributes(plan.measures)),
        "geographies": write_shapes(part, shapes),
    }
    return manifest.model_copy(update={**lines, "products": listed, "diverged": lost})


def _instead(plan: Plan, lost: set[str]) -> dict[str, str]:
    """For every step the nearest table that it was to be made of and that is there."""
    found: dict[str, str] = {}
    for step in plan.then:
        found[step.name] = found[step.table] if step.table in lost else step.table
    return found


def named(part: Path, out: Path, options: Options) -> None:
    """Give the folder its name, open to all; or, if it is as confidential as the data, to its owner alone."""
    folder, file = (0o700, 0o600) if options.confidential else (0o755, 0o644)
    for path in (part, *part.rglob("*")):
        path.chmod(folder if path.is_dir() else file)
    refuse_taken(out)
    part.rename(out)


def committed(part: Unnamed, manifest: Manifest, options: Options, refuse_new: Callable[[], None]) -> None:
    """Seal the manifest and commit its hash; again where another release came first, as it counts all before it.

    `refuse_new` looks at the releases that the ledger committed while this run worked.
    """
    charge = part.charge
    while True:
        counted = charge.account.ledger if charge else None
        anchor = anchored(counted, charge.entry) if charge and counted else None
        release = seal(part.path, manifest.model_copy(update={"ledger": anchor}))
        if options.sign_with:
            sign(part.path, options.sign_with)
        options.progress("written")
        if counted is None:
            return
        refuse_new()  # a release that is committed after this look makes the commit below start again
        if entry := part.commit(release, counted):
            remember(counted.id, entry)
            return

"""Publication: the folder of a release, from its first file to the hash that its ledger commits."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from sfumato.calibrate import Diverged
from sfumato.confidential.account import Account
from sfumato.confidential.chain import Entry
from sfumato.confidential.options import Options
from sfumato.confidential.remembered import remember
from sfumato.confidential.statement import anchored
from sfumato.errors import ReleaseError
from sfumato.geography import Shapes
from sfumato.plan import Plan
from sfumato.privacy import Loss
from sfumato.release import Manifest, Product, seal, sign, write_levels, write_products, write_shapes


@dataclass(frozen=True)
class Reservation:
    """A charge that is on disk, and the account in which it stands."""

    account: Account
    entry: Entry
    loss: Loss

    def words(self) -> str:
        """What is said of it where nothing came of the run."""
        ledger = self.account.path
        return (
            f"What this run costs, {self.loss.words()}, stays charged to {ledger}, as noise may have been seen; "
            f"nothing was published. `sfumato ledger show {ledger}` lists the charge and what is left. To run again is "
            "charged again."
        )


def refuse_taken(out: Path) -> None:
    if out.exists():
        raise ReleaseError(f"{out} is there already; a release is written once. Choose another --out.")
    if not out.parent.is_dir():
        raise ReleaseError(f"The folder {out.parent} is not there; make it first.")


@contextmanager
def partial(out: Path) -> Iterator[Path]:
    """A hidden folder beside the place of a release, which is gone unless it got its name."""
    part = Path(mkdtemp(prefix=f".{out.name}.", suffix=".partial", dir=out.parent))
    try:
        yield part
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


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
    listed = [line.model_copy(update={"answers": line.name in answering}) for line in write_products(part, products)]
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


def committed(part: Path, manifest: Manifest, charge: Reservation | None, options: Options) -> None:
    """Seal the manifest and commit its hash; again where another release came first, as it counts all before it."""
    while True:
        counted = charge.account.ledger if charge else None
        anchor = anchored(counted, charge.entry) if charge and counted else None
        release = seal(part, manifest.model_copy(update={"ledger": anchor}))
        if options.sign_with:
            sign(part, options.sign_with)
        options.progress("written")
        if charge is None:
            return
        if entry := charge.account.commit(charge.entry, release, counted):
            remember(charge.account.ledger.id, entry)
            return

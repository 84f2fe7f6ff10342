"""Draft: all of a release but its numbers, written and read back before anything is charged."""

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from sfumato.confidential.fate import PARTIAL
from sfumato.confidential.options import Options
from sfumato.confidential.publication import written
from sfumato.confidential.statement import stated
from sfumato.errors import PlanError, ReleaseError, SfumatoError
from sfumato.geography import Shapes
from sfumato.plan import Plan, Price
from sfumato.plan.product_size import product_bytes
from sfumato.release import open_release, seal


def write_draft(plan: Plan, price: Price, options: Options, out: Path, shapes: Sequence[Shapes]) -> int:
    """Refuse a plan that would not read back, or with which a release would not; the bytes that the release takes.

    A run that is charged to nothing goes on, and says that a run with a ledger would be refused.
    """
    try:
        return _draft_bytes(plan, price, options, out, shapes) + product_bytes(plan)
    except OSError as error:
        raise ReleaseError(
            f"The release could not be written to {out.parent}: {error.strerror or type(error).__name__}. Nothing is "
            "charged; make room, or choose another --out."
        ) from None
    except (SfumatoError, TypeError, ValueError, AttributeError, LookupError) as error:
        refusal = f"A release of the plan {plan.name!a} could not be read back: {_first_line(error)}"
        if not options.confidential:
            raise PlanError(f"{refusal} So it is not made, and nothing is charged.") from None
        options.note(f"{refusal} A run with a ledger is refused.")
        return product_bytes(plan)


def _draft_bytes(plan: Plan, price: Price, options: Options, out: Path, shapes: Sequence[Shapes]) -> int:
    # What is stated of sampling may need numbers; it is stated of each product when that is there.
    manifest = stated(replace(plan, sampling="census"), price, options).model_copy(update={"releasable": False})
    with TemporaryDirectory(prefix=f".{out.name}.", suffix=PARTIAL, dir=out.parent) as name:
        folder = Path(name)
        draft = written(folder, plan, [], manifest, [], shapes)
        _refuse_altered(plan, folder / "plan.toml")
        seal(folder, draft)
        open_release(folder)
        return _size(folder)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


def _refuse_altered(plan: Plan, path: Path) -> None:
    """Refuse a plan whose own TOML reads as another plan, as with a mechanism that no folder of Sfumato holds."""
    again = Plan.parse(path.read_text(encoding="utf-8"), _folder(plan) / path.name)
    altered = [field.name for field in fields(plan) if getattr(again, field.name) != getattr(plan, field.name)]
    if altered:
        raise PlanError(
            f"plan.toml would hold other {' and '.join(altered)} than the plan. Use values that TOML can hold, and "
            "mechanisms, statistics and steps that stand in the folders of Sfumato under the names they have in plans."
        )


def _folder(plan: Plan) -> Path:
    """The folder from which the plan names its files."""
    parts = (plan.frame, plan.suppress, *plan.geographies)
    return next((part.folder for part in parts if part is not None), Path())


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())

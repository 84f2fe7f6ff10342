"""Certify: run the contract checks and the audit of this very plan by this very package, and write down what was found.

Everything is made of the plan alone, so a certificate says nothing about any data.
"""

import hashlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sfumato import __version__
from sfumato.confidential.audit import CONFIDENCE, audit_plan
from sfumato.confidential.contract import FALSE_ALARM, contract
from sfumato.draws import Draws, SystemDraws
from sfumato.errors import PlanError
from sfumato.mechanisms import Mechanism
from sfumato.plan import Plan
from sfumato.plan.weights import not_promised
from sfumato.privacy import Move
from sfumato.release import digest, now, private_key
from sfumato.release.certificate import Attack, Certificate, Checked, Mechanics
from sfumato.release.manifest import CERTIFICATE, CERTIFICATE_PAGE, CERTIFICATE_SIGNATURE, NAME
from sfumato.schema import Aggregate

HERE, PACKAGE = Path(__file__).parent, Path(__file__).parent.parent
Told = Callable[[str], None]


def certify(
    plan: Plan, samples: int | None = None, draws: Draws | None = None, told: Told = lambda _: None
) -> Certificate:
    """What the checks and attacks of a plan find."""
    draws, price = draws or SystemDraws(), plan.price()
    told("attacking what would be published of neighbours")
    attacks = [
        Attack.model_validate({key: value for key, value in one.to_dict().items() if key not in {"holds", "views"}})
        for one in audit_plan(plan, samples=samples, draws=draws)
    ]
    return Certificate(
        made=now(),
        software=f"sfumato {__version__}",
        code=package_hash(),
        name=plan.name,
        title=plan.title,
        plan=digest(plan.to_toml().encode()),
        promise=" ".join(filter(None, [plan.hidden.words(), not_promised(plan.schema, plan.hidden.unit)])),
        loss=price.total.words(),
        confidence=CONFIDENCE,
        false_alarm=FALSE_ALARM,
        contract=list(_mechanics(plan, draws, told)),
        attacks=attacks,
    )


def _mechanics(plan: Plan, draws: Draws, told: Told) -> Iterator[Mechanics]:
    """The checks of every mechanism at its own move, once where measures have the same."""
    same: dict[tuple[Mechanism, Move, Fraction, bool, tuple[Aggregate, ...]], list[str]] = {}
    for measure in plan.measures:
        table = plan.over.table(measure)
        sparse = table is not None and not table.dense
        of = () if measure.of.additive else measure.of.aggregates
        same.setdefault((measure.with_, plan.move(measure), measure.of.step, sparse, of), []).append(measure.name)
    for (mechanism, move, step, sparse, of), names in same.items():
        told(f"checking the noise of {', '.join(names)}")
        checks = [
            Checked.model_validate(one.to_dict())
            for one in contract(mechanism, move, step, draws, sparse=sparse, of=of)
        ]
        yield Mechanics(mechanism=mechanism.words(), measures=names, checks=checks)


def package_hash() -> str:
    """The hash of all code of the package, by which anyone can tell whether theirs is the one that was checked."""
    found = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        found.update(f"{path.relative_to(PACKAGE).as_posix()} {digest(path.read_bytes())}\n".encode())
    return found.hexdigest()


def page_of(certificate: Certificate) -> str:
    """The certificate as one page for a review board; everything that comes from a plan is escaped."""
    layout = Environment(loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return layout.get_template("certificate.html").render(one=certificate)


def refuse_unfit_folder(folder: Path, plan: Plan) -> None:
    """Refuse a folder that holds a certificate, or a release of another plan, before anything is computed."""
    if any((folder / name).exists() for name in (CERTIFICATE, CERTIFICATE_SIGNATURE, CERTIFICATE_PAGE)):
        raise PlanError(f"{folder} holds a certificate already; name another folder, or move that one away.")
    own = folder / "plan.toml"
    if (folder / NAME).exists() and not (own.is_file() and own.read_text(encoding="utf-8") == plan.to_toml()):
        raise PlanError(f"{folder} is a release of another plan; audit the plan.toml that lies in it.")


def write_certificate(certificate: Certificate, folder: Path, key: Path | None) -> None:
    """The certificate, its page, and its signature where there is a key."""
    signer = private_key(key) if key else None
    page = page_of(certificate).encode()
    content = certificate.model_copy(update={"page": digest(page)}).to_bytes()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CERTIFICATE_PAGE).write_bytes(page)
    if signer:
        (folder / CERTIFICATE_SIGNATURE).write_bytes(signer.sign(content))
    (folder / CERTIFICATE).write_bytes(content)

"""Certificate: what was checked and attacked of a plan before anything was published by it, in a file that is signed.

It holds nothing of any data. It may stand in a folder of its own or beside the manifest of a release of that plan.
"""

import json
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from sfumato.errors import ReleaseError
from sfumato.release.keys import beginning, plain_file, signature
from sfumato.release.manifest import CERTIFICATE, CERTIFICATE_PAGE, CERTIFICATE_SIGNATURE, NAME, digest
from sfumato.release.promise import ManifestPart
from sfumato.release.written import read_json

LONGEST = 2**22
"""The most bytes of a certificate and of its page."""
SHOWN = 0.1
"""The part of a claim from which on a bound is evidence, where no law says what there was to see."""


def verdict(bound: float, claimed: float, strong: bool | None) -> str:
    """What a bound says of a claim; `strong` is whether it is near what a stated law loses, where one is stated.

    >>> verdict(0.9, 1, None), verdict(0.05, 1, None), verdict(0.0, 1, True), verdict(0.2, 1, False)
    ('holds', 'not shown', 'not shown', 'holds, but too weak to count')
    """
    if bound > claimed:
        return "THE CLAIM IS FALSE"
    if bound == 0 or (strong is None and bound < SHOWN * claimed):
        return "not shown"
    return "holds, but too weak to count" if strong is False else "holds"


class Checked(ManifestPart):
    """One check of a mechanism at the parameters of some measures: what was wrong, or why it was not made."""

    check: str
    wrong: list[str]
    not_made: str = ""


class Mechanics(ManifestPart):
    """The checks of one mechanism between neighbours that far apart, and the measures that it is the noise of."""

    mechanism: str
    measures: list[str] = Field(min_length=1)
    checks: list[Checked]


class Attack(ManifestPart):
    """What would be published of two neighbours, the loss that draws of it prove, and what its laws lose."""

    measure: str
    pair: str = ""
    """What the two differ by, as a clause; certificates of earlier versions do not say."""
    view: str
    claim: str
    claimed: float = Field(gt=0, allow_inf_nan=False)
    bound: float = Field(ge=0, allow_inf_nan=False)
    exact: float | None = Field(allow_inf_nan=False)
    samples: int = Field(gt=0)
    strong: bool | None

    @property
    def holds(self) -> bool:
        return self.bound <= self.claimed

    @property
    def verdict(self) -> str:
        return verdict(self.bound, self.claimed, self.strong)


class Certificate(ManifestPart):
    """What was claimed, what was checked and attacked, by how many draws, and what bound was reached."""

    format: Literal["sfumato-certificate/1"] = "sfumato-certificate/1"
    made: str
    software: str
    code: str
    """The hash of the package that made it."""
    name: str
    title: str
    plan: str
    """The hash of the plan as a release holds it."""
    promise: str
    loss: str
    confidence: float = Field(gt=0, lt=1)
    false_alarm: float = Field(gt=0, lt=1)
    contract: list[Mechanics]
    attacks: list[Attack] = Field(min_length=1)
    page: str = ""
    """The hash of the page that says the same."""

    @property
    def checks(self) -> list[Checked]:
        return [check for one in self.contract for check in one.checks]

    @property
    def holds(self) -> bool:
        """Whether no check found anything wrong and no attack proved more than was claimed."""
        return all(attack.holds for attack in self.attacks) and not any(check.wrong for check in self.checks)

    @property
    def nearest(self) -> Attack:
        """The attack that came nearest to its claim, or went furthest beyond it."""
        return max(self.attacks, key=lambda one: one.bound / one.claimed)

    def words(self) -> str:
        """All of it as one sentence."""
        made = [check for check in self.checks if not check.not_made]
        wrong, near = sum(bool(check.wrong) for check in made), self.nearest
        counted = f"{len(made)} checks of the noise, {wrong or 'none'} failed"
        attacks = f"of {len(self.attacks)} attacks by {near.samples:,} draws a side the strongest proves a loss"
        return f"{counted}; {attacks} of {near.bound:.3g} where {near.claim} is claimed."

    @property
    def id(self) -> str:
        return digest(self.to_bytes())

    def to_bytes(self) -> bytes:
        """The one way to write it."""
        told = self.model_dump()
        for attack in told["attacks"]:
            if not attack["pair"]:
                del attack["pair"]
        return (json.dumps(told, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def stands_alone(folder: Path) -> bool:
    """Whether a folder holds a certificate and no release."""
    return plain_file(folder / CERTIFICATE) and not (folder / NAME).exists()


def read_certificate(folder: Path) -> tuple[Certificate, bytes]:
    """The certificate in a folder, and its bytes."""
    content = beginning(folder / CERTIFICATE, LONGEST)
    try:
        found = Certificate.model_validate(read_json(content))
    except (ValueError, ValidationError, RecursionError):
        raise ReleaseError(f"{CERTIFICATE} cannot be read as a certificate; it was edited, or is cut off.") from None
    return found, content


def certified(folder: Path, plan: str | None, public_key: Path | None) -> tuple[str, list[str]]:
    """What is to be said of the certificate in a folder, if one is there, and what is wrong with it.

    Beside a release it must be one of its plan.
    """
    if not plain_file(folder / CERTIFICATE):
        return "", []
    found, content = read_certificate(folder)
    signed, problems = signature(folder / CERTIFICATE_SIGNATURE, content, public_key)
    if content != found.to_bytes():
        problems.append(f"{CERTIFICATE} is not written as Sfumato writes it: it was edited.")
    page = folder / CERTIFICATE_PAGE
    if not plain_file(page) or digest(beginning(page, LONGEST)) != found.page:
        problems.append(f"{CERTIFICATE_PAGE} is missing or altered: it is not the page that {CERTIFICATE} names.")
    if plan is not None and found.plan != plan:
        problems.append(f"{CERTIFICATE} is of another plan, '{found.name}', not of the one in this release.")
    if not found.holds:
        problems.append(f"{CERTIFICATE} says that its plan does not keep its claim: {found.words()}")
    return f"{signed}. {found.words()}", problems

"""Options: how one run differs from the plain one."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sfumato.draws import Draws, SeededDraws, SystemDraws
from sfumato.errors import PlanError, ReleaseError, nearest
from sfumato.plan import Plan
from sfumato.release.manifest import AS_PUBLISHED, MODES, SOUND

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """A rehearsal's seed, what it supersedes, whose key signs, and whether a paper is followed to the letter."""

    rehearsal: int | None = None
    supersedes: str | None = None
    sign_with: Path | None = None
    progress: Progress = lambda stage: None  # noqa: ARG005 - silence
    within: Callable[[str, int, int], None] = lambda doing, done, of: None  # noqa: ARG005 - how much of a stage is done
    note: Progress = lambda words: None  # noqa: ARG005 - which engine read the data, and why others declined
    mode: str = SOUND
    year: int | None = None
    """That of the clock, confirmed where it stands more than a year after the last charge."""
    beside: tuple[Path, ...] = ()
    """Earlier releases of the same ledger; tables with withheld cells are protected jointly with theirs."""

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise PlanError(f"A run has no mode '{self.mode}'; {nearest(self.mode, MODES)}")
        if self.supersedes is not None and not re.fullmatch("[0-9a-f]{64}", self.supersedes):
            raise ReleaseError(
                f"--supersedes {self.supersedes[:80]} is no id of a release: it has 64 digits, 0 to 9 and a to f; "
                "`sfumato verify DIR` prints that of the release in DIR."
            )

    def draws(self) -> Draws:
        return SystemDraws() if self.rehearsal is None else SeededDraws(self.rehearsal)

    @property
    def confidential(self) -> bool:
        """Whether the release stays inside: its noise can be undone, or a step of a paper gives the records away."""
        return self.rehearsal is not None or self.mode != SOUND

    def why(self, plan: Plan) -> str:
        """Why the release may not be published; nothing where it may."""
        if self.mode == AS_PUBLISHED:
            broken, argued = " and ".join(plan.as_published), plan.price().argued
            priced = f", at {argued[-1].loss.words()} by its authors' argument" if argued else ""
            return f"as published, for study alone{priced}{f': the claim is broken by {broken}' if broken else ''}"
        if self.rehearsal is None:
            return ""
        known = "whoever knows its seed can undo the noise"
        return f"rehearsal: {'its true totals are entered in no ledger' if plan.suppress else known}"

    def refuse(self, plan: Plan, ledger: Path | str | None) -> None:
        """Say so where a plan and a ledger are not for such a run."""
        if self.mode == SOUND and plan.as_published:
            broken = " ".join(f"In {part} {why}." for part, why in plan.as_published.items())
            raise PlanError(
                f"The plan '{plan.name}' exists only as published. {broken} Run it with --mode "
                f"{AS_PUBLISHED} to study it, on synthetic data or inside the agency; it is never published."
            )
        if self.beside and self.confidential and plan.suppress is None:
            raise PlanError(
                "--beside compares earlier releases with the ledger, and this run is charged to none; leave out "
                "--beside, or give --ledger in place of --rehearsal or --mode."
            )
        if self.confidential and self.sign_with:
            raise ReleaseError(
                "A signature says that an agency publishes a release, and this one stays inside: leave out --sign."
            )
        if self.mode == AS_PUBLISHED and ledger is not None:
            raise ReleaseError("A run as published is charged to no ledger and entered in none; leave out --ledger.")
        if not self.confidential and ledger is None:
            raise ReleaseError(
                "A release must be charged to a ledger: give --ledger, or --rehearsal SEED for a trial run."
            )

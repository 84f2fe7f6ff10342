"""Options: how one run differs from the plain one."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sfumato.confidential.statement import Facts
from sfumato.draws import Draws, SeededDraws, SystemDraws

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """How a run differs from the plain one: a rehearsal's seed, what it supersedes, whose key signs."""

    rehearsal: int | None = None
    supersedes: str | None = None
    sign_with: Path | None = None
    progress: Progress = lambda stage: None  # noqa: ARG005 - silence

    def draws(self) -> Draws:
        return SystemDraws() if self.rehearsal is None else SeededDraws(self.rehearsal)

    def facts(self) -> Facts:
        return Facts(self.rehearsal is not None, self.supersedes)

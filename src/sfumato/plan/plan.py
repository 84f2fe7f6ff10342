"""Plan: decisions about a release that can be read, priced, budgeted and written."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sfumato.plan.budget import Allotment, allot
from sfumato.plan.decisions import Decisions
from sfumato.plan.price import Price, price
from sfumato.plan.toml import parse, text_at
from sfumato.plan.writer import write
from sfumato.plan.written_targets import targets_of


@dataclass(frozen=True)
class Plan(Decisions):
    """A list of measurements; everything after a measurement is arithmetic on public numbers."""

    @classmethod
    def read(cls, path: Path | str) -> "Plan":
        """The plan in a TOML file; an error names the file, the key and what would work."""
        return cls.parse(text_at(Path(path)), Path(path))

    @classmethod
    def read_released(cls, path: Path) -> "Plan":
        """The plan that lies in a release, which may have been made before plans said what their weight is."""
        return parse(text_at(path), path, cls, released=True)

    @classmethod
    def parse(cls, text: str, path: Path) -> "Plan":
        """The plan in a text that came from a path; the paths in it are taken from the folder of that one."""
        return parse(text, path, cls)

    @property
    def as_published(self) -> dict[str, str]:
        """What of the plan exists only as a paper did it: why that breaks the claim, and its sound sibling."""
        parts = {f"measure '{measure.name}'": measure.with_.as_published for measure in self.measures}
        parts |= {f"step '{step.name}'": step.as_published for step in self.then}
        return {part: why for part, why in parts.items() if why}

    def price(self) -> Price:
        """What the plan costs, from the plan alone; PromiseError says why it cannot be claimed or afforded."""
        return price(self)

    def budget(
        self,
        margins: Mapping[str, str],
        sizes: Mapping[str, float] | None = None,
        largest: Mapping[str, float] | None = None,
        spreads: Mapping[str, float] | None = None,
    ) -> Allotment:
        """The least budgets at which measures are as exact as wanted, for sizes that are public knowledge."""
        return allot(self, targets_of(self, margins, sizes or {}, largest or {}, spreads or {}))

    def to_toml(self) -> str:
        """The plan as TOML that reads back equal, its levels written out."""
        return write(self)

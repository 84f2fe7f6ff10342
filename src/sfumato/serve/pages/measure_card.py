"""How the privacy card of a release tells a measure: what it is by, its cost, its noise."""

from collections.abc import Mapping
from dataclasses import dataclass

from sfumato.query import number
from sfumato.release.manifest import ProductLine, SpendLine
from sfumato.schema import Attribute
from sfumato.serve.pages.noise import Noise
from sfumato.serve.pages.root_noise import ClippedNoise, RootNoise
from sfumato.serve.pages.words import Words

_SIZE = 100.0


@dataclass(frozen=True)
class Measured:
    """One measure of a release: what it cost, how often it gives one unit away at best, and the noise of its cells."""

    spend: SpendLine
    line: ProductLine | None
    told: int | None
    noise: Noise | RootNoise | None
    apart: int | None
    """How often the two true values of the example are told apart at best, of 100."""
    clipped: ClippedNoise | None = None
    size: float = _SIZE
    """The size of the largest value at which the noise of clipped totals is told."""

    @property
    def pair(self) -> tuple[str, str] | None:
        """The two true values of the example."""
        return (number(self.noise.pair[0]), number(round(self.noise.pair[1]))) if self.noise else None

    @property
    def se(self) -> float | None:
        """A standard error: of any cell, of a row of the example's size, or of a group by its largest row."""
        if self.noise:
            return self.noise.se
        return self.clipped.se_at(self.size) if self.clipped else None

    def of_same(self, other: "Measured") -> bool:
        """Whether both measures are of the same statistic in the same unit."""
        one, two = self.line, other.line
        return one is not None and two is not None and (one.title, one.unit) == (two.title, two.unit)

    def where(self, unit: str, said: Words) -> str:
        """For which cells that standard error holds, where it is not for all."""
        if isinstance(self.noise, RootNoise):
            return said("privacy.se_at", size=said.figure(number(self.noise.pair[0])))
        if self.clipped:
            return said("privacy.se_largest", unit=unit, size=said.figure(number(self.size)))
        return ""


def by_words(line: ProductLine, labels: Mapping[str, Attribute | str], unit: str, said: Words) -> str:
    """What a measure is by: its variables, the level of each where it is not the lowest, or the rows themselves."""
    if line.kind == "records":
        return said("privacy.by_row", unit=unit)
    if not line.by:
        return said("privacy.by_whole")
    named = [_level(name, labels, said) for name in line.by]
    return said("privacy.by", names=" × ".join(named) if line.kind == "groups" else ", ".join(named))


def _level(written: str, labels: Mapping[str, Attribute | str], said: Words) -> str:
    """A variable and the level that it stands at, by the digits of its codes where they all have as many."""
    name, at, depth = written.partition("@")
    found = labels.get(name, name)
    if not isinstance(found, Attribute) or not at or not depth.isdigit():
        return found.label if isinstance(found, Attribute) else found
    levels = found.levels
    codes = [code for code in levels.codes if levels.depths[code] == int(depth)]
    digits = {len(code) for code in codes if code.isdigit()}
    if len(digits) == 1 and all(code.isdigit() for code in codes):
        return said("privacy.digits", name=found.label, count=digits.pop())
    return said("privacy.level", name=found.label, level=int(depth) + 1, levels=levels.depth + 1)

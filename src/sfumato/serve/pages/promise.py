"""The promise of a release in plain words; chances are rounded up, as a promise must not sound better than it is."""

import math
from dataclasses import dataclass
from functools import cached_property

from sfumato.errors import SfumatoError
from sfumato.privacy import Concentrated, Loss, Unbounded, in_sequence
from sfumato.privacy.written import limit_from_dict, loss_from_dict
from sfumato.query import number
from sfumato.release import Manifest
from sfumato.release.manifest import ProductLine, SpendLine
from sfumato.serve.catalogue import Edition
from sfumato.serve.pages.noise import ALARM, Noise

Curve = list[tuple[float, float]]
_LEVELS = sorted({*(place / 50 for place in range(51)), 0.002, 0.005, 0.01, 0.03, 0.05, 0.07, 0.95, 0.98, 0.99})


@dataclass(frozen=True)
class Measured:
    """One measure of a release: what it cost, how often it gives one unit away at best, and the noise of its cells."""

    spend: SpendLine
    line: ProductLine | None
    told: int | None
    noise: Noise | None

    @property
    def pair(self) -> tuple[str, str] | None:
        """The two true values of the example."""
        return (number(self.noise.pair[0]), number(round(self.noise.pair[1]))) if self.noise else None

    @property
    def apart(self) -> int | None:
        """How often those two are told apart at best, of 100."""
        return in_100(self.noise.told_apart) if self.noise else None


@dataclass(frozen=True, eq=False)
class Promised:
    """What is to be said of a release's protection."""

    edition: Edition

    @property
    def manifest(self) -> Manifest:
        return self.edition.release.manifest

    @property
    def unit(self) -> str:
        return str(self.manifest.promise.hidden.get("unit", "unit"))

    @property
    def whole(self) -> bool:
        """Whether all rows of a unit are hidden together."""
        return bool(self.manifest.promise.hidden.get("id"))

    @property
    def at_most(self) -> int:
        """How many rows of one unit count."""
        return int(self.manifest.promise.hidden.get("at_most", 1))

    @property
    def neighbours(self) -> str:
        """The kind of neighbours, `other` where it is none that there are words for."""
        kind = self.manifest.promise.hidden.get("neighbours")
        return {"add-remove": "add_remove", "replace-one": "replace_one"}.get(str(kind), "other")

    @property
    def fixed(self) -> list[str]:
        """The labels of what is public about a unit."""
        labels = {one.name: one.label for one in self.manifest.attributes}
        return [labels.get(name, name) for name in self.manifest.promise.hidden.get("fixed", [])]

    @property
    def formal(self) -> bool:
        return "unbounded" not in self.manifest.promise.loss

    @property
    def told(self) -> int:
        return in_100(self.manifest.promise.power_at_5_percent)

    @property
    def even(self) -> int:
        return in_100(self.manifest.promise.posterior_from_even_odds)

    @property
    def loss(self) -> Loss | None:
        return read_loss(self.manifest.promise.loss)

    @cached_property
    def curve(self) -> Curve:
        """The most power that any test has at each rate of false alarms; empty where nothing is promised."""
        loss = self.loss
        return [] if loss is None or isinstance(loss, Unbounded) else trade_off(loss)

    @cached_property
    def measures(self) -> list[Measured]:
        lines = {line.name: line for line in self.manifest.products}
        return [_measured(spend, lines.get(spend.measure)) for spend in self.manifest.spends]

    @property
    def made(self) -> list[ProductLine]:
        """The products that were made of measures by arithmetic on public numbers."""
        measured = {spend.measure for spend in self.manifest.spends}
        return [line for line in self.manifest.products if line.answers and line.name not in measured]

    @property
    def example(self) -> Measured | None:
        """The measure whose noise the picture of two true values is drawn with: one that is not settled by it."""
        shown = [one for one in self.measures if one.noise]
        return min(shown, key=lambda one: one.apart or 100, default=None)

    @property
    def made_names(self) -> str:
        return ", ".join(f"{line.title} ({line.name})" for line in self.made)

    def names(self, line: ProductLine) -> str:
        """The variables of a measure as people call them."""
        labels = {one.name: one.label for one in self.manifest.attributes}
        return ", ".join(labels.get(name, name) for name in line.by)

    def amounts(self, written: dict[str, str]) -> str:
        """A loss as the manifest writes it, in words."""
        loss = read_loss(written)
        return loss.words() if loss else ", ".join(f"{name} {value}" for name, value in written.items())

    def figure(self, value: float) -> str:
        """A standard error as people read it."""
        return number(value)

    @property
    def composed(self) -> str:
        """How the measures' losses became one: `one`, they `add`, disjoint `parts`, or `other`."""
        losses = [read_loss(spend.loss) for spend in self.manifest.spends]
        known = [loss for loss in losses if loss is not None]
        if len(known) < len(losses) or self.loss is None:
            return "other"
        if len(known) == 1:
            return "one"
        try:
            together = in_sequence(known, limit_from_dict(self.manifest.promise.limit))
        except SfumatoError:
            return "other"
        return f"add_{self.loss.kind}" if together == self.loss else "parts"


def promise(edition: Edition) -> Promised:
    """What the account of a release's protection says."""
    return Promised(edition)


def in_100(chance: float) -> int:
    """A chance as times in 100, rounded up.

    >>> in_100(0.2595), in_100(0.26), in_100(1.0)
    (26, 26, 100)
    """
    return min(100, math.ceil(100 * chance - 1e-9))


def read_loss(written: dict[str, str]) -> Loss | None:
    """A loss as a manifest writes it; none where this version does not know its kind."""
    try:
        return loss_from_dict(written)
    except SfumatoError:
        return None


def trade_off(loss: Loss) -> Curve:
    """The power of the best test at each rate of false alarms.

    A concentrated loss is a family of bounds, one an epsilon; they are found once for the whole curve.
    """
    if not isinstance(loss, Concentrated):
        ends = {0.0: getattr(loss, "delta", 0.0) if loss.kind == "approximate" else 0.0, 1.0: 1.0}
        return [(level, float(ends[level]) if level in ends else loss.power(level)) for level in _LEVELS]
    rho = float(loss.rho)
    tries = [(rho + 6 * math.sqrt(rho) + 6) * step / 200 for step in range(201)]
    bounds = [(math.exp(min(epsilon, 700.0)), loss.delta(epsilon)) for epsilon in tries]
    return [(level, min(1.0, *(grown * level + delta for grown, delta in bounds))) for level in _LEVELS]


def _measured(spend: SpendLine, line: ProductLine | None) -> Measured:
    loss = read_loss(spend.loss)
    told = in_100(loss.power(ALARM)) if loss is not None and not isinstance(loss, Unbounded) else None
    return Measured(spend, line, told, Noise.of(line) if line is not None else None)

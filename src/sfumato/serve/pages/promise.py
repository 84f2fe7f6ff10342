"""The promise of a release in plain words; chances are rounded up, as a promise must not sound better than it is."""

import math
from dataclasses import dataclass
from functools import cached_property

from sfumato.errors import SfumatoError
from sfumato.foreign_text import joined
from sfumato.privacy import Concentrated, Loss, LossBySize, Unbounded, in_sequence
from sfumato.privacy.notation import loss_from_dict
from sfumato.query.downloads.about import in_100, sure_in_100
from sfumato.query.wording import Words
from sfumato.release import Manifest
from sfumato.release.manifest import ALARM, ProductLine
from sfumato.schema import Attribute
from sfumato.serve.editions import Edition
from sfumato.serve.pages.measure_card import Measured, level_of

Curve = list[tuple[float, float]]
_LEVELS = sorted({*(place / 50 for place in range(51)), 0.002, 0.005, 0.01, 0.03, 0.05, 0.07, 0.95, 0.98, 0.99})


NEAR = ("learned_words", "neighbours_words", "big_words", "attack_words", "axis_power", "one_found")
"""What is said otherwise where it is not hidden who is in the data, but what they report, as far as it is near."""
LISTED = ("lead", "seen_words", "seen_title")
"""What is said otherwise where the units stand in a public register."""
GROWING = ("how_words",)
"""What is said otherwise where noise grows with what it is added to."""
JOINT = ("lead", "how_words")
"""What is said otherwise where noise was drawn for many tables together."""


@dataclass(frozen=True, eq=False)
class Promised:
    """What is to be said of a release's protection."""

    edition: Edition

    @property
    def manifest(self) -> Manifest:
        return self.edition.release.manifest

    @property
    def unit(self) -> str:
        """Who is hidden; a firm where all units of one are hidden together."""
        hidden = self.manifest.promise.hidden
        return self.edition.release.called("firm") if hidden.get("firm") else self.row

    @property
    def row(self) -> str:
        return self.edition.release.called(str(self.manifest.promise.hidden.get("unit", "unit")))

    @property
    def listed(self) -> bool:
        """Whether the units stand in a public register, which comes with the release."""
        return "frame.parquet" in self.manifest.files

    @property
    def rows(self) -> str:
        """The key of what is said of the rows of one unit: whether all count, and whether they are hidden together."""
        hidden = self.manifest.promise.hidden
        if self.listed:
            return "privacy.rows_frame" if self.unit == self.row else "privacy.rows_firm"
        if not hidden.get("id"):
            return "privacy.rows_one"
        if hidden.get("at_most") is not None and not hidden.get("worker"):
            return "privacy.rows_id"
        return "privacy.rows_all" if hidden.get("neighbours") == LossBySize.kind else "privacy.rows_within"

    def said(self, key: str) -> str:
        """The key of a text, of its other form where that is what is true."""
        growing = self.listed and any(one.noise is None or one.noise.at != "any" for one in self.manifest.spends)
        near = self.manifest.promise.only_near
        other = (*(NEAR if near else ()), *(LISTED if self.listed else ()), *(GROWING if growing else ()))
        if key in other:
            return f"privacy.{key}_root"
        joint = key in JOINT and any(line.kind == "tables" for line in self.manifest.products)
        return f"privacy.{key}_tables" if joint else f"privacy.{key}"

    @property
    def told(self) -> int:
        return in_100(self.manifest.promise.power_at_5_percent)

    @property
    def even(self) -> int:
        return in_100(self.manifest.promise.right_guess)

    @property
    def sure(self) -> list[int]:
        """How many times in 100 somebody becomes 90% sure, and 99%; nothing where the release does not say."""
        return sure_in_100(self.manifest.promise)

    @property
    def loss(self) -> Loss | None:
        return read_loss(self.manifest.promise.loss)

    @cached_property
    def curve(self) -> Curve:
        """The most power that any test has at each rate of false alarms; empty where nothing is promised."""
        loss = self.loss
        return trade_off(loss) if loss is not None and self.manifest.promise.formal else []

    @cached_property
    def measures(self) -> list[Measured]:
        lines = {line.name: line for line in self.manifest.products}
        return [Measured(spend, lines.get(spend.measure), told_of(spend.loss)) for spend in self.manifest.spends]

    @property
    def unsaid(self) -> bool:
        """Whether the release was made before releases said what their noise looks like."""
        return any(spend.noise is None for spend in self.manifest.spends)

    @property
    def made(self) -> str:
        """The products that were made of measures by arithmetic on public numbers."""
        measured = {spend.measure for spend in self.manifest.spends}
        lines = [line for line in self.manifest.products if line.answers and line.name not in measured]
        return joined(", ", (line.title + f" ({line.name})" for line in lines))

    @property
    def example(self) -> Measured | None:
        """The measure whose noise the picture of two true values is drawn with: one that is not settled by it."""
        shown = [one for one in self.measures if one.example]
        return min(shown, key=lambda one: one.apart or 100, default=None)

    def called(self, line: ProductLine) -> str:
        """The title of a measure, with its name where another has the same title."""
        alike = [one for one in self.manifest.products if one.answers and one.title == line.title]
        return line.title if len(alike) < 2 else line.title + f" ({line.name})"

    def by(self, line: ProductLine, said: Words) -> str:
        """What a measure is by: its variables, the level of each where it is not the lowest, or the rows themselves."""
        if line.kind == "records":
            return said("privacy.by_row", unit=self.row)
        if not line.by:
            return said("privacy.by_whole")
        named = [level_of(name, self._labels, said) for name in line.by]
        if line.kind == "tables":
            named = [level_of(name, self._labels, said) for name in line.family["of"]]
            others = len(line.family["also"])
            key = "privacy.by_family_also" if others else "privacy.by_family"
            return said(key, count=line.family["up_to"], names=joined(", ", named), others=others)
        if line.kind == "suppressed":
            tables = [line.family["of"], *line.family["also"]]
            named = [joined(" × ", (level_of(name, self._labels, said) for name in table)) for table in tables]
        return said("privacy.by", names=joined(" × " if line.kind == "groups" else ", ", named))

    @cached_property
    def _labels(self) -> dict[str, Attribute | str]:
        labels: dict[str, Attribute | str] = {one.name: one.label for one in self.manifest.attributes}
        for sheet in self.edition.sheets:
            labels |= {one.name: one for one in sheet.product.attributes}
        return labels

    def amounts(self, written: dict[str, str]) -> str:
        """A loss as the manifest writes it, in words."""
        loss = read_loss(written)
        words = loss.words() if loss else ", ".join(f"{name} {value}" for name, value in written.items())
        return self.edition.release.says(words)

    @property
    def composed(self) -> str:
        """How the measures' losses became one: `one`, they `add`, disjoint `parts`, or `other`."""
        losses = [read_loss(spend.loss) for spend in self.manifest.spends]
        known = [loss for loss in losses if loss is not None]
        if len(known) < len(losses) or self.loss is None or not self.manifest.promise.formal:
            return "other"
        if len(known) == 1:
            return "one"
        try:
            together = in_sequence(known, loss_from_dict(self.manifest.promise.limit))
        except SfumatoError:
            return "other"
        return f"add_{self.loss.kind}" if together == self.loss else "parts"


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


def told_of(written: dict[str, str]) -> int | None:
    """How often a loss gives one unit away at best, of 100; none where it has no bound or is of no known kind."""
    loss = read_loss(written)
    return None if loss is None or isinstance(loss, Unbounded) else in_100(loss.power(ALARM))

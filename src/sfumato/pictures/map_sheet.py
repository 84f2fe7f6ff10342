"""MapSheet: the marks of a map on their ground, how they are drawn, and the words round them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sfumato.pictures.classes import Classes, classes_of
from sfumato.pictures.ground import Ground
from sfumato.pictures.mark import Caption, Mark, spoken
from sfumato.pictures.overlay import Overlay


@dataclass(frozen=True)
class MapWords:
    """The words a map adds of its own, to be said in any language."""

    closed: str = "{low} to {high}"
    under: str = "under {high}"
    above: str = "{low} and more"
    alike: str = "one shade: at 90% for all together, no two can be told apart"
    between: str = "striped: at 90% for all together, it may lie in another class"
    hatched: str = "hatched: grade C"
    specks: str = "specks: error withheld"
    none: str = "no number"
    blank: str = "not asked for"
    halo: str = "smear: to the end of the interval"
    below: str = "on its head: below 0"
    own: str = "your numbers, without errors: {name}"
    own_unnamed: str = "your numbers, without errors"
    own_one: str = "Your {name}, {code}: {value}, without error"
    drawn: str = "your area"
    elsewhere: str = "Not on the map: {names}"
    shapes: str = "Shapes: {source}, {projection}"


@dataclass(frozen=True)
class MapStyle:
    """How a map is drawn: `areas` shaded as far as they can be told apart, or `dots` in proportion.

    Counts and other totals belong in dots, or are made shares first: a large area is not more of anything because it is
    large. `missing` are areas whose number is withheld or cannot be made, by code, with a sentence that says so;
    `blank` are the other areas to be drawn, by code and label, which nobody asked about.
    """

    kind: str = "areas"
    overlay: Overlay | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    blank: Mapping[str, str] = field(default_factory=dict)
    drawn: str = ""
    """What a reader has drawn on the map, as closed rings on its grid."""
    words: MapWords = field(default_factory=MapWords)


@dataclass(frozen=True)
class MapSheet:
    """The marks that have a shape, on their ground."""

    ground: Ground
    marks: Sequence[Mark]
    caption: Caption
    style: MapStyle
    name: str

    @property
    def numbers(self) -> list[float]:
        return [mark.value for mark in self.marks]

    @cached_property
    def classes(self) -> Classes:
        """The classes of the areas whose error is stated, told apart for all of them at once."""
        ends = [mark.joint_ends for mark in self.marks if mark.stated]
        return classes_of([one for one in ends if all(map(math.isfinite, one))])

    def shade(self, mark: Mark) -> int | None:
        """The shade of an area; none where its error does not let it be put into one class."""
        return self.classes.shade(mark.joint_ends) if mark.stated else None

    @cached_property
    def missing(self) -> dict[str, str]:
        """The areas without a number that have a shape, and what is said of them."""
        numbered, shapes = {mark.code for mark in self.marks}, self.ground.shapes.outlines
        return {code: said for code, said in self.style.missing.items() if code in shapes and code not in numbered}

    @cached_property
    def blank(self) -> dict[str, str]:
        """The areas that nobody asked about and that have a shape."""
        taken, shapes = {mark.code for mark in self.marks} | set(self.missing), self.ground.shapes.outlines
        return {code: label for code, label in self.style.blank.items() if code in shapes and code not in taken}

    @property
    def largest(self) -> float:
        return max(abs(value) for value in self.numbers) or 1.0

    @property
    def reach(self) -> float:
        """The radius of the largest dot."""
        return 0.045 * self.ground.shapes.width * self.ground.scale

    def radius(self, value: float) -> float:
        """The radius of a dot: its area is in proportion to its number."""
        return min(max(self.reach * math.sqrt(abs(value) / self.largest), 1.5), 1.8 * self.reach)

    def own_size(self, code: str) -> float:
        """Half the height of the diamond of a reader's own number; 0 where there is none."""
        values = self.style.overlay.values if self.style.overlay else {}
        if code not in values:
            return 0.0
        most = max(abs(value) for value in values.values()) or 1.0
        return max(0.5 * self.reach * math.sqrt(abs(values[code]) / most), 2.5)

    def said(self, mark: Mark) -> str:
        return spoken(mark, self.caption.words)

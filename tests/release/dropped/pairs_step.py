"""Pairs of a cube: the step that publishes a cube as tables of two attributes alone."""

from dataclasses import dataclass, replace
from typing import ClassVar

from sfumato.release.products.pairs_product_dropped import Pairs

from sfumato.calibrate.step import Step


@dataclass(frozen=True)
class PairsOf(Step):
    """The same numbers, told apart by two attributes at a time."""

    kind: ClassVar[str] = "pairs"
    name: str
    table: str
    to: tuple[str, ...] = ()

    def refuse_unfit(self, table, controls):
        pass

    def apply(self, products):
        cube = products[self.table]
        return Pairs(replace(cube.subject, name=self.name), cube.domain, cube.values, cube.uncertainty)


EXAMPLE = PairsOf("pairs", "cube")

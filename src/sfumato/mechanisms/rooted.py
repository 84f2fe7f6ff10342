"""Rooted: mechanisms between square-root neighbours, whose noise is added somewhere else than to what they publish."""

from abc import abstractmethod
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sfumato.draws import Law
from sfumato.errors import PromiseError
from sfumato.mechanisms.cells import Cells
from sfumato.mechanisms.mechanism import Mechanism
from sfumato.privacy import Move, Root
from sfumato.release import Noisy, Product

Integers = NDArray[np.int64]


class Rooted(Mechanism):
    """Adds integer noise to roots or to clipped totals; says what these are, so that its claim can be audited."""

    @abstractmethod
    def clean(self, cells: Cells, given: Mapping[str, Product] | None = None) -> Integers:
        """The integers to which noise is added, as confidential as the cells."""

    @abstractmethod
    def seen(self, noisy: Noisy) -> Integers:
        """The integers with their noise, as far as the published values tell them."""

    @abstractmethod
    def law_at(self, noisy: Noisy, place: int) -> Law:
        """The law of the noise in one cell."""


def rooted(move: Move, mechanism: str) -> Root:
    """The move, if it is one of square roots."""
    if isinstance(move, Root):
        return move
    raise PromiseError(
        f"{mechanism} hides how far a square root moves; that is promised with [hidden] neighbours = "
        '"square-root-within", for totals of a frame.'
    )

"""Relative: how far cells go in proportion to themselves, for mechanisms whose noise follows sizes."""

from dataclasses import dataclass
from fractions import Fraction

from sfumato.errors import PromiseError
from sfumato.privacy.exact import plain
from sfumato.privacy.move import Move


@dataclass(frozen=True)
class Relative(Move):
    """So many cells at most move by a step each: from x to at most max((1 + alpha) x, x + 1), or back as far.

    One cell may take several of the steps, one after the other: up to `together`, the jobs of one worker.
    """

    alpha: Fraction
    cells: int = 1
    together: int = 1

    def words(self) -> str:
        return (
            f"between size-within neighbours a cell grows by {plain(100 * self.alpha)}% of itself, which in a large "
            "one is further than any width hides; use log-laplace, smooth-gamma or smooth-laplace"
        )


def relative(move: Move, mechanism: str) -> Relative:
    """The move, if it is one of sizes that grow in proportion."""
    if isinstance(move, Relative):
        return move
    raise PromiseError(
        f"{mechanism} hides how far a size goes in proportion; that is promised with [hidden] neighbours = "
        f'"size-within", for counts of the jobs of establishments and for totals of a frame. As it is, {move.words()}.'
    )

"""The integer noise laws: what their probabilities and moments are, and how to draw from them exactly."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.draws import bounds
from sfumato.draws.changes import Changed, changed
from sfumato.draws.stream import Draws
from sfumato.draws.strips import sample

LARGEST_SCALE = 2**45


class Law(ABC):
    """Noise K on the integers with P(K = k) = P(K = -k), never likelier further from zero."""

    @property
    @abstractmethod
    def scale(self) -> float:
        """The scale parameter, in integers."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """E K^2, to float precision."""

    @property
    @abstractmethod
    def fourth_moment(self) -> float:
        """E K^4, to float precision."""

    @abstractmethod
    def pmf(self, k: ArrayLike) -> NDArray[np.float64]:
        """P(K = k), within one part in 2^40 wherever it is at least 2^-100, and less than 2^-99 elsewhere."""

    @abstractmethod
    def survival(self, m: ArrayLike) -> NDArray[np.float64]:
        """P(|K| >= m), within one part in 2^41 wherever it is at least 2^-100, and less than 2^-99 elsewhere."""

    @abstractmethod
    def exact_survival(self, m: int, bits: int) -> bounds.Bounds:
        """Integers (low, high), at most 2 apart, with low <= 2^bits P(|K| >= m) <= high, for m >= 1."""

    def below(self, m: ArrayLike) -> NDArray[np.float64]:
        """P(K < m).

        >>> from sfumato.draws import TwoSidedGeometric
        >>> law = TwoSidedGeometric(Fraction(1))
        >>> law.below([0, 1]).round(4).tolist()      # a / (1 + a) and 1 / (1 + a), a = 0.3679
        [0.2689, 0.7311]
        """
        size = np.asarray(m, dtype=float)
        return np.where(
            size > 0, 1 - self.survival(np.maximum(size, 1)) / 2, self.survival(1 - np.minimum(size, 0)) / 2
        )

    def inverse_survival(self, u: NDArray[np.float64]) -> NDArray[np.float64] | None:  # noqa: ARG002
        """Reals x with u < P(|K| >= m) exactly when m < x, within 2^-50 (scale + x); None if there is no formula."""
        return None

    def draw(self, n: int, draws: Draws) -> NDArray[np.int64]:
        """Return n independent draws whose law is exactly this one (proofs in `sampler` and, for many, in `strips`)."""
        return sample(self, n, draws)

    def changed(self, n: int, draws: Draws) -> Iterator[Changed]:
        """Yield, in order, where n independent draws are not zero and what they are; n never fills any memory.

        >>> from sfumato.draws import DiscreteNormal, SeededDraws
        >>> [some] = DiscreteNormal(Fraction(1, 40)).changed(10**9, SeededDraws(1))      # 4e-9 of them are not zero
        >>> len(some.places) < 30 and set(some.values) <= {-1, 1}
        True
        """
        return changed(self, n, draws)


def require(law: Law, name: str, least: Fraction, most: Fraction) -> None:
    """Refuse a parameter that is not an exact number from `least` to `most`, and store it as a Fraction."""
    asked, who = getattr(law, name), type(law).__name__
    if not isinstance(asked, (int, Fraction)):
        raise TypeError(f"{who} needs an exact {name}; got {asked!r}. Write Fraction('{asked}').")
    if not least <= asked <= most:
        raise ValueError(
            f"{who} draws exactly for {name} from {float(least):.4g} to {float(most):.4g}; got {asked}. "
            "Count in coarser steps where the noise is too wide, in finer ones where it is next to nothing."
        )
    object.__setattr__(law, name, Fraction(asked))

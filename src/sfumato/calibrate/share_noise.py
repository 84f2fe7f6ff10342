"""ShareNoise: how far noise in counts by band moves D, the number below the end of a band less a share of all.

With j bands below the end, each of their counts weighs 1 − p in D and each of the others −p. Where p = r / q, D moves
in lattice steps of 1 / q, and its noise is (q − r) A − r B of them, A the sum of j draws and B of the others. Where a
release lists the law of a draw, that of D is its convolution, and a reach is the least number of lattice steps that
noise exceeds no more often than is asked for; else it is that of a normal or Laplace law with its variance, and half a
lattice step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.release import Independent
from sfumato.release.noisy import Floats
from sfumato.release.tails import LAPLACE, reach

LONGEST = 2**20
"""The longest law of D that is laid out; a share of many digits has a longer one."""
ERRORS = 14
"""How many standard errors of D are laid out; beyond lies less than `LEAST_CHANCE`, also of sums of Laplace laws."""
LEAST_CHANCE = 1e-11
"""The least chance that is told from none in a law that was convolved with floats."""


@dataclass(frozen=True)
class ShareNoise:
    """Noise of one law in each of some counts by band, as it moves a share of them."""

    noise: Independent
    share: Fraction
    bands: int

    def reaches(self, misses: Sequence[float]) -> Floats:
        """How far D is moved with each of these chances, half of them to either side: a row each, a column an end.

        >>> coin = Independent(0.5, -1.0, probabilities=(0.5, 0.25))      # one count: −1, 0, 0 or 1
        >>> ShareNoise(coin, Fraction(1, 2), 1).reaches([0.6, 0.4]).tolist()
        [[0.0, 0.0], [0.5, 0.5]]
        """
        if self._lattice_steps > LONGEST or not self.noise.probabilities or self.noise.apart != 1:
            deviates = [reach(1 - miss, self.excess) for miss in misses]
            slack = 1 / (2 * self.share.denominator) if self.noise.variance else 0.0
            return np.outer(deviates, self._errors) + slack
        return np.stack([self._exact(below, misses) for below in range(self.bands + 1)], axis=1)

    @property
    def excess(self) -> float:
        """The largest excess kurtosis that D has at any end, of Laplace noise."""
        second, fourth = (self._weighed(power) for power in (2, 4))
        return LAPLACE * float((fourth / second**2).max())

    @property
    def _errors(self) -> Floats:
        return np.sqrt(self.noise.variance * self._weighed(2))

    def _weighed(self, power: int) -> Floats:
        """The sum of a power of what counts weigh in D, at every end."""
        below, p = np.arange(self.bands + 1), float(self.share)
        return np.asarray(below * (1 - p) ** power + (self.bands - below) * p**power, dtype=np.float64)

    @property
    def _lattice_steps(self) -> int:
        """The length of a law of D, so long that it does not reach around its ends."""
        wide = ERRORS * float(self._errors.max()) + len(self.noise.probabilities)
        return 1 << (2 * int(np.ceil(wide * self.share.denominator)) + 1).bit_length()

    def _exact(self, below: int, misses: Sequence[float]) -> Floats:
        """How far D is moved at one end; the law of its noise is symmetric, so one side tells both."""
        r, q, length = self.share.numerator, self.share.denominator, self._lattice_steps
        law = np.fft.irfft(self._turned(q - r) ** below * self._turned(r) ** (self.bands - below), length)
        upward = np.maximum(law[: length // 2], 0.0)
        beyond = np.cumsum(upward[::-1])[::-1] - upward  # the chance of more than 0, 1, 2, … lattice steps
        found = [int(np.argmax(beyond <= max(miss, LEAST_CHANCE) / 2 + LEAST_CHANCE / 4)) for miss in misses]
        return np.array(found, dtype=np.float64) / q

    def _turned(self, weight: int) -> Floats:
        """The Fourier transform of the law of one draw times a weight."""
        half, laid = np.array(self.noise.probabilities), np.zeros(self._lattice_steps)
        places = weight * np.arange(len(half))
        inside = places < len(laid) // 2
        laid[places[inside]] += half[inside]
        laid[-places[1:][inside[1:]]] += half[1:][inside[1:]]
        return np.asarray(np.fft.rfft(laid).real, dtype=np.float64)

"""Replicates: values to take along, each with other draws of the noise that it holds.

The noise of calibrated rows is joint: a total of many rows has far less of it than the rows would if each stood alone.
So beside each value stand replicates, as survey files have them: the value with another draw of all the noise that it
holds. The error of any total is the root mean square of its replicates about it. They are drawn from public numbers,
the same for the same release, and tell nothing that the release does not.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import QueryError
from sfumato.query.columns import in_units
from sfumato.release import Product
from sfumato.release.noisy import Floats
from sfumato.release.uncertainties.joint_cells import Fit

CHUNK = 2**18
"""How many rows are drawn, and written, at a time."""


@dataclass(frozen=True, eq=False)
class ValueColumn:
    """The values of one product in its unit, the variance that each row has alone, and its replicates."""

    product: Product
    replicates: int
    seed: str

    @property
    def name(self) -> str:
        return self.product.subject.name

    def between(self, start: int, stop: int) -> dict[str, NDArray[Any]]:
        """The columns of some rows."""
        step = self.product.subject.step
        found: dict[str, NDArray[Any]] = {self.name: in_units(self.product.values[start:stop], step)}
        found[f"{self.name}_variance"] = self.variances(start, stop) * float(step) ** 2
        for place in range(self.replicates):
            moved = self._noise(place, start, stop) * float(step)
            found[f"{self.name}_r{place + 1}"] = found[self.name] + moved
        return found

    def variances(self, start: int, stop: int) -> Floats:
        """The variance that each row was measured with, in squared steps, before it was moved to totals."""
        found = self.product.uncertainty.alone(self.product.values, slice(start, stop))
        if found is None:
            raise QueryError(f"'{self.name}' holds noise of a kind that cannot be replicated.")
        return found

    def _drawn(self, place: int, start: int, stop: int) -> Floats:
        """The noise of some rows as measured; rows are drawn in chunks of their own, so the same at every call."""
        found = []
        for chunk in range(start // CHUNK, -(-stop // CHUNK)):
            low, high = max(start, chunk * CHUNK), min(stop, (chunk + 1) * CHUNK)
            draws = self._generator(place, chunk).standard_normal(high - chunk * CHUNK)
            found.append(draws[low - chunk * CHUNK :])
        return np.concatenate(found) * np.sqrt(np.maximum(self.variances(start, stop), 0.0))

    def _generator(self, place: int, chunk: int) -> np.random.Generator:
        words = [int(self.seed[:16], 16), sum(self.name.encode()), len(self.name), place, chunk]
        return np.random.default_rng(words)

    def _noise(self, place: int, start: int, stop: int) -> Floats:
        own = self._drawn(place, start, stop)
        if self._fit is None:
            return own
        return own + self.variances(start, stop) * self._pulls[place][self._fit.joined.place[start:stop]]

    @cached_property
    def _fit(self) -> Fit | None:
        """The equations by which the rows were moved to totals, if they were."""
        return self.product.uncertainty.fit(self.product.domain)

    @cached_property
    def _pulls(self) -> list[Floats]:
        """For each replicate how far each joint cell is moved, a unit of variance."""
        return [self._pull(self._fit, place) for place in range(self.replicates)] if self._fit else []

    def _pull(self, fit: Fit, place: int) -> Floats:
        """Least squares on the gaps that newly drawn controls have to newly drawn rows."""
        joined, size, sums = fit.joined, self.product.domain.size, np.zeros(fit.joined.cells)
        for start in range(0, size, CHUNK):
            stop = min(start + CHUNK, size)
            sums += np.bincount(joined.place[start:stop], self._drawn(place, start, stop), joined.cells)
        drawn = self._generator(place, -1 & 0xFFFFFFFF).standard_normal(joined.size) * np.sqrt(fit.drawn)
        return fit.pulls(drawn - joined.of(sums))

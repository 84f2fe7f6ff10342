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
from sfumato.release import Records, Squared
from sfumato.release.adjusted import Adjusted, Joined, System
from sfumato.release.products import Floats

CHUNK = 2**18
"""How many rows are drawn, and written, at a time."""


@dataclass(frozen=True, eq=False)
class ValueColumn:
    """The values of one product in its unit, the variance that each row has alone, and its replicates."""

    product: Records
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
        spread = self.product.spread
        if isinstance(spread, Adjusted):
            return np.asarray(spread.measured.trend.at(spread.sizes[start:stop].astype(float), np.zeros(stop - start)))
        if isinstance(spread, Squared):
            return np.asarray(spread.trend.at(self.product.values[start:stop].astype(float), np.zeros(stop - start)))
        raise QueryError(f"'{self.name}' holds noise of a kind that cannot be replicated.")

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
        if not isinstance(self.product.spread, Adjusted):
            return own
        return own + self.variances(start, stop) * self._pulls[place][self._joined.place[start:stop]]

    @cached_property
    def _joined(self) -> Joined:
        spread, frame = self.product.spread, self.product.frame
        assert isinstance(spread, Adjusted)  # noqa: S101 - asked of adjusted rows alone
        groupings = [frame.grouped(one.by) for one in spread.controls]
        roots = np.sqrt(spread.sizes)
        expected = [
            one.expected(grouping, spread.sizes, roots)
            for one, grouping in zip(spread.controls, groupings, strict=True)
        ]
        return Joined.of(groupings, expected)

    @cached_property
    def _pulls(self) -> list[Floats]:
        """For each replicate how far each joint cell is moved, a unit of variance."""
        joined, size = self._joined, self.product.frame.size
        chunks = [(start, min(start + CHUNK, size)) for start in range(0, size, CHUNK)]
        weight = np.zeros(joined.size)
        for start, stop in chunks:
            weight += np.bincount(joined.place[start:stop], self.variances(start, stop), joined.size)
        system, found = System(joined, weight), []
        for place in range(self.replicates):
            sums = np.zeros(joined.size)
            for start, stop in chunks:
                sums += np.bincount(joined.place[start:stop], self._drawn(place, start, stop), joined.size)
            found.append(self._pull(system, place, sums))
        return found

    def _pull(self, system: System, place: int, sums: Floats) -> Floats:
        """Least squares on the gaps that newly drawn controls have to newly drawn rows."""
        spread, joined = self.product.spread, system.joined
        assert isinstance(spread, Adjusted)  # noqa: S101 - as above
        drawn = [
            noise if one.variances is None else one.variances
            for one, noise in zip(spread.controls, joined.noise, strict=True)
        ]
        generator = self._generator(place, -1 & 0xFFFFFFFF)
        noise = [generator.standard_normal(len(one)) * np.sqrt(one) for one in drawn]
        gaps = [one - np.bincount(up, sums, len(one)) for one, up in zip(noise, joined.ups, strict=True)]
        finest = np.zeros(joined.size) if joined.finest is None else gaps[joined.finest][joined.ups[joined.finest]]
        rest = [gaps[one] for one in joined.rest]
        return system.pull(finest, np.concatenate(rest) if rest else np.zeros(0))[2]

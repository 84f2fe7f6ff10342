"""Non-negative: a noisy table in which no cell is below 0, for readers who want none; its totals are biased.

No rule that looks at noisy cells alone can leave all of them at 0 or more and every total unbiased: where truly nobody
is, the noise would have to be 0. So each such step says what it costs, beside its numbers, and how far every cell
was moved stands in the file: less that, it is the signed table again. Whoever wants unbiased totals keeps the signed
table, which is what a plan without such a step publishes.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.calibrate.step import Step, finer_by, laid_out
from sfumato.release import Cube, Product, Shifted
from sfumato.release.figures import number
from sfumato.release.noisy import Floats, Integers
from sfumato.schema import Box, Table


@dataclass(frozen=True)
class Raised:
    """A table that was made non-negative, in the steps of the noisy one, and a sentence on how."""

    cells: Integers | Floats
    how: str


class NonNegative(Step):
    """Reads one table of what is never truly below 0 and makes one without cells below 0."""

    @abstractmethod
    def adjusted(self, cells: Integers, table: Table) -> Raised:
        """The cells at 0 or more; impossible ones are 0 before and after."""

    @property
    @abstractmethod
    def bias(self) -> str:
        """What it does to totals."""

    def refuse_unfit(self, table: Table, controls: Sequence[Table]) -> None:
        self.refuse_listed(table, *controls)

    def apply(self, products: Mapping[str, Product]) -> Cube:
        signed, table = laid_out(products[self.table], self)
        before = signed.values.astype(np.int64)
        made = self.adjusted(before, table)
        return moved_cube(self, signed, made.cells, f"{made.how} {self._told(signed, made)} {self.bias}")

    def _told(self, signed: Product, made: Raised) -> str:
        """How many cells were below 0, and what the whole was raised by: arithmetic on published numbers."""
        raised = round(float(made.cells.sum() - signed.values.sum()) * float(signed.subject.step), 6)
        below, unit = int((signed.values < 0).sum()), signed.subject.unit
        return (
            f"{below:,} of {signed.domain.count(Box()):,} cells {'was' if below == 1 else 'were'} below 0; the total "
            f"of all is {number(raised)} {unit} above that of '{self.table}', which is unbiased; errors count that."
        )


def moved_cube(step: Step, signed: Product, cells: Integers | Floats, note: str) -> Cube:
    """Cells that were moved from noisy ones, with an error that counts how far; whole ones stay in the same steps."""
    table = signed.domain
    assert isinstance(table, Table)  # noqa: S101 - laid out
    finer = 0 if np.issubdtype(cells.dtype, np.integer) else finer_by(np.asarray(cells, dtype=np.float64))
    values = np.rint(cells * 2.0**finer).astype(np.int64) if finer else np.asarray(cells, dtype=np.int64)
    shift = values - signed.values.astype(np.float64) * 2.0**finer
    notes = " ".join(one for one in (signed.subject.note, note) if one)
    subject = replace(signed.subject, name=step.name, step=signed.subject.step / 2**finer, note=notes)
    return Cube(subject, table, values, Shifted(signed.uncertainty.in_steps(2.0**finer), shift))

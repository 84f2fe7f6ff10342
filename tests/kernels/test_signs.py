"""The compiled sums of signed cells are those of plain numpy, and both are those of a plain loop."""

import numpy as np
import pytest

from sfumato.kernels import signs

compiled = pytest.importorskip("sfumato.kernels.signs_compiled")


@pytest.mark.parametrize("loops", [signs, compiled], ids=["plain", "compiled"])
def test_groups_sum_to_what_a_plain_loop_finds(loops):
    rng = np.random.default_rng(1)
    noise, true, ends = rng.integers(-4, 5, 50), rng.integers(0, 3, 50), np.array([7, 8, 50])
    cells = noise + true
    found = loops.summed(noise.copy(), true, ends)
    for group, some in enumerate(np.split(cells, ends[:-1])):
        below = [one for one in some if one < 0]
        assert found.signed[group] == some.sum()
        assert found.below[group] == sum(below)
        assert found.negative[group] == len(below)
        assert found.weighted[group] == pytest.approx(some.sum(), abs=1e-9)

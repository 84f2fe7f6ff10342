"""The compiled loops give what plain numpy gives, value for value."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.kernels import scatter

compiled = pytest.importorskip("sfumato.kernels.scatter_compiled")
FEW = settings(max_examples=30, deadline=None)


@given(st.lists(st.integers(-3, 12), max_size=40), st.integers(-3, 3), st.sampled_from([np.int16, np.int64]))
@FEW
def test_values_are_looked_up_alike_and_what_lacks_a_meaning_is_told(values, low, kind):
    table = np.array([4, 0, 255, 3, 2, 1, 0, 7], dtype=np.uint8)
    given_values = np.array(values, dtype=kind)
    places = given_values.astype(int) - low
    sound = all(0 <= place < len(table) and table[place] != 255 for place in places)
    for loops in (scatter, compiled):
        out = np.zeros(len(values), dtype=np.uint8)
        assert loops.look(given_values, low, table, 255, out) == sound
        assert not sound or out.tolist() == [table[place] for place in places]


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(-(2**60), 2**60)), max_size=7), st.booleans()
)
@FEW
def test_rows_and_values_are_scattered_as_a_plain_loop_does(rows, wide):
    size = 15 if not wide else 15_000  # more cells than rows, or fewer
    first, second, values = (np.array([row[place] for row in rows], dtype=np.int64) for place in range(3))
    expected, sums = [0] * size, [0] * size
    for one, other, value in rows:
        expected[one * 3 + other] += 1
        sums[one * 3 + other] += value
    for loops in (scatter, compiled):
        keys = first.astype(np.int32)
        loops.extend(keys, 3, second.astype(np.uint8))
        counts, totals = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        loops.count(counts, keys)
        loops.total(totals, keys, values)
        assert (counts.tolist(), totals.tolist()) == (expected, sums)

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


@given(st.lists(st.integers(-40, 60), max_size=30), st.sampled_from([(-3, 7), (0, 50), (-40, 60)]), st.integers(-5, 90))
@FEW
def test_values_in_a_range_are_shifted_alike_and_others_are_told(values, ends, by):
    low, high = ends
    sound = all(low <= value <= high for value in values)
    for loops in (scatter, compiled):
        for kind, to in ((np.int8, np.int64), (np.int64, np.int16), (np.uint64, np.int64)):
            if kind == np.uint64 and min(values, default=0) < 0:
                continue
            out = np.zeros(len(values), dtype=to)
            assert loops.shift(np.array(values, dtype=kind), low, high, by, out) == sound
            assert not sound or out.tolist() == [value + by for value in values]


@given(st.lists(st.lists(st.integers(0, 4 * compiled.BUCKET - 8), max_size=40), min_size=1, max_size=4))
@FEW
def test_parted_keys_are_counted_as_a_plain_loop_does(batches):
    size = 4 * compiled.BUCKET - 7  # the last bucket is not a whole one
    expected = np.zeros(size, dtype=int)
    for key in (key for batch in batches for key in batch):
        expected[key] += 1
    starts = np.cumsum([0, *(len(batch) + 2 for batch in batches)])  # batches may be shorter than their room
    low, ends = np.zeros(starts[-1], dtype=np.uint16), np.zeros((len(batches), 5), dtype=np.int32)
    for place, batch in enumerate(batches):
        compiled.part(np.array(batch, dtype=np.int32), ends[place], low[starts[place] : starts[place + 1]])
        sizes = np.bincount(np.array(batch, dtype=int) // compiled.BUCKET, minlength=4)
        assert ends[place].tolist() == [0, *np.cumsum(sizes)]
    cells = np.zeros(size, dtype=np.int64)
    compiled.fill(cells, starts, ends, low)
    assert (cells == expected).all()


@given(st.lists(st.integers(0, 2**47 - 1) | st.integers(0, 3) | st.integers(250, 260), max_size=60), st.booleans())
@FEW
def test_keys_are_ordered_with_what_stands_beside_them_and_told_run_by_run(keys, beside):
    bits = max(keys, default=1).bit_length() or 1
    expected = sorted(range(len(keys)), key=lambda place: keys[place])
    counted = {key: keys.count(key) for key in sorted(keys)}
    for loops in (scatter, compiled):
        places = np.arange(len(keys) if beside else 0, dtype=np.uint32)
        kind = np.int32 if bits < 32 else np.int64
        ordered, order = loops.ordered(np.array(keys, dtype=kind), places, bits)
        assert ordered.dtype == kind
        assert ordered.tolist() == sorted(keys)
        assert order.tolist() == (expected if beside else [])
        different, first, rows = loops.runs(ordered)
        assert dict(zip(different.tolist(), rows.tolist(), strict=True)) == counted
        assert ordered[first].tolist() == different.tolist() == sorted(counted)
        assert first.tolist() == [sorted(keys).index(key) for key in different.tolist()]

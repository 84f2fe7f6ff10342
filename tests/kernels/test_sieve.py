"""The compiled loops hash and count as plain numpy does, value for value."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.kernels import sieve

compiled = pytest.importorskip("sfumato.kernels.sieve_compiled")
FEW = settings(max_examples=30, deadline=None)


@given(st.lists(st.text(alphabet="aB7é ", max_size=20), max_size=12), st.integers(0, 2**64 - 1), st.integers(0, 3))
@FEW
def test_texts_are_hashed_alike_wherever_they_stand_and_apart_where_they_differ(texts, seed, before):
    array = pa.array(["x" * before, *texts])[1:]
    offsets = np.frombuffer(array.buffers()[1], dtype=np.int32)[1 : len(texts) + 2].astype(np.int64)
    letters = np.frombuffer(array.buffers()[2] or b"", dtype=np.uint8)
    hashes = []
    for loops in (sieve, compiled):
        found = np.full(len(texts), seed, dtype=np.uint64)
        loops.hash_texts(found, offsets, letters)
        hashes.append(found.tolist())
    assert hashes[0] == hashes[1]
    assert len(set(hashes[0])) == len(set(texts)), "64 bits: two of some texts share one once in 10^17 times"


@given(st.lists(st.integers(0, 2**64 - 1), max_size=60), st.integers(1, 6), st.integers(0, 3))
@FEW
def test_buckets_count_up_to_the_full_one_and_what_is_beyond_is_told(hashes, full, times):
    expected = [0] * 8
    for one in hashes * times:
        expected[one % 8] += 1
    for loops in (sieve, compiled):
        buckets, beyond = np.zeros(8, dtype=np.uint8), 0
        for _ in range(times):
            beyond += loops.count(buckets, np.array(hashes, dtype=np.uint64), full)
        assert buckets.tolist() == [min(one, full) for one in expected]
        assert beyond == sum(max(0, one - full) for one in expected)

"""Whole numbers that share one of 64 bits for the way to their unit come out of it as they went in."""

import re

from hypothesis import given
from hypothesis import strategies as st

from sfumato.confidential.engines.cluster.packed import ROOM, Packed


def computed(term, row):
    """A term of Spark's SQL over whole numbers, none of them below 0 where it is divided."""
    return eval(re.sub(r"(?<=\d)L\b", "", term).replace(" div ", " // "), {}, row)


@given(st.lists(st.tuples(st.integers(-(2**40), 2**40), st.integers(1, 2**50), st.floats(0, 1)), max_size=9))
def test_columns_come_out_of_their_numbers_as_they_went_in(given_columns):
    extents = {f"c{at}": (least, many) for at, (least, many, _) in enumerate(given_columns)}
    row = {f"c{at}": least + int(at_share * (many - 1)) for at, (least, many, at_share) in enumerate(given_columns)}
    packed = Packed(extents)
    numbers = {name: computed(term, row) for name, term in packed.numbers.items()}
    assert all(0 <= number < ROOM for number in numbers.values())
    assert {name: computed(term, numbers) for name, term in packed.columns.items()} == row
    assert list(packed.columns) == list(extents), "in the order in which they were told"

"""A number of a stranger's manifest is looked at before it is computed with."""

import pytest

from sfumato.errors import ReleaseError
from sfumato.release.figures import exactly


@pytest.mark.parametrize(
    "written", ["1e999999999", "9" * 81, "1/0", "1/00", "nan", "inf", "", "1_000", " 1", 1, None, "١"]
)
def test_a_number_that_would_take_for_ever_or_is_none_is_refused(written):
    with pytest.raises(ReleaseError, match="as a number"):
        exactly(written)


@pytest.mark.parametrize(
    ("written", "value"), [("1", 1), ("-3", -3), ("0.25", 0.25), ("1/131072", 2**-17), ("25e-2", 0.25)]
)
def test_an_exact_number_is_read_as_it_is(written, value):
    assert exactly(written) == value

"""One rule of spelling: words that are compared one by one are spelled as columns of names are."""

import pyarrow as pa
import pytest

from sfumato.schema.spelling import read_alike, spelled

ODD = ["A\r", "\u200bA\t", "Ａ", "all  jobs", "all\u3000jobs", "\u2003 all\vjobs\x85", "all\u034fjobs",
       "a\u2800b", "\ufeffx",
       "x\U000e0041", " 007.50", "7.5", "+7.0", "-0", "1e+05", ".5", "1_000", "ﬁrms", "é", "e\u0301", "\u1160 x",
       "\u3164", "", " ", "5E1234567", "٣", "a\x1cb", "½"]  # fmt: skip


@pytest.mark.parametrize("words", ODD, ids=ascii)
def test_words_are_spelled_as_columns_are(words):
    assert read_alike(words) == spelled(pa.array([words]))[0].as_py().casefold()


def test_words_that_differ_are_not_alike():
    assert len({read_alike(one) for one in ("jobs", "job s", "jobs 2", "j0bs")}) == 4

"""The study of margins: what is promised and what is held, by laws that scipy has too."""

import numpy as np
import pytest
from scipy.stats import norm
from tests.commands import sfumato

from sfumato.studies import STUDIES
from sfumato.studies.calibrated_coverage import calibrated, covered
from sfumato.studies.coverage import rooted


def test_it_names_promised_and_held_levels_and_every_kind_of_rows(monkeypatch):
    from sfumato.studies import coverage

    monkeypatch.setattr(coverage, "LAWS", {})
    said = sfumato("reproduce", "coverage", "--runs", "100")
    head = next(line for line in said.splitlines() if "promised" in line)
    assert head.split() == ["promised", "held"]
    assert "published" not in said
    for words in (
        "1 row of size",
        "2 rows of size",
        "rows of unequal sizes",
        "wages of 1 row",
        "wages of 10 rows",
        "calibrated rows of size",
    ):
        assert words in said
    assert "1 rows" not in said
    assert STUDIES["ors-table-2"].heads == ("published", "ours")


@pytest.mark.parametrize(("size", "width"), [(100.0, 1.0), (400.0, 2.0), (90_000.0, 50 / 0.7)])
def test_one_row_far_from_0_is_held_as_often_as_a_normal_root_is(size, width):
    """|s − √x| <= zσ has the level itself as its chance where √x is many errors from 0; 40,000 runs, five errors."""
    assert abs(rooted((size,), width, 0.95, 40_000) - (1 - 2 * norm.sf(1.959964))) < 5 * np.sqrt(0.95 * 0.05 / 40_000)


def test_unequal_rows_are_held_by_their_sum():
    """The law of a sum of rows hangs on their number and total alone, so unequal rows are held as equal ones are."""
    unequal, equal = (rooted(sizes, 1.0, 0.95, 40_000) for sizes in ((1, 9, 90), (100 / 3,) * 3))
    assert abs(unequal - equal) < 5 * np.sqrt(2 * 0.95 * 0.05 / 40_000)


def test_calibrated_rows_and_their_totals_are_held():
    """1,000 groups: five errors of a share of 0.95 are 3.4 points."""
    sizes = (2, 5, 30)
    product = calibrated(sizes, 1_000)
    truth = np.tile(np.array(sizes, dtype=float), 1_000)
    for held in covered(product, ("group", "row"), truth, 0.95).mean(axis=0):
        assert held > 0.95 - 0.034
    assert covered(product, ("group",), np.full(1_000, 37.0), 0.95).mean() > 0.95 - 0.034
    far = covered(product, ("group", "row"), truth + 60, 0.95).mean()
    assert far < 0.5, "what is not the truth is not held"

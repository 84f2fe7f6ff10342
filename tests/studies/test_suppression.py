"""The slides of suppression, worked out, and what it takes of a synthetic census."""

import pytest

from sfumato.studies import STUDIES, suppression


def test_the_slides_are_worked_out():
    told = {line.what: line for line in suppression.slides()}
    ours = [line.ours for line in told.values()]
    # Seed 001: the value that cannot be removed alone, both of the row, and the intervals of the Swiss cheese.
    assert ours[:3] == ["22", "22, 23", "[9, 37], [8, 36], [0, 28], [0, 28]"]
    assert ours[3:6] == ["the same publication", "told apart", "told apart"]
    remarks = [line.remark for line in told.values()][-2:]
    assert remarks == ["passes the audit; the sensitive cell alone fails it"] * 2
    assert "suppression-slides" in STUDIES


def test_noise_leaves_both_tables_possible():
    line = next(line for line in suppression.slides() if "noisy" in line.what)
    # By hand: of D six steps of 0, four of 1 and two of 2; of D* one 0 has become 4.
    zero, one, two, four = 0.382925, 0.241730, 0.060598, 0.000229
    under = [zero**6 * one**4 * two**2, zero**5 * one**4 * two**2 * four]
    assert [float(chance) for chance in line.ours.split(" and ")] == pytest.approx(under, rel=0.15)


@pytest.mark.slow
def test_suppression_takes_more_than_it_must_of_a_synthetic_census():
    sensitive, missing = suppression.census(6_000)
    assert float(missing.ours.rstrip("%")) > float(sensitive.ours.rstrip("%")) > 45

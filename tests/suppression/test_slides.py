"""What the slides of seed 001 show of suppression, worked out by linear programs."""

import numpy as np
import pytest
from tests.suppression.conftest import Slide

from sfumato.errors import DataError
from sfumato.suppression import Published, audit


def intervals(slide, *holes):
    found = audit(Published.of(slide.linked, slide.without(*holes)))
    return [found.interval(slide.cell(*hole)) for hole in holes], found


def test_one_cell_cannot_be_removed_alone(slide):
    told, found = intervals(slide, ("1", "Q2"))
    assert told == [(22, 22)]
    assert [one.kind for one in found.disclosures] == ["exact"]


def test_two_cells_of_one_row_are_still_known_exactly(slide):
    told, found = intervals(slide, ("1", "Q2"), ("1", "Q3"))
    assert told == [(22, 22), (23, 23)]
    assert not found.safe


def test_swiss_cheese_leaves_the_intervals_of_the_slides(slide):
    told, found = intervals(slide, ("1", "Q2"), ("1", "Q3"), ("3", "Q2"), ("3", "Q3"))
    assert told == [(9, 37), (8, 36), (0, 28), (0, 28)]
    assert found.safe


def test_numbers_that_contradict_each_other_are_refused_and_not_taken_for_safe(slide):
    values = slide.without(("1", "Q2"), ("1", "Q3"))
    values[slide.cell("2", "Q2")] += 1
    with pytest.raises(DataError, match="contradict"):
        audit(Published.of(slide.linked, values))


def test_numbers_rounded_apart_may_be_audited_as_such(slide):
    values = slide.without(("1", "Q2"), ("1", "Q3"))
    values[slide.cell("2", "Q2")] += 1
    assert audit(Published.of(slide.linked, values, rounding=0.5)).high[slide.cell("1", "Q2")] >= 22


EARLY = (("1", "Q1"), ("1", "Q2"), ("2", "Q1"), ("2", "Q2"))
LATE = (("2", "Q2"), ("2", "Q3"), ("3", "Q2"), ("3", "Q3"))
"""The same year told twice, as before and after a revision that changes no number; both hide (2, Q2)."""


def test_two_publications_that_are_safe_alone_may_tell_a_cell_together(slide):
    early, late = (Published.of(slide.linked, slide.without(*holes)) for holes in (EARLY, LATE))
    assert audit(early).safe
    assert audit(late).safe
    for both in (early.again(late), late.again(early)):
        found = audit(both)
        assert [one.cell for one in found.disclosures] == [slide.cell("2", "Q2")]
        assert found.interval(slide.cell("2", "Q2")) == (17, 17)


def test_a_publication_that_hides_the_same_cells_again_tells_nothing_new(slide):
    early = Published.of(slide.linked, slide.without(*EARLY))
    found, alone = audit(early.again(early)), audit(early)
    assert found.safe
    assert [found.interval(slide.cell(*hole)) for hole in EARLY] == [
        alone.interval(slide.cell(*hole)) for hole in EARLY
    ]


def test_bounds_that_either_publication_tells_are_told(slide):
    early = Published.of(slide.linked, slide.without(*EARLY))
    cell, low = slide.cell("1", "Q1"), np.zeros(slide.linked.size)
    low[cell] = 20
    assert audit(early).interval(cell) == (5, 38)  # (2, Q2) is 5 less, and 38 are in its column
    assert audit(early.again(early.within(low, np.full(slide.linked.size, np.inf)))).interval(cell) == (20, 38)


def test_publications_of_other_cells_are_not_laid_on_each_other(slide):
    with pytest.raises(DataError, match="as many"):
        Published.of(slide.linked, slide.values).again(
            Published.of((other := Slide(annual=False)).linked, other.values)
        )


def test_what_an_audit_prints_holds_no_number_of_a_cell(slide):
    _, found = intervals(slide, ("1", "Q2"))
    assert repr(found) == "<SuppressionAudit of 1 suppressed cells: 1 findings; confidential>"

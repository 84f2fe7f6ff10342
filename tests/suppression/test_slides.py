"""What the slides of seed 001 show of suppression, worked out by linear programs."""

import pytest

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


def test_what_an_audit_prints_holds_no_number_of_a_cell(slide):
    _, found = intervals(slide, ("1", "Q2"))
    assert repr(found) == "<SuppressionAudit of 1 suppressed cells: 1 findings; confidential>"

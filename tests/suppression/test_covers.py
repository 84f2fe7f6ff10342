"""Covers of cuts: every choice of whole cells that meets a cut meets its covers, and choices of parts need not."""

from itertools import product

import numpy as np
import pytest

from sfumato.confidential.suppress.covers import cover
from sfumato.confidential.suppress.cuts import Cut


def whole_choices(count):
    return [np.array(one, dtype=float) for one in product((0, 1), repeat=count)]


def test_one_cover_by_hand():
    """Of three cells that give 0.6 each one is not enough, so two are asked for, where 5 / 9 of each would meet it."""
    cut, chosen = Cut(np.arange(3), np.full(3, 0.6)), np.full(3, 5 / 9)
    assert cut.short(chosen) == pytest.approx(0)
    found = cover(cut, chosen)
    assert found is not None
    assert (found.cells.tolist(), found.weights.tolist()) == ([0, 1, 2], [0.5, 0.5, 0.5])


def test_a_cell_taken_for_given_leaves_what_the_others_owe():
    """With all of the cell that gives 0.9 the others owe 0.1, and each gives that; a fifth of one is too little."""
    found = cover(Cut(np.arange(3), np.array([0.9, 0.5, 0.5])), np.array([1.0, 0.2, 0.0]))
    assert found is not None
    assert (sorted(found.cells.tolist()), found.weights.tolist()) == ([1, 2], [1.0, 1.0])


@pytest.mark.parametrize("seed", range(30))
def test_no_whole_choice_that_meets_a_cut_fails_its_cover(seed):
    """Weights on either side of a half and a third, and of 1, where rounding up could go wrong."""
    rng, count = np.random.default_rng(seed), 9
    near = np.array([1, 1 / 2, 1 / 3, 2 / 3, 1 / 4, 1 - 1e-7, 1 / 2 + 1e-9, 0.05])
    weights = np.where(rng.random(count) < 0.6, rng.choice(near, count), rng.uniform(0.01, 1, count))
    cut, found = Cut(np.arange(count), weights), 0
    for _ in range(20):
        chosen = rng.uniform(0, 1, count) * (rng.random(count) < 0.7)
        one = cover(cut, chosen)
        if one is not None:
            found += 1
            assert one.short(chosen) > 0.02
            assert all(one.short(whole) <= 1e-9 for whole in whole_choices(count) if cut.short(whole) <= 0)
    assert found


def test_a_cover_that_asked_for_one_cell_more_would_be_told():
    cut, more = Cut(np.arange(3), np.full(3, 0.6)), Cut(np.arange(3), np.full(3, 1 / 3))
    assert any(more.short(whole) > 1e-9 for whole in whole_choices(3) if cut.short(whole) <= 0)

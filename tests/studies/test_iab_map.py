"""Maps of a share by cluster: what is drawn is what cells say; records without weights are pulled to a third."""

import math

import numpy as np
import pytest

from sfumato.geography.partition import microaggregated
from sfumato.studies import STUDIES
from sfumato.studies.iab_map import SIZES, VARIANCE, MappedShares, made, shares

ROWS = 6_000


def silent(stage):
    """Nobody is told how far it is."""


@pytest.fixture(scope="module")
def people():
    return made(ROWS)


def test_shares_are_those_of_the_cells_by_hand():
    # Three areas of one cell by wage: low, medium, high.
    true = np.array([[1, 2, 1], [0, 0, 0], [30, 60, 10]])
    noisy = np.array([[-1, 2, 1], [2, -3, -5], [28, 66, 6]])
    found = MappedShares(50, None, true, noisy)
    assert found.original[[0, 2]].tolist() == [0.25, 0.1]
    assert np.isnan(found.original[1])
    assert found.unweighted.tolist() == [1 / 4, 1 / 4, 0.06]  # a cell below 0 is one record
    assert np.isnan(found.weighted).tolist() == [
        True,
        True,
        False,
    ]  # 2 and -6 are within 1.96 · sqrt(3 · 7.835) = 9.5 of 0
    assert found.weighted[2] == 0.06
    assert pytest.approx(7.835, abs=5e-4) == VARIANCE


def test_weights_keep_the_city_right_and_records_without_them_do_not(people):
    locations, cell = people
    one = shares(50, microaggregated(locations, 50), cell, seed=1)
    assert one.true.sum() == (cell >= 0).sum()
    high, whole = one.true[..., 2].sum(), one.true.sum()
    # Signed totals lie within six standard errors of the true ones (false alarm 2e-9 each, before the seed was fixed).
    cells = one.true[..., 2].size
    assert abs(one.noisy[..., 2].sum() - high) < 6 * math.sqrt(cells * VARIANCE)
    assert abs(one.noisy.sum() - whole) < 6 * math.sqrt(3 * cells * VARIANCE)
    # Of 60 cells most are empty, and become 2.9 records each on the average, whatever the wage: about a third are high.
    assert abs(np.nanmean(one.unweighted) - 1 / 3) < abs(np.nanmean(one.unweighted) - high / whole)


def test_larger_clusters_have_more_numbers_nearer_to_the_truth():
    found = STUDIES["iab-map"].lines(3, ROWS, silent)
    assert len(found) == 6 * len(SIZES)
    told = [float(line.ours.rstrip("%")) for line in found if line.what.endswith("share is a number")]
    near = [float(line.ours) for line in found if "without weights" in line.what and "correlation" in line.what]
    assert told == sorted(told)
    assert told[0] < told[-1]
    assert near == sorted(near)


def test_the_picture_has_eight_maps_of_every_area(people):
    picture = STUDIES["iab-map"].picture(1, ROWS, silent)
    areas = [len(microaggregated(people[0], k).codes) for k in SIZES]
    assert str(picture.svg).count("<polygon") == 2 * (areas[0] + sum(areas))
    assert len(picture.told) == 8
    assert picture.told[0].startswith(f"original data: {areas[0]}")

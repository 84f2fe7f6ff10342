"""The interactive approach beside the cube, against closed forms."""

import numpy as np

from sfumato.studies.interactive import bottom_up, disagreement, interactive, tables


def rms(way, epsilon, dimension, runs=12):
    pooled = [way(epsilon, seed)[names] for seed in range(runs) for names in tables(dimension)]
    return float(np.sqrt(np.mean(np.concatenate(pooled) ** 2)))


def variance(epsilon: float) -> float:
    a = np.exp(-epsilon)
    return 2 * a / (1 - a) ** 2


def test_the_cube_is_additive_and_fresh_noise_is_not():
    assert disagreement(bottom_up(1, 3)) == 0
    assert disagreement(interactive(1, 3)) > 100


def test_errors_are_their_closed_forms():
    """12 runs of 28 one-way cells, ten of them free in each: a standard error of about 7%, so 40% holds at 1e-7."""
    sizes = np.array([5, 4, 3, 3, 3, 2, 2, 2, 2, 2])
    cube = np.sqrt(np.sum(sizes * 17_280 / sizes) * variance(1) / sizes.sum())
    assert abs(rms(bottom_up, 1, 1) / cube - 1) < 0.4
    assert abs(rms(interactive, 1, 1) / np.sqrt(variance(1 / 55)) - 1) < 0.4


def test_fresh_noise_is_more_accurate_at_epsilon_1_and_less_at_epsilon_7():
    assert rms(interactive, 1, 1) < rms(bottom_up, 1, 1)
    assert rms(interactive, 7, 1) > rms(bottom_up, 7, 1)

"""Margins of tables without cells below 0 hold at the level that is printed, however few or many cells a total sums.

For totals it is a matter of containment, checked interval by interval: each holds the interval of the signed total,
whose law is known. For differences and percentages, whose margins follow from an inequality, it is simulated as well: a
mean over runs is held to its level less 6 standard errors, a false alarm in 1e9 a check; by the noise alone, the
negative arm, percentages fall 20 points below.
"""

from fractions import Fraction

import numpy as np
import pytest
from tests.calibrate.test_contract import engine, subject

import sfumato as sf
from sfumato.calibrate import (
    CalibrationWeights,
    Diverged,
    FourierNonnegative,
    NearestNonnegative,
    OneCarrier,
    SetToZero,
)
from sfumato.draws import TwoSidedGeometric
from sfumato.mechanisms.additive import stated_noise
from sfumato.release import Cube

SIZES = {"area": 40, "group": 5, "item": 12}
TABLE = sf.Table(tuple(sf.Attribute(name, sf.Levels.of(range(size))) for name, size in SIZES.items()))
TOTALS = [("area", "group", "item"), ("area", "item"), ("area", "group"), ("group", "item"), ("area",), ("group",), ()]
"""What totals are told by: of 1, 5, 12, 40, 60, 480 and 2,400 cells each."""
STEPS = {
    "set-to-zero": SetToZero("made", "cube"),
    "one-carrier": OneCarrier("made", "cube"),
    "nearest": NearestNonnegative("made", "cube"),
    "nearest in areas": NearestNonnegative("made", "cube", ("area",)),
    "nearest in areas, not whole": NearestNonnegative("made", "cube", ("area",), whole=False),
    "fourier of one": FourierNonnegative("made", "cube", 1),
    "fourier of two": FourierNonnegative("made", "cube", 2),
    "weights to margins": CalibrationWeights("made", "cube", margins=(("area",), ("group", "item"))),
}
WORLDS = {"empty": 0.0, "few": 0.3, "some": 1.0, "several": 3.0, "many": 10.0}


def drawn(rng, mean, rate=1):
    true, a = rng.poisson(mean, TABLE.shape), np.exp(-float(rate))
    noise = rng.geometric(1 - a, TABLE.shape) - rng.geometric(1 - a, TABLE.shape)
    return true, Cube(subject("cube"), TABLE, true + noise, stated_noise(TwoSidedGeometric(Fraction(rate))))


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("step", STEPS)
def test_the_interval_of_a_moved_total_holds_that_of_the_signed_one_and_the_number_itself(step, world):
    rng = np.random.default_rng(8)
    for rate in (1, Fraction(1, 2)):
        _, cube = drawn(rng, WORLDS[world], rate)
        made = STEPS[step].apply({"cube": cube})
        if isinstance(made, Diverged):
            assert step == "weights to margins", "only margins may have no weights from 0 on"
            continue
        signed = Cube(subject("made"), TABLE, cube.values, cube.uncertainty)
        for names in TOTALS:
            ours, theirs = (engine(one).table(list(names)).columns() for one in (made, signed))
            for level in (0.90, 0.95):
                (low, high), (least, most) = ours.ends(level), theirs.ends(level)
                assert (low <= least + 1e-6).all()
                assert (most <= high + 1e-6).all()
                assert ((low <= ours.estimate) & (ours.estimate <= high)).all()
                shift = np.abs(ours.estimate.astype(float) - theirs.estimate)
                assert np.allclose(ours.moe(level), theirs.moe(level) + shift, atol=1e-6)


def inside(step, mean, runs, seed):
    """For each run which part of the percentages, and of differences of areas, have the truth in their intervals."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(runs):
        true, cube = drawn(rng, mean)
        asked = engine(STEPS[step].apply({"cube": cube}))
        shares = asked.table("group", "item").shares("row").columns()
        truth = true.sum(axis=0) / true.sum(axis=(0, 2))[:, None]
        low, high = shares.ends(0.90)
        held = [(low <= truth.ravel()) & (truth.ravel() <= high)]
        sums = true.sum(axis=(1, 2))
        for one in range(0, 40, 2):
            apart = asked.compare({"area": str(one)}, {"area": str(one + 1)}).interval(0.90)
            held.append(np.array([apart[0] <= sums[one] - sums[one + 1] <= apart[1]]))
        found.append([held[0].mean(), np.concatenate(held[1:]).mean()])
    return np.array(found)


@pytest.mark.parametrize("step", ["set-to-zero", "one-carrier", "nearest", "fourier of one"])
def test_percentages_and_differences_of_moved_totals_hold_at_their_level(step):
    found = inside(step, 1.0, runs=25, seed=9)
    error = np.maximum(found.std(axis=0), 0.01) / np.sqrt(len(found))
    assert (found.mean(axis=0) > 0.90 - 6 * error).all()


def test_by_the_noise_alone_percentages_would_not_hold():
    """Of cells set to 1, by the law and the variance of the signed table."""
    rng, found = np.random.default_rng(10), []
    for _ in range(10):
        true, cube = drawn(rng, np.exp(np.linspace(-3, 1, 12)))
        made = STEPS["one-carrier"].apply({"cube": cube})
        for uncertainty in (cube.uncertainty, made.uncertainty):
            plain = Cube(made.subject, TABLE, made.values, uncertainty)
            low, high = engine(plain).table("group", "item").shares("row").columns().ends(0.90)
            truth = (true.sum(axis=0) / true.sum(axis=(0, 2))[:, None]).ravel()
            told = ~np.isnan(low)  # where the whole may be 0 there is no percentage
            found.append(((low <= truth) & (truth <= high))[told].mean() if told.any() else np.nan)
    assert np.nanmean(found[::2]) < 0.70
    assert np.nanmean(found[1::2]) > 0.90

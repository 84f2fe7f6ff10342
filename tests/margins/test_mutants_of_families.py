"""What is wrong in one way with the noise of a family of tables, or with how they are rounded, and who finds it out."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.margins.families import ONE_RECORD, cells_of, family, flat, random_family, records_of

from sfumato.confidential.contract import contract
from sfumato.confidential.contract.families import shifts, together
from sfumato.confidential.contract.law import attained, hockey_stick
from sfumato.draws import SeededDraws
from sfumato.mechanisms import EvenGaussian
from sfumato.mechanisms.contrasts import laws_of
from sfumato.mechanisms.margin_design import MarginDesign
from sfumato.privacy import Bounded, EveryTable
from sfumato.release import Noisy
from sfumato.release.whole_tables import agree, estimate, residuals_of, rounded_tables

SEEDS = range(12)


def _thin(self, siblings):
    """u = 1 − 1/m where 1 + 1/m is claimed."""
    return siblings * (siblings - 1) or 1


def _silent(self, laws, copies, draws, noise=EvenGaussian._noise):
    """The first contrast of several that have one law, redundant as it is, has no noise."""
    for where, drawn in noise(self, laws, copies, draws):
        drawn[:, : len(where) > 1] = 0
        yield where, drawn


def _of_tables(self, cells, draws, given=None):
    """Noise on the cells of every table, and contrasts of that, at the price of noise on contrasts."""
    variance = max(variance for _, variance in laws_of(self.design(cells.move)))
    noise = self.law(variance).draw(cells.values.size, draws).reshape(cells.values.shape)
    parts = self.grain(cells.move)
    values = self.clean(replace(cells, values=cells.values + noise))
    return Noisy(cells.domain, values * parts, cells.step / parts, cells.move)


def _wider(self, laws, copies, draws, noise=EvenGaussian._noise):
    """A standard deviation 4% too large."""
    return noise(EvenGaussian(self.mu / Fraction(104, 100)), ((w, v * Fraction(104, 100) ** 2) for w, v in laws), copies, draws)  # fmt: skip  # noqa: E501


def _shared(self, laws, copies, draws, noise=EvenGaussian._noise):
    """One draw for two components of as many contrasts."""
    last: dict[int, np.ndarray] = {}
    for where, drawn in noise(self, laws, copies, draws):
        yield where, last.get(len(where), drawn)
        last[len(where)] = drawn


@pytest.mark.parametrize(
    ("method", "mutant", "check"),
    [
        ("_noise", _silent, "every component has its noise"),
        ("_noise", _wider, "every component has its noise"),
        ("_noise", _shared, "every component has its noise"),
        ("perturb", _of_tables, "every component has its noise"),
        ("design", "lost", "no record is further"),
        ("wide", _thin, "no record is further"),
    ],
    ids=["redundant", "wide", "shared", "per table", "L left out", "thin"],
)
def test_mutants_of_the_noise_are_rejected(method, mutant, check, monkeypatch):
    one = family(flat(3, 3, 2), 2)
    move = EveryTable(Bounded(cells=3, l1=3, l2_squared=9, largest=3), one)
    if mutant == "lost":
        alone = EvenGaussian(1).design(EveryTable(ONE_RECORD, one))
        mutant = lambda self, move: alone  # noqa: E731
    monkeypatch.setattr(MarginDesign if method == "wide" else EvenGaussian, method, mutant)
    findings = contract(EvenGaussian(1), move, Fraction(1), SeededDraws(2))
    assert check in [finding.check for finding in findings if finding.wrong]


def _rounded_here(one, table, residuals):
    """A table rounded at all ends of its own parts, and not where each end is new."""
    found = estimate(one, table, residuals)
    told = [(tree, level) for tree, level in zip(one.trees, table, strict=True) if level]
    for axis, (tree, level) in enumerate(told):
        found = np.cumsum(found.take(tree.rungs[level].run, axis=axis), axis=axis)
    found = np.rint(found).astype(np.int64)
    for axis, (tree, level) in enumerate(told):
        found = np.diff(found, axis=axis, prepend=0).take(np.argsort(tree.rungs[level].run), axis=axis)
    return found


def test_a_point_that_is_rounded_in_two_tables_is_found_out():
    """Ties of an attribute of two levels are ties in one table, and just missed where sevenths are summed."""
    one = family(flat(3, 2, 7, 2, 5), 2)
    cells, caught = cells_of(one, records_of(one, 200, np.random.default_rng(1))), 0
    for seed in range(20):
        noisy = EvenGaussian(1).perturb(cells, SeededDraws(seed))
        residuals = dict(residuals_of(one, EvenGaussian(1).seen(noisy)))
        assert agree(one, rounded_tables(one, residuals))
        twice = [_rounded_here(one, top, residuals).ravel() for top in one.tops]
        caught += not agree(one, np.concatenate(twice))
    assert caught > 0


TINY = family(flat(2, 3), 1)


def test_the_integers_of_the_tiny_family_lose_less_than_is_claimed():
    """By all outcomes of 1, 2 and 3 contrasts: delta(1) is in [.1214, .1235] where mu 1 allows .1269."""
    move = EveryTable(ONE_RECORD, TINY)
    noisy = EvenGaussian(1).perturb(cells_of(TINY, np.zeros((0, 2), dtype=int)), SeededDraws(1))
    moved = EvenGaussian(1).clean(cells_of(TINY, np.array([[0, 0]])))
    assert sorted(shift for _, shift in shifts(EvenGaussian(1), noisy, moved)) == [1, 1, 1, 1, 1, 2]
    pair = together(shifts(EvenGaussian(1), noisy, moved))
    assert 0.1214 < hockey_stick(pair, 1.0) < 0.1235
    assert 0.9 < attained(pair) < 1
    assert [f.verdict for f in contract(EvenGaussian(1), move, Fraction(1), SeededDraws(2))] == ["holds"] * 3


@pytest.mark.parametrize("kept", [None, frozenset()], ids=["added", "replaced"])
@pytest.mark.parametrize("sound", [EvenGaussian(1), EvenGaussian(rho="0.5")], ids=lambda m: m.words())
def test_a_tenth_of_the_noise_too_little_breaks_the_claim_of_integers(sound, kept, monkeypatch):
    move = EveryTable(ONE_RECORD if kept is None else Bounded(2, 2, 2, 1), TINY, kept)

    def found():
        findings = contract(sound, move, Fraction(1), SeededDraws(2))
        return next(one for one in findings if one.check == "integers keep the claim")

    assert found().verdict == "holds"
    short, design = Fraction(7, 10), EvenGaussian.design
    monkeypatch.setattr(EvenGaussian, "design", lambda self, move: design(self, move).times(short))
    assert found().wrong


@pytest.mark.parametrize("seed", SEEDS)
def test_the_dearest_record_costs_what_is_claimed(seed):
    one = random_family(seed)
    design = EvenGaussian(1).design(EveryTable(ONE_RECORD, one))
    cells = cells_of(one, np.array([design.dearest]))
    scales = EvenGaussian(1).scales(EvenGaussian(1).perturb(cells, SeededDraws(1)))
    assert np.linalg.norm(EvenGaussian(1).clean(cells) / scales) == pytest.approx(1, rel=1e-9)

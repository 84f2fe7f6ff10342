"""Tables of the ORS paper, beside ours; what the paper gets wrong is asserted too."""

from fractions import Fraction

import numpy as np
import pytest

from sfumato.draws import SeededDraws, TruncatedGeometric
from sfumato.studies.ors import TABLE_2, TABLE_4, closed_form, simulate, table_2
from sfumato.studies.ors_weights import as_published, recall_and_false_alarms, sound
from sfumato.synth.ors import paper_set


def test_table_2_of_the_ors_paper():
    ours = {line.what: line for line in table_2(1)}
    for k, published in enumerate(TABLE_2):
        line = ours[f"± {k}" if k else "0"]
        assert f"{float(line.ours):.{len(published) - 2}f}" == published


def test_delta_grows_with_the_shift():
    ours = {line.what: float(line.ours) for line in table_2(1)}
    assert [ours[f"delta, a shift of {s}"] for s in (1, 2, 3, 7)] == [6.33e-7, 5.31e-6, 3.99e-5, 0.119]  # SCIENCE 2.3


def test_the_chance_of_a_change_is_not_23_5_per_cent():
    law = TruncatedGeometric(Fraction(7), 1)
    assert round(1 - float(law.pmf(0)), 5) == 0.00182  # SCIENCE, finding 3
    assert round(law.variance, 5) == 0.00182  # the paper's own variance


def test_the_closed_form_is_the_one_of_the_science_file():
    closed = closed_form(TruncatedGeometric(Fraction(7), 1).variance)
    assert np.allclose(closed[:6], [7.222, 3.542, 1.421, 0.544, 0.207, 0.0789], atol=5e-4)  # SCIENCE 2.5


@pytest.mark.slow
def test_table_4_over_a_thousand_runs():
    found = simulate(1000)
    closed = closed_form(TruncatedGeometric(Fraction(7), 1).variance)
    assert np.all(np.abs(found.plain / closed - 1) < 0.05)
    assert found.raked[0] < 1e-6
    assert found.least_squares[0] < 1e-6
    less = 1 - found.raked / found.plain_converged
    assert 0.35 < less[1] < 0.55
    assert np.all(np.diff(less[:5]) < 0)
    assert abs(1 - found.least_squares[1] / found.plain[1] - 0.581) < 0.01  # SCIENCE 2.5


def test_table_4_in_its_pattern_over_sixty_runs():
    """Sixty runs have a standard error of about 6% on the one-way row, so 25% holds at better than 1e-4."""
    found = simulate(60)
    closed = closed_form(TruncatedGeometric(Fraction(7), 1).variance)
    assert np.all(np.abs(found.plain / closed - 1) < 0.25)
    assert found.raked[0] < 1e-6
    assert abs(1 - found.least_squares[1] / found.plain[1] - 0.581) < 0.05
    published = np.array([before for before, *_ in TABLE_4.values()])
    assert np.all(np.abs(found.plain[:8] / published[:8] - 1) < 0.35)


SEEDS = range(1, 21)


def test_the_lattice_attack_finds_every_occupied_cell_of_the_published_way():
    for seed in SEEDS:
        cases = paper_set(seed=seed)
        assert recall_and_false_alarms(as_published(cases, SeededDraws(seed)), cases) == (1.0, 0.0)


def test_on_the_sound_way_the_lattice_attack_is_a_blind_guess():
    """Recall within 3 sd of the false alarms; sd over 20 data sets of about 180 occupied cells each."""
    found = np.array([attacked(sound, seed) for seed in SEEDS])
    recall, alarms = found.mean(axis=0)
    sd = np.sqrt(alarms * (1 - alarms) / (170 * len(SEEDS)))
    assert recall <= alarms + 3 * sd


def attacked(way, seed):
    cases = paper_set(seed=seed)
    return recall_and_false_alarms(way(cases, SeededDraws(seed)), cases)

"""What the quotes of the synthetic Occupational Requirements Survey say: an occupation and ten requirements of it.

Staffing, profiles and cut points are round numbers of the right order, from nobody's table.
"""

import numpy as np
from numpy.typing import NDArray

from sfumato.synth.columns import FIGURES, Floats, Integers, pick
from sfumato.synth.employment import GROUP_OF, GROUPS, JOBS, LEAN, OCCUPATIONS
from sfumato.synth.ors_frame import SECTORS

REQUIREMENTS = {name: tuple(codes) for name, (codes, _) in FIGURES["ors"]["requirements"].items()}
CUTS = [cuts for _, cuts in FIGURES["ors"]["requirements"].values()]
MOST = 8  # quotes of one establishment
SPREAD = 0.4  # of occupations within their group, and of establishments around their occupations

STAFFING, PROFILES = FIGURES["ors"]["staffing"], FIGURES["ors"]["profiles"]
# Better paid occupations of a group ask for more schooling, experience, training and independence, and less strength.
PAY = np.array([1.5, 1.0, -0.5, 1.2, 0.8, -0.3, 0.0, 0.0, 0.0, 0.2])


def occupations(sector: Integers, rng: np.random.Generator) -> Integers:
    """For each establishment the occupations of its quotes in order of selection, no two alike.

    No occupation is taken to have so many of an establishment's jobs that two of its quotes could fall on it.
    """
    drawn = pick(_staffing(), np.repeat(sector, MOST), rng).reshape(-1, MOST)
    again = _repeats(drawn)
    while again.any():
        drawn[again] = pick(_staffing(), np.broadcast_to(sector[:, None], drawn.shape)[again], rng)
        again = _repeats(drawn)
    return drawn


def _repeats(drawn: Integers) -> NDArray[np.bool_]:
    """Where an entry is the same as an earlier one of its row."""
    again = np.zeros(drawn.shape, dtype=bool)
    for place in range(1, drawn.shape[1]):
        again[:, place] = (drawn[:, :place] == drawn[:, place, None]).any(axis=1)
    return again


def _staffing() -> Floats:
    """The share of each occupation in each sector: the group's, split as the nation's jobs of the group are."""
    within = JOBS / np.bincount(GROUP_OF, JOBS)[GROUP_OF]
    shares = np.zeros((len(SECTORS), len(OCCUPATIONS)))
    for row, sector in enumerate(SECTORS):
        listed = STAFFING[sector].split()
        percent = dict(zip(listed[::2], map(float, listed[1::2]), strict=True))
        shares[row] = np.array([percent.get(group, 0.0) for group in GROUPS])[GROUP_OF] * within
    return shares


def _profiles() -> Floats:
    """What each occupation asks: its group's profile, its pay within the group, and a leaning of its own."""
    groups = np.array(PROFILES.split(), dtype=float).reshape(len(GROUPS), -1)[:, 1:] / 10
    # An occupation is the same in every sample, so its own leaning does not hang on the sample's seed.
    own = np.random.Generator(np.random.PCG64(2018)).normal(0, SPREAD, (len(OCCUPATIONS), len(REQUIREMENTS)))
    return np.asarray(groups[GROUP_OF] + LEAN[:, None] * PAY + own)


def requirements(occupation: Integers, at: Integers, rng: np.random.Generator) -> dict[str, Integers]:
    """The level of every requirement: an ordered probit around the occupation, with the establishment's own shift."""
    shift = rng.normal(0, SPREAD, (int(at[-1]) + 1, len(REQUIREMENTS)))
    profiles = _profiles()
    answers = {}
    for place, name in enumerate(REQUIREMENTS):
        score = rng.normal(profiles[occupation, place] + shift[at, place], 1)
        answers[name] = np.searchsorted(CUTS[place], score).astype(np.int64)
    return answers

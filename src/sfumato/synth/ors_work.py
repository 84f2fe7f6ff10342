"""What the quotes of the synthetic Occupational Requirements Survey say: an occupation and ten requirements of it.

Staffing, profiles and cut points are round numbers of the right order, from nobody's table.
"""

import numpy as np
from numpy.typing import NDArray

from sfumato.synth.columns import Floats, Integers, pick
from sfumato.synth.employment import GROUP_OF, GROUPS, JOBS, LEAN, OCCUPATIONS
from sfumato.synth.ors_frame import SECTORS

YES_NO = ("no", "yes")
REQUIREMENTS = {
    "education": ("none", "high school", "associate", "bachelor", "graduate"),
    "experience": ("none", "up to 1 year", "1 to 4 years", "over 4 years"),
    "strength": ("light", "medium", "heavy"),
    "training": ("short", "moderate", "long"),
    "supervision": ("daily", "weekly", "less often"),
    "reach_overhead": YES_NO,
    "driving": YES_NO,
    "outdoors": YES_NO,
    "noise_exposure": YES_NO,
    "keyboarding": YES_NO,
}
CUTS = ((-0.7, 0.45, 0.7, 2.1), (-0.3, 0.35, 1.2), (0.1, 1.1), (-0.5, 0.7), (-0.3, 0.6), *5 * ((0.0,),))
MOST = 8  # quotes of one establishment
SPREAD = 0.4  # of occupations within their group, and of establishments around their occupations

# Percent of a sector's jobs by major group of occupations.
STAFFING = {
    "construction": "47 52  11 8  43 8  49 6  53 6  13 5  17 4  51 4  45 4  41 2  37 1",
    "manufacturing": "51 45  53 11  43 9  11 8  17 7  49 6  13 4  41 4  15 3  19 2  37 1",
    "trade": "41 42  53 18  43 12  49 7  11 6  35 4  51 4  29 3  13 3  37 1",
    "transport": "53 58  43 15  49 9  11 5  13 3  51 3  17 2  33 2  37 2  41 1",
    "business": "13 18  43 17  15 15  11 12  41 12  17 5  23 5  27 5  37 5  19 3  33 3",
    "education": "25 58  43 9  11 6  21 5  37 4  35 3  33 3  31 2  19 2  29 2  15 2  27 2  53 2",
    "health": "29 38  31 27  43 12  21 9  11 5  37 3  35 3  39 1  33 1  13 1",
    "services": "35 48  39 15  41 7  37 6  43 6  49 6  11 5  27 3  53 2  33 2",
}
# How much each group asks of each requirement, in tenths of a standard deviation: the columns as in REQUIREMENTS.
PROFILES = """
11  10  14  -8  12  12  -10   0  -8 -12  16
13   9   5 -14   9   7  -14  -6 -14 -16  19
15  11   5 -15  11   8  -17 -16 -20 -18  22
17  11   6 -10  12   7   -9  -3  -4  -8  18
19  13   4  -8  12   8   -8  -5  -6  -8  16
21  11   2  -8   8   6  -12   2  -6 -14  13
23  14   5 -14  13  10  -16  -8 -16 -18  20
25  11   0  -5   8   6   -3 -14  -5  -6  11
27   6   3  -6   6   6   -6  -4  -5  -6  13
29  11   2   2  11   5    4 -14 -16 -10  13
31  -2  -6   6   0  -4    4  -6 -14 -10   2
33  -1  -2   3   2   1   -4   7   8   2   4
35 -13  -8   4  -9  -9    4 -15 -14   1  -8
37 -14  -9   9 -10  -6    9   0   6   3 -17
39  -9  -7   1  -4  -2    0  -6  -4  -4  -6
41  -6  -3   0  -3  -2    0  -5  -9  -9   6
43  -2  -4  -5  -2  -3   -8  -8 -13 -11  17
45 -14  -8  12  -9  -4    7   4  16   8 -18
47 -10   3  13   5   0   14   7  14  14 -16
49  -5   4  11   7   2   13   7   5  13  -3
51  -9  -3   7   0  -5    7 -12 -12  15  -9
53 -11  -5  10  -6  -4    8   8   7   9 -10
"""
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

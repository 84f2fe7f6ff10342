"""A synthetic population of jobs: skewed establishments, and occupation, education, age and pay that hang together."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pyarrow as pa

from sfumato.errors import PlanError
from sfumato.synth.columns import Floats, Integers, levels, names, pick

OWNERSHIP = ("private", "federal", "state", "local")
SIZE_CLASSES = ("1-4", "5-19", "20-99", "100-499", "500+")
SIZE_EDGES = (5, 20, 100, 500)
SEX = ("female", "male")
EDUCATION = ("none", "high school", "some college", "bachelor", "graduate")
EDUCATION_AGES = (18, 19, 21, 24)  # the youngest age at which each level above none is held
OLDEST = 80
EDUCATION_MISSING = 0.03
SUPPORT = 0.3  # the share of an establishment's jobs that are not in its own trade
TAIL_FROM, TAIL_INDEX = 100, 1.1  # establishment sizes are Pareto from here up


@dataclass(frozen=True)
class OccupationGroup:
    """One major occupation group: which establishments live by it and who works in it, in percent."""

    small: float  # as the trade of establishments under 50 workers
    large: float  # as the trade of larger ones
    support: float  # among the jobs outside the trade of their establishment
    female: int
    entry: int  # youngest age
    age: int  # mean age
    education: tuple[int, int, int, int, int]
    public: tuple[int, int, int]  # federal, state and local among establishments of this trade


GROUPS = {
    "11": OccupationGroup(0.5, 0.3, 22, 42, 22, 47, (2, 11, 19, 43, 25), (3, 3, 4)),
    "13": OccupationGroup(5.0, 3.6, 12, 54, 20, 44, (1, 9, 20, 50, 20), (5, 5, 5)),
    "15": OccupationGroup(1.8, 2.8, 6, 26, 20, 41, (1, 6, 19, 48, 26), (3, 2, 2)),
    "17": OccupationGroup(2.0, 2.8, 0, 16, 20, 43, (1, 8, 21, 48, 22), (4, 3, 5)),
    "19": OccupationGroup(0.7, 1.9, 0, 48, 21, 42, (1, 4, 11, 36, 48), (15, 10, 5)),
    "21": OccupationGroup(2.6, 2.0, 0, 68, 20, 44, (2, 9, 18, 35, 36), (2, 10, 12)),
    "23": OccupationGroup(1.8, 0.4, 0, 53, 22, 47, (1, 5, 12, 18, 64), (3, 5, 8)),
    "25": OccupationGroup(3.5, 13.0, 0, 73, 19, 44, (1, 10, 15, 36, 38), (1, 20, 60)),
    "27": OccupationGroup(2.5, 1.5, 0, 48, 17, 41, (2, 12, 23, 49, 14), (1, 3, 4)),
    "29": OccupationGroup(5.5, 12.0, 0, 75, 20, 43, (1, 6, 32, 33, 28), (3, 5, 6)),
    "31": OccupationGroup(6.0, 7.4, 0, 85, 17, 41, (10, 34, 40, 13, 3), (1, 2, 3)),
    "33": OccupationGroup(2.0, 4.6, 0, 24, 18, 42, (3, 30, 40, 22, 5), (6, 16, 48)),
    "35": OccupationGroup(19.0, 6.0, 0, 55, 16, 31, (22, 40, 27, 10, 1), (1, 1, 4)),
    "37": OccupationGroup(3.4, 1.4, 4, 40, 16, 44, (28, 44, 19, 8, 1), (1, 2, 6)),
    "39": OccupationGroup(4.5, 1.3, 0, 77, 16, 38, (12, 36, 33, 16, 3), (1, 1, 8)),
    "41": OccupationGroup(13.0, 5.0, 8, 49, 16, 39, (8, 29, 29, 28, 6), (0, 0, 1)),
    "43": OccupationGroup(4.0, 5.0, 30, 71, 17, 43, (4, 30, 38, 23, 5), (7, 3, 6)),
    "45": OccupationGroup(0.5, 0.3, 0, 27, 16, 39, (45, 34, 13, 7, 1), (2, 2, 1)),
    "47": OccupationGroup(8.5, 3.3, 0, 4, 16, 41, (23, 47, 22, 7, 1), (1, 2, 5)),
    "49": OccupationGroup(4.5, 1.5, 6, 4, 17, 43, (10, 44, 36, 9, 1), (2, 1, 4)),
    "51": OccupationGroup(4.5, 12.0, 0, 29, 17, 43, (17, 47, 26, 9, 1), (1, 1, 2)),
    "53": OccupationGroup(5.0, 10.8, 12, 22, 16, 41, (16, 46, 27, 10, 1), (1, 1, 4)),
}

# code, thousands of jobs, thousands of dollars a year: round figures of the right order, not an official table
FIGURES = """
11-1011 200 190  11-1021 3500 100  11-2021 380 155  11-2022 590 132  11-3012 250 104  11-3021 560 165  11-3031 790 153
11-3051 220 115  11-3121 195 134  11-9021 320 105  11-9032 280 103  11-9041 200 162  11-9051 240 63  11-9111 500 110
11-9141 290 62  11-9151 180 77  13-1023 470 74  13-1031 300 73  13-1041 380 75  13-1071 870 67  13-1081 220 79
13-1082 880 98  13-1111 840 99  13-1151 390 64  13-1161 840 74  13-2011 1430 80  13-2051 330 99  13-2052 270 99
13-2072 310 69  15-1211 500 104  15-1212 175 120  15-1232 690 59  15-1241 175 129  15-1244 330 95  15-1252 1650 132
15-1253 200 101  15-2031 110 84  15-2041 30 104  15-2051 190 108  17-1011 110 93  17-2051 330 96  17-2071 180 107
17-2112 330 99  17-2141 280 99  17-3011 110 60  17-3023 95 72  19-1042 115 100  19-2031 85 85  19-2041 80 79
19-3033 70 96  19-3051 40 82  19-4021 80 52  19-5011 120 82  21-1012 330 62  21-1014 250 54  21-1021 350 54
21-1022 185 62  21-1023 115 56  21-1093 410 42  21-2011 55 59  23-1011 730 145  23-1023 27 150  23-2011 350 61
23-2093 50 54  25-1011 80 98  25-1071 220 105  25-1121 95 80  25-2011 430 37  25-2012 120 63  25-2021 1400 64
25-2022 620 65  25-2031 1070 66  25-2058 150 66  25-3031 450 38  25-3041 170 40  25-4022 130 65  25-9031 210 74
25-9042 1300 35  27-1024 215 59  27-1026 160 36  27-2012 145 82  27-2022 240 46  27-3023 45 58  27-3031 280 67
27-3041 95 75  27-4011 70 54  27-4021 55 42  29-1021 120 166  29-1051 330 136  29-1071 145 130  29-1122 145 96
29-1123 230 100  29-1126 130 77  29-1127 175 89  29-1141 3170 86  29-1171 280 126  29-1215 105 225  29-1216 70 225
29-1292 215 87  29-2011 200 65  29-2034 220 73  29-2042 170 38  29-2052 460 40  29-2055 110 60  29-2061 630 60
29-2072 185 48  29-9091 30 58  31-1121 1100 33  31-1122 2600 33  31-1131 1350 38  31-2021 105 64  31-9091 370 46
31-9092 760 42  31-9097 140 41  33-1012 140 101  33-2011 310 57  33-3012 370 53  33-3021 110 91  33-3051 660 72
33-9032 1200 37  33-9092 130 29  35-1011 170 58  35-1012 1170 38  35-2011 670 29  35-2012 440 34  35-2014 1420 35
35-2021 890 32  35-3011 710 32  35-3023 3680 29  35-3031 2240 32  35-3041 280 33  35-9011 500 31  35-9021 460 31
35-9031 430 29  37-1011 200 46  37-1012 110 54  37-2011 2170 35  37-2012 840 33  37-2021 95 42  37-3011 940 37
39-1022 90 45  39-2021 240 31  39-3031 120 29  39-3091 350 29  39-5012 290 34  39-5092 140 34  39-9011 490 31
39-9031 290 46  39-9032 290 34  41-1011 1100 47  41-1012 240 84  41-2011 3300 30  41-2021 390 38  41-2031 3680 34
41-3021 460 59  41-3031 470 76  41-3091 1140 65  41-4011 300 100  41-4012 1260 66  41-9022 200 54  43-1011 1500 64
43-2011 45 36  43-3021 430 46  43-3031 1500 48  43-3051 160 54  43-3071 340 38  43-4051 2800 40  43-4081 260 31
43-4171 1000 36  43-5032 205 47  43-5052 330 57  43-5061 390 55  43-5071 840 41  43-6011 480 70  43-6013 760 41
43-6014 1750 45  43-9041 240 47  43-9061 2500 41  45-1011 27 57  45-2041 30 34  45-2091 30 40  45-2092 280 35
45-2093 37 36  45-4022 22 48  47-1011 780 77  47-2031 700 57  47-2051 200 51  47-2061 1020 45  47-2073 470 56
47-2111 710 61  47-2141 230 47  47-2152 450 61  47-2181 130 50  47-3013 75 39  47-4011 130 67  47-4051 150 47
47-5071 45 46  49-1011 590 76  49-2022 165 63  49-3011 140 75  49-3021 150 49  49-3023 680 47  49-3031 290 58
49-9021 400 58  49-9041 420 62  49-9051 120 85  49-9071 1500 46  51-1011 670 67  51-2022 260 42  51-2092 1100 39
51-3011 220 35  51-3092 160 38  51-4041 290 51  51-4121 430 49  51-5112 150 41  51-6011 180 32  51-7011 95 41
51-8031 120 55  51-9061 590 45  51-9111 370 40  51-9161 190 47  53-1043 250 61  53-2011 95 220  53-2031 125 68
53-3031 430 36  53-3032 2050 54  53-3033 1000 43  53-3051 370 42  53-3052 150 50  53-4031 35 73  53-5021 35 85
53-6021 110 32  53-7051 780 43  53-7062 2980 37  53-7064 570 35  53-7065 2840 36
"""
OCCUPATIONS = tuple(FIGURES.split()[::3])
JOBS: Floats = np.array(FIGURES.split()[1::3], dtype=float)
LOG_PAY: Floats = np.log(np.array(FIGURES.split()[2::3], dtype=float) * 1000 / 4)
GROUP_OF: Integers = np.array([list(GROUPS).index(code[:2]) for code in OCCUPATIONS])
LEAN: Floats = LOG_PAY - (np.bincount(GROUP_OF, JOBS * LOG_PAY) / np.bincount(GROUP_OF, JOBS))[GROUP_OF]
"""How far the pay of an occupation lies from its group's, in logarithms."""

# state: relative number of establishments, and how far its pay lies from the nation's in logarithms
STATES = {
    "MA": (3.7, 0.16), "NY": (9.6, 0.14), "PA": (6.0, -0.02), "IL": (6.0, 0.02),
    "MI": (4.4, -0.04), "OH": (5.5, -0.06), "FL": (9.8, -0.08), "GA": (4.8, -0.05),
    "TX": (14.0, -0.03), "CA": (18.0, 0.15), "CO": (2.9, 0.07), "WA": (3.5, 0.17),
}  # fmt: skip


@dataclass(frozen=True)
class Establishments:
    """One entry an establishment; `shift` is its own leaning in pay, schooling and sex."""

    size: Integers
    state: Integers
    trade: Integers
    ownership: Integers
    shift: Floats


@dataclass(frozen=True)
class Workers:
    """One entry a job: the establishment it is in, the occupation, and who holds it."""

    at: Integers
    occupation: Integers
    age: Integers
    school: Integers
    male: Integers


def employment(rows: int = 100_000, seed: int = 1) -> pa.Table:
    """One row a job, the jobs of an establishment together; the same seed gives the same table."""
    if rows < 1:
        raise PlanError(f"employment was asked for {rows} rows; a table of jobs has at least 1.")
    rng = np.random.Generator(np.random.PCG64(seed))
    places = _establishments(rows, rng)
    workers = _workers(places, rng)
    columns = {
        "job_id": names("J", np.arange(1, rows + 1)),
        "establishment_id": names("E", workers.at + 1),
        "occupation": levels(OCCUPATIONS, workers.occupation),
        "state": levels(tuple(STATES), places.state[workers.at]),
        "ownership": levels(OWNERSHIP, places.ownership[workers.at]),
        "size_class": levels(SIZE_CLASSES, np.searchsorted(SIZE_EDGES, places.size, side="right")[workers.at]),
        "sex": levels(SEX, workers.male),
        "age": pa.array(workers.age, pa.int32()),
        "education": levels(EDUCATION, workers.school, rng.random(rows) < EDUCATION_MISSING),
        "wage": pa.array(_wages(places, workers, rng), pa.int64()),
    }
    return pa.table(columns)


def _establishments(rows: int, rng: np.random.Generator) -> Establishments:
    size = _sizes(rows, rng)
    small, large = ([getattr(group, side) for group in GROUPS.values()] for side in ("small", "large"))
    trade = pick(np.array([small, large]), (size >= 50).astype(np.int64), rng)
    owners = np.array([(100 - sum(group.public), *group.public) for group in GROUPS.values()], dtype=float)
    state = pick(np.array([[weight for weight, _ in STATES.values()]]), np.zeros_like(size), rng)
    shift = rng.normal(0, (0.12, 0.25, 0.3), (size.size, 3))
    return Establishments(size, state, trade, pick(owners, trade, rng), shift)


def _sizes(rows: int, rng: np.random.Generator) -> Integers:
    """Sizes that sum to `rows`: a lognormal body, a Pareto tail up to 2% of the jobs, within 200 and 10,000 workers."""
    # Every size is at least 1, so `rows` draws always suffice; the last one kept is cut to fit.
    body = np.exp(rng.normal(np.log(3.8), 1.5, rows))
    largest = min(max(rows // 50, 2 * TAIL_FROM), 10_000)
    tail = TAIL_FROM * rng.uniform((TAIL_FROM / largest) ** TAIL_INDEX, 1, rows) ** (-1 / TAIL_INDEX)
    size = np.maximum(np.rint(np.where(body < TAIL_FROM, body, tail)), 1).astype(np.int64)
    end = np.cumsum(size)
    size = size[: np.searchsorted(end, rows) + 1]
    size[-1] -= end[size.size - 1] - rows
    return size


def _workers(places: Establishments, rng: np.random.Generator) -> Workers:
    at = np.repeat(np.arange(places.size.size), places.size)
    occupation = _occupations(places.trade[at], rng)
    lean = LEAN[occupation]
    age = _ages(occupation, lean, rng)
    school = _schooling(occupation, lean + places.shift[at, 1], age, rng)
    share = _of_group("female")[occupation] / 100
    logit = np.log(share / (1 - share)) - 1.4 * (lean + places.shift[at, 2])
    male = (rng.random(at.size) > 1 / (1 + np.exp(-logit))).astype(np.int64)
    return Workers(at, occupation, age, school, male)


def _occupations(trade: Integers, rng: np.random.Generator) -> Integers:
    outside = pick(np.array([[group.support for group in GROUPS.values()]]), np.zeros_like(trade), rng)
    group = np.where(rng.random(trade.size) < SUPPORT, outside, trade)
    return pick(np.where(np.arange(len(GROUPS))[:, None] == GROUP_OF, JOBS, 0.0), group, rng)


def _of_group(field: str) -> Floats:
    """A figure of the group of each occupation."""
    return np.array([getattr(GROUPS[code[:2]], field) for code in OCCUPATIONS], dtype=float)


def _ages(occupation: Integers, lean: Floats, rng: np.random.Generator) -> Integers:
    """Whole years, a beta law from an occupation's youngest age to 80; the better paid start later."""
    entry = _of_group("entry")[occupation] + np.clip(7 * lean, 0, 8)
    mean = _of_group("age")[occupation] + np.clip(5 * lean, -4, 5)
    centre = (mean - entry) / (OLDEST + 1 - entry)
    drawn = entry + (OLDEST + 1 - entry) * rng.beta(4.5 * centre, 4.5 * (1 - centre))
    return np.asarray(np.minimum(drawn, OLDEST), dtype=np.int64)


def _schooling(occupation: Integers, lean: Floats, age: Integers, rng: np.random.Generator) -> Integers:
    """An ordered probit with the cut points of the group, never above what the age allows."""
    shares = [np.cumsum(group.education)[:-1] / sum(group.education) for group in GROUPS.values()]
    cuts = np.array([[NormalDist().inv_cdf(share) for share in row] for row in shares])
    score = rng.normal(size=age.size) + 2 * lean
    reached = np.sum(score[:, None] > cuts[GROUP_OF[occupation]], axis=1)
    return np.asarray(np.minimum(reached, np.searchsorted(EDUCATION_AGES, age, side="right")), dtype=np.int64)


def _wages(places: Establishments, workers: Workers, rng: np.random.Generator) -> Integers:
    """Whole dollars a quarter: lognormal around occupation, place, schooling, age and sex."""
    state = np.array([shift for _, shift in STATES.values()])[places.state]
    place = state + places.shift[:, 0] + 0.03 * np.log(places.size) - 0.08
    usual = (_of_group("education") @ np.arange(5) / 100)[workers.occupation]
    person = 0.12 * (workers.school - usual) + 0.1 * workers.male - 0.0006 * (workers.age - 50) ** 2 + 0.1
    usual_pay = LOG_PAY[workers.occupation] + place[workers.at] + person
    return np.asarray(np.maximum(np.rint(np.exp(rng.normal(usual_pay, 0.4))), 1), dtype=np.int64)

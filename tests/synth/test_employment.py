"""The synthetic jobs: reproducible, inside their declared levels, and shaped like an economy."""

import time
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pytest

import sfumato.synth
from sfumato.errors import PlanError
from sfumato.schema.levels import Levels
from sfumato.synth import GENERATORS, employment, write
from sfumato.synth.employment import EDUCATION, GROUPS, OWNERSHIP, SEX, SIZE_CLASSES, SIZE_EDGES

CODES = Path(sfumato.synth.__file__).parents[1] / "plans" / "codes"
COLUMNS = [
    "job_id",
    "establishment_id",
    "occupation",
    "state",
    "ownership",
    "size_class",
    "sex",
    "age",
    "education",
    "wage",
]
SEEDS = (1, 2, 3)


@pytest.fixture(scope="module", params=SEEDS)
def jobs(request):
    return employment(seed=request.param)


def sizes(table):
    """Workers of each establishment, counted from the rows, smallest first."""
    counted = table.group_by("establishment_id").aggregate([("job_id", "count")])
    return np.sort(counted["job_id_count"].to_numpy())


def median_wage(table, column, level):
    return np.median(table.filter(pc.equal(table[column], level))["wage"].to_numpy())


def shares(table, column):
    counted = table[column].value_counts().to_pylist()
    return {one["values"]: one["counts"] / len(table) for one in counted}


def test_the_same_seed_writes_the_same_bytes(tmp_path):
    first = write("employment", tmp_path / "a", rows=20_000, seed=7)
    second = write("employment", tmp_path / "b", rows=20_000, seed=7)
    other = write("employment", tmp_path / "c", rows=20_000, seed=8)
    assert first.name == "employment.parquet"
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes() != other.read_bytes()


def test_without_a_number_of_rows_there_are_100_000(jobs):
    assert len(jobs) == 100_000
    assert jobs.column_names == COLUMNS
    assert pc.count_distinct(jobs["job_id"]).as_py() == len(jobs)
    assert [name for name in COLUMNS if jobs[name].null_count] == ["education"]


@pytest.mark.parametrize("rows", [1, 2, 1_000, 12_345])
def test_any_number_of_rows_is_met_exactly(rows):
    assert len(employment(rows=rows)) == rows


def test_no_rows_are_refused():
    with pytest.raises(PlanError, match="at least 1"):
        employment(rows=0)


def test_every_value_lies_within_the_declared_levels(jobs):
    assert set(jobs["occupation"].unique().to_pylist()) == set(Levels.read(CODES / "occupations.csv").leaves)
    assert set(jobs["state"].unique().to_pylist()) == set(Levels.read(CODES / "states.csv").leaves)
    for column, levels in {"ownership": OWNERSHIP, "size_class": SIZE_CLASSES, "sex": SEX}.items():
        assert set(jobs[column].unique().to_pylist()) == set(levels)
    assert set(jobs["education"].unique().to_pylist()) == {*EDUCATION, None}
    assert pc.min(jobs["age"]).as_py() == 16
    assert 75 <= pc.max(jobs["age"]).as_py() <= 80
    assert pc.min(jobs["wage"]).as_py() >= 1


def test_occupations_have_three_levels_and_one_meaning_a_label():
    occupations = Levels.read(CODES / "occupations.csv")
    assert occupations.depth == 2
    assert {occupations.depths[leaf] for leaf in occupations.leaves} == {2}
    assert [len(occupations.at(depth)) for depth in (0, 1)] == [22, 91]
    assert 150 <= len(occupations.leaves) <= 250
    assert len({label.lower() for label in occupations.labels}) == len(occupations.codes)
    assert all(leaf.startswith(occupations.parent(leaf)[:4]) for leaf in occupations.leaves)
    assert all(minor.startswith(occupations.parent(minor)[:3]) for minor in occupations.at(1))


def test_states_are_nested_in_the_four_regions():
    states = Levels.read(CODES / "states.csv")
    assert states.at(0) == ("northeast", "midwest", "south", "west")
    assert [int(states.mask(region).sum()) for region in states.at(0)] == [3, 3, 3, 3]


def test_the_shares_of_a_group_make_100():
    assert {sum(group.education) for group in GROUPS.values()} == {100}
    assert sum(group.support for group in GROUPS.values()) == 100


@pytest.mark.parametrize("column", ["state", "ownership", "size_class"])
def test_an_establishment_has_one_state_one_owner_and_one_size_class(jobs, column):
    levels = jobs.group_by("establishment_id").aggregate([(column, "count_distinct")])
    assert pc.max(levels[f"{column}_count_distinct"]).as_py() == 1


def test_the_size_class_is_that_of_the_workers_in_the_file(jobs):
    counted = jobs.group_by("establishment_id").aggregate([("job_id", "count"), ("size_class", "min")])
    expected = np.array(SIZE_CLASSES)[np.searchsorted(SIZE_EDGES, counted["job_id_count"].to_numpy(), side="right")]
    assert counted["size_class_min"].to_pylist() == expected.tolist()


def test_establishment_sizes_are_skewed(jobs):
    size = sizes(jobs)
    assert 3 <= np.median(size) <= 4
    assert 10 <= size.mean() <= 17
    assert 0.20 <= size[-(len(size) // 100) :].sum() / size.sum() <= 0.40
    assert size[-1] <= len(jobs) // 50


def test_the_tail_is_pareto_with_an_index_near_1_1():
    size = sizes(employment(rows=1_000_000))
    tail = size[size >= 100]
    # Above 100 the share larger than s falls as s ** -1.1, less the little that the cut at 10,000 takes away.
    slope = np.log((tail >= 200).sum() / (tail >= 1_600).sum()) / np.log(8)
    assert 0.95 <= slope <= 1.3
    assert tail.max() <= 10_000


def test_three_in_a_hundred_have_no_education_on_file(jobs):
    assert 0.027 <= jobs["education"].null_count / len(jobs) <= 0.033


def test_pay_rises_with_schooling(jobs):
    medians = [median_wage(jobs, "education", level) for level in EDUCATION]
    assert medians == sorted(medians)
    assert 2.5 <= medians[-1] / medians[0] <= 4.5


def test_pay_is_skewed_and_follows_the_occupation(jobs):
    wage = jobs["wage"].to_numpy()
    assert 1.2 <= wage.mean() / np.median(wage) <= 1.5
    assert median_wage(jobs, "occupation", "15-1252") > 3 * median_wage(jobs, "occupation", "35-3023")
    assert median_wage(jobs, "occupation", "29-1215") > 2 * median_wage(jobs, "occupation", "29-1141")


def test_age_sex_and_schooling_follow_the_occupation(jobs):
    nurses = jobs.filter(pc.equal(jobs["occupation"], "29-1141"))
    servers = jobs.filter(pc.equal(jobs["occupation"], "35-3023"))
    electricians = jobs.filter(pc.equal(jobs["occupation"], "47-2111"))
    lawyers = jobs.filter(pc.equal(jobs["occupation"], "23-1011"))
    assert pc.mean(nurses["age"]).as_py() > pc.mean(servers["age"]).as_py() + 8
    assert shares(nurses, "sex")["female"] > 0.6
    assert shares(electricians, "sex")["female"] < 0.15
    assert shares(lawyers, "education")["graduate"] > 0.5


def test_nobody_holds_a_degree_too_young(jobs):
    for level, youngest in zip(EDUCATION[1:], (18, 19, 21, 24), strict=True):
        assert pc.min(jobs.filter(pc.equal(jobs["education"], level))["age"]).as_py() >= youngest


def test_schools_are_mostly_public_and_shops_private(jobs):
    teachers = jobs.filter(pc.equal(jobs["occupation"], "25-2021"))
    sellers = jobs.filter(pc.equal(jobs["occupation"], "41-2031"))
    assert shares(teachers, "ownership")["private"] < 0.5
    assert shares(sellers, "ownership")["private"] > 0.85


def test_a_million_rows_take_seconds():
    started = time.perf_counter()
    employment(rows=1_000_000)
    assert time.perf_counter() - started < 10


def test_an_unknown_name_is_answered_with_the_known_and_the_nearest(tmp_path):
    with pytest.raises(PlanError, match=r"'employmnet', only employment, .*; did you mean 'employment'\?"):
        write("employmnet", tmp_path)
    assert next(iter(GENERATORS)) == "employment"
    assert not list(tmp_path.iterdir())

"""The synthetic Occupational Requirements Survey: reproducible, inside its declared levels, weighted by its design."""

import math
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pytest

import sfumato.synth
from sfumato.errors import PlanError
from sfumato.plan import Plan
from sfumato.schema.levels import Levels
from sfumato.statistics.replication import sdr_factors
from sfumato.synth import GENERATORS, ors, paper_set, write
from sfumato.synth.employment import GROUPS
from sfumato.synth.ors_frame import CLASSES, SECTORS, strata
from sfumato.synth.ors_work import PROFILES, REQUIREMENTS, STAFFING

PLANS = Path(sfumato.synth.__file__).parents[1] / "plans"
SEEDS = (1, 2, 3)
REPWT = [f"repwt{number}" for number in range(1, 81)]
COLUMNS = ["quote_id", "establishment_id", "stratum", "occupation", *REQUIREMENTS, "workers", "weight", *REPWT]
SIZES = {size.label: size for size in CLASSES}


@pytest.fixture(scope="module", params=SEEDS)
def quotes(request):
    return ors(seed=request.param)


@pytest.fixture(scope="module")
def equal():
    return ors(rows=20_000, weights="stratum")


@pytest.fixture(scope="module")
def plan():
    return Plan.read(PLANS / "ors.toml")


def establishments(table, *columns):
    """One row an establishment in selection order: its quotes, and the smallest and largest of some columns."""
    wanted = [(column, how) for column in columns for how in ("min", "max")]
    found = table.group_by("establishment_id").aggregate([("quote_id", "count"), *wanted])
    return found.sort_by("establishment_id")


def size_of(stratum):
    return SIZES[stratum.rsplit(" ", 1)[1]]


def test_the_same_seed_writes_the_same_bytes(tmp_path):
    for name, rows in {"ors": 5_000, "ors-paper": 182}.items():
        first, second = (write(name, tmp_path / folder, rows=rows, seed=7) for folder in "ab")
        other = write(name, tmp_path / "c", rows=rows, seed=8)
        assert first.name == f"{name}.parquet"
        assert first.read_bytes() == second.read_bytes()
        assert first.read_bytes() != other.read_bytes()
    assert {"ors", "ors-paper"} <= set(GENERATORS)


def test_without_a_number_of_rows_there_are_100_000_quotes(quotes):
    assert len(quotes) == 100_000
    assert quotes.column_names == COLUMNS
    assert pc.count_distinct(quotes["quote_id"]).as_py() == len(quotes)
    assert not any(quotes[name].null_count for name in COLUMNS)


@pytest.mark.parametrize("rows", [1_000, 1_001, 1_002, 1_003, 2_345])
def test_any_number_of_rows_from_1_000_up_is_met_exactly(rows):
    assert len(ors(rows=rows)) == len(ors(rows=rows, weights="stratum")) == rows
    assert min(stratum.count for stratum in strata(rows)) >= 2


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(PlanError, match="999 rows; a sample of all 32 strata has at least 1000"):
        ors(rows=999)
    with pytest.raises(PlanError, match="did you mean 'stratum'"):
        ors(rows=1_000, weights="strata")
    with pytest.raises(PlanError, match="did you mean 'skewed'"):
        paper_set(margins="skew")
    with pytest.raises(PlanError, match="at least 1"):
        paper_set(rows=0)


def test_every_value_lies_within_the_levels_of_the_plan(quotes, plan):
    for attribute in plan.schema.attributes:
        assert set(quotes[attribute.column].unique().to_pylist()) == set(attribute.levels.leaves), attribute.name
    assert len(plan.schema.attribute("occupation").levels.leaves) == 236


def test_the_plan_is_priced_within_its_limit_and_protects_establishments(plan):
    price = plan.price()
    assert price.total.within(price.limit)
    assert (plan.hidden.unit, plan.hidden.at_most) == ("establishment", 8)
    # 165 tables of three of eleven variables; a cube of them would have 4 million cells.
    assert [len(plan.over.tables(measure)) for measure in plan.measures] == [165, 165]
    assert 10**4 <= max(price.cells) <= 10**5
    assert plan.schema.replicates == tuple(REPWT)


def test_the_strata_of_the_codes_are_those_of_the_design():
    listed = Levels.read(PLANS / "codes" / "strata.csv")
    assert set(listed.leaves) == {stratum.code for stratum in strata(1_000)}
    assert listed.at(0) == tuple(SECTORS)
    for stratum in strata(1_000):
        assert f"stands for {stratum.size.weight:,} jobs" in listed.notes[listed.codes.index(stratum.code)]


def test_shares_and_profiles_are_complete():
    assert sum(SECTORS.values()) == pytest.approx(1)
    assert sum(size.share for size in CLASSES) == pytest.approx(1)
    assert {sum(int(part) for part in line.split()[1::2]) for line in STAFFING.values()} == {100}
    assert [line.split()[0] for line in PROFILES.strip().splitlines()] == list(GROUPS)
    assert {len(line.split()) for line in PROFILES.strip().splitlines()} == {11}
    assert math.prod(len(levels) for levels in REQUIREMENTS.values()) == 17_280


def test_an_establishment_gives_4_to_8_different_occupations_by_its_size_class(quotes):
    found = establishments(quotes, "stratum", "workers", "weight")
    distinct = quotes.group_by("establishment_id").aggregate([("occupation", "count_distinct")])
    assert pc.sum(distinct["occupation_count_distinct"]).as_py() == len(quotes)
    assert found["quote_id_count"].to_pylist() == [size_of(one).quotes for one in found["stratum_min"].to_pylist()]
    assert set(found["quote_id_count"].to_pylist()) == {4, 5, 6, 8}
    for column in ("stratum", "workers", "weight"):
        assert found[f"{column}_min"] == found[f"{column}_max"]


def test_sizes_and_sectors_have_the_shares_of_the_design(quotes):
    weight, stratum = quotes["weight"].to_numpy(), np.array(quotes["stratum"].to_pylist())
    jobs = sum(one.count * one.size.interval for one in strata(100_000))
    assert weight.sum() == pytest.approx(jobs, rel=0.01)
    for one in strata(100_000):
        assert weight[stratum == one.code].sum() == pytest.approx(one.count * one.size.interval, rel=0.1)


def test_with_equal_chances_a_stratum_has_one_round_weight_whatever_the_seed(equal):
    weight, stratum = equal["weight"].to_numpy(), equal["stratum"].to_pylist()
    assert (weight == [size_of(one).weight for one in stratum]).all()
    assert weight.sum() == sum(one.count * one.size.interval for one in strata(20_000))


def test_replicate_weights_are_the_weights_times_the_factor_of_the_establishment(quotes):
    found = establishments(quotes, "weight", *REPWT)
    factors = (
        np.column_stack([found[f"{name}_min"].to_numpy() for name in REPWT]) / found["weight_min"].to_numpy()[:, None]
    )
    assert np.allclose(factors, sdr_factors(len(found)), rtol=0, atol=3e-7)
    assert all(found[f"{name}_min"] == found[f"{name}_max"] for name in REPWT)
    sums = [pc.sum(quotes[name].cast("float64")).as_py() for name in REPWT]
    total = quotes["weight"].to_numpy().sum()
    assert np.mean(sums) == pytest.approx(total, rel=1e-8)
    assert sums == pytest.approx([total] * 80, rel=0.01)


def test_requirements_follow_the_occupation(quotes):
    weight, occupation = quotes["weight"].to_numpy(), np.array([code[:2] for code in quotes["occupation"].to_pylist()])

    def share(group, name, level):
        inside = occupation == group
        return weight[inside & pc.equal(quotes[name], level).to_numpy()].sum() / weight[inside].sum()

    assert share("47", "strength", "heavy") > 0.45 > 5 * share("15", "strength", "heavy")
    assert share("35", "education", "none") > 0.5 > 5 * share("23", "education", "none")
    assert share("47", "outdoors", "yes") > 0.8 > 5 * share("15", "outdoors", "yes")
    assert share("43", "keyboarding", "yes") > 0.85 > 2 * share("37", "keyboarding", "yes")
    assert share("53", "driving", "yes") > 0.7 > 2 * share("35", "driving", "yes")


def test_the_papers_set_has_182_cases_in_17_280_cells():
    table = paper_set(seed=1)
    assert len(table) == 182
    assert table.column_names == ["quote_id", *REQUIREMENTS, "weight", "selection"]
    for name, levels in REQUIREMENTS.items():
        assert set(table[name].unique().to_pylist()) <= set(levels)
    assert [len(levels) for levels in REQUIREMENTS.values()] == [5, 4, 3, 3, 3, 2, 2, 2, 2, 2]
    assert pc.min(table["weight"]).as_py() > 0


def test_skewed_margins_are_more_uneven_than_near_uniform_ones():
    def unevenness(margins):
        """The mean over variables and seeds of k times the sum of squared shares: 1 where all are equal."""
        tables = [paper_set(rows=5_000, seed=seed, margins=margins) for seed in range(20)]
        counts = [
            (len(REQUIREMENTS[name]), table[name].value_counts().field("counts").to_numpy())
            for table in tables
            for name in REQUIREMENTS
        ]
        return np.mean([levels * np.square(count / 5_000).sum() for levels, count in counts])

    # For Dirichlet with k parameters c k it is 1 + (k - 1) / (c k^2 + 1), here 1.19 and 1.38 on average.
    levels = np.array([5, 4, 3, 3, 3, 2, 2, 2, 2, 2])
    for margins, concentration in (("near-uniform", 1.0), ("skewed", 0.45)):
        expected = (1 + (levels - 1) / (concentration * levels**2 + 1)).mean()
        assert unevenness(margins) == pytest.approx(expected, abs=0.06)


@pytest.mark.slow
def test_a_million_quotes_are_a_million():
    assert len(ors(rows=1_000_000)) == 1_000_000

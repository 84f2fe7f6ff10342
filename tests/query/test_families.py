"""A family of tables in Python: answers with their errors, refusals in words, samples that share what is not held."""

from dataclasses import replace

import pytest
from tests.families import family_release

import sfumato as sf
from sfumato.errors import QueryError
from sfumato.query import QueryEngine
from sfumato.release import open_release

SAMPLED = {"kind": "variance-function", "functions": {"jobs": {"a": 0.0, "b": 10.0}}}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return open_release(family_release(tmp_path_factory.mktemp("family") / "release"))


@pytest.fixture(scope="module")
def engine(release):
    return QueryEngine(release)


@pytest.fixture(scope="module")
def sampled(release):
    """The same release as if a sample had been asked, with a variance of 10 for each job."""
    manifest = release.manifest.model_copy(update={"sampling": SAMPLED})
    return QueryEngine(replace(release, manifest=manifest))


def test_a_question_of_too_many_variables_says_how_many_there_may_be(engine):
    reach = r"This release has tables of up to 2 variables together, and of Place \(coarser\) × Sex × Age; "
    with pytest.raises(QueryError, match=reach + r"Sex × Age × School are 3\. Leave one out\."):
        engine.table(["sex", "age"], "school")
    with pytest.raises(QueryError, match=r"are 4\. Leave some out\."):
        engine.total({"place": "n", "sex": "f", "age": "old", "school": "1"})
    with pytest.raises(QueryError, match="Sex × Age × School are 3"):
        engine.share({"sex": "f"}, {"age": "old", "school": "1"})
    assert engine.total({"place": "n", "sex": "f", "age": "old"}).value > 0


def test_what_is_held_above_only_says_so_for_each_cell(engine):
    table = engine.table(["place", "sex"], "age", at={"place": "all"})
    assert table["n", "f", "old"].value == engine.total({"place": "n", "sex": "f", "age": "old"}).value
    with pytest.raises(QueryError, match="at coarser levels only; ask for a level above"):
        table["n1", "f", "old"]
    with pytest.raises(QueryError, match="at coarser levels only"):
        engine.total({"place": "n1", "sex": "f", "age": "old"})
    ranked = engine.table("place", "sex", where={"age": "old"}, at={"place": "all"}).ranks("f")
    assert {*ranked} == {"n", "s"}


def test_a_table_of_which_no_number_is_held_is_refused_with_the_level_that_would_do(engine):
    words = r"This release has Place × Sex × Age together at coarser levels only; ask for place=@0\."
    with pytest.raises(QueryError, match=words):
        engine.table(["place", "sex"], "age", at={"place": "leaves"})
    with pytest.raises(QueryError, match=words):
        engine.table("sex", "age", where={"place": "n1"})
    assert engine.table(["place", "sex"], "age", at={"place": "@0"}).size == 12
    assert engine.table(["place", "sex"], at={"place": "leaves"}).size == 10


def test_every_cell_of_every_table_has_nearly_the_same_error(engine):
    """The noise is the same in each; rounding to half a job adds a little more where more variables are told apart."""
    asked = [{}, {"place": "n"}, {"place": "n1"}, {"sex": "f", "age": "old"}, {"place": "s", "sex": "f", "age": "old"}]
    errors = [engine.total(one).se for one in asked]
    assert max(errors) < 1.03 * min(errors)
    cells = [engine.total(one).cells for one in asked]
    assert cells[0] > 1


def test_samples_that_share_what_is_not_held_are_compared_as_if_they_shared_nothing(sampled):
    """Women, and the old with the lowest school: those who are both are in no table."""
    one, other = {"sex": "f"}, {"age": "old", "school": "1"}
    apart = sampled.compare(one, other)
    parts = [sampled.total(where).sampling_variance for where in (one, other)]
    assert apart.sampling_variance == pytest.approx(sum(parts), rel=1e-12)
    assert "as if no record were in both" in apart.words()
    held = sampled.compare({"sex": "f"}, {"age": "old"})
    assert held.sampling_variance < sum(
        sampled.total(where).sampling_variance for where in ({"sex": "f"}, {"age": "old"})
    )
    assert "as if no record were in both" not in held.words()


def test_a_census_shares_no_sample(engine):
    apart = engine.compare({"sex": "f"}, {"age": "old", "school": "1"})
    assert apart.sampling_variance == 0
    assert "as if" not in apart.words()


def test_shares_with_a_sampling_error_are_answered(sampled):
    shares = sampled.table("place", "sex").shares("row")
    found = shares.compare(("n", "f"), ("s", "f"))
    assert found.se > 0
    assert sampled.share({"sex": "f"}, {"place": "n1"}).se > 0


def test_detail_says_that_tables_share_their_noise(engine):
    told = repr(engine.table("place", "sex").detail(("n", "f")))
    assert "Noise was drawn once for all of its tables together" in told


def test_a_family_of_all_variables_refuses_nothing(tmp_path):
    from tests.families import PLAN

    text = PLAN.replace("up_to = 2", "up_to = 4").replace(', also = [["place@0", "sex", "age"]]', "")
    whole = sf.open(family_release(tmp_path / "whole", text))
    assert whole.product("jobs").together == ""
    assert whole.total({"place": "n2", "sex": "f", "age": "old", "school": "1"}).cells == 1

"""What a plan says of its sample: a misspelt census is no reason, and price says when a census is assumed."""

import json
from pathlib import Path

import pytest
from tests.commands import sfumato
from tests.conftest import SMALL

from sfumato.errors import PlanError
from sfumato.plan import Plan


def plan(sampling):
    return Plan.parse(f'sampling = "{sampling}"\n{SMALL}', Path("plan.toml"))


@pytest.mark.parametrize("word", ["censsus", "Census", "cencus", "censu", "zensus", "CENSUS"])
def test_a_misspelt_census_is_no_reason(word):
    with pytest.raises(PlanError, match=rf'sampling = "{word}" is no reason, .* write sampling = "census" if all'):
        plan(word)


@pytest.mark.parametrize(
    "reason", ["census", "no variance function yet", "a census of large firms and a sample", "none"]
)
def test_a_census_and_a_reason_are_taken(reason):
    assert plan(reason).sampling == reason


@pytest.mark.parametrize(("sampling", "census"), [("", True), ("census", True), ("none is stated yet", False)])
def test_price_says_when_a_census_is_assumed(tmp_path, sampling, census):
    path = tmp_path / "plan.toml"
    path.write_text(f'sampling = "{sampling}"\n{SMALL}' if sampling else SMALL, encoding="utf-8")
    assert ("The data are taken as a census" in sfumato("price", path)) == census
    assert json.loads(sfumato("price", path, "--json"))["census"] == census

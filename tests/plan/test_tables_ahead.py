"""What a family of tables will be like is said before any data: its errors, what would cost more, and the least mu."""

import json
import math
import re

import pytest
from tests.cli.test_cli import sfumato

from sfumato.errors import PlanError
from sfumato.mechanisms import EvenGaussian
from sfumato.plan import Plan

SIZES = (5, 4, 3, 3, 3, 2, 2, 2, 2, 2)
E_2, E_3, E_10 = 2557 / 180, 2929 / 120, 1024 / 27
"""What every cell has at mu 1, of all tables of up to two, three and ten of these variables; worked out by hand."""
Z = 1.6448536


def written(folder, up_to=3, of=SIZES, **more):
    """A plan for all tables of up to so many variables, of these sizes."""
    names = [f"v{place}" for place in range(len(of))]
    attributes = "".join(
        f"[attributes.{n}]\nlevels = {[str(one) for one in range(s)]}\n" for n, s in zip(names, of, strict=True)
    )
    told = "".join(f", {name} = {value}" for name, value in more.items())
    path = folder / "family.toml"
    path.write_text(
        f'name = "t"\n[data]\nunit = "job"\n{attributes}[hidden]\nneighbours = "add-remove"\nunit = "job"\n'
        f'[limit]\nmu = "5"\n[[measure]]\nname = "tables"\nof = "count"\nby = {{ up_to = {up_to}, of = {names} }}\n'
        f'with = {{ mechanism = "even-gaussian", mu = "1"{told} }}\n'
    )
    return path


def test_price_says_the_one_standard_deviation_of_every_cell(tmp_path):
    said = sfumato("price", written(tmp_path)).stdout
    assert "every cell of every table of up to 3 variables: SD 4.95, up to 5.01 as it is rounded." in said
    assert "all 10 variables together would have variance 38 instead of 24.5." in said
    told = json.loads(sfumato("price", written(tmp_path), "--json").stdout)["measures"][0]["tables"]
    errors = told["standard_error_by_variables"]
    assert list(errors) == ["0", "1", "2", "3"]
    assert errors["0"] ** 2 == pytest.approx(E_3 + 1 / 12, rel=1e-12)
    assert E_3 + 8 / 12 < errors["3"] ** 2 < E_3 + 8.1 / 12  # of a cell with two ends along each variable
    assert told["all_together"] == pytest.approx(
        {"variables": 10, "variance": E_10 + 1 / 12, "instead_of": E_3 + 1 / 12}
    )


def test_price_says_errors_by_the_number_of_variables_where_they_differ(tmp_path):
    """Sizes 3, 4, 2 at 0.8: 3.994433, 3.195546, 2.556437, and up to 4 roundings of 1/12 in steps of a half."""
    said = sfumato("price", written(tmp_path, 2, (3, 4, 2), fade='"0.8"')).stdout
    found = [float(one) for one in re.findall(r"([0-9.]+) \(", said[said.index("by the number of variables") :])]
    assert [one**2 for one in found] == pytest.approx([3.994433 + 1 / 12, 3.195546 + 0.07, 2.556437 + 0.1], abs=0.05)
    assert "together" not in said[said.index("by the number of variables") :].splitlines()[1]


@pytest.mark.parametrize(("up_to", "cost"), [(2, E_2), (3, E_3)])
def test_the_least_mu_is_the_root_of_what_a_cell_costs_over_what_it_may_have(tmp_path, up_to, cost):
    found = Plan.read(written(tmp_path, up_to)).budget({"tables": "400"}).shares[0]
    assert float(found.after) == pytest.approx(Z * math.sqrt(cost) / 400, rel=0.005)
    assert found.margin <= 400
    worse = Plan.read(written(tmp_path, up_to)).budget({"tables": "404"}).shares[0]
    assert worse.after < found.after


def test_the_least_mu_meets_all_targets_and_a_little_less_does_not(tmp_path):
    """Three variables at ten times these targets: mu² = 0.636893 / 100."""
    aim = '{ "0" = "50", "1" = "50", "2" = "50", "3" = "100" }'
    plan = Plan.read(written(tmp_path, 3, aim=aim))
    found = plan.budget({"tables": "aim"}).shares[0]
    assert float(found.after) == pytest.approx(math.sqrt(0.636893) / 10, rel=0.002)
    text = written(tmp_path, 3, aim=aim).read_text()
    for mu, verdict in ((found.after, "its aim is met."), (found.after * 99 / 100, "its aim is not met; budget")):
        (tmp_path / "scaled.toml").write_text(text.replace('mu = "1"', f'mu = "{mu}"'))
        assert verdict in sfumato("price", tmp_path / "scaled.toml").stdout
    said = sfumato("budget", written(tmp_path, 3, aim=aim), "--target", "tables=aim").stdout
    assert re.search(r"tables +mu 1 +mu 0\.0[0-9]+ +its aim +met +meets its target", said)


def test_a_target_that_is_just_missed_is_told_from_what_it_gets(tmp_path):
    """All alike at 50 costs mu² = E_2 / 2500; at a mu that is 0.05% less, 50.025 is more than 50 and not 50."""
    path = written(tmp_path, 2, aim='{ "0" = "50", "1" = "50", "2" = "50" }')
    path.write_text(path.read_text().replace('mu = "1"', f'mu = "{math.sqrt(E_2) / 50 / 1.0005:.9f}"'))
    ((missed, wanted),) = re.findall(
        r"its aim is not met.*: 0: ([0-9.]+) for ([0-9.]+);", sfumato("price", path).stdout
    )
    assert (float(missed), float(wanted)) == (pytest.approx(50.025, abs=0.02), 50)
    assert missed != wanted


def test_where_pairs_of_records_are_too_many_a_budget_is_said_to_be_enough_and_not_the_least(tmp_path):
    path = written(tmp_path, 2)
    words = "What tables needs is enough, and need not be the least"
    path.write_text(path.read_text().replace("add-remove", "replace-one"))
    assert words not in sfumato("budget", path, "--target", "tables=400").stdout
    path = written(tmp_path, 1, tuple(range(2, 24)))
    assert words not in sfumato("budget", path, "--target", "tables=400").stdout
    path.write_text(path.read_text().replace("add-remove", "replace-one"))
    assert words in sfumato("budget", path, "--target", "tables=400").stdout


def test_an_aim_that_is_not_there_is_no_target(tmp_path):
    with pytest.raises(PlanError, match="'tables' has no targets as its aim"):
        Plan.read(written(tmp_path, 2, aim='"cells"')).budget({"tables": "aim"})


WIDE = '{ statistic = "total", column = "pay", clip = ["0", "9007199254740992"], step = "1" }'


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"count"', WIDE, "where the noise is too wide"),
        ('"count"', WIDE.replace("9007199254740992", "2000000000000"), "more than 64-bit cells can carry"),
        ('mu = "', 'mu = "100000000000000', "where it is next to nothing"),
    ],
)
def test_noise_that_cannot_be_drawn_is_refused_before_anything_is_charged(tmp_path, old, new, words):
    """The cells of these are carried, and the contrasts, which are larger by the number of levels, are not."""
    path = written(tmp_path, 2, (2, 3))
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(PlanError, match=words):
        Plan.read(path).price()


def test_sums_are_looked_at_where_finer_parts_of_a_step_would_not_fit(tmp_path):
    """At a mu that makes noise small, tables are rounded to parts of a step, and the sums of parts must fit too."""
    plan = Plan.read(written(tmp_path, 2, (2, 3)))
    (measure,) = plan.measures
    move, fine = plan.move(measure), EvenGaussian(1000)
    assert fine.grain(move) > 1
    assert fine.stretch(move) == 6 * fine.grain(move)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"fade": '"0.1"'}, r"fade is 0\.1; with these attributes it is above 0\.25\."),
        ({"aim": '{ "1" = "3" }'}, "aim says nothing of the table v0,v1"),
        ({"aim": '{ "2" = "3", "v9" = "1" }'}, "aim names the table v9, which is not among these"),
        ({"aim": '{ "2" = "3", "4" = "1" }'}, "aim has a target for tables of 4 variables; these have up to 2"),
        ({"aim": '{ "2" = "-3" }'}, "aim of 2 is -3; it must be above 0"),
        ({"fade": '"2"'}, "fade is 2; it is above 0 and up to 1"),
    ],
)
def test_a_refused_aim_or_fade_names_the_plan_and_the_measure_as_the_plan_is_read(tmp_path, more, words):
    path = written(tmp_path, 2, (3, 4, 2), **more)
    with pytest.raises(PlanError, match=rf"^{re.escape(str(path))}: .*[Mm]easure.* 'tables'.*: {words}"):
        Plan.read(path)


TREE = """[attributes.v0]
levels = ["n", { code = "n1", parent = "n" }, "s", { code = "s1", parent = "s" }, { code = "s2", parent = "s" }]
"""


@pytest.mark.parametrize(
    ("more", "words"),
    [({"fade": '"0.8"'}, "fade is for attributes without a hierarchy"), ({"aim": '"cells"'}, "those of v0 have not")],
)
def test_of_hierarchies_too(tmp_path, more, words):
    path = written(tmp_path, 2, (3, 4), **more)
    path.write_text(path.read_text().replace("[attributes.v0]\nlevels = ['0', '1', '2']\n", TREE))
    with pytest.raises(PlanError, match=rf"^{re.escape(str(path))}: Measure 'tables', with: .*{words}"):
        Plan.read(path)

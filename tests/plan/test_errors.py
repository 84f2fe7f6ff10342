"""Every wrong plan is answered with the file, the key and what would work."""

import re
from pathlib import Path

import pytest

from sfumato.errors import PlanError, PromiseError, SfumatoError
from sfumato.mechanisms import DiscreteGaussian, Geometric, RoundedGaussian
from sfumato.plan import Measure, Plan, Publish
from sfumato.statistics import Count

GOOD = """
name = "jobs"
[data]
unit = "job"
[attributes.sex]
levels = ["f", "m"]
[attributes.age]
bands = [0, 16, 65]
[hidden]
neighbours = "replace-one"
unit = "job"
[limit]
epsilon = "2"
[[measure]]
name = "table"
of = "count"
by = ["sex", "age"]
with = { mechanism = "geometric", epsilon = 0.1 }
[[exposure]]
kind = "published"
what = "the list"
why = "it is public"
"""
PLACE = Path("folder/jobs.toml")


def refused(old, new, error=PlanError):
    assert old in GOOD
    with pytest.raises(error) as answer:
        Plan.parse(GOOD.replace(old, new, 1), PLACE)
    said = str(answer.value)
    assert said.startswith("folder/jobs.toml: ")
    return said.removeprefix("folder/jobs.toml: ")


def test_the_plan_that_the_others_are_spoiled_from_is_good():
    assert Plan.parse(GOOD, PLACE).price().total.words() == "epsilon 0.1"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "jobs"', 'nmae = "jobs"', "the plan has no key 'nmae'; did you mean 'name'?"),
        ("[[measure]]", "[[measures]]", "the plan has no key 'measures'; did you mean 'measure'?"),
        ('unit = "job"\n[attr', 'unti = "job"\n[attr', "[data] has no key 'unti'; did you mean 'unit'?"),
        (
            "[attributes.sex]",
            '[data.tables.jobs]\n[data.tables.w]\nont = "id"\n[attributes.sex]',
            "[data.tables.w] has no key 'ont'; did you mean 'on'?",
        ),
        ("levels =", "level =", "[attributes.sex] has no key 'level'; did you mean 'levels'?"),
        ("bands =", 'form = "AGEP"\nbands =', "[attributes.age] has no key 'form'; did you mean 'from'?"),
        (
            "bands =",
            'missing = { levl = "x" }\nbands =',
            "[attributes.age.missing] has no key 'levl'; did you mean 'level'?",
        ),
        ('["f", "m"]', '[{ code = "f", lable = "F" }]', "no 'lable'; did you mean 'label'?"),
        (
            '"replace-one"',
            '"replace-one"\nfixd = ["sex"]',
            "The relation 'replace-one' has no 'fixd'; did you mean 'fixed'?",
        ),
        ('epsilon = "2"', 'epsilonn = "2"', "[limit] has no key 'epsilonn'; did you mean 'epsilon'?"),
        ("by =", "bye =", "[measure.0] has no key 'bye'; did you mean 'by'?"),
        ("with = {", "wiht = {", "[measure.0] has no key 'wiht'; did you mean 'with'?"),
        (
            "epsilon = 0.1",
            "epsilo = 0.1",
            "[[measure]] 'table': The mechanism 'geometric' has no 'epsilo'; did you mean 'epsilon'?",
        ),
        (
            '"count"',
            '{ statistic = "total", colum = "w" }',
            "The statistic 'total' has no 'colum'; did you mean 'column'?",
        ),
        ("why =", "whi =", "[exposure.0] has no key 'whi'; did you mean 'why'?"),
        ("[limit]", "[publish]\nanswer = []\n[limit]", "[publish] has no key 'answer'; did you mean 'answers'?"),
    ],
)
def test_an_unknown_key_is_answered_with_the_nearest(old, new, said):
    assert said in refused(old, new)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"geometric"', '"geometrik"', "There is no mechanism 'geometrik'; did you mean 'geometric'?"),
        ('"geometric"', '"gaussian"', "did you mean '(even|rounded|discrete)-gaussian'"),
        ('"count"', '"cuont"', "'table': There is no statistic 'cuont'; did you mean 'count'?"),
        (
            '["sex", "age"]',
            '["sex", "agee"]',
            "^Measure 'table', by: 'agee' is not an attribute of this plan; did you mean 'age'",
        ),
        (
            "by = [",
            'where = { sx = "f" }\nby = [',
            "Measure 'table', where: 'sx' is not an attribute of this plan; did you mean 'sex'?",
        ),
        (
            "by = [",
            'where = { sex = "mm" }\nby = [',
            "Measure 'table', where: sex: 'mm' is not a level; did you mean 'm'?",
        ),
        ('"replace-one"', '"replace-won"', "There is no relation 'replace-won'; did you mean 'replace-one'?"),
        ('"replace-one"', '"replace-one"\nfixed = ["sxe"]', "[hidden] names 'sxe', which is not an attribute"),
        ('"published"', '"publishd"', "kind 'publishd'; did you mean 'published'?"),
        ("[limit]", '[publish]\nanswers = ["tabel"]\n[limit]', "answers names 'tabel'"),
        (
            "[hidden]",
            '[[impossible]]\nsex = "f"\nag = "0-15"\n[hidden]',
            "'ag' is not an attribute of this plan; did you mean 'age'?",
        ),
        ('["f", "m"]', '"codes/sex.csv"', "[attributes.sex] The list of levels folder/codes/sex.csv is not there"),
        ('["sex", "age"]', '["sex", "sex"]', "names an attribute twice"),
        ('["f", "m"]', '["f", "f"]', "[attributes.sex] The code 'f' stands twice"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(old, new, said):
    answer = refused(old, new)
    assert said in answer or re.search(said, answer)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "jobs"', "", "the plan lacks 'name'"),
        ('[limit]\nepsilon = "2"', "", "the plan lacks 'limit'"),
        ('of = "count"', "", "[measure.0] lacks 'of'"),
        ('why = "it is public"', "", "[exposure.0] lacks 'why'"),
        ('epsilon = "2"', "", "A loss is epsilon (with delta if there is one), mu or rho; got nothing"),
        ('neighbours = "replace-one"', "", "There is no relation ''; known: add-remove, loss-by-size"),
        ('unit = "job"\n[limit]', "[limit]", "does not say who is hidden: give [hidden] unit"),
        (", epsilon = 0.1", "", "The mechanism 'geometric' needs epsilon; got nothing"),
        ('levels = ["f", "m"]', "", "'sex' has no levels; list them, or name a CSV or Parquet file"),
        ('mechanism = "geometric", ', "", 'A mechanism is missing: write { mechanism = "..." }; known:'),
    ],
)
def test_a_missing_key_is_named(old, new, said):
    assert said in refused(old, new)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "jobs"', "name = 5", "[name]: Input should be a valid string"),
        ('["sex", "age"]', '"sex"', "[measure.0.by]: Input should be a valid list"),
        ('of = "count"', "of = 5", "[measure.0.of]: Input should be"),
        ('["f", "m"]', "5", "[attributes.sex.levels]: Input should be"),
        ("[0, 16, 65]", '["young"]', "The bands of 'age' are no numbers"),
        ("[0, 16, 65]", "[65, 16]", "The bands of 'age' must rise"),
        ("[0, 16, 65]", "[0]\nrecode = { 1 = '0+' }", "[attributes.age] has both bands and recode"),
        ("epsilon = 0.1", 'epsilon = "much"', "epsilon is 'much', which is not a number"),
        ("epsilon = 0.1", "epsilon = [1]", "epsilon is '(1,)', which is not a number"),
        ("epsilon = 0.1", "epsilon = true", "epsilon is 'True', which is not a number"),
        ("epsilon = 0.1", "epsilon = nan", "epsilon is 'NaN', which is not a number"),
        ("epsilon = 0.1", "epsilon = 0", "epsilon is 0; it must be above 0"),
        ("epsilon = 0.1", "epsilon = 1e999999999", "power of ten"),
        (
            '"count"',
            '{ statistic = "total", column = "w", clip = ["5"] }',
            'a lowest and a highest value, for example clip = ["0"',
        ),
        ('"count"', '{ statistic = "total" }', "The statistic 'total' needs column; got nothing"),
        ('"count"', '{ statistic = "count", step = "2" }', "The statistic 'count' has no 'step'"),
        (
            '"replace-one"',
            '"replace-one"\nid = "e"\nat_most = 2.5',
            "at_most is 2.5; it is the number of rows",
        ),
        ('"replace-one"', '"replace-one"\nat_most = 2', "cannot be enforced without knowing whose"),
        ('name = "table"', 'name = "../table"', "The measure name '../table' must be letters, digits, - and _"),
        ("[limit]", "[publish]\ngrades = { A = 0.3, B = 0.1 }\n[limit]", "grades are two CVs, A below B"),
        ('name = "jobs"', 'name = ""', "A plan has an empty name"),
        ("[hidden]", "[[impossible]]\n[hidden]", "An impossible combination names no attribute"),
    ],
)
def test_a_value_that_cannot_be_meant_is_named_with_its_key(old, new, said):
    assert said in refused(old, new)


@pytest.mark.parametrize("limit", ['epsilon = "-1"', 'epsilon = "1"\ndelta = 1', 'mu = "-1"', "rho = -1"])
def test_a_limit_that_is_no_loss_is_refused(limit):
    assert "A loss needs" in refused('epsilon = "2"', limit, PromiseError)


@pytest.mark.parametrize(
    "bad", ['name = "jobs', "name = ", "[[measure]", "name = " + "1" * 5000, "x = " + "[" * 5000, "x = 1e" + "9" * 30]
)
def test_what_is_no_toml_is_said_to_be_none(bad):
    assert refused('name = "jobs"', bad).startswith("not TOML, ")


@pytest.mark.parametrize("key", ["[]", '""', '["person", ""]'])
def test_a_key_that_names_no_column_is_refused_with_what_a_key_is(key):
    said = refused('[data]\nunit = "job"', f'[data]\nkey = {key}\nunit = "job"')
    assert f"[data] key is {key}, which names no column" in said
    assert 'key = ["person_id", "year"], or leave key out' in said


def test_two_measures_of_one_name_are_refused():
    again = GOOD[GOOD.index("[[measure]]") : GOOD.index("[[exposure]]")]
    with pytest.raises(PlanError, match=r"jobs\.toml: Two .* are named 'table'"):
        Plan.parse(GOOD + again, PLACE)


def test_tables_that_would_answer_one_question_twice_ask_which_answers():
    other = GOOD[GOOD.index("[[measure]]") : GOOD.index("[[exposure]]")].replace('"table"', '"other"')
    both = (GOOD + other.replace('["sex", "age"]', '["age"]')).replace('["sex", "age"]', '["sex"]')
    with pytest.raises(PlanError, match=r"table, other are of the same statistic.*\[publish\] answers"):
        Plan.parse(both, PLACE)
    assert Plan.parse(both + '[publish]\nanswers = ["other"]\n', PLACE).answering == ("other",)


def test_a_file_that_is_missing_a_folder_or_no_utf_8_is_named(tmp_path):
    with pytest.raises(PlanError, match=r"no plan at .*nowhere\.toml"):
        Plan.read(tmp_path / "nowhere.toml")
    with pytest.raises(PlanError, match="no plan at"):
        Plan.read(tmp_path)
    latin = tmp_path / "latin.toml"
    latin.write_bytes('name = "Löhne"'.encode("latin-1"))
    with pytest.raises(PlanError, match=r"latin\.toml is not UTF-8 text; save"):
        Plan.read(latin)


@pytest.mark.parametrize("made", [Geometric, RoundedGaussian, DiscreteGaussian])
def test_a_float_is_refused_where_a_plan_is_built_in_python(made):
    with pytest.raises(PlanError, match=r'float 0\.1, which is not exact; write it as text: \w+ = "0\.1"'):
        made(0.1)


def test_a_plan_that_measures_nothing_is_refused():
    good = Plan.parse(GOOD, PLACE)
    with pytest.raises(PlanError, match=r"'empty' measures nothing; add a \[\[measure\]\]"):
        Plan("empty", good.schema, good.hidden, good.limit, ())
    with pytest.raises(PlanError, match="must be letters"):
        Measure("", Count(), (), Geometric(1))
    with pytest.raises(PlanError, match="two CVs"):
        Publish({"A": 0.1})


def test_every_refusal_is_one_of_ours():
    assert issubclass(PlanError, SfumatoError)
    assert issubclass(PromiseError, SfumatoError)


def test_a_family_of_tables_is_not_of_some_levels_of_an_attribute_that_it_has():
    """Every question would tell that attribute apart too, and so be of one variable more than it seems."""
    by = 'by = { up_to = 1, of = ["sex", "age"] }'
    even = GOOD.replace('by = ["sex", "age"]', by).replace("geometric", "even-gaussian").replace("epsilon =", "mu =")
    even = even.replace("mu = 0.1", 'mu = "0.1"')
    assert Plan.parse(even, Path("plan.toml")).measures[0].names == ("sex", "age")
    with pytest.raises(
        PlanError, match=r"only of some sex \(where\), which is in its family of tables too; leave it out"
    ):
        Plan.parse(even.replace(by, f'where = {{ sex = "f" }}\n{by}'), Path("plan.toml"))
    without = by.replace('"sex", ', "")
    assert Plan.parse(even.replace(by, f'where = {{ sex = "f" }}\n{without}'), Path("plan.toml")).measures[0].where


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ('{ up_to = true, of = ["sex", "age"] }', "up_to is True of 2 attributes; give a number from 1 to 2"),
        ('{ up_to = 1.5, of = ["sex", "age"] }', "give a number from 1 to 2"),
        ('{ upto = 2, of = ["sex", "age"] }', "has no key 'upto'; did you mean 'up_to'"),
    ],
)
def test_what_is_wrong_in_a_family_of_tables_is_said_of_it(by, words):
    with pytest.raises(PlanError, match=words):
        Plan.parse(GOOD.replace('["sex", "age"]', by), Path("plan.toml"))

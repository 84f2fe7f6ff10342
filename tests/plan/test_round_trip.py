"""A plan built in Python writes TOML that reads back equal, whatever is in it."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.calibrate import Rake, Weigh
from sfumato.errors import PlanError
from sfumato.mechanisms import DiscreteGaussian, Geometric, RoundedGaussian
from sfumato.plan import Measure, Plan, Publish, VarianceFunction
from sfumato.privacy import AddRemove, Approximate, Concentrated, Exposure, Gaussian, ReplaceOne
from sfumato.schema import Attribute, Bands, Column, Levels, Missing, Recode, Rule, Schema
from sfumato.schema.attributes import RESERVED
from sfumato.statistics import Count, Total

# The plan of DESIGN, less the weights and calibration that come later; the levels stand in files beside it.
DESIGN = """
name  = "ors"
title = "Occupational Requirements Survey"
[data]
unit = "quote"
[attributes.soc]
levels = "codes/soc2018.csv"
of = "establishment"
[attributes.education]
levels = ["none", "high school", "associate", "bachelor", "graduate"]
of = "worker"
[attributes.age]
from = "AGEP"
bands = [0, 16, 25, 45, 65]
of = "worker"
[hidden]
neighbours = "add-remove"
unit = "establishment"
id = "establishment_id"
at_most = 8
[limit]
epsilon = "9"
delta = "1e-6"
[[measure]]
name = "cube"
of = "count"
by = ["soc", "education", "age"]
with = { mechanism = "geometric", epsilon = "7" }
[[measure]]
name = "by_soc"
of = "count"
by = ["soc"]
with = { mechanism = "geometric", epsilon = "2" }
[publish]
grades = { A = 0.15, B = 0.30 }
[[exposure]]
kind = "published"
what = "the list of occupations"
why  = "it is the public classification"
"""


@pytest.fixture
def design(tmp_path):
    (tmp_path / "codes").mkdir()
    (tmp_path / "codes" / "soc2018.csv").write_text("code,label,parent\n29,Health,\n29-1,Nurses,29\n35,Food,\n")
    path = tmp_path / "ors.toml"
    path.write_text(DESIGN, encoding="utf-8")
    return path


def again(plan):
    return Plan.parse(plan.to_toml(), Path("again.toml"))


def test_the_plan_of_the_design_says_what_it_says(design):
    plan = Plan.read(design)
    assert (plan.name, plan.title, plan.schema.unit) == ("ors", "Occupational Requirements Survey", "quote")
    assert plan.hidden == AddRemove("establishment", "establishment_id", 8)
    assert plan.limit == Approximate(9, "1e-6")
    assert plan.schema.attribute("soc").levels.leaves == ("29-1", "35")
    assert plan.schema.attribute("age").levels.codes == ("0-15", "16-24", "25-44", "45-64", "65+")
    assert plan.schema.attribute("age").column == "AGEP"
    assert plan.table(plan.measures[0]).shape == (2, 5, 5)
    assert plan.answering == ("cube",)
    assert plan.publish.grades == {"A": 0.15, "B": 0.3}
    assert plan.exposures == (Exposure("published", "the list of occupations", "it is the public classification"),)


def test_the_plan_of_the_design_is_priced_at_nine(design):
    bill = Plan.read(design).price()
    assert bill.total == Approximate(9)
    assert bill.cells == (50, 2)


def test_the_plan_of_the_design_stands_alone_once_written(design, tmp_path):
    plan = Plan.read(design)
    assert again(plan) == plan
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    (moved / "ors.toml").write_text(plan.to_toml(), encoding="utf-8")
    assert Plan.read(str(moved / "ors.toml")) == plan


def test_floats_in_toml_are_exact_decimals():
    text = DESIGN.replace('epsilon = "7"', "epsilon = 0.1").replace('delta = "1e-6"', "delta = 1e-6")
    text = text.replace('levels = "codes/soc2018.csv"', 'levels = ["29"]')
    plan = Plan.parse(text, Path("p.toml"))
    assert plan.measures[0].with_.epsilon == Fraction(1, 10) != Fraction(0.1)
    assert plan.limit.delta == Fraction(1, 10**6)


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
names = st.text("abcdefghijklmnopqrstuvwxyz_0123456789", min_size=1, max_size=8).filter(
    lambda name: name not in RESERVED and not name.endswith("_label")
)
amounts = st.one_of(st.integers(1, 50), st.decimals("0.001", "9", places=3), st.fractions("1/100", 9))


@st.composite
def some_levels(draw):
    codes = draw(st.lists(words, unique=True, min_size=2, max_size=6))
    records = []
    for place, code in enumerate(codes):
        parent = draw(st.one_of(st.none(), st.sampled_from(codes[:place]))) if place else None
        label, note = draw(st.one_of(st.none(), words)), draw(st.one_of(st.none(), words))
        records.append({"code": code, "parent": parent, "label": label, "note": note})
    return Levels.of(records)


@st.composite
def attributes(draw, name):
    label, of = draw(st.one_of(st.just(""), words)), draw(words)
    if draw(st.booleans()):
        edges = sorted(draw(st.sets(st.one_of(st.integers(-99, 99), st.fractions(-99, 99)), min_size=1, max_size=5)))
        bands = Bands(draw(words), tuple(edges))
        levels = Levels.of([f"band {place}" for place in range(len(edges))])
        return Attribute(name, levels, of, bands, label=label)
    levels = draw(some_levels())
    leaf = st.sampled_from(levels.leaves)
    read = draw(
        st.one_of(
            st.none(), st.builds(Column, words), st.builds(Recode.of, words, st.dictionaries(words, leaf, min_size=1))
        )
    )
    meant = {raw for raw, _ in read.codes} if isinstance(read, Recode) else set(levels.leaves)
    codes = st.lists(words.filter(lambda word: word not in meant)).map(tuple)
    missing = draw(st.one_of(st.none(), st.builds(Missing, leaf, codes)))
    return Attribute(name, levels, of, read, missing, label)


@st.composite
def schemas(draw):
    made = tuple(draw(attributes(name)) for name in draw(st.lists(names, unique=True, min_size=1, max_size=3)))
    rules = draw(st.lists(st.sampled_from(made), max_size=2))
    impossible = tuple(Rule.of({one.name: draw(st.sampled_from(one.levels.codes))}) for one in rules)
    key = draw(st.one_of(st.none(), words))
    return Schema(made, draw(words), key, draw(st.booleans()), impossible)


@st.composite
def measures(draw, schema, name):
    total = st.builds(
        lambda column, high, step: Total(
            column, clip=(-high * step, high * step), step=step, missing=0, unit="dollars"
        ),
        words,
        st.integers(1, 10**6),
        st.sampled_from([Fraction(1), Fraction(1, 8), Fraction(1, 3), Fraction(100)]),
    )
    of = draw(st.one_of(st.just(Count()), st.builds(Count, words), total, st.builds(Total, words)))
    chosen = draw(st.lists(st.sampled_from(schema.attributes), unique_by=lambda one: one.name))
    where = {one.name: tuple(draw(st.lists(st.sampled_from(one.levels.codes), max_size=2))) for one in chosen}
    by = draw(st.lists(st.sampled_from(schema.names), unique=True))
    made = draw(st.sampled_from([Geometric, RoundedGaussian, DiscreteGaussian]))
    return Measure(name, of, tuple(by), made(draw(amounts)), where, draw(st.sampled_from(["", "A title"])))


@st.composite
def plans(draw):
    schema = draw(schemas())
    named = draw(st.lists(names, unique=True, min_size=1, max_size=3))
    fixed = tuple(draw(st.lists(st.sampled_from(schema.names), unique=True)))
    at_most = st.integers(1, 9)
    hidden = st.one_of(
        st.builds(AddRemove, st.just(schema.unit)),
        st.builds(AddRemove, words, words, at_most),
        st.builds(ReplaceOne, st.just(schema.unit), fixed=st.just(fixed)),
        st.builds(ReplaceOne, words, words, at_most, st.just(fixed)),
    )
    limit = st.one_of(
        st.builds(Approximate, amounts, st.sampled_from([0, "1e-6", Fraction(1, 3)])),
        st.builds(Gaussian, amounts),
        st.builds(lambda square: Gaussian(squared=Fraction(square)), amounts),
        st.builds(Concentrated, amounts),
    )
    texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
    said = words.filter(str.strip)
    exposures = st.lists(
        st.builds(Exposure, st.sampled_from(["published", "assumed known", "invariant"]), said, said), max_size=2
    )
    return Plan(
        name=draw(words),
        schema=schema,
        hidden=draw(hidden),
        limit=draw(limit),
        measures=tuple(draw(measures(schema, name)) for name in named),
        title=draw(texts),
        period=draw(texts),
        exposures=tuple(draw(exposures)),
        publish=Publish({"A": 0.1, "B": draw(st.floats(0.2, 9))}, tuple(named)),
        sampling=draw(st.one_of(words, st.just((VarianceFunction(named[0], "-0.1", 3, "earlier"),)))),
    )


def test_steps_weights_and_replicates_read_back_equal():
    trade, size = (Attribute(name, Levels.of("ab")) for name in ("trade", "size"))
    schema = Schema((trade, size), unit="job", weight="w", weight_kind="base", replicates=("r1", "r2"))
    tables = {"cube": ("trade", "size"), "control": ("trade",), "strata": ("size",)}
    measured = tuple(Measure(name, Count(weighted=False), by, Geometric(1)) for name, by in tables.items())
    weigh = Weigh("weighed", "strata", "size", {"a": "1.5", "b": 2}, "jobs", "Jobs")
    steps = (Rake("raked", "cube", ("control",), cycles=9), weigh)
    plan = Plan("p", schema, AddRemove("job"), Approximate(3), measured, steps, sampling="nobody worked it out")
    assert again(plan) == plan
    assert plan.answering == ("raked", "weighed")


def test_weights_without_a_word_on_sampling_are_refused_in_python_as_in_a_file():
    schema = Schema((Attribute("trade", Levels.of("ab")),), unit="job", weight="w", weight_kind="base")
    measure = Measure("cube", Count(weighted=False), ("trade",), Geometric(1))
    with pytest.raises(PlanError, match="has a weight, so the records are a sample"):
        Plan("p", schema, AddRemove("job"), Approximate(3), (measure,))
    said = Plan("p", schema, AddRemove("job"), Approximate(3), (measure,), sampling="census")
    assert again(said) == said
    written = said.to_toml()
    assert 'sampling = "census"\n' in written
    with pytest.raises(PlanError, match="has a weight, so the records are a sample"):
        Plan.parse(written.replace('sampling = "census"\n', ""), Path("p.toml"))
    unweighed = Plan("p", Schema(schema.attributes, unit="job"), AddRemove("job"), Approximate(3), (measure,))
    assert unweighed.sampling == "census"


@settings(max_examples=60, deadline=None)
@given(plans())
def test_any_plan_reads_back_equal(plan):
    assert again(plan) == plan


def test_plans_that_differ_are_not_equal(design):
    plan = Plan.read(design)
    for old, new in (('epsilon = "7"', 'epsilon = "7.0000001"'), ("at_most = 8", "at_most = 9"), ('"AGEP"', '"AGE"')):
        other = Plan.parse(design.read_text().replace(old, new), design)
        assert other != plan
        assert again(other) == other


def test_an_amount_is_the_same_however_it_was_written():
    assert Geometric("0.1") == Geometric(Decimal("0.1")) == Geometric(Fraction(1, 10))


@pytest.mark.parametrize(("a", "b", "fits"), [("-0.1", "3", True), ("0", "0", True), ("0.1", "0", False), ("0", "-0.5", False)])  # fmt: skip  # noqa: E501
def test_a_variance_function_states_some_error_of_small_totals(a, b, fits):
    """With b at or below 0 small totals would be stated without sampling error; 0 and 0 say that there is none."""
    if fits:
        assert VarianceFunction("jobs", a, b, "a published table").b == Fraction(b)
    else:
        with pytest.raises(PlanError, match="would be stated without sampling error"):
            VarianceFunction("jobs", a, b, "a published table")

"""Price: from the plan alone, exact at the limit, and never below what any one record can cost."""

import tracemalloc
from dataclasses import replace
from fractions import Fraction
from itertools import product

import dp_accounting
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import PlanError, PromiseError
from sfumato.mechanisms import DiscreteGaussian, Geometric, RoundedGaussian
from sfumato.plan import Measure, Plan, Publish
from sfumato.privacy import AddRemove, Approximate, Concentrated, Exposure, Gaussian, ReplaceOne
from sfumato.release.promise import LARGEST_LOSS, LONGEST_LOSS
from sfumato.schema import Attribute, Levels, Rule, Schema
from sfumato.statistics import Count, Total

STATES, SEXES = ("al", "ak", "az"), ("f", "m")
SCHEMA = Schema((Attribute("state", Levels.of(STATES)), Attribute("sex", Levels.of(SEXES))), unit="job")
JOB = AddRemove("job")
PUBLIC_STATE = Exposure("assumed known", "the state of every job", "it is in the public register")


def plan(*measures, limit, hidden=JOB, exposures=()):
    answers = Publish(answers=(measures[0].name,))
    return Plan("p", SCHEMA, hidden, limit, measures, exposures=exposures, publish=answers)


def counted(name, mechanism, **where):
    return Measure(name, Count(), ("sex",), mechanism, where)


def by_state(mechanisms):
    return [counted(f"in_{state}", one, state=state) for state, one in zip(STATES, mechanisms, strict=True)]


def test_measures_of_the_same_records_add():
    bill = plan(counted("a", Geometric("0.1")), counted("b", Geometric("0.2")), limit=Approximate(1)).price()
    assert bill.total == Approximate("0.3")
    assert [spend.loss for spend in bill.spends] == [Approximate("0.1"), Approximate("0.2")]
    assert bill.cells == (2, 2)
    assert "total: epsilon 0.3 of epsilon 1" in str(bill)


def test_the_limit_is_met_to_the_last_digit_and_not_a_hair_passed():
    tenths = [counted(f"m{place}", Geometric("0.1")) for place in range(10)]
    assert plan(*tenths, limit=Approximate(1)).price().total == Approximate(1)
    hair = counted("hair", Geometric(Fraction(1, 10) + Fraction(1, 10**30)))
    with pytest.raises(PromiseError, match=r"together .*over the plan's limit of epsilon 1; give the measures less"):
        plan(*tenths[:9], hair, limit=Approximate(1)).price()
    with pytest.raises(PromiseError, match="over the plan's limit"):
        plan(*tenths, limit=Approximate(1 - Fraction(1, 10**30))).price()


def test_a_mu_limit_is_met_to_the_last_digit_and_not_a_hair_passed():
    both = (counted("a", RoundedGaussian("0.3")), counted("b", RoundedGaussian("0.4")))
    assert plan(*both, limit=Gaussian("0.5")).price().total == Gaussian("0.5")
    with pytest.raises(PromiseError, match="over the plan's limit"):
        plan(*both, limit=Gaussian(Fraction(1, 2) - Fraction(1, 10**30))).price()


def test_disjoint_universes_cost_the_dearest_when_one_record_comes_or_goes():
    measures = by_state([Geometric(1), Geometric(3), Geometric(2)])
    assert plan(*measures, limit=Approximate(3)).price().total == Approximate(3)


def test_disjoint_universes_cost_the_two_dearest_when_one_record_is_replaced():
    measures = by_state([Geometric(1), Geometric(3), Geometric(2)])
    assert plan(*measures, limit=Approximate(5), hidden=ReplaceOne("job")).price().total == Approximate(5)
    with pytest.raises(PromiseError, match="over the plan's limit"):
        plan(*measures, limit=Approximate("4.9"), hidden=ReplaceOne("job")).price()


def test_disjoint_universes_cost_the_dearest_when_what_parts_them_is_public():
    measures, hidden = by_state([Geometric(1), Geometric(3), Geometric(2)]), ReplaceOne("job", fixed=("state",))
    bill = plan(*measures, limit=Approximate(3), hidden=hidden, exposures=(PUBLIC_STATE,)).price()
    assert bill.total == Approximate(3)
    assert bill.exposures == (PUBLIC_STATE,)


def test_a_unit_of_k_rows_costs_the_k_dearest_universes():
    measures, firm = by_state([Geometric(1), Geometric(3), Geometric(2)]), AddRemove("firm", "id", 2)
    assert plan(*measures, limit=Approximate(9), hidden=firm).price().total == Approximate(5)


def test_universes_that_overlap_add():
    measures = (counted("a", Geometric(1), state=("al", "ak")), counted("b", Geometric(2), state=("ak", "az")))
    assert plan(*measures, limit=Approximate(9)).price().total == Approximate(3)


def test_gaussian_universes_are_priced_by_the_two_that_a_replaced_record_touches():
    measures = by_state([RoundedGaussian(1)] * 3)
    total = plan(*measures, limit=Approximate(9, "1e-6"), hidden=ReplaceOne("job")).price().total
    theirs = dp_accounting.get_epsilon_gaussian(1 / 2**0.5, 1e-6, tol=1e-12)
    assert theirs - 1e-9 <= float(total.epsilon) <= theirs + 1e-7


@st.composite
def universes(draw):
    """Up to five measures, each about some states and sexes."""
    made = []
    for place in range(draw(st.integers(1, 5))):
        where = {
            name: tuple(draw(st.lists(st.sampled_from(codes), unique=True, min_size=1)))
            for name, codes in (("state", STATES), ("sex", SEXES))
            if draw(st.booleans())
        }
        made.append(Measure(f"m{place}", Count(), (), Geometric(draw(st.integers(1, 5))), where))
    return made


def cost(measures, records):
    """What these records cost: every measure that sees one of them, in full."""
    sees = lambda one, record: all(code in one.where.get(name, (code,)) for name, code in record.items())  # noqa: E731
    return sum(one.with_.epsilon for one in measures if any(sees(one, record) for record in records))


@settings(max_examples=80, deadline=None)
@given(measures=universes(), fixed=st.sampled_from([(), ("state",), ("sex",), ("state", "sex")]))
def test_no_record_and_no_replacement_costs_more_than_the_price(measures, fixed):
    records = [{"state": state, "sex": sex} for state, sex in product(STATES, SEXES)]
    limit, known = Approximate(100), tuple(Exposure("assumed known", name, "a register") for name in fixed)
    added = plan(*measures, limit=limit).price().total.epsilon
    assert max(cost(measures, [record]) for record in records) <= added
    replaced = (
        plan(*measures, limit=limit, hidden=ReplaceOne("job", fixed=fixed), exposures=known).price().total.epsilon
    )
    pairs = [pair for pair in product(records, records) if all(pair[0][name] == pair[1][name] for name in fixed)]
    assert max(cost(measures, pair) for pair in pairs) <= replaced <= cost(measures, records)
    firm = plan(*measures, limit=limit, hidden=AddRemove("firm", "id", 2)).price().total.epsilon
    assert max(cost(measures, pair) for pair in product(records, records)) <= firm


@pytest.mark.parametrize("what", ["", "the interstate traffic", "states"])
def test_what_is_fixed_must_be_listed_as_an_exposure_by_name(what):
    listed = (Exposure("assumed known", what, "why"),) if what else ()
    fixed = ReplaceOne("job", fixed=("state",))
    with pytest.raises(
        PromiseError, match=r"replace-one leaves 'state' outside the guarantee.*add an \[\[exposure\]\]"
    ):
        plan(counted("a", Geometric(1)), limit=Approximate(1), hidden=fixed, exposures=listed).price()


def test_what_is_fixed_must_be_an_attribute():
    with pytest.raises(PlanError, match="names 'stat', which is not an attribute of this plan; did you mean 'state'"):
        plan(counted("a", Geometric(1)), limit=Approximate(1), hidden=ReplaceOne("job", fixed=("stat",)))


@pytest.mark.parametrize(
    ("of", "with_", "limit", "said"),
    [
        (Total("wage"), Geometric(1), Approximate(9), "Total of wage has no largest value.*give clip"),
        (Count(), DiscreteGaussian("0.5"), Gaussian(9), "rho 0.5 is no mu.*rounded Gaussian"),
        (Count(), RoundedGaussian(1), Approximate(9), "no epsilon without a delta.*give the limit a delta"),
        (Count(), DiscreteGaussian(1), Approximate(9), "no epsilon without a delta"),
        (Count(), RoundedGaussian(3), Concentrated(4), "cost rho 4.5 together.*over the plan's limit of rho 4"),
    ],
)
def test_what_cannot_be_claimed_is_refused_with_the_reason(of, with_, limit, said):
    with pytest.raises(PromiseError, match=said):
        plan(Measure("m", of, (), with_), limit=limit).price()


@pytest.mark.parametrize(
    "mechanism", [Geometric("1e-40"), RoundedGaussian("1e-40"), DiscreteGaussian("1e-40"), Geometric(10**40)]
)
def test_noise_that_cannot_be_drawn_is_refused_by_measure(mechanism):
    with pytest.raises(PlanError, match=r"(rounded-gaussian|discrete-gaussian|geometric).*steps"):
        plan(counted("far", mechanism), limit=Approximate(10**50, "0.1")).price()


def test_the_noise_scales_to_the_move_and_the_price_does_not():
    # DESIGN: Geometric(1) on counts has variance 1.84 under add-remove and 7.84 under replace-one, for one price.
    for hidden, variance in ((JOB, 1.841347), (ReplaceOne("job"), 7.835)):
        priced = plan(counted("a", Geometric(1)), limit=Approximate(1), hidden=hidden)
        assert priced.price().total == Approximate(1)
        assert Geometric(1).law(priced.move(priced.measures[0])).variance == pytest.approx(variance, rel=1e-4)


def trillion():
    wide = tuple(Attribute(name, Levels.of(range(10_000))) for name in ("block", "industry", "occupation"))
    schema = Schema(wide, unit="job", impossible=(Rule.of({"block": "1", "industry": "2"}),))
    measure = Measure("m", Count(), ("block", "industry", "occupation"), Geometric(1))
    return Plan("p", schema, JOB, Approximate(1), (measure,))


def test_a_trillion_cells_are_refused_before_anything_is_made():
    wide = trillion()
    tracemalloc.start()
    with pytest.raises(PlanError, match=r"block \(10,000\) × industry \(10,000\) × .*, 1,000,000,000,000 cells"):
        wide.price()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10**6


def test_a_price_needs_no_data_and_no_confidential_code(tmp_path):
    import subprocess
    import sys

    path = tmp_path / "p.toml"
    path.write_text(plan(counted("a", Geometric("0.1")), limit=Approximate(1)).to_toml(), encoding="utf-8")
    asked = (
        "import sys; from sfumato.plan import Plan; "
        f"print(Plan.read({str(path)!r}).price().total.words()); "
        "print(sorted(name for name in sys.modules if 'confidential' in name or name == 'duckdb'))"
    )
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == ["epsilon 0.1", "[]"]


@pytest.mark.parametrize("row", ["record", "job", "establishments"])
def test_an_establishment_without_an_id_is_not_hidden_unless_a_row_is_one(row):
    hidden, measure = AddRemove("establishment"), counted("a", Geometric(1))
    said = replace(SCHEMA, unit=row)
    with pytest.raises(PromiseError, match=r"or say in \[data\] that a row is an establishment"):
        replace(plan(measure, limit=Approximate(1)), schema=said, hidden=hidden).price()
    one = replace(plan(measure, limit=Approximate(1)), schema=replace(SCHEMA, unit="establishment"), hidden=hidden)
    assert one.price().total == Approximate(1)
    named = replace(hidden, id="id", at_most=1)
    assert replace(plan(measure, limit=Approximate(1)), schema=said, hidden=named).price().total == Approximate(1)


def test_the_key_of_a_row_hides_nobody_who_has_several_rows():
    """Each row names itself in its key: `at_most` rows of one key would bound nothing of a firm with many jobs."""
    keyed = replace(plan(counted("a", Geometric(1)), limit=Approximate(2)), schema=replace(SCHEMA, key="job_id"))
    with pytest.raises(PromiseError, match=r"id is 'job_id', the key of a job, so each job would be hidden by itself"):
        replace(keyed, hidden=AddRemove("firm", "job_id")).price()
    assert replace(keyed, hidden=AddRemove("firm", "firm_id", 2)).price().total == Approximate(1)
    assert replace(keyed, hidden=AddRemove("job", "job_id")).price().total == Approximate(1)


def test_a_loss_that_promises_nothing_or_that_nobody_reads_is_refused():
    largest = Approximate(LARGEST_LOSS)
    assert plan(counted("a", Geometric(100)), limit=largest).price().limit == largest
    with pytest.raises(PlanError, match=r"A loss is epsilon .*, which promises nothing"):
        plan(counted("a", Geometric(1)), limit=Approximate(LARGEST_LOSS + 1)).price()
    digits = Fraction(1, 3) + Fraction(1, 10**LONGEST_LOSS)
    with pytest.raises(PlanError, match="or has more digits than anybody reads"):
        plan(counted("a", Geometric(digits)), limit=Approximate(1)).price()

"""Families of tables moved to controls: least squares as one dense solve has it, and errors as they are drawn.

Simulations compare stated and drawn covariances over 4,000 releases by 6.4 standard errors, a false-alarm rate below
1e-9 an entry; the negative arms are the errors that forget a control, or trust it too much.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.families import CONTROLLED, PLAN, family_plan, family_release, family_rows
from tests.margins.families import ONE_RECORD, cells_of, flat, held_boxes, records_of
from tests.margins.test_properties import apart, indicator

from sfumato.calibrate import LeastSquares, calibrated
from sfumato.confidential import Account, Microdata, Options, run
from sfumato.draws import SeededDraws
from sfumato.errors import PlanError
from sfumato.mechanisms import EvenGaussian
from sfumato.mechanisms.contrasts import laws_of
from sfumato.plan import Plan
from sfumato.plan.steps import StepReading
from sfumato.privacy import EveryTable, plain
from sfumato.release import Components, Cube, Independent, Subject, Tables, open_release, verify
from sfumato.release.residuals import place_of
from sfumato.release.whole_tables import agree, estimate
from sfumato.schema import Attribute, Box, Grid, Levels, Schema, UpTo

SUBJECT = Subject("jobs", "count", "Jobs", "jobs", Fraction(1))
LAST = (Attribute("b", Levels.of("pqr")), Attribute("c", Levels.of("no")))


def tree(x: int, y: int) -> Schema:
    """Two parts with so many parts each, beside two attributes without a hierarchy."""
    below = [{"code": f"{one}{at}", "parent": one} for one, many in (("x", x), ("y", y)) for at in range(many)]
    return Schema((Attribute("a", Levels.of(["x", "y", *below])), *LAST))


FLAT, BALANCED, UNEVEN = flat(3, 2, 4), tree(3, 3), tree(2, 3)


def records_for(schema):
    return records_of(UpTo(1, schema.names).family(schema), 60, np.random.default_rng(2))


def measured(one, records, mechanism, copies=None, seed=3):
    """The contrasts of a family with noise and the product of them; with copies, so many publications at once."""
    cells = cells_of(one, records, EveryTable(ONE_RECORD, one))
    if copies:
        cells = replace(cells, values=np.broadcast_to(cells.values, (copies, cells.values.size)))
    noisy = mechanism.perturb(cells, SeededDraws(seed))
    of = replace(SUBJECT, name=f"tables{seed}", step=noisy.step)
    return mechanism.seen(noisy), Tables.of(of, noisy, mechanism.uncertainty(noisy))


def counted(schema, by, records, variance, copies=None, seed=5):
    """A table of the same records, each cell with rounded normal noise of its own; none where the variance is 0."""
    table = schema.table(by)
    ups = [schema.attribute(one.name).levels.above(one.levels) for one in table.attributes]
    values = np.zeros(table.shape, dtype=np.int64)
    np.add.at(values, tuple(up[records[:, schema.names.index(n)]] for up, n in zip(ups, table.names, strict=True)), 1)
    noise = np.random.default_rng(seed).normal(0, np.sqrt(max(variance - 1 / 12, 0)), (*([copies] if copies else []), *table.shape))  # fmt: skip  # noqa: E501
    return Cube(
        replace(SUBJECT, name="control"), table, values + np.rint(noise).astype(np.int64), Independent(variance)
    )


def rows_of(one, component):
    """Which leaves every cell of a component sums, a row a cell."""
    rows = np.ones((1, 1))
    for tree_, level in zip(one.trees, component, strict=True):
        rows = np.kron(rows, np.arange(tree_.rungs[level].size)[:, None] == tree_.parts[level].of)
    return rows


def seen_in_family(one, held, mechanism, contrasts):
    """The contrasts of a family as sums over the leaves of a wider one, their precisions, and what they are."""
    rows, precisions = [], np.zeros(contrasts.size)
    for component in held.components:
        contrast = np.ones((1, 1))
        for tree_, level in zip(held.trees, component, strict=True):
            rung = tree_.rungs[level]
            if level:
                contrast = np.kron(contrast, np.diag(rung.siblings) - (rung.parents[:, None] == rung.parents))
        rows.append(contrast @ rows_of(one, place_of(one, held.table(component))))
    for where, variance in laws_of(mechanism.design(EveryTable(ONE_RECORD, held))):
        precisions[where] = 1 / mechanism.law(variance).variance
    return np.vstack(rows), precisions, contrasts


def seen_in_table(one, control, variance):
    """The cells of a table in the same way; attributes in the order of the family."""
    order = [control.domain.names.index(name) for name in one.names if name in control.domain.names]
    rows = rows_of(one, place_of(one, control.domain))
    return rows, np.full(len(rows), 1 / variance), control.values.transpose(order).ravel()


def dense(one, seen, boxes):
    """Estimates and covariances of boxes by one least-squares solve over all leaves."""
    matrix, precisions, values = (np.concatenate(part) for part in zip(*seen, strict=True))
    inverse = np.linalg.pinv(matrix.T @ (precisions[:, None] * matrix), rcond=1e-10)
    asked = np.stack([_leaves(one, box) for box in boxes]).astype(float)
    return asked @ inverse @ matrix.T @ (precisions * values), asked @ inverse @ asked.T


def _leaves(one, box):
    found = np.ones(1, dtype=bool)
    for attribute in one.attributes:
        found = np.logical_and.outer(found, box.mask(attribute)).ravel()
    return found


def unrounded(made, boxes):
    """What the residuals say of boxes, in the unit of the records."""
    one, found = made.domain, []
    for box in boxes:
        at = one.holder(tuple(int(level[0]) for level in one.needed(Grid((), box))))
        table = estimate(one, one.tops[at], made.residuals.parts)
        found.append(float(table.ravel() @ indicator(one, box)[one.slices[at]]) * float(made.subject.step))
    return np.array(found)


def without_rounding(made, boxes):
    errors = replace(made.uncertainty, rounding=0.0).over(made.domain, made.values)
    return errors.covariances(boxes, boxes) * float(made.subject.step) ** 2


CASES = {
    "two attributes, turned": (FLAT, ("v1", "v0")),
    "one attribute": (FLAT, ("v2",)),
    "the total": (FLAT, ()),
    "all levels of a tree of equal parts": (BALANCED, ("b", "a")),
    "the top of a tree of unequal parts": (UNEVEN, ("a@0", "c")),
}
AIMED = EvenGaussian(1, aim={"1": 2, "2": 3})


@pytest.mark.parametrize("mechanism", [EvenGaussian(1), AIMED], ids=["even", "aimed"])
@pytest.mark.parametrize("case", CASES)
def test_a_noisy_table_moves_a_family_as_one_dense_solve_does(case, mechanism):
    schema, by = CASES[case]
    one, records = UpTo(2, schema.names).family(schema), records_for(schema)
    contrasts, base = measured(one, records, mechanism)
    control = counted(schema, by, records, 4.0)
    made = calibrated([LeastSquares("made", "jobs", ("control",))], {"jobs": base, "control": control})[0]["made"]
    boxes = held_boxes(one, np.random.default_rng(7), 12)
    seen = [seen_in_family(one, one, mechanism, contrasts), seen_in_table(one, control, 4.0)]
    estimates, covariances = dense(one, seen, boxes)
    # Of siblings of several numbers the widest law is stated for all: the twelfth of rounding, over 2 · 3 and 3 · 4.
    near = 1e-8 if schema is not UNEVEN else 0.01
    assert unrounded(made, boxes) == pytest.approx(estimates, abs=near)
    assert without_rounding(made, boxes) == pytest.approx(covariances, abs=near)
    alone = dense(one, seen[:1], boxes)
    assert not np.allclose(unrounded(made, boxes), alone[0], atol=0.1)
    assert np.trace(without_rounding(made, boxes)) < np.trace(alone[1])


@pytest.mark.parametrize("other", ["even", "aimed"])
@pytest.mark.parametrize("schema", [FLAT, BALANCED, UNEVEN], ids=["flat", "equal parts", "unequal parts"])
def test_another_family_moves_a_family_as_one_dense_solve_does(schema, other):
    one, records = UpTo(2, schema.names).family(schema), records_for(schema)
    few = UpTo(1, (schema.names[2], schema.names[0])).family(schema)
    law = EvenGaussian("0.7") if other == "even" else EvenGaussian("0.7", aim={"1": 2})
    contrasts, base = measured(one, records, EvenGaussian(1))
    theirs, control = measured(few, records[:, [2, 0]], law, seed=8)
    made = calibrated([LeastSquares("made", "jobs", ("few",))], {"jobs": base, "few": control})[0]["made"]
    boxes = held_boxes(one, np.random.default_rng(7), 12)
    seen = [seen_in_family(one, one, EvenGaussian(1), contrasts), seen_in_family(one, few, law, theirs)]
    estimates, covariances = dense(one, seen, boxes)
    near = 1e-8 if schema is not UNEVEN else 0.01
    assert unrounded(made, boxes) == pytest.approx(estimates, abs=near)
    assert without_rounding(made, boxes) == pytest.approx(covariances, abs=near)


def test_two_steps_are_one():
    one, records = UpTo(2, FLAT.names).family(FLAT), records_for(FLAT)
    base = measured(one, records, EvenGaussian(1))[1]
    products = {"jobs": base, "m": counted(FLAT, ("v0", "v1"), records, 3.0), "n": counted(FLAT, ("v2",), records, 2.0)}
    chain = [LeastSquares("first", "jobs", ("m",)), LeastSquares("second", "first", ("n",))]
    made = calibrated([*chain, LeastSquares("joint", "jobs", ("n", "m"))], products)[0]
    boxes = held_boxes(one, np.random.default_rng(7), 12)
    assert unrounded(made["second"], boxes) == pytest.approx(unrounded(made["joint"], boxes), abs=1e-9)
    assert without_rounding(made["second"], boxes) == pytest.approx(without_rounding(made["joint"], boxes), abs=1e-9)


@pytest.mark.parametrize("schema", [FLAT, UNEVEN], ids=["flat", "unequal parts"])
def test_exact_totals_are_met_to_the_last_digit_and_have_no_error(schema):
    """On trees of any kind; half a step in the totals makes the step of all tables half of it."""
    one, records = UpTo(2, schema.names).family(schema), records_for(schema)
    base = measured(one, records, EvenGaussian(1))[1]
    control = counted(schema, schema.names[:2][::-1], records, 0.0)
    control = replace(control, subject=replace(control.subject, step=Fraction(1, 2)), values=2 * control.values + 1)
    made = calibrated([LeastSquares("made", "jobs", ("control",))], {"jobs": base, "control": control})[0]["made"]
    assert agree(one, made.values)
    axes = tuple((a.name, np.eye(len(a.levels.leaves), dtype=bool)) for a in control.domain.attributes)
    totals = made.totals(Grid(axes)) * made.subject.step
    assert (totals == control.values * control.subject.step).all()
    assert (made.variances(Grid(axes)) == 0).all()
    third = Box({schema.names[2]: np.arange(len(schema.attributes[2].levels.leaves)) == 0})
    assert made.covariance(third, third) > 0


def exact_controls(records, large=0):
    """Exact totals by v0 and by v0 and v1, and the same with one total of the former one too large."""
    first, second = (counted(FLAT, by, records, 0.0) for by in (("v0",), ("v0", "v1")))
    first = replace(first, values=first.values + 2 * large)
    second = replace(second, values=second.values + large)
    return first, second, replace(first, values=first.values + np.eye(3, dtype=np.int64)[0])


@pytest.mark.parametrize("large", [0, 5 * 10**12])
@pytest.mark.parametrize("chain", [False, True], ids=["one step", "a chain"])
def test_exact_totals_that_no_table_has_together_are_refused(chain, large):
    """One step too many in 5 · 10^12 is as much of a contradiction as in 20, in one step or along a chain."""
    one, records = UpTo(2, FLAT.names).family(FLAT), records_for(FLAT)
    first, second, other = exact_controls(records, large)
    steps = [LeastSquares("made", "jobs", ("first", "second"))]
    if chain:
        noisy = LeastSquares("between", "then", ("n",))
        steps = [LeastSquares("then", "jobs", ("first",)), noisy, LeastSquares("made", "between", ("second",))]
    products = {"jobs": measured(one, records, EvenGaussian(1))[1], "n": counted(FLAT, ("v2",), records, 2.0)}
    assert calibrated(steps, {**products, "first": first, "second": second})[0]["made"]
    with pytest.raises(PlanError, match="'made': the exact totals 'first' and 'second' contradict each other by v0"):
        calibrated(steps, {**products, "first": other, "second": second})


def test_whoever_calls_a_step_over_a_family_is_told_as_well():
    one, records = UpTo(2, FLAT.names).family(FLAT), records_for(FLAT)
    _, second, other = exact_controls(records)
    with pytest.raises(PlanError, match="contradict each other"):
        LeastSquares("made", "jobs", ("first", "second")).apply(
            {"jobs": measured(one, records, EvenGaussian(1))[1], "first": other, "second": second}
        )


REGISTERS = """
[[control]]
name = "sexes"
of = "jobs"
by = ["sex"]
totals = [{ sex = "f", value = 1500 }, { sex = "m", value = 1501 }]
[[exposure]]
kind = "published"
what = "sexes"
why = "so are the totals by sex"
[[then]]
step = "least-squares"
name = "again"
table = "moved"
to = ["sexes"]
"""


def test_published_totals_that_contradict_each_other_along_a_chain_are_refused_as_the_plan_is_read():
    assert family_plan(CONTROLLED + REGISTERS.replace("1501", "1500")).then[1].name == "again"
    with pytest.raises(
        PlanError, match="'again': the exact totals 'register' and 'sexes' contradict each other in the"
    ):
        family_plan(CONTROLLED + REGISTERS)
    told, _, _ = REGISTERS.partition("[[then]]")
    once = CONTROLLED.replace('"register"]', '"register", "sexes"]').replace("[[then]]", told + "[[then]]")
    with pytest.raises(PlanError, match="'moved': the exact totals 'register' and 'sexes' contradict"):
        family_plan(once)


@pytest.mark.parametrize("chain", [False, True], ids=["one step", "a chain"])
def test_exact_totals_whose_common_step_is_too_fine_are_refused_as_the_plan_is_read(chain):
    """3,000 in steps of 2^-30 are 2^42, in steps of 5^-10 2^35; in their common step, 5^-10 · 2^-30, they are 2^65."""
    binary, decimal = Fraction(1, 2**30), Fraction(1, 5**10)
    ages = CONTROLLED.replace("value = 1010", f'value = "{plain(1010 + binary)}"')
    ages = ages.replace("value = 990", f'value = "{plain(990 - binary)}"')
    sexes = REGISTERS.replace("1500", f'"{plain(1500 + decimal)}"').replace("1501", f'"{plain(1500 - decimal)}"')
    whole = REGISTERS.replace("1501", "1500")

    def both(text, other):
        if chain:
            return text + other
        told, _, _ = other.partition("[[then]]")
        return text.replace('"register"]', '"register", "sexes"]').replace("[[then]]", told + "[[then]]")

    for one, other in ((ages, whole), (CONTROLLED, sexes)):
        assert len(family_plan(both(one, other)).published) == 2
    with pytest.raises(PlanError, match="'register', 'sexes' are multiples of no common step but one of 9"):
        family_plan(both(ages, sexes))


def noisy_totals(name, by, cells, error=40):
    """A control with the totals of cells by some attributes, all of one standard error."""
    listed = (", ".join(f'{one} = "{code}"' for one, code in zip(by, codes, strict=True)) for codes in cells)
    rows = (f"{{ {where}, value = {value}, standard_error = {error} }}" for where, value in zip(listed, cells.values(), strict=True))  # fmt: skip  # noqa: E501
    return f"""
[[control]]
name = "{name}"
of = "jobs"
by = {list(by)}
totals = [{", ".join(rows)}]
[[exposure]]
kind = "published"
what = "{name}"
why = "a survey published them"
"""


BOTH = {(sex, age): 500 + 7 * place for place, (sex, age) in enumerate((s, a) for s in "fm" for a in ("young", "middle", "old"))}  # fmt: skip  # noqa: E501
SEXES = {("f",): 500 + 507 + 514, ("m",): 521 + 528 + 535}


def test_a_noisy_total_may_be_below_0_and_an_exact_one_may_not():
    to = '[[then]]\nstep = "least-squares"\nname = "moved"\ntable = "jobs"\nto = ["sexes"]\n'
    text = PLAN + noisy_totals("sexes", ("sex",), {("f",): -3, ("m",): 900}) + to
    assert family_plan(text).published[0].totals[0].value == -3
    with pytest.raises(PlanError, match="'sexes': f is below 0"):
        family_plan(text.replace(", standard_error = 40", ""))


@pytest.mark.parametrize("chain", [False, True], ids=["one step", "a chain"])
def test_two_noisy_controls_that_are_sums_of_each_other_are_one(chain):
    """With a standard error of 40 two sums agree by chance in 1 of 200 releases at the most; both, in 1 of 40,000."""
    to = '[[then]]\nstep = "least-squares"\nname = "moved"\ntable = "jobs"\nto = ["both", "sexes"]\n'
    if chain:
        first = '[[then]]\nstep = "least-squares"\nname = "first"\ntable = "jobs"\nto = ["both"]\n'
        to = first + to.replace('"both", ', "").replace('table = "jobs"', 'table = "first"')
    both = PLAN + noisy_totals("both", ("sex", "age"), BOTH)
    with pytest.raises(PlanError, match="'moved': 'both' and 'sexes' have errors and agree to the last digit"):
        family_plan(both + noisy_totals("sexes", ("sex",), SEXES) + to)
    other = {**SEXES, ("m",): 1583}
    assert len(family_plan(both + noisy_totals("sexes", ("sex",), other) + to).controls) == 2
    near = noisy_totals("both", ("sex", "age"), BOTH, 0.5) + noisy_totals("sexes", ("sex",), SEXES, 0.5)
    assert len(family_plan(PLAN + near + to).controls) == 2, "so near, they may agree by chance"


def test_controls_that_were_made_of_one_measure_are_refused_together():
    plan = family_plan(CONTROLLED)
    one = plan._source(plan.measure("by_school"))
    step, jobs = plan.then[0], plan._source(plan.measure("jobs"))
    reading = StepReading(step, jobs, {"by_school": one, "other": replace(one, steps=("weighed",))})
    with pytest.raises(PlanError, match="the noise of 'by_school' is in 'by_school' and in 'other'"):
        reading.refuse_shared()
    StepReading(step, jobs, {"by_school": one}).refuse_shared()


def drawn(controls, copies=4_000, beside=()):
    """Many publications of a family at mu 1 moved to controls, boxes of each, and what is stated of them."""
    one, records = UpTo(2, BALANCED.names).family(BALANCED), records_for(BALANCED)
    products = {"jobs": measured(one, records, EvenGaussian("0.5"), copies)[1], **controls(records, copies)}
    made = calibrated([LeastSquares("made", "jobs", tuple(products)[1:])], products)[0]["made"]
    boxes = [Box(), *held_boxes(one, np.random.default_rng(5), 8), *beside]
    totals = made.values @ np.stack([indicator(one, box) for box in boxes], axis=1).astype(float)
    return totals, made, products["jobs"], boxes


def of_both(records, copies):
    few = UpTo(1, ("c", "a")).family(BALANCED)
    return {
        "control": counted(BALANCED, ("a", "b"), records, 9.0, copies),
        "few": measured(few, records[:, [2, 0]], EvenGaussian("0.7"), copies, seed=8)[1],
    }


def of_an_exact_one(records, copies):
    return {"exact": counted(BALANCED, ("a",), records, 0.0, copies), "total": counted(BALANCED, ("b",), records, 4.0, copies)}  # fmt: skip  # noqa: E501


class Coarse(EvenGaussian):
    """Tables rounded to whole steps, though that is a quarter of their noise."""

    def grain(self, move):
        return 1


def of_another_release(records, copies):
    """Tables at all levels as they were published, with a rounding of a quarter of the noise, and a noisy table."""
    few = UpTo(2, ("c", "a")).family(BALANCED)
    published = replace(measured(few, records[:, [2, 0]], Coarse("1.4"), copies, seed=8)[1], residuals=None)
    return {"few": published, "total": counted(BALANCED, ("b",), records, 4.0, copies)}


def test_the_rounding_of_another_release_is_in_what_is_moved_to_it():
    """It is seen best where every other part is summed, as each of them ends where it was rounded; not if forgotten."""
    every_other, first = np.array([1, 0, 1, 0, 1, 0], dtype=bool), np.array([1, 0], dtype=bool)
    beside = [Box({"a": every_other, "c": first}), Box({"a": ~every_other, "c": first})]
    totals, made, _, boxes = drawn(of_another_release, 8_000, beside)
    stated = made.errors.covariances(boxes, boxes)
    assert apart(totals, stated) < 6.4
    forgotten = replace(made.uncertainty, inherited=(), inherited_rounding=0.0)
    assert apart(totals, forgotten.over(made.domain, made.values[0]).covariances(boxes, boxes)) > 6.4
    again = Components.read(made.uncertainty.to_dict(), None)
    assert again == made.uncertainty


@pytest.mark.parametrize("controls", [of_both, of_an_exact_one, of_another_release])
def test_stated_errors_of_moved_tables_are_those_of_what_is_drawn(controls):
    totals, made, base, boxes = drawn(controls)
    stated = made.errors.covariances(boxes, boxes)
    assert apart(totals, stated) < 6.4
    unit = float(base.subject.step / made.subject.step)
    assert apart(totals, base.errors.covariances(boxes, boxes) * unit**2) > 6.4, "errors that forget the controls"
    trusted = Components(tuple(0.8 * one for one in made.uncertainty.variances), made.uncertainty.even_design)
    assert apart(totals, trusted.over(made.domain, made.values[0]).covariances(boxes, boxes)) > 6.4
    truth = len(records_for(BALANCED)) / float(made.subject.step)
    assert abs(totals[:, 0].mean() - truth) <= 6.4 * np.sqrt(stated[0, 0] / len(totals)) + 1e-9


def test_a_plan_moves_a_family_to_a_measure_another_family_and_published_totals(tmp_path):
    out = family_release(tmp_path / "release", CONTROLLED)
    assert verify(out).intact
    moved = open_release(out).products["moved"]
    assert moved.uncertainty.kind == "components"
    ages = Grid((("age", np.eye(3, dtype=bool)),))
    assert (moved.totals(ages) * moved.subject.step).tolist() == [1000, 1010, 990]
    assert moved.variances(ages).tolist() == [0, 0, 0]
    assert family_plan(CONTROLLED).answering == ("moved", "pay")


def test_a_plan_moves_a_family_in_two_steps_and_counts_no_control_twice(tmp_path):
    once, chain = CONTROLLED.split("[[then]]")[0], []
    for name, table, to in (
        ("first", "jobs", "by_school"),
        ("second", "first", "coarse"),
        ("third", "second", "register"),
    ):
        chain.append(f'[[then]]\nstep = "least-squares"\nname = "{name}"\ntable = "{table}"\nto = ["{to}"]\n')
    asked = held_boxes(family_plan().over.family(family_plan().measures[0]), np.random.default_rng(3), 6)
    found = []
    for name, text in (("moved", CONTROLLED), ("third", once + "".join(chain))):
        made = open_release(family_release(tmp_path / name, text)).products[name]
        found.append((without_rounding(made, asked), [float(made.total(box) * made.subject.step) for box in asked]))
    assert found[0][0] == pytest.approx(found[1][0])
    assert found[0][1] == pytest.approx(found[1][1], abs=1)  # both are rounded, to steps of their own
    with pytest.raises(PlanError, match="would be counted as new"):
        family_plan(once + "".join(chain[:2]) + chain[0].replace("first", "again").replace('"jobs"', '"second"'))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('by = ["school", "sex"]', 'by = ["place"]', "control by place@0, or measure 'by_school' as tables too"),
        ('by = ["school", "sex"]', 'by = ["school", "sex", "age"]', "no table of 'jobs' sums to 'by_school'"),
        ('step = "least-squares"', 'step = "rake"', 'use step = "least-squares"'),
        ("value = 1010 }", "value = 1010, standard_error = 4 }", "several standard errors"),
        ('table = "jobs"\nto = ["by_school", "coarse", "register"]', 'table = "by_school"\nto = ["jobs", "register"]',
         "let the step move 'jobs' to 'by_school'"),
    ],
)  # fmt: skip
def test_what_cannot_be_moved_is_refused_before_anything_is_charged(old, new, words):
    assert old in CONTROLLED
    with pytest.raises(PlanError, match=words):
        family_plan(CONTROLLED.replace(old, new))


ANOTHER = """
[[control]]
name = "earlier"
of = "jobs"
by = ["age"]
release = "earlier"
product = "cube"
[[exposure]]
kind = "published"
what = "earlier"
why = "it was released before"
[[then]]
step = "least-squares"
name = "moved"
table = "jobs"
to = ["earlier"]
"""
CUBE = (
    PLAN.split("[[measure]]")[0]
    + """[[measure]]
name = "cube"
of = "count"
by = ["age", "school"]
with = { mechanism = "rounded-gaussian", mu = "1" }
"""
)


@pytest.fixture(scope="module")
def earlier(tmp_path_factory):
    """A folder with a public release of one table, charged, in which plans can name it."""
    folder, plan = tmp_path_factory.mktemp("another"), family_plan(CUBE)
    Account.create(folder / "ledger", "jobs", plan.hidden, plan.limit)
    run(plan, Microdata.open(family_rows(), plan.schema), folder / "ledger", folder / "earlier")
    return folder


def test_another_release_moves_a_family_by_what_it_published_and_states(earlier):
    """Its totals by age sum four cells each, of variance 1 + 1/12: with the precision of both, errors are smaller."""
    plan = Plan.parse(PLAN + ANOTHER, earlier / "plan.toml")
    (control,) = plan.published
    cube = open_release(earlier / "earlier").products["cube"]
    ages = Grid((("age", np.eye(3, dtype=bool)),))
    assert [one.value for one in control.totals] == (cube.totals(ages) * cube.subject.step).tolist()
    errors = [float(one.standard_error) for one in control.totals]
    assert errors == pytest.approx([np.sqrt(4 * 13 / 12)] * 3)
    release = run(plan, Microdata.open(family_rows(), plan.schema), None, earlier / "moved", Options(rehearsal=1))
    moved, jobs = (release.products[name] for name in ("moved", "jobs"))
    variances = [float(one.variances(ages)[0] * one.subject.step**2) for one in (moved, jobs)]
    assert variances[0] < 0.75 * variances[1]
    assert Plan.parse(plan.to_toml(), earlier.parent / "elsewhere.toml").published == plan.published


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('product = "cube"', 'product = "cub"', "did you mean 'cube'"),
        ('by = ["age"]\nrelease', 'by = ["sex"]\nrelease', "is not by sex"),
        ('of = "jobs"', 'of = "pay"', "of another statistic"),
        ('release = "earlier"', 'release = "nowhere"', "cannot be read as a release"),
        ('release = "earlier"', 'file = "a.csv"\nrelease = "earlier"', "has one source"),
        (
            "[[exposure]]",
            '[[control]]\nname = "two"\nof = "jobs"\nby = ["age"]\nrelease = "earlier"\nproduct = "cube"\n[[exposure]]',
            "share noise",
        ),
    ],
)
def test_another_release_that_cannot_control_is_refused_with_the_reason(earlier, old, new, words):
    assert old in ANOTHER
    with pytest.raises(PlanError, match=words):
        Plan.parse(PLAN + ANOTHER.replace(old, new), earlier / "plan.toml")


def test_a_rehearsal_of_another_release_is_no_control(tmp_path):
    rehearsed = family_plan(CUBE)
    rows = Microdata.open(family_rows(), rehearsed.schema)
    run(rehearsed, rows, None, tmp_path / "rehearsed", Options(rehearsal=1))
    with pytest.raises(PlanError, match="is not public"):
        Plan.parse(PLAN + ANOTHER.replace('"earlier"\nproduct', '"rehearsed"\nproduct'), tmp_path / "plan.toml")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A folder with a public release of a family, and one of a family that was moved, in which plans can name them."""
    folder = tmp_path_factory.mktemp("tables")
    for name, text in (("earlier", PLAN), ("moved", CONTROLLED)):
        plan = family_plan(text)
        (folder / name).mkdir()
        Account.create(folder / name / "ledger", "jobs", plan.hidden, plan.limit)
        run(plan, Microdata.open(family_rows(), plan.schema), folder / name / "ledger", folder / name / "release")
    return folder


JOBS = PLAN[PLAN.index('name = "jobs"') : PLAN.index('\n[[measure]]\nname = "pay"')]
ONE_TABLE = 'name = "jobs"\nof = "count"\nby = ["place", "age"]\nwith = { mechanism = "rounded-gaussian", mu = "1" }'
FROM_TABLES = ANOTHER.replace('by = ["age"]', 'by = ["place", "age"]').replace(
    'release = "earlier"\nproduct = "cube"', 'release = "earlier/release"\nproduct = "jobs"'
)


def test_a_table_of_a_family_of_another_release_moves_a_family(tables):
    """Both have the same errors in what both tell apart, so that half of it is left there, and the rounding of one."""
    plan = Plan.parse(PLAN + FROM_TABLES, tables / "plan.toml")
    before = open_release(tables / "earlier" / "release").products["jobs"]
    release = run(plan, Microdata.open(family_rows(), plan.schema), None, tables / "out", Options(rehearsal=1))
    assert verify(tables / "out").intact
    moved, jobs = (release.products[name] for name in ("moved", "jobs"))
    leaves = (("place", np.eye(5, dtype=bool)), ("age", np.eye(3, dtype=bool)))
    for axes in ((), leaves[:1], leaves[1:], leaves):
        errors = [one.variances(Grid(axes)) * float(one.subject.step) ** 2 for one in (moved, jobs)]
        assert (0.49 * errors[1] < errors[0]).all()
        assert (errors[0] < 0.53 * errors[1]).all()
        first, second, made = (one.totals(Grid(axes)) * float(one.subject.step) for one in (before, jobs, moved))
        assert (np.abs(made - (first + second) / 2) <= 2 ** len(axes)).all(), "what rounding moves it by, at the most"
    others = Grid((("sex", np.eye(2, dtype=bool)), ("school", np.eye(4, dtype=bool))))
    kept = [one.variances(others) * float(one.subject.step) ** 2 for one in (moved, jobs)]
    assert (0.85 * kept[1] < kept[0]).all()
    again = Plan.parse(plan.to_toml(), tables.parent / "elsewhere.toml")
    assert again.published == plan.published


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('by = ["place", "age"]', 'by = ["sex", "age", "school"]', "has no table by sex, age, school"),
        ('release = "earlier/release"\nproduct = "jobs"', 'release = "moved/release"\nproduct = "moved"',
         "was moved to other totals"),
        ('{code="n1",parent="n"}, {code="n2",parent="n"}', '{code="n2",parent="n"}, {code="n1",parent="n"}',
         "in this order, along which"),
        (JOBS, ONE_TABLE, "or measure 'jobs' as a family"),
    ],
)  # fmt: skip
def test_a_family_of_another_release_that_cannot_control_is_refused_with_the_reason(tables, old, new, words):
    text = PLAN + FROM_TABLES
    assert old in text
    with pytest.raises(PlanError, match=words):
        Plan.parse(text.replace(old, new), tables / "plan.toml")


def test_noise_that_is_stated_otherwise_than_a_release_writes_it_is_refused(tables):
    plan = Plan.parse(PLAN + FROM_TABLES, tables / "plan.toml")
    written = plan.to_toml()
    (control,) = plan.published
    with pytest.raises(PlanError, match="a variance above 0 for each of 6 choices"):
        replace(plan, controls=(replace(control, shared=replace(control.shared, variances=(1.0,))),))
    with pytest.raises(PlanError, match="no multiple of the step"):
        replace(control, shared=replace(control.shared, step=Fraction(7)))
    assert "[control.shared]" in written or "shared" in written


@pytest.mark.parametrize("chain", [False, True], ids=["one step", "a chain"])
def test_a_table_of_a_family_and_a_file_of_what_it_prints_have_one_noise(tables, chain):
    """With standard errors of 2.3 and more, three sums agree by chance in 1 of 500 releases at the most."""
    to = FROM_TABLES.replace('to = ["earlier"]', 'to = ["earlier", "printed"]')
    if chain:
        second = FROM_TABLES[FROM_TABLES.index("[[then]]") :].replace('"moved"', '"again"').replace('"jobs"', '"moved"')
        to = FROM_TABLES + second.replace('["earlier"]', '["printed"]')
    jobs = open_release(tables / "earlier" / "release").products["jobs"]
    totals = jobs.totals(Grid((("age", np.eye(3, dtype=bool)),))) * jobs.subject.step
    ages = {(age,): float(total) for age, total in zip(("young", "middle", "old"), totals, strict=True)}
    with pytest.raises(PlanError, match="'earlier' and 'printed' have errors and agree to the last digit"):
        Plan.parse(PLAN + to + noisy_totals("printed", ("age",), ages, 2.3), tables / "plan.toml")
    other = noisy_totals("printed", ("age",), {**ages, ("old",): ages["old",] + 1}, 2.3)
    assert len(Plan.parse(PLAN + to + other, tables / "plan.toml").published) == 2


def test_a_written_table_of_another_release_counts_as_one_that_is_named(tables):
    written = Plan.parse(PLAN + FROM_TABLES, tables / "plan.toml").to_toml()
    start = written.index("[[control]]")
    block = written[start : written.index("[[then]]", start)]
    assert "[control.shared]" in block
    again = block.replace('name = "earlier"', 'name = "copy"')
    named = FROM_TABLES[: FROM_TABLES.index("[[exposure]]")].replace('name = "earlier"', 'name = "copy"')
    for second in (again, named):
        text = written.replace(block, block + second).replace(
            'to = [\n    "earlier",', 'to = [\n    "copy",\n    "earlier",'
        )
        assert text.count('"copy",') == 1
        with pytest.raises(PlanError, match="'earlier' and 'copy' come from other releases"):
            Plan.parse(text, tables / "plan.toml")


def test_one_table_of_another_release_that_is_written_out_counts_as_one_that_is_named(earlier):
    """Its cells have noise of their own, so nothing is stated but where it comes from."""
    plan = Plan.parse(PLAN + ANOTHER, earlier / "plan.toml")
    (control,) = plan.published
    assert control.released
    assert control.shared is None
    again = Plan.parse(plan.to_toml(), earlier / "again.toml")
    assert again.published == (control,)
    assert "released = true" in plan.to_toml()
    start = (written := plan.to_toml()).index("[[control]]")
    block = written[start : written.index("[[then]]", start)]
    named = ANOTHER[: ANOTHER.index("[[exposure]]")]
    for second in (block, named):
        text = written.replace(block, block + second.replace('name = "earlier"', 'name = "copy"'))
        with pytest.raises(PlanError, match="'earlier' and 'copy' come from other releases"):
            Plan.parse(text, earlier / "plan.toml")
    by_hand = block.replace("released = true\n", "").replace('name = "earlier"', 'name = "copy"')
    other = replace(Plan.parse(written.replace(block, by_hand).replace('"earlier",', '"copy",'), earlier / "p.toml"))
    assert not other.published[0].released, "totals that somebody writes are his own"


@pytest.mark.parametrize("made", ["earlier", "tables"])
def test_two_tables_of_other_releases_are_refused_in_python_as_in_a_file(made, request):
    """A plan that is put together of two has what neither has alone."""
    folder, text = request.getfixturevalue(made), {"earlier": ANOTHER, "tables": FROM_TABLES}[made]
    plan = Plan.parse(PLAN + text, folder / "plan.toml")
    (control,), (step,) = plan.published, plan.then
    beside = replace(control, name="copy", totals=tuple(replace(one, value=one.value + 8) for one in control.totals))
    with pytest.raises(PlanError, match="'earlier' and 'copy' come from other releases"):
        replace(plan, controls=(control, beside), then=(replace(step, to=("earlier", "copy")),))
    if made == "earlier":  # cells with noise of their own; what somebody writes is his own
        alone, both = replace(beside, released=False), (replace(step, to=("earlier", "copy")),)
        assert len(replace(plan, controls=(control, alone), then=both).published) == 2


WORKERS = 'unit = "worker"\nid = "worker"\nat_most = 1'


@pytest.fixture(scope="module")
def of_workers(tmp_path_factory):
    """A folder with a public release of a family and of one table, of at most one job of a worker."""
    folder, two = tmp_path_factory.mktemp("workers"), PLAN.replace('mu = "2"', 'mu = "3"', 1)
    two += CUBE[CUBE.index("[[measure]]") :] + '[publish]\nanswers = ["jobs", "pay"]\n'
    plan = family_plan(two.replace('add-remove"\nunit = "job"', f'add-remove"\n{WORKERS}'))
    rows = family_rows().append_column("worker", [[str(place % 1500) for place in range(3000)]])
    Account.create(folder / "ledger", "jobs", plan.hidden, plan.limit)
    run(plan, Microdata.open(rows, plan.schema), folder / "ledger", folder / "earlier")
    return folder


SAMPLED = 'sampling = "none"\n[data]\nweight = "w"\nweight_kind = "base"'


@pytest.mark.parametrize("product", ["jobs", "cube"], ids=["a family", "a table"])
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("at_most = 1", "at_most = 2", "it counts at most 1 for one worker, and this plan at most 2 for one worker"),
        (WORKERS, 'unit = "job"', "it counts at most 1 for one worker, and this plan all there are"),
        ('id = "worker"', 'id = "holder"', "and this plan at most 1 for one holder"),
        ('period = "2026"', 'period = "2025"', "it is of 2026, and this plan of 2025"),
        ('[data]\nunit = "job"', '[data]\nunit = "truck"', "it counts jobs, and this plan trucks"),
        ("[data]", SAMPLED, "by nothing, and this plan records weighed by w"),
        ('period = "2026"', "", ""),
        ('unit = "worker"', 'unit = "person"', ""),
    ],
    ids=["more rows", "all rows", "another id", "period", "unit", "weight", "no period", "the same"],
)  # fmt: skip
def test_another_release_controls_the_records_that_it_counted_and_no_others(of_workers, product, old, new, words):
    control = ANOTHER.replace('product = "cube"', f'product = "{product}"')
    text = PLAN.replace('add-remove"\nunit = "job"', f'add-remove"\n{WORKERS}') + control
    text = text.replace('of = "count"', 'of = { statistic = "count", weighted = false }')
    assert old in text
    if words:
        with pytest.raises(PlanError, match=f"is of other records: .*{words}"):
            Plan.parse(text.replace(old, new), of_workers / "plan.toml")
    else:
        assert len(Plan.parse(text.replace(old, new), of_workers / "plan.toml").published) == 1

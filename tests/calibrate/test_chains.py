"""Steps that read what steps made: in one step or in two, least squares is the same; errors stay true."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.calibrate.test_contract import FEW_OR_MANY, SHAPE, SIX, boxes, departures, problems, stated, subject, table
from tests.conftest import SMALL

import sfumato as sf
from sfumato.calibrate import Diverged, LeastSquares, Rake, calibrated
from sfumato.errors import PlanError
from sfumato.release import Cube, Independent, Squared
from sfumato.release.products.product import PUBLISHED
from sfumato.release.uncertainties import StatedIn, read_uncertainty

CONTROLS = {"m": (("a0", "a1"), 3.0), "n": (("a1", "a2"), 8.0)}


def drawn(rng, zeros=False):
    whole = table(zeros=zeros)
    true = np.where(whole.possible, np.random.default_rng(3).integers(150, 900, SHAPE), 0)
    return whole, problems(rng, whole, true, CONTROLS, 9.0)


@pytest.mark.parametrize("zeros", [False, True])
def test_least_squares_in_two_steps_is_least_squares_in_one(zeros):
    rng = np.random.default_rng(5)
    whole, products = drawn(rng, zeros)
    chain = [LeastSquares("first", "cube", ("m",)), LeastSquares("second", "first", ("n",))]
    made, lost = calibrated([*chain, LeastSquares("joint", "cube", ("m", "n"))], products)
    assert not lost
    second, joint = made["second"], made["joint"]
    in_units = [one.values * float(one.subject.step) for one in (second, joint)]
    np.testing.assert_allclose(*in_units, atol=1e-6)
    asked = boxes(rng, whole, 8)
    np.testing.assert_allclose(stated(second, asked), stated(joint, asked), rtol=1e-6, atol=1e-6)
    assert not np.allclose(stated(made["first"], asked), stated(joint, asked), rtol=1e-2)


@FEW_OR_MANY
def test_errors_of_least_squares_and_then_raking_are_the_simulated_ones(runs, small, large):
    rng, chain = np.random.default_rng(7), [LeastSquares("first", "cube", ("m",)), Rake("second", "first", ("n",))]
    whole, _ = drawn(rng)
    asked, totals = boxes(np.random.default_rng(2), whole, 6), []
    for _ in range(runs):
        made = calibrated(chain, drawn(rng)[1])[0]["second"]
        totals.append([made.total(box) * float(made.subject.step) for box in asked])
    claim, simulated = stated(made, asked), np.array(totals)
    assert departures(claim, simulated) < SIX + 2
    assert departures(large * claim, simulated) > SIX + 2, "stated too large must be rejected"
    assert departures(small * claim, simulated) > SIX + 2, "stated too small must be rejected"


def published(true):
    """Totals of a population whose cells are from 1 to 27 times the sample's."""
    whole, grown = table(zeros=False), true * np.array([2, 5, 1, 9])[:, None, None] * np.arange(1, 4)
    of = replace(subject("totals"), mechanism=PUBLISHED)
    sums = {"p": (("a0",), (1, 2)), "q": (("a2",), (0, 1))}
    return {
        name: Cube(of, whole.margin(by), grown.sum(axis=others).astype(np.int64), Independent(0.0))
        for name, (by, others) in sums.items()
    }


@FEW_OR_MANY
@pytest.mark.parametrize(
    "chain",
    [
        [LeastSquares("first", "cube", ("m",)), Rake("second", "first", ("p", "q"))],
        [Rake("first", "cube", ("m",)), Rake("second", "first", ("p", "q"))],
        [Rake("first", "cube", ("m",)), LeastSquares("second", "first", ("n",))],
        [Rake("first", "cube", ("p", "q")), LeastSquares("second", "first", ("p",))],
    ],
    ids=lambda chain: " then ".join(step.kind for step in chain),
)
def test_errors_of_a_raked_table_or_of_raking_a_made_one_to_published_totals_are_the_simulated_ones(
    chain, runs, small, large
):
    rng = np.random.default_rng(7)
    whole, _ = drawn(rng)
    totals = published(np.random.default_rng(3).integers(150, 900, SHAPE))
    asked, simulated = boxes(np.random.default_rng(2), whole, 5), []
    for _ in range(runs):
        made = calibrated(chain, drawn(rng)[1] | totals)[0]["second"]
        simulated.append([made.total(box) * float(made.subject.step) for box in asked])
    claim, simulated = stated(made, asked), np.array(simulated)
    assert departures(claim, simulated) < SIX + 2
    assert departures(large * claim, simulated) > SIX + 2
    assert departures(small * claim, simulated) > SIX + 2


def test_an_error_under_a_step_is_taken_at_the_values_before_it_also_once_it_was_read_again():
    _, products = drawn(np.random.default_rng(4))
    products |= published(np.random.default_rng(3).integers(150, 900, SHAPE))
    chain = [Rake("first", "cube", ("m",)), Rake("second", "first", ("p",)), Rake("third", "second", ("q",))]
    made = calibrated(chain, products)[0]["third"]
    columns = made.uncertainty.columns
    assert sorted(columns) == ["before0", "before1", "factor0", "factor1"]
    again = read_uncertainty(made.uncertainty.to_dict(), StatedIn(made.subject.step, columns.__getitem__, None))
    asked = boxes(np.random.default_rng(2), made.domain, 4)
    np.testing.assert_allclose(stated(replace(made, uncertainty=again), asked), stated(made, asked), rtol=1e-12)
    moved = {**columns, "before0": columns["before0"][::-1]}
    other = read_uncertainty(made.uncertainty.to_dict(), StatedIn(made.subject.step, moved.__getitem__, None))
    assert not np.allclose(stated(replace(made, uncertainty=other), asked), stated(made, asked), rtol=1e-3)


def test_noise_on_roots_is_refused_by_steps_over_tables_with_the_reason():
    _, products = drawn(np.random.default_rng(1))
    for name in ("cube", "m"):
        rooted = replace(products[name], uncertainty=Squared(2.0))
        for step in (LeastSquares, Rake):
            with pytest.raises(PlanError, match="noise is on square roots: its variances follow the draws"):
                step("made", "cube", ("m",)).apply(products | {name: rooted})


def test_what_reads_a_step_without_an_answer_has_none_either():
    _, products = drawn(np.random.default_rng(1))
    steps = [Rake("first", "cube", ("m", "n"), cycles=1, tolerance=0.0), LeastSquares("second", "first", ("m",))]
    made, lost = calibrated(steps, products)
    assert sorted(made) == ["cube", "m", "n"]
    assert [one.name for one in lost] == ["first", "second"]
    assert isinstance(lost[1], Diverged)
    assert lost[1].why.startswith("it reads 'first': raking did not converge")


MEASURE = '[[measure]]\nname = "{}"\nof = "count"\nby = {}\nwith = {{ mechanism = "geometric", epsilon = "0.1" }}\n'
STEP = '[[then]]\nstep = "{}"\nname = "{}"\ntable = "{}"\nto = {}\n'
HEAD = (
    SMALL[: SMALL.index("[[measure]]")]
    + MEASURE.format("cube", '["trade", "place", "age"]')
    + MEASURE.format("by_place", '["place"]')
    + MEASURE.format("by_trade", '["trade"]')
)


def plan(*steps):
    return sf.Plan.parse(HEAD + "".join(STEP.format(*one) for one in steps), Path("chain.toml"))


def test_the_last_product_of_a_chain_answers():
    chain = plan(("least-squares", "first", "cube", '["by_place"]'), ("rake", "second", "first", '["by_trade"]'))
    assert chain.answering == ("second",)
    assert chain.began("second").name == "cube"
    assert plan_again(chain) == chain


def plan_again(one):
    return sf.Plan.parse(one.to_toml(), Path("again.toml"))


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (
            [("rake", "second", "first", '["by_trade"]'), ("rake", "first", "cube", '["by_place"]')],
            "reads 'first', which stands later",
        ),
        ([("rake", "first", "first", '["by_place"]')], "reads 'first', which stands later"),
        ([("rake", "first", "cub", '["by_place"]')], "does not make; did you mean 'cube'"),
        (
            [("rake", "first", "cube", '["by_place"]'), ("rake", "second", "first", '["by_place"]')],
            "the noise of 'by_place' is in 'first' already",
        ),
        (
            [("rake", "first", "cube", '["by_place"]'), ("rake", "second", "cube", '["by_trade"]')],
            "read the same measure; one question, one answer",
        ),
        (
            [("rake", "first", "by_trade", "[]"), ("rake", "second", "cube", '["first"]')],
            "calibrates to nothing",
        ),
    ],
)
def test_a_chain_that_cannot_be_is_refused_in_words(steps, said):
    with pytest.raises(PlanError, match=said):
        plan(*steps)

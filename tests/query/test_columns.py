"""Tables as arrays, groups and shares: the same answers as one question a cell, to the last bit where they can be."""

import math

import numpy as np
import pytest
from cubes import cubes, leaves_of, questions
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from worlds import TABLE, World, engine_of, subject_of

from sfumato.draws import SeededDraws
from sfumato.errors import QueryError
from sfumato.mechanisms import Geometric
from sfumato.query import Columns, Estimate, Group
from sfumato.query.answer import METRICS
from sfumato.query.estimate import IMPOSSIBLE
from sfumato.query.ranks import variances_of_differences
from sfumato.query.ratio import ratio_of
from sfumato.release import Calibrated, Control, Cube, Independent, NoNumber, Raked, Withheld
from sfumato.schema import Box, Level

ENGINE = engine_of(World.of(Geometric(1)).cube("jobs", SeededDraws(1)))


def laid_out(engine, asked):
    try:
        return engine.table(**asked)
    except QueryError as error:
        assume("none of the levels shown is within the filter" not in str(error))
        raise


def asked_of(table, codes) -> dict[str, list[str]]:
    """The filter that asks for one cell of a table alone."""
    where = dict(table.where)
    for axis, code in zip(table.axes, codes, strict=True):
        where[axis.attribute.name] = leaves_of(axis, code, table.where)
    return where


def stated(number) -> float:
    return math.nan if isinstance(number, Withheld) else number


@settings(max_examples=150, deadline=None)
@given(questions())
def test_columns_are_the_estimates_of_single_questions_to_the_last_bit(question):
    engine, asked = question
    table = laid_out(engine, asked)
    columns, records = table.columns(), table.records()
    arrow = table.to_arrow().to_pylist()
    for flat, (codes, estimate) in enumerate(table.items()):
        alone = engine.total(asked_of(table, codes))
        if not alone.cells:
            assert (estimate, repr(alone)[0]) == (IMPOSSIBLE, "–")
            continue
        assert estimate == alone
        assert type(estimate.value) is type(alone.value)
        numbers = (alone.value, alone.moe(), alone.noise_se, alone.sampling_se, alone.cv)
        got = [getattr(columns, name)[flat] for name in METRICS]
        np.testing.assert_array_equal(got, [stated(one) for one in numbers])
        assert (columns.grade[flat], columns.cells[flat]) == (alone.grade, alone.cells)
        said = [None if isinstance(one, Withheld) else one for one in numbers]
        told = [records[flat][name] for name in (*METRICS, "grade", "cells")]
        assert told == [*said, alone.grade, alone.cells]
        assert arrow[flat] == records[flat]


def test_a_withheld_error_is_no_number_in_columns_and_null_in_downloads():
    cube = Cube(subject_of("jobs"), TABLE, np.full(TABLE.shape, 7), Withheld("it would leak"))
    table = engine_of(cube).table("age")
    assert np.isnan(table.columns().moe90).all()
    assert np.isnan(table.columns().noise_share).all()
    assert set(table.columns().grade) == {"-"}
    assert table.to_arrow()["moe90"].null_count == 4
    assert table["young"].noise_variance == Withheld("it would leak")


def test_numbers_too_large_for_a_float_stay_exact():
    cube = Cube(subject_of("jobs", step=10**6), TABLE, np.full(TABLE.shape, 2**45 + 1), Independent(1.0))
    table = engine_of(cube).table("sex")
    assert table["f"].value == (2**45 + 1) * 20 * 12 * 4 * 10**6
    assert table.columns().estimate.tolist() == [one.value for _, one in table.items()]


def test_noise_share_is_the_part_of_the_variance_that_is_noise():
    table = ENGINE.table("age")
    assert table.columns().noise_share.tolist() == [1.0] * 4
    exact = engine_of(Cube(subject_of("jobs"), TABLE, np.full(TABLE.shape, 7), Independent(0.0))).table("age")
    assert np.isnan(exact.columns().noise_share).all()


def test_a_group_is_summed_and_its_error_is_that_of_its_cells():
    mixed = ["trade0", Group("Mine", ("trade1", "trade2-0", "Trade 1"))]
    table = ENGINE.table("trade", "sex", at={"trade": mixed})
    assert table.axes[0].codes == ("trade0", "group:Mine")
    assert table.axes[0].labels == ("Trade 0", "Mine")
    assert table["Mine", "f"] == table["group:Mine", "f"] == ENGINE.total({"trade": ["trade1", "trade2-0"], "sex": "f"})
    assert table["mine", "f"].cells == 6 * 12 * 4
    assert {record["trade_label"] for record in table.records()} == {"Trade 0", "Mine"}
    assert "Mine" in repr(table)
    assert "Mine" in table._repr_html_()
    assert table.axes[0].overlaps == ()


def test_groups_that_overlap_are_noted_and_their_difference_leaves_out_what_they_share():
    both = [Group("One", ("trade0", "trade1")), Group("Two", ("trade1", "trade2")), "trade3", "trade0-0"]
    table = ENGINE.table("trade", at={"trade": both})
    assert table.axes[0].overlaps == (("group:One", "group:Two"), ("group:One", "trade0-0"))
    apart = ENGINE.compare({"trade": "trade0"}, {"trade": "trade2"})
    assert table.compare("One", "Two").value == apart.value
    assert table.compare("One", "Two").noise_variance == pytest.approx(apart.noise_variance)
    assert ENGINE.table("trade", at={"trade": "all"}).axes[0].overlaps == ()


def test_a_filter_cuts_groups_and_drops_those_outside_it():
    groups = [Group("In", ("trade0", "trade1")), Group("Out", ("trade2",))]
    table = ENGINE.table("trade", at={"trade": groups}, where={"trade": ["trade1", "trade3"]})
    assert table.axes[0].codes == ("group:In",)
    assert table["In"].value == ENGINE.total({"trade": "trade1"}).value


@pytest.mark.parametrize(
    ("shown", "hint"),
    [
        (Group("Mine", ("trad1",)), "did you mean 'trade1'"),
        (Group("Mine", ()), "the group 'Mine' is empty"),
        (Group("trade 1", ("trade2",)), "already a level"),
        ([Group("Mine", ("trade1",)), Group("mine", ("trade2",))], "two groups are named"),
        ([], "nothing is shown"),
    ],
)
def test_a_group_that_cannot_be_meant_is_refused(shown, hint):
    with pytest.raises(QueryError, match=hint):
        ENGINE.table("trade", at={"trade": shown})


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 101])
def test_the_name_of_a_group_is_short_and_printable(name):
    with pytest.raises(QueryError, match="printable"):
        Group(name, ("trade1",))


def test_what_may_not_be_summed_refuses_groups():
    cube = Cube(subject_of("medians", additive=False), TABLE, np.full(TABLE.shape, 7), Independent(2.0))
    held = {"place": "place0-0", "age": "old", "sex": "f"}
    with pytest.raises(QueryError, match="may not be summed over Trade"):
        engine_of(cube).table("trade", where=held, at={"trade": Group("Mine", ("trade1-0", "trade1-1"))})
    with pytest.raises(QueryError, match="no cell is a share"):
        engine_of(cube).table("trade", where=held, at={"trade": "leaves"}).shares()


def test_a_download_may_state_a_larger_bound():
    at = dict.fromkeys(TABLE.names, "all")
    with pytest.raises(QueryError, match="more than 1,000"):
        ENGINE.table(list(TABLE.names), at=at, at_most=1_000)
    assert ENGINE.table(list(TABLE.names), at=at, at_most=100_000).totals.size == 24 * 15 * 4 * 3


WHOLES = ("row", "column", "whole")


@settings(max_examples=150, deadline=None)
@given(questions(), st.sampled_from(WHOLES))
def test_shares_are_those_of_single_questions(question, of):
    _check_shares(question, of, 1e-12)


@pytest.mark.parametrize("errors", ["calibrated", "raked"])
def test_shares_after_calibration_are_those_of_single_questions(errors):
    @settings(max_examples=60, deadline=None)
    @given(questions(errors), st.sampled_from(WHOLES))
    def check(question, of):
        _check_shares(question, of, 1e-7)

    check()


def _check_shares(question, of, near):
    engine, asked = question
    table = laid_out(engine, asked)
    if of == "row" and not table.has_columns:
        with pytest.raises(QueryError, match="need columns"):
            table.shares(of)
        return
    shares = table.shares(of)
    kept = {"row": table.row_axes, "column": table.axes[-1:] if table.has_columns else (), "whole": ()}[of]
    columns = shares.columns()
    for flat, (codes, share) in enumerate(shares.items()):
        part, whole = asked_of(table, codes), dict(table.where)
        whole |= {one.attribute.name: part[one.attribute.name] for one in kept}
        assert (share is IMPOSSIBLE) == (engine.total(part).cells == 0)
        if share is IMPOSSIBLE:
            continue
        try:
            alone = engine.share(part, whole)
        except QueryError as error:
            assert share == NoNumber(str(error))  # noqa: PT017
            assert np.isnan(columns.estimate[flat])
            assert columns.grade[flat] == "-"
            continue
        assert share.value == pytest.approx(alone.value, rel=1e-12)
        for name, column in (
            ("noise_variance", columns.noise_variance),
            ("sampling_variance", columns.sampling_variance),
        ):
            one, other = getattr(share, name), getattr(alone, name)
            assert (one == other) if isinstance(other, Withheld) else one == pytest.approx(other, rel=near, abs=near)
            np.testing.assert_allclose(column[flat], stated(other), rtol=near, atol=near)
        np.testing.assert_allclose(columns.moe90[flat], stated(alone.moe()), rtol=1e-6, atol=math.sqrt(near))
        assert share.cells == alone.cells == columns.cells[flat]


def test_shares_of_named_variables_are_of_the_totals_that_these_tell():
    table = ENGINE.table(["trade", "age"], "sex")
    by_trade = table.shares(of="trade")
    assert by_trade["trade1", "old", "f"] == ENGINE.share(
        {"age": "old", "sex": "f", "trade": "trade1"}, {"trade": "trade1"}
    )
    assert sum(share.value for codes, share in by_trade.items() if codes[0] == "trade2") == pytest.approx(1)
    both = table.shares(of=["trade", "age"])
    assert both["trade1", "old", "f"] == table.shares(of="row")["trade1", "old", "f"]
    with pytest.raises(QueryError, match="did you mean 'trade'"):
        table.shares(of="trad")


def test_a_share_that_could_be_anything_is_refused_in_its_cell_alone():
    values = np.full(TABLE.shape, 7)
    values[:5] = 0
    engine = engine_of(Cube(subject_of("jobs"), TABLE, values, Independent(2.0)))
    shares = engine.table("trade", "sex").shares("row")
    assert isinstance(dict(shares.items())["trade0", "f"], NoNumber)
    assert shares["trade1", "f"].value == pytest.approx(1 / 3)
    with pytest.raises(QueryError, match="within its own noise of 0"):
        shares["trade0", "f"]
    assert shares.to_arrow()["estimate"].null_count == 3


@pytest.mark.parametrize("errors", ["independent", "calibrated", "raked"])
def test_covariances_in_one_stroke_are_those_of_pairs(errors):
    @settings(max_examples=60, deadline=None)
    @given(st.data())
    def check(data):
        engine, asked = data.draw(questions(errors, sampled=False))
        table = laid_out(engine, asked)
        boxes = list(table.grid.boxes())
        matrix = table.product.errors.covariances(boxes, boxes[:3])
        scale = max(1.0, np.abs(matrix).max())
        for row, one in enumerate(boxes):
            for column, other in enumerate(boxes[:3]):
                assert matrix[row, column] == pytest.approx(table.product.covariance(one, other), abs=1e-9 * scale)
            single = table.product.covariance(one, one)
            assert table.variances.flat[row] == pytest.approx(single, abs=1e-9 * scale)

    check()


@settings(max_examples=40, deadline=None)
@given(cubes("calibrated"))
def test_a_grid_cut_into_pieces_has_the_same_variances(cube):
    shown = [attribute.name for attribute in cube.attributes]
    whole = engine_of(cube).table(shown, at=dict.fromkeys(shown, "all"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sfumato.release.uncertainties.controls.LARGEST", 1)
        cut = engine_of(cube).table(shown, at=dict.fromkeys(shown, "all"))
        np.testing.assert_allclose(cut.variances, whole.variances, atol=1e-9)
        shares = [one.shares(shown[0]).columns().noise_variance for one in (cut, whole)]
    np.testing.assert_allclose(*shares, atol=1e-9)


def test_words_for_many_levels_may_stand_beside_groups():
    shown = ENGINE.table("trade", at={"trade": ["@0", Group("Mine", ("trade1", "trade2"))]})
    assert shown.axes[0].codes == ("trade0", "trade1", "trade2", "trade3", "group:Mine")


def test_shares_are_shown_in_percent_with_their_margin_and_a_dash_where_refused():
    values = np.full(TABLE.shape, 700)
    values[:5] = 0
    shares = engine_of(Cube(subject_of("jobs"), TABLE, values, Independent(2.0))).table("trade", "sex").shares("row")
    assert "33.3% ± 0.1 A" in repr(shares), "a margin of 0.03 is not none"
    # A margin of 0.0059 points leaves four decimals, as on the page.
    assert shares._repr_html_().count("33.3333%") == 2 * 9
    assert shares._repr_html_().count('<span class="n">–</span>') == 3
    assert "within its own noise of 0" in shares._repr_html_()


@pytest.mark.parametrize("errors", ["independent", "calibrated", "raked"])
def test_covariances_with_the_whole_are_those_of_pairs(errors):
    @settings(max_examples=60, deadline=None)
    @given(st.data())
    def check(data):
        engine, asked = data.draw(questions(errors, sampled=False))
        table = laid_out(engine, asked)
        names = [axis.attribute.name for axis in table.axes]
        kept = tuple(name for name in names if data.draw(st.booleans()))
        found, boxes = table.product.errors.with_whole(table.grid, kept).ravel(), list(table.grid.boxes())
        for flat, box in enumerate(boxes):
            whole = Box({name: mask for name, mask in box.masks.items() if name in kept}).within(table.grid.within)
            assert found[flat] == pytest.approx(table.product.covariance(box, whole), rel=1e-9, abs=1e-8)

    check()


@settings(max_examples=60, deadline=None)
@given(questions())
def test_variances_of_differences_are_those_of_single_comparisons(question):
    engine, asked = question
    table = laid_out(engine, {**asked, "cols": None, "at": {asked["rows"]: asked["at"][asked["rows"]]}})
    found = variances_of_differences(table.product, table.grid, table.source.sampling)
    for row, one in enumerate(table.axes[0].codes):
        for column, other in enumerate(table.axes[0].codes):
            alone = table.compare(one, other).variance
            if isinstance(alone, Withheld):
                assert found == alone
            elif row != column:
                assert found[row, column] == pytest.approx(alone, rel=1e-9, abs=1e-9)


def test_grades_are_those_of_estimates_whatever_the_thresholds():
    values, grades = np.array([0, 1, 2, 3, 5, 10, -4, 40]), {"A": 0.7, "B": 2.0}
    columns = Columns(values, np.full(8, 4.0), np.zeros(8), np.ones(8, dtype=np.int64), grades)
    assert columns.grade.tolist() == [Estimate(one, 4.0, grades=grades).grade for one in values.tolist()]
    assert set(columns.grade.tolist()) == {"A", "C"}


@pytest.mark.parametrize("kept", [(), ("place",), ("trade",), ("trade", "place")])
@pytest.mark.parametrize("by", [("age", "trade"), ("sex",), ()], ids=["partly", "apart", "whole"])
@pytest.mark.parametrize("kind", [Calibrated, Raked])
def test_one_control_is_summed_over_its_own_cells(kind, by, kept):
    """One control takes a way of its own; axes that it names, axes that it does not, and a filter on either."""
    control, jobs = (Control(tuple(map(Level, by)), 7.0),), World.of(Geometric(1)).jobs + TABLE.possible
    engine = engine_of(Cube(subject_of("jobs"), TABLE, jobs, kind(Independent(3.7), control)))
    where, at = {"age": ["young", "old"], "place": ["place0", "place1-1"]}, {"place": "all"}
    table = engine.table("trade", "place", where=where, at=at)
    found = table.product.errors.with_whole(table.grid, kept).ravel()
    for flat, box in enumerate(table.grid.boxes()):
        whole = Box({name: mask for name, mask in box.masks.items() if name in kept}).within(table.grid.within)
        assert found[flat] == pytest.approx(table.product.covariance(box, whole), rel=1e-9, abs=1e-9)


def test_no_grade_is_better_than_the_margin_beside_the_number_says():
    """A share near the noise of its whole, worked out by hand.

    Taylor: (80 - 2 · 0.6767 · 80 + 0.6767² · 120) / 30² = 0.1722², 25% of the share. Fieller at 90%: the roots of
    575.3 R² - 2 · 392.5 R + 195.6 are 0.328 and 1.037, so that the margin is 0.360, 1.645 times 32% of the share.
    """
    share = ratio_of(Estimate(20.3, 80.0), Estimate(30.0, 120.0), 80.0, "", 0.0, inside=True)
    assert share.se == pytest.approx(0.1722, abs=1e-4)
    assert share.cv < 0.30
    assert share.moe(0.90) == pytest.approx(0.360, abs=1e-3)
    assert share.grade == "C"
    assert ratio_of(Estimate(20.3, 40.0), Estimate(30.0, 60.0), 40.0, "", 0.0, inside=True).grade == "B"
    assert Estimate(100, 14.9**2).grade == "A", "where margins are 1.645 standard errors, bounds are those of the CV"
    assert Estimate(100, 15.1**2).grade == "B"

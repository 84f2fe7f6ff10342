"""What stands in a drawing: places in proportion to the numbers, errors that are never zero when they are withheld."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pictures.conftest import SPACE, Drawn, mark, places

from sfumato.errors import QueryError
from sfumato.pictures import KINDS, Caption, Mark, lines
from sfumato.pictures.rows import bars, domain, dots
from sfumato.pictures.svg import Scale

NUMBERS = st.floats(-1e9, 1e9, allow_nan=False)


def whisker_ends(group) -> list[float]:
    ends = [one for one in group.iter(SPACE + "line") if "pic-whisker" in one.get("class")]
    return sorted({float(one.get(side)) for one in ends for side in ("x1", "x2")})


def test_the_places_of_dots_and_whisker_ends_are_in_proportion_to_the_numbers(caption):
    drawn = Drawn(dots([mark("a", 0, 100), mark("b", 400, 100), mark("c", -200, 50)], caption))
    groups = [group for said, group in drawn.marks().items() if ":" in said]
    dot = [float(next(group.iter(SPACE + "circle")).get("cx")) for group in groups]
    unit = (dot[1] - dot[0]) / 400
    assert dot[2] == pytest.approx(dot[0] - 200 * unit, abs=0.2)
    for group, x, reach in zip(groups, dot, (100, 100, 50), strict=True):
        assert whisker_ends(group) == pytest.approx([x - reach * unit, x + reach * unit], abs=0.2)


def test_a_bar_starts_at_zero_and_a_negative_one_reaches_to_the_left(caption):
    drawn = Drawn(bars([mark("up", 300, 30), mark("down", -150, 30)], caption))
    zero = float(drawn.all("line", "zero")[0].get("x1"))
    up, down = drawn.all("rect", "column")
    assert float(up.get("x")) == pytest.approx(zero, abs=0.1)
    assert float(down.get("x")) + float(down.get("width")) == pytest.approx(zero, abs=0.2)
    assert float(up.get("width")) == pytest.approx(2 * float(down.get("width")), rel=0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_a_withheld_error_is_said_and_never_drawn_as_an_interval(kind, caption):
    reason = "the scale is the largest employer of the cell"
    drawn = Drawn(KINDS[kind]([mark("known", 5, 1), mark("unknown", 7, None, "-", withheld=reason)], caption))
    said = next(said for said in drawn.marks() if "unknown" in said and ":" in said)
    group = drawn.marks()[said]
    assert reason in said
    assert whisker_ends(group) == []
    assert not [one for one in group.iter() if "ellipse" in one.tag]
    assert any("pic-broken" in one.get("class", "") for one in group.iter())
    assert "error withheld" in drawn.texts()


@pytest.mark.parametrize("kind", KINDS)
def test_grade_c_is_hollow_and_the_others_are_full(kind, caption):
    graded = [mark(grade, 10, 2, grade) for grade in "ABC"]
    groups = {said[0]: group for said, group in Drawn(KINDS[kind](graded, caption)).marks().items() if ":" in said}
    hollow = {name: any("pic-hollow" in one.get("class", "") for one in groups[name].iter()) for name in "ABC"}
    assert hollow == {"A": False, "B": False, "C": True}


@pytest.mark.parametrize("kind", ["dot", "bar"])
def test_every_row_prints_its_number_its_margin_and_its_grade(kind, caption):
    drawn = Drawn(KINDS[kind]([mark("nurses", 310, 76, "B", shown="310 ± 76")], caption))
    assert {"310 ± 76", "B", "nurses"} <= set(drawn.texts())


def test_the_noise_takes_its_share_of_the_interval(caption):
    drawn = Drawn(dots([mark("a", 100, 80, noise_share=0.25)], caption))
    noise, both = drawn.all("ellipse", "noisy"), drawn.all("ellipse", "sampled")
    assert float(noise[0].get("rx")) == pytest.approx(0.25 * float(both[0].get("rx")), abs=0.1)


@pytest.mark.parametrize(("share", "keys"), [(1.0, {"privacy noise"}), (0.0, {"sampling error"}), (None, set())])
def test_only_what_is_drawn_has_a_key(share, keys, caption):
    texts = set(Drawn(dots([mark("a", 100, 80, noise_share=share)], caption)).texts())
    assert texts & {"privacy noise", "sampling error"} == keys


def test_the_key_to_the_band_of_a_line_is_a_band_of_its_kind(caption):
    for share, kind in ((1.0, "noisy"), (0.25, "sampled"), (None, "unsplit")):
        marks = [mark(year, 100, 80, noise_share=share) for year in ("2025", "2026")]
        drawn = Drawn(lines(marks, caption))
        assert not [one for name in ("line", "polyline") for one in drawn.all(name, "whisker")]
        assert len(drawn.all("rect", kind)) == 1, kind


def test_series_differ_in_shape_and_not_in_colour_alone(caption):
    marks = [mark("row", 10 * place, 2, series=f"s{place}") for place in range(1, 7)]
    for kind in KINDS:
        drawn = Drawn(KINDS[kind](marks, caption))
        assert {f"s{place}" for place in range(1, 7)} <= set(drawn.texts())
        outlines = set()
        for place in range(6):
            found = [one for one in drawn.root.iter() if f"pic-f{place}" in one.get("class", "").split()]
            shape = next(one for one in found if one.tag in {SPACE + "circle", SPACE + "polygon"})
            corners = places(shape.get("points", ""))
            first = corners[0] if corners else (0, 0)
            outlines.add(tuple((round(x - first[0]), round(y - first[1])) for x, y in corners))
        assert len(outlines) == 6


def test_the_line_of_a_series_breaks_where_a_period_is_missing(caption):
    periods = ["2021", "2022", "2023", "2024", "2025"]
    whole = [mark(period, 10, 1, series="whole") for period in periods]
    broken = [mark(period, 20, 1, series="broken") for period in periods if period != "2023"]
    drawn = Drawn(lines(whole + broken, caption))
    assert [len(places(one.get("points"))) for one in drawn.all("polyline", "curve")] == [5, 2, 2]


def test_the_band_of_a_line_holds_every_interval_and_stops_at_a_withheld_error(caption):
    marks = [mark(f"{year}", 100 + year, 5.0 * (year + 1)) for year in range(4)]
    marks.append(mark("4", 104, None, "-"))
    drawn = Drawn(lines(marks, caption))
    band = places(drawn.all("polygon", "unsplit")[0].get("points"))
    centre = places(drawn.all("polyline", "curve")[0].get("points"))
    upper, lower = band[:4], list(reversed(band[4:]))
    assert len(centre) == 5
    unit = (lower[0][1] - upper[0][1]) / 10
    for year in range(4):
        assert upper[year][0] == centre[year][0]
        assert centre[year][1] - upper[year][1] == pytest.approx(5 * (year + 1) * unit, abs=0.2)
        assert lower[year][1] - centre[year][1] == pytest.approx(5 * (year + 1) * unit, abs=0.2)


def test_names_at_the_ends_of_lines_do_not_stand_on_each_other(caption):
    marks = [mark(f"{year}", 100 + place / 10, 1, series=f"series {place}") for place in range(6) for year in range(3)]
    drawn = Drawn(lines(marks, caption))
    heights = sorted(float(one.get("y")) for one in drawn.all("text") if (one.text or "").startswith("series"))
    assert len(heights) == 6
    assert min(after - before for before, after in pairwise(heights)) >= 12


def corners(one, moved=(0.0, 0.0)):
    """Every place that an element and all inside it name, moved as the groups around them are."""
    shift = re.match(r"translate\((\S+) (\S+)\)", one.get("transform", ""))
    if shift:
        moved = moved[0] + float(shift[1]), moved[1] + float(shift[2])
        yield moved
    for names in (("x", "y"), ("cx", "cy"), ("x1", "y1"), ("x2", "y2")):
        if names[0] in one.attrib:
            yield moved[0] + float(one.get(names[0])), moved[1] + float(one.get(names[1]))
    for x, y in places(one.get("points", "")):
        yield moved[0] + x, moved[1] + y
    for child in one:
        yield from corners(child, moved)


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(list(KINDS)),
    width=st.sampled_from([320, 360, 720]),
    rows=st.lists(st.tuples(st.text(max_size=90), NUMBERS, st.none() | st.floats(0, 1e9)), min_size=1, max_size=12),
    title=st.text(max_size=200),
)
def test_everything_stays_within_the_frame(kind, width, rows, title):
    marks = [mark(label, value, reach, noise_share=0.5) for label, value, reach in rows]
    drawn = Drawn(KINDS[kind](marks, Caption(title, "jobs", source="somewhere", banner="NO: not yet"), width))
    across, down = drawn.frame()
    found = list(corners(drawn.root))
    assert len(found) > 10
    assert all(0 <= x <= across and 0 <= y <= down for x, y in found)


@pytest.mark.parametrize(
    ("marks", "why"),
    [
        ([], "at least one row"),
        ([mark("a", 1, 0, series=f"{place}") for place in range(7)], "fewer columns"),
        ([mark(f"{place}", 1, 0) for place in range(2001)], "fewer rows"),
    ],
    ids=["none", "too many series", "too many rows"],
)
def test_what_nobody_could_read_is_refused(marks, why, caption):
    with pytest.raises(QueryError, match=why):
        dots(marks, caption)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_has_no_place_on_an_axis_is_refused(value):
    with pytest.raises(QueryError, match="no place"):
        Mark("a", value, None, None)
    with pytest.raises(QueryError, match="no place"):
        Mark("a", 0, -value, value)


def test_an_axis_holds_a_number_that_lies_outside_of_its_interval():
    """An interval of a percentage ends at 0; the number that noise moved below 0 is drawn below 0 all the same."""
    low, high = domain([Mark("a", -0.2, 0.0, 0.1, "C"), Mark("b", 1.3, 0.4, 1.0, "A")], zero=False)
    assert low <= -0.2
    assert high >= 1.3


@settings(max_examples=200, deadline=None)
@given(low=st.floats(-1e6, 1e6), size=st.floats(1e-2, 1e9))
def test_an_axis_has_four_ticks_or_more_all_within_it_and_evenly_apart(low, size):
    ticks = Scale(low, low + size, 0, 100).ticks()
    assert 4 <= len(ticks) <= 12
    assert all(low - 1e-6 * size <= tick <= low + size * 1.000001 for tick in ticks)
    steps = {round((after - before) / (ticks[1] - ticks[0]), 3) for before, after in pairwise(ticks)}
    assert steps == {1.0}


@pytest.mark.parametrize("width", [350, 900])
def test_numbers_stand_over_the_rows_and_below_them_where_they_are_many(width, caption):
    few, many = (
        Drawn(dots([mark(f"row {one}", 100 * one, 5) for one in range(1, count)], caption, width)) for count in (3, 30)
    )
    for drawn, times in ((few, 1), (many, 2)):
        assert drawn.texts().count("0") == times
        first = min(float(one.get("y")) for one in drawn.all("text") if (one.text or "").startswith("row"))
        assert min(float(one.get("y")) for one in drawn.all("text") if one.text == "0") < first


def test_rows_behind_the_chosen_ones_are_faint_and_say_their_last_number_with_its_error(caption):
    chosen = [mark(period, 10, 1, series="chosen") for period in ("2024", "2025")]
    other = [mark(period, 90, 7, series="other", shown="90 ± 7") for period in ("2024", "2025")]
    drawn = Drawn(lines(chosen, caption, behind=other))
    assert len(drawn.all("polyline", "faint")) == 1
    assert any(said.startswith("2025, other: 90 ± 7, 90% interval 83 to 97") for said in drawn.marks())
    assert "faint: the other rows" in drawn.texts()
    highest = min(y for _, y in places(drawn.all("polyline", "faint")[0].get("points")))
    assert highest < min(y for _, y in places(drawn.all("polyline", "curve")[0].get("points")))
    assert not Drawn(lines(chosen, caption)).all("polyline", "faint")


def test_a_line_is_dashed_along_what_is_no_sign_of_a_change(caption):
    moved = ["", "none", "real", "real", "none"]
    marks = [mark(f"{place}", 10 + place, 1, moved=one) for place, one in enumerate(moved)]
    drawn = Drawn(lines(marks, caption))
    told = [
        ("pic-unmoved" in one.get("class"), len(places(one.get("points")))) for one in drawn.all("polyline", "curve")
    ]
    assert told == [(True, 2), (False, 3), (True, 2)]
    assert "dashed: no sign of a change" in drawn.texts()
    assert "dashed: no sign of a change" not in Drawn(lines(marks[2:4], caption)).texts()


def test_a_change_is_marked_real_or_not_beside_its_number(caption):
    told = [mark("up", 50, 5, "", verdict="a real change"), mark("still", 1, 5, "", verdict="no sign", sign=False)]
    drawn = Drawn(dots(told, caption))
    groups = [group for said, group in drawn.marks().items() if ":" in said]
    edges = [
        [one.get("class") for one in group.iter(SPACE + "circle") if float(one.get("cx")) > 690] for group in groups
    ]
    assert edges == [["pic-accent"], ["pic-hollow pic-rim"]]
